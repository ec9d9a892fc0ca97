"""Steps of an editor's person through a recorded run: back, forth, and from breakpoint to breakpoint.

    served = past_or(moving.step_back, "back")      # of the record, where the adapter cannot and there is one

What the way has led to is reported after the response, as any stop is.
"""

from typing import Any

from trio_debugmcp.editors.arguments import ThreadArguments
from trio_debugmcp.editors.editor import Editor, Serve
from trio_debugmcp.editors.past.past_view import PastThread, PastView, stopped
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.editors.reported_events import stopped as stopped_now
from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.histories.recorded_hits import LineBreakpoint
from trio_debugmcp.runs.run_walks import NoWalkError, RunWalk, WalkedMoment, WalkMode, walked
from trio_debugmcp.server.tools.runs.past_steps import (
    PastStep,
    places_of,
    recorded_run,
    searched_breakpoints,
)
from trio_debugmcp.server.tools.runs.reading_runs import asked
from trio_debugmcp.state.recorded_runs import KeptRun

_BACK: tuple[WalkMode, ...] = ("back", "reverse")

_COMMANDS: dict[WalkMode, str] = {
    "back": "stepBack",
    "reverse": "reverseContinue",
    "over": "next",
    "in": "stepIn",
    "out": "stepOut",
    "continue": "continue",
}

_ENDED = "This is the end of the run: it is recorded, and has ended."

_FIRST = "Shown from {}: nothing is undone, the program stays where it is. Steps and continue lead back there."


def past_or(present: Serve, mode: WalkMode) -> Serve:
    """Return what serves a move: in the record for one that goes back, or has gone back; else the program's own."""

    async def serve(editor: Editor, arguments: ThreadArguments) -> dict[str, Any] | None:
        view = editor.in_past
        if view is None and (mode not in _BACK or _run(editor) is None):
            return await present(editor, arguments)
        if view is None or not view.of.has_ended:
            editor.check_control(f"`{_COMMANDS[mode]}`")
        of = await _entered(editor, arguments.thread_id) if view is None else view.of
        editor.past_events.append(("stopped", await _walked(editor, of, 0 if view is None else view.moment.row, mode)))
        return {"allThreadsContinued": True} if mode == "continue" else None

    return serve


def _run(editor: Editor) -> KeptRun | None:
    return None if editor.snapshot is None else recorded_run(editor.debugger, editor.session())


async def _entered(editor: Editor, thread_id: int) -> PastThread:
    """Return the thread whose past is to be shown."""
    session, snapshot = editor.paused()
    thread, run = snapshot.active_thread(thread_id), recorded_run(editor.debugger, session)
    if run is None:
        raise AssertionError("it was looked for just before")
    stack = await places_of(session, snapshot, thread)
    return PastThread(run.id, snapshot.origin.process_id, (snapshot.id, snapshot.generation), thread, stack)


async def open_run(editor: Editor, run: KeptRun) -> dict[str, Any]:
    """Show the end of a run that has ended; return the body of the event that reports that.

    Raises:
        EditorRefusal: nothing of it can be read, or it has not ended.
    """
    if run.ended_at is None:
        raise EditorRefusal(f"{run.id} is being recorded: join its session, and step back there.", show=True)
    return await _walked(editor, PastThread(run.id, None, (run.id, 0), 1, []), 0, "here")


async def _walked(editor: Editor, of: PastThread, at: int, mode: WalkMode) -> dict[str, Any]:
    """Go a way from a moment, and show to where it has led; return the body of the event that reports that."""
    debugger, breakpoints, passed = editor.debugger, list[LineBreakpoint](), list[str]()
    if mode in ("reverse", "continue"):
        breakpoints, passed = searched_breakpoints(debugger, editor.session_id)
    walk = RunWalk(mode=mode, at=at, stack=of.stack, breakpoints=breakpoints)
    question = PastStep(run=of.run, process=of.process, walk=walk)
    try:
        found = (await asked(debugger, question, WalkedMoment, lambda record: walked(record, walk))).found
    except NoWalkError as error:
        raise EditorRefusal(f"It cannot be shown: in {of.run} {error}.", show=True) from None
    except UsageError as error:
        raise EditorRefusal(error.message, show=True) from None
    for note in (*found.notes, *passed):
        editor.note(f"{of.run}: {note}")
    if found.moment is None:
        return await _to_present(editor, of)
    if not at and not of.has_ended:
        editor.note(_FIRST.format(of.run))
    editor.past = PastView(of, found.moment)
    return stopped(editor.past, "breakpoint" if found.hits else "step", found.hits)


async def _to_present(editor: Editor, of: PastThread) -> dict[str, Any]:
    if of.has_ended:
        editor.note(_ENDED)
        return await _walked(editor, of, 0, "here")
    _, snapshot = editor.paused()
    if snapshot.stop is None:
        raise AssertionError("a paused session has a stop")
    editor.past = None
    return {**stopped_now(snapshot.stop), "reason": "step", "text": "Back in the present: nothing has run meanwhile"}
