"""The player finds every difference, reports its line, never hangs, and is deterministic."""

import json
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from tests.fuzz.running import whole_server
from trio_debugmcp.testing import Report, decode_scenario, play, play_all, scenarios

ROOT = Path(__file__).parents[3]
RUNNING = '{"scenario": "x", "begin": "running", "breakpoints": [{"line": 1}]}'
PAUSED = '{"scenario": "x", "begin": "paused"}'
WAIT = '{"client": "call", "tool": "debug_wait", "with": {"timeout": 2}}'
MOVED = '"adapter": "event", "event": "breakpoint", "body": {"reason": "changed", "breakpoint": {"id": 1, "line": 2}}'


def played(*lines: str) -> Report:
    """A scenario that goes the same way in both eras."""
    reports = play_all(decode_scenario("\n".join(lines)))
    lines_that_differ = [[number for number, _ in report.differences] for report in reports]
    assert all(each == lines_that_differ[0] for each in lines_that_differ)
    return reports[0]


@pytest.mark.parametrize(
    ("lines", "differences"),
    [
        ([RUNNING, '{"client": "subscribe", "uris": ["breakpoints"]}', f'{{"at": 1, {MOVED}}}'], [None]),
        (
            [RUNNING, '{"at": 1, "expect": "updated", "uris": ["session"]}'],
            [(2, "agent was not notified of debugger://session at 1 s")],
        ),
        (
            [
                RUNNING,
                '{"client": "subscribe", "uris": ["breakpoints"]}',
                f'{{"at": 1, {MOVED}}}',
                '{"at": 1.300001, "expect": "updated", "uris": ["breakpoints"]}',
            ],
            [(4, "agent was notified of debugger://breakpoints at 1.3 s, not at 1.300001 s")],
        ),
        (
            [
                RUNNING,
                '{"client": "subscribe", "uris": ["output"]}',
                '{"adapter": "output", "text": "x"}',
                '{"expect": "nothing", "until": 2}',
            ],
            [(4, "agent was notified of debugger://output at 0.3 s")],
        ),
        (
            [
                RUNNING,
                '{"client": "subscribe", "uris": ["session"]}',
                '{"at": 1, "adapter": "exit"}',
                '{"expect": "list_changed"}',
                '{"expect": "updated", "uris": ["session"]}',
            ],
            [(5, "agent was notified of debugger://session at 1 s, but before what the earlier line expects")],
        ),
        (
            [PAUSED, '{"expect": "resource", "uri": "session", "has": {"state": "Running", "nothing": 1}}'],
            [(2, 'state is "Paused", not "Running"'), (2, "there is no `nothing` in it: ")],
        ),
        (
            [PAUSED, '{"expect": "resource", "uri": "threads", "is": {"threads": []}}'],
            [(2, "capturedAt is "), (2, "revision is "), (2, "stale is "), (2, "threads is ")],
        ),
        ([PAUSED, '{"client": "subscribe", "uris": ["tea"]}'], [(2, "refused: -32602: Unknown resource.")]),
        ([PAUSED, '{"expect": "resource", "uri": "source/$DIR/app.py", "has": {"a": 1}}'], [(2, "it is not JSON: ")]),
        ([PAUSED, '{"adapter": "crash"}', '{"adapter": "raw", "text": "x"}'], [None]),
        ([PAUSED, '{"expect": "resource", "uri": "nothing", "has": {}}'], [(2, "it cannot be read: ")]),
        ([PAUSED, '{"expect": "resource", "uri": "source/$DIR/app.py", "text": "x"}'], [(2, "the text is ")]),
        ([PAUSED, '{"client": "call", "tool": "debug_pause"}'], [None]),
        (
            [PAUSED, '{"client": "call", "tool": "debug_pause"}', '{"expect": "answer"}'],
            [(3, "debug_pause failed: ALREADY_PAUSED: ")],
        ),
        (
            [PAUSED, '{"client": "call", "tool": "debug_state"}', '{"expect": "error"}'],
            [(3, "debug_state did not fail; it answered {")],
        ),
        (
            [PAUSED, '{"client": "call", "tool": "debug_pause"}', '{"expect": "error", "code": "TIMEOUT"}'],
            [(3, "the code is ALREADY_PAUSED, not TIMEOUT: ")],
        ),
        (
            [PAUSED, '{"client": "call", "tool": "debug_pause"}', '{"expect": "error", "says": "tea"}'],
            [(3, "it says: ")],
        ),
        (
            [RUNNING, WAIT, '{"at": 1, "expect": "answer"}'],
            [(3, "debug_wait (line 2) has not been answered by 1 s")],
        ),
        (
            [RUNNING, WAIT, '{"at": 3, "expect": "answer"}'],
            [(3, "debug_wait (line 2) was answered at 2 s, not at 3 s")],
        ),
        (
            [RUNNING, '{"expect": "list", "uris": ["session", "tea"], "templates": []}'],
            [
                (2, "debugger://tea is not listed"),
                *[(2, "debugger://")] * 9,
                (2, "debugger://call/{n} is a template"),
                (2, "debugger://sessions/{session}/{resource} is a template"),
                (2, "debugger://source/{+file} is a template"),
                (2, "debugger://stop/{n} is a template"),
            ],
        ),
        (
            [
                RUNNING,
                '{"expect": "asked", "command": "next"}',
                '{"expect": "asked", "command": "threads", "times": 1}',
            ],
            [(2, "program was not asked next"), (3, "program was asked threads 0 times, not 1")],
        ),
        (
            [RUNNING, '{"adapter": "ask", "command": "makeTea"}'],
            [(2, "makeTea was refused: ")],
        ),
        (
            [RUNNING, '{"at": 2, "client": "read", "uri": "session"}', '{"at": 1, "client": "read", "uri": "session"}'],
            [(3, "too late: it is 2 s already, and this line belongs to 1 s")],
        ),
        (
            [RUNNING, '{"client": "leave"}', '{"client": "read", "uri": "session"}'],
            [(3, "agent is not connected")],
        ),
        (
            ['{"scenario": "x", "begin": "running", "program": "$DIR/no.py"}'],
            [(1, "INVALID_PATH: ")],
        ),
    ],
)
def test_a_difference_is_found_and_reported_at_its_line(
    lines: list[str], differences: list[tuple[int, str] | None]
) -> None:
    found = played(*lines).differences
    assert len(found) == len(differences), found
    for (line, sentence), expected in zip(found, differences, strict=True):
        number, start = expected or (None, "no line expects this")
        assert (line, sentence[: len(start)]) == (number, start)


@pytest.mark.parametrize(
    ("lines", "number", "waits"),
    [
        (
            ['{"client": "call", "tool": "debug_wait", "with": {"timeout": 600}}', '{"expect": "answer"}'],
            3,
            "the answer",
        ),
        (['{"client": "stop_reading"}', '{"client": "subscribe", "uris": ["session"]}'], 3, "this"),
        (['{"client": "stop_reading"}', '{"expect": "resource", "uri": "session"}'], 3, "this"),
        (['{"client": "stop_reading"}', '{"expect": "list", "uris": []}'], 3, "this"),
    ],
)
def test_a_scenario_that_is_stuck_ends_and_reports_which_line_waits_for_what(
    lines: list[str], number: int, waits: str
) -> None:
    assert played(RUNNING, *lines).differences == [
        (number, f"stuck: {waits} has not come within 120 virtual seconds"),
    ]


def test_an_adapter_line_that_repeats_for_ever_is_stopped() -> None:
    report = played(RUNNING, '{"adapter": "output", "text": "x", "times": 100000, "every": 1}')
    assert report.differences == [(None, "an adapter still repeats itself")]


def test_the_timeline_shows_what_happened_with_the_difference_at_its_line() -> None:
    report = played(
        RUNNING,
        '{"client": "subscribe", "uris": ["output"]}',
        '{"at": 1, "adapter": "output", "text": "x"}',
        '{"at": 1.4, "expect": "updated", "uris": ["output"]}',
    )
    assert str(report).splitlines() == [
        "x",
        "scenario, legacy era: 1 difference",
        '       0.000 s    2  agent      subscribe uris=["output"]',
        "       1.000 s    3  program    output text=x",
        "       1.300 s       agent      ← updated debugger://output",
        '✗      1.400 s    4  expect     updated uris=["output"]',
        "✗                     agent was notified of debugger://output at 1.3 s, not at 1.4 s",
    ]


def test_a_scenario_has_the_same_timeline_every_time() -> None:
    text = (ROOT / "tests" / "scenarios" / "edge-quick-steps-are-told-of-now-and-then.jsonl").read_text()
    first, second = (play_all(decode_scenario(text)) for _ in range(2))
    assert [str(each) for each in first] == [str(each) for each in second]


async def test_within_a_trio_run_a_scenario_is_played_on_the_clock_of_the_run(autojump_clock: MockClock) -> None:
    report = await play(decode_scenario(RUNNING), "modern")
    assert (report.ok, report.era) == (True, "modern")


async def test_a_real_clock_is_refused() -> None:
    with pytest.raises(RuntimeError, match="autojump_threshold=0"):
        await play(decode_scenario(RUNNING))


async def test_a_mock_clock_that_does_not_jump_is_refused(mock_clock: MockClock) -> None:
    with pytest.raises(RuntimeError, match="autojump_threshold=0"):
        await play(decode_scenario(RUNNING))


def test_a_scenario_leaves_nothing_behind() -> None:
    async def main() -> tuple[int, int]:
        before = trio.lowlevel.current_statistics().tasks_living
        await play(decode_scenario(RUNNING))
        await trio.testing.wait_all_tasks_blocked()
        return before, trio.lowlevel.current_statistics().tasks_living

    before, after = trio.run(main, clock=MockClock(autojump_threshold=0))
    assert before == after


def test_for_pytest_a_file_that_cannot_be_decoded_is_a_case_that_fails(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{}")
    (tmp_path / "good.jsonl").write_text('{"scenario": "x", "era": "modern"}')
    test = scenarios(tmp_path)
    cases = test.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert [case.id for case in cases] == ["bad-None", "good-modern"]
    with pytest.raises(pytest.fail.Exception, match="the key `scenario` belongs to the first line"):
        test(*cases[0].values)
    test(*cases[1].values)
    with pytest.raises(FileNotFoundError, match="no scenario files"):
        scenarios(tmp_path / "nowhere")


def pool() -> list[dict[str, Any]]:
    """The lines of all our scenarios, without what ties them to one another."""
    files = sorted((ROOT / "tests" / "scenarios").glob("*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()[1:]]
    free = [
        {key: value for key, value in line.items() if key not in ("at", "after", "until", "of", "who")}
        for line in lines
    ]
    return [{**line, **({"until": 1} if line.get("expect") == "nothing" else {})} for line in free]


@whole_server
@given(
    st.sampled_from(["nothing", "running", "paused"]),
    st.lists(st.tuples(st.sampled_from([0, 0.1, 0.3, 5]), st.sampled_from(pool())), max_size=10),
)
def test_any_mixture_of_lines_is_played_to_its_end(begin: str, lines: list[tuple[float, dict[str, Any]]]) -> None:
    written: list[dict[str, Any]] = [{"scenario": "x", "begin": begin}]
    calls = False
    for number, (after, line) in enumerate(lines):
        named = {"name": f"child {number}"} if line.get("adapter") == "child" else {}
        named |= {"who": f"client {number}"} if line.get("client") == "connect" else {}
        calls = calls or line.get("client") in ("call", "launch", "read")
        if calls or (line.get("expect") not in ("answer", "error") and line.get("client") != "cancel"):
            written.append({"after": after, **line, **named})
    for report in play_all(decode_scenario("\n".join(json.dumps(line) for line in written))):
        assert str(report)
