"""A line found by its text, in any file, before and after edits."""

import contextlib
import difflib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.session.breakpoints.line_text import (
    FoundLine,
    NotFound,
    begins,
    found_again,
    occurrence,
    place_again,
    place_of,
)
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec

words = st.text("abcxyz=+(). ", min_size=1, max_size=30).filter(str.strip)
files = st.lists(words, min_size=1, max_size=30)


def plain(text: str) -> str:
    return " ".join(text.split())


@given(files, st.data())
def test_a_line_is_found_by_its_text_whatever_its_blanks(lines: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(lines)))
    text = lines[number - 1]
    spaced = f"  {text.replace(' ', '   ')}\t"
    assert place_of(spaced, lines, number) == FoundLine(number)
    same = [at for at, each in enumerate(lines, 1) if plain(each) == plain(text)]
    if len(same) == 1:
        assert place_of(spaced, lines) == FoundLine(number)
    else:
        with pytest.raises(NotFound, match="pass `line` as well"):
            place_of(spaced, lines)


@given(files, st.data())
def test_the_hint_chooses_the_nearest(lines: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(lines))
    hint = data.draw(st.integers(1, 60))
    found = place_of(text, lines, hint).line
    same = [at for at, each in enumerate(lines, 1) if plain(each) == plain(text)]
    assert found in same
    assert abs(found - hint) == min(abs(at - hint) for at in same)


@given(files, files, st.data())
def test_what_is_inserted_before_a_line_moves_its_breakpoint(
    lines: list[str], inserted: list[str], data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, len(lines)))
    text = lines[number - 1]
    later = [*inserted, *lines]
    found = place_again(text, later, number)
    assert not found.edited
    assert plain(later[found.line - 1]) == plain(text)


@given(files, files)
def test_what_is_taken_for_an_edited_line_has_a_text_like_it(lines: list[str], others: list[str]) -> None:
    for text in lines:
        with contextlib.suppress(NotFound):
            found = place_again(text, others, 1)
            there = plain(others[found.line - 1])
            assert found.edited == (there != plain(text))
            assert difflib.SequenceMatcher(None, plain(text), there).ratio() >= 0.75


def test_a_text_that_no_line_has_names_those_that_are_like_it() -> None:
    lines = ["total = price * count", "", "return total"]
    with pytest.raises(NotFound, match=r"no line is `total = price \* counts`; there are: `total = price \* count`$"):
        place_of("total = price * counts", lines)
    with pytest.raises(NotFound, match=r"no line is `import this`$"):
        place_of("import this", lines)


def test_the_only_line_that_begins_with_a_text_is_meant() -> None:
    lines = ["writer = opened()", "writer.write(json.dumps(row))", "done()"]
    assert place_of("writer.write(json", lines) == FoundLine(2)
    assert place_of(" writer.write( json"[:14], lines) == FoundLine(2)
    assert begins("writer.write(json", lines[1])
    assert not begins("  writer.write(json.dumps(row))", lines[1])
    assert not begins("done()", "done()  # at last")


def test_a_beginning_of_several_lines_and_a_part_of_one_name_the_lines() -> None:
    lines = ["writer = opened()", "writer.write(row)", "done(writer)"]
    with pytest.raises(NotFound) as several:
        place_of("writer", lines)
    assert str(several.value) == (
        "no line is `writer`, and 2 lines begin with it: line 1: `writer = opened()`, line 2: `writer.write(row)`. "
        "Pass the whole text of one"
    )
    with pytest.raises(NotFound) as part:
        place_of("opened()", lines)
    assert str(part.value) == (
        "no line is `opened()`, and 1 line has it in it: line 1: `writer = opened()`. Pass the whole text of it"
    )


def test_an_edited_line_is_not_found_by_the_beginning_that_it_has_kept() -> None:
    mark = Breakpoint("bp-1", BreakpointSpec(file="/a.py", line=1, text="total = 1", by_text=True))
    edited, note = found_again(mark, ["total = 10"])
    assert (edited.spec.text, note) == ("total = 10", "stays on line 1, now `total = 10`, it was `total = 1`")


def test_of_many_equal_lines_a_few_are_named() -> None:
    with pytest.raises(NotFound, match="lines 1, 2, 3, 4, 5 and 4 more are `pass`"):
        place_of("pass", ["pass"] * 9)


def test_a_breakpoint_is_where_its_text_is_and_says_what_has_changed() -> None:
    mark = Breakpoint("bp-1", BreakpointSpec(file="/a.py", line=2, text="total = sum(prices)", by_text=True))
    assert found_again(mark, ["prices = []", "  total = sum(prices)"]) == (mark, None)
    moved, note = found_again(mark, ["", "", "total = sum(prices)"])
    assert (moved.spec.line, note) == (3, "moved from line 2 to 3, where its text is now")
    edited, note = found_again(mark, ["total = sum(prices) + 1"])
    assert (edited.spec.line, edited.spec.text) == (1, "total = sum(prices) + 1")
    assert note == "moved from line 2 to 1, now `total = sum(prices) + 1`, it was `total = sum(prices)`"
    lost, note = found_again(mark, ["import this"])
    assert (lost.spec.line, lost.lost) == (2, "the file has no line `total = sum(prices)` any more")
    assert note == f"is pending: {lost.lost}"
    back, note = found_again(lost, ["", "total = sum(prices)"])
    assert (back.lost, note) == (None, None)


def test_of_several_equal_lines_a_breakpoint_stays_on_its_own() -> None:
    before = ["x = 0", "x += 1", "y = 5", "x += 1"]
    mark = Breakpoint(
        "bp-1",
        BreakpointSpec(file="/a.py", line=4, text="x += 1", by_text=True, occurrence=occurrence(before, 4)),
    )
    assert found_again(mark, before) == (mark, None)
    moved, note = found_again(mark, ["x = 0", "", "", "x += 1", "y = 5", "x += 1"])  # line 4 is the other one now
    assert (moved.spec.line, note) == (6, "moved from line 4 to 6, where its text is now")
    shifted, note = found_again(mark, ["", "", "", *before])  # the other one is nearer
    assert (shifted.spec.line, note) == (7, "moved from line 4 to 7, where its text is now")
    kept, note = found_again(mark, ["x += 1", *before[1:]])
    assert (kept.spec.line, kept.spec.occurrence) == (4, (3, 3))
    assert note == "is on one of 3 lines that are `x += 1`, there were 2 when it was set: check it"
    assert found_again(kept, ["x += 1", *before[1:]]) == (kept, None)  # it is said once


def test_in_a_long_file_a_like_line_is_found_in_a_moment() -> None:
    lines = [f"    value_{number} = compute({'x' * (number % 50)}, {number})" for number in range(15_000)]
    lines[9_000] = "    paid = basket.total(count, tax)"
    begin = time.process_time()
    with pytest.raises(NotFound, match=r"there are: `paid = basket\.total\(count, tax\)`"):
        place_of("paid = baskets.total(count, tax)", lines)
    assert place_again("paid = basket.total(count)", lines, 7) == FoundLine(9_001, edited=True)
    with pytest.raises(NotFound, match="any more"):
        place_again("something.that_is(nowhere)", lines, 7)
    assert time.process_time() - begin < 2, "each took more than a second"
