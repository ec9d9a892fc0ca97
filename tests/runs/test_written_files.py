"""A file that is read leads to the lines that wrote it: by the same path, and the last of them before."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import json
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
place, other = folder / "state.json", folder / "other.json"
names = str(folder / "names.txt")


def save(path, state):
    path.write_text(json.dumps(state))


def load(path):
    return json.loads(path.read_text())


def listed(mode, *lines):
    with open(names, mode) as out:
        for line in lines:
            out.write(f"{line}.")


save(place, {"step": 1})
save(place, {"step": 2})
save(other, {"step": 9})
state = load(place)
save(place, {"step": 3})
listed("w", "ada", "ben")
with open(names) as source:
    text = source.read()
listed("a", "cem")
with open(names, "rw+"[::2]) as unsure:
    rest = unsure.read()
nothing = Path(__file__).read_text()
"""


@cache
def recorded() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def writers(expression: str) -> list[tuple[int, list[str], list[str]]]:
    lines = why(recorded(), WhyQuestion(expression=expression, limit=40)).because
    return [(line.line, line.values, line.notes) for line in lines if any("writes" in note for note in line.notes)]


def test_the_last_write_before_it_at_that_path_is_named() -> None:
    ((line, values, notes),) = writers("state")
    assert (line, notes) == (11, ["writes state.json, which line 15 reads"])
    assert "state={'step': 2}" in values, "neither of the other file nor the later one"


def test_what_was_written_through_an_opened_file_is_named_by_the_line_that_wrote() -> None:
    ((line, values, notes),) = writers("text")
    assert (line, notes) == (21, ["writes names.txt, which line 30 reads"])
    assert "line='ben'" in values


def test_a_file_whose_mode_is_not_known_or_that_no_line_wrote_has_no_writer() -> None:
    assert writers("rest") == []
    assert writers("nothing") == []


def test_a_path_does_not_change_by_what_is_called_on_it() -> None:
    notes = [note for line in why(recorded(), WhyQuestion(expression="state", limit=40)).because for note in line.notes]
    assert not [note for note in notes if "its content is not recorded" in note]
