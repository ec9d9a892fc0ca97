"""Of a loop that takes items out of the list that it goes through, the answer has which others it has passed over."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
class Job:
    def __init__(self, name):
        self.name = name


def start_all(waiting):
    started = []
    for job in waiting:
        started.append(job.name)
        waiting.remove(job)
    return started


def without_even(numbers):
    kept = numbers[:]
    for place, number in enumerate(kept):
        if number % 2 == 0:
            del kept[place]
    return kept


def dropped_first(numbers, wanted):
    left = numbers[:]
    for number in left:
        if number == wanted:
            left.remove(number)
            break
    return left


def from_a_copy(numbers):
    left = numbers[:]
    for number in list(left):
        if number > 2:
            left.remove(number)
    return left


def from_behind(numbers):
    left = numbers[:]
    for number in left:
        if left[-1] > 2:
            left.pop()
    return left


def equal_ones(numbers):
    left = numbers[:]
    for number in left:
        left.remove(number)
    return left


def again(groups):
    names = ["x", "y", "z"]
    found = []
    for group in groups:
        for name in names:
            found.append(name)
            if name == group:
                names.remove(name)
                break
    return found


waiting = [Job("fetch"), Job("build"), Job("test"), Job("ship")]
started = start_all(waiting)
kept = without_even([1, 4, 6, 7, 8])
dropped = dropped_first([5, 6, 7], 5)
copied = from_a_copy([1, 3, 4, 5])
behind = from_behind([1, 2, 3, 4])
same = equal_ones([7, 7, 8, 8])
found = again(["y", "z", "x"])
"""


@cache
def recorded(version: tuple[int, int]) -> ProcessRecord:
    return record(PROGRAM, python(*version)).processes[0]


def answer(expression: str, version: tuple[int, int] = (3, 13)) -> str:
    return "\n".join(map(str, why(recorded(version), WhyQuestion(expression=expression)).because))


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_a_line_that_took_an_item_out_says_which_one_the_loop_has_passed_over(version: tuple[int, int]) -> None:
    removed = next(line for line in answer("started", version).splitlines() if "waiting.remove(job)" in line)
    assert "so the loop at line 8 passes over <Job name='ship'>, 2 items in all" in removed


def test_numbers_of_a_list_that_is_counted_by_enumerate_are_named() -> None:
    assert "so the loop at line 16 passes over 6 (#" in answer("kept")


@pytest.mark.parametrize("name", ["dropped", "copied", "behind", "found"])
def test_nothing_is_passed_over_where_the_loop_was_left_or_goes_through_a_copy_or_it_was_the_end(name: str) -> None:
    assert "passes over" not in answer(name)


def test_of_equal_items_remove_has_taken_the_first_one() -> None:
    assert "passes over 8, 2 items in all" in answer("same")


KEPT = """\
class Playlist:
    def __init__(self, tracks):
        self.tracks = list(tracks)

    def drop(self, artist):
        for track in self.tracks:
            if track[1] == artist:
                self.tracks.remove(track)

    def titles(self):
        return [title for title, _ in self.tracks]


songs = Playlist([("Anchor", "Mira"), ("Fields", "Lune"), ("Gravel", "Lune"), ("Dawn", "Pax")])
songs.drop("Lune")
songs.tracks.append(("Ember", "Oak"))
assert songs.titles() == ["Anchor", "Dawn", "Ember"]
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_what_is_still_in_a_list_leads_to_the_loop_that_has_passed_it_over(version: tuple[int, int]) -> None:
    because = why(record(KEPT, python(*version)).processes[0], WhyQuestion()).because
    removed = [str(line) for line in because if "self.tracks.remove(track)" in str(line)]
    assert removed
    assert removed[0].endswith("so the loop at line 6 passes over ('Gravel', 'Lune')")
