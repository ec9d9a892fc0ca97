"""What adapters say in words only: exit codes, errors that come as values, messages with something before them."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure
from tests.session.tables import launched
from trio_debugmcp.dap.profiles import read_tables
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.output.output_marks import Piece, parted, pieces
from trio_debugmcp.testing import DebugClient, FakeAdapter

EXIT_CODE = r"exit-code = '\AProcess \d+ has exited with status (-?\d+)\s*\Z'" + "\n"
ERRORS = r"errors = '\A#<(\w*Error: .*)>\Z|\A\Z'" + "\n"
LOG_PREFIX = r"log-prefix = '> \[Go \d+\]: '" + "\n"


async def output(client: DebugClient) -> list[dict[str, Any]]:
    return list((await client.call("process_read_output"))["entries"])


# --- The end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "text", "code"),
    [
        ("console", "Process 30952 has exited with status 7\n", 7),
        ("stderr", "Process 30952 has exited with status -11", -11),
        ("stdout", "Process 30952 has exited with status 7\n", None),  # a program may write that
        ("console", "Process 30952 has exited with status 7, it says\n", None),
    ],
)
async def test_an_exit_code_may_be_said_in_words(
    autojump_clock: MockClock, category: str, text: str, code: int | None
) -> None:
    adapter = FakeAdapter()
    async with launched(EXIT_CODE, adapter) as client:
        await adapter.event("output", {"category": category, "output": text})
        await adapter.event("terminated")
        await trio.sleep(1)
        assert (await client.call("debug_state")).get("exitCode") == code


async def test_an_exit_code_that_is_reported_counts_before_one_in_words(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(EXIT_CODE, adapter) as client:
        await adapter.event("exited", {"exitCode": 3})
        await adapter.event("output", {"category": "console", "output": "Process 1 has exited with status 7"})
        await adapter.event("terminated")
        await trio.sleep(1)
        assert (await client.call("debug_state"))["exitCode"] == 3


@pytest.mark.parametrize("lines", ["ends-by-closing = true\n", ""])
async def test_an_adapter_may_end_by_closing_the_connection_and_has_not_failed_then(
    autojump_clock: MockClock, lines: str
) -> None:
    adapter = FakeAdapter()
    async with launched(lines, adapter) as client, trio.open_nursery() as nursery:

        async def close() -> None:
            await trio.sleep(1)
            await adapter.crash()

        nursery.start_soon(close)
        if lines:
            assert (await client.call("debug_wait"))["state"] == "Disconnected"
        else:
            assert (await failure(client, "debug_wait")).code == "ADAPTER_GONE"


# --- Values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("#<NameError: undefined local variable>", "`x` failed: NameError: undefined local variable"),
        ("", "`x` failed: it has no value here"),
    ],
)
async def test_a_value_that_is_an_error_is_an_error(autojump_clock: MockClock, value: str, error: str) -> None:
    adapter = FakeAdapter()
    adapter.values = {"x": value, "y": "[#<NameError: a>]"}
    async with launched(ERRORS, adapter) as client:
        await adapter.stop("pause")
        await client.call("debug_wait")
        failed = await failure(client, "evaluate", expression="x")
        assert (failed.code, failed.message) == ("EVAL_FAILED", error)
        assert (await client.call("evaluate", expression="y"))["value"] == "[#<NameError: a>]"


async def test_a_condition_whose_value_is_an_error_stops_and_says_so(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames, adapter.values = [("add", __file__, 1)], {"x": "#<NameError: x>"}
    here = [{"file": __file__, "line": 1, "condition": "x"}]
    async with launched('conditions = "ours"\n' + ERRORS, adapter, breakpoints=here) as client:
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["notes"] == ["the condition `x` failed: NameError: x"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("errors = '('", "`errors` is not a regular expression"),
        ("exit-code = 'ended'", "`exit-code` needs a group for the exit code"),
        ("log-prefix = '['", "`log-prefix` is not a regular expression"),
    ],
)
def test_a_pattern_that_is_not_valid_is_refused_when_it_is_read(line: str, problem: str) -> None:
    text = '[adapters.x]\nlanguage = "X"\nfind = ["x"]\ncommand = ["x"]\nlaunch = {}\n'
    with pytest.raises(UsageError, match=problem.replace("(", r"\(")):
        read_tables(text + line, "mine.toml")


# --- Output -----------------------------------------------------------------------------------------------------------


async def test_a_message_is_found_behind_what_its_adapter_writes_before_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    here = [{"file": __file__, "line": 1, "log_message": "i={i}"}]
    async with launched(LOG_PREFIX, adapter, breakpoints=here) as client:
        await adapter.event("output", {"category": "stdout", "output": "> [Go 1]: \x02tp-1\x03i=0\n"})
        await adapter.event(
            "output", {"category": "stdout", "output": "total: \x02tp-1\x03i=1\n> [Go 7]: \x02tp-1\x03i=2"}
        )
        await trio.sleep(1)
        assert await output(client) == [{"log": "i=0\n"}, {"stdout": "total: "}, {"log": "i=1\ni=2\n"}]
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert ", 3 hits" in listed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no mark\n", [Piece("no mark\n")]),
        ("<a>x", [Piece("x", "a")]),
        ("1\n<a>x\ny\n<b><a>", [Piece("1\n"), Piece("x\ny\n", "a"), Piece("", "b"), Piece("", "a")]),
        ("* <a>x* <b>y", [Piece("x", "a"), Piece("y", "b")]),
    ],
)
def test_output_is_divided_at_marks(text: str, found: list[Piece]) -> None:
    assert pieces(text, {"<a>": "a", "<b>": "b"}, r"\* ") == found


# --- Processes and threads --------------------------------------------------------------------------------------------


@pytest.mark.real
async def test_the_process_of_a_terminal_of_ours_is_the_programs_where_the_adapter_reports_none() -> None:
    adapter = FakeAdapter()

    async def in_terminal(arguments: dict[str, Any]) -> object:
        wanted = {"kind": "integrated", "cwd": "/", "args": ["sleep", "600"]}
        started = await adapter.reverse_request("runInTerminal", wanted)
        pids.append(started["body"]["processId"])
        await adapter.configured.wait()
        return {}

    pids: list[int] = []
    adapter.answer("launch", in_terminal)
    async with launched("", adapter) as client:
        assert (await client.read("debugger://session"))["processId"] == pids[0]
        await adapter.event("process", {"name": "x", "systemProcessId": 77})
        assert (await client.read("debugger://session"))["processId"] == 77


@pytest.mark.real
async def test_a_program_in_our_terminal_does_not_get_a_variable_that_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONE", "loud")
    monkeypatch.setenv("TILL", "open")
    adapter = FakeAdapter()

    async def in_terminal(arguments: dict[str, Any]) -> object:
        wanted = {"kind": "integrated", "cwd": "/", "args": ["sh", "-c", "echo $TONE $TILL"]}
        await adapter.reverse_request("runInTerminal", wanted)
        await adapter.configured.wait()
        return {}

    adapter.answer("launch", in_terminal)
    async with launched("", adapter, env={"TONE": None}) as client:
        with trio.fail_after(10):
            while not (written := (await client.call("process_read_output"))["entries"]):
                await trio.sleep(0.01)
        assert written == [{"stdout": "open\n"}]


@pytest.mark.parametrize(
    ("threads", "paused"), [([(-1, "Current"), (5, "main")], 5), ([(-1, "Current")], -1), ([(0, "main")], 0), ([], 1)]
)
async def test_of_the_threads_of_a_running_program_one_is_paused(
    autojump_clock: MockClock, threads: list[tuple[int, str]], paused: int
) -> None:
    adapter = FakeAdapter()
    adapter.threads = threads
    async with launched("", adapter) as client:
        await client.call("debug_pause", timeout=1)
        assert adapter.sent("pause") == [{"threadId": paused}]


def test_lines_of_the_debuggers_are_not_the_programs_output() -> None:
    text = "Listening for transport x\ntotal 2\nListening to Listening for transport\n"
    assert parted(text, ["Listening for transport "]) == (
        "total 2\nListening to Listening for transport\n",
        "Listening for transport x\n",
    )
    assert parted("total", ["Listening"]) == ("total", "")


async def test_what_a_debugger_writes_into_a_reported_stream_is_in_the_console(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched('own-lines = ["Listening on "]\n', adapter) as client:
        await adapter.event("output", {"category": "stdout", "output": "Listening on 1\ntotal 2\n"})
        await trio.sleep(1)
        entries = (await client.call("process_read_output"))["entries"]
        assert entries == [{"stdout": "total 2\n"}, {"console": "Listening on 1\n"}]
