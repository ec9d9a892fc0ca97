"""The stop in an answer that is about something else does not repeat what the last answer said."""

from trio_debugmcp.server.answers.said_before import AS_BEFORE, LastStops, without_repeats
from trio_debugmcp.server.answers.stop_answer import StopAnswer

LONG = "Net(nodes={'a': [1, 2, 3], 'b': [4, 5]}, edges={})"


def stop(at: str = "shop.py:7 in pay", session: str = "s-1", **values: str) -> StopAnswer:
    source, moment = "7> pay()", f"{session} 1795712499.3 4 1"
    return StopAnswer(state="Paused", at=at, stack=["main :9"], locals=values, source=source, moment=moment)


def test_what_the_last_answer_said_is_not_said_again_beside_something_else() -> None:
    last = LastStops()
    first = stop(net=LONG, n="1")
    assert last.shown("me", first) is first
    shown = last.shown("me", stop(net=LONG, n="1", other=LONG), beside=True)
    assert shown.locals == {"net": AS_BEFORE, "n": "1", "other": LONG}
    assert (shown.source, shown.stack, shown.at) == (None, [], "shop.py:7 in pay")
    elsewhere = last.shown("me", stop("shop.py:8 in pay", net=LONG), beside=True)
    assert (elsewhere.locals, elsewhere.source, elsewhere.stack) == ({"net": AS_BEFORE}, "7> pay()", ["main :9"])


def test_a_stop_is_shown_whole_by_a_tool_that_moves_to_others_and_of_other_functions_and_sessions() -> None:
    last = LastStops()
    last.shown("me", stop(net=LONG))
    for reader, again, beside in [
        ("another", stop(net=LONG), True),
        ("me", stop(net=LONG), False),
        ("me", stop("shop.py:7 in total", net=LONG), True),
        ("me", stop("shop.py:7 in total", "s-2", net=LONG), True),
        ("me", StopAnswer(state="Running"), True),
        ("me", stop("shop.py:7 in total", "s-2", net=LONG), True),
    ]:
        assert last.shown(reader, again, beside=beside) is again


def test_short_values_and_those_of_other_names_are_said_again() -> None:
    assert without_repeats({"a": LONG, "b": LONG, "c": "1"}, {"a": LONG, "c": "1"}) == {
        "a": AS_BEFORE, "b": LONG, "c": "1",
    }  # fmt: skip
