"""What persons did and said, in the answers to agents."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types

from trio_debugmcp.server.answers.answer import with_notes
from trio_debugmcp.server.people.deeds import deed_of
from trio_debugmcp.server.people.messages import take_messages
from trio_debugmcp.server.people.presence import current_caller
from trio_debugmcp.server.tools.others import OtherClients
from trio_debugmcp.session.debugger import Debugger


def deed_in(
    debugger: Debugger,
    tool: str,
    arguments: Mapping[str, Any],
    result: types.CallToolResult,
    *,
    moves: bool,
    by_person: bool,
) -> str | None:
    """Return what a person did; empty if the call only read, as pages do by themselves; None if an agent called."""
    if not by_person and not current_caller(debugger).is_person:
        return None
    if not moves:
        return ""
    return deed_of(tool, arguments, result.structured_content or {})


async def with_words(debugger: Debugger, others: OtherClients, result: types.CallToolResult) -> types.CallToolResult:
    """Return an answer to an agent with what persons did and said. Nothing may be awaited between this and sending."""
    who = current_caller(debugger)
    if who.party is None or who.is_person:
        return result
    words = await take_messages(debugger, who.party)
    notes = [*others.deeds(who.client), *words]
    return with_notes(result, notes) if notes else result
