"""Notes beside a line of an answer: what says less gives way, and the same of several lines is said once."""

import pytest

from trio_debugmcp.runs.slicing.shown.part_notes import add_note


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        (["so x is not set at line 4", "so x is not set at line 2"], ["so x is not set at lines 2, 4"]),
        (["so line 4 does not run", "so line 2 does not run"], ["so lines 2, 4 do not run"]),
        (["so line 4 does not run with x", "so line 2 does not run with y"], 2),
        (["ends", "ends the loop"], ["ends the loop"]),
        (["ends the loop", "ends"], ["ends the loop"]),
        (["", "ends"], ["ends"]),
        (["sets another attribute than .x", "sets another attribute than .y"], ["sets another attribute than .x"]),
        (["sets another attribute than .x", "ends"], 2),
    ],
)
def test_notes_of_one_line(notes: list[str], said: list[str] | int) -> None:
    shown: list[str] = []
    for note in notes:
        add_note(shown, note)
    assert len(shown) == said if isinstance(said, int) else shown == said
