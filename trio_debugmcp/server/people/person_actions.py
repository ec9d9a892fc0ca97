"""What persons did, in words for an agent: one sentence for each person. Pure.

    deed_of("breakpoint_set", {"file": "/src/shop.py", "line": 16}, {"id": "bp-2"})  # "set bp-2 at shop.py:16"
    sentence("dashboard", ["stepped over", "stepped over", "continued"])

The sentence is "a person (dashboard) stepped over 2 times, continued".
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from trio_debugmcp.state.payloads import shortened

_MAX_NAMED = 6

_MAX_LENGTH = 100
"""Characters of one deed: with six of them, what a person did is still a sentence."""

_STEPS = {"over": "stepped over", "in": "stepped in", "out": "stepped out", "back": "stepped back"}

_PLAIN = {
    "debug_continue": "continued",
    "debug_pause": "paused it",
    "debug_restart": "restarted the program",
    "debug_disconnect": "ended the session",
    "debug_attach": "attached to a process",
    "debug_listen": "began to wait for programs",
}

_ENDING = frozenset({"debug_step", "debug_run_to", "debug_run_until", "trace_function"})
"""Moves that end by themselves."""

_PAGE = "dashboard"
"""What the page calls itself."""

_LOOKS_ON = frozenset({"threads_list", "tasks_list"})
"""What a page asks each second of a program that runs, to show where it is."""

_WATCHES = "watches "

_ACTS = re.compile(r"[\w\])]\s*\(|\+\+|--|\bawait\b")
"""Calls, and what else changes something without an assignment."""

_ONLY_READS = re.compile(r"\b(?:len|type|id|isinstance)\s*\(")

_PLACE = re.compile(r"(?P<file>.+?)(?P<rest>:\d+(?: in .*)?)", re.DOTALL)
"""Where a program is, as answers say it."""

_ASSIGNS = re.compile(r"(?<![=!<>])=(?!=)")


def deed_of(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return what a person did by a call that moved or changed the program."""
    return shortened(_deed_of(tool, arguments, answer), _MAX_LENGTH)


def _deed_of(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    if _is_pause(tool, arguments) and answer.get("state", "Paused") != "Paused":
        ended = answer["state"] == "Disconnected"
        return "asked for a pause, " + ("and the program ended" if ended else "which has not come yet")
    done = _move(tool, arguments, answer)
    if done is not None:
        return done + _reached(tool, arguments, answer)
    return _change(tool, arguments, answer) or _PLAIN.get(tool, f"called {tool}")


def _is_pause(tool: str, arguments: Mapping[str, Any]) -> bool:
    return tool == "debug_pause" or (tool == "card_run" and arguments.get("action") == "pause")


def _reached(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return what came of a move that was to end somewhere, where it has not ended there."""
    state = answer.get("state")
    if tool not in _ENDING or state is None or arguments.get("wait") is False:
        return ""
    if state == "Disconnected":
        return ", and the program ended"
    if state != "Paused":
        return ", which has not ended yet"
    at = _reached_place(answer)
    return f", and stopped at {at}" if tool == "debug_run_to" and at and f":{arguments.get('line')} " not in at else ""


def _move(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """Return what a call was that moves the program; None if it is none of those."""
    match tool:
        case "debug_step":
            return f"{_STEPS.get(arguments.get('mode', 'over'), 'stepped')}{_how(arguments)}"
        case "debug_continue" if arguments.get("reverse"):
            return "ran it backwards"
        case "card_run":
            action = str(arguments.get("action", ""))
            return _STEPS.get(action) or {"pause": "paused it", "continue": "continued"}.get(
                action, f"pressed {action}"
            )
        case "debug_launch":
            named = ("program", "module", "test", "configuration")
            what = next((arguments[each] for each in named if arguments.get(each)), "a program")
            return f"started {PurePath(str(what)).name}"
        case "debug_run_to":
            return f"ran to {_place(arguments)}"
        case "debug_run_until":
            return f"ran until {arguments.get('expression')}{_where(arguments, {})}"
        case "debug_goto":
            return f"went to {_reached_place(answer) or _place(arguments)} without running what is between"
        case "debug_restart" if arguments.get("frame_index") is not None:
            at = _reached_place(answer)
            return f"began the function of frame {arguments['frame_index']} again{at and f': {at}'}"
        case "batch_evaluate":
            return f"let it run with {len(arguments.get('experiments') or ())} experiments"
        case "debug_record":
            run = f" as {answer['run']}" if answer.get("run") else ""
            return f"ended the recording{run}" if arguments.get("on") is False else f"began to record it{run}"
        case "trace_function":
            return f"traced {arguments.get('function') or _place(arguments)}"
        case _:
            return None


def _change(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """Return what a call was that sets or changes something; None if it is none of those."""
    found = str(arguments.get("id", answer.get("id", "")))
    match tool:
        case "breakpoint_set" | "tracepoint_set" | "breakpoint_edit" | "breakpoint_set_exception":
            verb = "edited" if tool == "breakpoint_edit" else "set"
            return f"{verb} {found}{_where(arguments, answer)}{_when(arguments)}"
        case "breakpoint_set_data":
            place = arguments.get("variable") or arguments.get("expression")
            return f"set {found} on {arguments.get('access', 'write')} of {place}{_when(arguments)}"
        case "breakpoint_remove":
            return "removed all breakpoints" if found == "*" else f"removed {found}"
        case "breakpoint_enable":
            return f"{'enabled' if arguments.get('enabled', True) else 'disabled'} {found}"
        case "variable_set":
            return f"set {arguments.get('path')} = {arguments.get('value')}{_came_to(arguments, answer)}"
        case "memory_write":
            place = arguments.get("address") or arguments.get("expression")
            offset = f"{arguments['offset']:+d}" if arguments.get("offset") else ""
            return f"wrote {arguments.get('data')} into memory at {place}{offset}"
        case "evaluate":
            return f"evaluated {arguments.get('expression')}"
        case "process_write_input":  # not the text, which may be a password
            end = " and closed it" if arguments.get("close_after") else ""
            return f"wrote {len(str(arguments.get('data', '')))} characters to the program's input{end}"
        case _:
            return None


def is_watch(name: str | None, tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a page evaluates a watch, as it does at each stop: without a time limit, unlike what a person types."""
    is_drawn = name == _PAGE and tool == "evaluate" and "timeout" not in arguments
    return is_drawn and _ASSIGNS.search(str(arguments.get("expression"))) is None


def looks_on(name: str | None, tool: str) -> bool:
    """Whether a page looks where a running program is, by itself: recorded, that would push out what has happened."""
    return name == _PAGE and tool in _LOOKS_ON


def watching(expression: str) -> str:
    """Return what a person does who watches an expression; nothing, if that only reads."""
    if not _ACTS.search(_ONLY_READS.sub("", expression)):
        return ""
    return f"{_WATCHES}{shortened(expression, _MAX_LENGTH)} at every stop, which may change the program"


def repeats(deed: str, before: Iterable[str]) -> bool:
    """Whether a deed is a watch that is known already: its page evaluates it at every stop."""
    return deed.startswith(_WATCHES) and deed in before


def sentence(name: str | None, deeds: Iterable[str]) -> str:
    """Return what a person did, in one bounded sentence."""
    counted = [f"{deed} {number} times" if number > 1 else deed for deed, number in Counter(deeds).items()]
    more = len(counted) - _MAX_NAMED
    rest = f", and {more} more: see timeline_query" if more > 0 else ""
    who = name if name is not None and name.startswith("a person") else f"a person ({name or 'unnamed'})"
    return f"{who} {', '.join(counted[:_MAX_NAMED])}{rest}"


def _how(arguments: Mapping[str, Any]) -> str:
    """Return what is special about a step."""
    by = f" by {arguments['granularity']}" if arguments.get("granularity") == "instruction" else ""
    number = arguments.get("count") or 1
    return by + (f", {number} steps" if number > 1 else "")


def _came_to(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return what a variable is after it was set, if it is not what was written."""
    variable = answer.get("variable")
    shown = next(iter(variable.values()), None) if isinstance(variable, Mapping) else answer.get("value")
    return "" if shown is None or str(shown) == str(arguments.get("value")) else f", which is {shown}"


def _place(arguments: Mapping[str, Any]) -> str:
    if not arguments.get("file"):
        return f"line {arguments.get('line')}"
    return f"{PurePath(str(arguments.get('file'))).name}:{arguments.get('line')}"


def _reached_place(answer: Mapping[str, Any]) -> str:
    """Return where an answer is about, by the name of its file: a path may leave no room for the line."""
    at = str(answer.get("at") or "")
    found = _PLACE.fullmatch(at)
    return at if found is None else PurePath(found["file"]).name + found["rest"]


def _where(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    if arguments.get("exception_type"):
        return f" for {arguments['exception_type']}"
    if arguments.get("line"):
        return f" at {_place(arguments)}"
    place = _reached_place(answer) or arguments.get("function") or arguments.get("address")
    return f" at {place}" if place else ""


def _when(arguments: Mapping[str, Any]) -> str:
    parts = {"condition": "if", "hit_condition": "at hits", "log_message": "logging"}
    return "".join(f" {word} {arguments[name]}" for name, word in parts.items() if arguments.get(name))
