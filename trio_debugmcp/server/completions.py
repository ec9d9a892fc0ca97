"""Completions of what a person types: sources, programs, exception types, and expressions of the paused program.

Never an error for want of a session: then there is just less to offer.
"""

import os
import re
from collections.abc import Iterable
from itertools import islice

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from trio_debugmcp.dap.messages import CompletionItem
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.server.access import Role
from trio_debugmcp.server.prompts import find_prompt
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.inspection import expression_completions
from trio_debugmcp.state.resources import SOURCE_TEMPLATE

MAX_VALUES = 100
"""What MCP allows in one answer."""

MAX_DIRECTORY_ENTRIES = 2000
"""Of a directory, when programs are looked for; who has more in one types more of the name."""


async def complete(debugger: Debugger, role: Role, params: types.CompleteRequestParams) -> types.CompleteResult:
    """For `completion/complete`."""
    argument, typed = params.argument.name, params.argument.value
    match params.ref:
        case types.ResourceTemplateReference(uri=uri):
            if uri != SOURCE_TEMPLATE:
                raise MCPError(code=INVALID_PARAMS, message=f"There is no template '{uri}', only {SOURCE_TEMPLATE}.")
            # A client expands the template and leaves percent signs as they are.
            sources = (path.replace("%", "%25") for path in debugger.sources.known())
            found = _matching(sources, typed) if argument == "file" and debugger.state.focused is not None else []
        case types.PromptReference(name=name):
            known = {each.name for each in find_prompt(name).arguments}
            found = await _prompt_values(debugger, role, argument, typed) if argument in known else []
    values = found[:MAX_VALUES]
    return types.CompleteResult(
        completion=types.Completion(values=values, total=len(found), has_more=len(found) > len(values))
    )


async def _prompt_values(debugger: Debugger, role: Role, argument: str, typed: str) -> list[str]:
    """Whoever only observes neither looks into directories nor has the program evaluate anything."""
    match argument:
        case "file":
            breakpoints = (each.file for each in debugger.state.breakpoints if each.file and not each.temporary)
            return _matching({*debugger.sources.known(), *breakpoints}, typed)
        case "exception_type":
            return _matching(_exception_types(debugger), typed)
        case "program" if role == "control":
            try:
                return debugger.query(f"programs {typed}", lambda: _programs(debugger, typed))
            except UsageError:  # a replay does not know
                return []
        case "expression" | "variable" if role == "control":
            try:
                items = await expression_completions(debugger, typed)
            except DebugError:
                return []
            return list(dict.fromkeys(completed(typed, item) for item in items))
        case _:
            return []


def _matching(candidates: Iterable[str], typed: str) -> list[str]:
    """In any case: those that begin with what was typed, then those that contain it."""
    wanted = typed.casefold()
    hits = [each for each in sorted(set(candidates)) if wanted in each.casefold()]
    return sorted(hits, key=lambda each: not each.casefold().startswith(wanted))


def _exception_types(debugger: Debugger) -> set[str]:
    profile = debugger.language_of(None)
    seen = {each.exception_type for each in debugger.state.exceptions if each.exception_type != "*"}
    for session in debugger.state.snapshots:
        if session.stop is not None and session.stop.exception is not None:
            seen.add(session.stop.exception.type)
    return seen | set(profile.expressions.exception_types() if profile is not None else ())


def _programs(debugger: Debugger, typed: str) -> list[str]:
    """Programs that an adapter can run, and the directories that lead to them, in the directory typed so far."""
    head, slash, begun = typed.rpartition("/")
    suffixes = tuple({suffix for profile in debugger.settings.profiles for suffix in profile.file_suffixes})
    found: list[str] = []
    try:
        with os.scandir(debugger.resolve(head + slash or ".")) as entries:
            for entry in islice(entries, MAX_DIRECTORY_ENTRIES):
                if not entry.name.startswith(begun) or (entry.name.startswith(".") and not begun.startswith(".")):
                    continue
                if entry.is_dir():
                    found.append(f"{head}{slash}{entry.name}/")
                elif entry.name.endswith(suffixes):
                    found.append(f"{head}{slash}{entry.name}")
    except (OSError, UsageError):  # it is not there, or not allowed
        return []
    return sorted(found)


def completed(typed: str, item: CompletionItem) -> str:
    """What was typed, completed. The caret is at its end, so an item replaces the last characters.

    Where an adapter does not say how many, it is the name that has been begun. (Where the item starts is said by
    some in columns from 0 and by some from 1.)
    """
    text = item.text or item.label
    replaced = item.length or 0
    if not replaced:
        begun = re.search(r"\w*$", typed)
        tail = begun[0] if begun is not None else ""
        replaced = len(tail) if text.casefold().startswith(tail.casefold()) else 0
    return typed[: max(0, len(typed) - replaced)] + text
