"""Calls by their text: what one that is written in a line returned, and why."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import NoAnswerError, WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

CART = """\
class Cart:
    def __init__(self):
        self.items = []

    def put(self, n):
        self.items.append(n)

    def total(self):
        return sum(self.items)

def double(x):
    return x * 2

cart = Cart()
cart.put(1)
early = double(cart.total())
cart.put(5)
assert double(cart.total()) == 14
"""


@cache
def cart() -> ProcessRecord:
    return record(CART, python(3, 13)).processes[0]


def asked(expression: str, at: int = 0) -> WhyAnswer:
    return why(cart(), WhyQuestion(expression=expression, at=at))


def sources(answer: WhyAnswer) -> list[str]:
    return [line.source for line in answer.because]


def number(source: str) -> int:
    answer = why(cart(), WhyQuestion(expression="early"))
    return next(int(line.at[1:]) for line in answer.because if line.source == source)


def test_a_call_is_asked_for_by_its_text_in_the_line_that_failed_or_in_another_one() -> None:
    answer = asked("cart.total()")
    assert answer.value.startswith("cart.total() -> 6 (called at #")
    assert {"return sum(self.items)", "cart.put(5)"} <= set(sources(answer))
    assert asked("double(cart.total())").value.startswith("double(cart.total()) -> 12 ")
    early = asked("cart.total()", at=number("early = double(cart.total())"))
    assert early.value.startswith("cart.total() -> 1 ")
    assert "cart.put(5)" not in sources(early), "that was later"


def test_a_call_that_no_line_has_made_leads_to_its_history() -> None:
    with pytest.raises(NoAnswerError, match=r"double\(7\) is a call, .* history_get\(function='double'\)"):
        asked("double(7)")


def test_a_call_of_what_is_not_recorded_leads_to_what_it_was_given() -> None:
    for call, given in (("len(cart.items)", "cart.items"), ("cart.pay()", "cart"), ("max(key=early)", "early")):
        with pytest.raises(NoAnswerError, match=rf"is not recorded code, .* such as {given}$"):
            asked(call)
    with pytest.raises(NoAnswerError, match="max is not recorded code, so ask about what came of it"):
        asked("max(1, 2)")


def test_a_name_at_the_number_of_a_call_is_what_its_first_line_found() -> None:
    put = number("cart.put(1)")
    assert asked("n", at=put + 1).value == "n=1"


def test_a_name_that_a_line_does_not_see_is_answered_with_where_it_is() -> None:
    moment = number("early = double(cart.total())")
    seen = rf'no value of n at #{moment}: <module> has none; a variable n is in Cart\.put \(at="#\d+"\)'
    with pytest.raises(NoAnswerError, match=seen):
        asked("n", at=moment)


def test_a_name_that_was_never_written_is_answered_with_names_that_were() -> None:
    with pytest.raises(NoAnswerError, match=r"has no value of tottal: .* Written were: total\."):
        asked("tottal")
    with pytest.raises(NoAnswerError, match=r"Written were: Cart, __init__, cart, .*\."):
        asked("zzz")
