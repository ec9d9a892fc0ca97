"""What came of a tool call, in one line for a person who watches. Pure: it reads what the client is answered.

    result_line(result)  # "Paused Breakpoint shop.py:31 in total · line = 28.31"

What is worth a line is what a reader looks for first: where the program is, the value, how many there are, or why it
failed. The whole answer is the client's.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trio_debugmcp.server.call_result import ToolResult

CANCELLED = "cancelled: the client no longer waits for it"
FAILED = "failed because of a bug in the debugger"

_SEPARATOR = " · "

_SHOWN_VALUES = 3
"""Variables of a stop in the line; the page shows all of them elsewhere."""

_SHOWN_NAMES = 5
"""Items of a list that are named, if they are words; else they are counted."""

_VALUE_LENGTH = 60
"""Characters of a value beside others."""

_EXCEPTION_LENGTH = 120
"""Characters of an exception before the place where it was raised."""

_ABSOLUTE = re.compile(r"^(?:/|[A-Za-z]:[\\/])(?:.*[\\/])?(?=[^\\/]*:\d)")
"""The directories of a place that is not below the server's: the name of the file says enough in a line."""

_FOLDERS = re.compile(r"^.*[\\/]")

_MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)[.\d]*(?:Z|\+00:00)$")
"""A moment as answers have it; the page shows the day elsewhere."""

_OTHERS = re.compile(r"(?:.+ called \w+(?: \d+ times)?|\d+ other calls: see timeline_query)", re.DOTALL)
"""A note for the reader of the answer on what other clients did: it is not what came of the call."""

_RUNS = re.compile(r"^\d+ (.+?, waits for .+)$", re.DOTALL)
"""The line of a thread that says for what it waits, without the number."""

_STATES = ("Paused", "Running", "Disconnected")

_TOLD_BY_STOP = frozenset(
    [
        "state",
        "reason",
        "exception",
        "mode",
        "at",
        "stack",
        "source",
        "changed",
        "returned",
        "yielded",
        "locals",
        "show",
        "breakpoints",
        "stdout",
        "stderr",
        "log",
        "console",
        "exitCode",
        "signal",
        "timedOut",
        "omitted",
        "causes",
    ]
)
"""Keys of a stop that are in the line already, or of which the page has the whole: stack, source, output."""

_UNNAMED = frozenset(["value", "id", "at", "exception", "line", "message", "state", "address", "bytes", "text", "type"])
"""Keys whose values explain themselves."""

_NEVER = frozenset(["nextSeq", "nextEventId", "notes", "total", "inboundTotal", "omitted", "doc", "session"])
"""Cursors and counts that stand with what they count, and what stands at the end of the line."""


def result_line(result: ToolResult, tool: str = "") -> str:
    """Return what came of a call of that tool."""
    if result.is_error:
        return _one_line(_failure(result))
    answer = result.structured_content
    if not isinstance(answer, dict):
        return "done"
    if tool in _SENTENCES:
        return _one_line(_SENTENCES[tool](answer))
    found = (
        _stop(answer)
        if answer.get("state") in _STATES
        else _facts(answer, _NEVER | ({"type"} if "value" in answer else set()))
    )
    notes = [each for each in answer.get("notes") or [] if not _OTHERS.fullmatch(str(each))]
    left = len(notes) - 1
    more = f" ({left} more {'note' if left == 1 else 'notes'})" if left > 0 else ""
    parts = [*found, *([f"{notes[0]}{more}"] if notes else [])]
    return _one_line(_SEPARATOR.join(part for part in parts if part)) or "done"


def _failure(result: ToolResult) -> str:
    try:
        return str(json.loads(result.text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return result.text or FAILED


def _stop(answer: Mapping[str, Any]) -> Iterator[str]:
    match answer["state"]:
        case "Paused":
            raised = _cut(answer["exception"], _EXCEPTION_LENGTH) + "," if answer.get("exception") else None
            place = _ABSOLUTE.sub("", answer.get("at") or "")
            yield " ".join(part for part in ("Paused", answer.get("reason"), raised, place) if part)
            yield from _values(answer.get("changed") or {})
            yield from _values(answer.get("returned") or {}, " returned ")
            yield from _values(answer.get("yielded") or {}, " yielded ")
            yield from _values(answer.get("show") or {})
            if not answer.get("changed") and not answer.get("show"):
                yield from _values(answer.get("locals") or {})
        case "Running":
            yield "still running when the time was over" if answer.get("timedOut") else "Running"
            waiting = [found[1] for each in answer.get("threads") or [] if (found := _RUNS.match(str(each)))]
            if waiting:
                yield _cut(waiting[0], _EXCEPTION_LENGTH)
        case _:
            yield _end(answer)
    yield from _facts(answer, _TOLD_BY_STOP | _NEVER)


def _end(answer: Mapping[str, Any]) -> str:
    why = f": {_cut(answer['exception'], _EXCEPTION_LENGTH)}" if answer.get("exception") else ""
    if answer.get("signal"):
        return f"ended by {answer['signal']}{why}"
    if "exitCode" in answer:
        return f"exited with {answer['exitCode']}{why}"
    return f"ended{why}" if answer.get("reason") else "no session"


def _values(values: Mapping[str, Any], are: str = " = ") -> Iterator[str]:
    shown = [f"{name}{are}{_cut(value)}" for name, value in [*values.items()][:_SHOWN_VALUES]]
    more = len(values) - len(shown)
    if shown:
        yield ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _facts(answer: Mapping[str, Any], without: frozenset[str]) -> Iterator[str]:
    lists = [key for key, value in answer.items() if isinstance(value, dict | list) and key not in without]
    alone = len(lists) == 1 or isinstance(answer.get("omitted"), int)
    for key, value in answer.items():
        if key in without or value is None or value is False:
            continue
        words = _words(key)
        match value:
            case True:
                yield words
            case list() | dict() if key in ("removed", "deleted") and _are_names(value):
                yield f"{words} {', '.join(value)}"
            case dict() if value.get("state") in _STATES:  # the stop that an answer ends with
                yield from _stop(value)
            case dict() if len(value) == 1 and key == "variable":
                yield from _values(value)
            case list() | dict():
                yield _counted(len(value), words, _total(answer, key) if alone or f"{key}Total" in answer else None)
            case _:
                yield str(value) if key in _UNNAMED else f"{words} {_cut(value)}"
    if not alone and isinstance(answer.get("total"), int):
        yield f"{answer['total']} in all"


def _total(answer: Mapping[str, Any], key: str) -> int | None:
    """Return how many there are of what is listed under that key, if the answer says so."""
    left_out = answer.get("omitted")
    if isinstance(left_out, int):
        return len(answer[key]) + left_out
    total = answer.get(f"{key}Total", answer.get("total"))
    return total if isinstance(total, int) else None


def _are_names(items: list[Any] | dict[str, Any]) -> bool:
    return 0 < len(items) <= _SHOWN_NAMES and all(isinstance(item, str) and " " not in item for item in items)


def _counted(number: int, words: str, total: int | None) -> str:
    of = f" of {total}" if total is not None and total > number else ""
    return f"{number}{of} {words if number != 1 or of else _singular(words)}"


def _singular(words: str) -> str:
    if words.endswith("ies"):
        return words.removesuffix("ies") + "y"
    return words.removesuffix("es") if words.endswith("sses") else words.removesuffix("s")


def _words(key: str) -> str:
    return re.sub(r"(?<=[a-z])[A-Z]", lambda found: f" {found[0].lower()}", key)


def _cut(value: object, length: int = _VALUE_LENGTH) -> str:
    text = _MOMENT.sub(r"\1 UTC", str(value))
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _past(answer: Mapping[str, Any]) -> str:
    """Say of an answer of stop_get which stop it is and where, or how many values a variable has had."""
    stop = answer.get("stop")
    if "text" in answer:
        return f"{_FOLDERS.sub('', str(answer.get('file')))} as it ran then"
    if stop is None:
        found = answer.get("values") or answer.get("points") or []
        total = answer.get("total") or len(found)
        return f"{_counted(len(found), 'values', total)} over {_counted(answer.get('stops', 0), 'stops', None)}"
    whole = stop if isinstance(stop, Mapping) else None
    values = answer.get("changed") or answer.get("locals") or {}
    number, reason, exception, at = stop, answer.get("reason"), answer.get("exception"), answer.get("at")
    if whole is not None:
        number, reason = whole.get("stop"), whole.get("reason")
        location, raised = whole.get("location") or {}, whole.get("exception") or {}
        exception = ": ".join(str(raised[key]) for key in ("type", "message") if raised.get(key))
        at = f"{location['file']}:{location.get('line')}" if location.get("file") else location.get("moduleName")
        at = f"{at} in {location['functionName']}" if at and location.get("functionName") else at
        values = {each["name"]: each["value"] for each in whole.get("locals") or []}
    of = f" of {answer['last']}" if "last" in answer else ""
    why = f"{_cut(exception, _EXCEPTION_LENGTH)}," if exception else None
    place = " ".join(str(part) for part in (reason, why, _ABSOLUTE.sub("", at or "")) if part)
    return _SEPARATOR.join([f"stop {number}{of}", *([place] if place else []), *_values(values)])


_SENTENCES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "session_hold": lambda _: "holds the session",
    "session_hand_back": lambda answer: f"handed back, held for {answer.get('seconds', 0):.0f} s",
    "agent_message": lambda answer: f"goes to {_counted(answer.get('agents', 0), 'agents', None)}",
    "person_answer": lambda _: "answered",
    "stop_get": _past,
    "process_write_input": lambda answer: (
        f"wrote {_counted(answer.get('bytesWritten', 0), 'bytes', None)}"
        f"{' and closed the input' if answer.get('stdinClosed') else ''}"
    ),
}
"""What is said of answers whose keys say nothing to people, by tool."""


def _one_line(text: str) -> str:
    return re.sub(r"\r\n|[\r\n\v\f\x85\u2028\u2029]", "⏎", text).strip()
