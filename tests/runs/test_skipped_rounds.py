"""Of a loop the answer has the rounds that were left out, what ended it early, and what an outcome compared."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
def add(rows):
    total = 0
    for text in rows:
        try:
            value = int(text)
        except ValueError:
            continue
        total += value
    return total


def sales(rows):
    amount = 0
    for kind, price in rows:
        if kind != "sale":
            continue
        amount += price
    return amount


def chosen(numbers):
    found = []
    for number in numbers:
        if number % 7 == 0:
            found.append(number)
    return found


def find(items, limit):
    kept = []
    for item in items:
        if item > limit: break
        kept.append(item)
    return kept


def put(sink, event):
    sink.append(event)


def drain(events, sink):
    for event in events:
        if event is None:
            break
        put(sink, event)


def check(order, limit):
    return order["total"] <= limit and not order["held"]


def ship(orders, limit):
    shipped = []
    for order in orders:
        if check(order, limit):
            shipped.append(order["id"])
    return shipped


def rows():
    for name, amount in [("pen", 50), ("ink", 3)]:
        total = amount * 2
        yield name, total


summed = add(["1", "x", "3", "y4", "5"])
sold = sales([("sale", 1), ("Sale", 4), ("sale", 7)])
sevens = chosen(range(22))
kept = find([1, 2, 9, 3], 5)
sink = []
drain([1, None, 2], sink)
listed = list(rows())
table = {"listed": listed}
shipped = ship([{"id": 1, "total": 5, "held": False}, {"id": 2, "total": 12, "held": False}], 10)
assert shipped == [1, 2]
"""

BOUND = """\
def low(items, least):
    found = []
    for name, stock in items:
        if stock < least:
            found.append(name)
    return found


def spent(bills, limit):
    total = 0
    for name, cents in bills:
        if cents * 2 > limit - 1:
            continue
        total += cents
    return total


few = low([("a", 9), ("b", 5), ("c", 2), ("d", 8), ("e", 7)], 5)
none = low([("a", 9), ("b", 6), ("c", 2), ("d", 8), ("e", 7)], 5)
paid = spent([("a", 1), ("b", 5), ("c", 9)], 11)
"""

NESTED = """\
def rows():
    for name, amount in [("pen", 50), ("ink", 3)]:
        total = amount * 2
        yield name, total


listed = list(rows())
assert TEST
"""


@pytest.fixture(scope="module")
def process() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


def line(process: ProcessRecord, expression: str, source: str) -> str:
    """Return the line of an answer with a statement; empty: it has none."""
    shown = map(str, why(process, WhyQuestion(expression=expression)).because)
    return "\n".join(text for text in shown if source in text)


def test_rounds_that_an_exception_has_left_out_are_counted_and_lead_to_the_line_that_raised(
    process: ProcessRecord,
) -> None:
    added = line(process, "summed", "total += value")
    assert "left out of 2 of 5 rounds (#" in added
    assert "3 writes from 0" in added  # and not that the loop had three rounds
    raised = line(process, "summed", "value = int(text) | raises ValueError")
    assert "text='y4'; so line 8 does not run in that round" in raised


def test_a_few_rounds_that_a_condition_has_left_out_are_counted_and_most_of_them_are_not(
    process: ProcessRecord,
) -> None:
    assert "left out of 1 of 3 rounds (#" in line(process, "sold", "amount += price")
    assert "left out" not in line(process, "sevens", "found.append(number)")


def test_a_break_on_the_line_of_its_condition_ended_the_loop(process: ProcessRecord) -> None:
    assert "true item=9 limit=5; ended the loop" in line(process, "kept", "if item > limit: break")


def test_what_ended_the_loop_that_called_what_filled_a_container_is_named(process: ProcessRecord) -> None:
    assert "true event=None; ended the loop" in line(process, "sink", "if event is None:")


def test_an_outcome_has_what_it_compared_and_a_missing_number_its_round(process: ProcessRecord) -> None:
    returned = line(process, "", 'return order["total"] <= limit')
    assert "-> False order['total']=12 limit=10 order['held']=False" in returned


def test_an_item_of_a_tuple_in_a_list_can_be_asked_for(process: ProcessRecord) -> None:
    assert why(process, WhyQuestion(expression="listed[0][1]")).value == "listed[0][1]=100"
    assert why(process, WhyQuestion(expression="table['listed'][-1][0]")).value == "table['listed'][-1][0]='ink'"
    assert "total=100" in line(process, "listed[0][1]", "total = amount * 2")
    assert "total=6" in line(process, "listed[1][1]", "total = amount * 2")


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (
            '[(name, str(total)) for name, total in listed] == [("pen", "90"), ("ink", "6")]',
            "[0][1] is '100', not '90'",
        ),
        ('(len(listed), listed) == (2, [("pen", 90), ("ink", 6)])', "[1][0][1] is 100, not 90"),
    ],
)
def test_the_first_item_that_differs_is_followed_inside_of_what_an_assertion_makes(test: str, said: str) -> None:
    failed = record(NESTED.replace("TEST", test), python(3, 12)).processes[0]
    answer = why(failed, WhyQuestion())
    assert answer.value.endswith(said)
    assert any(shown.source == "total = amount * 2" and shown.values == ["total=100"] for shown in answer.because)


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_a_condition_that_left_out_what_is_just_at_its_bound_is_named_with_its_values(version: tuple[int, int]) -> None:
    bounds = record(BOUND, python(*version)).processes[0]
    decided = line(bounds, "few", "if stock < least:")
    assert "false stock=5 least=5; so line 5 does not run in that round" in decided
    assert "in that round" not in line(bounds, "none", "if stock < least:")
    assert "in that round" not in line(bounds, "paid", "if cents * 2")
