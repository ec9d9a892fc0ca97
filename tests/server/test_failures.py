"""What an MCP client receives for each kind of error: a public code, and a sentence that says what to do next."""

import json

import msgspec
import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.app import Options, open_app
from trio_debugmcp.errors import (
    AdapterGone,
    AdapterRefused,
    CannotRun,
    DebugError,
    ProtocolViolation,
    UsageError,
    no_session,
)
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.failures import failed_result, usage_error
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.session.debugger import Debugger


@pytest.mark.parametrize(
    ("error", "code", "sentence", "details"),
    [
        (AdapterGone("the adapter has closed", "a\nb"), "ADAPTER_GONE", "is over: the adapter has", {"stderr": "a\nb"}),
        (AdapterGone("the adapter has closed"), "ADAPTER_GONE", "start again with debug_launch", {}),
        (AdapterRefused("next", "no. "), "ADAPTER_FAILED", "refused 'next': no. Look at", {"command": "next"}),
        (CannotRun("gdb", "not found"), "ADAPTER_FAILED", "Cannot run gdb: not found.", {"program": "gdb"}),
        (ProtocolViolation("no header", b"x"), "ADAPTER_FAILED", "broke the protocol: no header", {}),
        (FileNotFoundError(2, "No such file", "/x"), "INVALID_PATH", "No such file: /x. Pass another path.", {}),
        (OSError(24, "Too many open files", "/x"), "ADAPTER_FAILED", "Too many open files. Have other clients", {}),
        (msgspec.ValidationError("Expected `int`"), "INVALID_PARAMETER", "Expected `int`. See the", {}),
        (no_session(), "NO_SESSION", "No active debug session: start one with the tool debug_launch", {}),
        (DebugError("something else"), "ADAPTER_FAILED", "something else", {}),
    ],
)
def test_an_error_becomes_a_code_and_a_sentence(
    error: DebugError | OSError | msgspec.ValidationError, code: str, sentence: str, details: dict[str, str]
) -> None:
    usage = usage_error(error)
    assert (usage.code, usage.details) == (code, details)
    assert sentence in usage.message


def test_a_path_of_any_length_makes_a_short_sentence() -> None:
    assert len(usage_error(OSError(36, "File name too long", "/" + "x" * 100_000)).message) < 1000


def test_a_failed_tool_returns_one_text_with_code_message_and_details() -> None:
    result = failed_result(UsageError("INVALID_PATH", "Über /x.", {"path": "/x"}))
    assert result.is_error
    assert json.loads(result.text) == {
        "error": {"code": "INVALID_PATH", "message": "Über /x.", "details": {"path": "/x"}}
    }
    assert "Über" in result.text


class _Nothing(Params, frozen=True, kw_only=True):
    pass


async def test_a_call_that_is_cancelled_while_a_part_of_it_fails_is_recorded_as_cancelled(
    autojump_clock: MockClock,
) -> None:
    async def run(debugger: Debugger, params: _Nothing) -> Answer:
        async def part() -> None:
            try:
                await trio.sleep_forever()
            finally:
                raise AdapterGone("the adapter has closed")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(part)
            await trio.sleep_forever()
        raise AssertionError

    tool = Tool(name="two_parts", title="Two parts", description="Has two parts.", params=_Nothing, run=run)
    async with open_app(Options()) as app:
        with trio.move_on_after(1) as patience:
            await Toolbox({tool.name: tool}).call(app.debugger, "two_parts", {})
        assert patience.cancelled_caught
        (called,) = [each for each in app.debugger.timeline.after(0) if each.type == "toolCalled"]
        assert called.payload["error"] == "CANCELLED"
