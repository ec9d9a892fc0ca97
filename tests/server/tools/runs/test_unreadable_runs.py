"""Runs of which nothing can be read: what to do next depends on whether the recording is over."""

import pytest

from trio_debugmcp.server.tools.runs.reading_runs import unreadable
from trio_debugmcp.state.recorded_runs import KeptRun


@pytest.mark.parametrize(("ended_at", "advice"), [(None, "ask again"), (2.0, "debug_launch(record=true)")])
def test_a_run_that_has_only_just_begun_is_not_to_be_recorded_again(ended_at: float | None, advice: str) -> None:
    run = KeptRun(id="run-1", session_id="s-1", what="a.py", begun_at=1.0, max_mb=1, ended_at=ended_at)
    said = str(unreadable(run, OSError("there is no recorded run in /runs/run-1")))
    assert said.startswith("run-1: there is no recorded run in /runs/run-1. ")
    assert advice in said
    assert ("record" in said.rpartition("run-1. ")[2]) is (ended_at is not None)
