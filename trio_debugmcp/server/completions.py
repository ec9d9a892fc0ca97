"""Completions of what a person types: sources, programs, exception types, and expressions of the stopped program.

A missing session is not an error: there are only fewer completions.
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
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.prompts import find_prompt
from trio_debugmcp.server.resource_templates import TEMPLATES
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.source_text import expression_completions
from trio_debugmcp.state.resources import SOURCE_TEMPLATE
from trio_debugmcp.state.session_resources import RESOURCES_OF_SESSIONS, SESSION_TEMPLATE
from trio_debugmcp.state.stop_resource import STOP_TEMPLATE

MAX_VALUES = 100
"""The maximum that MCP allows in one answer."""

MAX_DIRECTORY_ENTRIES = 2000
"""Read from a directory in search of programs; a bound on the time that one keystroke takes."""


async def complete(debugger: Debugger, role: Role, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Answer `completion/complete`: at most `MAX_VALUES` completions, and how many there are in all."""
    argument, typed = params.argument.name, params.argument.value
    match params.ref:
        case types.ResourceTemplateReference(uri=uri):
            if uri not in TEMPLATES:
                raise MCPError(
                    code=INVALID_PARAMS, message=f"Unknown template '{uri}'. There are: {', '.join(TEMPLATES)}."
                )
            # A client that expands the template leaves percent signs as they are, and the server decodes them once.
            sources = (path.replace("%", "%25") for path in debugger.programs.known_sources())
            candidates: Iterable[str] = ()
            if debugger.state.focused is None:
                pass
            elif uri == SOURCE_TEMPLATE and argument == "file":
                candidates = sources
            elif uri == SESSION_TEMPLATE and argument == "session":
                candidates = [snapshot.id for snapshot in debugger.state.snapshots]
            elif uri == SESSION_TEMPLATE and argument == "resource":
                candidates = RESOURCES_OF_SESSIONS
            elif uri == STOP_TEMPLATE and argument == "n":
                candidates = (str(stop.stop.number) for stop in debugger.state.kept.stops)
            found = _matching(candidates, typed)
        case types.PromptReference(name=name):
            known = {argument.name for argument in find_prompt(name).arguments}
            found = await _prompt_values(debugger, role, argument, typed) if argument in known else []
    values = found[:MAX_VALUES]
    return types.CompleteResult(
        completion=types.Completion(values=values, total=len(found), has_more=len(found) > len(values))
    )


async def _prompt_values(debugger: Debugger, role: Role, argument: str, typed: str) -> list[str]:
    """Return the completions of a prompt's argument. An observer may neither list directories nor evaluate."""
    match argument:
        case "file":
            breakpoints = (breakpoint.spec.file for breakpoint in debugger.state.breakpoints if breakpoint.spec.file)
            return _matching({*debugger.programs.known_sources(), *breakpoints}, typed)
        case "exception_type":
            return _matching(_exception_types(debugger), typed)
        case "program" if role == "control":
            try:
                return debugger.host.query(f"programs {typed}", lambda: _programs(debugger, typed))
            except UsageError:  # a replay has no answer to a query that is not recorded
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
    """Return the candidates that begin with what was typed, then those that contain it, ignoring case."""
    wanted = typed.casefold()
    hits = [each for each in sorted(set(candidates)) if wanted in each.casefold()]
    return sorted(hits, key=lambda each: not each.casefold().startswith(wanted))


def _exception_types(debugger: Debugger) -> set[str]:
    profile = debugger.language_of(None)
    seen = {exception.exception_type for exception in debugger.state.exceptions if exception.exception_type != "*"}
    for snapshot in debugger.state.snapshots:
        if snapshot.stop is not None and snapshot.stop.exception is not None:
            seen.add(snapshot.stop.exception.type)
    return seen | set(profile.expressions.exception_types() if profile is not None else ())


def _programs(debugger: Debugger, typed: str) -> list[str]:
    """Return the programs that an adapter can run, and the subdirectories, of the directory typed so far."""
    head, slash, begun = typed.rpartition("/")
    suffixes = tuple({suffix for profile in debugger.settings.profiles for suffix in profile.detect.suffixes})
    found: list[str] = []
    try:
        with os.scandir(debugger.workspace.resolve(head + slash or ".")) as entries:
            for entry in islice(entries, MAX_DIRECTORY_ENTRIES):
                if not entry.name.startswith(begun) or (entry.name.startswith(".") and not begun.startswith(".")):
                    continue
                if entry.is_dir():
                    found.append(f"{head}{slash}{entry.name}/")
                elif entry.name.endswith(suffixes):
                    found.append(f"{head}{slash}{entry.name}")
    except (OSError, UsageError):  # it does not exist, or is outside the roots
        return []
    return sorted(found)


def completed(typed: str, item: CompletionItem) -> str:
    """Return what was typed with the item in place of its last characters; the caret is at the end.

    An adapter that does not send the length means the name that was begun. The item's `start` is ignored: some adapters
    count its columns from 0, others from 1.
    """
    text = item.text or item.label
    replaced = item.length or 0
    if not replaced:
        begun = re.search(r"\w*$", typed)
        tail = begun[0] if begun is not None else ""
        replaced = len(tail) if text.casefold().startswith(tail.casefold()) else 0
    return typed[: max(0, len(typed) - replaced)] + text
