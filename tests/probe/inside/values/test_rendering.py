"""Any value is rendered: within its limit, without an exception. On every interpreter: tests/probe/checks/values.py."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values.children import literal
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.values.variable_listing import ListingQuestion, evaluate, of_value

KEYS = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=5) | st.floats()
ATOMS = KEYS | st.text() | st.binary() | st.complex_numbers() | st.integers(min_value=1 << 3000) | st.decimals()
HASHABLE = st.recursive(KEYS, lambda inner: st.tuples(inner, inner), max_leaves=4)


class Plain:
    """An object whose fields are what it was given."""

    def __init__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)


def collections(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(inner)
        | st.dictionaries(HASHABLE, inner)
        | st.frozensets(HASHABLE)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(), inner).map(Plain)
    )


VALUES = st.recursive(ATOMS, collections, max_leaves=30)


@given(VALUES, st.integers(1, 300))
def test_any_value_is_rendered_within_its_limit(value: Any, limit: int) -> None:
    text = Renderer(Budget(), limit).render(value)
    assert "cannot be shown" not in text
    assert len(text) <= 4 * max(limit, 60)


@given(HASHABLE)
def test_a_key_that_has_a_literal_is_found_by_it(key: Any) -> None:
    text = literal(key)
    if text is not None:
        made = eval(text)
        assert made == key
        assert type(made) is type(key)


@given(VALUES, st.integers(0, 3), st.integers(0, 5))
def test_paths_of_children_lead_to_them(value: Any, start: int, most: int) -> None:
    holder = [value]
    frame = type("Frame", (), {"f_globals": {}, "f_locals": {"holder": holder}})
    budget = Budget(seconds=30, size=10_000_000)
    answer = of_value(value, "holder[0]", ListingQuestion(start, most), budget, Renderer(budget))
    assert len(answer["variables"]) == max(0, min(most, answer["total"] - start))
    for child in answer["variables"]:
        found = evaluate(child["path"], frame, budget)
        assert Renderer(budget).render(found) == child["value"]
