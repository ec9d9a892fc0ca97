"""Evaluations for users: their values, what they print, and what they must not do."""

import builtins
import io
import json
import operator
import sys
import threading
import time
from typing import Any, Dict
from unittest import mock

from trio_debugmcp.probe.inside import c_api, evaluation, frame_names, intercepts, questions
from trio_debugmcp.probe.inside.debugger import attached, by_pydevd


def ask(question: str, **asked: Any) -> Dict[str, Any]:
    reply: Dict[str, Any] = json.loads(questions.call(question, json.dumps(asked)))
    return reply


def ended(number: int, source: str) -> Dict[str, Any]:
    answer = ask("start", number=number, source=source)["answer"]
    end = time.monotonic() + 100
    while not answer["done"] and time.monotonic() < end:
        time.sleep(0.01)
        answer = ask("outcome", number=number)["answer"]
    return dict(answer)


def check_values_are_of_the_last_expression() -> None:
    found = ended(1, "added = [1, 2]\nadded")
    assert (found["hasValue"], found["value"], found["type"], found["childCount"]) == (True, "[1, 2]", "list", 2)
    assert not ended(2, "more = 3")["hasValue"]
    assert ended(3, "import asyncio\nawait asyncio.sleep(0.01)\nmore")["value"] == "3"
    assert ask("outcome", number=3)["error"]["kind"] == "evaluation"


class Basket:
    def __init__(self) -> None:
        self.owner = "ben"
        self.lines = [Line(), Line()]


class Line:
    def __init__(self) -> None:
        self.product = "tea"


class Named(Basket):
    def __repr__(self) -> str:
        return "named"


def check_objects_without_a_repr_show_their_fields_at_a_stop_and_while_the_program_runs() -> None:
    shown = {
        "Basket()": "Basket(owner='ben', lines=[Line(product='tea'), Line(product='tea')])",
        "Basket().lines": "[Line(product='tea'), Line(product='tea')]",
        "dict(a=Line())": "{'a': Line(product='tea')}",
        "[Named(), 1]": "[named, 1]",
        "Named()": "named",
        "'text'": "'text'",
    }
    for expression, text in shown.items():
        source = f"from {__name__} import Basket, Line, Named; {expression}"
        assert ended(30, source)["value"] == text
        eval(f"here(31, 200, {source!r})", {"here": evaluation.here})
        own = ask("outcome", number=31)["answer"].get("value")
        assert own == (None if expression == "Named()" else text), "a repr is run once"


def check_names_of_the_frame_are_used_and_set() -> None:
    names = {"count": 3, "here": evaluation.here}
    assert eval("here(4, 200, 'count += 1; [count for _ in range(2)]')", names) == [4, 4]
    assert names["count"] == 4
    assert eval("here(5, 200, 'import asyncio; await asyncio.sleep(0.01, count)')", names) == 4


def check_failures_are_short() -> None:
    found = ended(6, "1 +")
    assert found["error"].startswith("SyntaxError: ")
    assert found["trace"].startswith('  File "<evaluate>", line 1\n    1 +\n')
    assert found["error"] not in found["trace"]
    assert len(found["trace"]) < 300
    assert ended(6, "1 / 0")["trace"] == "", "the error has been said, and the rest is known"
    found = ended(7, "def f(): return 1 / 0\nf()")
    assert found["error"] == "ZeroDivisionError: division by zero"
    assert "probe" not in found["trace"]
    assert found["trace"].splitlines()[-1].strip().startswith('File "<evaluate>", line 1, in f')
    assert found["error"] not in found["trace"]


def check_exits_are_caught_and_standard_input_stays_open() -> None:
    kept_input, sys.stdin = sys.stdin, io.StringIO("text")
    quitter: Any = type(getattr(builtins, "exit", None))
    original = quitter.__call__
    try:
        assert ended(8, "exit(7)")["exit"] == "7"
        assert ended(9, "raise SystemExit")["exit"] == "None"
        assert not sys.stdin.closed
        assert quitter.__call__ is original
    finally:
        sys.stdin = kept_input


def check_what_is_printed_is_noted_and_the_streams_are_as_before() -> None:
    kept, sys.stdout = sys.stdout, io.StringIO()
    try:
        found = ended(10, "print('one'); print('two')")
        assert (found["printed"], sys.stdout.getvalue()) == ("one\ntwo\n", "one\ntwo\n")
        assert "write" not in vars(sys.stdout)
        longest = ended(11, f"print('x' * {2 * intercepts.MOST_PRINTED})")["printed"]
        assert len(longest) == intercepts.MOST_PRINTED
    finally:
        sys.stdout = kept


def check_streams_are_as_before_when_evaluations_overlap_and_end_in_any_order() -> None:
    before = [vars(each).get("write") for each in (sys.stdout, sys.stderr)]
    one, other = intercepts.ThreadOutput([0]), intercepts.ThreadOutput([0])
    one.open()
    other.open()
    one.close()
    other.close()
    assert [vars(each).get("write") for each in (sys.stdout, sys.stderr)] == before


gate = threading.Event()


def check_others_do_not_print_into_an_evaluation() -> None:
    kept, sys.stdout = sys.stdout, io.StringIO()
    source = f"import sys; sys.modules[{__name__!r}].gate.wait(100); print('mine')"
    try:
        assert not ask("start", number=12, source=source)["answer"]["done"]
        sys.stdout.write("other")
        gate.set()
        found = ask("outcome", number=12)["answer"]
        while not found["done"]:
            time.sleep(0.01)
            found = ask("outcome", number=12)["answer"]
        assert found["printed"] == "mine\n"
    finally:
        sys.stdout = kept


def check_an_endless_one_is_interrupted() -> None:
    assert not ask("start", number=13, source="while True: pass")["answer"]["done"]
    end = time.monotonic() + 100
    while not ask("interrupt", number=13).get("answer", {"done": True})["done"]:  # as the server does
        assert time.monotonic() < end


def check_what_is_taken_back_never_runs() -> None:
    names: Dict[str, Any] = {"ran": [], "here": evaluation.here}
    assert ask("outcome", number=30, withdraw=True)["answer"] == {"done": True, "withdrawn": True}
    for number in range(40, 41 + evaluation.MOST_KEPT):
        evaluation.new(number, 200, "1")
    assert eval("here(30, 200, 'ran.append(1) or 1')", names) is None
    assert (names["ran"], evaluation.find(30)) == ([], None)
    assert eval("here(95, 200, 'ran.append(1) or 1')", names) == 1
    assert "withdrawn" not in ask("outcome", number=95, withdraw=True)["answer"]
    evaluation.new(95, 200, "1")
    assert eval("here(95, 200, 'ran.append(2) or 2')", names) == 2, "a number of a debugger that was attached before"


def check_few_are_kept() -> None:
    for number in range(100, 100 + 2 * evaluation.MOST_KEPT):
        evaluation.start(number, 200, "1")
    assert evaluation.find(100) is None
    assert evaluation.find(99 + 2 * evaluation.MOST_KEPT) is not None


def evaluate_expression(frame: Any, names: Dict[str, Any], initial_globals: Dict[str, Any], source: str) -> None:
    """As pydevd calls it: with a frame, its names put together, and a copy of them from before."""
    eval(source, names)


RATE, SPARE = 1, 2


def check_what_is_set_in_a_function_is_set_where_it_is() -> None:
    attached.attach(by_pydevd.ByPydevd())
    own, kept, gone = 5, 1, 2
    frame = sys._getframe()
    names = {**globals(), "own": own, "frame": frame}
    before = dict(names)

    def closure() -> int:
        return kept

    call = "evaluation.here(9070, 200, 'RATE += 1; own = 6; new = 7; kept += 1; del SPARE')"
    evaluate_expression(frame, names, before, call)
    assert ask("outcome", number=9070)["answer"].get("error") is None
    assert RATE == 2
    assert "SPARE" not in globals()
    assert names == before, "nothing is left for pydevd to write back"
    assert "new" not in globals()
    assert (own, kept, closure(), frame.f_locals["new"]) == (6, 2, 2, 7)
    evaluate_expression(frame, names, before, "evaluation.here(9071, 200, 'own += 1; fail')")
    assert own == 7, "what was set before the failure"
    evaluate_expression(frame, names, before, "evaluation.here(9072, 200, 'del gone')")
    error = ask("outcome", number=9072)["answer"].get("error")
    if sys.version_info >= (3, 12):
        assert error is not None
        assert error.startswith("NameError: 'gone' is a variable of the function")
        assert gone == 2
    else:
        assert error is None
        assert "gone" not in frame.f_locals


def check_what_is_set_or_deleted_stays_so_although_another_thread_looks_at_the_frame_meanwhile() -> None:
    total = gone = 1
    frame, write, looks = sys._getframe(), c_api.locals_to_fast, [operator.attrgetter("f_locals")] * 2

    def write_late(of: Any, clear: bool) -> None:
        if looks:
            looks.pop()(of)
        write(of, clear)

    with mock.patch.object(c_api, "locals_to_fast", write_late):
        frame_names.set_local(frame, "total", 5)
        assert total == 5
        if sys.version_info < (3, 12):
            looks += [operator.attrgetter("f_locals")] * 2
            frame_names._delete_local(frame, "gone")
            assert "gone" not in frame.f_locals
    assert sys.version_info < (3, 12) or gone == 1


class Body:
    size = 3
    evaluation.in_frame(9073, 200, "size += 1; other = [size for _ in range(2)]", sys._getframe())


def check_what_is_set_in_a_class_body_is_of_the_class() -> None:
    assert (Body.size, Body.other) == (4, [4, 4])  # type: ignore[attr-defined]
    assert "size" not in globals()


def check_a_breakpoint_in_evaluated_code_does_nothing() -> None:
    halted = []
    original = sys.breakpointhook

    def halt(*_: Any, **__: Any) -> None:
        halted.append(True)

    sys.breakpointhook = halt
    try:
        assert ended(9081, "breakpoint()")["value"] == "None"
        assert halted == []
        breakpoint()
        assert halted == [True]
    finally:
        sys.breakpointhook = original
