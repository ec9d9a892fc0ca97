"""The requests that only look: threads, frames, scopes, variables, sources, modules, exceptions."""

from typing import Any

from trio_debugmcp.dap.messages import DapScope, DapVariable, ExceptionInfoBody, ScopesBody, ThreadsBody, VariablesBody
from trio_debugmcp.editors.arguments import (
    ModulesArguments,
    ScopesArguments,
    SourceArguments,
    StackTraceArguments,
    ThreadArguments,
    VariablesArguments,
)
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.numbers import AdapterNumber
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.editors.reported_events import module_of
from trio_debugmcp.editors.values.paging import is_without, page
from trio_debugmcp.editors.values.renewing import asked, way_to_scope
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.looking.source_text import source_text
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Locals, Snapshot, StackFrame

ALL_FRAMES = 1000
"""Frames of one answer; editors page, and a deeper stack is a recursion."""

FIRST_THREADS_SECONDS = 1.0
"""For the threads of a program that has not stopped yet; what else there is to report waits for them."""


async def threads(editor: Editor, arguments: object) -> dict[str, Any]:
    """Answer the threads: those of the stop and of events since; before the first stop those that the adapter has."""
    session = editor.session()
    snapshot = session.snapshot
    if snapshot is not None and snapshot.threads.captured_at is None:
        known = await first_threads(session)
    else:
        all_of_them = () if snapshot is None else snapshot.threads.threads
        known = [(thread.id, thread.name) for thread in all_of_them if thread.state != "Exited"]
    return {"threads": [{"id": number, "name": editor.plain(name or f"thread {number}")} for number, name in known]}


async def first_threads(session: DebugSession) -> list[tuple[int, str | None]]:
    """Ask the adapter for the threads of a program that has not stopped yet; none if it does not say."""
    try:
        body = await session.requests.request("threads", None, ThreadsBody, seconds=FIRST_THREADS_SECONDS)
    except (DebugError, OSError):  # it begins, or ends, or cannot tell while it runs
        return []
    return [(thread.id, thread.name) for thread in body.threads or []]


async def stack_trace(editor: Editor, arguments: StackTraceArguments) -> dict[str, Any]:
    """Answer a page of a thread's stack."""
    session, snapshot = editor.paused()
    thread = snapshot.active_thread(arguments.thread_id)
    count = min(arguments.levels or ALL_FRAMES, ALL_FRAMES)
    anew = session.requests.suspension.has_called
    found, total = await session.looking.frames(snapshot, thread, arguments.start_frame, count, anew=anew)
    frames = [
        _frame(editor, snapshot, frame, thread, arguments.start_frame + index) for index, frame in enumerate(found)
    ]
    return {"stackFrames": frames, "totalFrames": total}


def _frame(editor: Editor, snapshot: Snapshot, frame: StackFrame, thread: int, index: int) -> dict[str, Any]:
    place = frame.location
    shown = {
        "id": editor.number("frame", snapshot, frame.id, thread=thread, frame=index),
        "name": frame.name,
        "line": editor.spelling.line(place.line) if place.line else 0,
        "column": editor.spelling.column(place.column) if place.line else 0,
    }
    if place.file is not None:
        shown["source"] = editor.source_of(place.file, frame.source_reference)
    if not frame.is_user_code:
        shown["presentationHint"] = "subtle"
    if frame.instruction is not None:
        shown["instructionPointerReference"] = frame.instruction
    return shown


async def source(editor: Editor, arguments: SourceArguments) -> dict[str, Any]:
    """Answer the text of a source, as far as the program is known to have it."""
    editor.session()
    dap_source = arguments.source
    reference = arguments.source_reference or (dap_source.source_reference if dap_source is not None else 0) or 0
    path = editor.sources.path(reference) if reference else None
    if path is None and dap_source is not None and dap_source.path is not None and not reference:
        path = editor.spelling.our_path(dap_source.path)
    if path is None:
        raise EditorRefusal("This source is unknown: no answer to this editor has it.")
    text = await source_text(editor.debugger, path)
    return {"content": editor.plain(text)}


# --- Values -----------------------------------------------------------------------------------------------------------


async def scopes(editor: Editor, arguments: ScopesArguments) -> dict[str, Any]:
    """Answer the scopes of a frame. An observer gets the locals of the top frame, as the state has them."""
    if editor.role != "control":
        _, snapshot, place = editor.place("frame", arguments.frame_id)
        _state_locals(snapshot, place.thread, place.frame)
        number = editor.number("variables", snapshot, -1, thread=place.thread, frame=place.frame)
        return {"scopes": [{"name": "Locals", "variablesReference": number, "expensive": False}]}
    editor.shows_values = True

    async def ask(session: DebugSession, snapshot: Snapshot, place: AdapterNumber) -> ScopesBody:
        return await editor.values.ask(session, snapshot, "scopes", {"frameId": place.adapter_id}, ScopesBody)

    session = editor.session()
    snapshot, place, body = await asked(editor.place, "frame", arguments.frame_id, ask)
    return {"scopes": [_scope(editor, session, snapshot, place, scope) for scope in body.scopes or []]}


def _scope(
    editor: Editor, session: DebugSession, snapshot: Snapshot, place: AdapterNumber, scope: DapScope
) -> dict[str, Any]:
    number = editor.number(
        "variables",
        snapshot,
        scope.variables_reference,
        thread=place.thread,
        frame=place.frame,
        way=way_to_scope(session, scope.name),
        named=scope.named_variables,
        indexed=scope.indexed_variables,
    )
    shown: dict[str, Any] = {
        "name": scope.name,
        "variablesReference": number,
        "expensive": bool(scope.expensive),
    }
    more = {
        "presentationHint": scope.presentation_hint,
        "namedVariables": scope.named_variables,
        "indexedVariables": scope.indexed_variables,
    }
    return shown | {name: value for name, value in more.items() if value is not None}


def _state_locals(snapshot: Snapshot, thread: int, frame: int) -> Locals:
    """Return the locals that are known without asking the program.

    Raises:
        EditorRefusal: they are not of that frame.
    """
    if thread != snapshot.stack.thread_id or frame != 0:
        raise EditorRefusal("This editor may only observe: it sees the variables of the top frame, and no others.")
    return snapshot.stack.locals or Locals()


async def variables(editor: Editor, arguments: VariablesArguments) -> dict[str, Any]:
    """Answer the children of a value, all or a page of them."""
    _, snapshot, place = editor.place("variables", arguments.variables_reference)
    if editor.role != "control":
        known = _state_locals(snapshot, place.thread, place.frame)
        return {
            "variables": [_known(editor, variable.name, variable.value, variable.type) for variable in known.variables]
        }
    kind, start, count = arguments.filter, arguments.start, arguments.count
    if is_without(place, kind):
        return {"variables": []}
    more: dict[str, Any] = {} if kind is None else {"filter": kind}
    more |= {"start": start, "count": count} if count else {}
    more |= {} if arguments.format is None else {"format": arguments.format}

    async def ask(session: DebugSession, snapshot: Snapshot, place: AdapterNumber) -> VariablesBody:
        wanted = {"variablesReference": place.adapter_id, **more}
        return await editor.values.ask(session, snapshot, "variables", wanted, VariablesBody)

    snapshot, place, body = await asked(editor.place, "variables", arguments.variables_reference, ask)
    children = page(body.variables or [], place, kind, start, count)
    return {"variables": [_child(editor, snapshot, place, child) for child in children]}


def _child(editor: Editor, snapshot: Snapshot, place: AdapterNumber, child: DapVariable) -> dict[str, Any]:
    shown = _known(editor, child.name, child.value, child.type, child.evaluate_name)
    shown["variablesReference"] = editor.number(
        "variables",
        snapshot,
        child.variables_reference,
        thread=place.thread,
        frame=place.frame,
        way=None if place.way is None else place.way.to(child.name),
        named=child.named_variables,
        indexed=child.indexed_variables,
    )
    more = {
        "evaluateName": None if child.evaluate_name is None else editor.plain(child.evaluate_name),
        "namedVariables": child.named_variables,
        "indexedVariables": child.indexed_variables,
        "memoryReference": editor.memory(child.memory_reference),
    }
    return shown | {name: value for name, value in more.items() if value is not None}


def _known(editor: Editor, name: str, value: str, kind: str | None, path: str | None = None) -> dict[str, Any]:
    named = f"{name} {path or ''}"
    shown = {"name": editor.plain(name), "value": editor.plain(value, named), "variablesReference": 0}
    return shown if kind is None else {**shown, "type": kind}


# --- What else there is -----------------------------------------------------------------------------------------------


async def exception_info(editor: Editor, arguments: ThreadArguments) -> dict[str, Any]:
    """Answer the exception at which a thread has stopped."""
    session, snapshot = editor.paused()
    stop = snapshot.stop
    if stop is None or stop.exception is None or stop.thread_id != arguments.thread_id:
        raise EditorRefusal("This thread has not stopped at an exception.")
    known = stop.exception
    text = editor.plain(known.message or "")
    shown: dict[str, Any] = {"exceptionId": known.type or "exception", "description": text, "breakMode": "always"}
    if session.requests.capabilities.supports_exception_info_request and editor.role == "control":
        body = await session.requests.request("exceptionInfo", {"threadId": stop.thread_id}, ExceptionInfoBody)
        shown["breakMode"] = body.break_mode or "always"
        if body.details is not None:
            trace = body.details.stack_trace
            details = {
                "message": text,
                "typeName": body.details.type_name,
                "fullTypeName": body.details.full_type_name,
                "stackTrace": None if trace is None else editor.plain(trace),
            }
            shown["details"] = {name: value for name, value in details.items() if value is not None}
    return shown


async def modules(editor: Editor, arguments: ModulesArguments) -> dict[str, Any]:
    """Answer the modules that the program has loaded, all or a page of them."""
    snapshot = editor.session().snapshot
    known = () if snapshot is None else snapshot.modules
    page = known[arguments.start_module :]
    page = page[: arguments.module_count] if arguments.module_count else page
    return {"modules": [module_of(module) for module in page], "totalModules": len(known)}


async def loaded_sources(editor: Editor, arguments: object) -> dict[str, Any]:
    """Answer the sources that the program is known to consist of."""
    editor.session()
    program = editor.debugger.programs.of(editor.session_id or "")
    paths = [] if program is None else program.sources.known()
    return {"sources": [editor.source_of(path) for path in paths]}
