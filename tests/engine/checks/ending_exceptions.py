"""An exception that has stopped, as nothing will catch it, is not judged again if it is raised again on its way."""

# mypy: ignore-errors

import _thread
import sys
from types import SimpleNamespace

from trio_debugmcp.engine.inside.attention import Attention
from trio_debugmcp.engine.inside.event_dispatch import EventDispatch
from trio_debugmcp.engine.inside.monitoring import free_tool, take_tool
from trio_debugmcp.engine.inside.thread_records import ThreadRecords

RAISE, UNWIND = sys.monitoring.events.RAISE, sys.monitoring.events.PY_UNWIND


class Judge:
    """Says of each ValueError that it stops in a mode, and notes which exceptions it was asked about."""

    is_wanted = True

    def __init__(self, mode):
        self.mode = mode
        self.judged = []

    def at_raise(self, record, frame, offset, error, arrived):
        self.judged.append(error.args[0])
        return self.mode if isinstance(error, ValueError) else None

    def at_end(self, *_):
        return False

    def caught_by(self, *_):
        return None


def judged(mode, run):
    """Return the arguments of the exceptions that are judged while a function runs, and how many stops there are."""
    judge, stops = Judge(mode), []
    held = SimpleNamespace(stop=lambda stop, is_wanted: stops.append(stop), late=None, holder=None)
    dispatch = EventDispatch(
        ThreadRecords(_thread.get_ident()),
        SimpleNamespace(soon=None),
        Attention(),
        held,
        SimpleNamespace(current=None),
        *(None, None, judge, None, None, None),
    )
    callbacks = {RAISE: dispatch._on_raise, UNWIND: dispatch._on_unwind}
    tool = take_tool((4,), "checks", callbacks)
    try:
        sys.monitoring.set_events(tool, RAISE | UNWIND)
        run()
    finally:
        free_tool(tool, "checks", callbacks)
    assert dispatch.faults == []
    return judge.judged, len(stops)


def cleanup():
    try:
        raise LookupError("cleanup")
    except LookupError:
        pass


def passing(depth, error):
    try:
        if depth:
            passing(depth - 1, error)
        raise error
    except ValueError as passed:
        cleanup()
        raise passed


def outermost(error):
    try:
        passing(5, error)
    except ValueError:
        pass


def check_one_that_nothing_catches_is_judged_once_though_each_frame_raises_it_again():
    found, stops = judged("unhandled", lambda: outermost(ValueError("work")))
    assert found.count("work") == 1
    assert found.count("cleanup") == 6
    assert stops == 1


def check_one_that_is_raised_anew_is_judged_again_also_where_it_is_the_same_object():
    error = ValueError("work")

    def run():
        for _ in range(2):
            outermost(error)
            error.__traceback__ = None

    assert judged("unhandled", run)[0].count("work") == 2


def check_one_that_may_be_caught_is_judged_wherever_it_is_raised():
    assert judged(None, lambda: outermost(ValueError("work")))[0].count("work") == 7
