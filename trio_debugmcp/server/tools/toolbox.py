"""`Toolbox`: the tools of a server, listed and called.

    tools = open_toolbox()
    result = await tools.call(debugger, "debug_step", {"mode": "over"}, "control", client="claude-code")

A call is recorded in the timeline, and its answer has what persons did and said meanwhile.
"""

import logging
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec
import trio
from msgspec.structs import replace

from trio_debugmcp.errors import NO_SESSION, AdapterGone, DebugError, UsageError
from trio_debugmcp.server.answers.answer import whole
from trio_debugmcp.server.answers.experiments import BatchStop
from trio_debugmcp.server.answers.last_bounds import most_bytes
from trio_debugmcp.server.answers.moment import for_card
from trio_debugmcp.server.answers.said_before import LastStops
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.call_result import ListedTool, ToolResult
from trio_debugmcp.server.failures import usage_error
from trio_debugmcp.server.instructions import instructions_for
from trio_debugmcp.server.naming import MORE, Naming
from trio_debugmcp.server.people.other_clients import OtherClients
from trio_debugmcp.server.people.person_actions import looks_on
from trio_debugmcp.server.people.turns import in_turn
from trio_debugmcp.server.people.words import deed_in, with_words
from trio_debugmcp.server.tool_names import tools_meant
from trio_debugmcp.server.tools.converting import converted
from trio_debugmcp.server.tools.full import Beside, CallOutcome, apart, call_outcome, checked, failed_call
from trio_debugmcp.server.tools.story import RecordedCall, Story
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import READER, Debugger
from trio_debugmcp.session.program_at_hand import chosen
from trio_debugmcp.state.changes import FocusMoved

log = logging.getLogger(__name__)

ENDING_SECONDS = 1.0
"""For a session whose adapter is gone to leave the state: the next call must not find it paused."""

PERSON = "a person (card in the chat)"
"""The name of the client that calls the tools of the card, in the timeline and in the notes of the agent's answers."""


class Toolbox:
    """The tools of a server, listed and called for a role.

    Args:
        no_session: what a read without a session answers.
        core_only: the list has only the tools of every day, and the one that stands for the others.
        more: makes that one, of those that it stands for and of those that are in the list.

    Attributes:
        naming: how clients with this list call tools.
        instructions: what they get at the start.
        story: the calls, and the last answers.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        no_session: str = NO_SESSION,
        *,
        core_only: bool = False,
        more: Callable[[Sequence[Tool], Sequence[Tool]], Tool] | None = None,
    ) -> None:
        self.naming = Naming([tool.name for tool in tools.values() if tool.listing == "full"] if core_only else ())
        self.no_session = self.naming.text(no_session)
        self.instructions = instructions_for(core_only=core_only)
        self._tools = tools
        self._more = more
        self._lists: dict[Role, list[ListedTool]] = {}
        self._others = OtherClients()
        self.story = Story()
        self._last_stops = LastStops()
        self._listings = ("core", "core_only") if core_only else ("core", "full")

    def __repr__(self) -> str:
        return f"<Toolbox of {len(self.names)} tools>"

    @property
    def names(self) -> list[str]:
        """The names of all tools, listed or not."""
        return list(self._tools)

    def parameters(self, name: str) -> list[str]:
        """Return the parameters that a tool accepts, listed or not."""
        return [field.encode_name for field in msgspec.structs.fields(self._tools[name].params)]

    def described(self, name: str, role: Role) -> list[ListedTool]:
        """Return one tool with all of its parameters, without making the list; none if it may not be called."""
        tool = self._tools.get(name)
        return [tool.described(self.naming)] if tool is not None and tool.allows(role) else []

    @property
    def tools(self) -> list[Tool]:
        """All tools, listed or not."""
        return list(self._tools.values())

    def listed(self, role: Role = "control") -> list[ListedTool]:
        """Return what `tools/list` answers. The schemas are made at the first call: they cost start-up time."""
        if role not in self._lists:
            allowed = [tool for tool in self.tools if tool.allows(role)]
            others = [tool for tool in allowed if tool.listing == "full"]
            shown = [tool for tool in allowed if tool.listing in self._listings]
            if self._more is not None:
                shown = [self._more(others, shown) if tool.name == MORE else tool for tool in shown]
            self._lists[role] = [tool.listed() if tool.name == MORE else tool.listed(self.naming) for tool in shown]
        return self._lists[role]

    def controls(self, name: str) -> bool:
        """Return whether that tool can change the debugged program or run code in it."""
        tool = self._tools.get(name)
        return tool is not None and tool.acts_on != "people" and not tool.allows("observe")

    async def call(
        self,
        debugger: Debugger,
        name: str,
        arguments: dict[str, Any],
        role: Role = "control",
        client: str | None = None,
        reader: Hashable = None,
    ) -> ToolResult:
        """Run a tool and record the call in the timeline. Every failure but a cancellation becomes a failed result.

        `reader`: whose reports have what is new in the output since the last report to the same.
        """
        beside, arguments = apart(arguments)
        tool = self._tools.get(name)
        if tool is not None and tool.by_person:
            reader, client = self._others.person_beside(reader), PERSON
        READER.set(self._others.caller(reader, client))  # for this task, which serves this call
        if tool is not None and (not tool.noted or looks_on(client, name)):
            ran = await self._run(debugger, name, arguments, role, (reader, client), beside)
            return await with_words(debugger, self._others, ran.result)
        async with self.story.recorded(debugger, name, arguments, (reader, client), beside.said) as call:
            ran = await self._run(debugger, name, arguments, role, (reader, client), beside)
            call.came_to(ran.words, ran.code)
            if ran.code is None and tool is not None:
                is_deed = tool.moves or tool.read_only
                deed = deed_in(debugger, name, arguments, ran.words, moves=tool.moves) if is_deed else None
                self._others.called(reader, client, name, deed)
                debugger.earlier.keep(name, arguments, debugger.last_start)
        return self.story.answered(call, await with_words(debugger, self._others, ran.result))

    @asynccontextmanager
    async def recorded(
        self, debugger: Debugger, name: str, arguments: dict[str, Any], client: str | None, reader: Hashable
    ) -> AsyncIterator[RecordedCall]:
        """Record what a client does in another way as if it had called this tool, for the length of the block."""
        async with self.story.recorded(debugger, name, arguments, (reader, client)) as call:
            yield call
            if call.code is None:
                READER.set((reader, client))
                self._others.called(reader, client, name, deed_in(debugger, name, arguments, call.result, moves=True))

    async def _run(
        self,
        debugger: Debugger,
        name: str,
        arguments: dict[str, Any],
        role: Role,
        caller: tuple[Hashable, str | None],
        beside: Beside,
    ) -> CallOutcome:
        """Return what came of a call."""
        try:
            tool = self._tools.get(name)
            if tool is None:
                named = [tool.name for tool in self.tools if tool.listing != "none"]
                raise _unknown_tool(name, named, [tool.name for tool in self.listed(role)])
            if not tool.allows(role):
                raise tool.refusal()
            params = converted(name, tool.params, arguments)
            as_data = checked(beside)
            for part in ("show", "address") if role == "observe" else ():  # they run code, and read any memory
                if getattr(params, part, None):
                    raise tool.refusal(f" with `{part}`")
            if tool.moves:
                params = await in_turn(debugger, name, arguments, params, by_person=tool.by_person)
            with chosen(_named_session(debugger, params)):
                result = await tool.run(debugger, params)
            if isinstance(result, StopAnswer) and result.session is not None and self.controls(name):
                await debugger.merger.merge(FocusMoved(result.session))
        except (DebugError, OSError, msgspec.ValidationError) as error:
            if isinstance(error, AdapterGone):
                await _wait_ended(debugger)
            return failed_call(usage_error(error))
        except Exception as error:
            log.exception("tool %s", name)
            problem = f"{name} failed because of a bug in the debugger: {type(error).__name__}: {error}"
            return failed_call(UsageError("INTERNAL", problem))
        meta, last = None, getattr(result, "stop", None)
        if isinstance(last, StopAnswer):
            shown = self._last_stops.shown(caller, last, beside=True)
            result = replace(result, stop=replace(shown, moment=None))
        if isinstance(result, StopAnswer):
            result = self._last_stops.shown(caller, result, beside=isinstance(result, BatchStop))
            notes = [*result.notes, *self._others.notes(*caller, self.controls)]
            moment, result = result.moment, replace(result, notes=notes, moment=None)
            meta = for_card(moment, partial(whole, result))
        return call_outcome(result, meta, full=as_data, most=most_bytes(params))


async def _wait_ended(debugger: Debugger) -> None:
    """Wait until the sessions have ended whose adapters are gone, or if all are connected, those whose program is."""
    sessions = [session for session in debugger.living_sessions() if session.requests.started]
    gone = [session for session in sessions if not session.requests.connected] or sessions
    with trio.move_on_after(debugger.patience.seconds(ENDING_SECONDS)):
        for each in gone:
            await each.closed.wait()


def _named_session(debugger: Debugger, params: Params) -> str | None:
    """Return the session that a call names, which may have ended.

    Raises:
        UsageError: `NO_SESSION`: it is not known.
    """
    named: str | None = getattr(params, "session_id", None)
    if named is not None and debugger.programs.of(named) is None:
        debugger.session(named)
    return named


def _unknown_tool(name: str, named: Sequence[str], listed: Sequence[str]) -> UsageError:
    """Return the `INVALID_PARAMETER` error of a tool that is not there, with those first that may be meant.

    `named`: all that may be meant; `listed`: those in the client's list.
    """
    others = f" {MORE} without arguments names the others." if listed[-1:] == [MORE] else ""
    sentence = (
        f"There is no tool '{name}'.{tools_meant(name, named)} tools/list has the {len(listed)} there are.{others}"
    )
    return UsageError("INVALID_PARAMETER", sentence, {})
