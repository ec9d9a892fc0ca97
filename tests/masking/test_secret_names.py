"""Names of secrets, and values that look random."""

import pytest

from tests.masking.samples import HEX, word
from trio_debugmcp.masking.secret_names import looks_random, names_secret


@pytest.mark.parametrize(
    "value",
    [
        "x.aB.cDe.fGh.iJk.lM",
        "1234-5678-9012-3456-a",
        9 * "a1",
        "a1b2c3d4e5f6a7b",
        "/a1/b2/c3/d4/e5/f6",
        "a1b2c3d4 e5f6a7b8",
    ],
)
def test_names_numbers_patterns_paths_and_short_values_do_not_look_random(value: str) -> None:
    assert not looks_random(value)


def test_what_was_drawn_at_random_looks_so() -> None:
    assert sum(looks_random(word(32)) for _ in range(1000)) >= 975
    assert sum(looks_random(word(32, HEX)) for _ in range(1000)) >= 965


@pytest.mark.parametrize(
    "name", ["", "key", "keys", "monkey", "tokenize", "author", "secret_id", "primary_key", "pwd_file"]
)
def test_names_that_only_resemble_those_of_secrets_do_not_count(name: str) -> None:
    assert not names_secret(name)
