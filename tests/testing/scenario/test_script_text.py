"""Decoding a scenario file: errors name the file, the line and what is allowed; no text makes it crash."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.testing.scenario.script_lines import WORDS, BadScenario, Call, Scenario, SendEvent
from trio_debugmcp.testing.scenario.script_text import decode_scenario, encode_scenario, filled

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SETTING = '{"scenario": "x"}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "f.jsonl: it is empty; the first line is the setting"),
        ("\n\n[]", "f.jsonl:3: a line is a JSON object"),
        ("{", "f.jsonl:1: not JSON"),
        ('{"client": "leave"}', "f.jsonl:1: the key `scenario` belongs to the first line"),
        ('{"scenario": "x", "frame": []}', "f.jsonl:1: the setting has no key `frame`; there are `scenario`, `proves`"),
        ('{"scenario": "x", "era": "old"}', "f.jsonl:1: the setting: Invalid enum value 'old' - at `$.era`"),
        ('{"scenario": "x", "files": {"../x": ""}}', "f.jsonl:1: `files` are paths below $DIR, not '../x'"),
        ('{"scenario": "x", "files": {"/etc/x": ""}}', "f.jsonl:1: `files` are paths below $DIR, not '/etc/x'"),
        (f'{SETTING}\n{{"adapter": "crash", "times": 1000000}}', "Expected `int` <= 100000 - at `$.times`"),
        (f"{SETTING}\n{SETTING}", "f.jsonl:2: the key `scenario` belongs to the first line"),
        (
            f'{SETTING}\n\n{{"at": 1}}',
            "f.jsonl:3: a line has exactly one of the keys `adapter`, `client`, `expect`; it has `at`",
        ),
        (f'{SETTING}\n{{"client": "leave", "expect": "nothing"}}', "f.jsonl:2: a line has exactly one of the keys"),
        (f'{SETTING}\n{{"client": "sing"}}', "f.jsonl:2: `client` is one of `connect`, `subscribe`"),
        (f'{SETTING}\n{{"client": ["leave"]}}', "f.jsonl:2: `client` is one of"),
        (
            f'{SETTING}\n{{"client": "read", "urii": "session"}}',
            '"client": "read" has no key `urii`; there are `client`, `at`, `after`, `note`, `who`, `uri`, `as`',
        ),
        (f'{SETTING}\n{{"client": "read"}}', '"client": "read": Object missing required field `uri`'),
        (f'{SETTING}\n{{"client": "read", "uri": 3}}', "Expected `str`, got `int` - at `$.uri`"),
        (f'{SETTING}\n{{"at": 1, "after": 1, "client": "read", "uri": "x"}}', "`at` and `after` exclude each other"),
        (
            f'{SETTING}\n{{"client": "leave", "who": "bob"}}',
            "f.jsonl:2: there is no client `bob` yet; there are `agent`",
        ),
        (f'{SETTING}\n{{"adapter": "exit", "who": "kid"}}', "there is no adapter `kid` yet; there are `program`"),
        (
            f'{SETTING}\n{{"adapter": "exit", "who": "kid"}}\n{{"adapter": "child", "name": "kid"}}',
            "f.jsonl:2: there is no adapter `kid` yet; there are `program`",
        ),
        (f'{SETTING}\n{{"expect": "answer"}}', "f.jsonl:2: there is no call yet; there are none"),
        (
            f'{SETTING}\n{{"client": "launch", "as": "go"}}\n{{"client": "cancel", "of": "stop"}}',
            "f.jsonl:3: there is no call `stop` yet; there are `go`",
        ),
    ],
)
def test_an_error_names_the_line_and_what_is_allowed_there(text: str, says: str) -> None:
    with pytest.raises(BadScenario) as bad:
        decode_scenario(text, "f.jsonl")
    assert says in str(bad.value)
    assert str(bad.value).startswith("f.jsonl:")


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.jsonl")), ids=lambda file: file.stem)
def test_a_scenario_that_is_encoded_and_decoded_is_the_same(file: Path) -> None:
    scenario = decode_scenario(file.read_text())
    again = decode_scenario(encode_scenario(scenario))
    assert again.setting == scenario.setting
    assert [step.line for step in again.steps] == [step.line for step in scenario.steps]


def test_placeholders_are_filled_wherever_a_string_has_them() -> None:
    call = Call(tool="x", arguments={"file": "$DIR/a", "more": [{"$DIR": "$N"}], "line": "$N"})
    assert filled(call, DIR="/tmp/d", N=3).arguments == {"file": "/tmp/d/a", "more": [{"/tmp/d": 3}], "line": 3}
    assert filled(SendEvent(event="e", body={"text": "number $N"}), N=2).body == {"text": "number 2"}


WORDS_AND_KEYS = st.sampled_from(
    [*WORDS, *(word for words in WORDS.values() for word in words), "at", "uri", "uris", "who", "has", "scenario"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | WORDS_AND_KEYS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | WORDS_AND_KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


def reads_as_a_scenario(text: str) -> bool:
    """Or else there is a sentence."""
    try:
        return isinstance(decode_scenario(text, "f.jsonl"), Scenario)
    except BadScenario as bad:
        return str(bad).startswith("f.jsonl:")


@given(st.lists(st.dictionaries(WORDS_AND_KEYS, VALUES, max_size=5), max_size=5))
def test_any_lines_are_a_scenario_or_an_error_with_the_reason(lines: list[dict[str, object]]) -> None:
    assert reads_as_a_scenario("\n".join([SETTING, *(json.dumps(line) for line in lines)]))


@given(st.text())
def test_any_text_is_a_scenario_or_an_error_with_the_reason(text: str) -> None:
    assert reads_as_a_scenario(text)
