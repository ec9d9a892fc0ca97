"""Events of the timeline as lines.

    event_lines(places, events)    # ["14 stopped Breakpoint shop.py:15 in visit bp-1", …]

Sessions are named where there are several.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.state.payloads import TimelineEvent, shortened, to_json

_MOST_TEXT = 120
"""Characters of what was written, and of any other text of an event."""

_SILENT = frozenset({"sessionId", "location", "stop", "milliseconds", "call", "threadId"})
"""What a line has in words of its own, or not at all."""


def event_lines(places: Places, events: Sequence[TimelineEvent]) -> list[str]:
    """Return a line for each event; none for the beginning of a call whose end has one."""
    payloads = [msgspec.to_builtins(event.payload) for event in events]
    over = {found.get("call") for event, found in zip(events, payloads, strict=True) if event.type == "toolCalled"}
    several = len({found["sessionId"] for found in payloads if found.get("sessionId")}) > 1
    lines = []
    for event, found in zip(events, payloads, strict=True):
        if event.type == "toolStarted" and found.get("call") in over:
            continue
        words = [str(event.event_id), event.type, *_words(places, event.type, found)]
        if several and found.get("sessionId"):
            words.append(f"[{found['sessionId']}]")
        lines.append(" ".join(word for word in words if word))
    return lines


def _words(places: Places, kind: str, found: Mapping[str, Any]) -> list[str]:
    match kind:
        case "output":
            return [f"{found.get('stream')}:", _text(found.get("text"))]
        case "tracepoint":
            return [str(found.get("id")), _text(found.get("text"))]
        case "stopped" | "exception" | "breakpointHit":
            return [_what_came(kind, found), _place(places, found), ", ".join(found.get("breakpointIds") or ())]
        case "toolStarted" | "toolCalled":
            return [_call(found), *_outcome(found)]
        case "sessionStarted":
            return [str(found.get("processName") or found.get("adapter") or "")]
        case "sessionEnded":
            code = found.get("exitCode")
            return ["" if code is None else f"exit code {code}:", str(found.get("reason") or "")]
        case _:
            return _named(places, found)


def _what_came(kind: str, found: Mapping[str, Any]) -> str:
    if kind == "stopped":
        return str(found.get("reason") or "")
    if kind == "breakpointHit":
        return f"{found.get('id')}, hit {found.get('hitCount')}:"
    message = found.get("message")
    return f"{found.get('exceptionType')}{f': {shortened(str(message), _MOST_TEXT)}' if message else ''},"


def _place(places: Places, found: Mapping[str, Any]) -> str:
    place = found.get("location") or {}
    return places.at(place.get("file"), place.get("line"), place.get("functionName"))


def _call(found: Mapping[str, Any]) -> str:
    given = ", ".join(f"{name}={_argument(value)}" for name, value in (found.get("arguments") or {}).items())
    who = f" by {found['client']}" if found.get("client") else ""
    return f"{found.get('tool')}({given}){who}"


def _argument(value: object) -> str:
    return to_json(value)


def _outcome(found: Mapping[str, Any]) -> list[str]:
    if "milliseconds" not in found:
        return ["…"]
    error = found.get("error")
    return ["->", *([str(error)] if error else []), shortened(str(found.get("result") or ""), _MOST_TEXT)]


def _named(places: Places, found: Mapping[str, Any]) -> list[str]:
    """Return what is known of any other event: its breakpoint and place, and then the rest by name."""
    words = [str(found["id"])] if found.get("id") else []
    if found.get("file"):
        words.append(places.line(found["file"], found.get("line")))
    rest = {name: value for name, value in found.items() if name not in {*_SILENT, "id", "file", "line", "type"}}
    return [*words, *(f"{name}={_text(value)}" for name, value in rest.items() if value not in (None, "", [], {}))]


def _text(value: object) -> str:
    return to_json(shortened(value, _MOST_TEXT) if isinstance(value, str) else value)
