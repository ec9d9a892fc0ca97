"""Recorded sessions of 18 real debug adapters, through the real connection, session, merger, resources and tools."""

import logging
from pathlib import Path

import pytest
from trio.testing import MockClock

from tests.traces.play import check_end, play_all, playing
from tests.traces.trace import NAMES

WHOLE = [name for name in NAMES if not name.startswith("NEGATIVE") and name != "java-jdi-attach"]


def test_all_recordings_are_here() -> None:
    assert len(NAMES) == 56


@pytest.mark.parametrize("name", WHOLE)
async def test_a_recorded_session_can_be_repeated_and_every_stop_is_where_it_was(
    name: str, tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with playing(name, tmp_path) as played:
        await play_all(played)
        last = await check_end(played)
    exits = played.trace.heard("exited")
    if exits and last.get("notes") in (None, ["the program ended"]):
        assert last["exitCode"] == exits[-1]["exitCode"]
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
