"""A secret is replaced in every spelling, and what is left is valid JSON."""

# ruff: noqa: RUF001

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trio_debugmcp.recording.spellings import PART_LENGTH, Secrets

MARK = "[redacted]"


def replaced(text: str, *secrets: str) -> str:
    """The text after the replacement in a JSON string that holds it."""
    found = Secrets()
    for secret in secrets:
        found.add(secret)
    return str(json.loads(found.replace(json.dumps(text, ensure_ascii=False).encode(), MARK.encode())))


@pytest.mark.parametrize(
    ("secret", "text", "kept"),
    [
        ("hunter22", "it is hunter22, hunter22!", f"it is {MARK}, {MARK}!"),
        ('s"3\\cret', 's"3\\cret', MARK),
        ("a\nb'c\"dé", repr("a\nb'c\"dé"), f"'{MARK}'"),
        ("a\nb'c\"dé", ascii("a\nb'c\"dé"), f"'{MARK}'"),
        ("gehé im", json.dumps({"x": json.dumps("gehé im")}), f'{{"x": "\\"{MARK}\\""}}'),
        ("schlüssel", "schlüssel".encode().decode("latin-1"), MARK),
        ("p@ss w/rd", "https://h/?p=p%40ss%20w%2Frd&x", f"https://h/?p={MARK}&x"),
        # Parts of a long one.
        ("0123456789abcdefghij", "0123456789abcdefX", f"{MARK}X"),
        ("0123456789abcdefghij", "0123456789abcdeX", "0123456789abcdeX"),
        ("0123456789abcdefghij", "X456789abcdefghij", f"X{MARK}"),
        ("0123456789abcdef\nABCDEFGHIJKLMNOPQ\n", "> ABCDEFGHIJKLMNOPQ <", f"> {MARK} <"),
        ("0123456789abcdef\nABC\n", "> ABC <", "> ABC <"),
        ("0123456789abcdefABCDEFGHIJKLMNOPghijklmnopqrstuv", "xABCDEFGHIJKLMNOPx", f"x{MARK}x"),
        ("0123456789abcdefABCDEFGHIJKLMNOPghijklmnopqrstuv", "x9abcdefABCDEFGHIJKLMNOPghijx", f"x{MARK}x"),
        # Cut in the midst of a character's bytes.
        ("0123456789abcdefЖелезо", "0123456789abcdefЗ", MARK),
        ("пароль-для-базы-очень-длинный", "пароль-для-базы-очень-дгинный", f"{MARK}инный"),
        ("секретный-ключ-от-дома", "Зретный-ключ-от-дома", f"З{MARK}"),
        ("Ж0123456789abcdef", "З0123456789abcdef", f"З{MARK}"),
        # Cut where an escape sequence begins: the backslash belongs to what follows.
        ("0123456789abcdef\nend", "0123456789abcdef\tx", f"{MARK}\tx"),
        ("0123456789abcdef\nend", "0123456789abcdef\\", f"{MARK}\\"),
        ('0123456789abcdef"end', '0123456789abcdef', MARK),
        # The secret begins with what looks like the end of an escape sequence.
        ("nothing", "one\nnothing", f"one\n{MARK}"),
        ("nothing", "one\nothing", f"one{MARK}"),
        ("00e9secret", "é00e9secret", f"é{MARK}"),
    ],
)  # fmt: skip
def test_a_secret_is_replaced_in_this_text(secret: str, text: str, kept: str) -> None:
    assert replaced(text, secret) == kept


def test_beginnings_that_two_secrets_share_are_extended_along_the_right_one() -> None:
    one, other = "-----BEGIN KEY-----" + "A" * 40, "-----BEGIN KEY-----" + "B" * 40
    assert replaced(f"{one} and {other}", one, other) == f"{MARK} and {MARK}"


LETTERS = st.text(st.sampled_from("\\\"'unx09aeAéèЖЗ🔑\n\t b"), max_size=24)


@given(LETTERS.filter(lambda text: len(text) >= 6), LETTERS, LETTERS, st.integers(0, 24), st.integers(0, 3))
@example('n"aaaaaaaaaaaaaaaaaaaa', "\\", "", 0, 0)
@example("u00e9aaaaaaaaaaaaaaa", "é", "", 1, 1)
def test_whatever_surrounds_it_the_line_stays_json_and_the_secret_goes(
    secret: str, before: str, after: str, cut: int, nested: int
) -> None:
    found = Secrets()
    found.add(secret)
    value = before + secret[cut if cut < len(secret) else 0 :] + after + secret + secret[:cut]
    for _ in range(nested):
        value = json.dumps({"x": value}, ensure_ascii=False)
    for ascii_ in (False, True):
        line = found.replace(json.dumps({"text": value}, ensure_ascii=ascii_).encode(), MARK.encode())
        assert secret not in json.loads(line)["text"]


def test_a_part_is_as_long_as_is_said() -> None:
    secret = "".join(chr(0x61 + at % 26) + str(at % 10) for at in range(40))
    assert replaced(secret[:PART_LENGTH], secret) == MARK
    assert replaced(secret[: PART_LENGTH - 1], secret) == secret[: PART_LENGTH - 1]
    for at in range(len(secret) - 2 * PART_LENGTH + 1):
        assert replaced(f"<{secret[at : at + 2 * PART_LENGTH - 1]}>", secret) == f"<{MARK}>"
