"""The requests that move the program. Each is a call of the tool that an agent would call, without its wait."""

from typing import Any

from trio_debugmcp.dap.messages import TargetsBody
from trio_debugmcp.editors.arguments import DisconnectArguments, GotoTargetsArguments, ScopesArguments, ThreadArguments
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.editors.starting import LAUNCH_SECONDS
from trio_debugmcp.editors.values.renewing import as_of_now


async def continue_(editor: Editor, arguments: ThreadArguments) -> dict[str, Any]:
    """Resume the program."""
    await _resume(editor, "debug_continue", thread_id=arguments.thread_id)
    return {"allThreadsContinued": True}


async def reverse_continue(editor: Editor, arguments: ThreadArguments) -> None:
    """Run the program backwards."""
    await _resume(editor, "debug_continue", thread_id=arguments.thread_id, reverse=True)


async def next_(editor: Editor, arguments: ThreadArguments) -> None:
    """Step over a line."""
    await _step(editor, "over", arguments)


async def step_in(editor: Editor, arguments: ThreadArguments) -> None:
    """Step into a call, or into the one that is the target."""
    await _step(editor, "in", arguments)


async def step_out(editor: Editor, arguments: ThreadArguments) -> None:
    """Step out to the caller."""
    await _step(editor, "out", arguments)


async def step_back(editor: Editor, arguments: ThreadArguments) -> None:
    """Step backwards, where the adapter can."""
    await _step(editor, "back", arguments)


async def _step(editor: Editor, mode: str, arguments: ThreadArguments) -> None:
    target = None
    if arguments.target_id is not None:
        target = str(editor.place("target", arguments.target_id)[2].adapter_id)
    await _resume(
        editor,
        "debug_step",
        thread_id=arguments.thread_id,
        mode=mode,
        granularity=arguments.granularity if arguments.granularity == "instruction" else None,
        target=target,
    )


async def _resume(editor: Editor, tool: str, **arguments: Any) -> None:
    editor.check_control(f"`{tool}`")
    _, snapshot = editor.paused()
    stop = None if snapshot.stop is None else snapshot.stop.number
    # Else its person means the stop before. One to whom nothing was reported yet can only mean this one.
    if editor.at_stop not in (None, stop):
        raise EditorRefusal("The program has stopped elsewhere meanwhile.", word="notStopped")
    snapshot.active_thread(arguments.get("thread_id"))
    await editor.call(tool, session_id=snapshot.id, wait=False, **arguments)
    editor.left = None if snapshot.stop is None else (snapshot.id, snapshot.stop.number)


async def pause(editor: Editor, arguments: ThreadArguments) -> None:
    """Stop the program where it is. What is stopped already is not an error: the stop has been reported."""
    session = editor.session()
    if session.snapshot is not None and session.snapshot.phase == "Paused":
        return
    threads = () if session.snapshot is None else session.snapshot.threads.threads
    thread_id = arguments.thread_id if any(thread.id == arguments.thread_id for thread in threads) else None
    answer = await editor.call("debug_pause", session_id=session.id, thread_id=thread_id)
    if answer.get("state") == "Running":
        editor.note("; ".join(answer.get("notes") or ["the program did not stop"]))


# --- Elsewhere --------------------------------------------------------------------------------------------------------


async def goto_targets(editor: Editor, arguments: GotoTargetsArguments) -> dict[str, Any]:
    """Answer the places of a line to go to."""
    editor.check_control("to go elsewhere")
    session, snapshot = editor.paused()
    session.requests.need("supportsGotoTargetsRequest", "go to a line", "Restart the program.")
    path = editor.spelling.our_path(arguments.source.path or "")
    adapter_arguments = {"source": {"path": path}, "line": editor.spelling.our_line(arguments.line)}
    body = await session.requests.request("gotoTargets", adapter_arguments, TargetsBody)
    targets = []
    for target in body.targets or []:
        line = target.line or editor.spelling.our_line(arguments.line)
        number = editor.number("target", snapshot, target.id, frame=line, file=path)
        targets.append({"id": number, "label": target.label or f"line {line}", "line": editor.spelling.line(line)})
    return {"targets": targets}


async def goto(editor: Editor, arguments: ThreadArguments) -> None:
    """Have a thread continue from a target."""
    editor.check_control("to go elsewhere")
    if arguments.target_id is None:
        raise EditorRefusal("`goto` needs a `targetId`.")
    _, snapshot, place = editor.place("target", arguments.target_id)
    # By its place, as the tool has it: the target of that line is looked for once more.
    await editor.call(
        "debug_goto",
        session_id=snapshot.id,
        line=place.frame,
        file=place.file,
        target=str(place.adapter_id),
        thread_id=arguments.thread_id,
    )


async def step_in_targets(editor: Editor, arguments: ScopesArguments) -> dict[str, Any]:
    """Answer the calls of a line that can be stepped into."""
    editor.check_control("to step into a call")
    session, snapshot, place = editor.place("frame", arguments.frame_id)
    session.requests.need("supportsStepInTargetsRequest", "step into one of several calls", "Step into the line.")
    place = await as_of_now(session, snapshot, "frame", place)
    body = await session.requests.request("stepInTargets", {"frameId": place.adapter_id}, TargetsBody)
    targets = [
        {"id": editor.number("target", snapshot, target.id), "label": target.label} for target in body.targets or []
    ]
    return {"targets": targets}


async def restart_frame(editor: Editor, arguments: ScopesArguments) -> None:
    """Begin a frame's function again."""
    editor.check_control("to begin a function again")
    _, snapshot, place = editor.place("frame", arguments.frame_id)
    await editor.call("debug_restart", session_id=snapshot.id, frame_index=place.frame, thread_id=place.thread)


async def restart(editor: Editor, arguments: object) -> None:
    """Run the program again from its beginning, with the breakpoints as they are. All who debug it stay."""
    editor.session()
    await editor.call(
        "debug_restart", session_id=editor.session_id, timeout=editor.debugger.patience.seconds(LAUNCH_SECONDS)
    )


async def terminate(editor: Editor, arguments: DisconnectArguments) -> None:
    """End the program, for all who debug it; one that is being started, or waited for, is given up."""
    editor.check_control("to end the program")
    if editor.session_id is None:
        editor.joining.cancel(reason="its person has given it up")
        for program in editor.debugger.programs.living():  # an agent whose launch is cancelled has it still
            if program.owner is editor.client:
                await editor.call("debug_disconnect", session_id=program.id, terminate=True)
    elif editor.snapshot is not None:
        await editor.call("debug_disconnect", session_id=editor.session_id, terminate=True)
