"""Each request that editors send, by Microsoft's client for tests of debug adapters, to real debugpy and programs.

What only some adapters can is shown with a `FakeAdapter` in the other files: memory, data, running backwards.
"""

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.editors.bench import EditorClient
from tests.javascript import HERE, package
from tests.transports.conftest import ServerProcess, StartServer, serving
from tests.transports.scene import CONTROL, OBSERVE
from trio_debugmcp.testing import connect_process

__all__ = ["serving"]

pytestmark = pytest.mark.real


class NodeClient(EditorClient):
    """`tests/javascript/client.mjs`; what it receives is compared with the schema, as in all editors here."""

    def __init__(self, process: trio.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        super().__init__(trio.StapledStream(process.stdin, process.stdout))
        self._text = b""

    def bodies_in(self, data: bytes) -> list[bytes]:
        *lines, self._text = (self._text + data).split(b"\n")
        return lines

    async def write(self, message: dict[str, Any]) -> None:
        await self.stream.send_all(json.dumps(message).encode() + b"\n")


@asynccontextmanager
async def node_client(server: ServerProcess) -> AsyncIterator[NodeClient]:
    package("@vscode/debugadapter-testsupport")
    command = ["node", str(HERE / "client.mjs"), await server.said(r"dap: [\d.]+:(\d+)")]
    process = await trio.lowlevel.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    async with trio.open_nursery() as nursery:
        client = NodeClient(process)
        nursery.start_soon(client.receive)
        try:
            yield client
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()
            nursery.cancel_scope.cancel()


def line_in(text: str, mark: str) -> int:
    """Return the number of the line that ends with that comment."""
    (found,) = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(f"# {mark}")]
    return found


def output_of(editor: EditorClient) -> str:
    return "".join(each["output"] for each in editor.bodies("output") if each["category"] == "stdout")


PROGRAM = """import time

print("from before", flush=True)


def one(number):
    return number + 1


def pair(left, right):
    return left + right


def deep(number):
    if not number:
        return bottom()
    return deep(number - 1)


def bottom():
    return 0


def fails():
    raise ValueError("no more")


def main():
    items = list(range(250))
    total = 1  # first
    total = pair(one(1), one(2))  # calls
    items = None
    deep(30)  # dive
    try:
        fails()
    except ValueError:
        pass
    while total:
        time.sleep(0.01)


main()
"""


async def test_each_request_of_an_editor_is_served_by_a_real_debugger(serving: StartServer, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    source, first, calls = {"path": str(path)}, line_in(PROGRAM, "first"), line_in(PROGRAM, "calls")
    async with (
        serving("--dap", "0") as server,
        connect_process(server.process) as agent,
        node_client(server) as editor,
        node_client(server) as late,
    ):
        # It waits for the program of the agent, with its breakpoints set.
        await editor.initialize(clientName="Test Studio")
        await editor.send("attach", {"token": CONTROL, "wait": True})
        await editor.wait_event("initialized")
        await editor.ask("setBreakpoints", source=source, breakpoints=[{"line": first}])
        await editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "bottom"}])
        await editor.ask("setExceptionBreakpoints", filters=["raised"])
        await editor.ask("configurationDone")
        launched = await agent.call("debug_launch", program=str(path), stop_at_entry=False)
        stop = await editor.wait_event("stopped")
        assert (stop["reason"], launched["reason"]) == ("breakpoint", "Breakpoint")
        thread = stop["threadId"]

        async def moved(command: str, number: int, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
            await editor.ask(command, **arguments)
            stopped = await editor.wait_event("stopped", number)
            return stopped, await editor.top_frame(stopped["threadId"])

        # What was written before an editor joins is shown to it.
        await late.join(OBSERVE)
        await late.wait(lambda: "from before" in output_of(late))
        assert (await late.wait_event("stopped"))["reason"] == "breakpoint"

        # Values, in pages; expressions that are set; sources.
        frame = await editor.top_frame(thread)
        shown = await editor.ask("evaluate", expression="items", frameId=frame["id"], context="watch")
        children = {"variablesReference": shown["variablesReference"]}
        page = (await editor.ask("variables", **children, start=10, count=20))["variables"]
        every = (await editor.ask("variables", **children))["variables"]
        assert len(every) > 100
        assert [each["name"] for each in page] == [each["name"] for each in every[10:30]]
        answer = await editor.ask("setExpression", expression="items[249]", value="'last'", frameId=frame["id"])
        assert answer["value"] == "'last'"
        found = await editor.ask("evaluate", expression="items[-1]", frameId=frame["id"], context="hover")
        assert found["result"] == "'last'"
        assert (await editor.ask("source", sourceReference=0, source=source))["content"] == PROGRAM

        # To another line, and into one of the calls of a line.
        [target] = (await editor.ask("gotoTargets", source=source, line=calls))["targets"]
        stop, frame = await moved("goto", 2, threadId=thread, targetId=target["id"])
        assert (stop["reason"], frame["line"]) == ("goto", calls)
        targets = (await editor.ask("stepInTargets", frameId=frame["id"]))["targets"]
        (into,) = [each["id"] for each in targets if each["label"].startswith("pair")]
        stop, frame = await moved("stepIn", 3, threadId=thread, targetId=into)
        assert (stop["reason"], frame["name"]) == ("step", "pair")

        # A function breakpoint, and its deep stack in pages.
        stop, frame = await moved("continue", 4, threadId=thread)
        assert (stop["reason"], frame["name"]) == ("function breakpoint", "bottom")
        pages = [await editor.ask("stackTrace", threadId=thread, startFrame=at, levels=20) for at in (0, 20)]
        names = [each["name"] for page in pages for each in page["stackFrames"]]
        assert names == ["bottom", *["deep"] * 31, "main", "<module>"]
        assert {page["totalFrames"] for page in pages} == {34}

        # An exception that is caught.
        stop, frame = await moved("continue", 5, threadId=thread)
        assert (stop["reason"], stop["text"], frame["name"]) == ("exception", "no more", "fails")
        info = await editor.ask("exceptionInfo", threadId=thread)
        assert (info["exceptionId"], info["description"], info["breakMode"]) == ("ValueError", "no more", "always")

        # Running, and paused.
        assert await editor.ask("setExceptionBreakpoints", filters=[]) == {"breakpoints": []}
        await editor.ask("continue", threadId=thread)
        await editor.ask("pause", threadId=thread)
        assert (await editor.wait_event("stopped", 6))["reason"] == "pause"
        can = editor.bodies("capabilities")[-1]["capabilities"]
        assert can["supportsRestartFrame"] is False

        # Begun again by a person, and ended by one.
        await editor.ask("restart")
        await editor.wait_event("process", 2)
        assert (await editor.wait_event("stopped", 7))["reason"] == "breakpoint"
        assert editor.bodies("terminated") == []
        await editor.ask("terminate")
        await editor.wait_event("terminated")
        await late.wait_event("terminated")
        assert (await agent.call("debug_state"))["state"] == "Disconnected"


MODULE = """import json
import os
import subprocess
import sys

exec(compile("made = 1\\nbreakpoint()\\nmade += 1\\n", "<made>", "exec"))
text = json.dumps([1])  # library
print(sys.argv[1:], os.path.exists("child.py"), os.environ["COLOUR"], flush=True)
print(subprocess.run([sys.executable, "child.py"], capture_output=True, text=True).stdout)  # last
"""

CHILD = """word = "from the child"
print(word)  # in child
"""


async def test_an_editor_launches_a_module_and_gets_a_session_for_its_child(
    serving: StartServer, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(MODULE)
    (tmp_path / "child.py").write_text(CHILD)
    child_source = {"path": str(tmp_path / "child.py")}
    async with (
        serving("--dap", "0") as server,
        connect_process(server.process) as agent,
        node_client(server) as editor,
        node_client(server) as second,
    ):
        await editor.initialize(clientName="Test Studio", supportsStartDebuggingRequest=True)
        configuration = {
            "type": "debugpy",
            "name": "shop",
            "module": "shop",
            "args": ["a", "b c"],
            "cwd": str(tmp_path),
            "env": {"COLOUR": "green"},
            "console": "internalConsole",
            "justMyCode": False,
            "token": CONTROL,
            "connect": {"host": "127.0.0.1", "port": 1},
        }
        await editor.send("launch", configuration)
        await editor.wait_event("initialized")
        await editor.ask("setBreakpoints", source=child_source, breakpoints=[{"line": line_in(CHILD, "in child")}])
        wanted = [{"line": line_in(MODULE, "library")}]
        await editor.ask("setBreakpoints", source={"path": str(tmp_path / "shop.py")}, breakpoints=wanted)
        await editor.ask("configurationDone")

        # Code that is in no file, whose text the debugger has.
        stop = await editor.wait_event("stopped")
        frame = await editor.top_frame(stop["threadId"])
        thread = {"threadId": stop["threadId"]}
        assert frame["source"]["name"] == "<made>"
        number = frame["source"]["sourceReference"]
        text = await editor.ask("source", sourceReference=number, source=frame["source"])
        assert text["content"].startswith("made = 1\n")
        assert (await agent.call("debug_state"))["state"] == "Paused"

        # Into a library, as not only the user's code is wanted.
        await editor.ask("continue", **thread)
        assert (await editor.wait_event("stopped", 2))["reason"] == "breakpoint"
        await editor.ask("stepIn", **thread)
        await editor.wait_event("stopped", 3)
        frame = await editor.top_frame(stop["threadId"])
        assert (frame["name"], frame["source"]["name"]) == ("dumps", "__init__.py")

        # The child: a session of its own, over the same door.
        await editor.ask("continue", **thread)
        await editor.wait(lambda: bool(editor.asked))
        [request] = editor.asked
        await editor.answer(request)
        opened = request["arguments"]["configuration"]
        assert request["arguments"]["request"] == "attach"
        assert (opened["token"], opened["connect"]) == (CONTROL, configuration["connect"])
        await second.initialize(clientName="Test Studio", supportsStartDebuggingRequest=True)
        await second.ask("attach", **opened)
        await second.wait_event("initialized")
        await second.ask("setBreakpoints", source=child_source, breakpoints=[{"line": line_in(CHILD, "in child")}])
        await second.ask("configurationDone")
        await second.ask("threads")
        stop = await second.wait_event("stopped")
        frame = await second.top_frame(stop["threadId"])
        assert (stop["reason"], frame["name"], frame["line"]) == ("breakpoint", "<module>", 2)
        assert ("word", "'from the child'") in [
            (each["name"], each["value"])
            for scope in (await second.ask("scopes", frameId=frame["id"]))["scopes"][:1]
            for each in (await second.ask("variables", variablesReference=scope["variablesReference"]))["variables"]
        ]
        await second.ask("continue", threadId=stop["threadId"])
        await second.wait_event("terminated")
        await editor.wait_event("terminated")
        assert (len(editor.asked), second.asked) == (1, [])
        assert output_of(editor).splitlines() == ["['a', 'b c'] True green", "from the child", ""]
        assert editor.bodies("exited") == [{"exitCode": 0}]
        assert (await agent.call("debug_state"))["state"] == "Disconnected"
