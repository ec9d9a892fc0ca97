"""Sessions that an editor does not show: children of its own and other programs. It is asked to open one for each.

Each is another connection of the editor, with the configuration of this one and the id of the session.
"""

import logging
from collections.abc import Mapping
from typing import Any

import trio

from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.state.model import Snapshot, State

log = logging.getLogger(__name__)

OFFER_SECONDS = 10.0
"""For an editor to agree to open a session; it connects later."""

MAX_OFFERED = 50
"""Sessions that one editor is asked to open: each is a window's worth of panels. Programs that start hundreds of
processes are looked at in the sessions that stop."""

MAX_ASKED = 5
"""Requests to open a session that wait for the answers of one editor. One that never answers gets more later."""

_KEPT = ("type", "token", "host", "port", "connect", "debugServer")
"""What a session has of the configuration that has started another one: how the door is reached, and who comes. Not its
tasks, which the editor would run again for each session, nor what is done at its end."""


async def offer_sessions(editor: Editor, configuration: Mapping[str, Any]) -> None:
    """Ask the editor to open each session that there is besides its own, until cancelled."""
    merger, offered = editor.debugger.merger, set[str]()
    starts = configuration.get("request") == "launch" or "program" in configuration
    kept = {name: value for name, value in configuration.items() if name in _KEPT}
    room = trio.Semaphore(MAX_ASKED)

    async def offer(session: Snapshot) -> None:
        try:
            await _offer(editor, {**kept, **_attach_to(session), "partOf": editor.family})
        finally:
            room.release()

    async with trio.open_nursery() as nursery:
        while len(offered) < MAX_OFFERED:
            await room.acquire()
            state = await merger.wait_until(lambda now: _next(editor, now, offered, own_only=starts) is not None)
            found = _next(editor, state, offered, own_only=starts)
            if found is None:
                room.release()
            else:
                offered.add(found.id)
                nursery.start_soon(offer, found)


def _next(editor: Editor, state: State, offered: set[str], *, own_only: bool) -> Snapshot | None:
    """Return a session to offer. Of those of other programs, none while its own is being restarted: it may be that."""
    own = editor.session_id or ""
    if state.snapshot(own) is None:
        return None
    roots = state.roots()
    for snapshot in state.shown:
        mine = roots[snapshot.id] == roots[own]
        if snapshot.id not in offered and snapshot.id != own and (mine or not own_only) and snapshot.origin.has_program:
            return snapshot
    return None


def _attach_to(session: Snapshot) -> Mapping[str, Any]:
    name = f"{session.origin.process_name or session.origin.adapter} ({session.id})"
    return {"request": "attach", "name": name, "sessionId": session.id, "wait": False}


async def _offer(editor: Editor, child: Mapping[str, Any]) -> None:
    with trio.move_on_after(editor.debugger.patience.seconds(OFFER_SECONDS)):
        try:
            await editor.channel.ask("startDebugging", {"request": "attach", "configuration": child})
        except AdapterRefused as refusal:
            log.info("an editor opens no session %s: %s", child["sessionId"], refusal.reason)
