"""`play`: plays a scenario on a virtual clock, with the real server. It takes milliseconds, and always ends.

    report = play_in(read_scenario("stop.jsonl"), "legacy")
    assert report.ok, str(report)

The lines are performed in order. After each one, the player waits until everything that can happen at that instant has
happened: hence times are exact, and a scenario has the same result every time. Every wait is in virtual time and has a
bound: the report of a scenario that is stuck shows which line waits for what.
"""

from collections.abc import Sequence
from pathlib import Path

import trio
import trio.testing
from mcp.shared.exceptions import MCPError

from trio_debugmcp.testing.debug_client import ToolFailed
from trio_debugmcp.testing.scenario.actions import begin_call, perform, send
from trio_debugmcp.testing.scenario.expectations import check, object_to_unexpected
from trio_debugmcp.testing.scenario.report import Report, described, seconds
from trio_debugmcp.testing.scenario.run import LineDiffers, ScenarioRun
from trio_debugmcp.testing.scenario.script_lines import (
    AGENT,
    AdapterLine,
    Call,
    ClientLine,
    Era,
    ExpectAnswer,
    ExpectError,
    ExpectLine,
    ExpectListChanged,
    ExpectNothing,
    ExpectUpdated,
    LaunchProgram,
    Read,
    Scenario,
    ScriptLine,
    Step,
)
from trio_debugmcp.testing.scenario.script_text import decode_scenario, filled
from trio_debugmcp.testing.scenario.stage import open_run

SETTLED_SECONDS = 10.0
"""Virtual time before the first step, when the scenario begins with a running program: nothing is pending after it."""

PATIENCE_SECONDS = 120.0
"""Virtual time for one line. Every tool call ends by its timeout, which is shorter unless a longer one is asked for."""

QUIET_SECONDS = 5.0
"""Virtual time after the last line in which a notification that no line expects is still noticed."""

NUDGE_SECONDS = 1e-10
"""Each line is performed this much later than the one before, so that what is due at the line's instant has happened
before it, whatever the rounding of floats. Times are compared to the microsecond, in which this vanishes."""

MAX_NUDGES = 4000
"""The lines of a longer scenario are not nudged any further."""

SETTING_LINE = 1
"""The line to which a failure before the first step belongs."""

_LOGGED = ExpectUpdated | ExpectListChanged | ExpectAnswer | ExpectError | ExpectNothing
"""Expectations of what is logged with its time: they may be performed after that time."""


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario file.

    Raises:
        BadScenario: with the file's name, the line, and what is allowed there.
        OSError: it cannot be read.
    """
    return decode_scenario(Path(path).read_text(encoding="utf-8"), str(path))


def play_all(scenario: Scenario) -> list[Report]:
    """Play a scenario in each of its protocol eras, each in a new Trio run; so this cannot be called within one."""
    return [play_in(scenario, era) for era in scenario.setting.eras]


def play_in(scenario: Scenario, era: Era) -> Report:
    """Play a scenario in a protocol era, in a new Trio run; so this cannot be called within one."""
    return trio.run(play, scenario, era, clock=trio.testing.MockClock(autojump_threshold=0))


async def play(scenario: Scenario, era: Era | None = None) -> Report:
    """Play a scenario in a protocol era, by default the first of its own, on the clock of this Trio run.

    Nothing else may happen in the run: the clock jumps whenever all tasks wait.

    Raises:
        RuntimeError: the run's clock is not a `trio.testing.MockClock` that jumps.
    """
    clock = trio.lowlevel.current_clock()
    if not isinstance(clock, trio.testing.MockClock) or clock.autojump_threshold != 0:
        raise RuntimeError(
            "a scenario is played on a virtual clock: pass clock=trio.testing.MockClock(autojump_threshold=0) to "
            "trio.run, ask pytest-trio for the fixture autojump_clock, or call play_in"
        )
    era = era or scenario.setting.eras[0]
    async with open_run(scenario.setting, era) as run:
        try:
            await _begin(run)
        except (ToolFailed, MCPError) as failed:
            run.log.add("scenario", f"begin {run.setting.begin}", SETTING_LINE, str(failed))
        else:
            await _play_steps(run, scenario.steps)
        entries = tuple(run.log.entries)
    return Report(scenario, era, entries)


async def _begin(run: ScenarioRun) -> None:
    """Bring the run to the state in which the scenario begins."""
    setting, agent = run.setting, run.client(AGENT)
    for place in setting.breakpoints:
        await agent.mcp.call("breakpoint_set", **{"file": setting.program, **place})
    if setting.begin != "nothing":
        at_entry = setting.begin == "paused"
        await agent.mcp.call("debug_launch", program=setting.program, stop_at_entry=at_entry, wait=at_entry)
        await trio.sleep(SETTLED_SECONDS)
    run.begin_here()


async def _play_steps(run: ScenarioRun, steps: Sequence[Step]) -> None:
    with trio.CancelScope() as storms:
        async with trio.open_nursery() as nursery:
            for step in steps:
                await _play_step(run, step, nursery)
            storms.deadline = trio.current_time() + PATIENCE_SECONDS
    if storms.cancelled_caught:
        run.log.add("scenario", "end", None, "an adapter still repeats itself")
    await trio.sleep(QUIET_SECONDS)
    object_to_unexpected(run)


async def _play_step(run: ScenarioRun, step: Step, nursery: trio.Nursery) -> None:
    line: ScriptLine = filled(step.line, DIR=run.directory)
    due = line.at if line.at is not None else run.log.now + (line.after or 0.0)
    due = round(max(due, line.until) if isinstance(line, ExpectNothing) else due, 6)
    await trio.sleep_until(max(run.log.zero + due + min(step.number, MAX_NUDGES) * NUDGE_SECONDS, trio.current_time()))
    await run.settle()
    expects = isinstance(line, ExpectLine)
    who = "expect" if expects else getattr(line, "who", "")
    entry = None if expects else run.log.add(who, described(step.line), step.number)
    differences = await _differences(run, step.number, line, due, nursery)
    if entry is None:
        entry = run.log.add(who, described(step.line), step.number)
    for sentence in differences:
        run.log.object_to(entry, sentence)


async def _differences(
    run: ScenarioRun, number: int, line: ScriptLine, due: float, nursery: trio.Nursery
) -> tuple[str, ...]:
    """Perform the line; returns the differences."""
    if due < run.log.now and not isinstance(line, _LOGGED):
        return (f"too late: it is {seconds(run.log.now)} already, and this line belongs to {seconds(due)}",)
    try:
        with trio.fail_after(PATIENCE_SECONDS):
            await _perform(run, number, line, due, nursery)
            await run.settle()
    except LineDiffers as difference:
        return difference.sentences
    except MCPError as refused:
        return (f"refused: {refused.error.code}: {refused.error.message}",)
    except trio.TooSlowError:
        what = "the answer" if isinstance(line, ExpectAnswer | ExpectError) else "this"
        return (f"stuck: {what} has not come within {PATIENCE_SECONDS:g} virtual seconds",)
    return ()


async def _perform(run: ScenarioRun, number: int, line: ScriptLine, due: float, nursery: trio.Nursery) -> None:
    match line:
        case AdapterLine():
            await send(run, line, nursery)
        case Call() | LaunchProgram() | Read():
            begin_call(run, number, line)
        case ClientLine():
            await perform(run, line)
        case ExpectLine():
            await check(run, line, due, timed=line.at is not None or line.after is not None)
        case _:
            raise AssertionError(f"no such line: {line}")
