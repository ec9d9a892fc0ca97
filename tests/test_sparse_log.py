"""Lines that anybody can cause are few, and what was left out is counted."""

import logging

import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.sparse_log import MAX_LINES, WINDOW_SECONDS, SparseLog

log = logging.getLogger("tests.sparse_log")


async def test_the_first_lines_of_a_window_are_logged_and_the_others_counted(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    sparse = SparseLog(log)
    for number in range(MAX_LINES + 30):
        sparse.log(logging.WARNING, "knock %d", number)
    assert caplog.messages == [f"knock {number}" for number in range(MAX_LINES)]
    assert repr(sparse) == f"<SparseLog of tests.sparse_log: {MAX_LINES} lines, 30 left out>"
    await trio.sleep(WINDOW_SECONDS - 1)
    sparse.log(logging.WARNING, "too early")
    await trio.sleep(1)
    sparse.log(logging.WARNING, "in time")
    assert caplog.messages[MAX_LINES:] == ["31 more lines like the last ones were left out", "in time"]


async def test_at_the_end_the_count_is_logged_once(autojump_clock: MockClock, caplog: pytest.LogCaptureFixture) -> None:
    sparse = SparseLog(log)
    for _ in range(MAX_LINES + 2):
        sparse.log(logging.ERROR, "knock", error=ValueError("why"))
    sparse.flush()
    sparse.flush()
    assert caplog.messages[MAX_LINES:] == ["2 more lines like the last ones were left out"]
    assert caplog.text.count("ValueError: why") == MAX_LINES


async def test_lines_below_the_level_cost_no_place(autojump_clock: MockClock, caplog: pytest.LogCaptureFixture) -> None:
    sparse = SparseLog(log)
    with caplog.at_level(logging.WARNING):
        for _ in range(2 * MAX_LINES):
            sparse.log(logging.INFO, "whisper")
        sparse.log(logging.WARNING, "knock")
    assert caplog.messages == ["knock"]
