"""What persons did and said, in the answers to agents."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import trio

from trio_debugmcp.masking.masked_answers import masked_json
from trio_debugmcp.server.answers.answer import with_notes
from trio_debugmcp.server.answers.recorded.recorded_moment import BACK_IN_PRESENT
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.people.chat import take_messages
from trio_debugmcp.server.people.other_clients import OtherClients
from trio_debugmcp.server.people.person_actions import deed_of, is_watch, watching
from trio_debugmcp.server.people.presence import current_caller, is_person
from trio_debugmcp.session.debugger import Debugger, current_reader


def deed_in(
    debugger: Debugger,
    tool: str,
    arguments: Mapping[str, Any],
    result: ToolResult,
    *,
    moves: bool,
) -> str | None:
    """Return what a person did; empty if the call only read, as pages do by themselves; None if an agent called."""
    if not is_person(debugger, *current_reader()):
        return None
    if not moves:
        return ""
    answer = result.structured_content or {}
    if answer.get("state") == "Recorded" or BACK_IN_PRESENT in answer.get("notes", ()):  # it was shown the past
        return ""
    if not debugger.settings.show_secrets:  # here, as a sentence does not show which part of it is whose value
        arguments, answer = masked_json(dict(arguments)), masked_json(answer, str(arguments.get("path") or ""))
    if is_watch(current_reader()[1], tool, arguments):
        return watching(str(arguments.get("expression")))
    return deed_of(tool, arguments, answer)


async def with_words(debugger: Debugger, others: OtherClients, result: ToolResult) -> ToolResult:
    """Return an answer to an agent with what persons did and said. Nothing may be awaited between this and sending."""
    who = current_caller(debugger)
    if who.party is None or who.is_person:
        return result
    words = await take_messages(debugger, who.party)
    # A call that its client has cancelled is not answered: what was done is for the next one.
    cancelled = trio.current_effective_deadline() <= trio.current_time()
    deeds = [] if cancelled else others.deeds(who.client, who.name, sorted(at for at, _ in words))
    notes = [note for _, note in sorted([*deeds, *words], key=itemgetter(0))]
    return with_notes(result, notes) if notes else result
