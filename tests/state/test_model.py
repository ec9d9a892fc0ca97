"""What a breakpoint of the state says about itself."""

from typing import Any

import pytest

from tests.state.store import breakpoint_on


@pytest.mark.parametrize(
    ("settings", "always"),
    [
        ({}, True),
        ({"enabled": False}, False),
        ({"condition": "x"}, False),
        ({"hit_condition": "3"}, False),
        ({"log_message": "x"}, False),
    ],
)
def test_a_breakpoint_always_stops_without_a_condition_and_a_message(settings: dict[str, Any], always: bool) -> None:
    assert breakpoint_on(1, **settings).always_stops is always
