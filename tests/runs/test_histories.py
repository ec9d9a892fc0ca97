"""Histories, call trees and moments of one recorded program: what happened, and how much is left out."""

from collections.abc import Iterator
from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import START
from trio_debugmcp.runs.histories.call_histories import call_history
from trio_debugmcp.runs.histories.call_trees import (
    TreeLimits,
    call_tree,
    matching,
    outermost,
    root_starts,
    starts_under,
)
from trio_debugmcp.runs.histories.histories import HistoryPage, NoHistoryError, RunHistory
from trio_debugmcp.runs.histories.line_histories import line_counts, line_history
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.frame_moments import locals_in
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import RecordedCondition
from trio_debugmcp.runs.past.run_moves import NoMomentError, last_line, moment_at, moment_number, moved

pytestmark = pytest.mark.real

SHOP = """\
class Cart:
    def __init__(self, owner):
        self.total = 0

    def put(self, name, price):
        self.total += price
        return self

class Till:
    total = 9

    def __init__(self):
        self.total = 5

def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)

def numbers(n):
    for number in range(n):
        yield number

def work(names):
    cart = Cart("ben")
    for place, name in enumerate(names):
        cart.put(name, place + 1)
    seen = [number for number in numbers(2)]
    return cart

rate = 3
cart = work(["tea", "ham", "jam", "egg", "oil"])
rate = rate + 1
fib(6)
till = Till()
prices = {"tea": 1}
prices["tea"] = cart.total
try:
    work(None)
except TypeError as error:
    last = error
"""


NOT_ITERABLE = "TypeError(\"'NoneType' object is not iterable\")"


@cache
def shop() -> PastProcess:
    return PastProcess(record(SHOP, python(3, 13), name="shop.py").processes[0])


def file() -> str:
    return next(code.file for code in shop().record.codes)


def values(history: RunHistory) -> list[str]:
    return [" ".join(entry.values) for entry in history.entries]


def where(text: str, **more: int) -> HistoryPage:
    return HistoryPage(where=RecordedCondition(text), **more)


def test_every_write_of_an_attribute_has_the_value_before_and_after_it() -> None:
    history = variable_history(shop(), "Cart.total", HistoryPage())
    changes = ["0", "0 -> 1", "1 -> 3", "3 -> 6", "6 -> 10", "10 -> 15", "0"]
    assert (values(history), history.total) == ([f"Cart.total: {change}" for change in changes], 7)
    assert history.entries[1].source == "self.total += price"
    till = ["Till.total: 9", "Till.total: 5"]
    assert values(variable_history(shop(), "Till.total", HistoryPage())) == till, "of its body, and no other class"
    assert variable_history(shop(), "cart.total", HistoryPage()).total == 7, "of the objects that cart was"
    anywhere = variable_history(shop(), "order.total", HistoryPage())
    assert (anywhere.total, anywhere.notes) == (8, ["of any object, as it is not known which order was"])
    assert values(variable_history(shop(), "prices['tea']", HistoryPage()))[-1].endswith(" 15")


STOCK = """\
class Stock:
    count = 0
    names = []

    @classmethod
    def add(cls, n):
        cls.count += n
        cls.names.append(n)

    def more(self):
        type(self).count += 1
        type(self).names.append("m")

    def other(self):
        self.__class__.count = self.__class__.count + 5
        __class__.count -= 1

class Sub(Stock):
    pass

class Posing:
    __class__ = property(lambda own: Stock)

count = 3
Stock.add(2)
Stock().more()
Sub().other()
posing = Posing()
type(posing).count = 77
posing.__class__.count = 8
count = Stock.count
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_an_attribute_of_a_class_is_found_by_the_name_of_the_class_whatever_a_line_calls_it(
    version: tuple[int, int],
) -> None:
    past = PastProcess(record(STOCK, python(*version)).processes[0])

    def changes(expression: str) -> list[str]:
        return values(variable_history(past, expression, HistoryPage()))

    own = ["0", "0 -> 2", "2 -> 3", "3 -> 2", "2 -> 8"]
    assert changes("Stock.count") == [f"Stock.count: {change}" for change in own]
    last = variable_history(past, "Stock.count", HistoryPage()).entries[-1]
    assert "by something that was not recorded" in last.notes[0], "which class that is, code of the program says"
    assert changes("Sub.count") == ["Sub.count: 8"]
    assert changes("Posing.count") == ["Posing.count: 77"]
    assert changes("type(self).count") == [f"Stock.count: {change}" for change in own[1:]]
    assert changes("self.__class__.count") == ["Sub.count: 8"]
    assert changes("Stock.names") == ["Stock.names: []", "Stock.names[0]: 2", "Stock.names[1]: 'm'"]
    variable = variable_history(past, "count", HistoryPage())
    assert values(variable) == ["Stock.count: 0", "count: 3", "count: 3 -> 8"]
    assert variable.notes == ["only variables: for attributes of that name pass Stock.count"]


CONTENTS = """\
class Cart:
    def __init__(self):
        self.lines = []
        self.paid = 0

def fill(lines, names):
    for name in names:
        lines.append(name)

cart = Cart()
fill(cart.lines, ["tea", "ham"])
cart.lines[1] = "jam"
cart.paid = 7
pay = getattr(cart, "__set" + "attr__")
other = [5]
other.append(6)
prices = {"tea": [1], "ham": [9]}
prices["tea"].append(2)
prices["tea"][0] = 3
prices["egg"] = [4]
del prices["ham"]
big = list(range(6000))
big.append(1)
big[3] = "x"
pay("paid", 8)
print(cart.paid)
"""


@cache
def contents() -> PastProcess:
    return PastProcess(record(CONTENTS, python(3, 13), name="contents.py").processes[0])


def test_what_is_in_a_value_changes_item_by_item_what_changes_it() -> None:
    def changes(expression: str) -> list[str]:
        return values(variable_history(contents(), expression, HistoryPage()))

    added = ["[0]: 'tea'", "[1]: 'ham'", "[1]: 'ham' -> 'jam'"]
    assert changes("cart.lines") == ["Cart.lines: []", *[f"cart.lines{change}" for change in added]]
    assert changes("Cart.lines") == ["Cart.lines: []", *[f"Cart.lines{change}" for change in added]]
    assert changes("cart.lines[1]") == ["[1]: 'ham'", "[1]: 'ham' -> 'jam'"], "of no other list"
    assert changes("other")[1:] == ["other[1]: 6"]
    assert changes("cart")[-2:] == ["cart.paid: 0 -> 7", "cart.paid: 7 -> 8"]
    assert changes("prices['tea']") == ["prices['tea'][1]: 2", "prices['tea'][0]: 1 -> 3"]
    assert changes("prices")[-2:] == ["prices['egg']: [4]", "prices['ham']: [9] -> deleted"]
    assert changes("big")[1:] == ["len(big): 6000 -> 6001", "big[3]: 3 -> 'x'"]


def test_a_change_of_what_is_in_a_value_is_judged_paged_and_marked_where_nothing_recorded_made_it() -> None:
    entry = variable_history(contents(), "cart", HistoryPage(before=contents().record.last, count=1)).entries[0]
    assert (entry.values, entry.notes) == (
        ["cart.paid: 7 -> 8"],
        ["found changed here, by something that was not recorded"],
    )
    longer = variable_history(contents(), "big", where("old == 6000 and new == 6001"))
    assert longer.notes == [
        "of more than 60 items only the length is watched, and those items that a line names or changes itself"
    ]
    assert (values(longer), longer.total) == (["len(big): 6000 -> 6001"], 1)
    assert values(variable_history(contents(), "cart.lines", where("name == 'ham'"))) == ["cart.lines[1]: 'ham'"]


def test_a_variable_is_one_of_any_function_a_module_or_an_argument() -> None:
    assert values(variable_history(shop(), "rate", HistoryPage())) == ["rate: 3", "rate: 3 -> 4"]
    argument = variable_history(shop(), "price", HistoryPage(count=1)).entries[0]
    assert (argument.values, argument.notes) == (["price: 1"], ["an argument"])
    fallen_back = variable_history(shop(), "owner", HistoryPage())
    assert (fallen_back.total, fallen_back.notes) == (2, [])


def test_a_page_begins_at_the_start_or_ends_before_a_moment() -> None:
    whole = variable_history(shop(), "Cart.total", HistoryPage())
    page = variable_history(shop(), "Cart.total", HistoryPage(start=2, count=2))
    assert (page.entries, page.total) == (whole.entries[2:4], 7)
    before = int(whole.entries[4].at[1:])
    last = variable_history(shop(), "Cart.total", HistoryPage(before=before, count=2))
    assert [entry.at for entry in last.entries] == [entry.at for entry in whole.entries[2:4]], "before that line ran"


def test_a_condition_is_judged_over_recorded_values_and_what_it_cannot_judge_is_counted() -> None:
    grown = variable_history(shop(), "Cart.total", where("new > 9 and old > 9"))
    assert values(grown) == ["Cart.total: 10 -> 15"]
    assert variable_history(shop(), "Cart.total", where("old > 9")).undecided == 2, "where nothing was before"
    assert values(call_history(shop(), "put", where("price > 4"))) == ["self=<Cart> name='oil' price=5 -> <Cart>"]
    assert call_history(shop(), "fib", where("result >= 5")).total == 2
    assert values(call_history(shop(), "work", where("raised is not None"))) == [f"names=None raises {NOT_ITERABLE}"]
    assert line_history(shop(), file(), 16, where("n == 1")).total == 8


def test_every_run_of_a_line_has_its_values_and_counts_are_those_of_the_runs() -> None:
    history = line_history(shop(), file(), 6, HistoryPage())
    assert [entry.values[0] for entry in history.entries] == [f".total={total}" for total in (1, 3, 6, 10, 15)]
    counts = line_counts(shop().record, file())
    assert (counts[6], counts[16], counts[17], counts[18]) == (5, 25, 13, 12)
    assert 4 not in counts


def test_what_has_no_history_is_said_with_what_there_is() -> None:
    page = HistoryPage()
    with pytest.raises(NoHistoryError, match=r"`totel` was never written by recorded code in this run\. Written were"):
        variable_history(shop(), "totel", page)
    with pytest.raises(NoHistoryError, match="is not a variable"):
        variable_history(shop(), "f(x)", page)
    with pytest.raises(NoHistoryError, match="no function pay was called"):
        call_history(shop(), "pay", page)
    with pytest.raises(NoHistoryError, match="the nearest line with code is 5"):
        line_history(shop(), file(), 4, page)


def test_the_calls_are_a_tree_in_which_further_calls_of_a_function_are_counted() -> None:
    record = shop().record
    tree = call_tree(shop(), root_starts(record), TreeLimits(depth=3))
    shown = [(call.depth, call.function, call.count, " ".join(call.values)) for call in tree.calls]
    assert shown[:8] == [
        (0, "<module>", 1, "-> None"),
        (1, "work", 1, "names=['tea', 'ham', 'jam', 'egg', 'oil'] -> <Cart>"),
        (2, "Cart.__init__", 1, "self=<Cart> owner='ben' -> None"),
        (2, "Cart.put", 1, "self=<Cart> name='tea' price=1 -> <Cart>"),
        (2, "Cart.put", 1, "self=<Cart> name='ham' price=2 -> <Cart>"),
        (2, "Cart.put", 3, "-> <Cart> (3 times)"),
        (2, "numbers", 1, "n=2 -> None"),
        (1, "fib", 1, "n=6 -> 8"),
    ]
    assert (1, "work", 1, f"names=None raises {NOT_ITERABLE}") in shown[9:], "in the order of time"
    module, work, init, put, *_ = tree.calls
    ended = [int((call.until or "#0")[1:]) for call in (init, put, work, module)]
    assert ended == sorted(ended), "a call ends before the one that it is inside of"
    assert [call.until for call in tree.calls if call.count > 1] == [None] * sum(call.count > 1 for call in tree.calls)
    short = call_tree(shop(), root_starts(record), TreeLimits(depth=3, lines=4))
    assert (len(short.calls), short.total) == (4, 4 + short.omitted)


PAIRS = """\
def one(n):
    return n

def two(n):
    return one(-n)

def work(n):
    one(n)
    two(n)
    if n:
        work(n - 1)

for n in range(4):
    one(n)
    two(n)
work(2)
"""


def test_the_calls_of_one_call_stand_in_the_order_of_time_and_those_too_deep_are_counted() -> None:
    past = PastProcess(record(PAIRS, python(3, 13), name="pairs.py").processes[0])

    def shown(starts: Iterator[int], depth: int) -> list[tuple[int, str, int, str]]:
        tree = call_tree(past, starts, TreeLimits(depth=depth))
        return [(call.depth, call.function, call.count, " ".join(call.values)) for call in tree.calls]

    assert shown(root_starts(past.record), 2) == [
        (0, "<module>", 1, "-> None"),
        (1, "one", 1, "n=0 -> 0"),
        (1, "two", 1, "n=0 -> 0 … 1 inside"),
        (1, "one", 1, "n=1 -> 1"),
        (1, "two", 1, "n=1 -> -1 … 1 inside"),
        (1, "one", 2, "-> 2 -> 3"),
        (1, "two", 2, "-> -2 -> -3"),
        (1, "work", 1, "n=2 -> None … 3 inside"),
    ]
    numbered = [(number, past.record.row(number)) for number in range(1, past.record.last)]
    works = [number for number, row in numbered if row.kind == START and past.record.code(row.key).name == "work"]
    assert len(works) == 3
    assert list(outermost(past.record, works, 2)) == [works[0], works[2]], "the second one is shown in the first"
    assert list(outermost(past.record, works, 3)) == works[:1]


def test_calls_are_found_by_a_condition_and_inside_of_another_call() -> None:
    record = shop().record
    start = int(call_history(shop(), "work", HistoryPage()).entries[0].at[1:])
    inside = [record.code(record.row(number).key).name for number in starts_under(record, start)]
    assert inside == ["Cart.__init__", *["Cart.put"] * 5, "numbers"]
    undecided: list[int] = []
    found = list(matching(shop(), starts_under(record, start), RecordedCondition("price == 3"), undecided))
    assert (len(found), len(undecided)) == (1, 2), "two have no price"


def test_a_moment_has_the_stack_and_the_variables_before_its_line() -> None:
    at = int(line_history(shop(), file(), 6, HistoryPage(start=2)).entries[0].at[1:])
    moment = moment_at(shop(), at)
    assert [(place.function, place.line) for place in moment.stack] == [("Cart.put", 6), ("work", 27), ("<module>", 32)]
    assert moment.variables == {"self": "<Cart>", "name": "'jam'", "price": "3"}
    assert moment.line.values == [".total=6"]
    assert not moment.has_more
    shown, are_all = locals_in(shop(), shop().record.row(last_line(shop().record)).subject, shop().record.last + 1)
    assert (shown["rate"], are_all) == (("4", 0), False)


def test_moves_lead_back_forward_in_and_out() -> None:
    record = shop().record
    at = int(line_history(shop(), file(), 27, HistoryPage(start=1)).entries[0].at[1:])

    def line(number: int) -> int:
        return record.site(record.row(number).key).line

    inside = moved(record, at, "in")
    assert (line(inside), line(moved(record, inside, "forward"))) == (6, 7)
    assert moved(record, inside, "out") == at
    assert moved(record, moved(record, inside, "forward"), "back") == inside
    assert (line(moved(record, at, "back")), line(moved(record, at, "forward"))) == (26, 26)
    assert moved(record, inside, "back") == at, "the first line of a call has the line of the call before it"
    returned = moved(record, moved(record, inside, "forward"), "forward")
    assert line(returned) == 26, "behind the last one its caller goes on"
    assert moved(record, last_line(record), "forward") == 0
    with pytest.raises(NoMomentError, match="and no #999999"):
        moment_number(record, 999_999)
