"""Properties: a read of one is a call, so its value is what its getter returned."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.histories.histories import HistoryPage, NoHistoryError
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.moment_values import NoValueError, value_at_moment
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.why import NoAnswerError, WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

ORDERS = """\
class Order:
    def __init__(self):
        self.lines = [1, 2]

    @property
    def net(self):
        return sum(self.lines)

    @property
    def gross(self):
        return self.net + 1

    @property
    def unread(self):
        return 0

one, two = Order(), Order()
two.lines.append(5)
if one.net == two.net:
    print("same")
assert one.gross > two.gross
"""


@cache
def orders() -> ProcessRecord:
    return record(ORDERS, python(3, 13)).processes[0]


def lines(answer: WhyAnswer) -> list[str]:
    return [line.source for line in answer.because]


def test_the_value_of_a_property_is_what_it_returned_for_each_object() -> None:
    answer = why(orders(), WhyQuestion())
    assert answer.value == "assert one.gross > two.gross: one.gross=4 two.gross=9"
    assert "two.lines.append(5)" in lines(answer)
    assert not [source for source in lines(answer) if source.startswith("def ")], (
        "that there is a property tells nothing"
    )


def test_a_property_is_asked_for_like_an_attribute() -> None:
    answer = why(orders(), WhyQuestion(expression="two.gross"))
    assert answer.value == f"two.gross=9 (read at {answer.because[-3].at})"
    assert {"return self.net + 1", "two.lines.append(5)"} <= set(lines(answer))


def test_what_has_no_value_of_a_property_says_what_has_what_it_returned() -> None:
    with pytest.raises(NoAnswerError, match=r"gross is a property, and history_get\(function='Order\.gross'\) has"):
        why(orders(), WhyQuestion(expression="one.gross", at=2))
    past = PastProcess(orders())
    with pytest.raises(NoHistoryError, match=r"one\.gross is a property: history_get\(function='Order\.gross'\) has"):
        variable_history(past, "one.gross", HistoryPage())
    assert "is a property" in variable_history(past, "Order.gross", HistoryPage()).notes[0], "beside its definition"
    with pytest.raises(NoValueError, match=r"gross is a property: Order\.gross computes it"):
        value_at_moment(past, int(why(orders(), WhyQuestion()).because[-1].at[1:]), 0, "one.gross")
