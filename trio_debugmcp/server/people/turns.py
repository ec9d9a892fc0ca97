"""The turn of a call that moves or changes the program: at once, or when a person hands it back."""

from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.people.hold import holds_another, refuse_if_held, step_aside
from trio_debugmcp.server.people.presence import current_caller
from trio_debugmcp.session.debugger import Debugger

LEAST_SECONDS = 1.0
"""Of its own time a call keeps so much, however long it has waited: its answer takes some."""

P = TypeVar("P", bound=Struct)


async def in_turn(debugger: Debugger, tool: str, arguments: Mapping[str, object], params: P, *, by_person: bool) -> P:
    """Wait while another holds the programs. Returns the parameters, with what is left of the call's `timeout`.

    `by_person`: the person in front of an agent presses a button, and is not kept waiting.

    Raises:
        UsageError: `HELD`: they are held for longer than the call may wait.
    """
    who = current_caller(debugger)
    if by_person:
        refuse_if_held(debugger, who)
    timeout: float | None = getattr(params, "timeout", None)
    waited = await step_aside(debugger, who, tool, timeout)
    if not waited:
        return params
    if isinstance(who.client, Client):  # the person has become the owner meanwhile, by stepping
        who.client.take_control(arguments)
    if timeout is None:
        return params
    return replace(params, timeout=max(timeout - waited, min(timeout, LEAST_SECONDS)))


def is_held(debugger: Debugger) -> bool:
    """Whether a person holds the programs who has not called the tool that this task runs."""
    return holds_another(debugger.state.people, current_caller(debugger).id)
