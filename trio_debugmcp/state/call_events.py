"""The timeline's events of a tool call: one when it begins, one when it is over. Pure.

    tool_started(7, "debug_step", {"count": 2}, "agent")
    tool_called(7, "debug_step", {"count": 2}, "agent", milliseconds=12.3, error=None, result="Paused Step shop.py:16")

`call` is the same number in both. A call that has no end yet is in flight.
"""

from collections.abc import Mapping
from typing import Any

from trio_debugmcp.state.changes import Happening
from trio_debugmcp.state.payloads import shortened, to_json

MAX_ARGUMENT_LENGTH = 80
"""Characters of an argument of a tool: enough to recognise the call."""

MAX_RESULT_LENGTH = 300
"""Characters of what came of a call: a line or two on a screen."""

MAX_INPUT_LENGTH = 20
"""Characters of the input that a client sends to the program, which may be a password."""

_NAMES_ONLY = frozenset({"env", "adapter_options"})
"""Arguments whose values may be secrets: only the names in them are recorded."""


def tool_started(
    call: int,
    tool: str,
    arguments: Mapping[str, Any],
    client: str | None,
    *,
    person: bool = False,
    session_id: str | None = None,
    said: str | None = None,
) -> Happening:
    """The event for a tool call that begins.

    `person`: a person has made it, at a page, an editor or a card. `session_id`: what it is about, of several sessions.
    `said`: the sentence of the agent on why it calls.
    """
    more = _more(person=person, session_id=session_id, said=said)
    return Happening("toolStarted", _call(call, tool, arguments, client) | more)


def tool_called(
    call: int,
    tool: str,
    arguments: Mapping[str, Any],
    client: str | None,
    *,
    milliseconds: float,
    error: str | None,
    result: str,
    person: bool = False,
    session_id: str | None = None,
    said: str | None = None,
) -> Happening:
    """The event for a tool call that is over; `error` is the code of its failure, `result` a line on what came of it.

    Secrets in `result` are masked already, as what its value is the value of is not known here.
    """
    outcome = {
        "milliseconds": round(milliseconds, 1),
        "error": error,
        "result": result if len(result) <= MAX_RESULT_LENGTH else f"{result[: MAX_RESULT_LENGTH - 1]}…",
    }
    more = _more(person=person, session_id=session_id, said=said)
    return Happening("toolCalled", _call(call, tool, arguments, client) | more | outcome)


def _more(*, person: bool, session_id: str | None, said: str | None) -> dict[str, Any]:
    """What an event has only where there is some of it."""
    return {
        **({"person": True} if person else {}),
        **({"sessionId": session_id} if session_id is not None else {}),
        **({"say": shortened(said, MAX_RESULT_LENGTH)} if said is not None else {}),
    }


def _call(call: int, tool: str, arguments: Mapping[str, Any], client: str | None) -> dict[str, Any]:
    return {
        "call": call,
        "tool": shortened(tool, MAX_ARGUMENT_LENGTH),
        "arguments": {name: _short(name, value) for name, value in arguments.items()},
        "client": client,
    }


def _short(name: str, value: object) -> object:
    match value:
        case _ if name in _NAMES_ONLY:
            return _names_in(value)
        case None | bool() | int() | float():
            return value
        case str():
            return shortened(value, MAX_INPUT_LENGTH if name == "data" else MAX_ARGUMENT_LENGTH)
        case _:
            return shortened(to_json(_without_secrets(value)), MAX_ARGUMENT_LENGTH)


def _names_in(value: object) -> str:
    return shortened(", ".join(sorted(map(str, value))) if isinstance(value, dict) else "…", MAX_ARGUMENT_LENGTH)


def _without_secrets(value: object) -> object:
    match value:
        case dict():
            return {
                name: _names_in(member) if name in _NAMES_ONLY else _without_secrets(member)
                for name, member in value.items()
            }
        case list():
            return [_without_secrets(item) for item in value]
        case _:
            return value
