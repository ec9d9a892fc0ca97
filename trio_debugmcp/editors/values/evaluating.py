"""The requests that run code of the program: evaluations, completions and assignments."""

from contextlib import suppress
from itertools import count
from typing import Any

import trio

from trio_debugmcp.dap.messages import CompletionsBody, ScopesBody, SetVariableBody, VariablesBody
from trio_debugmcp.editors.arguments import (
    CompletionsArguments,
    EvaluateArguments,
    SetExpressionArguments,
    SetVariableArguments,
)
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.numbers import AdapterNumber
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.editors.tool_caller import is_held
from trio_debugmcp.editors.values.renewing import as_of_now, settled, way_to_value
from trio_debugmcp.editors.values.value_formats import formatted
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.server.secrets import check_arguments
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import Evaluation
from trio_debugmcp.session.looking.by_adapter.dap_variables import chosen_scopes
from trio_debugmcp.session.looking.by_probe.safe_evaluation import SafePlace
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot, StackFrame
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, shortened

EVALUATE_SECONDS = 30.0
"""For what a person types; it is cancelled when the editor leaves."""

HOVER_SECONDS = 3.0
"""For what an editor evaluates by itself: a person has moved on by then."""

VALUE_LENGTH, CLIPBOARD_LENGTH = 1 << 16, 1 << 20
"""Characters of a value that is shown, and of one that is copied."""

COMPLETION_SECONDS = 2.0

ASSIGN_SECONDS = 5.0
"""For a value and its assignment, both of which may run code of the program."""

REMOVE_SECONDS = 1.0
"""For a name of ours to be removed from the program, also after a failure."""

_copies = count(1)  # so that two who copy at once have a name each

_NOTHING = ("None", "NoneType")


async def evaluate(editor: Editor, arguments: EvaluateArguments) -> dict[str, Any]:
    """Evaluate what a person types, points at, or watches. What is typed is a call of `evaluate` for others."""
    editor.check_control("to evaluate")
    if not editor.debugger.settings.show_secrets:
        check_arguments({"expression": arguments.expression})
    place = None if arguments.frame_id is None else editor.place("frame", arguments.frame_id)[2]
    if arguments.context != "repl":
        problem = editor.session().profile.expressions.syntax_error(arguments.expression)
        if problem is not None:  # a statement, which would be carried out again at each stop
            raise EditorRefusal(f"`{shortened(arguments.expression)}` is not an expression: {problem}")
        return await _evaluated_by_itself(editor, arguments, place)
    index = {} if place is None or not place.frame else {"frame_index": place.frame}
    session = editor.session()
    try:
        async with editor.recorded("evaluate", expression=arguments.expression, **index) as value:
            answer = await _evaluated(editor, arguments, place, editor.debugger.patience.seconds(EVALUATE_SECONDS))
            value.append(answer["result"])
    finally:
        session.refresh_locals()  # also after a failure, or when given up: what ran until then may have changed some
    if (answer["result"], answer.get("type")) == _NOTHING:  # of a call that prints only that is to be seen
        answer["result"] = ""
    return answer


async def _evaluated_by_itself(
    editor: Editor, arguments: EvaluateArguments, place: AdapterNumber | None
) -> dict[str, Any]:
    """Evaluate for a hover, a watch or the clipboard, which others do not learn of.

    While another person holds the program, only what changes nothing is evaluated: an editor does it at each stop.
    """
    session, expression = editor.session(), arguments.expression
    if is_held(editor, "evaluate"):
        try:
            if session.looking.is_python:
                return await _proven_harmless(editor, session, expression, place)
            session.looking.evaluation.check_safe(expression)
        except UsageError as error:
            if error.code == "SAFE_EVAL_REJECTED":
                editor.check_held("evaluate")
            raise
    try:
        seconds = EVALUATE_SECONDS if arguments.context == "clipboard" else HOVER_SECONDS
        return await _evaluated(editor, arguments, place, editor.debugger.patience.seconds(seconds))
    finally:
        if not expression.strip().isidentifier():
            # It may have changed values all the same. No editor is asked to look again: it would evaluate this again.
            editor.values.forget(session)


async def _proven_harmless(
    editor: Editor, session: DebugSession, expression: str, place: AdapterNumber | None
) -> dict[str, Any]:
    """Evaluate where the probe sees to it that no code of the program runs. What is inside the value is not shown."""
    snapshot = session.snapshot
    where = SafePlace()
    if snapshot is not None and snapshot.phase == "Paused" and snapshot.stack.frames:
        thread, index = (snapshot.stack.thread_id or 0, 0) if place is None else (place.thread, place.frame)
        where = SafePlace(thread, index, await session.looking.frame(thread, index, snapshot))
    evaluation, seconds = session.looking.evaluation, session.requests.patience.seconds(HOVER_SECONDS)
    value, kind = await evaluation.safely(where, expression, seconds, MAX_VALUE_LENGTH)
    return _value(editor, expression, value, kind)


async def _evaluated(
    editor: Editor, arguments: EvaluateArguments, place: AdapterNumber | None, seconds: float
) -> dict[str, Any]:
    """Evaluate in a frame; without one in the top frame of a stop, or in the main module of a Python program."""
    session = editor.session()
    snapshot = session.snapshot
    expression = arguments.expression
    if snapshot is None or snapshot.phase != "Paused" or not snapshot.stack.frames:
        if not session.looking.is_python:
            raise EditorRefusal("The program is not paused.", word="notStopped")
        running = (await session.looking.evaluation.in_main(expression, seconds, limit=VALUE_LENGTH)).evaluation
        return _value(editor, expression, formatted(running.value, arguments.format), running.type)
    thread, index = (snapshot.stack.thread_id or 0, 0) if place is None else (place.thread, place.frame)
    frame = await session.looking.frame(thread, index, snapshot)
    if arguments.context == "clipboard" and session.requests.capabilities.supports_clipboard_context:
        found = await _copied(session, frame, expression, seconds)
    else:
        found = await _numbered(session, frame, expression, seconds)
    answer = _value(editor, expression, formatted(found.value, arguments.format), found.type)
    await session.requests.heard()
    answer["variablesReference"] = _number(editor, snapshot, AdapterNumber("", 0, 0, thread, index), found, expression)
    return _with_more(editor, answer, found.named, found.indexed, found.memory)


async def _numbered(session: DebugSession, frame: StackFrame, expression: str, seconds: float) -> Evaluation:
    """Evaluate in a frame what is shown in an editor, where a person may open it."""
    evaluation = session.looking.evaluation
    return (await evaluation.in_frame(frame, expression, seconds, limit=VALUE_LENGTH, numbered=True)).evaluation


def _number(editor: Editor, snapshot: Snapshot, place: AdapterNumber, found: Evaluation, expression: str) -> int:
    """Return the number of what an expression has come to in the frame of a place."""
    return editor.number(
        "variables",
        snapshot,
        found.reference,
        thread=place.thread,
        frame=place.frame,
        way=way_to_value(editor.session(), expression),
        named=found.named,
        indexed=found.indexed,
    )


async def _copied(session: DebugSession, frame: StackFrame, expression: str, seconds: float) -> Evaluation:
    """Evaluate for the clipboard: the whole value, as the adapter writes it."""

    async def evaluated(text: str, context: str | None = None) -> Evaluation:
        found = await session.looking.evaluation.in_frame(frame, text, seconds, context, limit=CLIPBOARD_LENGTH)
        return found.evaluation

    aside = session.profile.values.set_aside(expression, next(_copies))
    if aside is None:
        return await evaluated(expression, "clipboard")
    kept, name, removed = aside
    try:
        await evaluated(kept)
    except UsageError as error:
        raise UsageError(error.code, error.message.replace(kept, expression), error.details) from None
    try:
        return await evaluated(name, "clipboard")
    finally:
        with (
            trio.move_on_after(session.requests.patience.seconds(REMOVE_SECONDS), shield=True),
            suppress(DebugError, OSError),
        ):
            await evaluated(removed)


def _value(editor: Editor, name: str, value: str, kind: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"result": editor.plain(value, name), "variablesReference": 0}
    return shown if kind is None else {**shown, "type": kind}


def _with_more(
    editor: Editor, answer: dict[str, Any], named: int | None, indexed: int | None, memory: str | None
) -> dict[str, Any]:
    """Add how many children there are of each kind, which an editor pages, and where the value is in memory."""
    more = {"namedVariables": named, "indexedVariables": indexed, "memoryReference": editor.memory(memory)}
    return answer | {name: value for name, value in more.items() if value is not None}


async def completions(editor: Editor, arguments: CompletionsArguments) -> dict[str, Any]:
    """Answer what fits to what is typed."""
    editor.check_control("to complete")
    session, snapshot = editor.paused()
    if not session.requests.capabilities.supports_completions_request:
        return {"targets": []}  # also where what it completes is its command line, which `repl` is not
    thread, index = snapshot.stack.thread_id or 0, 0
    if arguments.frame_id is not None:
        place = editor.place("frame", arguments.frame_id)[2]
        thread, index = place.thread, place.frame
    frame = (await session.looking.frame(thread, index, snapshot)).id if snapshot.stack.frames else None
    column = editor.spelling.our_column(arguments.column)
    line = 1 if arguments.line is None else editor.spelling.our_line(arguments.line)
    adapter_arguments = {"text": arguments.text, "column": column, "line": line}
    adapter_arguments |= {} if frame is None else {"frameId": frame}
    body = await session.requests.request("completions", adapter_arguments, CompletionsBody, seconds=COMPLETION_SECONDS)
    targets = []
    for target in body.targets or []:
        name = target.label if target.text is None else target.text
        shown: dict[str, Any] = {"label": editor.plain(target.label, name)}  # rdbg's has the value
        if target.text is not None:
            shown["text"] = editor.plain(target.text, name)
        if target.length is not None and target.length < (column or 1):  # gdb has the length of the label there
            shown["length"] = target.length
        if target.start is not None:
            shown["start"] = target.start  # an offset into the text, from 0 for all
        targets.append(shown)
    return {"targets": targets}


# --- Assignments ------------------------------------------------------------------------------------------------------


async def set_variable(editor: Editor, arguments: SetVariableArguments) -> dict[str, Any]:
    """Set a child of a value: by the path that evaluates to it where the probe does it, else by the adapter.

    A path is looked for in the frame: that of a global, or of a child whose path is not known, may be a local's.
    """
    editor.check_control("to set a variable")
    session, snapshot, place = editor.place("variables", arguments.variables_reference)
    can = session.requests.capabilities
    if can.supports_set_variable and (not session.looking.is_python or await _is_outside(editor, session, place)):
        return await _set_by_adapter(editor, session, snapshot, place, arguments)
    place = await as_of_now(session, snapshot, "variables", place)
    body = await session.requests.request("variables", {"variablesReference": place.adapter_id}, VariablesBody)
    found = next((variable for variable in body.variables or [] if variable.name == arguments.name), None)
    if can.engine_requests and (found is None or found.evaluate_name is None):  # in a page behind these, or by no path
        return await _set_by_adapter(editor, session, snapshot, place, arguments)
    if found is None:
        raise EditorRefusal(f"There is no variable {arguments.name} here any more.")
    if found.evaluate_name is None:
        raise EditorRefusal(f"{arguments.name} cannot be set here: the adapter knows no path to it.")
    return await _assign(editor, session, snapshot, found.evaluate_name, arguments.value, place)


async def _is_outside(editor: Editor, session: DebugSession, place: AdapterNumber) -> bool:
    """Return whether a number is that of a scope which holds no locals."""
    frame = await session.looking.frame(place.thread, place.frame, editor.paused()[1])
    scopes = (await session.requests.request("scopes", {"frameId": frame.id}, ScopesBody)).scopes or []
    inside = {scope.variables_reference for scope in chosen_scopes(session.profile.dialect, scopes, "locals")}
    return place.adapter_id in {scope.variables_reference for scope in scopes} - inside


async def _set_by_adapter(
    editor: Editor, session: DebugSession, snapshot: Snapshot, place: AdapterNumber, arguments: SetVariableArguments
) -> dict[str, Any]:
    """Set a child by its name in the value that has it."""
    if not editor.debugger.settings.show_secrets:
        check_arguments({"value": arguments.value})
    assignment: dict[str, Any] = {"name": arguments.name, "value": arguments.value}
    if arguments.format is not None:
        assignment["format"] = arguments.format
    index = {"frame_index": place.frame} if place.frame else {}
    try:
        async with editor.recorded("variable_set", path=arguments.name, value=arguments.value, **index) as value:
            place = await settled(session, snapshot, place)
            assignment["variablesReference"] = place.adapter_id
            body = await session.requests.request("setVariable", assignment, SetVariableBody, seconds=ASSIGN_SECONDS)
            if not body.value:  # lldb-dap does not say what it is then
                body = await _read_back(session, place, arguments, body)
            answer = _value(editor, arguments.name, body.value, body.type)
            value.append(answer["result"])
    finally:
        session.refresh_locals()  # also after a failure: the value may have run code of the program
    answer["value"] = answer.pop("result")
    # Of the stop in which it was asked for: by now there may be another one, where the adapter has other values.
    answer["variablesReference"] = editor.number(
        "variables",
        snapshot,
        body.variables_reference or 0,
        thread=place.thread,
        frame=place.frame,
        way=None if place.way is None else place.way.to(arguments.name),
    )
    return _with_more(editor, answer, body.named_variables, body.indexed_variables, body.memory_reference)


async def _read_back(
    session: DebugSession, place: AdapterNumber, arguments: SetVariableArguments, answered: SetVariableBody
) -> SetVariableBody:
    """Return what a child is that was set; what was answered if that cannot be read, as it is set in any case."""
    adapter_arguments: dict[str, Any] = {"variablesReference": place.adapter_id}
    adapter_arguments |= {} if arguments.format is None else {"format": arguments.format}
    with suppress(DebugError):
        body = await session.requests.request("variables", adapter_arguments, VariablesBody, seconds=HOVER_SECONDS)
        called = [variable for variable in body.variables or [] if variable.name == arguments.name]
        if len(called) == 1:
            [now] = called
            counts = now.named_variables, now.indexed_variables
            return SetVariableBody(now.value, now.type, now.variables_reference, *counts, now.memory_reference)
    return answered


async def set_expression(editor: Editor, arguments: SetExpressionArguments) -> dict[str, Any]:
    """Set what an expression stands for."""
    editor.check_control("to set an expression")
    session, snapshot = editor.paused()
    place = AdapterNumber(snapshot.id, snapshot.generation, 0, snapshot.stack.thread_id or 0)
    if arguments.frame_id is not None:
        place = editor.place("frame", arguments.frame_id)[2]
    return await _assign(editor, session, snapshot, arguments.expression, arguments.value, place)


async def _assign(
    editor: Editor, session: DebugSession, snapshot: Snapshot, path: str, value: str, place: AdapterNumber
) -> dict[str, Any]:
    answer = await editor.call(
        "variable_set",
        full=True,
        session_id=session.id,
        path=path,
        value=value,
        frame_index=place.frame,
        thread_id=place.thread or None,
    )
    shown = editor.plain(answer["variable"]["value"], path)
    now = session.snapshot
    if now is None or now.generation != snapshot.generation:  # the program runs, and has other values at its next stop
        return {"value": shown}
    seconds = editor.debugger.patience.seconds(HOVER_SECONDS)
    with trio.move_on_after(seconds):
        try:
            frame = await session.looking.frame(place.thread, place.frame, snapshot)
            found = await _numbered(session, frame, path, seconds)
        except DebugError:  # also when the program runs by now: it is set
            return {"value": shown}
        value_now = _value(editor, path, found.value, found.type)
        await session.requests.heard()
        value_now["variablesReference"] = _number(editor, snapshot, place, found, path)
        value_now["value"] = value_now.pop("result")
        return _with_more(editor, value_now, found.named, found.indexed, found.memory)
    return {"value": shown}
