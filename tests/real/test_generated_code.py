"""Code that a program has made itself is the program's: its frames are shown, with their lines and their text."""

from pathlib import Path

import pytest

from tests.pythons import Interpreter, found
from tests.real.conftest import Connect
from trio_debugmcp.testing import ToolFailed

pytestmark = pytest.mark.real

PYTHONS = {"{}.{}".format(*python.version): python for python in found() if (3, 8) <= python.version[:2] <= (3, 13)}
WANTED = {name: python for name, python in PYTHONS.items() if name in ("3.8", "3.11", "3.12", "3.13")}
WITH_ENGINE = {name: python for name, python in WANTED.items() if python.version >= (3, 12)}

PROGRAM = '''\
import linecache


class Shop:
    def __getattr__(self, name):
        raise AttributeError(name)


RULES = """\\
def root(shop):
    wanted = 1
    return shop.missing
"""


def work():
    space = {}
    linecache.cache["<rules>"] = (len(RULES), None, RULES.splitlines(True), "<rules>")
    exec(compile(RULES, "<rules>", "exec"), space)
    return space["root"](Shop())


work()
'''

NOT_CACHED = '''\
RULES = """\
def root(shop):
    breakpoint()
    return shop
"""


def made(text):
    space = {}
    exec(compile(text, "<rules>", "exec"), space)
    return space["root"]


def other(shop):
    exec("a = 1\\nmade(RULES)(a)\\n", globals())


made(RULES)(4)
exec("b = 2\\nother(b)\\n")

LIES = "def lies(shop):\\n    breakpoint()\\n    return shop\\n"
TRUE = "def true(shop):\\n    breakpoint()\\n    return shop\\n"
FILE = __file__.replace("shop.py", "other.txt")
space = {}
exec(compile(LIES, FILE, "exec"), space)
exec(compile(TRUE, FILE, "exec"), space)
space["lies"](5)
space["true"](6)
'''

TEMPLATE = """\
def price():
    return 3


CODE = '''


def root(price):
    yield "a"
    yield price()
'''
space = {"__jinja_template__": None, "debug_info": "2=5&3=6"}
exec(compile(CODE, FILE, "exec"), space)
list(space["root"](price))
"""


@pytest.mark.parametrize("python", WANTED.values(), ids=WANTED)
async def test_the_frame_of_executed_code_is_the_programs_with_its_text(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(PROGRAM)
    options = {"python": [python.path]}
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=f"{tmp_path}/shop.py", stop_at_entry=False, adapter_options=options
        )
        assert stop["exception"] == "AttributeError: missing"
        assert [frame.replace(f"{tmp_path}/", "") for frame in stop["stack"]] == [
            "root <rules>:3", "work shop.py:20", "<module> :23",
        ]  # fmt: skip
        assert stop["at"].endswith("shop.py:6 in __getattr__")
        assert (await client.call("variables_get", frame_index=1))["variables"]["wanted"] == "1"
        assert await client.call("evaluate", frame_index=1, expression="wanted + 1") == {"value": "2"}
        text = await client.call("source_get", file="<rules>")
        assert text["lines"][1:] == ["2     wanted = 1", "3     return shop.missing"]


@pytest.mark.parametrize("python", WITH_ENGINE.values(), ids=WITH_ENGINE)
async def test_the_engine_shows_the_text_of_executed_code_that_a_frame_still_has(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(NOT_CACHED)
    (tmp_path / "other.txt").write_text("def true(shop):\n    breakpoint()\n    return shop\n")
    launch = {"program": f"{tmp_path}/shop.py", "adapter_options": {"python": [python.path]}}
    async with debugging() as client:
        # The text is a constant of the main module, and the frame that has executed it is gone.
        stop = await client.call("debug_launch", stop_at_entry=False, **launch)
        assert stop["at"] == "<rules>:3 in root"
        assert stop["source"] == "1  def root(shop):\n2      breakpoint()\n3>     return shop"
        text = await client.call("source_get", file="<rules>")
        assert text["lines"] == ["1 def root(shop):", "2     breakpoint()", "3     return shop"]

        # Two texts in one stack have one name: neither is said to be the other's.
        stop = await client.call("debug_continue")
        assert [frame.split(" ", 1)[1].replace(f"{tmp_path}/", "") for frame in stop["stack"]] == [
            "<string>:2", "shop.py:14", "<string>:2", "shop.py:18",
        ]  # fmt: skip
        assert len((await client.call("source_get", file="<rules>"))["lines"]) == 3
        with pytest.raises(ToolFailed, match="has no text for '<string>': neither `linecache` nor"):
            await client.call("source_get", file="<string>")

        # Code of another file's name has its own text, not that file's; code of that file has the file's.
        stop = await client.call("debug_continue")
        assert stop["at"] == f"<{tmp_path}/other.txt>:3 in lies"
        assert stop["source"] == "1  def lies(shop):\n2      breakpoint()\n3>     return shop"
        text = await client.call("source_get", file=f"<{tmp_path}/other.txt>")
        assert text["lines"] == ["1 def lies(shop):", "2     breakpoint()", "3     return shop"]
        stop = await client.call("debug_continue")
        assert (stop["at"], "source" in stop) == (f"{tmp_path}/other.txt:3 in true", True)


FOREIGN = """\
import linecache
TEXT = "def lies(shop):\\n    total = shop + 1\\n    breakpoint()\\n    return total / 0\\n"
FILE = __file__.replace("shop.py", "other.py")
linecache.getline(FILE, 1)
space = {}
exec(compile(TEXT, FILE, "exec"), space)
def work():
    return space["lies"](5)
work()
"""

OTHER = "def other(shop):\n    # one\n    # two\n    # three\n    return shop\n"


@pytest.mark.parametrize("python", WANTED.values(), ids=WANTED)
async def test_code_that_names_a_file_from_which_it_does_not_come_is_never_shown_with_that_files_lines(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(FOREIGN)
    (tmp_path / "other.py").write_text(OTHER)
    launch = {"program": f"{tmp_path}/shop.py", "adapter_options": {"python": [python.path]}}
    name = f"<{tmp_path}/other.py>"
    async with debugging() as client:
        stop = await client.call("debug_launch", stop_at_entry=False, **launch)
        assert (stop["at"], stop["locals"]["total"]) == (f"{name}:4 in lies", "6")
        assert OTHER.splitlines()[3] not in str(stop.get("source"))
        if python.version < (3, 12):
            with pytest.raises(ToolFailed, match="does not come from it; its own text is not known"):
                await client.call("source_get", file=name)
        else:
            assert stop["source"].split()[-5:] == ["4>", "return", "total", "/", "0"]
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["at"]) == ("Exception", f"{name}:4 in lies")
        context = await client.call("exception_get_context")
        assert [frame.split(" ")[1] for frame in context["frames"][:2]] == [f"{name}:4", f"{tmp_path}/shop.py:8"]


@pytest.mark.parametrize("python", WITH_ENGINE.values(), ids=WITH_ENGINE)
async def test_a_recording_has_the_own_text_of_code_that_names_a_file_of_the_project(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(FOREIGN.replace("breakpoint()", "pass"))
    (tmp_path / "other.py").write_text(OTHER)
    launch = {"program": f"{tmp_path}/shop.py", "adapter_options": {"python": [python.path]}}
    name = f"<{tmp_path}/other.py>"
    async with debugging() as client:
        await client.call("debug_launch", stop_at_entry=False, record=True, **launch)
        why = await client.call("why")
        ran = [line.split(" ", 1)[1] for line in why["because"] if name in line]
        assert [line.split(" | ")[:2] for line in ran] == [
            [f"{name}:2 lies", "total = shop + 1"],
            [f"{name}:4 lies", "return total / 0"],
        ]
        text = await client.call("source_get", run="run-1", file=name)
        assert text["lines"][1].endswith("total = shop + 1")
        with pytest.raises(ToolFailed, match=f"No code of '{tmp_path}/other.py' ran"):
            await client.call("source_get", run="run-1", file=f"{tmp_path}/other.py")


NAMELESS = """\
from dataclasses import dataclass
@dataclass
class Shop:
    name: str
exec("a = 1\\nbreakpoint()\\nb = 2\\n")
names = {}
exec("def work():\\n    breakpoint()\\n    return 1\\n", names)
names["work"]()
shop = Shop("a")
print(shop)
"""


@pytest.mark.parametrize("python", WANTED.values(), ids=WANTED)
async def test_breakpoint_stops_in_executed_code_that_has_no_name(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "nameless.py"
    file.write_text(NAMELESS)
    launch = {"program": str(file), "breakpoints": [f"{file}:9"], "adapter_options": {"python": [python.path]}}
    async with debugging() as client:
        stop = await client.call("debug_launch", stop_at_entry=False, **launch)
        assert (stop["at"], stop["locals"]["a"]) == ("<string>:3 in <module>", "1")
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["at"]) == ("Breakpoint", "<string>:3 in work")
        stop = await client.call("debug_continue")
        stop = await client.call("debug_step", mode="in")  # the methods of a dataclass are not the program's
        assert stop["at"] == f"{file}:10 in <module>"


@pytest.mark.parametrize("name", ["page.html", "<template>"])
@pytest.mark.parametrize("python", WANTED.values(), ids=WANTED)
async def test_the_frame_of_a_template_has_the_line_of_the_template(
    python: Interpreter, name: str, debugging: Connect, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text("one\ntwo\n{{ price() }}\n")
    file = str(page) if name == "page.html" else name
    (tmp_path / "shop.py").write_text(TEMPLATE.replace("FILE", repr(file)))
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=f"{tmp_path}/shop.py", breakpoints=[f"{tmp_path}/shop.py:2"],
            adapter_options={"python": [python.path]},
        )  # fmt: skip
        assert [frame.replace(f"{tmp_path}/", "") for frame in stop["stack"]] == [
            f"root {name}:3", "<module> shop.py:14",
        ]  # fmt: skip
