"""A person with Microsoft's client for tests of debug adapters, and an agent on stdio, in one real session."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.editors.bench import EditorClient, Refused, check_message
from tests.javascript import HERE, package
from tests.languages.conftest import need
from tests.pythons import found
from tests.real.conftest import line_of, program
from tests.transports.conftest import ServerProcess, StartServer, serving
from tests.transports.scene import CONTROL
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import DebugClient, ToolFailed, connect_process

__all__ = ["serving"]

pytestmark = pytest.mark.real

STEPS = program("steps.py")


class NodeEditor:
    """`tests/javascript/editor.mjs` as a process: what it has reported, in order."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self.lines: list[tuple[str, Any]] = []
        self._news = trio.lowlevel.ParkingLot()

    async def receive(self) -> None:
        assert self.process.stdout is not None
        text = b""
        async for data in self.process.stdout:
            *lines, text = (text + data).split(b"\n")
            for what, result in map(json.loads, lines):
                if what == "wire":
                    check_message(result)
                else:
                    self.lines.append((what, result))
            self._news.unpark_all()
        self.lines.append(("end", None))
        self._news.unpark_all()

    async def wait(self, what: str, number: int = 1) -> Any:
        """Wait for the numberth report of that name, and return its result."""
        while True:
            found = [result for name, result in self.lines if name == what]
            if len(found) >= number:
                return found[number - 1]
            assert not {"end", "failed"} & {name for name, _ in self.lines}, self.lines[-2:]
            await self._news.park()


@asynccontextmanager
async def node_editor(server: ServerProcess, *arguments: str) -> AsyncIterator[NodeEditor]:
    package("@vscode/debugadapter-testsupport")
    port = await server.said(r"dap: [\d.]+:(\d+)")
    command = ["node", str(HERE / "editor.mjs"), port, CONTROL, *arguments]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE)
    async with trio.open_nursery() as nursery:
        editor = NodeEditor(process)
        nursery.start_soon(editor.receive)
        try:
            yield editor
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()


def values(variables: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["name"], each["value"]) for each in variables]


async def test_a_person_and_an_agent_share_a_session_and_the_person_may_vanish(serving: StartServer) -> None:
    line, call = line_of("steps.py", "# in loop"), {"file": STEPS, "line": line_of("steps.py", "# call level3")}
    async with serving("--dap", "0") as server, connect_process(server.process) as agent:
        await agent.call("debug_launch", program=STEPS, breakpoints=[call])
        async with node_editor(server, STEPS, str(line)) as editor:
            assert (await editor.wait("stopped"))["reason"] == "breakpoint"
            frames = (await editor.wait("stackTrace"))["stackFrames"]
            assert [each["name"] for each in frames] == ["level2", "level1", "main", "<module>"]
            assert ("value", "7") in [
                (each["name"], each["value"]) for each in (await editor.wait("variables"))["variables"]
            ]
            assert (await editor.wait("evaluate"))["result"] == "[1, 2]"
            assert (await editor.wait("evaluate", 2))["result"] == "2"
            assert "print" in str(await editor.wait("completions"))
            assert [each["name"] for each in (await editor.wait("modules"))["modules"]] == ["__main__"]
            assert STEPS in [each["path"] for each in (await editor.wait("loadedSources"))["sources"]]
            assert (await editor.wait("setVariable"))["value"] == "8"
            assert (await editor.wait("stackTrace", 2))["stackFrames"][0]["name"] == "main"
            [made] = (await editor.wait("setBreakpoints"))["breakpoints"]
            assert (made["verified"], made["line"]) == (True, line)
            await editor.wait("continue")
            stop = await agent.call("debug_wait")
            assert (stop["reason"], stop["locals"]["i"]) == ("Breakpoint", "3")
            assert "a person (Test Studio)" in str(stop["notes"])
            assert "set value = 8, stepped over, stepped in, stepped out" in str(stop["notes"])
            [known] = [
                each for each in (await agent.read("debugger://breakpoints"))["breakpoints"] if each["line"] == line
            ]
            assert known["setBy"] == ["Test Studio"]
            before = sum(name == "stopped" for name, _ in editor.lines)
            await agent.call("debug_step")
            await editor.wait("continued", 1)
            assert (await editor.wait("stopped", before + 1))["reason"] == "step"
            editor.process.kill()
        stop = await agent.call("debug_continue")
        assert (stop["state"], stop["stdout"]) == ("Disconnected", "result 50 12 10\n")
        await agent.call("breakpoint_remove", id="*")
        async with node_editor(server, STEPS, str(line), "launch") as editor:
            launched = await editor.wait("launched")
            assert ("i", "0") in values(launched["variables"])
            await editor.wait("end")
        assert (await agent.call("debug_state"))["state"] == "Disconnected"


async def test_what_an_editor_evaluates_shows_in_all_values_and_under_a_hold_changes_none(
    serving: StartServer, tmp_path: Path
) -> None:
    path = tmp_path / "dict.py"
    path.write_text("d = {'a': 1}\nprint(d)\n")
    async with serving("--dap", "0") as server, connect_process(server.process) as agent:
        await agent.call("debug_launch", program=str(path), breakpoints=[{"file": str(path), "line": 2}])
        port = int(await server.said(r"dap: [\d.]+:(\d+)"))
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream, trio.open_nursery() as nursery:
            editor = EditorClient(stream)
            nursery.start_soon(editor.receive)
            await editor.join(CONTROL, {"supportsInvalidatedEvent": True})
            frame = await editor.top_frame((await editor.wait_event("stopped"))["threadId"])

            async def shown() -> str:
                [found] = [each["value"] for each in await editor.locals() if each["name"] == "d"]
                return str(found)

            async def asked(expression: str, context: str) -> str:
                answer = await editor.ask("evaluate", expression=expression, frameId=frame["id"], context=context)
                return str(answer["result"])

            assert await shown() == "{'a': 1}"
            assert await asked("d.update(b=2)", "watch") == "None"
            assert await shown() == "{'a': 1, 'b': 2}"
            with pytest.raises(Refused, match="division by zero"):
                await asked("d.clear() or 1/0", "repl")
            await editor.wait_event("invalidated")
            assert await shown() == "{}"
            with pytest.raises(ToolFailed, match="division by zero"):
                await agent.call("evaluate", expression="d.update(c=3) or 1/0")
            await editor.wait_event("invalidated", 2)
            assert await shown() == "{'c': 3}"
            await agent.call("person_join", key="tab-12345678")
            await agent.call("session_hold")
            for context in ("watch", "hover", "clipboard"):
                for expression in ("d.clear()", "exec('d[5] = 5')", "setattr(__builtins__, 'x', 1)"):
                    with pytest.raises(Refused, match="holds the session"):
                        await asked(expression, context)
                assert await asked("d['c'] + len(d)", context) == "4"
            assert await shown() == "{'c': 3}"
            nursery.cancel_scope.cancel()


async def test_js_debug_copies_a_value_whatever_its_name_is(serving: StartServer, tmp_path: Path) -> None:
    needed("js-debug")
    program = tmp_path / "short.js"
    program.write_text("function f() {\n  const o = {a: 1}, e = 'text', other = 2;\n  return o;\n}\nf();\n")
    async with serving("--dap", "0") as server, connect_process(server.process) as agent:
        await agent.call("debug_launch", program=str(program), breakpoints=[{"file": str(program), "line": 3}])
        port = int(await server.said(r"dap: [\d.]+:(\d+)"))
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream, trio.open_nursery() as nursery:
            editor = EditorClient(stream)
            nursery.start_soon(editor.receive)
            await editor.join(CONTROL)
            frame = await editor.top_frame((await editor.wait_event("stopped"))["threadId"])
            asked = {"frameId": frame["id"], "context": "clipboard"}
            copied = [
                (await editor.ask("evaluate", expression=each, **asked))["result"] for each in ("o", "e", "other")
            ]
            assert ["".join(each.split()) for each in copied] == ["{a:1,}", '"text"', "2"]
            left = "Object.keys(globalThis).filter(each => each.includes('debugmcp')).length"
            asked["context"] = "watch"
            assert (await editor.ask("evaluate", expression=left, **asked))["result"] == "0"
            nursery.cancel_scope.cancel()


C = """\
#include <stdio.h>
int square(int x) { return x * x; }
int main(void) {
  int numbers[300], sum = 0;
  struct { int a, b; } pair = {1, 2};
  for (int i = 0; i < 300; i++) numbers[i] = i;
  printf("%d %d %d\\n", numbers[3], sum, pair.b + square(2));
  return 0;
}
"""


def needed(adapter: str) -> None:
    profile = profile_named(adapter)
    assert profile is not None
    need(adapter, profile.locate(), f"{profile.absence()}; {profile.install_hint}")


@asynccontextmanager
async def stopped(
    serving: StartServer, adapter: str, program: Path, line: int
) -> AsyncIterator[tuple[EditorClient, int, DebugClient]]:
    """Debug a program with an adapter; an editor has joined at its stop, whose top frame has that number."""
    needed(adapter)
    async with serving("--dap", "0") as server, connect_process(server.process) as agent:
        place = {"file": str(program), "line": line}
        await agent.call("debug_launch", program=str(program), adapter=adapter, breakpoints=[place])
        port = int(await server.said(r"dap: [\d.]+:(\d+)"))
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream, trio.open_nursery() as nursery:
            editor = EditorClient(stream)
            nursery.start_soon(editor.receive)
            await editor.join(CONTROL)
            frame = await editor.top_frame((await editor.wait_event("stopped"))["threadId"])
            yield editor, frame["id"], agent
            nursery.cancel_scope.cancel()


async def test_gdbs_numbers_survive_a_watch_that_calls_a_function_and_its_arrays_are_paged(
    serving: StartServer, tmp_path: Path
) -> None:
    program = tmp_path / "short.c"
    program.write_text(C)
    async with stopped(serving, "gdb", program, 7) as (editor, frame, agent):
        scopes = {each["name"]: each for each in (await editor.ask("scopes", frameId=frame))["scopes"]}

        async def shown(number: int, **more: Any) -> dict[str, dict[str, Any]]:
            found = (await editor.ask("variables", variablesReference=number, **more))["variables"]
            return {each["name"]: each for each in found}

        registers, locals_ = (scopes[each]["variablesReference"] for each in ("Registers", "Locals"))
        before = await shown(locals_)
        numbers, pair = (before[each]["variablesReference"] for each in ("numbers", "pair"))
        for kind in ({"filter": "indexed"}, {}):
            for start, count in ((0, 100), (100, 100), (298, 10)):
                page = await shown(numbers, start=start, count=count, **kind)
                assert [int(each["value"]) for each in page.values()] == [*range(300)][start : start + count]
        assert await shown(numbers, filter="named") == {}
        for context in ("watch", "repl"):
            await editor.ask("evaluate", expression="square(4)", frameId=frame, context=context)
            await editor.ask("evaluate", expression="pair", frameId=frame, context="watch")
            assert "rip" in await shown(registers)
            assert [each["value"] for each in (await shown(pair)).values()] == ["1", "2"]
            assert (await shown(numbers, start=100, count=1))["100"]["value"] == "100"
            assert len((await editor.ask("scopes", frameId=frame))["scopes"]) == len(scopes)
        await editor.ask("evaluate", expression="square(4)", frameId=frame, context="watch")
        await editor.ask("setVariable", variablesReference=locals_, name="sum", value="77")
        assert (await shown(locals_))["sum"]["value"] == "77"
        assert (await editor.ask("completions", text="inf", column=4, frameId=frame))["targets"] == []
        top = (await editor.ask("stackTrace", threadId=1, levels=1))["stackFrames"][0]
        asked = {"memoryReference": top["instructionPointerReference"], "instructionOffset": -3}
        listing = (await editor.ask("disassemble", instructionCount=8, **asked))["instructions"]
        assert int(listing[3]["address"], 16) == int(top["instructionPointerReference"], 16)
        assert (await agent.call("debug_state"))["locals"]["sum"] == "77"


async def test_lldb_dap_says_what_a_variable_is_that_was_set(serving: StartServer, tmp_path: Path) -> None:
    program = tmp_path / "short.c"
    program.write_text(C)
    async with stopped(serving, "lldb-dap", program, 7) as (editor, frame, agent):
        scope = (await editor.ask("scopes", frameId=frame))["scopes"][0]["variablesReference"]
        set_to = await editor.ask("setVariable", variablesReference=scope, name="sum", value="77")
        assert set_to["value"] == "77"
        assert "set sum = 77" in str((await agent.call("debug_state"))["notes"])


async def test_rdbg_is_offered_what_it_can_and_survives_a_question_about_items_that_an_object_has_not(
    serving: StartServer, tmp_path: Path
) -> None:
    program = tmp_path / "short.rb"
    program.write_text('class Cart\n  def initialize; @items = [1, 2]; end\nend\ncart = Cart.new\nputs "end"\n')
    async with stopped(serving, "rdbg", program, 5) as (editor, frame, agent):
        offered = editor.bodies("capabilities")[-1]["capabilities"]
        lacks = ("supportsSetVariable", "supportsSetExpression", "supportsFunctionBreakpoints")
        assert [offered[each] for each in lacks] == [False] * 3
        scope = (await editor.ask("scopes", frameId=frame))["scopes"][0]["variablesReference"]
        found = (await editor.ask("variables", variablesReference=scope))["variables"]
        [cart] = [each["variablesReference"] for each in found if each["name"] == "cart"]
        asked = {"variablesReference": cart, "filter": "indexed", "start": 0, "count": 100}
        assert await editor.ask("variables", **asked) == {"variables": []}
        assert (await agent.call("debug_state"))["state"] == "Paused"


VALUES = """\
import collections
limit = 3
class Order:
    def __init__(self):
        self.name, self.items, self.__key = "ada", list(range(2500)), 7
    @property
    def total(self):
        raise SystemExit
def work(order, limit):
    prices = {"tea": [1, 2], (1, object): "two"}
    text, names = "x" * 9, {"a", "b"}
    return order  # here
made = []
def make():
    made.append(Order())
    return made[-1]
result = work(Order(), 5)
print(limit, result.name, result.items[2400], [each.name for each in made])
"""


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)], ids=["pydevd", "engine-3.12", "engine"])
async def test_an_editor_opens_sets_and_pages_the_values_of_a_python_program(
    serving: StartServer, tmp_path: Path, version: tuple[int, int]
) -> None:
    [python] = [interpreter.path for interpreter in found() if interpreter.version == version] or [sys.executable]
    path = tmp_path / "order.py"
    path.write_text(VALUES)
    async with serving("--dap", "0") as server, connect_process(server.process) as agent:
        place = {"file": str(path), "line": 1 + VALUES.splitlines().index("    return order  # here")}
        options = {"python": [python]}
        await agent.call("debug_launch", program=str(path), adapter_options=options, breakpoints=[place])
        port = int(await server.said(r"dap: [\d.]+:(\d+)"))
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream, trio.open_nursery() as nursery:
            editor = EditorClient(stream)
            nursery.start_soon(editor.receive)
            await editor.join(CONTROL)
            frame = (await editor.top_frame((await editor.wait_event("stopped"))["threadId"]))["id"]

            async def inside(number: int, **more: Any) -> dict[str, dict[str, Any]]:
                assert number
                shown = (await editor.ask("variables", variablesReference=number, **more))["variables"]
                return {each["name"].strip("'"): each for each in shown}

            async def assigned(number: int, name: str, value: str) -> str:
                answer = await editor.ask("setVariable", variablesReference=number, name=name, value=value)
                return str(answer["value"])

            async def watched(expression: str) -> dict[str, Any]:
                return await editor.ask("evaluate", expression=expression, frameId=frame, context="watch")

            scopes = {each["name"]: each for each in (await editor.ask("scopes", frameId=frame))["scopes"]}
            assert [(each["name"], each["expensive"]) for each in scopes.values()] == [
                ("Locals", False),
                ("Globals", False),
            ]
            locals_, globals_ = (scopes[each]["variablesReference"] for each in ("Locals", "Globals"))
            shown = await inside(locals_)
            assert {"order", "limit", "prices", "text", "names"} <= shown.keys()
            assert (shown["limit"]["value"], (await inside(globals_))["limit"]["value"]) == ("5", "3")
            assert shown["text"]["variablesReference"] == 0
            order = await inside(shown["order"]["variablesReference"])
            assert (order["name"]["value"], order["name"]["evaluateName"]) == ("'ada'", "order.name")
            items = order["items"]["variablesReference"]
            page = await inside(items, start=0, count=10)
            assert await assigned(shown["order"]["variablesReference"], "name", "'eva'") == "'eva'"
            assert await assigned(locals_, "limit", "limit + 1") == "6"
            assert await assigned(globals_, "limit", "limit * 10") == "60"
            hexadecimal = {"hex": True}
            assert (await inside(globals_, format=hexadecimal))["limit"]["value"] == "0x3c"
            wanted = {"expression": "limit * 2", "frameId": frame, "context": "watch", "format": hexadecimal}
            assert (await editor.ask("evaluate", **wanted))["result"] == "0xc"
            value = await watched("order")
            assert (await inside(value["variablesReference"]))["name"]["value"] == "'eva'"
            assert (await inside(locals_))["limit"]["value"] == "6"
            if version > (3, 11):
                assert [order["items"][each] for each in ("indexedVariables", "namedVariables")] == [2500, 0]
                assert [*page] == [f"[{number}]" for number in range(10)]
                page = await inside(items, start=2400, count=100, filter="indexed")
                assert [*page] == [f"[{number}]" for number in range(2400, 2500)]
                assert await inside(items, filter="named") == {}
                *_, (_, last) = (await inside(items)).items()
                assert (last["name"], last["value"]) == ("…", "<1500 more, not shown>")
                assert await assigned(items, "[2400]", "-1") == "-1"
                assert order["total"]["value"] == "<property, not run>"
                made = (await watched("make()"))["variablesReference"]
                assert await assigned(made, "name", "'set'") == "'set'"
                with pytest.raises(Refused, match="division by zero"):
                    await assigned(locals_, "limit", "1 / 0")
                with pytest.raises(Refused, match="no variable 'nothing'"):
                    await assigned(locals_, "nothing", "1")
            await agent.call("debug_step")
            with pytest.raises(Refused):
                await inside(items)
            end = await agent.call("debug_continue")
            printed = "60 eva -1 ['set']\n" if version > (3, 11) else "60 eva 2400 []\n"
            assert end["stdout"] == printed
            nursery.cancel_scope.cancel()
