"""The merger: the one task that owns the state and writes the timeline. All others send it changes, or read.

    state = await merger.merge(Resumed("s-1"))                          # a change; returns when the state has it
    state.snapshot("s-1").phase                                         # "Running"
    await merger.wait_until(lambda state: state.focused is None)        # the caller's cancel scope bounds the wait
    merger.state                                                        # immutable, so consistent; reading never blocks

The merger waits for nothing but its inbox. A request made from here would deadlock: its response can only be delivered
by the DAP reader, which waits for the event pump, which waits for this inbox.

`Revisions` count how often each resource has changed, without a look at each of a thousand: in a fleet, which is one
tree of sessions, each change is one of a resource of every session. Such a set of URIs has one count of its own for as
long as it stays the same. The revision of a URI is what was counted for it alone and in a set.

    revisions = Revisions([SESSION, SESSIONS])               # each is 0
    revisions.count({SESSION, SESSIONS}, [tree])             # these have changed, and so has every URI of `tree`
    revisions[SESSION]                                       # 1
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import count
from math import inf
from typing import Protocol, TypeAlias

import trio
from msgspec.structs import replace

from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.state.changes import Change
from trio_debugmcp.state.model import State
from trio_debugmcp.state.reduce import reduce
from trio_debugmcp.state.resources import RESOURCES, changed
from trio_debugmcp.state.session_index import changed_sessions
from trio_debugmcp.state.session_resources import (
    SERVER_RESOURCES,
    changed_in_sessions,
    changed_of_server,
    changed_trees,
    gone,
    list_differs,
)
from trio_debugmcp.state.stop_resource import changed_stops
from trio_debugmcp.state.timeline_events import happenings


class Revisions:
    """The revision of every resource. It never falls, and rises by one each time that the resource is counted."""

    def __init__(self, uris: Iterable[str]) -> None:
        self._alone = Counter(dict.fromkeys(uris, 0))
        # No URI is in two of these. They are sets that hash themselves once, so they are found without a look inside.
        self._together: dict[frozenset[str], int] = {}

    def __repr__(self) -> str:
        return f"<Revisions of {len(self.counted())} resources>"

    def __getitem__(self, uri: str) -> int:
        return self._alone[uri] + sum(times for uris, times in self._together.items() if uri in uris)

    def counted(self) -> set[str]:
        """Return the URIs that have been counted and are not forgotten, with those that there were at first."""
        return set(self._alone).union(*self._together)

    def count(self, alone: AbstractSet[str], together: Iterable[frozenset[str]] = ()) -> None:
        """Give each of these its next revision: once, also one that is named twice.

        No URI is in two of the sets that are counted together.
        """
        for uris in together:
            if uris not in self._together:
                self._separate(uris)
            self._together[uris] = self._together.get(uris, 0) + 1
            alone = alone - uris  # goes through the fewer of them, which `-=` does not
        self._alone.update(alone)

    def forget(self, uris: AbstractSet[str]) -> None:
        """Keep nothing of these, which are never read again."""
        if uris:
            self._separate(uris)
        for uri in uris:
            del self._alone[uri]

    def _separate(self, uris: AbstractSet[str]) -> None:
        """Let no set be kept that has any of these: what was counted for it is counted for each of its URIs alone."""
        for others in [each for each in self._together if not each.isdisjoint(uris)]:
            self._alone.update(dict.fromkeys(others, self._together.pop(others)))


MERGE_SECONDS = 10.0
"""For a merge that has to happen while its task is being cancelled. The merger never waits: this only ends a hang."""

MOST_IN_A_TURN = 64
"""Changes that are merged and published together. A thousand processes may stop at once, and what there is to publish
costs more the more of them there are; other tasks have a turn after so many."""

_WITHOUT_EVENTS = tuple(field for field in State.__struct_fields__ if field != "happened")
"""The parts of the state that waits are about."""


_Sent: TypeAlias = tuple[Change, trio.Event]
"""A change, and what is set when it is part of the state."""


class ResourceListener(Protocol):
    """Receives changes of resources. Called from the merger, so it must not block."""

    def resources_updated(self, *uris: AbstractSet[str]) -> None:
        """Called when the resources of all these sets have a new revision; a set is not to be gone through."""

    def list_changed(self) -> None:
        """Called when other resources are listed than before: a session has begun or ended, or the first run begun."""


_NO_STATE = State()


class _Wait:
    """A task that waits for a state; the merger looks for it at each change, so that the task is woken once.

    It has no state until then: each of a thousand would hold another, and with it all sessions as they were.
    """

    __slots__ = ("condition", "failure", "over", "state")

    def __init__(self, condition: Callable[[State], bool]) -> None:
        self.condition = condition
        self.state = _NO_STATE
        self.failure: Exception | None = None
        self.over = trio.Event()

    def is_over_with(self, state: State) -> bool:
        """Whether the state fulfils the condition; an error in that is one of the task that waits."""
        try:
            if not self.condition(state):
                return False
        except Exception as error:  # noqa: BLE001 (raised in that task)
            self.failure = error
        self.state = state
        self.over.set()
        return True


class Merger:
    """The state, the revision of every resource, and the tasks that wait for a state to come."""

    def __init__(self, listener: ResourceListener, timeline: Timeline) -> None:
        self.state = State()
        self.timeline = timeline
        self.revisions = Revisions((*RESOURCES, *SERVER_RESOURCES))
        self.capture_numbers = count(1)  # none is used twice: an old id is refused, not mistaken
        self.people_numbers = count(1)  # of questions, waiting calls and receipts, likewise
        self._listener = listener
        # A sender waits until its change is merged, so it is never ahead of the state by more than that.
        self._inbox, self._changes = trio.open_memory_channel[_Sent](inf)
        self._waits: dict[_Wait, None] = {}
        self._event_waits: dict[_Wait, None] = {}
        self._session_waits: dict[str, dict[_Wait, None]] = {}

    def __repr__(self) -> str:
        waiting = len(self._waits) + len(self._event_waits) + sum(map(len, self._session_waits.values()))
        return f"<Merger of {len(self.state.snapshots)} sessions, {waiting} tasks waiting>"

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Merge until cancelled."""
        with self._changes:
            task_status.started()
            async for first in self._changes:
                self._merge_all([first, *self._further()])

    async def merge(self, change: Change) -> State:
        """Send a change and return when it is part of the state. A change that was sent is not undone by cancelling."""
        merged = trio.Event()
        await trio.lowlevel.checkpoint_if_cancelled()
        self._inbox.send_nowait((change, merged))
        await merged.wait()
        return self.state

    def look_again(self, session_id: str | None = None) -> None:
        """Let all waits look at the state again: something besides it has changed that their conditions look at.

        With a session, let those do that wait for it.
        """
        if session_id is None:
            self._look(self._event_waits)
            self._look(self._waits)
        self._look_for(self._session_waits if session_id is None else [session_id])

    async def wait_until(
        self, condition: Callable[[State], bool], *, events: bool = False, of: str | None = None
    ) -> State:
        """Wait, for as long as the caller's cancel scope allows, until a state fulfils the condition.

        The state returned is that one, even if it has changed again by the time the caller runs. `events`: the
        condition is also about `happened`; a new event of the timeline is shown to no other wait, as each call is one.
        `of`: it is about this session and the breakpoints alone, and about what stays: a state that was not published,
        as other changes were merged with it, is not shown to it. Each of a thousand sessions has such a wait.

        The merger calls the condition with each state, so it is short, waits for nothing and changes nothing.
        """
        if condition(self.state):
            return self.state
        wait, waits = _Wait(condition), self._event_waits if events else self._waits
        if of is not None:
            waits = self._session_waits.setdefault(of, {})
        waits[wait] = None
        try:
            await wait.over.wait()
        finally:
            waits.pop(wait, None)
            if of is not None and not waits:
                self._session_waits.pop(of, None)
        if wait.failure is not None:
            raise wait.failure
        return wait.state

    def _look(self, waits: dict[_Wait, None]) -> None:
        """Have the waits that the state fulfils return; the tasks of the others are not woken for it."""
        for wait in [*waits]:
            if wait.is_over_with(self.state):
                del waits[wait]

    def _look_for(self, sessions: Iterable[str]) -> None:
        """The same for the waits that are about these sessions."""
        for session_id in [*sessions]:
            self._look(self._session_waits.get(session_id, {}))

    def _further(self) -> Iterator[_Sent]:
        """Take what else has been sent meanwhile, up to the end of the turn."""
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            for _ in range(MOST_IN_A_TURN - 1):
                yield self._changes.receive_nowait()

    def _merge_all(self, sent: Sequence[_Sent]) -> None:
        old = self.state
        for change, _ in sent:
            self._merge(change)
        if self.state is not old:
            self._publish(old)
        for _, merged in sent:
            merged.set()

    def _merge(self, change: Change) -> None:
        old = self.state
        new = reduce(change, old)
        news = happenings(old, change, new)
        if news:
            new = replace(new, happened=self.timeline.record(news))
        if new is old:
            return
        self.state = new
        self._look(self._event_waits)
        if any(getattr(old, name) is not getattr(new, name) for name in _WITHOUT_EVENTS):
            self._look(self._waits)

    def _publish(self, old: State) -> None:
        """Give each resource that differs from the old state its next revision, and tell who listens."""
        new = self.state
        uris = changed(old, new) | changed_in_sessions(old, new) | changed_of_server(old, new)
        trees = changed_trees(old, new)
        self.revisions.count(uris, trees)
        uris |= changed_stops(old, new)  # each has its revision itself, as there is no end of them
        if uris:  # also where a tree differs, as the list of the sessions does then
            self._listener.resources_updated(uris, *trees)
        self.revisions.forget(gone(old, new))  # a session's own resources: no id is used again
        if list_differs(old, new):
            self._listener.list_changed()
        is_about_all = old.breakpoints is not new.breakpoints or old.run_places is not new.run_places
        self._look_for(self._session_waits if is_about_all else changed_sessions(old.snapshots, new.snapshots))
