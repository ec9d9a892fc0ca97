"""The request that sets breakpoints on exceptions: it replaces which kinds of exceptions this editor wants to stop at.

What several clients want of exceptions is one breakpoint for each type: `session/breakpoints/exception_settings.py`.
"""

from contextlib import suppress
from typing import Any

from trio_debugmcp.editors.arguments import SetExceptionBreakpointsArguments
from trio_debugmcp.editors.capabilities import FILTERS
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.numbers import number_of
from trio_debugmcp.editors.refusals import refusal_of
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
from trio_debugmcp.state.breakpoint_payloads import exception_breakpoint_payload

_ALL = "*"

_DROPPED = "It stops without its condition: all kinds of exceptions are one breakpoint here, so they need the same one."

_KINDS = [kind["filter"] for kind in FILTERS]
"""The kinds of exceptions, in the order of their numbers."""

_FILTER_IDS = 2**29
"""From the numbers of one kind of exceptions to those of the next: a number of DAP has 31 bits, and there are three."""


async def set_exception_breakpoints(editor: Editor, arguments: SetExceptionBreakpointsArguments) -> dict[str, Any]:
    """Set the kinds of exceptions at which this editor wants to stop; answer what has become of each."""
    options = arguments.filter_options or []
    named = [*arguments.filters, *(option.filter_id for option in options)]
    wanted = {*named} & {*_KINDS}
    if editor.role != "control" and not named:
        return {}  # an observer has none: editors send that to all
    editor.check_control("to set breakpoints")
    problem: str | None = None
    conditions = {option.filter_id: option.condition or None for option in options}
    condition = _one_for_all([conditions.get(kind) for kind in wanted])
    editor.book.pass_on_exceptions(editor.owner)
    try:
        await _want(editor, wanted, condition)
    except DebugError as error:
        problem = editor.plain(refusal_of(error).sentence)
    now = _exception_of_all(editor)
    shown = {} if now is None or problem else {kind: _shown(editor, now, _KINDS.index(kind)) for kind in wanted}
    editor.breakpoints.filters = shown
    failed = {"verified": False, "message": problem or "It was removed again."}
    unknown = {"verified": False, "message": f"There is no such kind of exceptions; there are: {', '.join(_KINDS)}."}
    dropped = {kind for kind, wants in conditions.items() if wants != condition}
    answers = [shown.get(kind, failed if kind in wanted else unknown) for kind in named]
    return {
        "breakpoints": [
            {"message": _DROPPED, **answer} if kind in dropped and kind in shown else answer
            for kind, answer in zip(named, answers, strict=True)
        ]
    }


def _one_for_all(conditions: list[str | None]) -> str | None:
    """Return the condition of all kinds, if they have the same; else none holds, as a stop too many is seen."""
    return conditions[0] if len({*conditions}) == 1 else None


async def _want(editor: Editor, wanted: set[str], condition: str | None) -> None:
    spec = ExceptionSpec(
        first_chance="raised" in wanted,
        second_chance="uncaught" in wanted,
        user_unhandled="userUnhandled" in wanted,
        condition=condition,
    )
    if not wanted:
        await _leave(editor)
    elif editor.debugger.breakpoints.exceptions.wishes.of(_ALL, editor.owner) != spec:
        await editor.call(
            "breakpoint_set_exception",
            exception_type=_ALL,
            break_on_first_chance=spec.first_chance,
            break_on_second_chance=spec.second_chance,
            break_on_user_unhandled=spec.user_unhandled,
            condition=spec.condition,
        )


def changed_filters(editor: Editor) -> list[tuple[str, dict[str, Any]]]:
    """Return what has become of the kinds of exceptions of this editor, since that was reported last.

    Of what others want of exceptions DAP has no word.
    """
    if not editor.breakpoints.filters:
        return []
    now = _exception_of_all(editor)
    if now is None:
        gone, editor.breakpoints.filters = editor.breakpoints.filters, {}
        return [("removed", {"id": answer["id"], "verified": False}) for answer in gone.values()]
    shown = {kind: _shown(editor, now, _KINDS.index(kind)) for kind in editor.breakpoints.filters}
    before, editor.breakpoints.filters = editor.breakpoints.filters, shown
    return [("changed", answer) for name, answer in shown.items() if answer != before[name]]


async def _leave(editor: Editor) -> None:
    now, registry = _exception_of_all(editor), editor.debugger.breakpoints
    if now is None or registry.exceptions.wishes.of(_ALL, editor.owner) is None:
        return
    if registry.exceptions.wishes.is_only(_ALL, editor.owner):
        with suppress(UsageError):  # another client has removed it
            await editor.call("breakpoint_remove", id=now.id)
    else:
        await registry.exceptions.leave(now, editor.owner)


def _exception_of_all(editor: Editor) -> ExceptionBreakpoint | None:
    """Return the breakpoint on all exceptions, which is that of all kinds and clients."""
    return next((exception for exception in editor.debugger.state.exceptions if exception.exception_type == _ALL), None)


def _shown(editor: Editor, breakpoint: ExceptionBreakpoint, filter_index: int) -> dict[str, Any]:
    """Return a kind of exceptions as DAP has it. All kinds are one breakpoint here, and one each to the editor."""
    payload = exception_breakpoint_payload(breakpoint)
    number = number_of(breakpoint.id) + filter_index * _FILTER_IDS
    shown: dict[str, Any] = {"id": number, "verified": payload.verified}
    return shown if payload.message is None else {**shown, "message": editor.plain(payload.message)}
