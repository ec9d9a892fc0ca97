"""Notes on breakpoints: those that are not where they were set, that stopped nothing, or that others stand on."""

from collections.abc import Container
from pathlib import Path

from trio_debugmcp.server.answers.breakpoints import (
    MAX_NAMED,
    condition_words,
    exception_message,
    message_of,
    place_words,
)
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import Breakpoint
from trio_debugmcp.state.breakpoint_payloads import breakpoint_payload
from trio_debugmcp.state.model import Snapshot, Stop


def breakpoint_notes(debugger: Debugger, program: Requests, earlier: Container[str]) -> list[str]:
    """Return notes on breakpoints that are not where they were set, for the session whose `program` it is.

    `earlier`: the ids of those which are named because they have been in force since an earlier session. Those that are
    of no use to the language of the program are counted.
    """
    places = Places(debugger.workspace.directory)
    notes, before, foreign = [], [], []
    for breakpoint in debugger.state.breakpoints:
        if not breakpoint.enabled or breakpoint.is_held:  # which are held, the answer about the run says
            continue
        if breakpoint.spec.only_in is not None:
            notes += (
                [f"{breakpoint.id} {place_words(places, breakpoint)} is pending: {breakpoint.lost}"]
                if breakpoint.lost
                else []
            )
            continue
        shown = breakpoint_payload(breakpoint)
        if breakpoint.id in earlier and not shown.verified and _is_foreign(debugger, breakpoint, program):
            foreign.append(breakpoint.id)
            continue
        message = message_of(debugger, breakpoint, shown)
        if message and not breakpoint.lost:  # of one that is lost there is a note already
            notes.append(f"{breakpoint.id} {'' if shown.verified else 'is pending: '}{message}")
        if breakpoint.id in earlier:
            place = places.line(shown.file, shown.line) or (
                f"in {breakpoint.spec.function}" if breakpoint.spec.function else place_words(places, breakpoint)
            )
            before.append(f"{breakpoint.id} {place}{condition_words(breakpoint)}")
    for exception in debugger.state.exceptions:
        if exception.enabled:
            message = exception_message(debugger, exception)
            notes += [f"{exception.id} {exception.exception_type}: {message}"] if message else []
            before += [] if exception.id not in earlier else [f"{exception.id} {exception.exception_type}"]
    if before:
        named, others = before[:MAX_NAMED], len(before) - MAX_NAMED
        notes.append(f"in force from before: {'; '.join(named)}" + (f"; {others} more" if others > 0 else ""))
    if foreign:
        those = "breakpoint from before is" if len(foreign) == 1 else "breakpoints from before are"
        removes = f'breakpoint_remove(id="{foreign[0]}") removes one, id="*" all there are'
        notes.append(f"{len(foreign)} {those} of another language: {removes}")
    return notes


def _is_foreign(debugger: Debugger, each: Breakpoint, program: Requests) -> bool:
    """Return whether a breakpoint can mean nothing in a program of this language."""
    if each.spec.function is not None:
        return not (program.capabilities.supports_function_breakpoints or program.profile.code.finds_functions)
    profile, file = program.profile, each.spec.file
    if file is None or Path(file).suffix in profile.detect.suffixes:
        return False
    of_file = debugger.language_of(file)
    return of_file is not None and set(of_file.language.split(", ")).isdisjoint(profile.language.split(", "))


def refused_notes(debugger: Debugger, earlier: Container[str]) -> list[str]:
    """Return notes on breakpoints that adapters had refused at the end: for their conditions, or their kind.

    `earlier`: ids of those that were set for another program; what kinds it supports says nothing new of them.
    """

    def is_refused(breakpoint: Breakpoint, message: str) -> bool:
        by_kind = breakpoint.id not in earlier and "does not support breakpoints on " in message
        return breakpoint.spec.condition is not None or by_kind

    return [
        f"{breakpoint.id} was refused: {breakpoint.refused}"
        for breakpoint in debugger.state.breakpoints
        if breakpoint.refused and not breakpoint.hits and is_refused(breakpoint, breakpoint.refused)
    ]


def end_notes(debugger: Debugger, held: Container[str]) -> list[str]:
    """Return notes on breakpoints at which a program that has ended did not stop, or that it did not hit.

    `held`: those that were not to stop it.
    """
    places = Places(debugger.workspace.directory)
    never: dict[str, list[str]] = {}
    reasons: dict[str, None] = {}
    unnamed = _unnamed_stops(debugger)
    for breakpoint in debugger.state.breakpoints:
        if (
            breakpoint.id in held or breakpoint.id in debugger.breakpoints.syncs.carried
        ):  # it may be meant for another program
            continue
        if breakpoint.enabled and not breakpoint.hits and (breakpoint.spec.only_in or not breakpoint.lost):
            place = place_words(places, breakpoint)
            # Of several threads that reach one together the debugger reports one stop; tracepoints count exactly.
            what = "no stop at" if breakpoint.spec.log_message is None else "no hit of"
            never.setdefault(what, []).append(f"{breakpoint.id} {place}")
            reason = unnamed if breakpoint.spec.function else _why_never(debugger, breakpoint)
            chosen = f"{breakpoint.id} {breakpoint.remark}" if breakpoint.spec.function and breakpoint.remark else None
            reasons |= {each: None for each in (chosen, reason) if each is not None}
    notes = [
        f"{what} {'; '.join(found[:MAX_NAMED])}" + (f"; {len(found) - MAX_NAMED} more" * (len(found) > MAX_NAMED))
        for what, found in never.items()
    ]
    return [*notes, *reasons]


def _unnamed_stops(debugger: Debugger) -> str | None:
    """Return how many stops named no breakpoint: a function may have another name in its frame."""
    number = sum(
        kept.stop.reason in ("Breakpoint", "FunctionBreakpoint") and not kept.stop.breakpoint_ids
        for kept in debugger.state.kept.stops
    )
    if not number:
        return None
    stops, these = ("1 stop", "this") if number == 1 else (f"{number} stops", "these")
    return f"the adapter did not say at which breakpoint {stops} happened: {these} may have been at a function"


def _why_never(debugger: Debugger, breakpoint: Breakpoint) -> str | None:
    """Return why the adapter may not have set a breakpoint at all, where that is known of it."""
    if debugger.last_start is None or breakpoint.spec.file is None:
        return None
    return debugger.last_start[0].words.why_never(breakpoint.spec.file)


def moved_notes(debugger: Debugger, session_id: str, stop: Stop) -> list[str]:
    """Return a note on each breakpoint of a stop that this process has at another line than the one it was set on."""
    return [
        f"{breakpoint.id} {binding.message}"
        for breakpoint in debugger.state.breakpoints
        if breakpoint.id in stop.breakpoint_ids and breakpoint.spec.text is not None
        for binding in breakpoint.bindings
        if binding.session_id == session_id and binding.message and binding.line not in (None, breakpoint.spec.line)
    ]


def thread_notes(debugger: Debugger, snapshot: Snapshot, stopped: int) -> list[str]:
    """Return a note on other threads that stand on lines with breakpoints: a continue resumes them without a stop.

    Under our engine each of them has a stop of its own, in turn.
    """
    session = debugger.sessions.find(snapshot.id)
    if session is None or session.requests.capabilities.engine_requests:
        return []
    lines: dict[tuple[str | None, int | None], str] = {}
    for breakpoint in debugger.state.breakpoints:
        if breakpoint.enabled and breakpoint.spec.log_message is None:
            for binding in breakpoint.bindings:
                if binding.session_id == snapshot.id and binding.verified:
                    lines[breakpoint.spec.file, binding.line or breakpoint.spec.line] = breakpoint.id
    found = [
        f"{thread.id} {thread.name or ''}".strip() + f" ({lines[thread.location.file, thread.location.line]})"
        for thread in snapshot.threads.threads
        if thread.id != stopped and thread.location and (thread.location.file, thread.location.line) in lines
    ]
    if not found:
        return []
    named, others = ", ".join(found[:MAX_NAMED]), len(found) - MAX_NAMED
    more = f" and {others} more" if others > 0 else ""
    return [f"threads on lines with breakpoints, too: {named}{more}; debug_continue resumes them without another stop"]
