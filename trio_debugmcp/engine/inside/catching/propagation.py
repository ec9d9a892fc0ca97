"""Judge an exception at its raise: walk from the raising frame outward, until something catches it.

The walk asks each frame's handlers first. A frame further out that catches the exception for sure makes it a caught
one, whatever may happen to it on the way there; so `with` blocks and C code in between are looked at only if nothing
does.
"""

from trio_debugmcp.engine.inside.catching import c_calls, handlers, readings, runners, thrown_exception
from trio_debugmcp.engine.inside.catching.expected_failures import is_expected
from trio_debugmcp.engine.inside.catching.known_managers import RUNS_TEST
from trio_debugmcp.engine.inside.catching.namespaces import lineage
from trio_debugmcp.engine.inside.catching.settling import settle, settle_named
from trio_debugmcp.engine.inside.catching.thrown_exception import RaiseVerdict, ThrownException

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import FrameType, Plan

_name_of = type.__dict__["__name__"].__get__
_module_of = type.__dict__["__module__"].__get__

_PLACE = __name__.rpartition(".")[0]

_FINALIZING = frozenset({"__del__", "__getattr__", "__getattribute__"})
"""What the end of an object runs, in whichever frame it comes: a runner calls none of these."""

_SUSPENDED = 0x20 | 0x80 | 0x100 | 0x200
"""Flags of the code of generators and coroutines of all kinds."""

_COROUTINES = 0x80 | 0x100

_AWAITED = 0x20 | 0x200
"""Generators: a coroutine awaits them by way of C code, which hides it while something is thrown into them."""


def judge(exception: BaseException, frame: "FrameType", offset: int, exact: bool = False) -> RaiseVerdict:
    """Judge an exception that is raised, or arrives, at an instruction of a frame; outer frames stand at `f_lasti`.

    With `exact`, a verdict of CAUGHT tells what may catch it even before. Nothing is raised, but for what a signal
    handler of the program raises meanwhile.
    """
    try:
        verdict = _iteration(exception, frame, offset) or _quick(exception, frame, offset)
        if verdict is None or (exact and verdict.how != "C code"):
            verdict = _careful(exception, frame, offset)
    except Exception as error:
        if not _is_own(error):
            raise
        verdict = RaiseVerdict(thrown_exception.UNKNOWN, frame, frame)
        verdict.reason = "there is no room on the stack to find out"
    return verdict


def _is_own(error: BaseException) -> bool:
    """Return whether an exception comes from these modules, and not from a signal handler that has run meanwhile."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is None or str(trace.tb_frame.f_globals.get("__name__")).startswith(_PLACE)


def _iteration(exception: BaseException, frame: "FrameType", offset: int) -> RaiseVerdict | None:
    """Return the verdict of a StopIteration that ends a loop or an await: its event comes just before that."""
    if type(exception) is not StopIteration or c_calls.instruction(frame, offset) not in ("FOR_ITER", "SEND"):
        return None
    return _caught(frame, frame, (handlers.CAUGHT, frame.f_lineno, "C code"))


def is_caught(exception: BaseException, frame: "FrameType", offset: int) -> bool:
    """Return whether it is caught for sure, by the frames' handlers alone: of most, without a verdict on each.

    Nothing is raised, but for what a signal handler of the program raises meanwhile.
    """
    try:
        return _catcher(exception, frame, offset) is not None
    except Exception as error:
        if not _is_own(error):
            raise
        return False


def _quick(exception: BaseException, frame: "FrameType", offset: int) -> RaiseVerdict | None:
    """Return who catches it for sure, None if that is not found by the frames' handlers alone."""
    found = _catcher(exception, frame, offset)
    return None if found is None else _caught(frame, *found)


def _catcher(exception: BaseException, frame: "FrameType", offset: int) -> "tuple[FrameType, Plan] | None":
    thrown: ThrownException | None = None
    outer: FrameType | None = frame
    while outer is not None:
        code = outer.f_code
        if outer is not frame:
            offset = outer.f_lasti
            if code.co_name in runners.NAMES and _runner(outer) is not None:
                return None
        if code.co_exceptiontable:
            reading = readings.of(code)
            plan = reading.plans.get(offset) or reading.plan(offset)
            if plan[0] != handlers.LEAVES:
                result = settle_named(plan, outer, lineage(type(exception))) if thrown is None else None
                if result is None:
                    thrown = thrown or ThrownException(exception, lineage(type(exception)))
                    result = settle(plan, outer, thrown)
                if result[0] == handlers.CAUGHT and not (code.co_name in runners.RELAY_NAMES and _is_relay(outer)):
                    return outer, result
        outer = outer.f_back
    return None


def _caught(raised_in: "FrameType", frame: "FrameType", result: "Plan") -> RaiseVerdict:
    verdict = RaiseVerdict(thrown_exception.CAUGHT, raised_in, frame)
    (_, verdict.line, verdict.how) = result
    return verdict


def _careful(exception: BaseException, frame: "FrameType", offset: int) -> RaiseVerdict:
    """Judge with all that may catch it between the frames, and say what is not known."""
    thrown = ThrownException(exception, lineage(type(exception)))
    doubt: RaiseVerdict | None = None
    inner = frame
    while True:
        reading = readings.of(inner.f_code)
        result = settle(reading.plans.get(offset) or reading.plan(offset), inner, thrown)
        if result[0] == handlers.CAUGHT:
            if not _is_relay(inner):
                return _doubted(_caught(frame, inner, result), doubt)
            result = (handlers.DOUBT, "the handler keeps it, to raise it again")
        if result[0] == handlers.DOUBT and result[1] == RUNS_TEST:
            return doubt or _arrived(frame, inner, inner, runners.FAILS_TEST, thrown)
        if result[0] == handlers.DOUBT and doubt is None:
            doubt = _unknown(frame, inner, result[1], before=False)
        outer = inner.f_back
        if outer is None and _is_dropped(inner, thrown):  # at the end of a thread or the program, with what it had
            return _doubted(_caught(frame, inner, (handlers.CAUGHT, inner.f_lineno, "C code")), doubt)
        if outer is None:
            return doubt or _end(frame, inner, None, thrown)
        runner = _runner(outer) if outer.f_code.co_name in runners.NAMES else None
        if runner is not None and not _is_dropped(inner, thrown):
            return doubt or _arrived(frame, inner, outer, runner, thrown)
        (way, what) = c_calls.between(inner, outer, thrown)
        if way == c_calls.CATCHES:
            return _doubted(_caught(frame, outer, (handlers.CAUGHT, outer.f_lineno, "C code")), doubt)
        if way == c_calls.UNCLEAR and doubt is None:
            doubt = _unknown(frame, outer, what, before=True)
        (inner, offset) = (outer, outer.f_lasti)


def _is_dropped(frame: "FrameType", thrown: ThrownException) -> bool:
    """Return whether C code runs a frame because an object is gone: its finalizer, or a generator that is closed."""
    code = frame.f_code
    return code.co_name in _FINALIZING or bool(code.co_flags & _SUSPENDED and thrown.is_a(GeneratorExit))


def _doubted(verdict: RaiseVerdict, doubt: RaiseVerdict | None) -> RaiseVerdict:
    if doubt is not None:
        verdict.reason = doubt.reason
        verdict.doubtful = doubt.frame
    return verdict


def _unknown(raised_in: "FrameType", frame: "FrameType", reason: str, before: bool) -> RaiseVerdict:
    verdict = RaiseVerdict(thrown_exception.UNKNOWN, raised_in, frame)
    verdict.line = frame.f_lineno
    verdict.reason = reason
    verdict.before = before
    return verdict


def _runner(frame: "FrameType") -> str | None:
    """Return what the runner does with an exception, if the frame is one's."""
    module = frame.f_globals.get("__name__")
    return runners.RUNNERS.get((module, frame.f_code.co_name)) if type(module) is str else None


def is_under_test(frame: "FrameType") -> bool:
    """Return whether a frame, or one of its callers, is of a runner of tests: what comes to that one fails a test."""
    outer: FrameType | None = frame
    while outer is not None:
        if outer.f_code.co_name in runners.NAMES and _runner(outer) == runners.FAILS_TEST:
            return True
        outer = outer.f_back
    return False


def _is_relay(frame: "FrameType") -> bool:
    code = frame.f_code
    if code.co_name not in runners.RELAY_NAMES:
        return False
    return (frame.f_globals.get("__name__"), code.co_qualname) in runners.RELAYS


def _arrived(
    raised_in: "FrameType", inner: "FrameType", outer: "FrameType", runner: str, thrown: ThrownException
) -> RaiseVerdict:
    """Return the verdict of an exception that has come to a runner, or to a test as its outcome."""
    if runner in (runners.LOOP, runners.KEPT) and inner.f_code.co_flags & _AWAITED:
        return _unknown(raised_in, outer, "the coroutines that wait for it cannot be seen", before=True)
    if runner == runners.LOOP:
        runner = runners.KEPT if inner.f_code.co_flags & _COROUTINES else runners.PRINTED
    if runner == runners.FAILS_TEST:
        for base in thrown.classes:
            module = _module_of(base)
            if type(module) is str and (module, _name_of(base)) in runners.OUTCOMES:
                return _outcome(raised_in, outer)
        if is_expected(outer, thrown):
            return _outcome(raised_in, outer)
    return _end(raised_in, outer, runner, thrown)


def _outcome(raised_in: "FrameType", runner: "FrameType") -> RaiseVerdict:
    return _caught(raised_in, runner, (handlers.CAUGHT, runner.f_lineno, "test outcome"))


def _end(raised_in: "FrameType", frame: "FrameType", runner: str | None, thrown: ThrownException) -> RaiseVerdict:
    verdict = RaiseVerdict(thrown_exception.UNCAUGHT, raised_in, frame)
    verdict.runner = runner
    verdict.quiet = thrown.is_a(SystemExit) and runner != runners.FAILS_TEST
    return verdict
