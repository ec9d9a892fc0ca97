"""What an editor's numbers stand for after an evaluation that has called a function, which ends those of some adapters.

    snapshot, place, body = await asked(editor.place, "variables", 7, ask)    # with the adapter's number of now

With gdb a watch such as `square(4)` ends all numbers in the midst of a stop, and soon others have them. So a frame is
looked for again by its index, and a value by its way: the scope, or the path, that it is in, and the names down to it.
"""

import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapScope, DapVariable, ScopesBody, VariablesBody
from trio_debugmcp.editors.numbers import AdapterNumber, Kind, Way
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot, StackFrame

EVALUATE_SECONDS = 3.0
"""For a path that leads to a value."""

QUIET_SECONDS = 5.0
"""For evaluations to end before a value is set: they may renew the number that it is set by."""

_LOOK_SECONDS = 0.01
"""From one look at whether they have ended to the next."""

ATTEMPTS = 3
"""An editor evaluates its watches while it asks for values; more functions than these are called by others."""

_PATH = re.compile(r"\s*[*&]*[A-Za-z_]\w*(?:(?:\.|->|::)\w+|\[\d+\])*\s*")
"""An expression that only leads to a value: `order.items[3]`, `*node->next`."""

PlaceOf = Callable[[Kind, int], tuple[DebugSession, Snapshot, AdapterNumber]]
"""From a number that an editor was given to what it stands for."""

T = TypeVar("T")


def renews(session: DebugSession) -> bool:
    """Return whether an evaluation that calls a function ends the adapter's numbers."""
    return session.profile.dialect.call_reason is not None


def way_to_scope(session: DebugSession, name: str) -> Way | None:
    """Return how a scope is found again, where that may be needed."""
    return Way(scope=name) if renews(session) else None


def way_to_value(session: DebugSession, expression: str) -> Way | None:
    """Return how a value is found again: by evaluating a path once more; what else there is may change something."""
    return Way(expression=expression) if renews(session) and _PATH.fullmatch(expression) else None


async def asked(
    place_of: PlaceOf, kind: Kind, number: int, ask: Callable[[DebugSession, Snapshot, AdapterNumber], Awaitable[T]]
) -> tuple[Snapshot, AdapterNumber, T]:
    """Return what is answered about a number, with its stop and its place; asked again if all were renewed meanwhile.

    Raises:
        DebugError: what `ask` raises.
        EditorRefusal: it is of another stop, or cannot be found again.
    """
    for _ in range(ATTEMPTS):
        session, snapshot, place = place_of(kind, number)
        calls = session.requests.suspension.calls
        found: tuple[AdapterNumber, T] | DebugError
        try:
            now = await as_of_now(session, snapshot, kind, place)
            found = now, await ask(session, snapshot, now)
        except DebugError as error:
            found = error
        await session.requests.heard()
        if session.requests.suspension.calls == calls:
            if isinstance(found, DebugError):
                raise found
            return snapshot, *found
    raise _busy()


async def as_of_now(session: DebugSession, snapshot: Snapshot, kind: Kind, place: AdapterNumber) -> AdapterNumber:
    """Return a place with the number that the adapter has for it now.

    Raises:
        EditorRefusal: it cannot be found again.
    """
    calls = session.requests.suspension.calls
    if place.calls == calls:
        return place
    if kind != "frame" and place.way is None:
        raise _over(session)
    frame = await session.looking.frame(place.thread, place.frame, snapshot)
    if kind == "frame" or place.way is None:
        return replace(place, adapter_id=frame.id, calls=calls)
    return replace(place, adapter_id=await _followed(session, frame, place.way), calls=calls)


async def settled(session: DebugSession, snapshot: Snapshot, place: AdapterNumber) -> AdapterNumber:
    """Return the place of a value with its number of now, once nothing is evaluated that may end it.

    What is sent to it next, at once, goes to that value: an adapter serves requests in their order.

    Raises:
        EditorRefusal: it cannot be found again, or evaluations do not end.
        DebugError: the adapter refuses its children.
    """
    requests = session.requests
    if not renews(session):
        return place
    with trio.move_on_after(requests.patience.seconds(QUIET_SECONDS)):
        while True:
            while requests.evaluations.awaited:  # noqa: ASYNC110 (a count of another room's, and soon 0)
                await trio.sleep(_LOOK_SECONDS)
            now = await as_of_now(session, snapshot, "variables", place)
            failure: DebugError | None = None
            try:  # gdb sets those children that it has named under this number
                await requests.request("variables", {"variablesReference": now.adapter_id}, VariablesBody)
            except DebugError as error:
                failure = error
            await requests.heard()
            if requests.suspension.calls == now.calls and failure is not None:
                raise failure
            if requests.suspension.calls == now.calls and not requests.evaluations.awaited:
                return now
    raise _busy()


async def _followed(session: DebugSession, frame: StackFrame, way: Way) -> int:
    """Return the adapter's number of the value that a way leads to."""
    requests = session.requests
    if way.scope:
        scopes = (await requests.request("scopes", {"frameId": frame.id}, ScopesBody)).scopes or []
        reference = _only(session, scopes, way.scope)
    else:
        seconds = requests.patience.seconds(EVALUATE_SECONDS)
        found = await session.looking.evaluation.in_frame(frame, way.expression, seconds)
        reference = found.evaluation.reference
    for name in way.names:
        body = await requests.request("variables", {"variablesReference": reference}, VariablesBody)
        reference = _only(session, body.variables or [], name)
    return reference


def _only(session: DebugSession, found: "list[DapScope] | list[DapVariable]", name: str) -> int:
    """Return the number of what has a name; of two that are called so either may be meant."""
    called = [item.variables_reference for item in found if item.name == name]
    if len(called) != 1 or not called[0]:
        raise _over(session)
    return called[0]


def _busy() -> EditorRefusal:
    return EditorRefusal("Evaluations call functions of the program, and each ends the debugger's numbers: ask again.")


def _over(session: DebugSession) -> EditorRefusal:
    return EditorRefusal(
        f"An evaluation has called a function since, which ends {session.requests.debugger_name}'s numbers of values: "
        "look at this value once more."
    )
