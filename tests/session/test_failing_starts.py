"""An adapter that refuses, ends or stays silent at a step of the handshake: of each adapter that has a table.

Its table decides which request starts the program, whether that is in a child, and what else is sent on the way.
"""

import sys
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import PROFILES, Launch, TableProfile
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, Refusal, ToolFailed, connect

TABLES = {each.name: each for each in PROFILES if isinstance(each, TableProfile)}

LONGEST_SECONDS = 60.0
"""The handshake's own limit; callers usually set a shorter one."""


class Peer(FakeProfile):
    """A fake adapter that is talked to as the real one of a table, which is not there."""

    def __init__(self, adapter: FakeAdapter, table: TableProfile) -> None:
        super().__init__(adapter)
        self.name = table.name
        self.start_request = table.start_request  # type: ignore[method-assign]
        for each in ("habits", "dialect", "words", "values", "thrown", "expressions", "code", "repl", "programs"):
            setattr(self, each, getattr(table, each))


def program_of(table: TableProfile) -> tuple[FakeAdapter, FakeAdapter]:
    """The adapter that is opened, and the one that has the program."""
    root = program = FakeAdapter()
    if table.habits.launches_only:
        program = FakeAdapter()
        root.children[1] = program
        root.threads = []
        wanted = {"request": "launch", "configuration": {"child": 1, "name": "app [4711]"}}

        async def announce() -> None:
            await root.reverse_request("startDebugging", wanted)

        root.answer("launch", _nothing, then=announce)
    return root, program


async def _nothing(arguments: object) -> object:
    return {}


def spoil(root: FakeAdapter, program: FakeAdapter, command: str, fault: str) -> None:
    """Have the adapter fail at this step, on the connection of the program where that has one of its own."""

    async def refuse(arguments: object) -> object:
        raise Refusal("not today")

    async def end(arguments: object) -> object:
        for each in (root, program):  # both are of one process
            await each.crash()
        return {}

    async def keep_silent(arguments: object) -> object:
        await trio.sleep_forever()

    at = program if command == "setBreakpoints" else root
    at.answer(command, {"refuses": refuse, "ends": end, "is silent": keep_silent}[fault])


def failing(table: TableProfile, step: str, fault: str) -> FakeAdapter:
    """An adapter that fails at a step."""
    root, program = program_of(table)
    start = table.start_request(Launch(""))
    if step != "initialized":
        spoil(root, program, start if step == "start" else step, fault)
        return root
    root.sends_initialized = False
    if fault == "ends":  # after it has said that the program is started
        root.answer(start, _nothing, then=root.crash)
    return root


async def started(client: DebugClient, name: str) -> dict[str, Any]:
    """Launch a program with a breakpoint; it runs on."""
    own = [{"file": __file__, "line": 1}]
    launch = {"program": sys.executable, "adapter": name, "breakpoints": own, "stop_at_entry": False, "wait": False}
    return await client.call("debug_launch", **launch, timeout=100)


SENTENCES = {
    "refuses": ("LAUNCH_FAILED", "{name} refused: not today. "),
    "ends": ("ADAPTER_FAILED", "{name} did not launch: the debug adapter closed the connection. "),
    "is silent": ("TIMEOUT", "{name} did not "),
}


FAILURES = [
    *((step, fault) for step in ("initialize", "start", "configurationDone") for fault in SENTENCES),
    *((step, fault) for step in ("initialized", "setBreakpoints") for fault in ("ends", "is silent")),
]


@pytest.mark.parametrize("name", TABLES)
async def test_an_adapter_that_fails_at_a_step_of_the_start_fails_the_launch_and_leaves_nothing(
    autojump_clock: MockClock, name: str
) -> None:
    table = TABLES[name]
    peer = Peer(FakeAdapter(), table)
    async with connect(options=Options(settings=Settings(directory="/", profiles=(peer,)))) as client:
        for step, fault in FAILURES:
            peer.adapter, began = failing(table, step, fault), trio.current_time()
            with pytest.raises(ToolFailed) as failed:
                await started(client, name)
            code, sentence = SENTENCES[fault]
            in_child = table.habits.launches_only and (step, fault) == ("setBreakpoints", "is silent")
            sentence = "The program did not connect" if in_child else sentence.format(name=name)
            found = failed.value.code, failed.value.message.startswith(sentence)
            assert found == (code, True), (step, fault)
            assert trio.current_time() - began <= (LONGEST_SECONDS if fault == "is silent" else 0), (step, fault)
            assert (await client.call("debug_state"))["state"] == "Disconnected"
        root, program = program_of(table)
        spoil(root, program, "setBreakpoints", "refuses")
        peer.adapter = root
        answer = await started(client, name)  # with a breakpoint that is pending
        assert (answer["state"], answer["notes"][-1]) == ("Running", "bp-1 is pending: not today")
