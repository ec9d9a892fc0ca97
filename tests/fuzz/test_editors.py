"""Any request of an editor is answered, as the protocol has it, and costs no other client anything."""

import json
from contextlib import suppress
from typing import Any

import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.editors.bench import CONTROL, OBSERVE, EditorClient, Refused, paused
from tests.faults.phases import healthy
from tests.fuzz.editors import GOODBYES, REQUESTS, arguments, commands
from tests.fuzz.running import run, share
from trio_debugmcp.editors.channel import MAX_STRANGER_BYTES
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES

ANSWER_SECONDS = 100.0
"""Virtual; what a request may wait for at longest is a program that is built again, for a minute."""

Request = tuple[str, Any]

whole_session = share(5)
"""Each message is compared with the schema, which takes longer than the server."""


def adapter_of_all() -> FakeAdapter:
    """An adapter that can do everything."""
    adapter, can = healthy(), FakeAdapter({**ALL_CAPABILITIES})
    can.values, can.locals = adapter.values, {"count": "3"}
    for command in ("pause", "next"):
        can.answer(command, _stopping(can))
    return can


def _stopping(adapter: FakeAdapter) -> Any:
    async def stop(given: object) -> object:
        await adapter.stop("step")
        return {}

    return stop


async def ask(editor: EditorClient, command: str, wanted: Any) -> None:
    """Send a request, whose answer is one of the protocol's, and no bug of ours."""
    with trio.fail_after(ANSWER_SECONDS):
        response = await editor.response(command, wanted)
    if not response["success"]:
        assert "A bug in the debugger" not in str(Refused(response)), (command, wanted, response)


def test_the_schema_has_the_requests_that_are_tried() -> None:
    assert len(commands()) == 43
    assert {"next", "setBreakpoints", "readMemory", "locations"} <= set(commands())


def test_every_request_is_answered_whatever_its_arguments_are() -> None:
    @whole_session
    @given(
        st.lists(REQUESTS, min_size=5, max_size=25),
        GOODBYES,
        st.sampled_from([CONTROL, CONTROL, OBSERVE]),
        arguments("initialize"),
    )
    def check(requests: list[Request], goodbye: Request, token: str, hello: Any) -> None:
        async def main() -> None:
            async with paused(adapter_of_all()) as (bench, _), bench.editor() as editor:
                await editor.join(token, {"supportsVariablePaging": True, "supportsInvalidatedEvent": True})
                if token == CONTROL:
                    await editor.locals()
                for command, wanted in requests:
                    await ask(editor, command, wanted)
                assert (await bench.agent.call("debug_state"))["state"] in ("Paused", "Running")
                await ask(editor, "initialize", hello)
                await ask(editor, *goodbye)
                await bench.agent.call("debug_state")

        run(main)

    check()


def test_any_way_to_join_is_answered_and_refused_without_a_token() -> None:
    @whole_session
    @given(st.lists(st.tuples(arguments("initialize"), st.sampled_from(["attach", "launch"]), st.dictionaries(
        st.sampled_from(["program", "module", "args", "cwd", "env", "console", "stopOnEntry", "justMyCode", "wait",
                         "sessionId", "type", "name", "noDebug", "token"]),
        st.sampled_from(["", "x", 1, True, None, [], {}, ["a", 1], {"A": 1}, FakeAdapter.program]), max_size=6,
    ), st.booleans()), min_size=2, max_size=6))  # fmt: skip
    def check(visits: list[tuple[Any, str, dict[str, Any], bool]]) -> None:
        async def main() -> None:
            async with paused(adapter_of_all()) as (bench, _):
                for hello, command, configuration, knows in visits:
                    async with bench.editor() as editor:
                        too_long = len(json.dumps(hello)) > MAX_STRANGER_BYTES // 2
                        await ask(editor, "initialize", {} if too_long else hello)
                        given_token = {"token": CONTROL} if knows else {}
                        with suppress(trio.BrokenResourceError):  # who is refused is disconnected
                            await editor.send(command, {**configuration, **given_token})
                            await trio.sleep(1)
                            await editor.send("configurationDone")
                            await trio.sleep(5)
                        if not knows:
                            assert not {"stopped", "initialized", "process", "thread"} & {*editor.log}
                        assert "A bug in the debugger" not in str(editor.events)
                assert (await bench.agent.call("debug_state"))["state"] in ("Paused", "Running", "Disconnected")

        run(main)

    check()
