"""Adapters that break, hang, refuse and lie: every tool ends with a clear answer, and the server goes on."""

from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, LIST_CHANGED, SESSION, THREADS, launch, paused, running
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, ToolFailed, connect, open_server
from trio_debugmcp.testing.fake_adapter import ALL_CAPABILITIES, Refusal


async def failure(client: DebugClient, tool: str, **arguments: Any) -> ToolFailed:
    """The failure of a tool call that must fail."""
    with pytest.raises(ToolFailed) as caught:
        await client.call(tool, **arguments)
    assert caught.value.message
    return caught.value


async def timed_out(client: DebugClient, tool: str, **arguments: Any) -> bool:
    """Whether a call ran out of time: an error says so, or a stop that is none yet."""
    try:
        result = await client.call(tool, **arguments)
    except ToolFailed as failed:
        return failed.code == "TIMEOUT"
    return result["timedOut"] is True and result["state"] == "Running"


def refusing(reason: str) -> Any:
    async def refuse(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        raise Refusal(reason)

    return refuse


async def still_works(client: DebugClient) -> None:
    """Launch anew, stop, continue, end: the server has not suffered. `FakeAdapter` must answer again."""
    adapter = FakeAdapter()
    result = await client.call("debug_launch", program=adapter.program)
    assert result["stop"]["reason"] == "Entry"
    await client.call("debug_disconnect")
    assert (await client.call("debug_state"))["state"] == "Disconnected"


# --- Adapters that never answer ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["initialize", "launch", "setBreakpoints", "configurationDone"])
@pytest.mark.parametrize(("timeout", "at_most"), [(5, 5), (30, 30)])
async def test_a_launch_that_is_not_answered_ends_by_its_timeout(
    command: str, timeout: float, at_most: float, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.withhold(command)
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=1)
        failed = await failure(client, "debug_launch", program=adapter.program, timeout=timeout)
        assert failed.code == "TIMEOUT"
        assert trio.current_time() <= at_most + 1e-6
        assert (await client.call("debug_state"))["state"] == "Disconnected"
        assert "disconnect" in adapter.commands()
        adapter._answers.clear()
        await still_works(client)


async def test_a_launch_whose_goodbye_is_not_answered_either_ends_all_the_same(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    adapter.withhold("disconnect")
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program, timeout=5)
        assert failed.code == "TIMEOUT"
        assert trio.current_time() == pytest.approx(6)


@pytest.mark.parametrize(
    ("command", "tool", "arguments"),
    [
        ("continue", "debug_continue", {"timeout": 3}),
        ("next", "debug_step", {"timeout": 3}),
        ("stepIn", "debug_step", {"mode": "in", "timeout": 3}),
        ("stepOut", "debug_step", {"mode": "out", "timeout": 3}),
        ("continue", "debug_run_to", {"file": FakeAdapter.program, "line": 1, "timeout": 3}),
    ],
)
async def test_a_resume_that_is_not_answered_ends_by_its_timeout(
    command: str, tool: str, arguments: dict[str, Any], autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold(command)
        start = trio.current_time()
        assert await timed_out(client, tool, **arguments)
        assert trio.current_time() - start <= 3 + 1e-6


async def test_a_pause_that_is_not_answered_ends_by_its_timeout(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        adapter.withhold("pause")
        start = trio.current_time()
        assert await timed_out(client, "debug_pause", timeout=3)
        assert trio.current_time() - start <= 3 + 1e-6


@pytest.mark.parametrize(
    ("command", "tool", "arguments", "code", "seconds"),
    [
        ("evaluate", "evaluate", {"expression": "x"}, "EVAL_TIMEOUT", 5),
        ("evaluate", "evaluate", {"expression": "x", "timeout": 1}, "EVAL_TIMEOUT", 1),
        ("stackTrace", "stacktrace_get", {"thread_id": 2}, "TIMEOUT", 10),
        ("scopes", "variables_get", {}, "TIMEOUT", 10),
        ("variables", "variables_get", {}, "TIMEOUT", 10),
        ("setBreakpoints", "breakpoint_set", {"file": FakeAdapter.program, "line": 5}, "TIMEOUT", 10),
        ("setBreakpoints", "breakpoint_remove", {"id": "*"}, "TIMEOUT", 10),
        ("setFunctionBreakpoints", "breakpoint_set", {"function": "main"}, "TIMEOUT", 10),
        ("setExceptionBreakpoints", "breakpoint_set_exception", {"exception_type": "*"}, "TIMEOUT", 10),
    ],
)
async def test_a_request_that_is_not_answered_fails_its_tool_and_nothing_else(
    command: str, tool: str, arguments: dict[str, Any], code: str, seconds: float, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, "main"), (2, "worker")]
    async with paused("legacy", adapter) as (client, _):
        adapter.withhold(command)
        start = trio.current_time()
        failed = await failure(client, tool, **arguments)
        assert failed.code == code
        assert trio.current_time() - start <= seconds + 1e-6
        assert (await client.read(SESSION))["state"] == "Paused"
        assert (await client.call("debug_disconnect"))["wasTerminated"] is True


async def test_a_disconnect_that_is_not_answered_is_over_after_its_grace(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.withhold("disconnect")
        start = trio.current_time()
        result = await client.call("debug_disconnect")
        assert result["wasTerminated"] is True
        assert trio.current_time() - start == pytest.approx(6)
        assert await client.uris() == []


@pytest.mark.parametrize("command", ["threads", "stackTrace", "scopes", "variables"])
async def test_a_stop_whose_examination_is_not_answered_is_still_a_stop(
    command: str, autojump_clock: MockClock
) -> None:
    async with running("legacy") as (client, adapter):
        adapter.withhold(command)
        await adapter.stop("breakpoint", hit=[1])
        stop = await client.call("debug_wait", timeout=60)
        assert (stop["state"], stop["reason"], stop["threadId"]) == ("Paused", "Breakpoint", 1)


@pytest.mark.parametrize("command", ["threads", "stackTrace", "scopes", "variables", "exceptionInfo"])
async def test_a_stop_whose_examination_is_refused_is_still_a_stop(command: str, autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        adapter.answer(command, refusing("not now"))
        await adapter.stop("exception", text="ValueError")
        stop = await client.call("debug_wait", timeout=60)
        assert (stop["state"], stop["reason"], stop["exception"]["type"]) == ("Paused", "Exception", "ValueError")


# --- Adapters that refuse ---------------------------------------------------------------------------------


@pytest.mark.parametrize("early", [True, False])
async def test_a_launch_that_is_refused_says_why_and_may_be_tried_again(early: bool, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def refuse(arguments: object) -> object:
        if not early:
            await adapter._configured.wait()
        raise Refusal("no such interpreter")

    adapter.answer("launch", refuse)
    async with connect(options=adapter.options()) as client, client.subscribed(SESSION):
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert failed.code == "LAUNCH_FAILED"
        assert "no such interpreter" in failed.message
        await trio.sleep(1)
        assert [each.what for each in client.notices].count(LIST_CHANGED) == 2
        adapter._answers.clear()
        await still_works(client)


async def test_an_attach_that_is_refused_says_why(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.answer("attach", refusing("operation not permitted"))
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_attach", port=5678)
        assert (failed.code, "operation not permitted" in failed.message) == ("ATTACH_FAILED", True)


async def test_a_step_that_is_refused_leaves_the_program_paused(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.answer("next", refusing("thread is not suspended"))
        failed = await failure(client, "debug_step")
        assert (failed.code, "thread is not suspended" in failed.message) == ("ADAPTER_FAILED", True)
        assert (await client.read(SESSION))["state"] == "Paused"
        assert (await client.read(THREADS))["stale"] is False


async def test_of_two_clients_that_continue_at_once_the_second_spoils_nothing(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    calls = 0

    async def only_once(arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls > 1:
            await trio.sleep(0.1)
            raise Refusal("already running")
        return {}

    adapter.answer("continue", only_once)
    async with open_server(adapter.options()) as server, server.connect() as one, server.connect("modern") as two:
        await launch(one, adapter, stop_at_entry=True, wait=True)
        codes: list[str | None] = []

        async def go_on(client: DebugClient) -> None:
            try:
                await client.call("debug_continue", wait=False)
            except ToolFailed as failed:
                codes.append(failed.code)
            else:
                codes.append(None)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(go_on, one)
            nursery.start_soon(go_on, two)
        assert codes.count(None) >= 1
        assert (await one.read(SESSION))["state"] == "Running"


async def test_a_breakpoint_that_is_refused_is_kept_and_says_why(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        adapter.answer("setBreakpoints", refusing("no code here"))
        made = (await client.call("breakpoint_set", file=adapter.program, line=5))["breakpoint"]
        assert (made["verified"], made["state"], made["message"]) == (False, "Pending", "no code here")


@pytest.mark.parametrize("tool", ["evaluate", "variables_get"])
async def test_an_evaluation_that_fails_carries_the_programs_own_error(tool: str, autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, _):
        arguments = {"expression": "nothing"} if tool == "evaluate" else {"path": "nothing"}
        failed = await failure(client, tool, **arguments)
        assert (failed.code, "NameError: name 'nothing' is not defined" in failed.message) == ("EVAL_FAILED", True)


# --- Adapters that break off ------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["debug_continue", "debug_step", "debug_wait"])
@pytest.mark.parametrize("garbage", [False, True])
async def test_an_adapter_that_dies_while_a_tool_waits_is_told_and_may_be_started_again(
    tool: str, garbage: bool, autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter), client.subscribed(SESSION), trio.open_nursery() as nursery:
        if tool == "debug_wait":
            await client.call("debug_continue", wait=False)
        start = trio.current_time()

        @nursery.start_soon
        async def _() -> None:
            await trio.sleep(1)
            if garbage:
                await adapter.send_raw(b"Traceback (most recent call last):\n")
            else:
                await adapter.crash()

        failed = await failure(client, tool, timeout=20)
        assert failed.code == "ADAPTER_GONE"
        assert ("Traceback (most recent" in failed.message) is garbage
        assert trio.current_time() - start <= 1 + 1e-6
        await trio.sleep(1)
        assert client.notices[-1].what == LIST_CHANGED
        state = await client.call("debug_state")
        assert state["state"] == "Disconnected"
        assert state["lastSession"]["reason"]
        await still_works(client)


@pytest.mark.parametrize("command", ["initialize", "launch", "configurationDone", "setExceptionBreakpoints"])
async def test_an_adapter_that_dies_during_the_handshake_fails_the_launch(
    command: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()

    async def die(arguments: object) -> object:
        await adapter.crash()
        return {}

    adapter.answer(command, die)
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert failed.code == "ADAPTER_FAILED"
        assert trio.current_time() == 0
        assert await client.uris() == []
        adapter._answers.clear()
        await still_works(client)


async def test_an_adapter_that_prints_a_traceback_is_quoted(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def blurt(arguments: object) -> object:
        await adapter.send_raw(b"ModuleNotFoundError: No module named 'adapter'\nsomewhere\n")
        await adapter.crash()
        return {}

    adapter.answer("initialize", blurt)
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert failed.code == "ADAPTER_FAILED"
        assert "No module named 'adapter'" in failed.message


@pytest.mark.parametrize("tool", ["evaluate", "variables_get", "stacktrace_get"])
async def test_an_inspection_that_the_end_overtakes_says_that_the_adapter_is_gone(
    tool: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, "main"), (2, "worker")]
    async with paused("legacy", adapter) as (client, _):

        async def die(arguments: object) -> object:
            await adapter.crash()
            return {}

        for command in ("evaluate", "scopes", "stackTrace"):
            adapter.answer(command, die)
        needed: dict[str, dict[str, Any]] = {"evaluate": {"expression": "x"}, "stacktrace_get": {"thread_id": 2}}
        assert (await failure(client, tool, **needed.get(tool, {}))).code == "ADAPTER_GONE"


async def test_a_program_that_exits_before_its_adapter_leaves_has_exited(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            await trio.sleep(1)
            await adapter.event("exited", {"exitCode": 3})
            await adapter.crash()  # without a `terminated`

        stop = await client.call("debug_continue")
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)


async def test_breakpoints_survive_an_adapter_that_dies_and_bind_again(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        assert (await client.call("breakpoint_list"))["breakpoints"][0]["state"] == "Bound"
        await adapter.crash()
        await trio.sleep(10)
        (pending,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert (pending["id"], pending["state"]) == ("bp-1", "Pending")
        await launch(client, adapter)
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["state"] == "Bound"


# --- Adapters with a sense of time of their own -----------------------------------------------------------


@pytest.mark.parametrize("answer_after", [0.5, 8])
async def test_a_stop_that_overtakes_the_answer_of_its_step_is_the_stop(
    answer_after: float, autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.frames = [("main", "/src/app.py", 2)]

        async def stop_first(arguments: object) -> object:
            await adapter.stop("step")
            await trio.sleep(answer_after)
            return {}

        adapter.answer("next", stop_first)
        stop = await client.call("debug_step", timeout=20)
        assert (stop["state"], stop["reason"], stop["location"]["line"]) == ("Paused", "Step", 2)
        await trio.sleep(20)
        assert (await client.read(SESSION))["state"] == "Paused"


async def test_a_continued_that_comes_late_changes_nothing(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), client.subscribed(SESSION, THREADS):
        await client.call("debug_continue", wait=False)
        await trio.sleep(10)
        first = len(client.notices)
        await adapter.event("continued", {"threadId": 1, "allThreadsContinued": True})
        await trio.sleep(10)
        assert client.notices[first:] == []
        await adapter.stop("breakpoint", hit=[1])
        assert (await client.call("debug_wait"))["reason"] == "Breakpoint"


async def test_a_program_that_goes_on_by_itself_is_running(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        await adapter.event("continued", {"threadId": 1})
        await trio.sleep(1)
        assert (await client.read(SESSION))["state"] == "Running"
        assert (await failure(client, "stacktrace_get")).code == "NOT_PAUSED"


async def test_a_second_initialized_starts_no_second_configuration(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        commands = adapter.commands()
        await adapter.event("initialized")
        await trio.sleep(10)
        assert adapter.commands() == commands
        assert (await client.read(SESSION))["state"] == "Running"


async def test_initialized_before_the_answer_to_initialize_is_enough(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def hasty(arguments: object) -> object:
        await adapter.event("initialized")
        await trio.sleep(0.5)
        return ALL_CAPABILITIES

    adapter.answer("initialize", hasty)
    async with connect(options=adapter.options()) as client:
        result = await client.call("debug_launch", program=adapter.program)
        assert result["stop"]["reason"] == "Entry"
        assert adapter.commands().count("configurationDone") == 1


async def test_an_adapter_that_answers_launch_before_the_configuration_is_fine(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def at_once(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        return None

    adapter.answer("launch", at_once)
    async with connect(options=adapter.options()) as client:
        result = await launch(client, adapter)
        assert result["session"]["state"] == "Running"


async def test_a_thread_may_have_the_id_zero(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(0, "main"), (1, "worker")]
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("pause", thread=0)
        stop = await client.call("debug_wait")
        assert stop["threadId"] == 0
        assert (await client.read(SESSION))["activeThreadId"] == 0
        assert [each["isCurrent"] for each in (await client.read(THREADS))["threads"]] == [True, False]
        await client.call("debug_continue", thread_id=0, wait=False)
        assert adapter.sent("continue")[-1]["threadId"] == 0


async def test_a_stopped_thread_that_the_adapter_does_not_list_is_listed(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await adapter.stop("pause", thread=7)
        await trio.sleep(1)
        threads = (await client.read(THREADS))["threads"]
        assert [(each["id"], each["state"], each["isCurrent"]) for each in threads] == [
            (1, "Suspended", False),
            (7, "Suspended", True),
        ]


async def test_a_stop_that_names_no_thread_and_an_unknown_reason_is_understood(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(7, "main")]
    async with running("legacy", adapter) as (client, _):
        await adapter.event("stopped", {"reason": "signal", "description": "SIGUSR1"})
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["threadId"], stop["description"]) == ("Pause", 7, "SIGUSR1")


async def test_a_program_that_ends_during_a_step_has_exited(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):

        async def end(arguments: object) -> object:
            await adapter.exit(3)
            return {}

        adapter.answer("next", end)
        stop = await client.call("debug_step", count=5)
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)
        assert len(adapter.sent("next")) == 1
        assert (await failure(client, "debug_step")).code == "NO_SESSION"


async def test_a_series_of_steps_ends_at_a_breakpoint(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):

        async def step(arguments: object) -> object:
            steps = len(adapter.sent("next"))
            await adapter.stop("breakpoint" if steps == 3 else "step", hit=[1] if steps == 3 else [])
            return {}

        adapter.answer("next", step)
        stop = await client.call("debug_step", count=10)
        assert (stop["reason"], stop["breakpointIds"]) == ("Breakpoint", ["bp-1"])
        assert len(adapter.sent("next")) == 3


# --- Calls that are cancelled -----------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_wait_that_is_called_off_leaves_the_program_running(era: Any, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        with trio.move_on_after(1):
            await client.call("debug_continue", timeout=100)
        assert (await client.read(SESSION))["state"] == "Running"
        await adapter.stop("breakpoint", hit=[1])
        assert (await client.call("debug_wait"))["breakpointIds"] == ["bp-1"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_an_evaluation_that_is_called_off_leaves_the_rest_usable(era: Any, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        adapter.values = {"x": "1"}
        adapter.withhold("evaluate")
        with trio.move_on_after(1):
            await client.call("evaluate", expression="x", timeout=100)
        del adapter._answers["evaluate"]
        assert (await client.call("evaluate", expression="x"))["value"] == "1"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_launch_that_is_called_off_takes_its_session_down(era: Any, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    async with connect(era, options=adapter.options()) as client:
        with trio.move_on_after(1):
            await launch(client, adapter)
        await trio.sleep(10)
        assert await client.uris() == []
        adapter._answers.clear()
        await still_works(client)


async def test_a_run_to_that_is_called_off_takes_its_breakpoint_away(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        with trio.move_on_after(1):
            await client.call("debug_run_to", file=adapter.program, line=9, timeout=100)
        await trio.sleep(1)
        assert [each["line"] for each in adapter.sent("setBreakpoints")[-2]["breakpoints"]] == [1, 9]
        assert [each["line"] for each in adapter.sent("setBreakpoints")[-1]["breakpoints"]] == [1]
        assert len((await client.call("breakpoint_list"))["breakpoints"]) == 1


# --- What adapters ask ------------------------------------------------------------------------------------


async def test_a_reverse_request_that_we_do_not_serve_is_refused_and_not_ignored(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        answer = await adapter.reverse_request("makeCoffee", {"sugar": 2})
        assert (answer["success"], answer["command"]) == (False, "makeCoffee")
        assert "does not serve" in answer["message"]
        assert (await client.read(SESSION))["state"] == "Running"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("runInTerminal", {}),
        ("runInTerminal", {"args": "ls", "cwd": "/"}),
        ("runInTerminal", {"args": [], "cwd": "/"}),
        ("runInTerminal", {"args": ["a\0b"], "cwd": "/"}),
        ("runInTerminal", {"args": ["true"], "cwd": "/", "env": {"a=b": "c"}}),
        ("startDebugging", {"request": "launch"}),
        ("startDebugging", {"request": "launch", "configuration": {}}),
    ],
)
async def test_a_reverse_request_that_makes_no_sense_is_refused(
    command: str, arguments: dict[str, Any], autojump_clock: MockClock
) -> None:
    async with running("legacy") as (client, adapter):
        answer = await adapter.reverse_request(command, arguments)
        assert answer["success"] is False
        assert answer["message"]
        assert (await client.read(SESSION))["state"] == "Running"


# --- What adapters cannot do ------------------------------------------------------------------------------


def unable() -> FakeAdapter:
    """An adapter that declares nothing."""
    adapter = FakeAdapter(capabilities={})

    async def at_once(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        return {}

    adapter.answer("launch", at_once)
    return adapter


async def test_what_an_adapter_has_not_declared_is_never_asked_of_it(autojump_clock: MockClock) -> None:
    adapter = unable()
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=1)
        await client.call("breakpoint_set", function="main")
        await client.call("breakpoint_set_exception", exception_type="*")
        await launch(client, adapter)
        await adapter.stop("exception")
        stop = await client.call("debug_wait")
        assert stop["reason"] == "Exception"
        assert (await failure(client, "debug_step", mode="back")).code == "NOT_SUPPORTED"
        await client.call("debug_step", granularity="instruction", wait=False)
        assert "granularity" not in adapter.sent("next")[-1]
        undeclared = {
            "configurationDone",
            "setFunctionBreakpoints",
            "exceptionInfo",
            "stepBack",
            "terminate",
            "modules",
        }
        assert not undeclared & set(adapter.commands())


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"line": 3, "condition": "x > 1"}, "conditions"),
        ({"line": 3, "hit_condition": ">= 3"}, "hit conditions"),
        ({"line": 3, "log_message": "x is {x}"}, "log messages"),
        ({"function": "main"}, "functions"),
    ],
)
@pytest.mark.parametrize("before", [True, False])
async def test_a_breakpoint_beyond_an_adapters_means_is_not_sent_and_names_the_adapter(
    arguments: dict[str, Any], what: str, before: bool, autojump_clock: MockClock
) -> None:
    adapter = unable()
    if "line" in arguments:
        arguments = {**arguments, "file": adapter.program}
    async with connect(options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=1)
        if before:
            await client.call("breakpoint_set", **arguments)
            await launch(client, adapter)
        else:
            await launch(client, adapter)
            await client.call("breakpoint_set", **arguments)
        listed = await client.call("breakpoint_list")
        (shown,) = [*listed["breakpoints"], *listed["functionBreakpoints"]][1:]
        assert (shown["verified"], shown["state"]) == (False, "Pending")
        assert shown["message"].startswith("fake does not support")
        assert what in shown["message"]
        for sent in adapter.sent("setBreakpoints"):
            assert sent["breakpoints"] in ([{"line": 1}], [])
        assert "setFunctionBreakpoints" not in adapter.commands()


async def test_capabilities_that_are_declared_later_count(autojump_clock: MockClock) -> None:
    adapter = unable()
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        await adapter.event("capabilities", {"capabilities": {"supportsConditionalBreakpoints": True}})
        await trio.sleep(1)
        made = await client.call("breakpoint_set", file=adapter.program, line=3, condition="x")
        assert made["breakpoint"]["verified"] is True
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 3, "condition": "x"}]


async def test_a_reverse_request_that_trips_over_our_own_fault_is_refused_and_the_server_goes_on(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(self: object, configuration: object) -> None:
        raise ValueError("no such port")

    monkeypatch.setattr(FakeProfile, "serves_child", trip)
    async with running("legacy") as (client, adapter):
        answer = await adapter.reverse_request("startDebugging", {"request": "launch", "configuration": {}})
        assert answer["success"] is False
        assert "no such port" in answer["message"]
        assert (await client.read(SESSION))["state"] == "Running"


@pytest.mark.parametrize("question", ["settings_requests", "runtime_request"])
async def test_a_launch_that_trips_over_our_own_fault_fails_with_a_code(
    question: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object) -> None:
        raise ValueError("unheard of")

    monkeypatch.setattr(FakeProfile, question, trip)
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert failed.code == "ADAPTER_FAILED"
        monkeypatch.undo()
        await still_works(client)


# --- Programs that have stopped or ended before the adapter has answered ------------------------------------


@pytest.mark.parametrize(
    ("command", "tool"), [("next", "debug_step"), ("continue", "debug_continue"), ("pause", "debug_pause")]
)
async def test_a_stop_is_reported_when_it_comes_although_its_request_is_never_answered(
    command: str, tool: str, autojump_clock: MockClock
) -> None:
    async with running("legacy") if tool == "debug_pause" else paused("legacy") as (client, adapter):

        async def only_stop(arguments: object) -> object:
            await adapter.stop("breakpoint", hit=[1])
            return await trio.sleep_forever()

        adapter.answer(command, only_stop)
        start = trio.current_time()
        stop = await client.call(tool, timeout=5)
        assert (stop["state"], stop["timedOut"], stop["breakpointIds"]) == ("Paused", False, ["bp-1"])
        assert trio.current_time() == start


async def test_a_program_that_exits_and_takes_its_adapter_along_before_a_step_is_answered_has_exited(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):

        async def exit_and_leave(arguments: object) -> object:
            await adapter.event("exited", {"exitCode": 3})
            await adapter.crash()
            return {}

        adapter.answer("next", exit_and_leave)
        stop = await client.call("debug_step")
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)


async def test_a_program_that_exits_before_its_launch_is_answered_has_exited(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def exit_first(arguments: object) -> object:
        await adapter._configured.wait()
        await adapter.exit(3)
        return {}

    adapter.answer("launch", exit_first)
    async with connect(options=adapter.options()) as client:
        stop = (await client.call("debug_launch", program=adapter.program))["stop"]
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)


async def test_a_session_whose_program_exits_is_over_although_the_adapter_never_says_so(
    autojump_clock: MockClock,
) -> None:
    async with running("legacy") as (client, adapter):
        start = trio.current_time()
        await adapter.event("exited", {"exitCode": 3})
        stop = await client.call("debug_wait", timeout=60)
        assert (stop["state"], stop["reason"], stop["exitCode"]) == ("Disconnected", "Exited", 3)
        assert trio.current_time() == pytest.approx(start + 5)
        await still_works(client)


async def test_a_handshake_that_another_client_ends_is_over_at_once(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("configurationDone")
    async with open_server(adapter.options()) as server, server.connect() as one, server.connect() as two:
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def _() -> None:
                await trio.sleep(1)
                assert (await two.call("debug_disconnect"))["wasTerminated"] is True

            failed = await failure(one, "debug_launch", program=adapter.program)
        assert (failed.code, "disconnected" in failed.message) == ("ADAPTER_FAILED", True)
        assert trio.current_time() == 1


# --- What a person is told ----------------------------------------------------------------------------------


async def test_capabilities_that_make_no_sense_are_passed_over(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        await adapter.event("capabilities", {"capabilities": {"supportsStepBack": "perhaps"}})
        await trio.sleep(1)
        assert (await client.read(SESSION))["state"] == "Paused"


async def test_bytes_that_are_no_protocol_are_quoted_as_text(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            await trio.sleep(1)
            await adapter.send_raw(b"Oh \xff!\n")

        failed = await failure(client, "debug_continue")
        assert 'expected a DAP header (received "Oh \ufffd!\\n")' in failed.message


async def test_an_answer_to_initialize_that_makes_no_sense_says_to_launch_again(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter(capabilities={"supportsConfigurationDoneRequest": "perhaps"})
    async with connect(options=adapter.options()) as client:
        failed = await failure(client, "debug_launch", program=adapter.program)
        assert (failed.code, "call debug_launch again" in failed.message) == ("ADAPTER_FAILED", True)


async def test_a_session_that_ends_by_our_own_fault_says_so(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object) -> None:
        raise ValueError("unheard of")

    async with paused("legacy") as (client, adapter):
        monkeypatch.setattr(FakeProfile, "condition_failure", trip)
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def _() -> None:
                await trio.sleep(1)
                await adapter.event("output", {"output": "hello"})

            failed = await failure(client, "debug_continue")
        assert failed.code == "ADAPTER_GONE"
        assert "internal error" in (await client.call("debug_state"))["lastSession"]["reason"]
        monkeypatch.undo()
        await still_works(client)
