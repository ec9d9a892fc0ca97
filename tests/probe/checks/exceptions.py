"""The exception at a stop: causes with the way, groups, notes, frames from its traceback, and no code unless asked."""

import builtins
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Tuple

from tests.probe.checks import about_a_bound
from trio_debugmcp.probe.inside import exception_chain
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramDebugger, ProgramThread
from trio_debugmcp.probe.inside.values.rendering import Renderer

ran: List[str] = []


class Loud(Exception):
    def __str__(self) -> str:
        ran.append("__str__")
        return "loud"

    @property
    def __cause__(self) -> Any:  # type: ignore[override]
        ran.append("__cause__")
        return None

    @property
    def __notes__(self) -> Any:  # type: ignore[override]
        ran.append("__notes__")
        return ["no"]


class Broken(Exception):
    def __str__(self) -> str:
        raise KeyError("inside")


class Slow(Exception):
    def __str__(self) -> str:
        time.sleep(0.6)
        return "slow"


class BaseExceptionGroup(Exception):
    """As the backport has it, before Python 3.11."""

    def __init__(self, text: str, found: List[BaseException]) -> None:
        super().__init__(text)
        self._exceptions = tuple(found)


def thrown(function: Callable[[], Any]) -> Any:
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def raised(text: str = "first") -> Any:
    secret = text * 2
    raise ValueError(text, secret)


class StoppedDebugger(ProgramDebugger):
    """A debugger that has of a stop the exception."""

    def exception(self, thread: ProgramThread) -> Tuple[Any, Any]:
        return thread.stopped, getattr(thread.stopped, "__traceback__", None)


attached.attach(StoppedDebugger())


def shown(value: Any, code: bool = True, inner: int = 5, frames: int = 10, locals_: int = 1) -> Dict[str, Any]:
    thread = ProgramThread(1, threading.get_ident(), "main", sys._getframe(), value, False)
    budget = Budget(seconds=10, size=100000)
    found = exception_chain.answer_json(
        thread, exception_chain.ChainBounds(inner, frames, locals_), budget, Renderer(budget, code=code)
    )
    assert found is not None
    return found


def ways(entry: Dict[str, Any]) -> List[Any]:
    return [(each["way"], each["text"], ways(each)) for each in entry.get("inner", [])]


def chained() -> Any:
    try:
        raise KeyError("behind")
    except KeyError as error:
        try:
            raise OSError("handled")
        except OSError:
            raise RuntimeError("outer") from error


def check_the_chain_with_its_ways() -> None:
    found = shown(thrown(chained))
    assert ways(found["exception"]) == [("cause", "'behind'", []), ("suppressed", "handled", [])]

    def handling() -> None:
        try:
            raised("a")
        except ValueError:
            raise TypeError("b") from None

    assert ways(shown(thrown(handling))["exception"]) == [("suppressed", "('a', 'aa')", [])]

    empty: Dict[str, int] = {}

    def context() -> None:
        try:
            raised("a")
        except ValueError:
            empty["k"]

    found = shown(thrown(context))["exception"]
    assert (found["type"], found["text"], ways(found)) == ("KeyError", "'k'", [("context", "('a', 'aa')", [])])


def check_frames_are_those_of_the_traceback_from_where_it_was_raised() -> None:
    found = shown(thrown(raised), locals_=2)["exception"]
    names = [each["function"] for each in found["frames"]]
    assert names[:3] == ["raised", "thrown", "check_frames_are_those_of_the_traceback_from_where_it_was_raised"], names
    assert [each.get("raised", False) for each in found["frames"][:3]] == [True, False, False]
    values = {each["name"]: each["value"] for each in found["frames"][0]["locals"]}
    assert values == {"text": "'first'", "secret": "'firstfirst'"}
    assert "locals" not in found["frames"][2]
    cut = shown(thrown(raised), frames=1)["exception"]
    assert (len(cut["frames"]), cut["total"]) == (1, found["total"])


def check_a_recursion_is_counted_and_cut() -> None:
    def down(n: int) -> Any:
        return down(n - 1) if n else raised()

    found = shown(thrown(lambda: down(300)))["exception"]
    assert (len(found["frames"]), found["total"] > 300) == (10, True)


def check_locals_of_one_frame_are_shown_once() -> None:
    found = shown(thrown(chained))["exception"]
    assert "locals" in found["frames"][0]
    assert all("locals" not in each["frames"][0] for each in found["inner"])


def check_a_group_is_a_tree() -> None:
    kind: Any = getattr(builtins, "ExceptionGroup", BaseExceptionGroup)
    for group in (kind, BaseExceptionGroup):
        found = shown(group("many", [ValueError("a"), group("deep", [TypeError("b")]), thrown(chained)]), inner=50)
        tree = found["exception"]
        assert tree["members"] == 3
        assert [way for way, _, _ in ways(tree)] == ["member"] * 3
        assert ways(tree["inner"][1]) == [("member", "b", [])]
        assert [way for way, _, _ in ways(tree["inner"][2])] == ["cause", "suppressed"]


def check_what_is_left_out_is_counted_and_nearest_comes_first() -> None:
    found = shown(BaseExceptionGroup("many", [thrown(chained) for _ in range(4)]), inner=5)
    assert found["omitted"] == 4 * 3 - 5
    assert [len(each.get("inner", [])) for each in found["exception"]["inner"]] == [1, 0, 0, 0]
    assert shown(BaseExceptionGroup("many", [ValueError(1)]), inner=0)["omitted"] == 1
    assert "omitted" not in shown(ValueError(1), inner=0)
    huge = shown(BaseExceptionGroup("huge", [ValueError(n) for n in range(5000)]))
    assert huge["uncounted"]
    assert huge["omitted"] == exception_chain.MOST_COUNTED - 1 - 5


def check_a_cycle_ends() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__context__ = two, one
    assert ways(shown(one)["exception"]) == [("cause", "two", [])]
    three = BaseExceptionGroup("three", [])
    three._exceptions = (three, one)
    assert [text for _, text, _ in ways(shown(three)["exception"])] == ["three", "one"]


def check_a_member_or_cause_that_was_there_before_is_a_reference() -> None:
    def wrapped() -> None:
        try:
            raised("a")
        except ValueError as error:
            raise BaseExceptionGroup("outer", [error, TypeError("b"), error])  # noqa: B904 (the context is meant)

    found = shown(thrown(wrapped))
    context, *members = found["exception"]["inner"]
    assert (context["way"], context["text"], context["total"] > 0) == ("context", "('a', 'aa')", True)
    reference = {"type": "ValueError", "text": "('a', 'aa')", "same": True, "way": "member"}
    assert [members[0], members[2]] == [reference, reference]
    assert (members[1]["text"], "same" in members[1], "omitted" in found) == ("b", False, False)
    assert shown(thrown(wrapped), inner=2)["omitted"] == 2

    cause = OSError("shared")
    one, two = ValueError("one"), ValueError("two")
    one.__cause__ = two.__cause__ = cause
    inner = shown(BaseExceptionGroup("both", [one, two]))["exception"]["inner"]
    assert [each["inner"][0].get("same", False) for each in inner] == [False, True]


def check_notes() -> None:
    error: Any = ValueError("x")
    error.__dict__["__notes__"] = ["first", 2, *["more"] * 20]
    entry = shown(error)["exception"]
    assert (entry["notes"][:3], len(entry["notes"]), entry["notesTotal"]) == (["first", "2", "more"], 10, 22)
    error.__dict__["__notes__"] = "no list"
    assert "notes" not in shown(error)["exception"]


def check_no_code_of_the_program_is_run_unless_asked_for() -> None:
    del ran[:]
    error = thrown(lambda: raised_from(Loud("a", 1)))
    found = shown(error, code=False)
    assert (ran, found["withheld"]) == ([], True)
    assert (found["exception"]["type"][-5:], found["exception"]["text"]) == (".Loud", "('a', 1)")
    assert [each["text"] for each in found["exception"]["inner"]] == ["behind"], "the property __cause__ is not asked"
    assert "withheld" not in shown(thrown(raised), code=False)
    found = shown(error)
    assert (ran, found["exception"]["text"], "withheld" in found) == (["__str__"], "loud", False)


def raised_from(error: BaseException) -> None:
    raise error from LookupError("behind")


class RemoteTraceback(Loud):
    """As those by which pools of processes pass on the traceback of a worker."""

    def __init__(self, tb: str) -> None:
        self.tb = tb


def check_the_traceback_of_another_process_is_whole_and_needs_no_code() -> None:
    del ran[:]
    quoted = '\n"""\nTraceback (most recent call last):\n' + "  line\n" * 500 + 'KeyError: 3\n"""'
    error = ValueError("x")
    error.__cause__ = RemoteTraceback(quoted)
    found = shown(error, code=False)
    assert (found["exception"]["inner"][0]["text"], "withheld" in found, ran) == (quoted, False, [])


@about_a_bound
def check_a_str_that_raises_or_is_slow() -> None:
    assert shown(Broken())["exception"]["text"] == "<str raised KeyError: inside>"
    assert shown(Slow())["exception"]["text"] in ("slow", "<str took over 0.5 s>")
    assert shown(Slow())["exception"]["text"] == "<str took over 0.5 s>"


def check_long_texts_are_cut() -> None:
    assert shown(ValueError("x" * 5000))["exception"]["text"].endswith("… (+4000 characters)")
    assert shown(ValueError(["x" * 5000]))["exception"]["text"].endswith(" characters)")


def check_types_are_named_as_python_prints_them() -> None:
    import json

    assert shown(ValueError())["exception"]["type"] == "ValueError"
    assert shown(thrown(lambda: json.loads("{")))["exception"]["type"] == "json.decoder.JSONDecodeError"
    assert exception_chain.type_text(type("Own", (Exception,), {"__module__": "__main__"})) == "Own"


def check_without_an_exception_there_is_no_answer() -> None:
    thread = ProgramThread(1, threading.get_ident(), "main", sys._getframe(), None, False)
    budget = Budget()
    assert exception_chain.answer_json(thread, exception_chain.ChainBounds(), budget, Renderer(budget)) is None
