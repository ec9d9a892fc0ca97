"""The tape: the messages of a recorded adapter, for a client that behaves much like the recorded one."""

from typing import Any

from trio_debugmcp.probe.bootstrap import attribute, call_expression
from trio_debugmcp.replay.recorded_questions import TapedMessage
from trio_debugmcp.replay.tape import Due, Tape, tapes


def asks(t: float, seq: int, command: str, **arguments: Any) -> tuple[str, TapedMessage]:
    message = {"seq": seq, "type": "request", "command": command, "arguments": arguments}
    return "a", TapedMessage(t, "client", message)


def answers(t: float, seq: int, command: str, body: Any = None) -> tuple[str, TapedMessage]:
    message = {"type": "response", "request_seq": seq, "command": command, "success": True, "body": body}
    return "a", TapedMessage(t, "adapter", message)


def says(t: float, event: str, **body: Any) -> tuple[str, TapedMessage]:
    return "a", TapedMessage(t, "adapter", {"type": "event", "event": event, "body": body})


def elsewhere(line: tuple[str, TapedMessage]) -> tuple[str, TapedMessage]:
    return "b", line[1]


def request(seq: int, command: str, **arguments: Any) -> dict[str, Any]:
    return {"seq": seq, "type": "request", "command": command, "arguments": arguments}


def heard(due: tuple[Due, ...]) -> list[tuple[float, str]]:
    """When, and what in a word."""
    return [
        (round(each.delay, 6), "" if each.message is None else each.message.get("event") or each.message["command"])
        for each in due
    ]


HANDSHAKE = [
    asks(1.0, 1, "initialize"),
    answers(1.5, 1, "initialize"),
    asks(2.0, 2, "launch"),
    says(2.25, "initialized"),
    asks(3.0, 3, "setBreakpoints", source={"path": "/a.py"}, breakpoints=[{"line": 3}]),
    answers(3.5, 3, "setBreakpoints", "bound"),
    asks(4.0, 4, "configurationDone"),
    answers(4.5, 4, "configurationDone"),
    answers(4.75, 2, "launch"),
    says(5.0, "stopped", threadId=1),
    asks(6.0, 5, "stackTrace", threadId=1),
    answers(6.5, 5, "stackTrace", "first"),
    asks(7.0, 6, "next", threadId=1),
    answers(7.5, 6, "next"),
    says(8.0, "stopped", threadId=1),
    asks(9.0, 7, "stackTrace", threadId=1),
    answers(9.5, 7, "stackTrace", "second"),
]


def tape(*lines: tuple[str, TapedMessage]) -> Tape:
    return tapes(lines)["a"]


def started() -> Tape:
    """At its first stop."""
    made = tape(*HANDSHAKE)
    for seq, command in enumerate(["initialize", "launch", "configurationDone"], 11):
        for each in made.take(request(seq, command)).due:
            assert each.message is not None
            made.sent(each.message)
    return made


def test_what_follows_a_move_has_the_recorded_delay_and_the_seq_of_the_new_request() -> None:
    made = tape(*HANDSHAKE)
    assert heard(made.take(request(11, "initialize")).due) == [(0.5, "initialize")]
    assert heard(made.take(request(12, "launch")).due) == [(0.25, "initialized")]
    due = made.take(request(13, "configurationDone")).due
    assert heard(due) == [(0.5, "configurationDone"), (0.75, "launch"), (1.0, "stopped")]
    assert [each.message["request_seq"] for each in due[:2] if each.message is not None] == [13, 12]


def test_a_question_gets_the_answer_recorded_at_the_same_stop() -> None:
    made = started()
    (answer,) = made.take(request(20, "stackTrace", threadId=1, levels=99)).due
    assert answer.message is not None
    assert (answer.delay, answer.message["body"], answer.message["request_seq"]) == (0.5, "first", 20)
    for each in made.take(request(21, "next")).due:
        assert each.message is not None
        made.sent(each.message)
    (answer,) = made.take(request(22, "stackTrace", threadId=1)).due
    assert answer.message is not None
    assert answer.message["body"] == "second"


def test_the_same_question_may_be_asked_again() -> None:
    made = started()
    assert [made.take(request(seq, "stackTrace", threadId=1)).due[0].delay for seq in (20, 21)] == [0.5, 0.5]


def test_a_lasting_question_is_answered_at_any_place_if_its_subject_is_the_same() -> None:
    made = started()
    same = request(20, "setBreakpoints", source={"path": "/a.py"}, breakpoints=[{"line": 3, "column": None}])
    other = request(21, "setBreakpoints", source={"path": "/a.py"}, breakpoints=[{"line": 4}])
    assert [each.take(same).due[0].message["success"] for each in (made,)] == [True]  # type: ignore[index]
    refused = made.take(other).due[0].message
    assert refused is not None
    assert refused["message"] == (
        "the recording does not hold these breakpoints: the recorded session did not ask for it here"
    )


def test_a_move_that_was_not_recorded_is_refused_with_the_one_that_was() -> None:
    (refused,) = started().take(request(20, "continue")).due
    assert refused.message is not None
    assert refused.message["success"] is False
    assert refused.message["message"] == (
        "the recording does not hold debug_continue: the recorded session continues with debug_step here"
    )


def test_a_question_that_was_never_answered_is_not_answered() -> None:
    made = tape(asks(1, 1, "initialize"), answers(1, 1, "initialize"), asks(2, 2, "threads"))
    made.take(request(1, "initialize"))
    assert made.take(request(2, "threads")).due == ()


def test_an_early_disconnect_is_answered_and_the_adapter_hangs_up() -> None:
    reply = started().take(request(20, "disconnect"))
    assert reply.move is not None
    assert heard(reply.due) == [(0.0, "disconnect"), (0.0, "")]


def test_a_disconnect_gets_the_recorded_answer() -> None:
    made = tape(*HANDSHAKE, asks(20.0, 8, "disconnect"), says(21.0, "terminated"), answers(22.0, 8, "disconnect"))
    made.take(request(11, "initialize"))
    assert heard(made.take(request(12, "disconnect")).due) == [(1.0, "terminated"), (2.0, "disconnect")]
    assert made.over


def test_a_recorded_hang_up_is_repeated() -> None:
    lines = [asks(1, 1, "initialize"), answers(1, 1, "initialize"), asks(2, 2, "launch"), asks(9, 3, "disconnect")]
    made = tapes(lines, {"a": 5.0})["a"]
    assert heard(made.take(request(1, "initialize")).due) == [(0.0, "initialize")]
    assert heard(made.take(request(2, "launch")).due) == [(3.0, "")]


def test_a_move_that_the_recorded_server_did_not_come_to_finds_a_closed_connection() -> None:
    lines = [asks(1, 1, "initialize"), answers(1, 1, "initialize"), asks(2, 2, "attach")]
    made = tapes(lines, {"a": 5.0})["a"]
    made.take(request(1, "initialize"))
    (refused,) = made.take(request(2, "configurationDone")).due
    assert refused.message is not None  # as long as there are recorded moves
    made.take(request(2, "attach"))
    assert heard(made.take(request(3, "configurationDone")).due) == [(0.0, "")]


def test_a_message_that_followed_a_move_on_another_connection_waits_for_that_move() -> None:
    lines = [
        asks(1, 1, "initialize"),
        answers(2, 1, "initialize"),
        elsewhere(asks(3, 1, "initialize")),
        says(4, "terminated"),
    ]
    both = tapes(lines)
    answer, end = both["a"].take(request(1, "initialize")).due
    assert (answer.delay, end.delay) == (1, 1)
    assert answer.after is not None
    assert end.after is not None
    assert (answer.after.connection, end.after.connection) == ("a", "b")
    assert both["b"].take(request(1, "initialize")).move == end.after


def test_messages_before_the_first_request_are_sent_at_once() -> None:
    made = tape(says(0.5, "output"), asks(1, 1, "initialize"))
    assert [each.message["event"] for each in made.opening() if each.message is not None] == ["output"]


def test_the_answer_to_a_reverse_request_moves_the_tape_on() -> None:
    wanted = TapedMessage(2.0, "adapter", {"seq": 9, "type": "request", "command": "startDebugging", "arguments": {}})
    given = TapedMessage(3.0, "client", {"seq": 2, "type": "response", "request_seq": 9, "command": "startDebugging"})
    made = tape(asks(1, 1, "initialize"), ("a", wanted), ("a", given), says(4.0, "output"))
    assert heard(made.take(request(1, "initialize")).due) == [(1.0, "startDebugging")]
    assert heard(made.take({"type": "response", "request_seq": 9}).due) == [(1.0, "output")]
    assert made.over


def test_a_question_to_the_probe_is_the_same_to_that_of_another_version() -> None:
    asked = call_expression("stop", thread=1, frames=20, code=False)
    recorded = asked.replace(attribute(), "_trio_debugmcp_0123456789abcdef")
    told = tape(
        asks(1.0, 1, "threads"), asks(2.0, 2, "evaluate", expression=recorded), answers(2.5, 2, "evaluate", "stop")
    )
    (due,) = told.take(request(4, "evaluate", expression=asked)).due
    assert due.message is not None
    assert (due.delay, due.message["success"]) == (0.5, True)
    (refused,) = told.take(request(5, "evaluate", expression=call_expression("threads"))).due
    assert refused.message is not None
    assert refused.message["success"] is False
