"""Who waits for a task, and whether anything there will catch what a runner keeps of it.

    end = waiting_tasks.end_of(exception, runner, raised_in)

A suspended coroutine has no frame that has called it; who waits is read from the callbacks of asyncio's futures, from
Trio's nurseries, and from the threads that are in `Future.result`.
"""

import sys

from trio_debugmcp.engine.inside.catching import handlers, propagation, readings, thrown_exception
from trio_debugmcp.engine.inside.catching.managers import named
from trio_debugmcp.engine.inside.catching.namespaces import MISSING, NameScope, attribute, in_class, lineage
from trio_debugmcp.engine.inside.catching.settling import settle
from trio_debugmcp.engine.inside.catching.thrown_exception import RaiseVerdict, ThrownException

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Any, FrameType, Iterator, Plan

MOST_TASKS = 20
"""Tasks that wait for each other."""


async def _coroutine() -> None:
    pass


def _generator() -> "Iterator[None]":
    yield


_coroutine_object = _coroutine()
_coroutine_object.close()
_Coroutine: "Any" = type(_coroutine_object)
_Generator: "Any" = type(_generator())
_GetSet = type(type.__dict__["__dict__"])
_Builtin: "Any" = type(len)
_Function: "Any" = type(lambda: None)
_BoundMethod: "Any" = type(NameScope.__init__.__get__(1))
_current_frames = sys._current_frames
_modules = sys.modules
_name_of = type.__dict__["__name__"].__get__
_module_of = type.__dict__["__module__"].__get__

_WAKE_UP = "task_wakeup"
_GATHER = ("asyncio.tasks", "gather.<locals>._done_callback")
_SHIELD = ("asyncio.tasks", "shield.<locals>._inner_done_callback")
_GROUP = ("asyncio.taskgroups", "TaskGroup._on_task_done")
_FROM_THREAD = ("asyncio.futures", "_chain_future.<locals>._call_set_state")

_CANCELLING = (
    ("asyncio.tasks", "shield.<locals>._outer_done_callback"),
    ("asyncio.futures", "_chain_future.<locals>._call_check_cancel"),
)
"""Callbacks that pass a cancellation on, and nothing else."""

_KEEPING_BOOK = frozenset({"discard", "remove", "append", "add", "pop"})
"""Methods in C as callbacks, of a set of tasks mostly: they handle nothing."""

_TRIO = "trio._core._run"

_WAITS_FOR_MAIN: "dict[tuple[str, str], Any]" = {
    ("asyncio.base_events", "run_until_complete"): ("fast", "future"),
    (_TRIO, "unrolled_run"): ("attr", ("fast", "runner"), "main_task"),
}
"""The functions that run a loop until its main task ends, and where they have that."""

_EXITS = {
    ("asyncio.taskgroups", "__aexit__"): None,
    (_TRIO, "__aexit__"): "_nursery",
}
"""The functions that end the block of a group of tasks, and the attribute in which their `self` has the group."""


def end_of(exception: BaseException, runner: "FrameType", raised_in: "FrameType") -> RaiseVerdict | None:
    """Return where an exception of a task ends that a runner keeps: None if it is not known who waits for it."""
    inner: FrameType | None = raised_in
    while inner is not None and inner.f_back is not runner:
        inner = inner.f_back
    if inner is None or not any([base is Exception for base in lineage(type(exception))]):
        return None
    if (_module(runner), runner.f_code.co_name) == ("concurrent.futures.thread", "run"):
        return _end_of_work(NameScope(runner).value(("attr", ("fast", "self"), "future")), exception)
    task = _task_of(runner, inner)
    return None if task is None else _end_of_task(task, exception, runner, 0)


def _module(frame: "FrameType") -> "Any":
    return frame.f_globals.get("__name__")


def _task_of(runner: "FrameType", inner: "FrameType") -> "Any":
    """Return the task whose coroutine has a frame, of those that run."""
    tasks: list[Any] = []
    if _is_trio(runner):
        tasks = [NameScope(runner).value(("fast", "task"))]
    elif type(_modules) is dict and "_asyncio" in _modules:
        current = attribute(_modules["_asyncio"], "_current_tasks")
        tasks = list(current.values()) if type(current) is dict else []
    for task in tasks:
        if task is not MISSING and getattr(_coroutine_of(task), "cr_frame", None) is inner:
            return task
    return None


def _coroutine_of(task: "Any") -> "Any":
    coroutine = attribute(task, "coro")
    if coroutine is MISSING:
        coroutine = _computed(task, "_coro")
    return coroutine if type(coroutine) is _Coroutine else None


def _computed(owner: "Any", name: str) -> "Any":
    """Return what C computes for an attribute."""
    descriptor = in_class(type(owner), name)
    return descriptor.__get__(owner) if type(descriptor) is _GetSet else MISSING


def _end_of_task(task: "Any", exception: BaseException, runner: "FrameType | None", nested: int) -> RaiseVerdict | None:
    if nested > MOST_TASKS:
        return None
    caller = _caller_of_main(task, runner)
    if caller is not None:
        return propagation.judge(exception, caller, caller.f_lasti)
    nursery = attribute(task, "_parent_nursery")
    if nursery is MISSING:
        return _end_of_future(task, exception, runner, nested + 1)
    if attribute(nursery, "_strict_exception_groups") is not True:
        return None
    return _end_in(attribute(nursery, "_parent_task"), nursery, exception, runner, nested + 1)


def _caller_of_main(task: "Any", runner: "FrameType | None") -> "FrameType | None":
    """Return the frame that waits for the end of a task which a loop runs: that of `asyncio.run(main())`."""
    for innermost in [runner, *_tops_of_others()]:
        frame = innermost
        while frame is not None:
            way = _WAITS_FOR_MAIN.get((_module(frame), frame.f_code.co_name))
            if way is not None and NameScope(frame).value(way) is task:
                outer = frame.f_back
                return outer.f_back if outer is not None and _is_trio(frame) else outer
            frame = frame.f_back
    return None


def _tops_of_others() -> "list[FrameType]":
    """Return the innermost frames of threads, without this one: kept in one of its own variables it would live on."""
    return [top for top in _current_frames().values() if top.f_code is not _tops_of_others.__code__]


def _is_trio(frame: "FrameType") -> bool:
    return bool(_module(frame) == _TRIO)


def _end_of_future(
    future: "Any", exception: BaseException, runner: "FrameType | None", nested: int
) -> RaiseVerdict | None:
    """Return where the exception of a future of asyncio ends, by who waits for it."""
    callbacks = _computed(future, "_callbacks")
    if type(callbacks) is not list or nested > MOST_TASKS:
        return None
    ends: list[RaiseVerdict | None] = []
    for callback, _ in callbacks:
        if type(callback) is _Builtin:
            if callback.__name__ == _WAKE_UP:
                ends.append(_end_in(callback.__self__, None, exception, runner, nested + 1))
            elif callback.__name__ not in _KEEPING_BOOK:
                return None
        elif type(callback) is _BoundMethod and _named(callback.__func__) == _GROUP:
            group = callback.__self__
            ends.append(_end_in(attribute(group, "_parent_task"), group, exception, runner, nested + 1))
        elif _named(callback) in (_GATHER, _SHIELD):
            scope = NameScope(None, callback)
            if _named(callback) == _GATHER and scope.value(("deref", "return_exceptions")) is not False:
                return None
            ends.append(_end_of_future(scope.value(("deref", "outer")), exception, runner, nested + 1))
        elif _named(callback) not in _CANCELLING:
            return None
    return _together(ends)


def _named(function: "Any") -> tuple[str, str] | None:
    return named(function) if type(function) is _Function else None


def _together(ends: "list[RaiseVerdict | None]") -> RaiseVerdict | None:
    """Return the end that counts: one that catches it, else the first one; None if one is not known."""
    if not ends or None in ends:
        return None
    for end in ends:
        if end is not None and end.outcome is not thrown_exception.UNCAUGHT:
            return end
    return ends[0]


def _end_of_work(future: "Any", exception: BaseException) -> RaiseVerdict | None:
    """Return where the exception of an executor's function ends: in the threads and tasks that wait for its result."""
    callbacks = MISSING if future is MISSING else attribute(future, "_done_callbacks")
    if type(callbacks) is not list:
        return None
    ends: list[RaiseVerdict | None] = []
    for callback in callbacks:
        if _named(callback) != _FROM_THREAD:
            return None
        ends.append(_end_of_future(NameScope(None, callback).value(("deref", "destination")), exception, None, 0))
    for innermost in _tops_of_others():
        frame: FrameType | None = innermost
        while frame is not None:
            if frame.f_code.co_name == "result" and _module(frame) == "concurrent.futures._base":
                if NameScope(frame).value(("fast", "self")) is future and frame.f_back is not None:
                    ends.append(propagation.judge(exception, frame.f_back, frame.f_back.f_lasti))
                break
            frame = frame.f_back
    return _together(ends)


def _end_in(
    task: "Any", group: "Any", exception: BaseException, runner: "FrameType | None", nested: int
) -> RaiseVerdict | None:
    """Return where an exception ends that is raised in a task that waits: at its await, or by a group's block."""
    coroutine = None if task is MISSING else _coroutine_of(task)
    if coroutine is None or coroutine.cr_running:
        return None
    (frames, awaited) = _suspended(coroutine)
    if group is None:
        if _module_of(type(awaited)) != "_asyncio" or _name_of(type(awaited)) != "FutureIter":
            return None
        end = _passed(frames, exception)
    else:
        exception = BaseExceptionGroup("", [exception])  # an ExceptionGroup, as all in it are of Exception
        end = _end_of_block(frames, group, exception)
    if end is None or end.outcome is not thrown_exception.UNCAUGHT:
        return end
    return _end_of_task(task, exception, runner, nested + 1)


def _suspended(coroutine: "Any") -> "tuple[list[FrameType], Any]":
    """Return the frames of a coroutine and of those that it awaits, outermost first; and what the last one awaits."""
    frames: list[FrameType] = []
    while True:
        if type(coroutine) is _Coroutine:
            (frame, awaited) = (coroutine.cr_frame, coroutine.cr_await)
        elif type(coroutine) is _Generator:
            (frame, awaited) = (coroutine.gi_frame, coroutine.gi_yieldfrom)
        else:
            return (frames, coroutine)
        if frame is None:
            return (frames, None)
        frames.append(frame)
        coroutine = awaited


def _plan(frame: "FrameType") -> "Plan":
    reading = readings.of(frame.f_code)
    return reading.plans.get(frame.f_lasti) or reading.plan(frame.f_lasti)


def _passed(frames: "list[FrameType]", exception: BaseException, first: "Plan | None" = None) -> RaiseVerdict | None:
    """Return who catches an exception of the frames of a suspended coroutine; UNCAUGHT if it leaves them all.

    The innermost frame's plan may be another one than that of where it stands. None if it is not known.
    """
    thrown = ThrownException(exception, lineage(type(exception)))
    for frame in reversed(frames):
        result = settle(first or _plan(frame), frame, thrown)
        first = None
        if result[0] == handlers.LEAVES:
            continue
        return RaiseVerdict(thrown_exception.CAUGHT, frame, frame) if result[0] == handlers.CAUGHT else None
    return (
        RaiseVerdict(thrown_exception.UNCAUGHT, frames[0], frames[0])
        if frames and thrown.exception is exception
        else None
    )


def _end_of_block(frames: "list[FrameType]", group: "Any", exception: BaseException) -> RaiseVerdict | None:
    """Return who catches what the block of a group of tasks raises, whether its end has been reached or not."""
    for index, frame in enumerate(frames):
        key = (_module(frame), frame.f_code.co_name)
        if index and key in _EXITS:
            owner = NameScope(frame).value(("fast", "self"))
            name = _EXITS[key]
            if owner is not MISSING and group is (owner if name is None else attribute(owner, name)):
                return _passed(frames[:index], exception)
    for index in reversed(range(len(frames))):
        after = _after_block(_plan(frames[index]), NameScope(frames[index]), group)
        if after is not None:
            return _passed(frames[: index + 1], exception, after)
    return None


_OUTWARD = {handlers.WITH: 5, handlers.MATCH: 4, handlers.CONVERTED: 1, handlers.AWAITED: 3, handlers.GROUP: 3}
"""Where plans have the plan of an exception that they do not stop."""


def _after_block(plan: "Plan", scope: NameScope, group: "Any") -> "Plan | None":
    """Return the plan of what the block of a group raises, within the plan of an instruction inside of the block."""
    while plan[0] in _OUTWARD:
        outward: Plan = plan[_OUTWARD[plan[0]]]
        if plan[0] == handlers.WITH and plan[2] is not None and scope.value(("name", plan[2])) is group:
            return outward
        plan = outward
    return None
