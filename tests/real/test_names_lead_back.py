"""Whatever an answer names is accepted back and leads to the same thing: paths of variables, files, ids."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Connect, breakpoints
from trio_debugmcp.server.answers.values import full_path
from trio_debugmcp.testing import DebugClient

AWKWARD = """
import collections, enum, types

class Color(enum.Enum):
    RED = 1

class Level(enum.IntEnum):
    LOW = 1

class Key:
    def __repr__(self): return "Key()"

class FromOne(list):
    def __getitem__(self, index): return super().__getitem__(index - 1)

class Multi(dict):
    def __getitem__(self, key): return super().__getitem__(key)[0]

class Slots:
    __slots__ = ("__hidden", "shown")
    def __init__(self):
        self.__hidden, self.shown = {2: [3]}, [1]

class Shadowed:
    def __init__(self): self.__dict__["total"], self.__secret = [9], [1]
    total = property(lambda self: 1)

x = ["global"]

def look():
    x = ["local"]
    keys = {"a'b": [1], 'a"b.c[0]': 2, "n\\nl": 3, "\\\\": 4, 1: 5, -1.5: 6, (1, "t"): 7, None: 8, b"\\0{}": 9,
            Color.RED: [10], Key(): 11, "\\ud800": 12, "ü": 13, "": 14, frozenset({1}): 15}
    fields = types.SimpleNamespace(**{"class": [1], "a b": 2, "\\ufb01": 3, "fi": 4, "ü": 5, "{x}": 6})
    of_one, multi = FromOne([[1], [2]]), Multi({"a": [[1], 2], Color.RED: [3]})
    slots, shadowed, level, items = Slots(), Shadowed(), Level.LOW, {3}
    order = collections.OrderedDict(b=1)
    around = [order, items]
    around.append(around)
    return keys  # here

look()
"""


KEY = r"^(Key\(\)|<Color.RED: 1>|frozenset\(\{1\}\)): "
"""In front of the value of an item whose key is not in its name."""


def numbers(text: str) -> list[str]:
    return re.findall(r"(?<![\w'])\d+", text)


async def check_names(client: DebugClient, answer: dict[str, Any], parent: str | None) -> list[str]:
    """Check that each name leads to the value beside it, by variables_get and by evaluate; return the paths."""
    paths = []
    for name, text in answer["variables"].items():
        if name.endswith(("…", " (no path)")) or text == "<property, not run>":
            continue
        path = full_path(parent, name)
        paths.append(path)
        found = await client.call("evaluate", expression=path)
        # The values are distinguished by their numbers: what is around them is written in two ways.
        if not re.search(" at | item|…", text + found["value"]):
            assert numbers(found["value"]) == numbers(re.sub(KEY, "", text)), (path, text)
        inside = await client.call("variables_get", path=path)
        assert inside["variables"] or "value" in inside, path
    return paths


async def test_names_of_awkward_values_lead_to_them(debugging: Connect, tmp_path: Path) -> None:
    app = tmp_path / "awkward.py"
    app.write_text(AWKWARD)
    async with debugging() as client:
        place = {"file": str(app), "statement": "return keys  # here"}
        stop = await client.call("debug_launch", program=str(app), breakpoints=[place])
        paths = await check_names(client, {"variables": stop["locals"]}, None)
        seen = 0
        for path in paths:
            inside = await client.call("variables_get", path=path)
            seen += len(await check_names(client, inside, path))
        assert seen >= 35
        found = await client.call("variables_get", scope="globals", names=["x"])
        assert found == {"variables": {"x (no path)": "['global']"}}
        assert (await client.call("evaluate", expression="x"))["value"] == "['local']"


async def test_files_and_ids_in_answers_are_accepted_and_lead_to_the_same(
    debugging: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "sub dir" / "ü: a  b"
    inside.mkdir(parents=True)
    (tmp_path / "shop.py").write_text("def f():\n    return 1\nf()\n")
    (inside / "shop.py").write_text("import till\n\ndef g(n):\n    return till.pay(n)\n\ng(1)\ng(2)\n")
    (inside / "till.py").write_text("def pay(n):\n    y = n\n    return y\n")
    (tmp_path / "link").symlink_to(inside)
    here, names = "sub dir/ü: a  b", ("shop.py", "till.py")
    monkeypatch.chdir(tmp_path)
    async with debugging("legacy", "--root", str(tmp_path)) as client:
        for shown in (here, "link"):
            inner = {"file": "till.py", "line": 2}
            stop = await client.call("debug_launch", program="shop.py", cwd=shown, breakpoints=[inner], replace=True)
            assert stop["at"] == f"{shown}/till.py:2 in pay"
            note = f"'shop.py' was taken for {shown}/shop.py, where the program starts, not for shop.py"
            assert [each for each in stop["notes"] if "taken" in each] == [note], "there is one till.py alone"
            assert stop["stack"] == [f"g {shown}/shop.py:4", "<module> :6"]
            for name in names:
                file = f"{shown}/{name}"
                source = await client.call("source_get", file=file, end_line=1)
                assert (source["file"], source["lines"]) == (file, [f"1 {(inside / name).read_text().splitlines()[0]}"])
                again = await client.call("breakpoint_set", file=file, line=2 if name == "till.py" else 7)
                assert again["at"].rpartition(":")[0] == file
                assert (await breakpoints(client))[again["id"]].startswith(again["at"])
            assert stop["breakpoints"] == [again["id"]], "the same place is the same breakpoint"
            next_ = await client.call("debug_run_to", file=f"{shown}/till.py", line=3)
            assert next_["at"] == f"{shown}/till.py:3 in pay"
            # A relative name may also begin where the program is; a file of the server's directory comes first.
            next_ = await client.call("debug_run_to", file="till.py", line=3)
            assert next_["at"].endswith("shop.py:7 in <module>"), "a breakpoint on the way"
            assert (await client.call("source_get", file="till.py"))["file"] == f"{shown}/till.py"
            assert (await client.call("breakpoint_set", file="shop.py", line=2))["at"] == "shop.py:2"
            assert (await client.call("debug_state", session_id=stop["session"]))["at"] == next_["at"]
            [line] = (await client.call("threads_list", session_id=stop["session"]))["threads"]
            thread = int(line[1:].split()[0])
            assert (await client.call("stacktrace_get", thread_id=thread))["frames"][0].startswith("<module> ")
            ids = list(await breakpoints(client))
            for each in ids:
                assert (await client.call("breakpoint_enable", id=each))["id"] == each
                assert await client.call("breakpoint_remove", id=each) == {"removed": [each]}
