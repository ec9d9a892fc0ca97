import _thread
import itertools
import json
import sys
import threading
import time
import types
from typing import Any, Dict, Iterator

from tests.probe.checks import about_a_bound
from trio_debugmcp.probe.inside import bounds, questions
from trio_debugmcp.probe.inside.debugger import attached, by_pydevd
from trio_debugmcp.probe.inside.encoding import encoded


def ask(question: str, **asked: Any) -> Dict[str, Any]:
    reply: Dict[str, Any] = json.loads(questions.call(question, json.dumps(asked)))
    return reply


def check_a_stop_has_stack_locals_and_every_thread() -> None:
    event = threading.Event()
    threading.Thread(target=event.wait, name="waiter", daemon=True).start()
    time.sleep(0.05)
    local = [1, 2]
    reply = ask("stop")
    answer = reply["answer"]
    assert answer["frames"][0]["function"] == "ask"
    assert answer["frames"][1]["function"] == "check_a_stop_has_stack_locals_and_every_thread"
    assert answer["total"] == len(answer["frames"])
    assert [each["name"] for each in answer["locals"]] == ["question", "asked"]
    assert answer["localsTotal"] == 2
    assert {each["name"] for each in answer["threads"]} >= {"MainThread", "waiter"}
    assert answer["threadsTotal"] == len(answer["threads"])
    assert reply["ms"] < 500
    event.set()
    assert local == [1, 2]


def check_frames_have_locals_where_asked() -> None:
    number = 5
    found = ask("frames", locals=True, count=2)["answer"]["frames"]
    assert {"name": "number", "value": "5"} in found[1]["locals"]
    assert "locals" not in ask("frames", count=2)["answer"]["frames"][0]
    assert number == 5


def check_variables_of_a_frame_and_of_the_main_module() -> None:
    thread = threading.get_ident()
    shown = ask("variables", thread=thread, frame=1)["answer"]
    assert [each["name"] for each in shown["variables"]] == ["thread"]
    names = [each["name"] for each in ask("variables", thread=thread, frame=1, scope="globals")["answer"]["variables"]]
    assert names.index("ask") < names.index("bounds")
    assert "__name__" not in names
    assert [each["name"] for each in ask("variables", filter="modul")["answer"]["variables"]] == ["module"]
    assert ask("variables", path="sys.version")["answer"]["value"].startswith("'3.")


def check_describe_has_type_and_length() -> None:
    answer = ask("describe", expression="list(range(5000))")["answer"]
    assert (answer["type"], answer["length"], answer["module"]) == ("list", 5000, "builtins")


def check_errors_are_answers() -> None:
    assert ask("frames", thread=5)["error"]["kind"] == "thread"
    assert ask("variables", frame=1000)["error"]["kind"] == "frame"
    assert ask("variables", path="1 / 0")["error"] == {
        "kind": "raised",
        "message": "ZeroDivisionError: division by zero",
    }
    assert ask("describe", expression="exit()")["error"]["kind"] == "raised"
    assert not sys.stdin.closed
    assert ask("nothing")["error"]["kind"] == "raised"
    assert json.loads(questions.call("stop", "{"))["error"]["kind"] == "raised"


def check_answers_are_plain_ascii_json() -> None:
    text = "\ud800\n\x00é"
    reply = questions.call("describe", json.dumps({"expression": repr(text)}))
    assert reply.isascii()
    assert json.loads(reply)["answer"]["value"] == repr(text)


def check_half_characters_are_visible_text() -> None:
    name = "caf\udce9"  # as os.fsdecode makes it
    namespace = {name: 1, "both": "\\udce9", "pair": "\U0001f600"}  # what only looks like a half stays
    text = encoded(namespace)
    assert text.isascii()
    assert json.loads(text) == {"caf\\udce9": 1, "both": "\\udce9", "pair": "\U0001f600"}
    assert json.loads(encoded("\\\udce9\\\ud800")) == "\\\\udce9\\\\ud800"
    space = types.SimpleNamespace(**{name: 1})
    sys.modules["__main__"].space = space  # type: ignore[attr-defined]
    found = ask("variables", path="space")["answer"]["variables"]
    assert [each["name"] for each in found] == ["caf\\udce9"]
    error = ask("describe", expression="(_ for _ in ()).throw(OSError(chr(0xDCE9)))")["error"]
    assert error["message"] == "OSError: \\udce9"
    questions.call("describe", json.dumps({"expression": "space"})).encode("utf-8")


@about_a_bound
def check_an_endless_repr_is_interrupted() -> None:
    class Endless:
        def __repr__(self) -> str:
            while True:
                pass

    class Stubborn:
        def __repr__(self) -> str:
            end = time.monotonic() + 1.2
            while time.monotonic() < end:
                try:
                    time.sleep(0.001)
                except BaseException:
                    continue
            return "stubborn"

    bounds.be_patient(20)  # half a second as usual, and then 0.6 s, instead of 0.03 s, to take an interrupt
    usual, bounds.SLOW_SECONDS = bounds.SLOW_SECONDS, bounds.SLOW_SECONDS / 20
    try:
        for _ in range(5):  # on a busy machine the interrupt may come before the type had its time
            found = within_a_budget(lambda budget: shown(budget, Endless))
            assert found == "too slow", found
            if bounds.slow(Endless) is not None:
                break
        assert bounds.slow(Endless) is not None
        assert within_a_budget(lambda budget: shown(budget, Stubborn)) in ("too slow", "stubborn")
        for _ in range(100000):  # nothing is raised later
            pass
    finally:
        bounds.SLOW_SECONDS = usual


def within_a_budget(function: Any) -> Any:
    budget = bounds.Budget(seconds=0.8)
    try:
        return function(budget)
    finally:
        budget.close()


def shown(budget: bounds.Budget, cls: Any) -> str:
    try:
        return str(budget.run(cls, lambda: repr(cls())))
    except bounds.TooSlowError:
        return "too slow"


def check_the_probe_leaves_itself_out() -> None:
    for thread in attached.debugger().threads():
        for seen in attached.debugger().frames(thread):
            assert not seen.frame.f_globals["__name__"].startswith("trio_debugmcp.probe.inside")


@about_a_bound
def check_an_interrupt_leaves_no_traced_thread_hanging() -> None:
    """While an exception is on its way to any thread, CPython 3.11 enters no function in a thread that is traced."""
    turns, end = [0], threading.Event()
    begun, held = threading.Lock(), threading.Lock()
    begun.acquire()
    held.acquire()

    def step() -> None:
        turns[0] += 1

    def run() -> None:
        sys.settrace(lambda *_: None)
        while not end.is_set():
            step()

    def wake() -> Iterator[None]:
        woke.set()
        yield

    woke = threading.Event()
    steps = itertools.chain(iter(begun.release, None), iter(held.acquire, True), wake())  # Python code but at the end
    sleeper = _thread.start_new_thread(list, (steps,))
    runner = threading.Thread(target=run, daemon=True)
    runner.start()
    begun.acquire()
    bounds.interrupt(sleeper, KeyboardInterrupt)
    before, limit = turns[0], time.monotonic() + 100
    while turns[0] == before and time.monotonic() < limit:
        time.sleep(0.01)
    end.set()
    assert turns[0] > before
    held.release()
    assert woke.wait(100)  # it was not interrupted later


def check_what_was_returned_is_that_of_the_last_step() -> None:
    __pydevd_ret_val_dict = {"old": 1}
    frame, pydevd = sys._getframe(), by_pydevd.ByPydevd()
    assert pydevd.returned(frame, 0, True) == [("old", 1, "__pydevd_ret_val_dict['']['old']")]
    assert [name for name, _, _ in pydevd.returned(frame, 0, False)] == ["old"]
    __pydevd_ret_val_dict["new"] = 2
    assert [name for name, _, _ in pydevd.returned(frame, 0, False)] == ["old"]
    assert [name for name, _, _ in pydevd.returned(frame, 0, True)] == ["new"]
    assert pydevd.returned(frame, 0, True) == []
    raised_instead_of_returning()


def fail() -> None:
    raise ValueError


def raised_instead_of_returning() -> None:
    frame, pydevd = sys._getframe(), by_pydevd.ByPydevd()
    kept = {"fail": None, "Till.fail": None, "other": None, "fail_once": 0}
    frame.f_locals[by_pydevd.RETURN_VALUES] = dict(kept)
    known = hasattr(sys, "_current_exceptions")
    try:
        fail()
    except ValueError:
        try:
            raise KeyError
        except KeyError:  # handled while the other one is
            found = pydevd.returned(frame, threading.get_ident(), True)
    assert [name for name, _, _ in found] == (["other", "fail_once"] if known else ["fail_once"])
    frame.f_locals[by_pydevd.RETURN_VALUES] = dict(kept)
    found = pydevd.returned(frame, threading.get_ident(), True)
    assert [name for name, _, _ in found] == ([*kept] if known else ["fail_once"])
