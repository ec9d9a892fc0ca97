"""A traced call as lines of text."""

from typing import Any

import msgspec

from trio_debugmcp.dap.profiles.python.branches import branches
from trio_debugmcp.server.answers.call_lines import SOURCE_CHARACTERS, FunctionSource, call_lines, line_text
from trio_debugmcp.session.looking.by_probe.traced_calls import TracedCall

PROGRAM = """\
def total(xs):
    paid = 0
    for x in xs:
        if x > 1:
            paid += price(x)
        elif (x
              < 0):
            paid = 0
    while paid < 0:
        paid += 1
    return paid
"""

SOURCE = FunctionSource(PROGRAM.splitlines(), branches(PROGRAM.encode()))


def rendered(head: list[Any], most: int = 200, size: int = 16384, **more: Any) -> list[str]:
    place = {"file": "/shop.py", "line": 1, "function": "total"}
    call = msgspec.convert({"place": place, "head": head, **more}, TracedCall)
    return [line_text(each) for each in call_lines(call, SOURCE, most, size)]


def test_a_line_has_its_source_once_and_what_it_changed() -> None:
    assert rendered([[2, [["paid", "0"]], []], [3, [["x", "1"]], []], [3, [["x", "2"], ["del", None]], []]]) == [
        "2 paid = 0  # paid=0",
        "3 for x in xs:  # x=1",
        "3  # x=2; del del",
    ]


def test_branches_say_which_way_they_went_where_the_next_line_shows_it() -> None:
    found = rendered([[3, [], []], [4, [], []], [6, [], []], [7, [], []], [3, [], []], [9, [], []], [11, [], []]])
    assert found == [
        "3 for x in xs:",
        "4 if x > 1:  # false",
        "6 elif (x",
        "7 < 0):",
        "3  # done",
        "9 while paid < 0:  # false",
        "11 return paid",
    ]
    assert rendered([[4, [], []], [5, [], []]])[0] == "4 if x > 1:  # true"
    assert rendered([[4, [], []]]) == ["4 if x > 1:"]  # nothing ran after it


def test_what_a_line_called_and_raised_comes_first() -> None:
    notes = [
        ["call", "price", "x=2", "returned", "3", 0],
        ["call", "price", "x=3", "", "", 0],
        ["more", 7],
        ["call", "price", "", "raised", "KeyError: 'k'", 0],
        ["raised", "KeyError: 'k'"],
        ["raised", "ValueError: v"],
    ]
    (found,) = rendered([[5, [["paid", "3"]], notes]])
    assert found == (
        "5 paid += price(x)  # price(x=2) -> 3; price(x=3) …; 7 more calls; price() raises KeyError: 'k'; "
        "raises ValueError: v; paid=3"
    )


def test_yields_and_waits() -> None:
    notes = [["yielded", "1", 1], ["waited", 1, 0.5], ["waited", 3, 0.0], ["waited", 0, 0.0]]
    notes += [["call", "numbers", "", "yielded", "4", 1], ["call", "numbers", "", "yielded", "4", 3]]
    notes += [["call", "numbers", "", "returned", "None", 2], ["yielded", "5", 4]]
    (found,) = rendered([[2, [], notes]])
    assert found == (
        "2 paid = 0  # yields 1; awaited 0.5 s; awaited, 3 times; waits; numbers() yields 4; "
        "numbers() yields 3 values, at last 4; numbers() yields 2 values, -> None; yields 4 values, at last 5"
    )


def test_loops_are_folded_only_where_there_are_too_many_lines() -> None:
    loop = [each for turn in range(20) for each in ([3, [["x", str(turn)]], []], [4, [], []])]
    assert len(rendered(loop)) == 40
    assert rendered(loop, 30) == [
        "3 for x in xs:  # x=0",
        "4 if x > 1:  # false",
        "3  # x=1",
        "4  # false",
        "… 16 more times 3-4",
        "3  # x=18",
        "4  # false",
        "3  # x=19",
        "4",
    ]


def test_lines_that_were_only_counted_belong_to_their_loop_or_are_said() -> None:
    turn = [[3, [], []], [4, [], []]]
    found = rendered(turn * 4, 10, tail=turn * 4 + [[11, [], []]], between=[[3, 1000], [4, 1000]], count=2017)
    assert "… 1004 more times 3-4" in found
    (gap,) = [each for each in rendered([[2, [], []]], between=[[4, 5], [5, 900]]) if each[0] == "…"]
    assert gap == "… 905 lines that were only counted: 5 times 4, 900 times 5"


def test_what_is_too_long_lacks_its_middle_in_lines_and_in_bytes() -> None:
    long = [[2 + each % 10, [["x", "v" * 50]], []] for each in range(1, 90)]
    short = rendered(long, 20)
    assert len(short) == 21
    assert any("lines left out" in each for each in short)
    few = rendered(long, 200, 1500)
    assert sum(len(each.encode()) + 3 for each in few) <= 1500
    assert len(few) >= 8


def test_a_long_line_of_source_is_cut() -> None:
    source = FunctionSource(["x" * 300])
    call = msgspec.convert({"place": {"file": "f", "line": 1, "function": "f"}, "head": [[1]]}, TracedCall)
    assert [line_text(each) for each in call_lines(call, source, 10, 1000)] == ["1 " + "x" * SOURCE_CHARACTERS + "…"]
