"""Strings as a record has them: whole, or up to some length."""

import pytest

from trio_debugmcp.runs.slicing.recorded_contents import UNSEEN, string_of


@pytest.mark.parametrize(
    ("text", "string"),
    [
        ("'plum'", "plum"),
        ("'plu… (6 characters)", "plu" + 3 * UNSEEN),
        ("'plu\\n… (1,000 characters)", "plu\n" + 996 * UNSEEN),
        ("\"it's… (9 characters)", "it's" + 5 * UNSEEN),
        ("'plu\\… (6 characters)", "plu" + 3 * UNSEEN),
        ("'plu\\x0… (6 characters)", "plu" + 3 * UNSEEN),
        ("12", None),
        ("<Plum>", None),
        ("[1, 2]", None),
    ],
)
def test_the_rest_of_a_long_string_is_not_seen(text: str, string: str | None) -> None:
    assert string_of(text) == string
