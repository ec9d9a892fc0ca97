"""The story of the calls: an event of the timeline when a call begins, and one when it is over, however it ends.

    async def call_tool():
        async with story.recorded(debugger, "debug_step", {"count": 2}, (reader, "agent")) as call:
            call.came_to(result, None)

Such an event exists for every call that begins: also for one that is cancelled, or whose client vanishes.
"""

from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import trio

from trio_debugmcp.server.answers.result_line import CANCELLED, FAILED, result_line
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.failures import only_cancelled
from trio_debugmcp.server.kept_answers import KeptAnswers
from trio_debugmcp.server.people.presence import is_person
from trio_debugmcp.server.secrets import masked_result
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.merger import MERGE_SECONDS
from trio_debugmcp.state.call_events import tool_called, tool_started
from trio_debugmcp.state.changes import Happened


class RecordedCall:
    """A call in flight, and then what came of it: `result` is without secrets."""

    def __init__(self, number: int, name: str, arguments: Mapping[str, Any], *, show_secrets: bool) -> None:
        self.number = number
        self.is_person = False
        self._name = name
        self._arguments = dict(arguments)
        self._show_secrets = show_secrets
        self.code: str | None = "INTERNAL"
        self.line = FAILED
        self.result = ToolResult()

    def came_to(self, result: ToolResult, code: str | None) -> None:
        """Record the result; `code` is that of a failure. The line is made of what the client is shown."""
        shown = self.without_secrets(result)
        self.code, self.line, self.result = code, result_line(shown, self._name), shown

    def without_secrets(self, result: ToolResult) -> ToolResult:
        """Return a result as the client is shown it."""
        return result if self._show_secrets else masked_result(self._name, self._arguments, result)

    def was_cancelled(self) -> None:
        """Record that the client does not wait for the result any more."""
        self.code, self.line = "CANCELLED", CANCELLED


class Story:
    """Numbers the calls of a server and records them.

    Attributes:
        answers: what the last calls of agents were answered.
    """

    def __init__(self) -> None:
        self.answers = KeptAnswers()
        self._numbers = count(1)

    def __repr__(self) -> str:
        return "<Story>"

    @asynccontextmanager
    async def recorded(
        self,
        debugger: Debugger,
        name: str,
        arguments: Mapping[str, Any],
        caller: tuple[Hashable, str | None],
        said: str | None = None,
    ) -> AsyncIterator[RecordedCall]:
        """Record a call that begins, and at the end of the block what came of it; `said`: by the agent, on why."""
        client = caller[1]
        person = is_person(debugger, *caller)
        number, start = next(self._numbers), trio.current_time()
        about = _about(debugger, arguments)
        call = RecordedCall(number, name, arguments, show_secrets=debugger.settings.show_secrets)
        call.is_person = person
        try:
            began = tool_started(number, name, arguments, client, person=person, session_id=about, said=said)
            await debugger.merger.merge(Happened(began))
            yield call
        except trio.Cancelled:
            call.was_cancelled()
            raise
        except BaseExceptionGroup as group:  # of a nursery that was cancelled while one of its tasks failed
            call.was_cancelled()
            raise only_cancelled(group) from None
        finally:
            over = tool_called(
                number,
                name,
                arguments,
                client,
                milliseconds=(trio.current_time() - start) * 1000,
                error=call.code,
                result=call.line,
                person=person,
                said=said,
                session_id=_answered_about(debugger, call.result) or about,
            )
            # Shielded, so that a cancelled call is recorded too; bounded, as everything in a shield is.
            with trio.move_on_after(MERGE_SECONDS, shield=True):
                await debugger.merger.merge(Happened(over))

    def answered(self, call: RecordedCall, result: ToolResult) -> ToolResult:
        """Keep what an agent is answered, for people who look at its work, and return it."""
        if not call.is_person:
            self.answers.keep(call.number, call.without_secrets(result))
        return result


def _about(debugger: Debugger, arguments: Mapping[str, Any]) -> str | None:
    """Return which of several sessions a call is about; None if there is only one."""
    state = debugger.state
    named = arguments.get("session_id") or state.focus
    return named if len(state.snapshots) > 1 and isinstance(named, str) and state.snapshot(named) is not None else None


def _answered_about(debugger: Debugger, result: ToolResult) -> str | None:
    """Return which of several sessions an answer is about, as it says: that of a launch has begun since."""
    named = (result.structured_content or {}).get("session")
    return named if isinstance(named, str) and len(debugger.state.snapshots) > 1 else None
