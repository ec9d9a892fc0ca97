"""What differs between two captures: nothing is called equal that was not seen, and nothing different that is not."""

from collections import OrderedDict, deque
from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from tests.state.test_captures import capture
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values.capture_tree import capture_json
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.state.captures import Capture, CaptureDifference, CapturedValue, ChangedPath, difference

V = CapturedValue


def of(*variables: CapturedValue, total: int | None = None, seed: str = "1") -> Capture:
    return capture(1, variables=variables, total=len(variables) if total is None else total, seed=seed)


def compared(old: CapturedValue, new: CapturedValue) -> tuple[str, int, tuple[str, ...]]:
    """What a variable of that name is found to be: the kind of change, or nothing."""
    found = difference(of(old), of(new))
    mirrored = difference(of(new), of(old))
    assert mirror(mirrored) == ordered(found)
    assert len(found.changes) <= 1
    return (found.changes[0].kind if found.changes else "", found.unchanged, found.unknown)


def mirror(found: CaptureDifference) -> CaptureDifference:
    kinds: dict[str, Any] = {"added": "removed", "removed": "added", "modified": "modified"}
    turned = [ChangedPath(kinds[each.kind], each.path, each.new, each.old, each.reordered) for each in found.changes]
    return CaptureDifference(tuple(sorted(turned, key=str)), found.unchanged, tuple(sorted(found.unknown)))


def ordered(found: CaptureDifference) -> CaptureDifference:
    return CaptureDifference(tuple(sorted(found.changes, key=str)), found.unchanged, tuple(sorted(found.unknown)))


EQUAL = ("", 1, ())
OTHER = ("modified", 0, ())
UNKNOWN = ("", 0, ("x",))


def test_plain_values_are_their_texts() -> None:
    assert compared(V("x", "1", "int"), V("x", "1", "int")) == EQUAL
    assert compared(V("x", "1", "int"), V("x", "2", "int")) == OTHER
    assert compared(V("x", "1", "int"), V("x", "1", "str")) == OTHER


def test_values_that_are_cut_are_their_digests_of_one_process() -> None:
    cut = V("x", "aa…", "str", digest="1")
    assert compared(cut, cut) == EQUAL
    assert compared(cut, V("x", "aa…", "str", digest="2")) == OTHER
    assert compared(cut, V("x", "aa…", "str", unseen=True)) == UNKNOWN
    found = difference(of(cut), of(cut, seed="2"))
    assert (found.changes, found.unknown) == ((), ("x",)), "another process digests otherwise"
    assert difference(of(cut), of(V("x", "ab…", "str", digest="1"), seed="2")).changes[0].kind == "modified"


def test_a_digest_tells_more_than_the_text_of_a_set_whose_order_is_chance() -> None:
    assert compared(V("x", "{1, 2}", "set", digest="1"), V("x", "{2, 1}", "set", digest="1")) == EQUAL


def test_what_was_not_seen_whole_is_never_equal() -> None:
    hidden = V("x", "<iterator>", "it", digest="1", unseen=True)
    assert compared(hidden, hidden) == UNKNOWN
    assert compared(hidden, V("x", "<another>", "it", digest="1", unseen=True)) == OTHER
    assert compared(V("x", "1"), V("x", "1", unseen=True)) == UNKNOWN


def test_a_text_that_says_nothing_is_not_compared() -> None:
    late = V("x", "<no time left>", "int", vague=True)
    assert compared(late, late) == compared(late, V("x", "1", "int")) == UNKNOWN
    assert compared(late, V("x", "1", "str")) == OTHER


def test_what_was_looked_into_only_once_is_unknown_unless_its_text_differs() -> None:
    closed = V("x", "[[1]]", "list", digest="1")
    opened = V("x", "[[1]]", "list", children=(V("[0]", "[1]", "list", "x[0]", digest="2"),))
    assert compared(closed, opened) == UNKNOWN
    assert compared(closed, V("x", "[[2]]", "list", children=opened.children)) == OTHER


def test_what_was_looked_into_and_has_more_to_it_is_equal_only_if_all_of_that_was_seen() -> None:
    hidden = box(V("a", "1", "int", "x.a"), digest="1", unseen=True)
    assert compared(hidden, hidden) == ("", 1, ("x",))
    assert compared(V("x", "[]", "list"), V("x", "[]", "list", children=())) == UNKNOWN


def test_references_to_what_they_are_inside_of_are_equal_if_they_lead_to_the_same() -> None:
    assert compared(V("x", "N(...)", "N", cycle="a"), V("x", "N(...)", "N", cycle="a")) == EQUAL
    assert compared(V("x", "N(...)", "N", cycle="a"), V("x", "N(...)", "N", cycle="b")) == OTHER
    assert compared(V("x", "N(...)", "N", cycle="a"), V("x", "N(...)", "N", children=())) == OTHER


def box(*children: CapturedValue, **more: Any) -> CapturedValue:
    return V("x", more.pop("value", "Box"), "Box", children=children, **more)


def test_what_is_inside_is_compared_path_by_path_and_what_is_new_or_gone_once() -> None:
    one, two = V("a", "1", "int", "x.a"), V("b", "2", "int", "x.b")
    found = difference(of(box(one)), of(box(one, V("c", "Box", "Box", "x.c", children=(two, two)))))
    assert [(each.kind, each.path, each.old) for each in found.changes] == [("added", "x.c", None)]
    assert (found.unchanged, found.unknown) == (1, ())
    assert compared(box(one), box(V("a", "3", "int", "x.a"))) == OTHER
    assert compared(box(one), box()) == ("removed", 0, ())
    assert compared(box(), box()) == EQUAL


def test_of_what_lists_only_some_of_its_children_nothing_is_new_or_gone() -> None:
    one, two = V("[0]", "1", "int", "x[0]"), V("[1]", "2", "int", "x[1]")
    assert compared(box(one, two), box(one, partial=True, digest="1")) == ("", 1, ("x[1]", "x"))
    assert compared(box(one, partial=True, digest="1"), box(one, partial=True, digest="1")) == EQUAL
    assert compared(box(one, partial=True, digest="1"), box(one, partial=True, digest="2"))[0] == "modified"
    assert compared(box(one, partial=True), box(one, partial=True)) == ("", 1, ("x",))
    changed = box(V("[0]", "3", "int", "x[0]"), partial=True, digest="2")
    assert compared(box(one, partial=True, digest="1"), changed) == ("modified", 0, ("x",)), "and the rest, perhaps"


def test_locals_that_were_left_out_are_unknown() -> None:
    found = difference(of(V("a", "1"), total=3), of(V("a", "1"), V("b", "1")))
    assert (found.changes, found.unchanged) == ((), 1)
    assert found.unknown[0] == "b"
    assert "2 locals left out" in found.unknown[1]


def test_another_order_of_the_items_of_a_dict_is_a_change_and_of_fields_is_not() -> None:
    one, two = V("['a']", "1", "int", "x['a']"), V("['b']", "2", "int", "x['b']")
    found = difference(of(box(one, two)), of(box(two, one)))
    assert [(each.path, each.reordered) for each in found.changes] == [("x", True)]
    assert difference(of(box(one, two)), of(box(two))).changes[0].kind == "removed"
    field, other = V("a", "1", "int", "x.a"), V("b", "2", "int", "x.b")
    assert compared(box(field, other), box(other, field)) == ("", 2, ())


def test_a_pointer_is_its_address_too() -> None:
    inside = V("[0]", "1", "int", "x[0]")
    assert compared(box(inside, own=True, value="0x1"), box(inside, own=True, value="0x1")) == EQUAL
    assert compared(box(inside, own=True, value="0x1"), box(inside, own=True, value="0x2"))[0] == "modified"


def test_what_no_path_leads_to_has_its_name() -> None:
    assert difference(of(), of(V("a b", "1", path=""))).changes[0].path == "a b (no path)"


# --- Values of Python -------------------------------------------------------------------------------------------------


class Node:
    def __init__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)


atoms = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, -0.0, 1.5, 2**70, "a", "b" * 300, b"a"])
hashable = atoms | st.tuples(atoms, atoms) | st.frozensets(atoms, max_size=2)
names = st.sampled_from("abc")


def holders(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner),
        st.sets(hashable, max_size=3),
        st.dictionaries(hashable, inner, max_size=3),
        st.lists(inner, max_size=2).map(deque),
        st.dictionaries(atoms, inner, max_size=2).map(OrderedDict),
        st.dictionaries(names, inner, max_size=3).map(Node),
    )


values = st.recursive(atoms, holders, max_leaves=12)
scopes = st.dictionaries(names, values, max_size=3)


def taken(scope: dict[str, Any], depth: int, most: int) -> Capture:
    budget = Budget(seconds=10, size=300_000)
    renderer = Renderer(budget, code=False, types=True, fields=True)
    found = capture_json([(name, value, name) for name, value in scope.items()], depth, most, budget, renderer)
    variables = msgspec.convert(found["variables"], tuple[CapturedValue, ...])
    return capture(1, variables=variables, total=found["total"], seed=found["seed"])


def exactly(value: Any) -> Any:
    """What a value is, down to types and order, so that two such forms are equal if the values are the same."""
    match value:
        case dict():
            return type(value), [(exactly(key), exactly(each)) for key, each in value.items()]
        case list() | tuple() | deque():
            return type(value), [exactly(each) for each in value]
        case set() | frozenset():
            return type(value), sorted(str(exactly(each)) for each in value)
        case Node():
            return Node, sorted((name, exactly(each)) for name, each in vars(value).items())
        case _:
            return type(value), repr(value)


@given(scopes, scopes, st.integers(0, 4), st.integers(1, 5))
@example({"a": {1: 2, 3: 4}}, {"a": {3: 4, 1: 2}}, 2, 5)
@example({"a": [[[-1]]]}, {"a": [[[-2]]]}, 1, 5)
@example({"a": {True}}, {"a": {1}}, 1, 5)
def test_there_is_a_difference_exactly_where_the_values_differ_and_it_is_mirrored(
    before: dict[str, Any], after: dict[str, Any], depth: int, most: int
) -> None:
    one, two = taken(before, depth, most), taken(after, depth, most)
    found = difference(one, two)
    assert ordered(found) == mirror(difference(two, one))
    fields = [{name: exactly(value) for name, value in scope.items()} for scope in (before, after)]
    assert bool(found.changes or found.unknown) == (fields[0] != fields[1])
    same = difference(one, taken(before, depth, most))
    assert (same.changes, same.unknown) == ((), ())


@given(scopes, st.integers(0, 3))
def test_every_path_of_a_difference_leads_to_the_value(after: dict[str, Any], depth: int) -> None:
    found = difference(taken({}, depth, 9), taken(after, depth, 9))
    inner = difference(taken(dict.fromkeys(after, ()), depth, 9), taken(after, depth, 9))
    for each in (*found.changes, *inner.changes):
        assert each.new is not None
        budget = Budget(seconds=10)
        shown = Renderer(budget, code=False, types=True, fields=True).render(eval(each.path, dict(after)))
        assert shown == each.new.value
