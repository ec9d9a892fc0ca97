"""Types stand in parentheses where values do not show them: no two values of different types look the same."""

import abc
import array
import collections
import datetime
import decimal
import enum
import fractions
import functools
import io
import json
import pathlib
import re
import threading
import types
import uuid
from typing import Any

import msgspec
import pytest

from trio_debugmcp.probe.answers import ProbeVariable
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import variable_json
from trio_debugmcp.server.answers.values import rendered, shows_type


def shown(value: Any, *, types_: bool = True) -> str:
    """A value as answers show it; `types_`: as in variables_get, else as in stacks."""
    found = variable_json("v", value, None, Renderer(Budget(seconds=60), types=types_))
    variable = msgspec.json.decode(json.dumps(found), type=ProbeVariable)
    return rendered(variable.value, variable.type)


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    A = "a"


class Bits(enum.IntFlag):
    ONE = 1


class Said:
    """Looks like the text that it is given."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


One = collections.namedtuple("One", "a")  # noqa: PYI024 (as programs have them)


def named(name: str, *bases: type, **more: Any) -> Any:
    return type(name, bases, more)


def said(name: str, text: str) -> Any:
    return named(name, __repr__=lambda _: text)()


SAME: list[tuple[Any, list[Any]]] = [
    (1, [Level.LOW, Bits.ONE, True, 1.0, "1", named("Count", int)(1), named("Integer", int)(1), named("int", int)(1)]),
    (
        1.5,
        [named("Ratio", float)(1.5), named("double", float)(1.5), decimal.Decimal("1.5"), named("float64", float)(1.5)],
    ),
    (True, [said("bool", "True"), said("boolean", "True"), said("Truth", "True")]),
    (None, [said("NoneType", "None"), said("N", "None")]),
    ("a", [Word.A, named("Name", str)("a"), named("str", str)("a"), named("a", str)("a"), collections.UserString("a")]),
    (b"a", [bytearray(b"a"), named("Raw", bytes)(b"a"), named("bytes", bytes)(b"a")]),
    (
        [1],
        [
            (1,),
            {1},
            collections.deque([1]),
            named("Items", list)([1]),
            collections.UserList([1]),
            array.array("i", [1]),
        ],
    ),
    (
        {"a": 1},
        [
            collections.defaultdict(int, a=1),
            collections.OrderedDict(a=1),
            collections.Counter("a"),
            named("Map", dict)(a=1),
            types.MappingProxyType({"a": 1}),
            collections.ChainMap({"a": 1}),
            collections.UserDict(a=1),
        ],
    ),
    ({}, [set(), collections.defaultdict(int), named("Map", dict)(), {}.keys(), types.MappingProxyType({})]),
    ({1}, [frozenset({1}), named("Kinds", set)({1})]),
    ((1,), [named("Pair", tuple)((1,)), One(1), [1]]),
    (datetime.date(2020, 1, 1), [datetime.datetime(2020, 1, 1), said("Day", "datetime.date(2020, 1, 1)")]),
    (pathlib.PurePosixPath("a"), [pathlib.Path("a"), "a", said("Where", "PurePosixPath('a')")]),
    (ValueError("a"), [KeyError("a"), said("Failed", "ValueError('a')"), ValueError]),
    (fractions.Fraction(1, 2), [said("Half", "Fraction(1, 2)"), 0.5]),
    (Level, [Level.LOW, abc.ABC, named("Level")]),
    (10**700, [named("Large", int)(10**700)]),
]


@pytest.mark.parametrize("types_", [True, False])
@pytest.mark.parametrize(("value", "others"), SAME, ids=lambda each: "" if isinstance(each, list) else repr(each)[:12])
def test_values_of_different_types_never_look_the_same(value: Any, others: list[Any], types_: bool) -> None:
    looks = [shown(each, types_=types_) for each in (value, *others)]
    assert len({*looks}) == len(looks), looks


def test_a_type_is_named_where_its_name_only_occurs_in_the_text() -> None:
    for name, text in [("a", "'a'"), ("Order", "my Orders"), ("Order", "an old Order(1)"), ("x", "max(x)")]:
        assert shown(said(name, text), types_=False) == f"{text} ({name})"
    for name, text in [("Order", "<shop.Order at 1>"), ("Order", "Order"), ("Order", "shop.Order(1)"), ("O", "<O 1>")]:
        assert shown(said(name, text), types_=False) == text


@pytest.mark.parametrize(
    "value",
    [
        *(1, -1, True, None, 1.0, float("nan"), 1j, ..., NotImplemented, "a", b"a", bytearray(b"a"), 10**700),
        *([1], (1,), {1: 2}, {1}, frozenset({1}), [], (), {}, set(), range(3), slice(1)),
        *(int, len, shown, [].append, Said("").__repr__, iter(()), re, object(), lambda: 1, (n for n in (1,))),
        *(Level.LOW, Word.A, ValueError("a"), decimal.Decimal(1), fractions.Fraction(1, 2), uuid.UUID(int=1)),
        *(datetime.date(2020, 1, 1), datetime.timedelta(1), collections.deque([1]), functools.partial(len)),
        *(io.StringIO(), re.match("a", "a"), pathlib.Path("a"), types.MappingProxyType({}), threading.Event()),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_value_that_shows_its_type_stands_without_it(value: Any) -> None:
    assert not shown(value).endswith(")") or "(" in shown(value).removesuffix(f" ({type(value).__name__})")
    assert not shown(value).endswith(f" ({type(value).__name__})")


@pytest.mark.parametrize(("kind", "value"), [("Integer", "5"), ("double", "1.5"), ("string", "'a'"), ("long", "1")])
def test_a_number_of_another_language_is_a_class_in_python(kind: str, value: str) -> None:
    assert shows_type(value, kind)
    assert not shows_type(value, kind, python=True)
