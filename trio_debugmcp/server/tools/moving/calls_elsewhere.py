"""Calls of a function that a trace does not see: those that had begun before it, and those in child processes."""

from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.looking.named_functions import FoundFunction
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import State

MAX_NAMED = 3
"""Calls, or processes, that a note names; of more it has the number."""

MOST_FRAMES = 20
"""Of each thread that are looked at for the function."""


async def calls_under_way(debugger: Debugger, session: DebugSession, function: FoundFunction) -> list[str]:
    """Return a note on threads and tasks that are in a call of the function which a trace has not seen begin."""
    if session.snapshot is None or session.snapshot.phase not in ("Paused", "Running"):
        return []
    places, name = Places(debugger.workspace.directory), function.code.name
    found = [
        f"thread {stack.thread.id} {stack.thread.name}, {places.line(frame.location.file or '', frame.location.line)}"
        for stack in (await session.looking.threads.stacks(MOST_FRAMES)).stacks
        for frame in stack.frames
        if frame.location.file == function.file
        and function.code.line <= (frame.location.line or 0) <= function.code.last
        and frame.name.rpartition(".")[2] == name
    ]
    if not found:
        return []
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    said = f"{function.code.qualname} is running, in a call that had begun before: {'; '.join(found[:MAX_NAMED])}{more}"
    return [f"{said}. A trace begins with a call: set a breakpoint in it, or use stacktrace_get"]


def other_processes(debugger: Debugger, session: DebugSession, before: State) -> list[str]:
    """Return a note on other processes of the same program, living or begun since, whose calls a trace does not see."""
    roots = before.roots()
    family = [id_ for id_, root in roots.items() if root == roots.get(session.id)]
    for event in debugger.timeline.after(before.happened):
        if event.type == "sessionStarted" and event.payload.get("parentSessionId") in family:
            family.append(str(event.payload["sessionId"]))
    others = [id_ for id_ in family if id_ != session.id]
    if not others:
        return []
    named = ", ".join(others[:MAX_NAMED]) + (f" and {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else "")
    return [f"calls in other processes of the program are not followed: {named}; batch_evaluate looks into all"]
