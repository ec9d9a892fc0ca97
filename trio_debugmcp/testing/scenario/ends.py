"""The ends of recorded sessions, as a scenario can tell them. Pure.

A scenario has a debug adapter and no processes, so what a server learned from its processes has to come from the
adapter: the exit code, and the moment at which a session was over.
"""

from collections.abc import Iterator, Mapping
from typing import Any

JsonEntry = dict[str, Any]
"""A line of a recording."""


def with_ends(entries: list[JsonEntry]) -> Iterator[JsonEntry]:
    """Return the entries with the ends of their sessions as messages of the adapters."""
    return _with_exits(list(_with_goodbyes(entries)))


def is_request(entry: JsonEntry) -> bool:
    """Whether an entry is a request of the server to an adapter."""
    return entry.get("edge") == "adapter" and entry["dir"] == "out" and entry["msg"].get("type") == "request"


def _with_exits(entries: list[JsonEntry]) -> Iterator[JsonEntry]:
    """Add the exit codes that only the server saw, of its processes, as events before their adapters report the end."""
    exits = {e["session"]: e["exitCode"] for e in entries if e.get("edge") == "exit"}
    reported = {e["session"] for e in entries if (e.get("msg") or {}).get("event") == "exited"}
    for entry in entries:
        ends = entry.get("edge") == "hangUp" or (entry.get("msg") or {}).get("event") == "terminated"
        if ends and entry["session"] not in reported and (code := exits.pop(entry["session"], None)) is not None:
            exited = {"type": "event", "event": "exited", "body": {"exitCode": code}}
            yield {**entry, "edge": "adapter", "dir": "in", "msg": exited}
        yield entry


def _with_goodbyes(entries: list[JsonEntry]) -> Iterator[JsonEntry]:
    """Answer `disconnect` when the session was over: the server waited for the end of the program, which is not there.

    A program that is debugged over the direct line answers at once, and needs half a second to end.
    """
    over = {e["session"]: e["t"] for e in entries if e.get("edge") == "sessionEnd"}
    goodbyes = {(e["session"], e["msg"]["seq"]) for e in entries if _is_goodbye(e)}
    for entry in entries:
        message: Mapping[str, Any] = entry.get("msg") or {}
        answers = entry.get("edge") == "adapter" and message.get("type") == "response"
        if answers and (entry["session"], message.get("request_seq")) in goodbyes:
            yield {**entry, "t": max(entry["t"], over.get(entry["session"], 0.0))}
        else:
            yield entry


def _is_goodbye(entry: JsonEntry) -> bool:
    return is_request(entry) and entry["msg"].get("command") == "disconnect"
