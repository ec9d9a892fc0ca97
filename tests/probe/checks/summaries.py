"""Collections in a few lines, whatever is in them, and without code of the program but that of items shown."""

import collections
import math
from typing import Any, Dict, List

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import children, collection_summary
from trio_debugmcp.probe.inside.values.rendering import Renderer


class Item:
    shown = 0

    def __repr__(self) -> str:
        Item.shown += 1
        return "item"


class Odd(int):
    def __int__(self) -> int:
        raise AssertionError("was run")

    __float__ = __add__ = __lt__ = __eq__ = __int__  # type: ignore[assignment]
    __hash__ = int.__hash__


class Long(list):  # type: ignore[type-arg]
    def __len__(self) -> int:
        raise AssertionError("was run")

    __iter__ = __getitem__ = __len__  # type: ignore[assignment]


def about(value: Any, most: int = 5) -> Dict[str, Any]:
    budget = Budget(seconds=10)
    return collection_summary.summary_json(value, most, budget, Renderer(budget))


def check_types_nulls_and_numbers_are_counted() -> None:
    found = about([3, None, 4.5, float("nan"), "a", True, Odd(7)])
    assert found == {
        "kind": "list",
        "count": 7,
        "elementTypes": {"float": 2, "NoneType": 1, "Odd": 1, "bool": 1, "int": 1, "str": 1},
        "nullCount": 2,
        "numeric": {"min": 3, "max": 7, "mean": 14.5 / 3},
        "first": ["3", "None", "4.5", "nan", "'a'"],
        "last": ["True", "7"],
    }
    assert about([])["first"] == []
    assert "numeric" not in about(["a"])


def check_every_kind_of_collection() -> None:
    kinds: List[Any] = [
        (1, 2),
        {1, 2},
        frozenset({1, 2}),
        collections.deque([1, 2]),
        range(1, 3),
        {"a": 1, "b": 2}.values(),
        Long([1, 2]),
    ]
    for value in kinds:
        found = about(value)
        assert (found["count"], found["numeric"], found["first"]) == (2, {"min": 1, "max": 2, "mean": 1.5}, ["1", "2"])
        assert "sampled" not in found
    found = about({"a": 1, 2: None})
    assert (found["keyTypes"], found["elementTypes"]) == ({"int": 1, "str": 1}, {"NoneType": 1, "int": 1})
    assert found["first"] == ["'a': 1", "2: None"]


def check_one_item_that_is_not_like_the_others_is_found_wherever_it_is() -> None:
    for kind in (list, tuple, collections.deque):
        items = [float(n) for n in range(20000)]
        items[12345] = math.nan
        found = about(kind(items))
        assert (found["nullCount"], "sampled" in found) == (1, False)
    found = about({n: None if n == 7777 else n for n in range(9999)})
    assert (found["nullCount"], found["elementTypes"]) == (1, {"int": 9998, "NoneType": 1})


def check_very_long_ones_are_sampled_evenly_with_both_ends() -> None:
    number = 100000
    for value in (list(range(number)), range(number), {n: n for n in range(number)}, collections.deque(range(number))):
        found = about(value, 2)
        assert (found["count"], found["sampled"]) == (number, 20000)
        assert found["numeric"] == {"min": 0, "max": number - 1, "mean": found["numeric"]["mean"]}
        assert abs(found["numeric"]["mean"] - number / 2) < number / 1000
        assert [each.rpartition(" ")[2] for each in found["first"]] == ["0", "1"]
        assert [each.rpartition(" ")[2] for each in found["last"]] == [str(number - 2), str(number - 1)]
    assert "sampled" not in about(range(20000))
    assert about(range(20001))["sampled"] == 20000


def check_what_is_too_far_into_a_dict_is_not_reached() -> None:
    most, children.MOST_PASSED = children.MOST_PASSED, 50
    try:
        found = about({n: n for n in range(100)}, 1)
    finally:
        children.MOST_PASSED = most
    assert (found["count"], found["sampled"], found["first"], found["last"]) == (100, 50, ["0: 0"], [])


def check_first_and_last_do_not_overlap() -> None:
    for count in range(12):
        found = about(range(count), 5)
        shown = [*found["first"], *found["last"]]
        assert shown == [str(each) for each in range(count) if each < 5 or each >= max(5, count - 5)]
    assert (about(range(9), 0)["first"], about(range(9), 0)["last"]) == ([], [])


def check_a_repr_runs_only_for_what_is_shown() -> None:
    Item.shown = 0
    found = about([Item() for _ in range(5000)], 3)
    assert found["first"] == found["last"] == ["item"] * 3
    assert Item.shown == 6


def check_numbers_that_json_cannot_hold_are_text() -> None:
    found = about([10**400, -(2**60), float("inf")])["numeric"]
    assert found == {"min": str(-(2**60)), "max": "inf"}
    assert about([10**400])["numeric"] == {"min": "<int of 1329 bits>", "max": "<int of 1329 bits>"}
    assert "mean" not in about([float("inf"), float("-inf")])["numeric"]
    assert about([10**30])["numeric"]["max"] == str(10**30)


def check_texts_show_their_ends() -> None:
    found = about("ab" * 500000, 1)
    assert (found["count"], found["kind"], len(found["first"][0]), len(found["last"][0])) == (1000000, "str", 22, 22)
    assert about(b"abc") == {"kind": "bytes", "count": 3, "first": ["b'abc'"]}
    assert about("") == {"kind": "str", "count": 0, "first": []}


def check_a_summary_does_not_depend_on_the_order() -> None:
    values: List[Any] = [0.1, 1e16, -1e16, 3, None, "a", float("nan"), 2**52]
    one, other = about(values), about(values[::-1])
    for name in ("count", "elementTypes", "nullCount", "numeric"):
        assert one[name] == other[name], name


def check_what_is_not_a_collection_is_named() -> None:
    values: List[Any] = [5, Item(), None, iter([]), Item]
    for value in values:
        said = ""
        try:
            about(value)
        except collection_summary.NotCollectionError as error:
            said = str(error)
        assert said == type(value).__name__


class Flat(list):  # type: ignore[type-arg]
    def __getitem__(self, wanted: Any) -> Any:
        return Flat([list.__getitem__(self, each) for each in wanted])

    def tolist(self) -> Any:
        return list(self)


def array(items: List[Any], shape: Any, **more: Any) -> Any:
    names = {"__module__": "numpy", "shape": shape, "dtype": "float64", "flat": Flat(items), **more}
    return type("ndarray", (), names)()


def check_arrays_are_read_through_their_library() -> None:
    found = about(array([float(n) for n in range(4000)], (40, 100)), 1)
    assert (found["count"], found["shape"], found["kind"]) == (4000, [40, 100], "ndarray")
    assert (found["elementTypes"], "sampled" in found) == ({"float64": 4000}, False)
    assert (found["first"], found["last"], found["numeric"]["max"]) == (["0.0"], ["3999.0"], 3999.0)
    found = about(array([], (3,), flat=5))
    assert found == {"kind": "ndarray", "count": 3, "notes": ["its items cannot be read: TypeError"]}
    assert about(array([], (3,), __module__="torch")) == {"kind": "ndarray", "count": 3}
