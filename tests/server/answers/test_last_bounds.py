"""The last bound: whatever the data are, they fit, and what was cut says so."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, convert, to_builtins

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.last_bounds import MAX_ERROR_BYTES, bounded, size_of
from trio_debugmcp.server.failures import failed_result

LARGE = 100_000
"""Bytes, beyond which a list is not repeated: fifty times what has to fit."""


def repeated(item: Any, times: int) -> list[Any]:
    return [item] * min(times, LARGE // size_of(item))


long_text = st.builds(lambda text, number: text * number, st.text(min_size=1, max_size=5), st.integers(1, 3000))
data = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), long_text),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.builds(repeated, inner, st.integers(0, 500)),
        st.dictionaries(long_text, inner, max_size=5),
    ),
    max_leaves=6,
)


@given(data)
def test_any_data_fit(value: Any) -> None:
    assert size_of(bounded(value, 2000)) <= 2000


@given(data)
def test_what_fits_is_not_changed(value: Any) -> None:
    assert bounded(value, size_of(value)) is value


def test_long_texts_are_cut_before_anything_is_left_out() -> None:
    value = {"at": "x" * 100_000, "stack": ["main :1"] * 20}
    shown = bounded(value, 8000)
    assert shown == {"at": "x" * 4096 + "… (+95904 characters)", "stack": ["main :1"] * 20}


def test_what_is_left_out_of_lists_and_objects_is_counted() -> None:
    assert bounded(["word"] * 10_000, 5000)[-2:] == ["word", "… (9600 more)"]
    assert bounded([{"a": 1}] * 10_000, 5000)[-1] == {"more": 9600}
    assert bounded({f"key {number}": number for number in range(10_000)}, 8000)["…"] == "9600 more"


def test_data_that_are_cut_can_be_decoded_and_say_beside_a_list_what_it_lacks() -> None:
    class Item(Struct):
        name: str
        inside: list[str]

    class Data(Struct):
        items: list[Item]
        groups: list[list[Item]]
        names: list[str]
        total: int

    item = Item("x" * 5000, ["y"] * 900)
    value = to_builtins(Data([item] * 900, [[item] * 300] * 3, ["z"] * 5000, 900))
    shown = bounded(value, 30_000)
    decoded = convert(shown, Data)
    assert (shown["itemsLeftOut"], decoded.total) == (900 - len(decoded.items), 900)
    assert shown["groupsLeftOut"] == 900 - sum(map(len, decoded.groups))
    assert decoded.names[-1] == f"… ({5000 - len(decoded.names) + 1} more)"


def test_an_error_that_repeats_a_long_argument_is_short() -> None:
    condition = "(" * 100_000
    text = failed_result(UsageError("X", f"{condition} is wrong", {"condition": condition})).text
    assert len(text.encode()) <= MAX_ERROR_BYTES
    assert "characters)" in text
