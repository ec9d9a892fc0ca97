"""Questions to the probe of a program that may not let Python run; then py-spy is asked instead, where it is installed.

    found = await ask_or_look(debugger, session, session.probe.threads)
    if isinstance(found, Outside):  # not from the probe
        notes = [outside_note(found)]

Only processes of this machine are looked into.
"""

from collections.abc import Awaitable, Callable

import trio
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.probe.answers import Body, ProbeError, ProbeReply
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.outside import CannotLook, Outside, stacks_of
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.start import ChildStart

LOOK_AFTER_SECONDS = 0.3
"""From a question to a look from outside: the probe takes milliseconds, and an answer is promised within a second."""


AGAIN_SECONDS = 0.2
"""From one look to the next: what has moved on by then only had no turn yet, as on a busy machine or at its start."""


async def ask_or_look(
    debugger: Debugger, session: DebugSession, ask: Callable[[], Awaitable[ProbeReply[Body]]]
) -> Body | Outside:
    """Return the probe's answer, or what py-spy sees of a program in which a thread keeps the GIL.

    Raises:
        ProbeError: the probe did not answer; where py-spy could not help, the message says why.
        AdapterGone: the program's debugger has disconnected.
    """
    answers: list[Body] = []
    failure: ProbeError | AdapterGone | None = None
    seen: Outside | CannotLook | None = None
    async with trio.open_nursery() as nursery:

        async def look() -> None:
            nonlocal seen
            await trio.sleep(debugger.patience.seconds(LOOK_AFTER_SECONDS))
            seen = await _look(debugger, session)
            while isinstance(seen, Outside) and seen.keeper is not None:
                if failure is not None:  # it has moved: Python code runs there
                    seen = replace(seen, keeper=None)
                    return
                await trio.sleep(debugger.patience.seconds(AGAIN_SECONDS))
                before, seen = seen.keeper, await _look(debugger, session)
                if isinstance(seen, Outside) and seen.keeper == before:
                    nursery.cancel_scope.cancel(reason="the GIL is kept")
                    return

        nursery.start_soon(look)
        try:
            answers.append((await ask()).answer)
        except (ProbeError, AdapterGone) as error:
            failure = error
        if not (isinstance(failure, ProbeError) and failure.kind == "slow"):
            nursery.cancel_scope.cancel(reason="the probe has answered")
    if answers:
        return answers[0]
    if isinstance(seen, Outside):
        return seen
    if isinstance(seen, CannotLook):
        raise ProbeError("slow", f"{failure}; {seen}")
    raise failure or ProbeError("slow", "the program does not let the probe run")


async def _look(debugger: Debugger, session: DebugSession) -> Outside | CannotLook | None:
    """Return what is seen from outside; None of a program that may be on another machine."""
    snapshot = session.snapshot
    if snapshot is None or snapshot.origin.process_id is None or not _is_here(debugger, session):
        return None
    names = [each.name for each in snapshot.threads.threads]
    ids = {each.name: each.id for each in snapshot.threads.threads if each.name and names.count(each.name) == 1}
    try:
        return stacks_of(await debugger.host.look_into(snapshot.origin.process_id, debugger.patience), ids)
    except CannotLook as error:
        return error


def _is_here(debugger: Debugger, session: DebugSession) -> bool:
    sessions = {each.id: each for each in debugger.living_sessions()}
    while isinstance(session.start, ChildStart):
        parent = sessions.get(session.parent or "")
        if parent is None:
            return False
        session = parent
    return session.profile.runs_here(session.start)


def outside_note(seen: Outside) -> str:
    """Return a note that says where an answer is from, and which thread keeps the GIL."""
    if seen.keeper is None:
        return "seen from outside by py-spy, as the program does not let the probe run"
    keeper = seen.keeper
    place = keeper.at and (keeper.at.from_ or keeper.at)
    where = f", at {place.file}:{place.line} in {place.function}" if place else ""
    return (
        f"seen from outside by py-spy, as the program does not let Python run: thread {keeper.id} {keeper.name} keeps "
        f"the GIL in C code{where}"
    )
