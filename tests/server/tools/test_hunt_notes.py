"""What is to be known beside the tries of a hunt."""

import pytest

from trio_debugmcp.server.tools.runs.debug_hunt import DebugHunt, hunt_notes
from trio_debugmcp.session.hunting.hunting import HuntFound

NONE_FITTED = HuntFound(
    made=30, fitted=0, recorded=15, recorded_fitted=0, searched=0, hit=None, kept=None, other=None, repeated=[]
)


@pytest.mark.parametrize(("shakes", "advice"), [(False, "`times`, or shake=true"), (True, "`times`")])
def test_a_hunt_without_a_find_advises_what_was_not_tried(shakes: bool, advice: str) -> None:
    notes = hunt_notes(DebugHunt(test="test_a.py", shake=shakes, until="passes"), NONE_FITTED, None, None)
    assert notes == [f"none of 30 tries passed: pass more {advice}"]
