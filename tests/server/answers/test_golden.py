"""The answers of the tools, byte for byte: each kind has a file in tests/data/answers.

To renew the files after a change of the answers, and then to read what `git diff` says of it:

    RENEW_ANSWERS=1 python -m pytest tests/server/answers/test_golden.py

"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from tests.server.answers.scenes import SCENES, answers_of

GOLDEN = Path(__file__).parents[2] / "data" / "answers"

VALUES = {"locals", "show", "source", "stdout", "stderr", "log", "console", "returned"}
"""What a stop shows of the program: as long as the program has it."""

MAX_STOP_BYTES = 600

both = pytest.mark.parametrize("play", SCENES, ids=lambda play: play.__name__)


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text())


@both
async def test_every_answer_is_the_one_that_is_on_file(play: Any, tmp_path: Path, autojump_clock: MockClock) -> None:
    found = await answers_of(play, tmp_path)
    if os.environ.get("RENEW_ANSWERS"):
        for name, text in found.items():
            (GOLDEN / f"{name}.json").write_text(f"{text}\n")
    kept = {name: (GOLDEN / f"{name}.json").read_text().rstrip("\n") for name in found}
    assert found == kept
    absolute = {name for name, text in found.items() if "$DIR" in text}
    assert absolute <= {"error"}, "places below the server are relative to it"


@both
async def test_no_answer_has_a_key_without_news(play: Any, tmp_path: Path, autojump_clock: MockClock) -> None:
    lists = {"breakpoints", "variables", "entries", "events", "locals"}
    for name, text in (await answers_of(play, tmp_path)).items():
        empty = {key for key, value in json.loads(text).items() if value in (None, False, "", [], {})}
        assert empty <= lists, name


def test_the_last_events_are_lines() -> None:
    assert golden("timeline_query")["events"] == [
        "75 stopped Step shop.py:16 in visit",
        "82 sessionEnded exit code 3: the program ended",
    ]


def test_every_file_is_an_answer_of_a_scene_and_compact() -> None:
    for file in {*GOLDEN.glob("*.json")} - {GOLDEN / "error.json"}:
        text = file.read_text()
        assert text == json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False) + "\n", file.name
    assert len([*GOLDEN.glob("*.json")]) >= 30


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_a_stop_is_short_beside_the_values_and_the_output(file: Path) -> None:
    answer = json.loads(file.read_text())
    if "state" in answer and answer.get("reason") in ("Breakpoint", "Step", "Entry", "Exited"):
        rest = {key: value for key, value in answer.items() if key not in VALUES}
        assert len(json.dumps(rest, separators=(",", ":")).encode()) <= MAX_STOP_BYTES


def test_the_shortest_answers_are_short() -> None:
    assert (GOLDEN / "evaluate.json").read_text() == '{"value":"1"}\n'
    assert (GOLDEN / "debug_disconnect.json").read_text() == '{"ended":true}\n'
    whole = len((GOLDEN / "debug_continue.json").read_text().encode())
    assert whole <= MAX_STOP_BYTES + 100, "a whole stop at a breakpoint, with three values, output and source"


def test_the_stop_at_a_breakpoint_has_all_that_is_needed_next() -> None:
    stop = golden("debug_continue")
    assert (stop["state"], stop["reason"], stop["breakpoints"]) == ("Paused", "Breakpoint", ["bp-1"])
    assert stop["at"] == "shop.py:15 in visit"
    assert stop["stack"] == ["main :20", "<module> :24"]
    assert stop["locals"] == {"count": "1", "basket": "Basket(owner='ben', lines=[2 items])", "name": "'ben' (Name)"}
    assert stop["source"].splitlines()[2].startswith("15> ")
    assert stop["stdout"] == "ann pays 11\n"
    assert stop["show"]["len(basket.lines)"] == "2"
    assert stop["show"]["nothing"].startswith("<")
