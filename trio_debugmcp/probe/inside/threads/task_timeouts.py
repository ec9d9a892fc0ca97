"""Whether a task is in a timeout, so that its waiting ends by itself.

    has_timeout(task)   # not for `asyncio.timeout(None)` and `move_on_after(inf)`

A suspended coroutine keeps the `__exit__` of each `with` block that it is in, and so the object that has the deadline.
Trio notes for each task the cancel scopes that it is in, also those around its nursery.
"""

import types
from typing import Any, Iterator

from trio_debugmcp.probe.inside.threads import await_chains, trio_tasks
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.values import facts

_TIMED = ("wait_for", "wait", "_wait")
"""Functions of asyncio with a timeout, which may be None."""

_DEADLINES = ("_when", "_deadline")
"""Where timeouts of asyncio, anyio and async_timeout have the time at which they end."""

_NEVER = float("inf")

_MOST_SCOPES = 100


def has_timeout(task: ProgramTask) -> bool:
    """Return whether a task is in a block or a function that ends by itself."""
    if task.library == trio_tasks.NAME:
        return _has_trio_deadline(task.task)
    links, _ = await_chains.links_of(task.coroutine)
    if any(_is_timed(frame) for _, frame in links if frame is not None):
        return True
    return any(_has_deadline(manager) for awaitable, frame in links for manager in _managers(awaitable, frame))


def _is_timed(frame: Any) -> bool:
    is_asyncio = frame.f_globals.get("__name__") == "asyncio.tasks"
    return is_asyncio and frame.f_code.co_name in _TIMED and frame.f_locals.get("timeout") is not None


def _has_deadline(manager: Any) -> bool:
    values = (facts.attribute(manager, name) for name in _DEADLINES)
    return any(type(value) in (int, float) and value < _NEVER for value in values)


def _managers(awaitable: Any, frame: Any) -> Iterator[Any]:
    """The objects of the `with` blocks that a suspended coroutine is in; of a generator as one, those that it is in."""
    from trio_debugmcp.probe.inside.types import holders  # compiled only in programs that are asked

    has_stack = (awaitable,) if frame is None else (awaitable, frame)  # the frame up to 3.10
    for each in holders.collector().get_referents(*has_stack):
        if type(each) is types.MethodType and each.__func__.__name__ in ("__exit__", "__aexit__"):
            manager = each.__self__
            yield manager
            generator = facts.attribute(manager, "gen")  # of `contextlib.contextmanager`
            if type(generator) is types.GeneratorType:
                yield from _managers(generator, generator.gi_frame)
            elif type(generator) is types.AsyncGeneratorType:
                yield from _managers(generator, generator.ag_frame)


def _has_trio_deadline(task: Any) -> bool:
    status = facts.attribute(task, "_cancel_status")
    for _ in range(_MOST_SCOPES):
        scope = facts.attribute(status, "_scope")
        if scope is facts.MISSING:
            return False
        if _has_deadline(scope):
            return True
        if facts.attribute(scope, "_shield") is True:
            return False
        status = facts.attribute(status, "_parent")
    return False
