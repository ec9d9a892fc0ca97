"""Times and long values in payloads."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.state.payloads import (
    iso_time,
    shortened,
)


@given(st.floats(0, 4e9))
def test_times_are_iso_with_offset_to_the_millisecond(moment: float) -> None:
    text = iso_time(moment)
    assert text.endswith("+00:00")
    assert abs(datetime.fromisoformat(text).timestamp() - moment) < 0.001


def test_a_long_value_is_cut_with_the_number_of_characters_left_out() -> None:
    assert shortened("x" * 200) == "x" * 200
    assert shortened("x" * 205) == "x" * 200 + "… (+5 characters)"
    assert shortened("abcdef", 3) == "abc… (+3 characters)"
