"""Which session is in focus: the one that resources and tools refer to unless a request names another.

The whole rule:

- A root session takes the focus when it has started, or when it opens and there is no other session. A child that
  opens does not, unless a session that listens or only launches has it: that one has no program, so it has the focus
  only as long as no other session is there.
- A stop takes it, unless another session has it and is paused or in the middle of a step: a client must not lose the
  session it works in because another process stops as well.
- Continuing the focused session passes the focus to the session of the same tree that has been paused longest, if there
  is one. A step keeps it, because its stop is expected in the same session.
- A resume that the adapter refused takes it: the client that asked for it is still at that stop.
- The session that a tool has answered about takes it from the sessions of other programs, if the tool is one that
  controls programs: what a client does next without naming a session is about the program of its last answer.
- When the focused session ends, the focus goes to the session that has been paused longest, or to the parent if none is
  paused, or to the oldest session if the parent has ended before or only listens. Those of the same tree come before
  those of other programs.

`reduce` applies the first and the last but one itself, and the fourth; the functions here decide the others. Each
returns the id of the session in focus after the change.
"""

from collections.abc import Iterable

from trio_debugmcp.state.model import ResumeKind, Snapshot, State


def focus_after_open(state: State, opened: Snapshot) -> str | None:
    """The focus after a child has opened."""
    focused = state.focused
    launcher = focused is not None and not focused.origin.has_program and focused.id == opened.parent
    return opened.id if launcher else state.focus


def focus_after_stop(state: State, session_id: str) -> str:
    """The focus after a stop of a session."""
    focused = state.focused
    if focused is not None and (focused.phase == "Paused" or focused.stepping):
        return focused.id
    return session_id


def focus_after_resume(state: State, session_id: str, kind: ResumeKind) -> str | None:
    """The focus after a resume of a session, which no longer counts as paused in `state`."""
    if kind == "continue" and state.focus == session_id:
        waiting = _longest_paused(_of_tree(state, session_id))
        if waiting is not None:
            return waiting.id
    return state.focus


def focus_after_end(state: State, closed: Snapshot, left: tuple[Snapshot, ...]) -> str | None:
    """The focus after the end of a session and its children; `left` are the snapshots of the others."""
    if any(snapshot.id == state.focus for snapshot in left):
        return state.focus
    remaining = {snapshot.id for snapshot in left}
    own = [snapshot for snapshot in _of_tree(state, closed.id) if snapshot.id in remaining]
    candidates = own or left
    waiting = _longest_paused(candidates)
    if waiting is not None:
        return waiting.id
    # A child may open after its parent has ended, because the two come from different adapters: its parent is not left.
    if any(snapshot.id == closed.parent and snapshot.origin.has_program for snapshot in candidates):
        return closed.parent
    first = candidates[0] if candidates else None
    oldest = next((snapshot for snapshot in candidates if snapshot.origin.has_program), first)
    return None if oldest is None else oldest.id


def _of_tree(state: State, session_id: str) -> list[Snapshot]:
    roots = state.roots()
    return [snapshot for snapshot in state.snapshots if roots[snapshot.id] == roots.get(session_id)]


def _longest_paused(snapshots: Iterable[Snapshot]) -> Snapshot | None:
    paused = [snapshot for snapshot in snapshots if snapshot.phase == "Paused" and snapshot.stop is not None]
    return min(paused, key=lambda snapshot: snapshot.stop.number if snapshot.stop else 0, default=None)
