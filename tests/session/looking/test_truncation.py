"""Lists and texts cut to a size in bytes of JSON."""

from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.state.payloads import end_of, json_size, truncated

TEXTS = st.text(st.sampled_from('ab\n"\\\x00é漢😀'), max_size=60)


@given(TEXTS, st.integers(0, 80))
def test_the_end_of_a_text_fits_and_is_no_shorter_than_it_must_be(text: str, most: int) -> None:
    kept = end_of(text, most)
    assert text.endswith(kept)
    assert not kept or json_size(kept) <= most
    if json_size(text) <= most:
        assert kept == text


def test_a_text_of_one_kind_is_cut_at_the_bound() -> None:
    assert end_of("x" * 1000, 103) == "x" * 100
    assert end_of("\n" * 1000, 103) == "\n" * 50
    assert end_of("", 0) == end_of("x", 0) == ""


@given(st.lists(TEXTS, max_size=20), st.integers(0, 500))
def test_items_fit_and_there_is_at_least_one(items: list[str], most: int) -> None:
    kept = truncated(items, most)
    assert items[: len(kept)] == kept
    assert len(kept) >= min(1, len(items))
    assert len(kept) <= 1 or sum(map(json_size, kept)) <= most
    assert kept == items or sum(map(json_size, items[: len(kept) + 1])) > most
