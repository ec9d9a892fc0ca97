"""Scenario and recording files with any content: see files.py."""

import json
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz import files, inputs
from tests.fuzz.running import whole_server
from trio_debugmcp.testing.scenario.script_lines import WORDS, Setting

WHOLE = [path.read_bytes() for path in sorted(files.SCENARIOS.glob("*.jsonl"))]
RECORDED = [path.read_bytes().splitlines() for path in sorted((files.DATA / "recordings").glob("*.jsonl"))]

SETTINGS = inputs.near_struct(Setting).map(
    lambda setting: {"scenario": "x", **setting} if isinstance(setting, dict) else setting
)


def lines_of(speaker: str) -> st.SearchStrategy[object]:
    """Lines of one speaker that nearly fit."""
    return st.sampled_from(sorted(WORDS[speaker].items())).flatmap(
        lambda word: inputs.near_struct(word[1]).map(
            lambda line: {speaker: word[0], **line} if isinstance(line, dict) else line
        )
    )


MAX_LINES = 150
"""Lines of a recording that are used: they reach its second stop, and are played quickly."""

LINES = st.one_of([lines_of(speaker) for speaker in WORDS])


@st.composite
def scenarios(draw: st.DrawFn) -> bytes:
    """Lines that nearly fit, or a good file with some of its lines changed."""
    if draw(st.booleans()):
        lines = [inputs.encoded(draw(SETTINGS)), *(inputs.encoded(draw(LINES)) for _ in range(draw(st.integers(0, 5))))]
        return b"\n".join(lines)
    lines = draw(st.sampled_from(WHOLE)).splitlines()
    return b"\n".join(draw(changed_lines(lines)))


@st.composite
def playable(draw: st.DrawFn) -> bytes:
    """A good scenario whose lines come in another order, or more or less often."""
    setting, *lines = draw(st.sampled_from(WHOLE)).splitlines()
    return b"\n".join([setting, *draw(changed_lines(lines, ORDER))])


ORDER = ("lose", "double", "exchange")
ANYTHING = (*ORDER, "cut", "change", "change")


@st.composite
def changed_lines(draw: st.DrawFn, lines: list[bytes], ways: Sequence[str] = ANYTHING) -> list[bytes]:
    """Lines lost, doubled, exchanged, cut, or with one of their values put in another's place."""
    lines = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        if not lines:
            break
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(ways)):
            case "lose":
                del lines[at]
            case "double":
                lines.insert(draw(st.integers(0, len(lines))), lines[at])
            case "exchange":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case _:
                lines[at] = changed_value(draw, lines[at])
    return lines


def changed_value(draw: st.DrawFn, line: bytes) -> bytes:
    """Replace one member of the line."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    if not isinstance(value, dict) or not value:
        return line
    key = draw(st.sampled_from(sorted(value)))
    inside = value[key]
    if isinstance(inside, dict) and inside and draw(st.booleans()):
        value[key] = {**inside, draw(st.sampled_from(sorted(inside))): draw(inputs.JSON)}
    else:
        value[key] = draw(inputs.JSON)
    return inputs.encoded(value)


@st.composite
def recordings(draw: st.DrawFn) -> bytes:
    """A good recording, or the beginning of one, with some of its lines changed."""
    lines = draw(st.sampled_from(RECORDED))
    lines = lines[: draw(st.integers(1, MAX_LINES))]
    return b"\n".join([lines[0], *draw(changed_lines(lines[1:]))])


@given(scenarios() | st.binary(max_size=30))
@example(inputs.deep(100_000))
@example(b"")
def test_any_text_is_refused_or_a_scenario_that_is_written_as_it_was_read(data: bytes) -> None:
    files.scenario(data)


@whole_server
@given(playable() | scenarios())
def test_any_scenario_that_can_be_read_can_be_played(data: bytes) -> None:
    files.played(data)


@given(recordings() | st.binary(max_size=30) | st.lists(inputs.JSON.map(inputs.encoded)).map(b"\n".join))
@example(inputs.deep(100_000))
@example(b"")
def test_any_bytes_are_refused_or_a_recording(data: bytes) -> None:
    files.recording(data)


@whole_server
@given(recordings())
def test_any_recording_that_can_be_read_can_be_served_and_opens_no_source_of_this_machine(data: bytes) -> None:
    files.replayed(data)
