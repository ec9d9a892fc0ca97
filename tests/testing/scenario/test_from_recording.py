"""A recording becomes a scenario: messages become lines, what clients received becomes expectations."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.probe.bootstrap import call_expression
from trio_debugmcp.recording.format import FORMAT
from trio_debugmcp.testing import decode_scenario, play_all, retime
from trio_debugmcp.testing.scenario.from_recording import scenario_of
from trio_debugmcp.testing.scenario.script_lines import BadScenario, Scenario
from trio_debugmcp.testing.scenario.script_text import encode_scenario

RECORDING = Path(__file__).parents[2] / "data" / "recordings" / "till.jsonl"
HEADER = {"format": FORMAT, "version": 1, "debounce": 0.3, "maxWait": 0.9, "linger": 60.0, "tools": "full"}


def recorded(*entries: dict[str, Any], **header: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in [{**HEADER, **header}, *entries])


def converted(*entries: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines after the setting."""
    text = encode_scenario(scenario_of(recorded(*entries), "x"))
    return [json.loads(line) for line in text.splitlines()][1:]


def came(client: str = "c-1", t: float = 0.0, era: str = "handshake") -> dict[str, Any]:
    return {"edge": "client", "t": t, "client": client, "transport": "stdio", "role": "control", "era": era}


def mcp(t: float, direction: str, client: str = "c-1", **message: Any) -> dict[str, Any]:
    return {"edge": "mcp", "t": t, "client": client, "dir": direction, "msg": {"jsonrpc": "2.0", **message}}


def dap(t: float, direction: str, **message: Any) -> dict[str, Any]:
    return {"edge": "adapter", "t": t, "session": "s-1", "dir": direction, "msg": message}


def test_a_recorded_session_of_a_real_adapter_plays_as_it_was_recorded() -> None:
    scenario = retime(scenario_of(RECORDING.read_bytes(), "till"))
    assert scenario.setting.profile == "debugpy"
    assert {step.line.who for step in scenario.steps if hasattr(step.line, "who")} == {"agent", "program"}
    updates = [step for step in scenario.steps if getattr(step.line, "uris", None) and step.line.at]
    assert len(updates) > 40
    for _ in range(2):
        for report in play_all(decode_scenario(encode_scenario(scenario))):
            assert report.ok, str(report)


def test_a_torn_last_line_is_left_out() -> None:
    whole = RECORDING.read_bytes()
    assert scenario_of(whole[:-40], "x").steps == scenario_of(whole, "x").steps


@pytest.mark.parametrize(
    ("recording", "says"),
    [
        (b"", "its first line is not the header of a recording"),
        (b'{"scenario": "x"}\n', "its first line is not the header of a recording"),
        (b"\xff\n", "line 1 is not of a recording"),
        (recorded() + b"{]\n" + recorded(), "line 2 is not of a recording"),
        (recorded({"edge": "adapter", "t": 1}), "an entry is not as in a recording: KeyError"),
        (recorded(mcp(1, "in", method="tools/call")), "an entry is not as in a recording: KeyError"),
    ],
)
def test_a_file_that_is_not_a_recording_is_refused_with_the_reason(recording: bytes, says: str) -> None:
    with pytest.raises(BadScenario) as bad:
        scenario_of(recording, "x")
    assert says in str(bad.value)


def test_an_answer_line_precedes_the_line_that_caused_the_request() -> None:
    lines = converted(
        came(),
        mcp(1.0, "in", id=5, method="tools/call", params={"name": "debug_step", "arguments": {}}),
        dap(1.001, "out", type="request", seq=7, command="next", arguments={}),
        dap(1.003, "in", type="response", seq=1, request_seq=7, command="next", success=True),
        dap(1.004, "in", type="event", seq=2, event="stopped", body={"reason": "step", "threadId": 1}),
        dap(1.005, "out", type="request", seq=8, command="threads", arguments={}),
        dap(1.006, "in", type="response", seq=3, request_seq=8, command="threads", success=False, message="busy"),
        dap(1.007, "out", type="request", seq=9, command="stackTrace", arguments={}),
    )
    answers = [(line["command"], line.get("delay"), line.get("refuse"), line.get("never")) for line in lines[:3]]
    assert answers == [("next", 0.002, None, None), ("threads", 0.001, "busy", None), ("stackTrace", None, None, True)]
    assert [line["at"] for line in lines] == [1.0, 1.0, 1.0, 1.0, 1.004]
    assert all(line["once"] is True for line in lines[:3])
    assert lines[3] == {"at": 1.0, "client": "call", "tool": "debug_step", "as": "5"}
    assert lines[4]["event"] == "stopped"


def test_notifications_and_answers_of_clients_become_expectations() -> None:
    lines = converted(
        came(),
        mcp(1, "in", id=1, method="resources/subscribe", params={"uri": "debugger://session"}),
        mcp(2, "in", id=2, method="tools/call", params={"name": "debug_wait", "arguments": {"timeout": 1}}),
        mcp(3, "out", id=2, result={"structuredContent": {"state": "Running", "timedOut": True, "notes": []}}),
        mcp(4, "in", id=3, method="tools/call", params={"name": "debug_pause"}),
        mcp(5, "out", id=3, result={"isError": True, "content": [{"text": '{"error": {"code": "NO_SESSION"}}'}]}),
        mcp(6, "in", id=4, method="resources/read", params={"uri": "debugger://session"}),
        mcp(7, "out", id=4, error={"code": -32002, "message": "no"}),
        mcp(8, "out", method="notifications/resources/updated", params={"uri": "debugger://session"}),
        mcp(9, "out", method="notifications/resources/list_changed"),
        mcp(10, "in", id=5, method="resources/unsubscribe", params={"uri": "debugger://session"}),
        {"edge": "clientEnd", "t": 11, "client": "c-1"},
    )
    assert lines == [
        {"at": 1.0, "client": "subscribe", "uris": ["debugger://session"]},
        {"at": 2.0, "client": "call", "tool": "debug_wait", "with": {"timeout": 1}, "as": "2"},
        {"at": 3.0, "expect": "answer", "of": "2", "has": {"state": "Running", "timedOut": True}},
        {"at": 4.0, "client": "call", "tool": "debug_pause", "as": "3"},
        {"at": 5.0, "expect": "error", "of": "3", "code": "NO_SESSION"},
        {"at": 6.0, "client": "read", "uri": "debugger://session", "as": "4"},
        {"at": 7.0, "expect": "error", "of": "4", "code": "NOT_FOUND"},
        {"at": 8.0, "expect": "updated", "uris": ["debugger://session"]},
        {"at": 9.0, "expect": "list_changed"},
        {"at": 10.0, "client": "unsubscribe", "uris": ["debugger://session"]},
        {"at": 11.0, "client": "leave"},
    ]


def test_a_second_client_of_the_modern_era_connects_listens_and_cancels() -> None:
    lines = converted(
        came(),
        came("c-2", 1, "modern"),
        mcp(
            2,
            "in",
            "c-2",
            id=1,
            method="subscriptions/listen",
            params={"notifications": {"resourceSubscriptions": ["debugger://stack"]}},
        ),
        mcp(3, "in", "c-2", id=2, method="tools/call", params={"name": "debug_wait"}),
        mcp(4, "in", "c-2", method="notifications/cancelled", params={"requestId": 2}),
        mcp(5, "in", "c-2", method="notifications/cancelled", params={"requestId": 1}),
    )
    assert [(line["at"], line["client"], line["who"]) for line in lines] == [
        (1.0, "connect", "c-2"),
        (2.0, "subscribe", "c-2"),
        (3.0, "call", "c-2"),
        (4.0, "cancel", "c-2"),
        (5.0, "unsubscribe", "c-2"),
    ]


def test_output_garbage_children_and_the_end_of_a_connection_are_lines_of_the_adapter() -> None:
    child = {"session": "s-2", "adapter": "debugpy", "start": "child", "parent": "s-1"}
    lines = converted(
        {"edge": "session", "t": 0, "session": "s-1", "adapter": "debugpy", "start": "launch", "target": "/src/a.py"},
        {"edge": "output", "t": 1, "session": "s-1", "pid": 1, "stream": "stderr", "text": "x\n"},
        {"edge": "output", "t": 1, "session": "s-1", "pid": 1, "stream": "stderr"},
        {"edge": "session", "t": 2, **child},
        {
            "edge": "adapter",
            "t": 2.5,
            "session": "s-2",
            "dir": "out",
            "msg": {"type": "request", "seq": 1, "command": "attach"},
        },
        {"edge": "garbage", "t": 3, "session": "s-2", "text": "Oops"},
        {"edge": "hangUp", "t": 4, "session": "s-1", "stderr": ""},
    )
    assert lines == [
        {"at": 1.0, "adapter": "output", "text": "x\n", "stream": "stderr"},
        {"at": 2.0, "adapter": "answer", "who": "s-2", "command": "attach", "once": True, "never": True},
        {"at": 2.0, "adapter": "child", "name": "s-2", "request": "attach"},
        {"at": 3.0, "adapter": "raw", "who": "s-2", "text": "Oops"},
        {"at": 4.0, "adapter": "crash"},
    ]


@pytest.mark.parametrize("code", [0, 3, -9])
@pytest.mark.parametrize(
    "ends",
    [
        [dap(2.1, "in", type="event", seq=2, event="terminated"), {"edge": "hangUp", "t": 2.2, "session": "s-1"}],
        [{"edge": "hangUp", "t": 2.1, "session": "s-1"}],
    ],
)
def test_the_exit_that_only_the_server_saw_becomes_an_event_before_the_end(
    ends: list[dict[str, Any]], code: int
) -> None:
    exit_ = {"edge": "exit", "t": 2.0, "session": "s-1", "pid": 1, "exitCode": code}
    exited = {"at": 2.1, "adapter": "event", "event": "exited", "body": {"exitCode": code}}
    plain = converted(*ends)
    assert converted(exit_, *ends) == [exited, *plain]
    assert converted(*ends, {**exit_, "t": 2.3}) == [exited, *plain]  # the server may see it after the adapter's end


def test_an_exit_that_the_adapter_reports_or_that_ends_nothing_adds_no_line() -> None:
    exit_ = {"edge": "exit", "t": 2.0, "session": "s-1", "pid": 1, "exitCode": 1}
    reported = dap(2.1, "in", type="event", seq=1, event="exited", body={"exitCode": 5})
    terminated = dap(2.2, "in", type="event", seq=2, event="terminated")
    assert converted(exit_, reported, terminated) == converted(reported, terminated)
    assert converted({**exit_, "session": "s-2"}, terminated) == converted(terminated)
    assert converted(exit_) == []


@pytest.mark.parametrize(("over", "delay"), [(2.55, 0.55), (2.005, 0.01), (None, 0.01)])
def test_a_disconnect_is_answered_when_the_session_was_over(over: float | None, delay: float) -> None:
    lines = converted(
        came(),
        mcp(2.0, "in", id=5, method="tools/call", params={"name": "debug_disconnect", "arguments": {}}),
        dap(2.0, "out", type="request", seq=7, command="disconnect", arguments={}),
        dap(2.001, "out", type="request", seq=8, command="threads", arguments={}),
        dap(2.002, "in", type="response", seq=2, request_seq=8, command="threads", success=True),
        dap(2.01, "in", type="response", seq=1, request_seq=7, command="disconnect", success=True),
        *([] if over is None else [{"edge": "sessionEnd", "t": over, "session": "s-1"}]),
    )
    assert [(line["command"], line["delay"]) for line in lines[:2]] == [("disconnect", delay), ("threads", 0.001)]


def test_paths_beside_the_program_move_to_the_scenarios_directory_and_others_stay() -> None:
    scenario = scenario_of(
        recorded(
            {
                "edge": "session",
                "t": 0,
                "session": "s-1",
                "adapter": "debugpy",
                "start": "launch",
                "target": "/src/a.py",
            },
            {"edge": "look", "t": 0, "question": "source /src/lib/b.py", "answer": "b = 1\n"},
            {"edge": "look", "t": 0, "question": "source /usr/src/c.py", "answer": "c = 1\n"},
            dap(1, "in", type="event", seq=1, event="output", body={"output": "/src/a.py /usr/src/c.py /srcs /src"}),
            debounce=0.1,
            patience=10.0,
        ),
        "x",
    )
    setting = scenario.setting
    assert (setting.program, setting.files) == ("$DIR/a.py", {"lib/b.py": "b = 1\n", "a.py": ""})
    assert (setting.profile, setting.quiet, setting.max_wait, setting.linger) == ("debugpy", 0.1, 0.9, 60.0)
    assert setting.patience == 10.0
    assert scenario.steps[0].line.body["output"] == "$DIR/a.py /usr/src/c.py /srcs $DIR"  # type: ignore[attr-defined]


def test_retiming_takes_a_time_that_is_near_and_keeps_that_of_what_does_not_arrive() -> None:
    scenario = decode_scenario("""
        {"scenario": "x", "begin": "running"}
        {"client": "subscribe", "uris": ["output"]}
        {"at": 1, "adapter": "output", "text": "x"}
        {"at": 1.31, "expect": "updated", "uris": ["output"]}
        {"at": 2, "client": "call", "tool": "debug_state", "as": "a"}
        {"at": 2.004, "expect": "answer", "of": "a"}
        {"at": 5, "expect": "updated", "uris": ["session"]}
    """)
    sharp = retime(scenario)
    assert [step.line.at for step in sharp.steps] == [None, 1.0, 1.3, 2.0, 2.0, 5.0]
    assert [number for report in play_all(sharp) for number, _ in report.differences] == [7, 7]


@given(st.binary(max_size=200))
def test_any_bytes_after_the_header_give_a_scenario_or_an_error_with_the_reason(rest: bytes) -> None:
    try:
        scenario = scenario_of(recorded() + rest, "x")
    except BadScenario:
        return
    assert isinstance(scenario, Scenario)


WORDS = st.sampled_from(["edge", "adapter", "mcp", "client", "session", "t", "msg", "dir", "in", "out", "type", "c-1"])
VALUES = st.recursive(
    st.none() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(WORDS, VALUES, max_size=6), max_size=4))
def test_any_entries_give_a_scenario_or_an_error_with_the_reason(entries: list[dict[str, Any]]) -> None:
    try:
        scenario = scenario_of(recorded(*entries), "x")
    except BadScenario:
        return
    assert isinstance(scenario, Scenario)


def test_a_program_answers_to_the_probe_if_it_did_in_the_recording() -> None:
    opened = {"edge": "session", "t": 0, "session": "s-1", "adapter": "debugpy"}

    def asked(expression: str) -> bool:
        question = dap(1, "out", type="request", seq=7, command="evaluate", arguments={"expression": expression})
        return scenario_of(recorded(opened, question), "x").setting.probe

    assert asked(call_expression("stop", thread=1))
    assert not asked("1 + 1")
