"""Captures: no code of the program runs, cycles end, what is not shown has a digest, and what is not seen says so."""

import collections
import datetime
import enum
import functools
import io
import sys
import threading
import time
from typing import Any, Dict, List, Optional

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import capture_tree, digests, variable_listing
from trio_debugmcp.probe.inside.values.rendering import Renderer


class Node:
    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    @property
    def total(self) -> int:
        raise AssertionError("was run")


class Loud(Node):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise AssertionError("was run")

    def __repr__(self) -> str:
        raise AssertionError("was run")


class Meta(type):
    def __eq__(cls, other: object) -> bool:
        raise AssertionError("was run")

    def __hash__(cls) -> int:
        raise AssertionError("was run")


class OfMeta(metaclass=Meta):
    pass


class LoudText(str):
    def __repr__(self) -> str:
        raise AssertionError("was run")


class Color(enum.Enum):
    RED = 1


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a


def captured(depth: int = 2, most: int = 100, size: int = 300000, seconds: float = 10, **values: Any) -> Dict[str, Any]:
    budget = Budget(seconds=seconds, size=size)
    renderer = Renderer(budget, code=False, types=True, fields=True)
    pairs = [(name, value, name) for name, value in values.items()]
    return capture_tree.capture_json(pairs, depth, most, budget, renderer)


def one(value: Any, depth: int = 2, most: int = 100) -> Dict[str, Any]:
    (found,) = captured(depth, most, value=value)["variables"]
    return dict(found)


def named(entry: Dict[str, Any], *names: str) -> Dict[str, Any]:
    for name in names:
        (entry,) = [each for each in entry["children"] if each["name"] == name]
    return entry


def digest(value: Any, seconds: float = 10, steps: int = digests.MOST_STEPS) -> Any:
    return digests.Digests(time.monotonic() + seconds, steps).of(value)


def check_objects_show_their_fields_and_none_of_their_code_runs() -> None:
    found = one(Loud(x=1, inner=Loud(y=[Loud(z=2)]), kind=OfMeta(), word=LoudText("ab")))
    assert found["value"].startswith("Loud(x=1, inner=Loud(y=[Loud(z=2)])"), found["value"]
    assert [each["name"] for each in found["children"]] == ["x", "inner", "kind", "word"]
    assert named(found, "inner", "y")["value"] == "[Loud(z=2)]"
    assert named(found, "word")["value"] == "LoudText('ab')"
    assert not any("unseen" in each for each in (found, named(found, "inner", "y")))


def check_an_object_inside_itself_is_a_reference_and_a_repeated_one_is_shown_twice() -> None:
    shared = [1]
    node = Node(one=shared, two=shared)
    node.itself = node  # type: ignore[attr-defined]
    found = one(node)
    assert named(found, "itself")["cycle"] == "value"
    assert "children" not in named(found, "itself")
    assert named(found, "one", "[0]")["value"] == named(found, "two", "[0]")["value"] == "1"
    assert digest(node) == digest(node)
    other = Node(one=[1], two=[1])
    other.itself = Node(one=[1], two=[1], itself=other)  # type: ignore[attr-defined]
    assert digest(node) != digest(other)


def check_what_is_below_the_depth_or_beyond_the_count_or_cut_has_a_digest_and_the_rest_has_none() -> None:
    found = one([[[1]], "x" * 5000, 7, 10**700], depth=1)
    assert [("digest" in each) for each in found["children"]] == [True, True, False, True]
    assert "digest" not in found
    found = one(list(range(500)), most=10)
    assert (len(found["children"]), found["partial"], "digest" in found) == (10, True, True)
    found = one([1, 2], most=2)
    assert not {"partial", "digest"} & {*found}


def check_digests_differ_where_values_do_however_deep_and_small_the_difference() -> None:
    def nested(last: Any) -> Any:
        return [{"a": Node(b=(1, [{"c": collections.deque([last])}]))}]

    values: List[Any] = [
        -1, -2, 1, 1.0, True, "1", b"1", None, "", b"", 0, False, 0.0, -0.0, 2**61 - 1, 2**61, 10**400, 10**400 + 1, 1j,
        [1, 2], [2, 1], (1, 2), {1: 2}, {2: 1}, {1, 2}, frozenset({1, 2}), [[1], 2], [1, [2]], [12], ["1", "2"], ["12"],
        "x" * 100, "x" * 99 + "y", b"x" * 100, bytearray(b"x" * 100), range(3), range(4), Color.RED, Node(a=1),
        Node(b=1), Node(a=2), Loud(a=1), Slotted(1), Slotted([1]), ValueError(1), ValueError("1"), KeyError(1), int,
        str, len, sys, collections.OrderedDict([(1, 2), (3, 4)]), collections.OrderedDict([(3, 4), (1, 2)]),
        datetime.date(2020, 1, 1),
        [*range(2000)], [*range(1999), 0], ["a"] * 2000, ["a"] * 1999 + ["b"], [1.5] * 1500, [1.5] * 1499 + [2.5],
        [1] * 1000, [True] * 1000, {"a": {-1}}, {"a": {-2}}, LoudText("ab"), "ab", LoudText("ac"),
    ]  # fmt: skip
    seen: Dict[str, Any] = {}
    for value in [*values, *map(nested, values)]:
        found, whole = digest(value)
        assert (whole, bool(found)) == (True, True), value
        assert found not in seen, (value, seen[found])
        seen[found] = value
        assert digest(value) == (found, whole)


def check_equal_values_have_equal_digests_whichever_objects_they_are() -> None:
    def made() -> Any:
        number = int("12345678901")
        return [
            Node(a=["x" * 30, number], b={"k": {3, 1, 2}}),
            "".join(["a", "b"]),
            [number] * 1500,
            ["a" + "b"] * 1500,
        ]

    assert digest(made()) == digest(made())
    there, back = {"a" * n for n in range(50)}, {"a" * n for n in reversed(range(50))}
    assert digest(there) == digest(back)
    assert digest(Loud(a=1)) == digest(Loud(a=1))


def check_functions_are_known_by_their_place_and_by_what_they_have_closed_over() -> None:
    def maker(number: Optional[int]) -> Any:
        def inner() -> Any:
            return number

        return inner

    assert digest(maker(1)) == digest(maker(1))
    assert digest(maker(1)) != digest(maker(2))
    assert digest(Node(a=1).__init__) != digest(Node(a=2).__init__)  # type: ignore[misc]
    late: Any

    def empty() -> Any:
        return late

    assert digest(empty)[1]
    late = 1


def check_what_only_c_code_knows_is_unseen_also_in_what_derives_from_it() -> None:
    class Lines(io.StringIO):
        pass

    class Partial(functools.partial):  # type: ignore[type-arg]
        pass

    def lines() -> Any:
        yield 1

    hidden = [iter([1]), lines(), io.StringIO("a"), Lines("a"), functools.partial(len, []), Partial(len, []), {}.keys()]
    for value in hidden:
        assert not digest(value)[1], value
        assert not digest([{"a": value}])[1], value
        assert one(value).get("unseen"), value
    stack = one(Node(inside=iter([1])), depth=0)
    assert {"unseen", "digest"} < {*stack}
    seen = [
        threading.Lock(),
        threading.RLock(),
        threading.Event(),
        Slotted(1),
        Node(),
        object(),
        collections.Counter("a"),
    ]
    for value in seen:
        assert digest(value)[1], value
        assert not one(value).get("unseen"), value
    lock = threading.Lock()
    before = digest(lock)
    with lock:
        assert digest(lock) != before


def check_a_collection_with_fields_of_its_own_is_its_items_and_its_fields() -> None:
    class Stack(list):  # type: ignore[type-arg]
        limit = 0

    first, second = Stack([1]), Stack([1])
    first.limit, second.limit = 1, 2
    assert one(first)["digest"] != one(second)["digest"]
    assert named(one(first), "[0]")["value"] == "1"


def check_elements_of_sets_and_keys_that_are_objects_are_known_by_what_they_are() -> None:
    def keys(value: Any) -> List[str]:
        return [each.get("key", each["name"]) for each in one(value)["children"]]

    assert set(keys({1, 2})) < set(keys({3, 1, 2}))
    assert keys({Node(a=1): 1}) == keys({Node(a=1): 2}) != keys({Node(a=2): 1})
    twice = keys({Node(a=1), Node(a=1)})
    assert len({*twice}) == 2
    assert keys({"a": 1, 2: 3}) == ["['a']", "[2]"]


def check_out_of_time_or_steps_there_is_no_digest_rather_than_a_wrong_one() -> None:
    many = [[each] for each in range(5000)]
    assert digest(many, steps=1000) == ("", False)
    assert digest(many, seconds=-1) == ("", False)
    assert digest({each: [each] for each in range(5000)}, steps=1000) == ("", False)
    assert digest(many)[1]
    deep: Any = []
    for _ in range(10000):
        deep = [deep]
    found, whole = digest(deep)
    assert (bool(found), whole) == (True, False), "what is deeper than that is unseen"
    assert named(one(deep), "[0]", "[0]").get("unseen")


def check_what_has_no_room_is_not_listed_and_what_lists_it_is_partial() -> None:
    found = captured(size=2000, **{f"name{n}": n for n in range(500)})
    assert 0 < len(found["variables"]) < 500
    assert found["total"] == 500
    found = captured(size=3000, value=[*range(100)])
    (value,) = found["variables"]
    assert {"partial", "digest"} < {*value}
    assert len(value["children"]) < 100


def check_members_of_enumerations_dates_and_classes_are_leaves() -> None:
    for value, text in ((Color.RED, "<Color.RED: 1>"), (datetime.date(2020, 1, 2), "datetime.date(2020, 1, 2)")):
        found = one(value)
        assert (found["value"], found.get("children")) == (text, None)
    assert "children" not in one(Node)
    assert "children" not in one(sys)


def check_every_path_leads_to_the_object_that_is_shown() -> None:
    value: Any = {"a": [Node(x=1), {2, 3}], Node(k=1): {"b": (1, [2])}, "s": Slotted({4}), "e": ValueError([5])}
    names = {"value": value}
    pending = [one(value, depth=4)]
    shown = 0
    while pending:
        entry = pending.pop()
        pending += entry.get("children", [])
        budget = Budget(seconds=10)
        led = eval(entry.get("path", entry["name"]), dict(names))
        text = Renderer(budget, code=False, types=True, fields=True).render(led)
        assert text == entry["value"], entry
        shown += 1
    assert shown > 12
    assert variable_listing.MOST_DEPTH >= 5
