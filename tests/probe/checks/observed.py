import json
import threading
import time
from typing import Any, Dict, List, Optional

from tests.probe.checks import about_a_bound
from tests.probe.checks.tracepoints import judged, recording
from trio_debugmcp.probe.inside import bounds, observed, record_connection


def place(id_: str, most: int = 1, *, guard: Optional[str] = None, **wanted: Any) -> List[Any]:
    return [id_, 1, guard, None, None, most, {"key": "run-1", "together": 100, "stops": True, **wanted}]


def texts(records: List[List[Any]]) -> List[Any]:
    return [[*each[:2], each[3], json.loads(each[4]) if each[4] else ""] for each in records]


def check_hits_are_captured_with_their_types_and_what_fails_is_said() -> None:
    listener, _ = recording("31")

    class Basket:
        def __init__(self) -> None:
            self.owner = "ben"

    basket = Basket()
    spec = place("r-1", 2, capture=["x", "nope", "basket", "[x for _ in range(2)]", "1 +"])
    assert [judged(spec, x=x, basket=basket) for x in range(4)] == [False] * 4
    first, second = texts(listener.records())
    error = first[3][1].pop()
    assert error[0].startswith("<error: SyntaxError")
    assert first == ["capture", "r-1", 1, [1, [
        ["0", None], ["<error: NameError: name 'nope' is not defined>", None], ["Basket(owner='ben')", None],
        ["[0, 0]", None],
    ]]]  # fmt: skip
    assert second[2:] == [2, [2, second[3][1]]]


def check_a_condition_that_does_not_hold_is_counted_and_one_that_fails_is_said() -> None:
    listener, _ = recording("32")
    spec = place("r-1", 2, condition="limit / x > 1")
    assert not any(judged(spec, x=x, limit=2) for x in (0, 2, 1))
    assert texts(listener.records()) == [
        ["look", "r-1", 1, ["", 1, "ZeroDivisionError: division by zero"]],
        ["look", "r-1", 2, ["", 1, ""]],
        ["capture", "r-1", 1, [3, []]],
    ]


def check_the_hit_that_completes_a_run_stops_and_nothing_counts_after_it() -> None:
    listener, line = recording("33")
    specs = [place("r-1", 9, together=3, capture=["x"]), place("r-2", 9, together=3, condition="x > 0")]
    assert [judged(*specs, x=x) for x in range(4)] == [False, True, False, False]
    assert [each[:2] for each in listener.records()] == [
        *(["capture", "r-1"], ["look", "r-2"], ["capture", "r-1"], ["capture", "r-2"], ["stop", "r-2"]),
    ]
    assert line.sent["run-1", 0] == 3
    quiet = place("r-3", 1, key="run-2", together=1, stops=False)
    assert not judged(quiet, x=1)
    assert [each[0] for each in listener.records()] == ["capture"]


def check_a_run_until_something_holds_has_its_values_and_stops_at_a_first_look_that_fails() -> None:
    listener, _ = recording("34")
    looks: List[Any] = [0, [], "", None, 5]
    until: Dict[str, Any] = {"together": 1, "until": True}
    assert [judged(place("r-1", condition="x", **until), x=x) for x in looks] == [False] * 4 + [True]
    records = texts(listener.records())
    assert [each[3][0] for each in records[:4]] == ["0", "[]", "''", "None"]
    assert [each[0] for each in records[4:]] == ["capture", "stop"]
    assert judged(place("r-2", condition="nope", key="run-2", **until))
    assert [each[:2] for each in listener.records()] == [["look", "r-2"], ["stop", "r-2"]]
    later = place("r-3", condition="1 / x > 3", key="run-3", **until)
    assert [judged(later, x=x) for x in (1, 0, 0.1)] == [False, False, True]


def check_the_frame_of_a_comprehension_is_not_looked_at() -> None:
    listener, _ = recording("35")
    assert [judged(place("r-1", 2, guard="x > 1"), x=x) for x in (1, 2)] == [False, False]
    assert [each[:4] for each in listener.records()] == [["capture", "r-1", 1, 1]]


@about_a_bound
def check_what_does_not_end_is_given_up_and_the_rest_is_captured() -> None:
    listener, _ = recording("36")
    names = {"endless": endless}
    spec = place("r-1", 2, capture=["endless()", "x"])
    begin = time.process_time()
    bounds.be_patient(20)  # half a second as usual, and then more time to take an interrupt and for the rest
    usual, bounds.SLOW_SECONDS = bounds.SLOW_SECONDS, bounds.SLOW_SECONDS / 20
    try:
        assert [judged(spec, x=x, **names) for x in range(2)] == [False, False]
    finally:
        bounds.SLOW_SECONDS = usual
    assert time.process_time() - begin < 10 * observed.HIT_SECONDS
    (_, first), (_, second) = [each[3] for each in texts(listener.records())]
    assert first == [["<error: it took over 0.5 s>", None], ["0", None]]
    assert second == [["<error: not evaluated again: it took over 0.5 s>", None], ["1", None]]


def check_a_condition_that_does_not_end_is_interrupted_when_the_run_is_over() -> None:
    listener, _ = recording("37")
    stops: Dict[str, bool] = {}

    def program() -> None:
        stops["endless"] = judged(place("r-1", condition="endless()"), endless=endless)
        stops["after"] = judged(place("r-2", condition="True", key="run-2"), x=1)

    thread = threading.Thread(target=program)
    thread.start()
    deadline = time.monotonic() + 100
    while not observed._running and time.monotonic() < deadline:
        time.sleep(0.01)
    while thread.is_alive() and time.monotonic() < deadline:
        observed.interrupt_all()
        thread.join(0.1)
    assert stops == {"endless": False, "after": False}
    looked, captured = texts(listener.records())
    assert looked == ["look", "r-1", 1, ["", 1, "it did not end before the run was over"]]
    assert captured[0] == "capture"
    assert observed.interrupt_all() == 0
    assert observed._running == {}
    assert bounds.slow(int) is None


def endless() -> None:
    while True:
        pass


def check_without_a_debugger_nothing_is_evaluated() -> None:
    _, line = recording("38")
    line.close()
    seen: List[int] = []
    assert not judged(place("r-1", condition="seen.append(1)"), seen=seen)
    assert seen == []
    assert record_connection.line() is line
