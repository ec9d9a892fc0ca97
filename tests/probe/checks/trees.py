"""Values as trees: each object once, counts always true, and paths that lead to what is shown."""

import sys
from typing import Any, Dict, Iterator, List

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import object_tree, variable_listing
from trio_debugmcp.probe.inside.values.rendering import Renderer


class Node:
    one: Any
    itself: Any

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    @property
    def total(self) -> int:
        raise AssertionError("was run")


class Bad:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise AssertionError("was run")

    def __repr__(self) -> str:
        raise ValueError("bad")


def grown(value: Any, depth: int = 2, most: int = 50, size: int = 100000, code: bool = True) -> Dict[str, Any]:
    budget = Budget(seconds=10, size=size)
    return object_tree.tree_json(value, "value", depth, most, budget, Renderer(budget, code=code))


def nodes(entry: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    for each in entry.get("children", []):
        yield each
        yield from nodes(each)


def named(entry: Dict[str, Any], *names: str) -> Dict[str, Any]:
    for name in names:
        (entry,) = [each for each in entry["children"] if each["name"] == name]
    return entry


def check_cycles_and_repeated_objects_refer_to_where_they_are_shown() -> None:
    shared = [1]
    root = Node(one=Node(inner=shared), two=shared, three=shared)
    root.one.up = root
    root.itself = root
    found = grown(root, depth=3)
    assert named(found, "itself")["cycle"] == "value"
    assert named(found, "one", "up")["cycle"] == "value"
    assert named(found, "one", "inner")["same"] == "value.two", "where it is nearest"
    assert named(found, "three")["same"] == "value.two"
    assert "cycle" not in named(found, "three")
    assert named(found, "two")["children"][0]["value"] == "1"


def check_what_has_nothing_inside_is_repeated() -> None:
    found = grown([5, 5, "a", "a", (), (), None])
    assert [each["value"] for each in found["children"]] == ["5", "5", "'a'", "'a'", "()", "()", "None"]


def check_every_path_leads_to_the_object_that_is_shown() -> None:
    value: Any = {"a": [Node(x=1), {2, 3}], Node(k=1): {"b": (1, [2])}}
    found = grown(value, depth=5)
    shown = list(nodes(found))
    assert len(shown) > 9
    budget = Budget(seconds=10)
    for each in shown:
        if each["value"] != "<property, not run>":
            led = variable_listing.evaluate(each["path"], sys._getframe(), budget)
            assert Renderer(budget).render(led) == each["value"], each


def check_counts_are_true_whatever_is_shown() -> None:
    found = grown([list(range(100000)), {n: [n] for n in range(2000)}], most=3)
    assert found["size"] == 2
    assert [(each["size"], len(each["children"])) for each in found["children"]] == [(100000, 3), (2000, 3)]
    small = grown([[n] * 3 for n in range(5000)], most=1000, size=3000)
    assert small["size"] == 5000
    assert 0 < len(small["children"]) < 200
    assert all(each["size"] == 3 for each in small["children"])


def check_deep_and_hard_values() -> None:
    deep: List[Any] = []
    for _ in range(10000):
        deep = [deep]
    assert sum(1 for _ in nodes(grown(deep, depth=5))) == 5
    assert sum(1 for _ in nodes(grown(deep, depth=500))) == 5
    found = grown([Bad(), "x" * 1000000, Node(a=Bad)])
    assert found["children"][0]["value"] == "<repr raised ValueError: bad>"
    assert len(found["children"][1]["value"]) < 300
    assert (grown(5)["value"], grown(5)["children"]) == ("5", [])


def check_modules_and_classes_are_opened_only_if_asked_for() -> None:
    assert grown(sys)["children"]
    assert grown(Node)["children"]
    found = grown([sys, Node, grown, [1]])
    assert ["children" in each for each in found["children"]] == [False, False, False, True]


def check_without_code_of_the_program_what_it_would_tell_is_withheld() -> None:
    found = grown([Bad()], code=False)
    assert found["children"][0]["withheld"]
