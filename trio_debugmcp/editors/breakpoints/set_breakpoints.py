"""The requests that set breakpoints on lines and functions. Each replaces what this editor has set, and nothing else.

What an editor has not set itself was reported to it by events. Editors take such breakpoints for theirs and send them
back, also by their next connection, to which nothing was reported yet: one at a place of another client's that says
nothing new is that other's, and stays that. Once an editor has left it out, its person has taken it away there: what it
sets at that place later is its own. So is what an editor sends to which the other's was never reported.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.editors.arguments import (
    FunctionBreakpoint,
    SetBreakpointsArguments,
    SetFunctionBreakpointsArguments,
    SourceBreakpoint,
)
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.numbers import number_of
from trio_debugmcp.editors.refusals import EditorRefusal, refusal_of
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.session.breakpoints.specs import spelling
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec, Place
from trio_debugmcp.state.breakpoint_payloads import breakpoint_payload, data_breakpoint_payload

MAX_BREAKPOINTS = 200
"""Breakpoints of one request: an adapter gets all of a file with each. Those beyond are not set, and their answers say
so."""


class _Set(Struct, frozen=True):
    """What came of setting one: its id, what the editor had there, whether it was set just now, or why it was not."""

    wanted: BreakpointSpec
    id: str
    mine: list[Breakpoint] = []
    is_new: bool = False
    error: DebugError | None = None


async def set_breakpoints(editor: Editor, arguments: SetBreakpointsArguments) -> dict[str, Any]:
    """Set this editor's breakpoints of a file."""
    breakpoints = arguments.breakpoints
    if breakpoints is None:
        breakpoints = [SourceBreakpoint(line) for line in arguments.lines or ()]
    if editor.role != "control" and not breakpoints:
        return {"breakpoints": []}  # an observer has none: editors send that to all
    editor.check_control("to set breakpoints")
    file = editor.spelling.our_path(arguments.source.path or "")
    with suppress(UsageError):  # then each breakpoint's answer says why
        # As the tool has it: what is stored under another spelling could not be removed under this one.
        file = editor.debugger.workspace.resolve(file)
    known = spelling(file, editor.debugger.state.breakpoints)
    editor.breakpoints.spellings[known] = file
    wanted = [
        BreakpointSpec(
            file=known,
            line=editor.spelling.our_line(breakpoint.line),
            column=editor.spelling.our_column(breakpoint.column),
            condition=breakpoint.condition or None,
            hit_condition=breakpoint.hit_condition or None,
            log_message=breakpoint.log_message or None,
        )
        for breakpoint in breakpoints
    ]
    return await _replace(editor, known, wanted)


async def set_function_breakpoints(editor: Editor, arguments: SetFunctionBreakpointsArguments) -> dict[str, Any]:
    """Set this editor's breakpoints on functions."""
    if editor.role != "control" and not arguments.breakpoints:
        return {"breakpoints": []}
    editor.check_control("to set breakpoints")
    return await _replace(editor, None, [_function(breakpoint) for breakpoint in arguments.breakpoints])


def _function(breakpoint: FunctionBreakpoint) -> BreakpointSpec:
    return BreakpointSpec(
        function=breakpoint.name, condition=breakpoint.condition or None, hit_condition=breakpoint.hit_condition or None
    )


async def _replace(editor: Editor, file: str | None, wanted: list[BreakpointSpec]) -> dict[str, Any]:
    """Make these the editor's in a file, or on functions; answer what has become of each."""
    places = {spec.place for spec in wanted}
    take_over(editor, _is_in(file))
    _leave_out(editor, file, places)
    results: list[_Set] = []
    async with editor.debugger.breakpoints.batch() as batch:
        for old in editor.book.of(editor.owner, _is_in(file)):
            if old.spec.place not in places:
                await take_back(editor, old)
        done: set[Place] = set()
        for spec in wanted[:MAX_BREAKPOINTS]:
            results.append(_Set(spec, "", error=TWICE) if spec.place in done else await _set(editor, spec))
            done.add(spec.place)
    answers = [await _answer(editor, result, batch.refused) for result in results]
    beyond = {"verified": False, "message": f"more than {MAX_BREAKPOINTS} breakpoints: this is not set"}
    return {"breakpoints": [*answers, *(beyond for _ in wanted[MAX_BREAKPOINTS:])]}


TWICE = EditorRefusal(
    "This request has another breakpoint at the same place, and an editor has one there: give it both."
)


def _is_in(file: str | None) -> Callable[[Breakpoint], bool]:
    """Return whether a breakpoint is in a file, or without one on a function."""
    return lambda breakpoint: breakpoint.spec.file == file and (breakpoint.spec.function is not None) == (file is None)


def take_over(editor: Editor, is_meant: Callable[[Breakpoint], bool]) -> None:
    """Make what this editor has set before it left its own again, of those that are meant: its answer reports them."""
    for breakpoint_id in editor.book.take_over(editor.owner, is_meant):
        editor.breakpoints.reported.setdefault(breakpoint_id, None)


def announce(editor: Editor, breakpoint: Breakpoint) -> None:
    """Record that a breakpoint of another client is reported to an editor."""
    places = _places(editor, breakpoint)
    editor.breakpoints.announced.add(breakpoint.id)
    editor.book.announced.add(editor.name, breakpoint.id, *places)


def _leave_out(editor: Editor, file: str | None, wanted: set[Place]) -> None:
    """Tell the person which breakpoints of others stay that the editor shows no more: the program stops there."""
    for breakpoint in filter(_is_in(file), editor.debugger.state.breakpoints):
        places = _places(editor, breakpoint)
        if not wanted.isdisjoint(places):
            continue
        editor.breakpoints.asked.pop(breakpoint.spec.place, None)
        if not editor.book.is_owner(editor.owner, breakpoint.id):
            editor.breakpoints.absent.update(places)
        if breakpoint.id in editor.breakpoints.announced:
            editor.breakpoints.forget(breakpoint.id)
            editor.book.announced.discard(editor.name, breakpoint.id, *places)
            if editor.book.is_familys(editor.owner, breakpoint.id):
                continue  # by the connection that has set it, it is taken back
            who, where = (
                " and ".join(breakpoint.set_by) or "another client",
                breakpoint.spec.function or f"line {breakpoint.spec.line}",
            )
            said = f"The breakpoint of {who} on {where} stays: it is not yours. What you set there now is yours.\n"
            editor.channel.event("output", {"category": "console", "output": editor.plain(said)})


async def _answer(editor: Editor, result: _Set, refused: Mapping[str, DebugError]) -> dict[str, Any]:
    """Answer what has become of one, now that the adapter has it."""
    error = result.error or (refused.get(result.id) if result.is_new else None)
    if error is not None:
        await _withdraw(editor, result)
        return {"verified": False, "message": editor.plain(refusal_of(error).sentence)}
    now = next((breakpoint for breakpoint in editor.debugger.state.breakpoints if breakpoint.id == result.id), None)
    if now is None:  # another client has removed it meanwhile
        return {"verified": False, "message": "It was removed again."}
    editor.breakpoints.asked[result.wanted.place] = result.wanted.terms
    return shown_to(editor, now)


async def _withdraw(editor: Editor, refused: _Set) -> None:
    """Take back what stops the program under a breakpoint that is shown as refused."""
    now = next((breakpoint for breakpoint in editor.debugger.state.breakpoints if breakpoint.id == refused.id), None)
    before = {breakpoint.id for breakpoint in refused.mine}
    if now is not None and now.id not in before:
        if now.spec.terms == refused.wanted.terms:  # set, and then the adapter would not have it
            await take_back(editor, now)
        else:  # it is again what it was before, and not this editor's
            await editor.book.leave(editor.owner, now)
    for breakpoint in refused.mine:
        await take_back(editor, breakpoint)


async def take_back(editor: Editor, breakpoint: Breakpoint) -> None:
    """Take back what this editor has set; it stays if another client has set it as well.

    Raises:
        EditorRefusal: another person holds the program.
    """
    shown = editor.breakpoints.reported.pop(breakpoint.id, None)  # of what it has removed itself it gets no event
    is_done = False
    try:
        if editor.book.is_only(editor.owner, breakpoint.id):
            with suppress(UsageError):  # another client has removed it
                await editor.call("breakpoint_remove", id=breakpoint.id)
        is_done = True
    finally:
        if not is_done and shown is not None:  # refused or cancelled: it is still this editor's
            editor.breakpoints.reported[breakpoint.id] = shown
    await editor.book.leave(editor.owner, breakpoint)


async def made_or_refused(
    editor: Editor, mine: Callable[[Editor], list[Breakpoint]], make: Callable[[], Awaitable[Any]]
) -> Breakpoint | str:
    """Make a breakpoint; return it, or the reason why there is none.

    `mine` returns those that this editor has set, of this kind; `make` calls the tool that sets it.
    """
    before = {breakpoint.id for breakpoint in mine(editor)}
    try:
        answer = await make()
    except DebugError as error:
        for breakpoint in mine(editor):  # set, and then the adapter would not have it
            if breakpoint.id not in before:
                await take_back(editor, breakpoint)
        return editor.plain(refusal_of(error).sentence)
    made = next((breakpoint for breakpoint in editor.debugger.state.breakpoints if breakpoint.id == answer["id"]), None)
    return made or "It was removed again."


async def _set(editor: Editor, wanted: BreakpointSpec) -> _Set:
    here = [breakpoint for breakpoint in editor.debugger.state.breakpoints if breakpoint.spec.place == wanted.place]
    mine = [breakpoint for breakpoint in here if editor.book.is_owner(editor.owner, breakpoint.id)]
    same = next((breakpoint for breakpoint in mine if breakpoint.spec.terms == wanted.terms), None)
    if same is None and mine and editor.breakpoints.asked.get(wanted.place) == wanted.terms:
        same = mine[0]  # another client has edited it, and the editor sends with another one what it has sent before
    if same is None and not mine and wanted.terms == _PLAIN:
        same = _echoed(editor, wanted.place)
    if same is not None:
        return _Set(wanted, same.id)
    try:
        answer = await editor.call("breakpoint_set", **{name: getattr(wanted, name) for name in _PARAMETERS})
    except DebugError as error:
        return _Set(wanted, "", mine, error=error)
    return _Set(wanted, answer["id"], mine, is_new=True)


def _echoed(editor: Editor, place: Place) -> Breakpoint | None:
    """Return the breakpoint of another client that was reported to an editor, which shows it at that place."""
    for breakpoint in editor.debugger.state.breakpoints:
        if place not in _places(editor, breakpoint) or editor.book.is_owner(editor.owner, breakpoint.id):
            continue
        before = place not in editor.breakpoints.absent and editor.book.announced.has(editor.name, breakpoint.id, place)
        if before or breakpoint.id in editor.breakpoints.announced:
            return breakpoint
    return None


def _places(editor: Editor, breakpoint: Breakpoint) -> set[Place]:
    """Return where a breakpoint is, and the line on which an editor shows it if the adapter has moved it there."""
    line = breakpoint_payload(_here(editor, breakpoint)).line
    shown = [] if line is None else [BreakpointSpec(file=breakpoint.spec.file, line=line).place]
    return {breakpoint.spec.place, *shown}


_PLAIN = (None, None, None)
"""The terms of a breakpoint that says nothing but where it is."""

_PARAMETERS = ("file", "line", "column", "function", "condition", "hit_condition", "log_message")
"""What an editor may ask of the tool."""


def shown_to(editor: Editor, breakpoint: Breakpoint) -> dict[str, Any]:
    """Return a breakpoint as DAP has it, which this answer reports: no event needs to."""
    shown = editor.breakpoints.reported[breakpoint.id] = breakpoint_of(editor, breakpoint)
    return shown


def _news(editor: Editor, breakpoint: Breakpoint) -> str | None:
    """Return what a breakpoint says besides its place, if this editor has not asked for just that.

    DAP has no word for it in what is reported, so an editor shows it as a message.
    """
    is_mine = editor.book.is_owner(editor.owner, breakpoint.id)
    spec = breakpoint.spec
    if spec.terms == (editor.breakpoints.asked.get(spec.place, spec.terms) if is_mine else _PLAIN):
        return None
    terms = [f"if {spec.condition}"] if spec.condition else []
    terms += [f"at hit {spec.hit_condition}"] if spec.hit_condition else []
    terms += [f"logs {spec.log_message}"] if spec.log_message else []
    who = "changed by another client" if is_mine else f"set by {' and '.join(breakpoint.set_by) or 'another client'}"
    return f"{who}: {', '.join(terms) or 'it always stops'}"


def breakpoint_of(editor: Editor, breakpoint: Breakpoint) -> dict[str, Any]:
    """Return a breakpoint as DAP has it: where it really is, and why it is not verified."""
    breakpoint = _here(editor, breakpoint)
    if breakpoint.spec.watch is not None:
        data = data_breakpoint_payload(breakpoint, breakpoint.spec.watch)
        watched: dict[str, Any] = {"id": number_of(breakpoint.id), "verified": data.verified}
        return watched if data.message is None else {**watched, "message": editor.plain(data.message)}
    payload = breakpoint_payload(breakpoint)
    shown: dict[str, Any] = {"id": number_of(breakpoint.id), "verified": payload.verified}
    if payload.line is not None:
        shown["line"] = editor.spelling.line(payload.line)
    if payload.file is not None:
        shown["source"] = editor.source_of(editor.breakpoints.spellings.get(payload.file, payload.file))
    if breakpoint.spec.address is not None:
        shown["instructionReference"] = breakpoint.spec.address
    if payload.message is not None:
        shown["message"] = editor.plain(payload.message)
    elif not payload.verified:
        shown["message"] = "disabled" if not payload.enabled else "not set in the program yet"
    elif (news := _news(editor, breakpoint)) is not None:
        shown["message"] = editor.plain(news)
    return shown


def _here(editor: Editor, breakpoint: Breakpoint) -> Breakpoint:
    """Return a breakpoint as the program has it that this editor shows: what others make of it says nothing of that."""
    state = editor.debugger.state
    if len(state.snapshots) <= 1 or state.snapshot(editor.session_id or "") is None:
        return breakpoint
    roots = state.roots()
    mine = roots[editor.session_id or ""]
    return replace(
        breakpoint, bindings=tuple(binding for binding in breakpoint.bindings if roots.get(binding.session_id) == mine)
    )
