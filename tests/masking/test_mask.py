"""Secrets are masked wherever they are in a text, and nothing else is."""

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.masking.samples import DIGITS, GITHUB, HARMLESS, HEX, JWT, LETTERS, SECRETS, pem, word
from trio_debugmcp.masking.mask import findings, mask_in, masked, masked_beginning, masked_value, may_hold_secret
from trio_debugmcp.masking.rules import rules


def mask(label: str, secret: str) -> str:
    return f"<{label}, {len(secret)} characters>"


@pytest.mark.parametrize(("label", "secret"), SECRETS)
def test_each_form_is_masked_whole_by_its_label_and_its_length(label: str, secret: str) -> None:
    lines = "\n" * secret.count("\n")
    assert masked(secret) == mask(label, secret) + lines
    assert masked(f"before {secret} after") == f"before {mask(label, secret)}{lines} after"
    assert may_hold_secret(secret)
    for around in ("'{}'", '"{}"', "({})", "x={}", "a\n{}\nb", "\x1b[32m{}\x1b[0m", "\\n{}\\n", "?q={}&r=1", "<{}>"):
        shown = masked(around.format(secret))
        assert shown == around.format(mask(label, secret) + lines), around


def test_every_rule_has_a_sample() -> None:
    labels = {label for label, _ in SECRETS} | {"cut key", "password", "credentials", "secret"}
    assert {rule.label for rule in rules()} == labels


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert masked(text) == text
    assert masked_value("value", text) == text


@pytest.mark.parametrize("quoting", [repr, lambda text: repr(repr(text)), lambda key: repr({"a": [key]}), ascii])
def test_a_private_key_is_masked_in_a_repr(quoting: Callable[[object], str]) -> None:
    key = pem()
    assert masked(quoting(key)).count("<private key, ") == 1
    assert not any(line in masked(quoting(key)) for line in key.split("\n"))


def test_a_private_key_without_its_end_is_masked_to_where_it_is_cut() -> None:
    key = pem()[:200]
    assert masked(f"{key!r}… (+300 characters)").startswith("'<private key, ")
    assert key[100:140] not in masked(f"{key!r}… (+300 characters)")


def test_line_breaks_in_a_secret_stay_so_that_lines_keep_their_numbers() -> None:
    source = f"KEY = '''\n{pem()}\n'''\nprint(KEY)\n"
    assert len(masked(source).splitlines()) == len(source.splitlines())
    assert masked(source).splitlines()[-1] == "print(KEY)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcdefgh12", "Authorization: Bearer <credentials, 10 characters>"),
        ("authorization: Basic YW5uOnNlY3JldA==", "authorization: Basic <credentials, 16 characters>"),
        ("{'Authorization': 'token 0a1b2c3d4e'}", "{'Authorization': 'token <credentials, 10 characters>'}"),
        (f'{{\\"Authorization\\": \\"{16 * "a1"}\\"}}', f'{{\\"Authorization\\": \\"{16 * "a1"}\\"}}'),
        ('{\\"Authorization\\": \\"0a1b2c3d4e5f6a7b\\"}', '{\\"Authorization\\": \\"<credentials, 16 characters>\\"}'),
        ("postgres://ann:hunter2@db:5432/x", "postgres://ann:<password, 7 characters>@db:5432/x"),
        ("redis://:hunter2@cache", "redis://:<password, 7 characters>@cache"),
    ],
)
def test_credentials_in_headers_and_urls_are_masked(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert may_hold_secret(text)


RANDOM = [word(32, HEX), word(24), word(40, LETTERS + DIGITS + "+/"), word(20, LETTERS[26:] + DIGITS)]


@pytest.mark.parametrize("value", RANDOM)
@pytest.mark.parametrize(
    "text",
    [
        "API_TOKEN={}",
        "apiKey: '{}'",
        "{{'db_password': '{}', 'n': 1}}",
        "Config(secret_key='{}')",
        "os.environ['AWS_SECRET_ACCESS_KEY'] = b'{}'",
        '{{"client_secret": "{}"}}',
        "?access_token={}&x=1",
        "--passphrase={}",
    ],
)
def test_a_random_value_beside_the_name_of_a_secret_is_masked(text: str, value: str) -> None:
    assert masked(text.format(value)) == text.format(mask("secret", value))


@pytest.mark.parametrize("value", RANDOM)
def test_the_value_of_a_variable_is_masked_if_its_name_says_that_it_is_a_secret(value: str) -> None:
    for name in ("token", "self.api_key", "config['clientSecret']", "AWS_SECRET_ACCESS_KEY", "f'{password}'", "pwd"):
        assert masked_value(name, repr(value)) == f"'{mask('secret', value)}'", name
        assert masked_value(name, f"b'{value}'") == f"b'{mask('secret', value)}'"
        assert masked_value(name, f"'{value}'… (+8 characters)") == f"'{mask('secret', value)}'… (+8 characters)"
        assert masked_value(name, value) == mask("secret", value)
    for name in ("commit", "key", "cache_key", "token_id", "password_file", "tokenizer", "author", ""):
        assert masked_value(name, repr(value)) == repr(value), name


@pytest.mark.parametrize("value", RANDOM)
def test_a_message_made_of_a_secret_keeps_its_other_words(value: str) -> None:
    shown = f"the order 17 of ann-marie@example.org with {mask('secret', value)}, and {mask('secret', value)}"
    given = f"the order 17 of ann-marie@example.org with {value}, and {value}"
    assert masked_value("the order {n} of {who} with {client.api_key}, and {api_key!r}", given) == shown
    assert masked_value("the order {n} of {who} with {commit}", given) == given
    shown = f"['{mask('secret', value)}', 1, '{mask('GitHub token', GITHUB)}']"
    assert masked_value("[api_key, n]", f"['{value}', 1, '{GITHUB}']") == shown


@pytest.mark.parametrize(
    "value", ["True", "False", "None", "40", "3.14", "''", "'short'", "['a', 'b']", "'a b c d e f g h'"]
)
def test_comparisons_numbers_and_short_values_stay_under_any_name(value: str) -> None:
    assert masked_value("token == password", value) == value


def test_a_value_in_the_form_of_a_key_is_masked_under_any_name_by_its_own_label() -> None:
    assert masked_value("x", repr(GITHUB)) == masked_value("token", repr(GITHUB)) == f"'{mask('GitHub token', GITHUB)}'"


def test_a_key_is_masked_where_a_value_was_cut() -> None:
    for cut in (GITHUB[:20], JWT[:40]):
        shown = masked(f"'{cut}'… (+80 characters)")
        assert shown == f"'{mask('cut key', cut)}'… (+80 characters)"


@pytest.mark.parametrize("end", ["", "'", '"', "@", "@'", '\\"', "@\\'"])
@pytest.mark.parametrize("password", ["S3c", "S3cretPassw0rd", "S3cretPassw0rdVeryLong99887766", 200 * "x"])
def test_the_password_of_a_url_is_masked_where_a_value_was_cut(password: str, end: str) -> None:
    shown = f"…postgres://ann:{mask('password', password)}{end}… (+32 characters)"
    assert masked(f"…postgres://ann:{password}{end}… (+32 characters)") == shown
    assert masked(shown) == shown


def test_a_text_is_masked_before_it_is_cut() -> None:
    text = f"url=https://example.org key={GITHUB} and more"
    assert "ghp_" in text[:48]
    assert "ghp_" not in masked_beginning(text, 48)
    assert masked_beginning("123456", 6) == "123456"
    assert masked_beginning("1234567", 6) == "12345…"


def test_a_port_or_a_path_where_a_value_was_cut_is_not_a_password() -> None:
    for text in ("http://localhost:8080'… (+7 characters)", "http://ann:8080/items… (+7 characters)", "x://a: … (+1"):
        assert masked(text) == text


def test_neighbours_are_masked_each_by_itself() -> None:
    assert masked(f"{GITHUB} {JWT}") == f"{mask('GitHub token', GITHUB)} {mask('JSON Web Token', JWT)}"
    assert masked(f"{pem()}{GITHUB}").count("<") == 2


def test_a_secret_within_another_one_is_part_of_it() -> None:
    text = f"Authorization: Bearer {JWT}"
    assert [each.label for each in findings(text)] == ["JSON Web Token"]
    assert findings(f"https://ann:{GITHUB}@host/")[0].label in {"GitHub token", "password"}
    assert GITHUB[8:] not in masked(f"https://ann:{GITHUB}@host/")


def test_a_longer_secret_around_another_one_is_masked_to_its_own_end() -> None:
    assert masked(f"https://ann:{GITHUB}!rest@host/") == "https://ann:<GitHub token, 45 characters>@host/"


def test_a_key_that_is_longer_than_its_form_asks_for_is_masked_whole() -> None:
    assert masked(f"{GITHUB}{GITHUB[4:14]}, then") == "<GitHub token, 50 characters>, then"


def test_within_a_word_no_key_begins() -> None:
    assert masked(f"ab{GITHUB}") == f"ab{GITHUB}"


def test_a_mask_is_recognized() -> None:
    assert mask_in(f"token == '{mask('GitHub token', GITHUB)}'") == mask("GitHub token", GITHUB)
    assert mask_in("<Foo object at 0x1>, <b, 3 characters>") is None


pieces = st.one_of(
    st.sampled_from([secret for _, secret in SECRETS] + HARMLESS),
    st.sampled_from(["token=", "'", '"', "\\n", "\n", " ", "://", ":", "@", "Authorization: ", "…", "<", ">", "="]),
    st.text(max_size=20),
)


@given(st.lists(pieces, max_size=6).map("".join))
@example("ghp_" + 36 * "a1" + "\n" + pem()[:100])
def test_what_is_masked_stays_as_it_is(text: str) -> None:
    once = masked(text)
    assert masked(once) == once


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ABC.,;()[]{}'\"\n0123456789=_-", max_size=400))
def test_text_without_secrets_comes_back_unchanged(text: str) -> None:
    if not any(each in text.lower() for each in ("key", "auth", "token", "secret", "pass", "pwd", "credential")):
        assert masked(text) == text


def test_a_long_output_is_searched_in_a_moment() -> None:
    text = "".join(f"{at}: request {at} took {at * 3} ms in /usr/lib/python3/x.py:{at}\n" for at in range(300))[:16384]
    masked(text)
    best = min(_seconds(text) for _ in range(20))
    assert best < 0.005  # a quarter of a millisecond, unless the machine is busy


@pytest.mark.parametrize(
    "unit", ["token", "a", "eyJ", "://a:", "-----BEGIN PRIVATE KEY-----", "1", "secret=", "AKIA", "\\"]
)
def test_no_text_takes_long(unit: str) -> None:
    text = (unit * 20000)[:20000]
    assert _seconds(text) < 1


def _seconds(text: str) -> float:
    start = time.process_time()
    masked(text)
    return time.process_time() - start


def test_the_items_of_a_list_are_masked_each_by_itself() -> None:
    key, other = "9f86d081884c7d659a2feaa0c55ad015", "60303ae22b998861bce3b28f33eec1be"
    mask = "<secret, 32 characters>"
    assert masked_value("secrets", f"['{key}']") == f"['{mask}']"
    assert masked_value("secrets", f"['{key}', '{other}']") == f"['{mask}', '{mask}']"
    assert masked_value("secrets", f"({key},)") == f"({mask},)"
    assert masked_value("secrets", f"{{'{key}'}}") == f"{{'{mask}'}}"
    assert masked_value("api_key", f"'[{key}'") == "'<secret, 33 characters>'"


@pytest.mark.parametrize(
    "text",
    [
        "{{'X-Api-Key': '{}'}}",
        "{{'signing-key': '{}'}}",
        "{{'signing_key': '{}'}}",
        "bearer = '{}'",
        '{{"bearer": "{}"}}',
        "run.py --api-token {}",
        "run.py --db-password  '{}' --verbose",
        '{{"name": "bearer", "value": "\'{}\'"}}',
        '\\"name\\": \\"api_key\\", \\"value\\": \\"\'{}\'\\"',
    ],
)
def test_a_value_beside_the_name_of_a_secret_is_masked_however_it_is_spelled(text: str) -> None:
    secret = word(32, HEX)
    assert masked(text.format(secret)) == text.format("<secret, 32 characters>")


@pytest.mark.parametrize(
    "key", ["4121334048043088a1088780aeaac781", "55f655722055272dcae54245cccfe394", "9111271561c3818ee108156dade41661"]
)
def test_a_key_in_hexadecimal_digits_is_masked_however_few_of_these_it_has(key: str) -> None:
    assert masked(f"{{'signing-key': '{key}'}}") == "{'signing-key': '<secret, 32 characters>'}"
    assert masked("{'signing-key': '" + "00112233" * 4 + "'}") == "{'signing-key': '" + "00112233" * 4 + "'}"


@pytest.mark.parametrize(
    "text", ["run.py --key-file {}", "{{'X-Request-Id': '{}'}}", '{{"name": "digest", "value": "{}"}}']
)
def test_a_value_beside_another_name_stays(text: str) -> None:
    secret = word(32, HEX)
    assert masked(text.format(secret)) == text.format(secret)


@pytest.mark.parametrize("cut", ["…", "\\u2026", "\\\\u2026"])
def test_a_key_that_was_cut_is_masked_also_where_the_cut_is_escaped(cut: str) -> None:
    assert masked(f"'ghp_{word(26)}'{cut}") == f"'<cut key, 30 characters>'{cut}"
