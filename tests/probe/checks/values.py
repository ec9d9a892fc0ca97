import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import random
import re
import sys
import threading
import time
import types
from typing import Any, Dict, List

from tests.probe.checks import about_a_bound
from trio_debugmcp.probe.inside import bounds
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values.parts import OUT_OF_TIME
from trio_debugmcp.probe.inside.values.rendering import Renderer, shows_type


def show(value: Any, limit: int = 200) -> str:
    return Renderer(Budget(seconds=100), limit).render(value)


class Line:
    def __init__(self) -> None:
        self.product = "apple"
        self.count = 2


class Basket:
    def __init__(self) -> None:
        self.owner = "ben"
        self.lines = [Line(), Line()]


def check_atoms_read_as_in_python() -> None:
    for value in (None, True, 0, -5, 1.5, 2j, "it's", b"ab", bytearray(b"ab"), ..., NotImplemented, range(3)):
        assert show(value) == repr(value)


def check_a_decorated_function_is_at_its_own_place() -> None:
    def twice(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            return function(*args)

        return wrapper

    class Till:
        @twice
        @twice
        def pay(self) -> None: ...

    plain = Till.pay.__wrapped__.__wrapped__
    assert show(Till.pay).endswith(f"Till.pay at values.py:{plain.__code__.co_firstlineno}>")
    assert show(Till().pay).endswith(f"Till.pay at values.py:{plain.__code__.co_firstlineno}>")
    plain.__wrapped__ = Till.pay  # a circle
    assert show(Till.pay).startswith("<function ")


def check_an_object_shows_what_is_inside_as_deep_as_there_is_room() -> None:
    lines = "Line(product='apple', count=2), Line(product='apple', count=2)"
    assert show(Basket()) == f"Basket(owner='ben', lines=[{lines}])"
    assert show(Basket(), 60) == "Basket(owner='ben', lines=[Line(...), Line(...)])"
    assert show(Basket(), 40) == "Basket(owner='ben', lines=[2 items])"
    assert show([Line()]) == "[Line(product='apple', count=2)]"

    class Holder:
        def __init__(self) -> None:
            self.basket = Basket()
            self.empty: List[int] = []

    assert show(Holder()) == f"Holder(basket=Basket(owner='ben', lines=[{lines}]), empty=[])"
    assert show(Holder(), 62) == "Holder(basket=Basket(owner='ben', lines=[2 items]), empty=[])"
    assert show(Holder(), 40) == "Holder(basket=Basket(...), empty=[])"


def check_nothing_is_cut_that_fits() -> None:
    gate = types.SimpleNamespace(queue=[("a", 1), ("b", 2)])
    for value in (
        [(("tea", 1), "x"), (("nut", 2), "y")],
        [{"a": [1, 2, {"b": (3, 4)}]}, ((1, 2), (3, 4))],
        {"a": {"b": {"c": {"d": [1, {"e": ()}]}}}},
        [[[[[[[[1]]]]]]]],
        [(gate, gate.queue)],
        ["a" * 50, ("b" * 60, "c" * 60)],
    ):
        assert show(value) == repr(value), show(value)


def check_what_is_left_of_the_room_goes_to_the_large_ones() -> None:
    text = show({"small": [1, 2], "large": list(range(500)), "text": "a" * 500})
    assert text.startswith("{'small': [1, 2], 'large': [0, 1, 2, 3, 4, 5,"), text
    assert "… (+4" in text, text
    assert "'text': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" in text, text
    assert 180 <= len(text) <= 200, (len(text), text)


def check_an_object_is_said_once_and_then_by_its_path() -> None:
    shared = [1, 2, 3]
    assert show([shared, shared, {"k": shared}]) == "[[1, 2, 3], <same as [0]>, {'k': <same as [0]>}]"
    assert show([{"k": shared}, shared]) == "[{'k': <same as [1]>}, [1, 2, 3]]"  # whole where it is nearest
    assert show([[0] * 3] * 3) == "[[0, 0, 0], <same as [0]>, <same as [0]>]"
    assert show({(1, 2): shared, "b": shared}) == "{(1, 2): [1, 2, 3], 'b': <same as [(1, 2)]>}"
    empty: List[int] = []
    assert show({"a": empty, "b": empty}) == "{'a': [], 'b': <same as ['a']>}"  # they are filled together
    assert show(ValueError("x", shared, shared)) == "ValueError('x', [1, 2, 3], <same as .args[1]>)"
    basket = Basket()
    basket.lines.append(basket.lines[0])
    lines = "Line(product='apple', count=2), Line(product='apple', count=2), <same as .lines[0]>"
    assert show(basket) == f"Basket(owner='ben', lines=[{lines}])"


def check_what_python_shares_by_itself_is_said_again_while_it_is_short() -> None:
    pair, many = (1, 2), tuple("abcdefghijklmnop")
    assert show([pair, pair, datetime.timezone.utc, datetime.timezone.utc]).startswith("[(1, 2), (1, 2), datetime.")
    assert show([many, many], 300) == f"[{many!r}, <same as [0]>]"


def check_a_path_leads_to_what_is_shown() -> None:
    dropped = [0] * 9
    value = [[{"k": dropped}, "x" * 60], *([[n]] for n in range(100, 160)), dropped]
    assert "same" not in show(value, 120), show(value, 120)  # the last one, of which there is no room, shows nothing
    for seed in range(200):
        dice = random.Random(seed)
        made: List[Any] = [[1], {"a": 2}, Line()]
        for _ in range(12):
            pair = [dice.choice(made) for _ in range(2)]
            made.append(dice.choice([pair, tuple(pair), dict(zip("ab", pair)), types.SimpleNamespace(), Basket()]))
        root = made[-6:]
        for limit in (40, 100, 400):
            for path in re.findall(r"<same as ([^>]*)>", show(root, limit)):
                assert eval("root" + path, {"root": root}) is not None, (seed, limit, path)


def check_a_value_that_is_repeated_is_said_once() -> None:
    assert show(b"\0" * 30) == "b'\\x00' * 30"
    assert show(bytearray(60)) == "bytearray(b'\\x00' * 60)"
    assert show(b"\x7fELF" + b"\0" * 26 + b"end") == "b'\\x7fELF' + b'\\x00' * 26 + b'end'"
    assert show(b"\xff" * 10000000) == "b'\\xff' * 10000000"
    assert show(b"ab" * 8) == repr(b"ab" * 8)
    assert show([0] * 5000) == "[0] * 5000"
    assert show(((None,) * 12, [1] * 5)) == "((None,) * 12, [1, 1, 1, 1, 1])"
    assert show([1.0] * 9 + [2.0]) == repr([1.0] * 9 + [2.0])
    long = [show(bytes(range(1, 256)) * 9), show("\x01" * 999)]
    assert max(map(len, long)) < 450, long
    assert len(eval(long[1].partition("…")[0])) + int(long[1].partition("(+")[2].split()[0]) == 999


def check_a_repr_of_several_lines_has_no_blanks_that_fill_it() -> None:
    class Table:
        def __repr__(self) -> str:
            return "Table\n      x      y\n0     1      2\n"

    assert show(Table()) == "Table\nx y\n0 1 2\n"
    assert show([Table()]) == "[Table\nx y\n0 1 2\n]"


def check_code_of_the_program_is_not_run_deeper_than_before_there_was_room() -> None:
    runs = []

    class Money:
        def __init__(self) -> None:
            self.cents = 3

        def __repr__(self) -> str:
            runs.append(1)
            return "3 cents"

    assert show([[Money()]]) == "[[3 cents]]"
    assert show([[[Money()]]]) == "[[[Money(cents=3)]]]"
    assert len(runs) == 1
    assert Renderer(Budget(), deepest=200).render([[[Money()]]]) == "[[[3 cents]]]"


def check_a_value_that_is_deep_in_others_ends_where_the_stack_does() -> None:
    value: List[Any] = []
    for _ in range(100000):
        value = [value]
    assert show(value, 100000).startswith("[[[[[[[[[[")
    assert show(value, 10) == "[[1 item]]"


def check_slots_dataclasses_and_named_tuples_show_fields() -> None:
    class Slots:
        __slots__ = ("__hidden", "shown", "unset")

        def __init__(self) -> None:
            self.shown, self.__hidden = 1, 2

    Point = collections.namedtuple("Point", "x y")
    Record = dataclasses.make_dataclass("Record", [("x", int), ("items", list)])
    assert show(Slots()) == "Slots(_Slots__hidden=2, shown=1)"
    assert show(Point(1, [2])) == "Point(x=1, y=[2])"
    assert show(Record(1, list(range(1000))), 50) == "Record(x=1, items=[0, 1, … (+998 items)])"


def check_lengths_are_true() -> None:
    assert show("a" * 10000000, 5) == "'aaaaa'… (+9999995 characters)"
    assert show(b"a" * 11, 10) == "b'aaaaaaaaaa'… (+1 byte)"
    assert show(list(range(1000000)), 10) == "[0, 1, 2, … (+999997 items)]"
    assert show({number: number for number in range(1000)}, 12) == "{0: 0, 1: 1, … (+998 items)}"
    assert show(tuple(range(50)), 10) == "(0, 1, 2, … (+47 items))"
    assert show(collections.deque([1, 2])) == "deque([1, 2])"
    assert show(10**5000) == "<int of 16610 bits>"


def check_collections_are_shown_by_kind() -> None:
    assert list(map(show, ([], (), {}, set(), frozenset()))) == ["[]", "()", "{}", "set()", "frozenset()"]
    assert [show(each) for each in ((1,), {1}, frozenset({1}))] == ["(1,)", "{1}", "frozenset({1})"]
    assert show([[1, [2, [3]]]]) == "[[1, [2, [3]]]]"
    assert show(type("Stack", (list,), {})([1])) == "Stack([1])"
    assert show(collections.Counter("aab")) == "Counter({'a': 2, 'b': 1})"


def check_functions_classes_and_modules_are_values() -> None:
    assert show(Basket) == f"<class '{__name__}.Basket'>"
    assert show(show).startswith("<function show at values.py:")
    assert show(Basket().__init__).startswith("<method Basket.__init__ at values.py:")  # type: ignore[misc]
    assert show(len) == "<built-in function len>"
    assert show(sys) == "<module 'sys'>"
    assert show(lambda: 1).startswith("<function check_functions_classes_and_modules_are_values.<locals>.<lambda>")


def check_generators_say_where_they_are() -> None:
    def count() -> Any:
        yield 1

    generator = count()
    assert "count, not started, values.py:" in show(generator)
    next(generator)
    assert "count, suspended at values.py:" in show(generator)
    list(generator)
    assert show(generator).endswith("count, finished>")


def check_a_repr_of_the_program_is_used() -> None:
    Color = enum.Enum("Color", "RED")
    assert show(Color.RED) == "<Color.RED: 1>"
    assert show(decimal.Decimal("1.5")) == "Decimal('1.5')"
    assert show(datetime.date(2020, 1, 2)) == "datetime.date(2020, 1, 2)"
    assert show(functools.partial(len)) == "functools.partial(<built-in function len>)"


def check_a_repr_that_raises_or_lies_harms_nothing() -> None:
    def raising(error: BaseException) -> Any:
        def __repr__(self: Any) -> str:
            raise error

        return type("Bad", (), {"__repr__": __repr__})()

    assert show(raising(ValueError("no"))) == "<repr raised ValueError: no>"
    assert show([raising(SystemExit(3)), 1]) == "[<repr raised SystemExit>, 1]"
    assert show(raising(KeyboardInterrupt())) == "<repr raised KeyboardInterrupt>"
    assert show(type("Odd", (), {"__repr__": lambda self: 5})()).startswith("<repr raised TypeError")

    class Endless:
        def __repr__(self) -> str:
            return repr(self)

    assert show(Endless()).startswith("<repr raised RecursionError")


@about_a_bound
def check_a_slow_repr_is_run_once() -> None:
    runs = []

    class Slow:
        def __repr__(self) -> str:
            runs.append(1)
            time.sleep(0.6)
            return "slow"

    values = [Slow(), Slow(), 1]
    assert show(values) == "[<repr took over 0.5 s>, <repr took over 0.5 s>, 1]"
    assert show(values) == "[<repr took over 0.5 s>, <repr took over 0.5 s>, 1]"
    assert len(runs) == 1
    assert bounds.slow(Slow) is not None


def check_a_patient_debugger_gives_a_repr_more_time() -> None:
    class Slow:
        def __repr__(self) -> str:
            time.sleep(0.6)
            return "slow"

    bounds.be_patient(3)
    assert show([Slow(), Slow()]) == "[slow, slow]"


@about_a_bound
def check_the_time_of_an_answer_is_bounded() -> None:
    class Sluggish:
        def __repr__(self) -> str:
            runs.append(1)
            time.sleep(0.05)
            return "sluggish"

    runs: List[int] = []
    text = Renderer(Budget(seconds=0.2), 10000).render([Sluggish() for _ in range(1000)])
    assert len(runs) <= 4
    assert OUT_OF_TIME in text
    assert "(+99" in text  # what was left out is counted


def check_the_number_of_runs_is_bounded() -> None:
    runs = []

    class Counted:
        def __repr__(self) -> str:
            runs.append(1)
            return "c"

    Renderer(Budget(), 100000).render([Counted() for _ in range(10000)])
    assert len(runs) <= bounds.MOST_RUNS


def check_cycles_end() -> None:
    xs: List[Any] = [1]
    xs.append(xs)
    d: Dict[str, Any] = {}
    d["d"] = d
    assert show(xs) == "[1, [...]]"
    assert show(d) == "{'d': {...}}"

    class Node:
        def __init__(self) -> None:
            self.next = self

    assert show(Node()) == "Node(next=Node(...))"


def check_nothing_of_the_program_is_called_for_a_plain_object() -> None:
    called = []

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            called.append(name)
            return super().__getattribute__(name)

        def __eq__(cls, other: object) -> bool:
            called.append("==")
            return cls is other

        def __hash__(cls) -> int:
            called.append("hash")
            return 1

    class Tricky(metaclass=Meta):
        def __init__(self) -> None:
            self.x = 1

        def __getattribute__(self, name: str) -> Any:
            called.append(name)
            return object.__getattribute__(self, name)

        def __getattr__(self, name: str) -> Any:
            called.append(name)
            raise AttributeError(name)

        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            called.append("class")
            return int

        @property
        def costly(self) -> int:
            called.append("costly")
            return 1

    value = Tricky()
    del called[:]
    assert show(value) == "Tricky(x=1)"
    assert shows_type(value, show(value))
    assert show({"k": value}) == "{'k': Tricky(x=1)}"
    assert show([[value]]) == "[[Tricky(x=1)]]"
    assert called == []


def check_subclasses_of_lists_are_not_asked() -> None:
    class Lazy(list):  # type: ignore[type-arg]
        def __len__(self) -> int:
            raise AssertionError

        def __iter__(self) -> Any:
            raise AssertionError

        def __getitem__(self, index: Any) -> Any:
            raise AssertionError

    assert show(Lazy([1, 2])) == "Lazy([1, 2])"


def check_a_length_that_code_in_python_would_fetch_is_not_asked_for() -> None:
    class Page:
        def __len__(self) -> int:
            raise AssertionError

        def __repr__(self) -> str:
            return "a page"

    assert show(Page()) == "a page"


def check_a_query_of_django_is_not_evaluated() -> None:
    def asks(self: Any) -> Any:
        raise AssertionError

    names = {"__module__": "django.db.models.query", "__repr__": asks, "__len__": asks, "__iter__": asks}
    query_set: Any = type("QuerySet", (), names)
    query = type("MailQuerySet", (query_set,), {})()
    query.model, query._result_cache = Basket, None
    assert show(query) == "<MailQuerySet of Basket, not evaluated>"
    query._result_cache = [Basket(), Basket()]
    assert show(query) == "<MailQuerySet of Basket, 2 fetched>"


def check_large_collections_of_libraries_are_not_asked() -> None:
    assert show(dict.fromkeys(range(20000)).keys()) == "<dict_keys of 20000 items>"


def check_exceptions_show_their_arguments() -> None:
    assert show(KeyError("x", [1])) == "KeyError('x', [1])"
    assert show(OSError(2, "no")) == "FileNotFoundError(2, 'no')"


def check_arrays_show_shape_and_type() -> None:
    try:
        import numpy  # type: ignore[import-not-found]
    except ImportError:
        numpy = None
    if numpy is not None:
        assert show(numpy.zeros((1000, 3))) == "ndarray(shape=(1000, 3), dtype=float64)"
        assert show(numpy.array([1, 2])) == "ndarray([1, 2], dtype=int64)"
    calls = []

    class Frame:
        shape = (1000, 2)
        dtype = "mixed"
        columns = ["a", "b"]

        def __repr__(self) -> str:
            calls.append(1)
            return "long"

    Frame.__module__ = "pandas.core.frame"
    assert show(type("DataFrame", (Frame,), {"__module__": "pandas"})()) == "DataFrame(1000 x 2: a, b)"
    assert calls == []


def check_the_type_is_shown_where_the_text_does_not() -> None:
    for value, shown in ((1, True), ([1], True), (Basket(), True), (Basket, True)):
        assert shows_type(value, show(value)) is shown
    Named = type("Named", (), {"__repr__": lambda self: "n"})
    assert not shows_type(Named(), show(Named()))


def check_lone_surrogates_and_locks_are_rendered() -> None:
    assert show("\ud800") == "'\\ud800'"
    assert "locked" in show(threading.Lock())
    assert show(types.SimpleNamespace(a=1)) == "namespace(a=1)"
