"""What an editor shows of a recorded run: moments in place of the stop at hand, or of a run that has ended.

    served = in_past(looking.stack_trace, recorded_past.stack_trace)    # by where its person is

Its person goes into the past by a step back, where the adapter cannot make one and the session is being recorded, and
comes back by steps forth. Nothing is undone, no other client learns of it, and no code runs: values are the recorded
ones.
"""

from typing import Any, TypeVar

import msgspec

from trio_debugmcp.editors import looking, moving
from trio_debugmcp.editors.arguments import (
    DisconnectArguments,
    EvaluateArguments,
    ScopesArguments,
    SourceArguments,
    StackTraceArguments,
    VariablesArguments,
)
from trio_debugmcp.editors.editor import NOT_IN_PAST, Editor, Serve
from trio_debugmcp.editors.numbers import AdapterNumber, Kind
from trio_debugmcp.editors.past.past_view import PastView
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.moment_values import (
    NoValueError,
    PastVariable,
    frame_variables,
    value_at_moment,
    value_children,
)
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.server.tools.runs.reading_runs import RunQuestion, asked

_SCOPE = -1
"""In place of an object: the variables of a frame."""


T = TypeVar("T")


class PastVariables(msgspec.Struct, frozen=True):
    """Variables of a moment, and whether there are more than these."""

    variables: list[PastVariable]
    has_more: bool = False


class PastQuestion(RunQuestion, frozen=True, kw_only=True):
    """What is asked of a moment."""

    row: int
    frame: int = 0
    object: int = 0
    expression: str | None = None


def in_past(present: Serve, past: Serve) -> Serve:
    """Return what serves a request by where the person of an editor is, or by which moment a number of it is of."""

    async def serve(editor: Editor, arguments: Any) -> dict[str, Any] | None:
        return await (past if _is_about_past(editor, arguments) else present)(editor, arguments)

    return serve


def _is_about_past(editor: Editor, arguments: Any) -> bool:
    for name, kind in _NUMBERED:
        number = getattr(arguments, name, None)
        if number is not None:
            place = editor.ids.find(kind, number)
            return place is not None and place.moment > 0
    return editor.in_past is not None


_NUMBERED: tuple[tuple[str, Kind], ...] = (("variables_reference", "variables"), ("frame_id", "frame"))


async def refused(editor: Editor, arguments: object) -> None:
    """Refuse what cannot be done to a moment."""
    raise EditorRefusal(NOT_IN_PAST, show=True)


async def no_targets(editor: Editor, arguments: object) -> dict[str, Any]:
    """Answer that there is nothing to complete."""
    return {"targets": []}


# --- Looking ----------------------------------------------------------------------------------------------------------


async def threads(editor: Editor, arguments: object) -> dict[str, Any]:
    """Answer the thread of a run that has ended; of a living program there are its own."""
    view = _view(editor)
    if not view.of.has_ended:
        return await looking.threads(editor, arguments)
    return {"threads": [{"id": view.of.thread, "name": f"thread {view.moment.thread} of {view.of.run}"}]}


async def source(editor: Editor, arguments: SourceArguments) -> dict[str, Any]:
    """Answer the text that the innermost frame was made of then; of others that of now."""
    moment, dap_source = _view(editor).moment, arguments.source
    reference = arguments.source_reference or (dap_source.source_reference if dap_source is not None else 0) or 0
    path = editor.sources.path(reference) if reference else None
    if moment.source is not None and path == moment.stack[0].file:
        return {"content": editor.plain(moment.source)}
    return await looking.source(editor, arguments)


async def leave(editor: Editor, arguments: DisconnectArguments) -> None:
    """End what shows a run that has ended; of a living program it is that."""
    if not _view(editor).of.has_ended:
        await moving.terminate(editor, arguments)
        return
    editor.past_events.append(("terminated", None))


async def stack_trace(editor: Editor, arguments: StackTraceArguments) -> dict[str, Any]:
    """Answer a page of the stack of the moment; other threads have none there."""
    view = _view(editor)
    if arguments.thread_id != view.of.thread:
        return {"stackFrames": [], "totalFrames": 0}
    moment, frames = view.moment, []
    for index, place in enumerate(moment.stack):
        shown = {
            "id": _number(editor, "frame", view, _SCOPE, index),
            "name": place.function,
            "line": editor.spelling.line(place.line),
            "column": editor.spelling.column(1),
            "source": editor.source_of(place.file),
        }
        frames.append(shown)
    start = arguments.start_frame
    end = start + arguments.levels if arguments.levels else len(frames)
    return {"stackFrames": frames[start:end], "totalFrames": len(frames)}


async def scopes(editor: Editor, arguments: ScopesArguments) -> dict[str, Any]:
    """Answer the one scope of a recorded frame."""
    view, place = _place(editor, "frame", arguments.frame_id)
    number = _number(editor, "variables", view, _SCOPE, place.frame, place.moment)
    return {
        "scopes": [
            {
                "name": f"Locals (recorded, #{place.moment})",
                "presentationHint": "locals",
                "variablesReference": number,
                "expensive": False,
            }
        ]
    }


async def variables(editor: Editor, arguments: VariablesArguments) -> dict[str, Any]:
    """Answer the variables of a recorded frame, or what was in a value."""
    view, place = _place(editor, "variables", arguments.variables_reference)
    number = 0 if place.adapter_id == _SCOPE else place.adapter_id

    def work(record: ProcessRecord) -> PastVariables:
        past = PastProcess(record)
        if number:
            return PastVariables(*value_children(past, number, place.moment))
        return PastVariables(*frame_variables(past, place.moment, place.frame))

    question = PastQuestion(
        run=view.of.run, process=view.of.process, row=place.moment, frame=place.frame, object=number
    )
    found = (await asked(editor.debugger, question, PastVariables, work)).found
    shown = [_shown(editor, view, place, variable) for variable in found.variables]
    if found.has_more:
        shown.append({"name": "…", "value": "what else there is was not recorded", "variablesReference": 0})
    end = arguments.start + arguments.count if arguments.count else len(shown)
    return {"variables": shown[arguments.start : end]}


def _shown(editor: Editor, view: PastView, place: AdapterNumber, variable: PastVariable) -> dict[str, Any]:
    return {
        "name": editor.plain(variable.name),
        "value": editor.plain(variable.text, variable.name),
        "variablesReference": _inside(editor, view, place, variable),
    }


def _inside(editor: Editor, view: PastView, place: AdapterNumber, variable: PastVariable) -> int:
    """Return the number under which what is in a value is asked for; 0: nothing is."""
    if not variable.object or variable.text.startswith(("<function ", "<class ", "<module ")):
        return 0
    return _number(editor, "variables", view, variable.object, place.frame, place.moment)


async def evaluate(editor: Editor, arguments: EvaluateArguments) -> dict[str, Any]:
    """Answer what a name or path was at a moment. Nothing else is evaluated there."""
    view = _view(editor)
    if not view.of.has_ended:
        editor.check_control("to evaluate")
    place = AdapterNumber("", 0, _SCOPE, moment=view.moment.row)
    if arguments.frame_id is not None:
        view, place = _place(editor, "frame", arguments.frame_id)

    def work(record: ProcessRecord) -> PastVariables:
        try:
            return PastVariables(
                [value_at_moment(PastProcess(record), place.moment, place.frame, arguments.expression)]
            )
        except NoValueError as error:
            reason = str(error)
        raise EditorRefusal(f"{reason[:1].upper()}{reason[1:]}.")

    question = PastQuestion(
        run=view.of.run, process=view.of.process, row=place.moment, frame=place.frame, expression=arguments.expression
    )
    (found,) = (await asked(editor.debugger, question, PastVariables, work)).found.variables
    number = _inside(editor, view, place, found)
    return {"result": editor.plain(found.text, arguments.expression), "variablesReference": number}


# --- Numbers ----------------------------------------------------------------------------------------------------------


def _view(editor: Editor) -> PastView:
    view = editor.in_past
    if view is None:
        raise EditorRefusal("This moment of the record is not shown any more.", word="notStopped")
    return view


def _place(editor: Editor, kind: Kind, number: int) -> tuple[PastView, AdapterNumber]:
    """Return what a number of a moment stands for."""
    place, view = editor.ids.find(kind, number), _view(editor)
    if place is None or (place.session_id, place.generation) != view.of.stop:
        raise EditorRefusal(f"{number} is of a stop that is over.", word="notStopped")
    return view, place


def _number(editor: Editor, kind: Kind, view: PastView, adapter_id: int, frame: int, row: int = 0) -> int:
    """Return an editor's number of a recorded frame or value."""
    place = AdapterNumber(*view.of.stop, adapter_id, view.of.thread, frame, moment=row or view.moment.row)
    return editor.ids.give(kind, place)
