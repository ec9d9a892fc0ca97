import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.probe import answers
from trio_debugmcp.probe.answers import ProbeError, ProbeStacks, ProbeStop, ProbeThreads, ProbeVariables, Tasks, decode
from trio_debugmcp.probe.inside.questions import call


def test_answers_of_the_probe_decode() -> None:
    kept = [1, 2]
    stop = decode(call("stop", "{}"), ProbeStop)
    assert stop.answer.frames[0].function
    assert stop.answer.threads_total >= 1
    assert any(thread.state == "unknown" and thread.at is not None for thread in stop.answer.threads)
    variables = decode(call("variables", '{"path": "[1, (2, 3)]", "depth": 2}'), ProbeVariables)
    assert variables.answer.variables[1].children[0].path == "[1, (2, 3)][1][0]"
    assert decode(call("threads", "{}"), ProbeThreads).ms > 0
    assert decode(call("stacks", '{"locals": true}'), ProbeStacks).answer.stacks[0].frames[0].locals
    assert decode(call("tasks", "{}"), Tasks).answer.total >= 0
    assert kept == [1, 2]


def test_no_result_means_that_the_probe_is_absent() -> None:
    with pytest.raises(ProbeError) as caught:
        decode("", ProbeStop)
    assert caught.value.kind == "absent"


def test_an_error_has_its_kind() -> None:
    with pytest.raises(ProbeError, match=r"There is no thread 5\.") as caught:
        decode(call("frames", '{"thread": 5}'), ProbeStop)
    assert caught.value.kind == "thread"


def test_unknown_fields_are_ignored_and_missing_ones_are_not() -> None:
    assert decode('{"answer": {"threads": [], "total": 3, "new": 1}, "more": {}}', ProbeThreads).answer.total == 3
    with pytest.raises(ProbeError) as caught:
        decode('{"answer": {"total": 3}}', ProbeThreads)
    assert caught.value.kind == "invalid"


@pytest.mark.parametrize("depth", ["-1", "1e300", "1.5", str(10**30)])
def test_an_amount_that_cannot_be_one_is_a_probe_error(depth: str) -> None:
    task = f'{{"library": "trio", "id": 1, "name": "ben", "state": "ready", "depth": {depth}}}'
    with pytest.raises(ProbeError, match=r"cannot be read.*depth"):
        decode(f'{{"answer": {{"tasks": [{task}], "total": 1}}}}', Tasks)


def test_a_long_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_BYTES", 100)
    with pytest.raises(ProbeError, match="101 characters"):
        decode(" " * 101, ProbeThreads)


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_any_text_is_an_answer_or_a_probe_error(text: str) -> None:
    with suppress(ProbeError):
        decode(text, Tasks)


def test_deep_nesting_is_a_probe_error() -> None:
    with pytest.raises(ProbeError):
        decode('{"answer":' * 100_000, Tasks)
