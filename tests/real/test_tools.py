"""Each tool through MCP, with real programs under debugpy."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import fields

import trio_debugmcp
from tests.faults.bench import check_for_people
from tests.pythons import Interpreter, found
from tests.real.conftest import TEST_SECONDS, Connect
from tests.real.interpreters import OLDEST
from tests.real.tool_cases import (
    ANY,
    ELSEWHERE,
    EXPECTED,
    FILE,
    HERE,
    ID,
    MEANINGS,
    PROGRAM,
    PROVEN_ELSEWHERE,
    codes,
    common_mistakes,
)
from tests.server.tools_page import answers_of
from tests.transports.conftest import StartServer
from tests.transports.scene import OBSERVE
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import DebugClient, ToolFailed, connect_process, connect_websocket
from trio_debugmcp.testing.connect import Era

# --- Every tool in every state ----------------------------------------------------------------------------------------

TOOLS = open_toolbox()


class Trial:
    """Calls of tools about one program, each compared with what is expected of it."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._id = ""

    def given(self, value: Any) -> Any:
        """Arguments with the path of the program."""
        match value:
            case dict():
                return {name: self.given(each) for name, each in value.items()}
            case list():
                return [self.given(each) for each in value]
            case _:
                return {FILE: str(self._program), ID: self._id}.get(value, value) if isinstance(value, str) else value

    async def call(self, client: DebugClient, tool: str, arguments: dict[str, Any], code: str | None) -> None:
        """Call, and check the code; what succeeds has known keys, and what fails is said to people."""
        failed, answer = await outcome(client, tool, self.given(arguments))
        assert (tool, arguments, failed and failed.code) == (tool, arguments, code), failed or answer
        if failed is None:
            known = [{field.encode_name for field in fields(kind)} for kind in answers_of(TOOLS_BY_NAME[tool])]
            assert any(set(answer) <= keys for keys in known), (tool, answer)
            self._id = answer["id"] if tool == "breakpoint_set" else self._id
        elif code != "EVAL_FAILED":  # that has the words of the program
            check_for_people(failed.message)
            assert len(failed.message) > 20, "it says what to do"


async def outcome(client: DebugClient, tool: str, arguments: dict[str, Any]) -> tuple[ToolFailed | None, Any]:
    """How a call fails, or what it answers."""
    try:
        return None, await client.call(tool, **arguments)
    except ToolFailed as failed:
        return failed, None


TOOLS_BY_NAME = {tool.name: tool for tool in TOOLS.tools}


async def try_state(trial: Trial, client: DebugClient, state: str) -> None:
    for tool, expected in EXPECTED.items():
        code = getattr(expected, state)
        if code != ELSEWHERE and not (state == "paused" and expected.moves):
            await trial.call(client, tool, expected.arguments, code)


async def try_as_observer(trial: Trial, observer: DebugClient) -> None:
    """What reads answers as to a client in control, and everything else refuses."""
    for name, tool in TOOLS_BY_NAME.items():
        expected = EXPECTED[name]
        if not tool.allows("observe"):
            await trial.call(observer, name, expected.arguments, "READ_ONLY")
        elif expected.paused != ELSEWHERE:
            await trial.call(observer, name, expected.arguments, expected.paused)
    listed = {tool.name for tool in (await observer.sdk.list_tools()).tools}
    assert listed == {tool.name for tool in open_toolbox(core_only=True).listed("observe")}


async def test_every_tool_succeeds_where_it_can_and_gives_each_of_its_codes(
    serving: StartServer, era: Era, tmp_path: Path
) -> None:
    program = tmp_path / FILE
    program.write_text(PROGRAM)
    trial = Trial(program)
    with trio.fail_after(TEST_SECONDS):
        async with (
            serving("--ws", "0") as server,
            connect_process(server.process, era) as client,
            connect_websocket(await server.websocket_url(), OBSERVE, era) as observer,
        ):
            await try_state(trial, client, "without")
            stop = await client.call("debug_launch", program=str(program), breakpoints=[trial.given(HERE)])
            assert stop["reason"] == "Breakpoint"
            await try_as_observer(trial, observer)
            for tool in TOOLS.names:
                for arguments, code in [*EXPECTED[tool].mistakes, *common_mistakes(tool, TOOLS.parameters(tool))]:
                    await trial.call(client, tool, arguments, code)
            await try_state(trial, client, "paused")
            await trial.call(client, "breakpoint_set", HERE, None)
            for tool, expected in EXPECTED.items():
                if expected.moves and tool != "debug_continue":
                    await trial.call(client, "debug_restart", {}, None)
                    await trial.call(client, tool, expected.arguments, None)
            stop = await client.call("debug_continue")
            assert stop["exception"] == "ValueError: sold out"
            await trial.call(client, "exception_get_context", {}, None)
            await trial.call(client, "debug_continue", {"wait": False}, None)
            await try_state(trial, client, "running")
            await trial.call(client, "debug_pause", {}, None)
            await trial.call(client, "process_write_input", {"data": "x", "close_after": True}, None)
            await trial.call(client, "process_write_input", {"data": "x"}, "STDIN_CLOSED")
            await trial.call(client, "debug_disconnect", {}, None)
            for tool, expected in EXPECTED.items():
                if expected.without == "NO_SESSION" and tool not in {"source_get", "debug_restart"}:
                    await trial.call(client, tool, expected.arguments, "NO_SESSION")


def test_no_tool_and_no_code_is_missing_there() -> None:
    assert set(EXPECTED) == set(TOOLS.names)
    defined = {
        name
        for file in Path(__file__).parent.parent.rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text())
    }
    assert set(PROVEN_ELSEWHERE.values()) <= defined
    given = {code for name in TOOLS.names for code in codes(name, TOOLS.parameters(name))}
    assert given == set(MEANINGS)
    package = Path(trio_debugmcp.__file__).parent
    raised = {
        code
        for file in package.rglob("*.py")
        for code in re.findall(r'\bUsageError\(\s*"([A-Z_]+)"', file.read_text(encoding="utf-8"))
    }
    assert raised <= {*MEANINGS, *ANY}


# --- Some of them in depth --------------------------------------------------------------------------------------------

ASSIGNED = """\
total = 1


class Key:
    pass


class Basket:
    def __init__(self):
        self.owner = "ben"
        self.lines = ["tea", "cup"]
        self.prices = {"tea": 3, Key(): 4}
        self.__secret = 5

    @property
    def size(self):
        return len(self.lines)

    @property
    def limit(self):
        return self._limit

    @limit.setter
    def limit(self, value):
        self._limit = min(value, 9)

    def all(self):
        return self.owner, self.lines, [*self.prices.values()], self.__secret, self._limit


def visit(basket, count=3):
    shared = 1

    def inner():
        nonlocal shared
        print(shared)  # inside
        return shared

    basket.limit = 2
    inner()
    found = [count, shared, total, basket.all()]
    return found


print(visit(Basket()))
"""


async def paused_at(client: DebugClient, file: Path, text: str, mark: str, **options: Any) -> None:
    """Launch a program, and pause it at the line with that text."""
    file.write_text(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if mark in each)
    stop = await client.call(
        "debug_launch", program=str(file), breakpoints=[{"file": str(file), "line": line}], **options
    )
    assert stop["reason"] == "Breakpoint", stop


async def failure(client: DebugClient, tool: str, **arguments: Any) -> tuple[str, str]:
    """The code and the message of a call that must fail."""
    with pytest.raises(ToolFailed) as caught:
        await client.call(tool, **arguments)
    return caught.value.code, caught.value.message


INTERPRETERS = {each.label: each for each in found() if each.version in {OLDEST, found()[-1].version}}
"""Locals are written into a frame in another way since 3.13."""


@pytest.mark.parametrize("python", INTERPRETERS.values(), ids=INTERPRETERS)
async def test_what_is_set_is_what_the_program_continues_with(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        await paused_at(client, tmp_path / "shop.py", ASSIGNED, "# inside", adapter_options={"python": [python.path]})

        async def become(path: str, value: str, **more: Any) -> str:
            answer = await client.call("variable_set", path=path, value=value, **more)
            assert [*answer["variable"]] == [path]
            return str(answer["variable"][path])

        assert await become("shared", "shared + 6") == "7"
        assert await become("total", "count * 100", frame_index=1) == "300"
        assert await become("count", "8", frame_index=1) == "8"
        assert await become("basket.owner", "'eva'", frame_index=1) == "'eva'"
        assert await become("basket.lines[1]", "basket.lines[0] * 2", frame_index=1) == "'teatea'"
        assert await become("basket.prices['tea']", "6", frame_index=1) == "6"
        assert await become("[*basket.prices.values()][1]", "-4", frame_index=1) == "-4"
        assert await become("basket.__secret", "55", frame_index=1) == "55"
        assert await become("basket.limit", "1000", frame_index=1) == "9", "what its setter made of it"
        assert (await client.call("debug_state"))["locals"] == {"shared": "7"}
        for path, value, code, why in [
            ("count + 1", "2", "INVALID_PARAMETER", "is not a path"),
            ("count", "a = 1", "INVALID_PARAMETER", "is not an expression"),
            ("count", "1 / 0", "EVAL_FAILED", "ZeroDivisionError"),
            ("count", "exit(3)", "EVAL_FAILED", "by which a program ends"),
            ("coumt", "2", "EVAL_FAILED", "there is no variable 'coumt'"),
            ("basket.ownr", "2", "EVAL_FAILED", "has no attribute 'ownr'"),
            ("basket.size", "2", "EVAL_FAILED", "AttributeError"),
            ("basket.lines[5]", "2", "EVAL_FAILED", "IndexError"),
            ("len(basket.lines)", "2", "EVAL_FAILED", "cannot be set"),
            ("count", "__import__('time').sleep(0.01) or missing", "EVAL_FAILED", "NameError"),
        ]:
            found = await failure(client, "variable_set", path=path, value=value, frame_index=1)
            assert (found[0], why in found[1]) == (code, True), found
        assert (await failure(client, "variable_set", path="x", value="1", frame_index=9))[0] == "INVALID_FRAME"
        end = await client.call("debug_continue")
        assert end["stdout"] == "7\n[8, 7, 300, ('eva', ['tea', 'teatea'], [6, -4], 55, 9)]\n"
        assert (await failure(client, "variable_set", path="x", value="1"))[0] == "NO_SESSION"


LOADING = """\
import decimal
import asyncio, http.server, unittest.mock
import sys
import types

sys.modules["odd"] = 5
made = types.ModuleType("made")
made.__version__ = "1.5"
sys.modules["made"] = made
print("ready")  # here
"""


async def test_what_a_program_has_imported_and_its_files(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        file = tmp_path / "load.py"
        await paused_at(client, file, LOADING, "# here")
        found = await client.call("modules_list")
        assert found["modules"][0] == f"__main__ {file}"
        assert found["total"] > len(found["modules"]) == 100
        assert (await client.call("modules_list", filter="decimal"))["modules"][-1].endswith("decimal.py (library)")
        assert "made 1.5 (library)" in (await client.call("modules_list", filter="made"))["modules"]
        for debugger in ("debugpy/_vendored", "trio_debugmcp"):
            assert await client.call("modules_list", filter=debugger) == {"modules": []}
        assert str(file) in (await client.call("sources_list"))["sources"]
        assert (await client.call("source_get", file=str(file), end_line=1))["lines"] == ["1 import decimal"]


TREE = """\
class Key:
    def __repr__(self):
        return "Key!"


class Node:
    def __init__(self, name, parent=None):
        self.name = name
        self.parent = parent
        self.nodes = []
        self.more = {"k": [1, 2], Key(): 1}


class Bad:
    def __repr__(self):
        raise ValueError("bad")


class Slow:
    def __repr__(self):
        while True:
            pass


class Sleepy:
    def __repr__(self):
        __import__("time").sleep(1)


class Huge:
    def __repr__(self):
        return "x" * 1_000_000_000


class Loud:
    def __repr__(self):
        print("loud")
        return "Loud!"


root = Node("root")
root.nodes = [Node("a", root), Node("b", root)]
root.first = root.nodes[0]
calls = []
text = "x" * 1_000_000
many = list(range(100_000))
deep = []
for _ in range(10_000):
    deep = [deep]


class Hard:  # no stop shows what is in it
    bad, slow, sleepy, huge, loud = [Bad(), 5], [Slow(), 5], [Sleepy(), 5], [Huge(), 5], [Loud(), 5]


table = {f"key {number}": Node(str(number), root) for number in range(2_000)}
print("ready")  # here
"""

REPRS = ("Hard.bad", "Hard.slow", "Hard.sleepy", "Hard.huge", "Hard.loud")

HARD = (*REPRS, "text", "many", "deep", "table", "root", "globals()")


async def test_an_object_is_a_tree_with_cycles_and_repeated_objects_marked(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await paused_at(client, tmp_path / "tree.py", TREE, "# here")
        found = await client.call("object_inspect", expression="root")
        assert found["count"] == 5
        assert "root.parent" in found["notable"]["null"]
        inside = found["children"]
        assert (inside["name"], inside["parent"]) == ("'root'", "None")
        assert inside["nodes"]["count"] == 2
        assert inside["nodes"]["children"]["[1]"]["count"] == 4
        assert inside["nodes"]["children"]["[0]"] == {"same": "root.first"}, "where it is nearest"
        assert inside["more"]["children"]["['k']"] == {"value": "[1, 2]", "count": 2}
        assert inside["more"]["children"]["[*root.more.values()][1]"] == {"key": "Key!", "value": "1"}
        deeper = await client.call("object_inspect", expression="root", depth=3)
        assert deeper["children"]["nodes"]["children"]["[1]"]["children"]["parent"] == {"cycle": "root"}
        called = await client.call("object_inspect", expression="[calls.append(1), Bad()]")
        assert called == {"value": "[None, <repr raised ValueError: bad>]", "count": 2}
        assert await client.call("evaluate", expression="calls") == {"value": "[1]"}
        assert (await client.call("evaluate", expression="10**5000"))["value"] == "<int of 16610 bits>"
        assert (await client.call("evaluate", expression="[10**5000]"))["value"] == "[<int of 16610 bits>]"
        some = await client.call("object_inspect", expression="many", max_children=3)
        assert (some["count"], some["children"]) == (100_000, {"[0]": "0", "[1]": "1", "[2]": "2"})
        assert await client.call("object_inspect", expression="len(many)") == {"value": "100000"}
        for expression in HARD:
            answer = await client.call("object_inspect", expression=expression, depth=5)
            assert len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()) <= 32_768, expression
        assert answer["count"] > 5
        assert (await failure(client, "object_inspect", expression="nope"))[0] == "EVAL_FAILED"
        assert (await failure(client, "object_inspect", expression="1 +"))[0] == "EVAL_FAILED"
        assert (await failure(client, "object_inspect", expression="root", frame_index=7))[0] == "INVALID_FRAME"
        assert (await failure(client, "object_inspect", expression="root", thread_id=777))[0] == "INVALID_THREAD"


COUNTED = """\
import collections


class Item:
    shown = 0

    def __repr__(self):
        Item.shown += 1
        return "item"


class Held:  # no stop shows what is in it
    items = [Item()] * 100_000


numbers = [*range(50_000), None, 2.5, True]
prices = {f"k{number}": number / 2 for number in range(5)}
queue = collections.deque([1, 2, 3], maxlen=9)
words = "abc" * 1_000
ready = 1  # here
"""


async def test_a_collection_in_a_few_lines(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await paused_at(client, tmp_path / "count.py", TREE + COUNTED, "ready = 1  # here")

        async def about(expression: str, **more: Any) -> dict[str, Any]:
            answer = await client.call("collection_summarize", expression=expression, **more)
            assert len(json.dumps(answer)) <= 32_768
            return answer

        before = int((await client.call("evaluate", expression="Item.shown"))["value"])
        found = await about("Held.items", max_items=2)
        assert found == {
            "count": 100_000, "kind": "list", "elementTypes": {"Item": 20_000}, "sampled": 20_000,
            "first": ["item"] * 2, "last": ["item"] * 2,
        }  # fmt: skip
        assert int((await client.call("evaluate", expression="Item.shown"))["value"]) - before == 4
        found = await about("prices")
        assert (found["count"], found["keyTypes"], found["first"][1]) == (5, {"str": 5}, "'k1': 0.5")
        assert found["numeric"] == {"min": 0.0, "max": 2.0, "mean": 1.0}
        assert (await about("queue"))["first"] == ["1", "2", "3"]
        assert (await about("words"))["count"] == 3000
        found = await about("numbers[-3:]")
        assert (found["nullCount"], found["numeric"]["max"]) == (1, 2.5)
        for hard in ("many", "deep", "text", "table", "Hard.bad", "Hard.slow", "Hard.sleepy", "Hard.huge", "globals()"):
            assert (await about(hard))["count"] > 0
        code, message = await failure(client, "collection_summarize", expression="root")
        assert (code, "type Node" in message) == ("INVALID_PARAMETER", True)
        assert (await failure(client, "collection_summarize", expression="nope"))[0] == "EVAL_FAILED"
        assert (await failure(client, "collection_summarize", expression="many", frame_index=7))[0] == "INVALID_FRAME"
