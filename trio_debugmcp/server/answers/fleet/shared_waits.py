"""Locks in shared memory, over all processes: which wait for each other, and who has what others wait for. Pure.

    waits = shared_waits(places, uses)
    waits.circles, waits.held, waits.orphans        # lines, by what they are about

Processes are looked at one after the other, and a lock may have gone from one to another meanwhile. So circles, and
locks that no process has, are to be said only where a second look finds the same: `confirmed`.
"""

from collections.abc import Hashable, Mapping, Sequence

from msgspec import Struct

from trio_debugmcp.probe.answers import SharedLock, SharedTaker
from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow, named
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.looking.by_probe.live_threads import LiveThread
from trio_debugmcp.state.labels import short_label
from trio_debugmcp.state.payloads import printable

MOST_SAID = 4
"""Waits of a circle; the others are counted."""

_ORPHANED = "none of those that answer is seen to have the lock; one that has ended may have had it"

_IDLE = "worker"
_MAIN = "MainThread"

Member = tuple[str, int]
"""A thread of a process: the session and the thread."""


class LockUse(Struct, frozen=True):
    """What one process says of the locks that it shares; its threads by their ids; `omitted`: locks not listed."""

    process: ProcessNow
    machine: str
    locks: Sequence[SharedLock]
    threads: Mapping[int, LiveThread]
    omitted: int = 0


class LineAbout(Struct, frozen=True):
    """A line, the sessions that it is about, and the threads of a circle."""

    line: str
    sessions: frozenset[str]
    members: frozenset[Member] = frozenset()


class SharedWaits(Struct, frozen=True):
    """What is to be said of the locks, by what each is about.

    Attributes:
        circles: of threads in several processes that wait for each other.
        held: the locks that others wait for, with who has them; `orphans`: those that no process here is seen to have.
    """

    circles: Mapping[Hashable, LineAbout] = {}
    held: Mapping[Hashable, LineAbout] = {}
    orphans: Mapping[Hashable, LineAbout] = {}

    @property
    def are_doubtful(self) -> bool:
        """Whether a second look has to confirm something of it."""
        return bool(self.circles or self.orphans)

    def confirmed(self, earlier: "SharedWaits") -> "SharedWaits":
        """Return what of it may be said, where an earlier look was the first one."""
        return SharedWaits(
            {key: about for key, about in self.circles.items() if key in earlier.circles},
            self.held,
            {key: about for key, about in self.orphans.items() if key in earlier.orphans},
        )


def shared_waits(places: Places, uses: Sequence[LockUse]) -> SharedWaits:
    """Return who waits for which lock that processes share, and who has it."""
    locks = [lock for lock in _locks(uses) if lock.waiting]
    circles = _circles(places, uses, locks)
    circling = {member for about in circles.values() for member in about.members}
    held, orphans = dict[Hashable, LineAbout](), dict[Hashable, LineAbout]()
    for lock in locks:
        key = (lock.id, frozenset(lock.waiting), frozenset(use.process.id for use in lock.owners))
        if lock.owners and not lock.is_of_idle_workers and not circling.issuperset(lock.waiting):
            held[key] = LineAbout(_held(places, lock), lock.sessions)
        elif not lock.owners and lock.is_single and not lock.is_handed_on:
            if lock.unseen:
                held[key] = LineAbout(f"{_waiting(lock)}: {_unseen(lock)}", lock.sessions)
            else:
                orphans[key] = LineAbout(f"{_waiting(lock)}: {_ORPHANED}", lock.sessions)
    return SharedWaits(circles, held, orphans)


class _WantedLock(Struct, frozen=True):
    """A lock that is waited for.

    `unseen`: processes that may have it, as they have more locks than they list. `is_handed_on`: another process has
    released it than the one that had it.
    """

    id: tuple[str, str]
    uses: Sequence[tuple[LockUse, SharedLock]]
    unseen: Sequence[LockUse] = ()

    @property
    def waiting(self) -> dict[Member, LockUse]:
        return {(use.process.id, each.thread): use for use, lock in self.uses for each in lock.waiters}

    @property
    def owners(self) -> list[LockUse]:
        return [use for use, lock in self.uses if lock.count > 0]

    @property
    def is_single(self) -> bool:
        return all(lock.single for _, lock in self.uses)

    @property
    def is_handed_on(self) -> bool:
        return any(lock.count < 0 for _, lock in self.uses)

    @property
    def sessions(self) -> frozenset[str]:
        return frozenset(use.process.id for use, _ in self.uses)

    @property
    def is_of_idle_workers(self) -> bool:
        """Whether only workers without work wait, for their turn to read the queue."""
        waiting = [use.threads.get(thread) for (_, thread), use in self.waiting.items()]
        return all(thread is not None and thread.kind == _IDLE for thread in waiting)

    @property
    def taker(self) -> SharedTaker | None:
        """The thread that has it, where one process has, and the stacks of that show which."""
        takers = [each for _, lock in self.uses if lock.count > 0 for each in lock.takers]
        return takers[0] if len(takers) == 1 and len(self.owners) == 1 else None

    @property
    def what(self) -> str:
        """What it is called where it is waited for."""
        (_, thread), use = next(iter(self.waiting.items()))
        return waited_for(use, thread)


class _ThreadWait(Struct, frozen=True):
    """A thread waits for another: in words, and why it may end without that one."""

    to: Member
    line: str
    lock: Hashable = None
    timed: bool = False
    loose: bool = False


def _locks(uses: Sequence[LockUse]) -> list[_WantedLock]:
    found: dict[tuple[str, str], list[tuple[LockUse, SharedLock]]] = {}
    for use in uses:
        for lock in use.locks:
            found.setdefault((use.machine, lock.id), []).append((use, lock))
    return [_WantedLock(key, each, _unlisted(uses, key[0], each)) for key, each in found.items()]


def _unlisted(uses: Sequence[LockUse], machine: str, seen: Sequence[tuple[LockUse, SharedLock]]) -> list[LockUse]:
    """Return the processes of a machine that have more locks than they list, and may have one that others list."""
    listing = {use.process.id for use, _ in seen}
    return [use for use in uses if use.omitted and use.machine == machine and use.process.id not in listing]


def _circles(places: Places, uses: Sequence[LockUse], locks: Sequence[_WantedLock]) -> dict[Hashable, LineAbout]:
    """Return the circles of threads in several processes; those within one are known to that."""
    waits = {
        (use.process.id, thread.id): _ThreadWait(
            (use.process.id, thread.holder), f"{who(use, thread.id)} waits for {what}"
        )
        for use in uses
        for thread in use.threads.values()
        if thread.holder is not None and (what := thread.waits)
    }
    for lock in locks:
        waits.update(_waits_for(places, lock))
    circles = dict[Hashable, LineAbout]()
    seen = set[Member]()
    for start in sorted(waits):
        path, member = list[Member](), start
        while member in waits and member not in path and member not in seen:
            path.append(member)
            member = waits[member].to
        seen.update(path)
        if member not in path:
            continue
        circle = path[path.index(member) :]
        sessions = frozenset(session for session, _ in circle)
        if len(sessions) > 1:
            key = frozenset((each, waits[each].lock) for each in circle)
            circles[key] = LineAbout(_circle([waits[each] for each in circle]), sessions, frozenset(circle))
    return circles


def _waits_for(places: Places, lock: _WantedLock) -> dict[Member, _ThreadWait]:
    """Return who waits for the thread that has a lock, where it is known which has."""
    owners = lock.owners
    if len(owners) != 1 or lock.is_handed_on or lock.unseen:
        return {}
    [owner] = owners
    taker = lock.taker
    thread = taker.thread if taker is not None else _only_thread(owner)
    if thread is None:
        return {}
    loose = taker is None or taker.by_call or not lock.is_single
    has = f"which {short_label(owner.process.labels) or owner.process.id} has{_at(places, lock)}"
    return {
        (use.process.id, each.thread): _ThreadWait(
            (owner.process.id, thread),
            f"{who(use, each.thread)} waits for {waited_for(use, each.thread)}, {has}",
            lock.id,
            each.timed,
            loose,
        )
        for use, shared in lock.uses
        for each in shared.waiters
    }


def _only_thread(use: LockUse) -> int | None:
    """Return the only thread that is not idle."""
    busy = [thread.id for thread in use.threads.values() if thread.kind != _IDLE]
    return busy[0] if len(busy) == 1 else None


def _circle(waits: Sequence[_ThreadWait]) -> str:
    said = "; ".join(wait.line for wait in waits[:MOST_SAID])
    more = f"; and {len(waits) - MOST_SAID} more" if len(waits) > MOST_SAID else ""
    if any(wait.timed for wait in waits):
        return f"wait for each other, until a timeout: {said}{more}"
    unless = ", unless something else releases a lock" if any(wait.loose for wait in waits) else ""
    return f"deadlock{unless}: {said}{more}"


def _held(places: Places, lock: _WantedLock) -> str:
    owners = named([use.process for use in lock.owners])
    may = len(lock.owners) > 1 or lock.is_handed_on or lock.unseen
    return f"{_waiting(lock)}, which {owners} {'may have' if may else 'has'}{_at(places, lock)}"


def _unseen(lock: _WantedLock) -> str:
    number = sum(use.omitted for use in lock.unseen)
    return f"who has it is not known, as {number} locks of {named([use.process for use in lock.unseen])} are not listed"


def _waiting(lock: _WantedLock) -> str:
    processes = list({use.process.id: use.process for use in lock.waiting.values()}.values())
    return f"{len(processes)} ({named(processes)}) wait{'s' if len(processes) == 1 else ''} for {lock.what}"


def _at(places: Places, lock: _WantedLock) -> str:
    """Return where the thread is that has it, in the function that has taken it."""
    taker = lock.taker
    if taker is None:
        return ""
    return f", in {printable(taker.at.function)} {places.line(taker.at.file, taker.at.line)}"


def waited_for(use: LockUse, thread: int) -> str:
    """Return the lock for which a thread waits, in words."""
    found = use.threads.get(thread)
    if found is not None and found.kind == _IDLE:
        return "the lock of the queue of work"
    return found.waits if found is not None and found.waits else "a lock"


def who(use: LockUse, thread: int) -> str:
    """Return a process, and which of its threads, unless it is the main one."""
    found = use.threads.get(thread)
    of = "" if found is None or found.name == _MAIN else f" (thread {thread} {found.name})"
    return named([use.process]) + of
