"""The requests that watch data: whether a variable can be watched, and which are."""

import re
from functools import partial
from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.messages import DataBreakpointInfoBody, VariablesBody
from trio_debugmcp.editors.arguments import DataBreakpoint, DataBreakpointInfoArguments, SetDataBreakpointsArguments
from trio_debugmcp.editors.breakpoints.set_breakpoints import made_or_refused, shown_to, take_back, take_over
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.editors.values.renewing import as_of_now
from trio_debugmcp.state.breakpoint import Breakpoint

_DATA_ID = re.compile(r"([^:]*):(\d{1,19}):(\d{1,19}):(\d{1,19}):(.+)", re.DOTALL)


class _Shown(Struct, frozen=True):
    """Where a variable was shown: its id says that, as the same path may mean another one elsewhere."""

    session_id: str
    generation: int
    thread: int
    frame: int
    path: str


async def data_breakpoint_info(editor: Editor, arguments: DataBreakpointInfoArguments) -> dict[str, Any]:
    """Answer whether a variable can be watched; the id is the path that evaluates to it, in its frame."""
    editor.check_control("to watch data")
    session, snapshot = editor.paused()
    session.requests.need("supportsDataBreakpoints", "watch data", "Use a breakpoint with a condition.")
    adapter_arguments: dict[str, Any] = {"name": arguments.name}
    path, thread, frame = arguments.name, snapshot.stack.thread_id or 0, 0
    if arguments.variables_reference:
        place = editor.place("variables", arguments.variables_reference)[2]
        place = await as_of_now(session, snapshot, "variables", place)
        adapter_arguments["variablesReference"] = place.adapter_id
        thread, frame = place.thread, place.frame
        body = await session.requests.request("variables", {"variablesReference": place.adapter_id}, VariablesBody)
        child = next((variable for variable in body.variables or [] if variable.name == arguments.name), None)
        path = (child.evaluate_name if child is not None else None) or arguments.name
    if arguments.frame_id is not None:
        place = await as_of_now(session, snapshot, "frame", editor.place("frame", arguments.frame_id)[2])
        adapter_arguments["frameId"] = place.adapter_id
        thread, frame = place.thread, place.frame
    info = await session.requests.request("dataBreakpointInfo", adapter_arguments, DataBreakpointInfoBody)
    if info.data_id is None:
        return {"dataId": None, "description": editor.plain(info.description)}
    data_id = f"{snapshot.id}:{snapshot.generation}:{thread}:{frame}:{path}"
    answer: dict[str, Any] = {"dataId": data_id, "description": editor.plain(info.description)}
    return answer if info.access_types is None else {**answer, "accessTypes": info.access_types}


async def set_data_breakpoints(editor: Editor, arguments: SetDataBreakpointsArguments) -> dict[str, Any]:
    """Set this editor's breakpoints on data."""
    if editor.role != "control" and not arguments.breakpoints:
        return {"breakpoints": []}
    editor.check_control("to watch data")
    wanted = [(breakpoint, _read(breakpoint.data_id)) for breakpoint in arguments.breakpoints]
    take_over(editor, _is_data)
    kept = {editor.book.watched[editor.owner].get(_key(breakpoint)) for breakpoint, _ in wanted}
    for old in _data(editor):
        if old.id not in kept:
            await take_back(editor, old)
    return {"breakpoints": [await _watch(editor, breakpoint, shown) for breakpoint, shown in wanted]}


async def _watch(editor: Editor, wanted: DataBreakpoint, shown: _Shown) -> dict[str, Any]:
    terms = {"condition": wanted.condition or None, "hit_condition": wanted.hit_condition or None}
    watched = editor.book.watched[editor.owner].get(_key(wanted))
    mine = next((breakpoint for breakpoint in _data(editor) if breakpoint.id == watched), None)
    if mine is not None and terms == {"condition": mine.spec.condition, "hit_condition": mine.spec.hit_condition}:
        return shown_to(editor, mine)
    if mine is not None and editor.book.is_only(editor.owner, mine.id):  # wherever the program is by now
        make = partial(editor.call, "breakpoint_edit", id=mine.id, **terms)
    else:
        make = partial(_set_anew, editor, wanted, shown, **terms)
    made = await made_or_refused(editor, _data, make)
    if isinstance(made, str):
        return {"verified": False, "message": made}
    editor.book.watched[editor.owner][_key(wanted)] = made.id
    return shown_to(editor, made)


async def _set_anew(editor: Editor, wanted: DataBreakpoint, shown: _Shown, **terms: str | None) -> Any:
    _, snapshot = editor.paused()
    if (snapshot.id, snapshot.generation) != (shown.session_id, shown.generation):
        # The path may mean another variable by now, of another call.
        raise EditorRefusal("This variable was shown at a stop that is over: choose it again where it is shown now.")
    return await editor.call(
        "breakpoint_set_data",
        session_id=editor.session_id,
        expression=shown.path,
        access=wanted.access_type or "write",
        frame_index=shown.frame,
        thread_id=shown.thread or None,
        **terms,
    )


def _key(wanted: DataBreakpoint) -> tuple[str, str]:
    return wanted.data_id, wanted.access_type or "write"


def _data(editor: Editor) -> list[Breakpoint]:
    return editor.book.of(editor.owner, _is_data)


def _is_data(breakpoint: Breakpoint) -> bool:
    return breakpoint.spec.watch is not None


def _read(data_id: str) -> _Shown:
    """Return what an id of ours says.

    Raises:
        EditorRefusal: it is not one.
    """
    found = _DATA_ID.fullmatch(data_id)
    if found is None:
        raise EditorRefusal(f"There is no data with the id '{data_id}': no answer to this editor has it.")
    session_id, *numbers, path = found.groups()
    generation, thread, frame = map(int, numbers)
    return _Shown(session_id, generation, thread, frame, path)
