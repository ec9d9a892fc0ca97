"""Names lead back: each that an answer gives for a value is a path, accepted by the tools, to that very value.

The code is that which runs in the program, and that which renders its answer; only the wire between them is left out.
"""

import collections
import dataclasses
import enum
import json
import types
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.probe.answers import ProbeVariable
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import children
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.values.variable_listing import (
    ListingQuestion,
    evaluate,
    of_scope,
    of_value,
    scope_pairs,
)
from trio_debugmcp.server.answers.values import NO_PATH, full_path, named
from trio_debugmcp.session.looking.variables import probe_variable

PYTHON = profile_named("debugpy")
assert PYTHON is not None
is_path = PYTHON.expressions.is_path


def answer(found: dict[str, Any], parent: str | None, depth: int = 1) -> dict[str, str]:
    """What variables_get answers with what the probe has found."""
    variables = msgspec.json.decode(json.dumps(found["variables"]), type=list[ProbeVariable])
    return named([probe_variable(each, is_path) for each in variables], parent, depth)


def frame_with(**names: Any) -> Any:
    return type("Frame", (), {"f_globals": {}, "f_locals": names})


def names_inside(path: str, value: Any, frame: Any) -> Iterator[tuple[str, str, Any]]:
    """Name, path and true value of what is inside of a value, and check that each path leads to it."""
    budget = Budget(seconds=60, size=10_000_000)
    question = ListingQuestion(0, 1000)
    shown = answer(of_value(value, path, question, budget, Renderer(budget, types=True)), path)
    inside, total = children.children(value, 0, 1000)
    assert len(shown) == len(inside) == min(total, 1000), "each has a name of its own"
    for name, child in zip(shown, inside, strict=True):
        if child.note:  # a property, which is not run
            continue
        if name.endswith(NO_PATH):
            yield name, "", child.value
            continue
        full = full_path(path, name)
        assert is_path(full), full
        got = evaluate(full, frame, budget)
        assert got is child.value or (type(got) is type(child.value) and repr(got) == repr(child.value)), full
        yield name, full, child.value


def check(value: Any, levels: int = 3) -> list[str]:
    """Check all names in a value, and in what is inside of it; return those that say that they have no path."""
    frame = frame_with(value=value)
    without: list[str] = []
    front = [("value", value)]
    for _ in range(levels):
        below = []
        for path, each in front[:200]:
            for name, full, inner in names_inside(path, each, frame):
                if full:
                    below.append((full, inner))
                else:
                    without.append(name)
        front = below
    return without


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Name(str):
    """A string that is not quite one."""


class Names(list[Any]):
    pass


class FromOne(list[Any]):
    """Its first item is number 1."""

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index - 1)


class Multi(dict[Any, Any]):
    """As those of web frameworks: an item is the first of several, of which a list is kept."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key)[0]

    def values(self) -> Any:
        return [each[0] for each in super().values()]


class Backwards(set[Any]):
    def __iter__(self) -> Any:
        return reversed(list(super().__iter__()))


class Turned(collections.deque[Any]):
    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(-1 - index)


class Slots:
    __slots__ = ("__hidden", "shown")

    def __init__(self) -> None:
        self.shown = [1]
        self.__hidden = {2: [3]}


class HidesSlot(Slots):
    @property
    def shown(self) -> str:  # type: ignore[override]
        return "a property"


class Private:
    def __init__(self) -> None:
        self.__secret = [1]


class Shadowed:
    """A property of the name of a field."""

    def __init__(self) -> None:
        vars(self)["total"] = [9]

    @property
    def total(self) -> int:
        return 1


class Pretends:
    """Has whatever it is asked for."""

    def __init__(self) -> None:
        vars(self)["kept"] = [1]

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name) if name.startswith("__") else "pretended"


class Meta(type):
    @property
    def size(cls) -> str:
        return "of the metaclass"


class Kinds(metaclass=Meta):
    size = (5,)
    static = staticmethod(len)

    @staticmethod
    def own(each: int) -> int:
        return each

    @classmethod
    def made(cls) -> None: ...

    @property
    def read(self) -> int:
        return 1

    def method(self) -> None: ...


@dataclasses.dataclass
class Order:
    items: list[int]


Point = collections.namedtuple("Point", "x y")  # noqa: PYI024 (as programs have them)


class Plain:
    def __init__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)


def recursive() -> list[Any]:
    value: list[Any] = [[1], {}]
    value.append(value)
    value[1]["all"] = value
    return value


def closure() -> Any:
    a, b = [1], {"x": (1,)}
    return lambda: (a, b)


KEYS = [
    *("a'b", 'a"b', "'\"", "a.b", "a[0]", "]", "n\nl", "\\", "{}", "{0}", "ü", "\ud800", "", " ", "…", "*", "len()"),
    *("x" * 99, "x" * 150, 1, -1, True, 1.5, -1.5, float("inf"), float("nan"), 2 + 3j, 1 << 4000, None, b"\0{}", ()),
    *((1, "x"), (1,), ((1,), (None,)), frozenset({1}), Color.RED, Name("s"), range(3), Ellipsis, int, object()),
    (Color.RED,),
]

FIELDS = [
    *("class", "a b", "\ufb01", "fi", 'a"b', "{x}", "ü", "", "__a", "[0]", "None", "a.b", "__debug__", "print", "…"),
    *("match", "__class__", "__dict__", "x (no path)", "\n"),
]
"""`\ufb01` is a letter that Python reads as `fi` in a name."""

AWKWARD: dict[str, Any] = {
    "keys": {key: [number] for number, key in enumerate(KEYS)},
    "fields": Plain({name: [number] for number, name in enumerate(FIELDS)}),
    "namespace": types.SimpleNamespace(**{name: [number] for number, name in enumerate(FIELDS)}),
    "ordered": collections.OrderedDict({Color.RED: [1], "b": [2]}),
    "default": collections.defaultdict(list, a=[1]),
    "counter": collections.Counter("abca"),
    "chain": collections.ChainMap({"a": [1]}, {"b": 2}),
    "user dict": collections.UserDict(a=[1]),
    "names": Names([[1], 2]),
    "from one": FromOne([[1], [2], [3]]),
    "multi": Multi({"a": [[1], 2], Color.RED: [3]}),
    "backwards": Backwards({1, 2, 3}),
    "frozen": frozenset({(1, 2), "a"}),
    "deque": collections.deque([[1], 2]),
    "proxy": types.MappingProxyType({"a": [1]}),
    "view": {"a": [1], "b": 2}.items(),
    "range": range(5),
    "bytes": memoryview(b"abc"),
    "slots": Slots(),
    "private": Private(),
    "shadowed": Shadowed(),
    "class": Kinds,
    "enum": Color,
    "level": Level.LOW,
    "order": Order([1, 2]),
    "point": Point([1], 2),
    "recursive": recursive(),
    "closure": closure(),
    "method": Kinds().method,
    "error": ValueError("x", [1]),
    "module": json,
}


@pytest.mark.parametrize("kind", AWKWARD)
def test_each_name_leads_to_its_value(kind: str) -> None:
    assert check(AWKWARD[kind], levels=2) == []


@pytest.mark.parametrize(
    ("value", "names"),
    [(Pretends(), ["kept"]), (Turned([[1], 2]), ["[0]", "[1]"]), (HidesSlot.__new__(HidesSlot), [])],
)
def test_a_name_that_leads_nowhere_says_so(value: Any, names: list[str]) -> None:
    assert check(value) == [f"{each} (no path)" for each in names]


def test_what_is_in_a_class_has_its_plain_name_where_that_leads_to_it() -> None:
    names = [name for name, _, _ in names_inside("value", Kinds, frame_with(value=Kinds))]
    assert sorted(names) == ["__dict__['size']", "made", "method", "own", "read", "static"]


def test_a_slot_that_a_property_hides_has_no_path() -> None:
    value = HidesSlot.__new__(HidesSlot)
    Slots.__dict__["shown"].__set__(value, [1])
    assert check(value) == ["shown (no path)"]


ATOMS = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.binary(max_size=4) | st.floats()
HASHABLE = st.recursive(
    ATOMS | st.sampled_from([Color.RED, Level.LOW, Name("s"), int]),
    lambda inner: st.tuples(inner) | st.tuples(inner, inner) | st.frozensets(inner, max_size=2),
    max_leaves=4,
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists, dicts = st.lists(inner, max_size=4), st.dictionaries(HASHABLE, inner, max_size=4)
    return st.one_of(
        lists,
        lists.map(tuple),
        lists.map(Names),
        lists.map(FromOne),
        lists.map(collections.deque),
        dicts,
        dicts.map(Multi),
        dicts.map(collections.OrderedDict),
        dicts.map(types.MappingProxyType),
        st.frozensets(HASHABLE, max_size=4),
        st.sets(HASHABLE, max_size=4).map(Backwards),
        lists.map(Order),
        st.tuples(inner, inner).map(lambda pair: Point(*pair)),
        st.dictionaries(st.text(max_size=5) | st.sampled_from(FIELDS), inner, max_size=4).map(Plain),
    )


@given(st.recursive(ATOMS, _nested, max_leaves=12))
def test_each_name_in_any_value_leads_to_its_value(value: Any) -> None:
    assert check(value) == []


@pytest.mark.parametrize("kind", AWKWARD)
def test_each_name_is_found_by_itself(kind: str) -> None:
    value = AWKWARD[kind]
    budget = Budget(seconds=60, size=10_000_000)
    everything = answer(of_value(value, "value", ListingQuestion(0, 1000), budget, Renderer(budget)), "value")
    for name, shown in everything.items():
        asked = ListingQuestion(0, 4, names=(name, full_path("value", name)))
        found = answer(of_value(value, "value", asked, budget, Renderer(budget)), "value")
        assert found[name] == shown


def test_a_name_is_found_among_many_that_contain_it() -> None:
    pairs = [(f"x{number}", number, f"x{number}") for number in range(300)] + [("x", 7, "x")]
    budget = Budget(seconds=60)
    found = of_scope(pairs, ListingQuestion(0, 4, names=("x", "gone")), budget, Renderer(budget))
    assert (answer(found, None), found["total"]) == ({"x": "7"}, 1)


# --- Levels -----------------------------------------------------------------------------------------------------------


@given(
    st.recursive(st.integers(), lambda inner: st.lists(inner, min_size=1, max_size=9), max_leaves=60),
    st.integers(1, 4),
    st.integers(1, 9),
    st.integers(200, 4000),
)
def test_levels_below_say_how_much_of_them_is_left_out(value: Any, depth: int, most: int, size: int) -> None:
    budget = Budget(seconds=60, size=size)
    found = of_value({"v": value}, "all", ListingQuestion(0, most, depth), budget, Renderer(budget, types=True))
    shown = answer(found, "all", depth)
    for name in [each for each in shown if not each.endswith("…")]:
        inside = eval(full_path("all", name), {"all": {"v": value}})
        below = [each for each in shown if each.startswith(f"{name}[") and "[" not in each[len(name) + 1 :]]
        below = [each for each in below if not each.endswith("…")]
        total = len(inside) if isinstance(inside, list) else 0
        if name.count("[") >= depth:
            assert below == []
        elif len(below) < total:
            assert shown[f"{name}…"] == f"{total - len(below)} more"
        else:
            assert f"{name}…" not in shown


# --- Scopes -----------------------------------------------------------------------------------------------------------


def test_a_global_that_a_local_hides_does_not_lead_to_the_local() -> None:
    code = compile("", "app.py", "exec")
    frame = types.SimpleNamespace(
        f_globals={"x": [1], "odd name": 2, "class": 3, "\ufb01": 4, "y": 5}, f_locals={"x": [2], "z": 6}, f_code=code
    )
    budget = Budget(seconds=60)
    found = answer(of_scope(scope_pairs(frame, "globals"), ListingQuestion(), budget, Renderer(budget)), None)
    without = {"x (no path)", "odd name (no path)", "class (no path)", "\ufb01 (no path)"}
    assert {*found} == {*without, "y"}
    assert found["x (no path)"] == "[1]"
    found = answer(of_scope(scope_pairs(frame, "all"), ListingQuestion(), budget, Renderer(budget)), None)
    assert {*found} == {*without, "x", "y", "z"}
    for name in ("x", "y", "z"):
        assert Renderer(budget).render(evaluate(name, frame, budget)) == found[name]
