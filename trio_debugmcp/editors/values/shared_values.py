"""`SharedValues`: what editors ask the adapter about the values of a stop: once for all of them, and beforehand.

    body = await values.ask(session, snapshot, "scopes", {"frameId": 7}, ScopesBody)
    values.look_ahead(session, snapshot)     # the variables of the top frame, which the person's editor shows next

An answer holds for one stop, and until a client may have changed a value. Who asks for what is asked for already waits
for that; it is asked again only if its first asker has left.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec
import trio

from trio_debugmcp.dap.messages import ScopesBody, VariablesBody
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot

MAX_ANSWERS = 32
"""Of one stop that are kept: the scopes and values that are open in an editor. The oldest are forgotten."""

MAX_KEPT_VARIABLES = 500
"""In an answer that is kept; a larger one is for who asks for it, and for who asks meanwhile."""

_MAX_AHEAD = 16
"""Stops that wait to be looked at beforehand; of one beyond that the editor's own questions are the first."""

T = TypeVar("T")


class _SharedAnswer(msgspec.Struct):
    """The answer to come, or that has come; with neither its asker has left."""

    came: trio.Event
    body: object = None
    error: DebugError | None = None


class _Stop(msgspec.Struct, frozen=True):
    """What is known of one stop of a session, since the last change of a value: by request and arguments."""

    moment: tuple[int, int]
    answers: dict[tuple[str, bytes], _SharedAnswer]


class SharedValues:
    """The values that the editors of one server show."""

    def __init__(self) -> None:
        self._stops: WeakKeyDictionary[DebugSession, _Stop] = WeakKeyDictionary()
        self._ahead, self._wanted = trio.open_memory_channel[tuple[DebugSession, Snapshot]](_MAX_AHEAD)

    def __repr__(self) -> str:
        return f"<SharedValues of {len(self._stops)} sessions>"

    async def run(self) -> None:
        """Ask beforehand, until cancelled."""
        async with trio.open_nursery() as nursery:
            async for session, snapshot in self._wanted:
                nursery.start_soon(self._look_ahead, session, snapshot)

    async def ask(
        self, session: DebugSession, snapshot: Snapshot, command: str, arguments: Mapping[str, Any], kind: type[T]
    ) -> T:
        """Return the adapter's answer, which others may have asked for.

        Raises:
            DebugError: as `session.requests.request` does.
        """
        answers = self._answers(session, snapshot)
        key = command, msgspec.json.encode(arguments)
        while (known := answers.get(key)) is not None:
            await known.came.wait()
            if known.error is not None:
                raise known.error
            if known.body is not None:
                return known.body  # type: ignore[return-value]  # of this command
        mine = answers[key] = _SharedAnswer(trio.Event())
        try:
            body = await session.requests.request(command, arguments, kind)
        except DebugError as error:
            mine.error = error
            raise
        else:
            mine.body = body
        finally:
            if not _is_kept(session, mine) and answers.get(key) is mine:
                del answers[key]
            mine.came.set()
        return body

    def forget(self, session: DebugSession) -> None:
        """Have the values of a stop asked for anew: one may have been changed by what clients do not learn of."""
        self._stops.pop(session, None)

    def _answers(self, session: DebugSession, snapshot: Snapshot) -> dict[tuple[str, bytes], _SharedAnswer]:
        moment = snapshot.generation, session.changes
        found = self._stops.get(session)
        if found is None or found.moment != moment:
            found = self._stops[session] = _Stop(moment, {})
        if len(found.answers) > MAX_ANSWERS:
            del found.answers[next(iter(found.answers))]
        return found.answers

    # --- Beforehand ------------------------------------------------------------------------------------------

    def look_ahead(self, session: DebugSession, snapshot: Snapshot) -> None:
        """Begin to ask for the variables of the top frame."""
        with suppress(trio.WouldBlock):
            self._ahead.send_nowait((session, snapshot))

    async def _look_ahead(self, session: DebugSession, snapshot: Snapshot) -> None:
        with suppress(DebugError):  # who asks learns why
            frame = {"frameId": snapshot.stack.frames[0].id}
            scopes = (await self.ask(session, snapshot, "scopes", frame, ScopesBody)).scopes or []
            first = next((scope.variables_reference for scope in scopes if not scope.expensive), 0)
            if first:
                await self.ask(session, snapshot, "variables", {"variablesReference": first}, VariablesBody)


def _is_kept(session: DebugSession, answer: _SharedAnswer) -> bool:
    """Whether an answer that has come is for who asks later, too."""
    if session.profile.dialect.call_reason is not None:  # an evaluation that calls a function ends all numbers
        return False
    return answer.body is not None and len(getattr(answer.body, "variables", None) or ()) <= MAX_KEPT_VARIABLES
