"""What has changed since a chat saw the same call of the program."""

from typing import Any

from trio_debugmcp.server.answers.moment import Moment
from trio_debugmcp.server.answers.seen import SeenLocals


def moment(number: int, session: str = "s-1", next_seq: int = 1, began: float = 5.5) -> str:
    return str(Moment(session, began, number, next_seq))


def stop(
    at: str = "shop.py:4 in visit", stack: tuple[str, ...] = ("main",), thread: int = 1, **values: str
) -> dict[str, Any]:
    """A stop as data, in that frame above these, with these locals."""
    place, _, function = at.partition(" in ")
    file, _, line = place.partition(":")
    return {
        "location": {"file": file, "line": int(line), "functionName": function},
        "totalFrames": 1 + len(stack),
        "threadId": thread,
        "locals": [{"name": name, "value": value} for name, value in values.items()],
    }


def test_a_local_is_compared_with_the_last_stop_in_the_same_call() -> None:
    seen = SeenLocals()
    assert seen.changed(moment(1), stop(a="1", b="2", gone="0")) == {}
    assert seen.changed(moment(2), stop("shop.py:5 in visit", a="1", b="3", c="4")) == {
        "b": "2",
        "c": None,
    }
    assert seen.changed(moment(3), stop("shop.py:6 in visit", a="1", b="3", c="4")) == {}


def test_the_same_stop_shown_again_has_the_same_marks() -> None:
    seen = SeenLocals()
    seen.changed(moment(1), stop(a="1"))
    for next_seq in (1, 7):
        assert seen.changed(moment(2, next_seq=next_seq), stop(a="2")) == {"a": "1"}


def test_a_caller_is_compared_with_what_it_was_before_its_call() -> None:
    seen = SeenLocals()
    seen.changed(moment(1), stop("shop.py:9 in main", ("<module> :20",), paid="0"))
    seen.changed(moment(2), stop("shop.py:4 in visit", ("main :9", "<module> :20"), a="1"))
    back = stop("shop.py:10 in main", ("<module> :20",), paid="7")
    assert seen.changed(moment(3), back) == {"paid": "0"}


def test_another_call_of_the_same_function_is_not_compared() -> None:
    seen = SeenLocals()
    seen.changed(moment(1), stop(a="1"))
    seen.changed(moment(2), stop("shop.py:9 in main", (), paid="0"))
    assert seen.changed(moment(3), stop(a="2")) == {}  # the first one has returned
    deeper = stop(stack=("visit :4", "main :9"), a="3")
    assert seen.changed(moment(4), deeper) == {}  # it has called itself
    cut = stop(stack=("main",) * 8, a="4")
    assert seen.changed(moment(5), cut) == {}


def test_threads_and_sessions_are_kept_apart() -> None:
    seen = SeenLocals()
    seen.changed(moment(1), stop(a="1"))
    assert seen.changed(moment(2), stop(a="2", thread=2)) == {}
    assert seen.changed(moment(3, session="s-2"), stop(a="3")) == {}
    assert seen.changed(moment(4, began=6.5), stop(a="4")) == {}
    assert seen.changed(moment(5), stop(a="5")) == {"a": "1"}


def test_a_deep_recursion_does_not_grow_without_end() -> None:
    seen = SeenLocals()
    for depth in range(200):
        seen.changed(moment(depth), stop(stack=("visit :4",) * depth, a=str(depth)))
    assert repr(seen) == "<SeenLocals of 50 calls>"


def test_another_text_is_not_taken_for_a_moment() -> None:
    for text in ("", "s-1", "s-1 x 1 1", "s-1 1.5 1", "s-1 1.5 1 1 1", "s-1 1.5 one 1"):
        assert Moment.parsed(text) is None
    assert Moment.parsed(moment(3)) == Moment("s-1", 5.5, 3, 1)
