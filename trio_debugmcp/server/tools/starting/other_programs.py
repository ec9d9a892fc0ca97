"""Programs beside others: what the tools that start one and end one say of those that are debugged already."""

from collections.abc import Iterable
from functools import partial
from typing import Protocol

import trio

from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.before.configured_tasks import tasks_of
from trio_debugmcp.session.debugger import Debugger, current_reader
from trio_debugmcp.session.program_at_hand import chosen
from trio_debugmcp.session.session import DebugSession


class Beginning(Protocol):
    """The parameters of a tool that starts a program."""

    @property
    def replace(self) -> bool: ...

    @property
    def new_session(self) -> bool: ...


def check_free(debugger: Debugger, params: Beginning) -> None:
    """Raise unless a program may be started.

    Raises:
        UsageError: `SESSION_ACTIVE`, or `INVALID_PARAMETER`.
    """
    if params.replace and params.new_session:
        raise UsageError(
            "INVALID_PARAMETER", "Pass either `replace`, which ends a session, or `new_session`, which ends none."
        )
    if not params.replace:
        debugger.programs.check_free(new_session=params.new_session)


def runs_beside(debugger: Debugger, session: DebugSession | None) -> bool:
    """Return whether other programs run beside that of a session which is to be ended; None: has ended."""
    if session is None:  # by its name; without one the program at hand would be another
        return debugger.programs.at_hand.chosen is not None
    return any(each.id != session.id for each in debugger.programs.living())


async def make_room(debugger: Debugger, params: Beginning) -> bool:
    """End the session that is to be replaced; return whether other programs may run beside the one to come."""
    if not params.replace:
        return params.new_session
    session = debugger.root_session()
    beside = runs_beside(debugger, session)
    if session is not None:
        await debugger.sessions.end(session, terminate=isinstance(session.start, Launch), reason="replaced")
    return beside


async def end_before_tasks(debugger: Debugger, reason: str) -> None:
    """End the session at hand if a task is to run after it: only then the tasks before the next one may run."""
    session = debugger.root_session()
    earlier = None if session is None else tasks_of(session.start)
    if session is not None and earlier is not None and earlier.after is not None:
        await debugger.sessions.end(session, terminate=isinstance(session.start, Launch), reason=reason)
        await earlier.over.wait()


async def end_with(debugger: Debugger, session: DebugSession, *, terminate: bool) -> None:
    """End the sessions that end with this one: those of a compound with `stopAll`."""
    tasks = tasks_of(session.start)
    together = [] if tasks is None else tasks.together
    others = [each.id for each in debugger.programs.living() if tasks_of(each.start) in together]
    await end_all(debugger, others, terminate=terminate)


async def end_all(debugger: Debugger, ids: Iterable[str], *, terminate: bool | None = None) -> None:
    """End the programs of these sessions, all at once."""
    async with trio.open_nursery() as nursery:
        for session_id in ids:
            with chosen(session_id):
                root = debugger.root_session()  # js-debug's program is a child of it, without which it would live on
            if root is not None:  # else it has ended
                nursery.start_soon(partial(debugger.sessions.end, root, terminate=terminate, reason="disconnected"))


def caller() -> object:
    """Return the client that this task serves, which is to own what it starts; None if there is none."""
    return current_reader()[0]
