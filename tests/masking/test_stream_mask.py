"""Secrets in text that arrives in pieces."""

import pytest

from tests.masking.samples import GITHUB, pem
from trio_debugmcp.masking.stream_mask import MAX_CONTEXT, MAX_OPEN, StreamMasker

MASK = "<GitHub token, 40 characters>"


@pytest.mark.parametrize("at", [1, 3, 4, 20, 39])
def test_a_secret_in_two_pieces_is_masked_where_it_begins(at: int) -> None:
    assert StreamMasker().feed([f"a {GITHUB[:at]}", f"{GITHUB[at:]} b\n"]) == [f"a {MASK}", " b\n"]


def test_of_a_secret_whose_beginning_has_been_read_the_rest_is_masked() -> None:
    masker = StreamMasker()
    assert masker.feed([f"a {GITHUB[:9]}"]) == [f"a {GITHUB[:9]}"]
    assert masker.feed([GITHUB[9:20]]) == ["<cut key, 20 characters>"]
    assert masker.feed([f"{GITHUB[20:]} b\n"]) == [f"{MASK} b\n"]
    assert masker.feed(["c\n", "", "d\n"]) == ["c\n", "", "d\n"]


def test_a_secret_in_three_pieces_has_one_mask() -> None:
    assert StreamMasker().feed([GITHUB[:10], GITHUB[10:30], GITHUB[30:]]) == [MASK, "", ""]


def test_lines_do_not_run_into_each_other() -> None:
    masker = StreamMasker()
    masker.feed([GITHUB[:20] + "\n"])
    assert masker.feed([GITHUB[20:] + "\n"]) == [GITHUB[20:] + "\n"]


def test_a_private_key_is_masked_line_by_line_to_its_end() -> None:
    masker, key = StreamMasker(), pem() + "\n"
    shown = [text for line in key.splitlines(keepends=True) for text in masker.feed([line])]
    assert not any(line in "".join(shown) for line in key.split("\n")[1:-2])
    assert masker.feed(["after\n"]) == ["after\n"]


def test_what_is_remembered_is_bounded() -> None:
    masker = StreamMasker()
    for _ in range(10):
        masker.feed(["x" * MAX_CONTEXT])
    assert repr(masker) == f"<StreamMasker after {MAX_CONTEXT} characters>"
    masker.feed(["\n-----BEGIN PRIVATE KEY-----\n"])
    for lines in range(1, 5):
        masker.feed([63 * "A" + "\n" for _ in range(64)])
        assert repr(masker) == f"<StreamMasker after {min(28 + lines * 4096, MAX_OPEN)} characters>"
