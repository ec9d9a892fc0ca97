"""`debugger://sessions`, and the resources of each session below it; and those of the server: `people` and `runs`.

    found = find("debugger://sessions/s-2/stack")    # SessionResource("s-2", RESOURCES[STACK])
    changed_in_sessions(old, new)                    # {"debugger://sessions/s-2/stack"}: the URIs to notify
    changed_trees(old, new)                          # [frozenset({"debugger://sessions/s-2/session", ...})]: also these

They are read and notified as those of the session in focus are, from the same parts of the state.
"""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from trio_debugmcp.state.model import Snapshot, State
from trio_debugmcp.state.payloads import Payload
from trio_debugmcp.state.people.people_view import PEOPLE, PEOPLE_DESCRIPTION, PEOPLE_NAME, people_payload
from trio_debugmcp.state.recorded_runs import RUNS, RUNS_DESCRIPTION, RUNS_NAME, runs_payload
from trio_debugmcp.state.resources import MODULES, OUTPUT, RESOURCES, SESSION, STACK, THREADS, Resource
from trio_debugmcp.state.session_index import changed_sessions
from trio_debugmcp.state.session_view import moved_trees, sessions_payload

SESSIONS = "debugger://sessions"

SESSIONS_RESOURCE = Resource(
    SESSIONS,
    "Sessions",
    "The debug sessions of all programs; each has its own resources below this URI",
    lambda state, _snapshot: (state.focus, state.snapshots),
    lambda view: sessions_payload(view.state, view.revision),
)

PEOPLE_RESOURCE = Resource(
    PEOPLE,
    PEOPLE_NAME,
    PEOPLE_DESCRIPTION,
    lambda state, _snapshot: (state.people,),
    lambda view: people_payload(view.state.people, view.revision),
)

RUNS_RESOURCE = Resource(
    RUNS,
    RUNS_NAME,
    RUNS_DESCRIPTION,
    lambda state, _snapshot: (state.runs,),
    lambda view: runs_payload(view.state.runs, view.revision),
)

SERVER_RESOURCES: dict[str, tuple[Callable[[State], object], Callable[[State, int], Payload]]] = {
    PEOPLE: (lambda state: state.people, lambda state, revision: people_payload(state.people, revision)),
    RUNS: (lambda state: state.runs, lambda state, revision: runs_payload(state.runs, revision)),
}
"""Not of a session, so they can be read without one, each with its part of the state and its payload.

Like the others they are listed only with one; and `runs` only once there is a run.
"""

SESSION_TEMPLATE = SESSIONS + "/{session}/{resource}"
SESSION_TEMPLATE_NAME = "Resource of a Session"
SESSION_TEMPLATE_DESCRIPTION = "The session, threads, stack, output or modules of one session, by its id"

RESOURCES_OF_SESSIONS = {uri.rpartition("/")[2]: RESOURCES[uri] for uri in (SESSION, THREADS, STACK, OUTPUT, MODULES)}
"""What every session has for itself, by the last part of the URI. Breakpoints and the timeline are of all sessions."""

_SESSION = SESSION.rpartition("/")[2]

_URI = re.compile(re.escape(SESSIONS) + r"/(?P<session>s-\d{1,9})/(?P<resource>[a-z]+)")


class SessionResource(Struct, frozen=True):
    """What a URI names: a resource, as the session with that id has it."""

    session_id: str
    resource: Resource


def listed(state: State) -> list[Resource]:
    """The resources that are listed: none without a session."""
    if state.focused is None:
        return []
    return [*RESOURCES.values(), SESSIONS_RESOURCE, PEOPLE_RESOURCE, *([RUNS_RESOURCE] if state.runs else ())]


def list_differs(old: State, new: State) -> bool:
    """Whether `listed` differs between two states."""
    before, after = old.focused is not None, new.focused is not None
    return before != after or (after and bool(old.runs) != bool(new.runs))


def resource_of(uri: str) -> Resource | None:
    """The resource with that URI, of those that are listed."""
    others = {SESSIONS: SESSIONS_RESOURCE, PEOPLE: PEOPLE_RESOURCE, RUNS: RUNS_RESOURCE}
    return others.get(uri) or RESOURCES.get(uri)


def session_uri(session_id: str, name: str) -> str:
    """The URI of a resource of one session."""
    return f"{SESSIONS}/{session_id}/{name}"


def find(uri: str) -> SessionResource | None:
    """What a URI names, whether or not there is a session with that id; None for every other URI."""
    named = _URI.fullmatch(uri)
    resource = None if named is None else RESOURCES_OF_SESSIONS.get(named["resource"])
    return None if named is None or resource is None else SessionResource(named["session"], resource)


class _TreeUris:
    """The URI of `session` of each session, by the root of its tree: a change of one is one of all of its tree.

    They are put together again when a session has opened or ended, and are the very same sets until then; a fleet is
    one tree of a thousand.
    """

    def __init__(self) -> None:
        self._of: tuple[Snapshot, ...] = ()
        self._uris: dict[str, frozenset[str]] = {}

    def after(self, old: State, new: State) -> Mapping[str, frozenset[str]]:
        """Return those of the new state."""
        ids = changed_sessions(old.snapshots, new.snapshots)
        if self._of is not old.snapshots or not all(old.snapshot(id_) and new.snapshot(id_) for id_ in ids):
            trees: dict[str, list[str]] = {}
            for id_, root in new.roots().items():
                trees.setdefault(root, []).append(session_uri(id_, _SESSION))
            self._uris = {root: frozenset(uris) for root, uris in trees.items()}
        self._of = new.snapshots
        return self._uris


_tree_uris = _TreeUris()


def changed_trees(old: State, new: State) -> list[frozenset[str]]:
    """The URIs of `session` of every session of each tree that differs between two states; no URI is in two of them."""
    if old.snapshots is new.snapshots:
        return []
    trees = _tree_uris.after(old, new)
    return [trees[root] for root in moved_trees(old, new) if root in trees]


def changed_in_sessions(old: State, new: State) -> set[str]:
    """The URIs of sessions' resources that differ between two states; all of a session that has opened or ended.

    Those that differ with others of their tree are in `changed_trees`: there may be a thousand of them.
    """
    if old.snapshots is new.snapshots and old.focus == new.focus:
        return set()
    found: set[str] = set()
    if old.focus != new.focus or moved_trees(old, new):
        found.add(SESSIONS)
    for id_ in changed_sessions(old.snapshots, new.snapshots):
        before, after = old.snapshot(id_), new.snapshot(id_)
        if before is None or after is None:
            found.update(_all(id_))
            continue
        for name, resource in RESOURCES_OF_SESSIONS.items():
            if resource.parts(old, before) != resource.parts(new, after):
                found.add(session_uri(id_, name))
    return found


def changed_of_server(old: State, new: State) -> set[str]:
    """The URIs of the resources that differ between two states and are of no session."""
    return {uri for uri, (part, _) in SERVER_RESOURCES.items() if part(old) is not part(new)}


def gone(old: State, new: State) -> set[str]:
    """The URIs of the resources of sessions that have ended."""
    ids = changed_sessions(old.snapshots, new.snapshots)
    return {uri for id_ in ids if new.snapshot(id_) is None for uri in _all(id_)}


def _all(session_id: str) -> list[str]:
    return [session_uri(session_id, name) for name in RESOURCES_OF_SESSIONS]
