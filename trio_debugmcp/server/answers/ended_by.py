"""Who has ended a session, for the clients that have not; which of its processes failed, which programs are left."""

import signal
from collections.abc import Mapping
from typing import Any

from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import name_of, shortened, signal_name

BY_A_CLIENT = "disconnected"
"""The reason for an end that a client has asked for."""

_RESUMES = ("continued", "stepped")

_ASKED_TO_END = -signal.SIGTERM
"""How a parent ends a child that it does not need any more, as a pool does with its workers."""

_MAX_OTHERS = 5
"""Programs that a note names; debug_state has all of them."""

_MAX_FAILED = 3
"""Processes that a note names; the timeline has all of them."""

_MOST_SAID = 120
"""Characters of what an exception says."""


def end_reason(debugger: Debugger, ended: Snapshot, reader: str | None) -> str | None:
    """Return why a session has ended; with the name of the client that has ended it, if that is not the reader's."""
    if ended.end_reason != BY_A_CLIENT:
        return ended.end_reason
    call: dict[str, Any] = {}
    for event in debugger.timeline.after(0):
        if event.type == "toolStarted" and event.payload["tool"] == "debug_disconnect":
            call = event.payload
        elif event.type == "sessionEnded":
            if event.payload["sessionId"] == ended.id:
                break
            call = {}  # that was the end of another one
    name, is_person = call.get("client"), call.get("person", False)
    if name is None or name == reader:
        return ended.end_reason
    return f"{BY_A_CLIENT} by a person ({name})" if is_person else f"{BY_A_CLIENT} by {name}"


def others_notes(debugger: Debugger, session_id: str) -> list[str]:
    """Return a note on the programs that are debugged beside one that is over."""
    state, roots = debugger.state, debugger.state.roots()
    over = {session_id, roots.get(session_id)}
    programs = {state.program_of(root) for root in roots.values() if root not in over}  # js-debug's is a child
    others = [snapshot for snapshot in state.snapshots if snapshot.id in programs]
    if not others:
        return []
    named = ", ".join(f"{other.id} {other.origin.process_name or ''} ({other.phase})" for other in others[:_MAX_OTHERS])
    more = f" and {len(others) - _MAX_OTHERS} more" if len(others) > _MAX_OTHERS else ""
    return [f"other programs are still debugged: {named}{more}; in focus is {state.focus}"]


def family_notes(debugger: Debugger, snapshot: Snapshot) -> list[str]:
    """Return of which program a process is a child, and which of its own failed since it was last resumed.

    js-debug's program is one of the session that launches it, and what has dialed in was started elsewhere.
    """
    parent = debugger.state.snapshot(snapshot.parent) if snapshot.parent is not None else None
    failed = ChildrenOf(debugger, snapshot, since_resume=True).notes() if _any_ended(debugger, snapshot.id) else []
    if parent is None or parent.origin.launches or parent.origin.listens:
        return failed
    name = f" {name_of(parent.origin.process_name)}" if parent.origin.process_name else ""
    return [f"this is a child process of {parent.id}{name}", *failed]


def _any_ended(debugger: Debugger, session_id: str) -> bool:
    """Return whether any session has ended since this one was resumed; few stops have to look further."""
    for event in debugger.timeline.latest_first():
        if event.type == "sessionEnded":
            return True
        if event.type in _RESUMES and event.payload.get("sessionId") == session_id:
            return False
    return False


class ChildrenOf:
    """The processes that a program has started, as the timeline has them.

    Attributes:
        pids: the process of each session, None where it is not known.
        failures: how those ended that an exception ended which nothing caught, or with an exit code other than 0; with
            `since_resume` only those that have ended since the program was last resumed.
    """

    def __init__(self, debugger: Debugger, ended: Snapshot, *, since_resume: bool = False) -> None:
        self.pids: dict[str, int | None] = {}
        self.failures: dict[str, str] = {}
        self._places = Places(debugger.workspace.directory)
        self._is_recorded = debugger.runs.of(ended.id) is not None
        tree, launchers = {ended.id}, set[str]()
        over, before = set[str](), set[str]()
        for root in debugger.state.ended:  # js-debug's program is a child of the session that launches it
            if root.origin.launches and root.id in (ended.id, ended.parent):
                launchers.add(root.id)
        for event in debugger.timeline.after(0):
            payload = event.payload
            session = payload.get("sessionId") or ""
            if event.type == "sessionStarted":
                parent = payload["parentSessionId"]
                if parent in launchers:
                    launchers.discard(parent)
                    tree.add(session)
                elif parent in tree:
                    tree.add(session)
                    self.pids[session] = payload["processId"]
            elif session in self.pids:
                self._learn(event.type, session, payload)
            elif session == ended.id and event.type in _RESUMES:
                before |= over
            if event.type == "sessionEnded":
                over.add(session)
        if since_resume:
            now = over - before
            self.failures = {session: failure for session, failure in self.failures.items() if session in now}

    def _learn(self, kind: str, session: str, payload: Mapping[str, Any]) -> None:
        if kind == "exception" and payload["breakMode"] == "unhandled":
            said = f": {shortened(payload['message'], _MOST_SAID)}" if payload["message"] else ""
            place = payload["location"]
            at = "" if place is None else f" at {self._places.at_location(place)}"
            self.failures[session] = f"{payload['exceptionType']}{said}{at}"
        elif kind == "sessionEnded" and payload["exitCode"] not in (None, 0, _ASKED_TO_END):
            name = signal_name(payload["exitCode"])
            self.failures.setdefault(session, f"ended by {name}" if name else f"exit code {payload['exitCode']}")
        elif kind == "sessionEnded" and payload["exitCode"] == 0:  # node may continue after what nothing has caught
            self.failures.pop(session, None)

    def notes(self) -> list[str]:
        """Return a note on those that failed."""
        if not self.failures:
            return []
        shown = [
            f"{session}{f' (pid {self.pids[session]})' if self.pids[session] else ''} {failure}"
            for session, failure in list(self.failures.items())[:_MAX_FAILED]
        ]
        more = f" and {len(self.failures) - _MAX_FAILED} more" if len(self.failures) > _MAX_FAILED else ""
        pid = next(filter(None, map(self.pids.get, self.failures)), None)
        why = f": why(process={pid}) says what led to it" if self._is_recorded and pid is not None else ""
        return [f"processes that it had started failed: {'; '.join(shown)}{more}{why}"]
