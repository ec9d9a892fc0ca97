"""Pages of resources: each fits, and together they have every item once."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trio_debugmcp.server.answers.resource_pages import MAX_RESOURCE_BYTES, NoSuchPage, page_named, page_of

URI = "debugger://breakpoints"


def whole(payload: dict[str, Any], uri: str = URI) -> tuple[dict[str, list[Any]], list[int]]:
    """Return the items of all pages by list, and the bytes of each page."""
    text, named, found, sizes = json.dumps(payload), (uri, 0), {}, []  # type: ignore[var-annotated]
    while True:
        page = page_of(named[0], text, named[1])
        sizes.append(len(page.encode()))
        shown = json.loads(page)
        for name, items in shown.items():
            if isinstance(items, list):
                found.setdefault(name, []).extend(items)
        if "next" not in shown:
            return found, sizes
        named = page_named(shown["next"])


def test_a_payload_that_fits_is_not_touched() -> None:
    text = json.dumps({"threads": ["x" * 200] * 100, "revision": 3})
    assert page_of(URI, text) is text


def test_pages_have_each_item_of_each_list_once_and_say_how_many_follow() -> None:
    lists = {"breakpoints": [{"id": number, "file": "x" * 150} for number in range(300)]}
    lists["functionBreakpoints"] = [{"id": number} for number in range(300, 310)]
    payload = {**lists, "stale": False, "revision": 7}
    first = json.loads(page_of(URI, json.dumps(payload)))
    shown = len(first["breakpoints"])
    assert first["breakpointsLeftOut"] == 300 - shown
    assert first["functionBreakpointsLeftOut"] == 10
    assert first["functionBreakpoints"] == []
    assert (first["next"], first["revision"]) == (f"{URI}?start={shown}", 7)
    found, sizes = whole(payload)
    assert found == lists
    assert max(sizes) <= MAX_RESOURCE_BYTES
    assert len(sizes) == 2


def test_a_page_behind_the_last_item_is_refused() -> None:
    with pytest.raises(NoSuchPage, match=r"^2$"):
        page_of(URI, json.dumps({"a": [1], "b": [2]}), 2)


def test_a_source_file_whose_name_looks_like_a_page_is_read_by_its_name() -> None:
    uri = "debugger://source//src/what?start=5"
    assert page_named(uri) == (uri, 0)


signs = st.sampled_from(["x", "\x01", "é", "\N{GRINNING FACE}", '"'])
texts = st.builds(lambda sign, number: sign * number, signs, st.sampled_from([0, 1, 30, 300, 5000, 20_000]))
short = st.builds(lambda sign, number: sign * number, signs, st.integers(0, 60))


@given(st.lists(texts, max_size=8), st.lists(st.lists(short, max_size=8), max_size=3), texts, st.integers(1, 100))
@settings(max_examples=30)
def test_whatever_the_items_are_each_page_fits_and_all_are_there(
    items: list[str], lists: list[list[str]], text: str, times: int
) -> None:
    payload: dict[str, Any] = {"word": text, "changed": dict.fromkeys("abcdef", text), "items": items}
    payload.update({f"list{number}": [{"name": each} for each in more * times] for number, more in enumerate(lists)})
    found, bytes_of_pages = whole(payload)
    assert max(bytes_of_pages) <= MAX_RESOURCE_BYTES
    expected = {name: len(value) for name, value in payload.items() if isinstance(value, list)}
    assert {name: len(value) for name, value in found.items()} == expected
