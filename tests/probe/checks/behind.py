"""Digests of what lies behind the cut of a value's text, in bounded time."""

import time
from typing import Any, Dict, List

from tests.probe.checks import about_a_bound
from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import behind
from trio_debugmcp.probe.inside.values.rendering import Renderer


class Node:
    def __init__(self) -> None:
        self.items: List[int] = [1, 2]
        self.inner = list(range(400))
        self.deep = {"a": [1, self.inner]}


def shown(**values: Any) -> Dict[str, Any]:
    budget = Budget(seconds=10)
    pairs = list(values.items())
    listed = visible_frames.variables(pairs, 0, 100, budget, Renderer(budget, code=False))
    behind.add_digests(pairs, listed)
    return {each["name"]: each.get("digest") for each in listed}


def check_a_value_that_is_shown_whole_has_no_digest() -> None:
    assert shown(a=1, b="text", c=[1, 2], d=None) == {"a": None, "b": None, "c": None, "d": None}


def check_what_is_cut_has_another_digest_when_it_changes_behind_the_cut() -> None:
    text = "v" * 1000000
    numbers = list(range(5000))
    node = Node()
    first = shown(text=text, numbers=numbers, node=node)
    assert all(first.values()), first
    assert shown(text=text, numbers=numbers, node=node) == first
    numbers[4999] = 0
    node.inner.append(3)
    second = shown(text=text + "y", numbers=numbers, node=node)
    assert all(first[name] != second[name] for name in first), (first, second)


@about_a_bound
def check_too_much_for_the_time_has_none_and_does_not_delay_the_stop() -> None:
    large = [[index] for index in range(300000)]
    begin = time.thread_time()  # without what a loaded machine does meanwhile
    found = shown(large=large, again=large)
    assert found == {"large": None, "again": None}
    assert time.thread_time() - begin < 0.2
