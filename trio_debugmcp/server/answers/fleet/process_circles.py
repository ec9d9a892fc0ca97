"""Processes that wait for each other in pipes, for each other's end, or for locks: which can never resume. Pure.

    asked = pipe_questions(uses)                    # who has the ends of which pipes, to be asked on each machine
    circles = process_circles(uses, holders)        # lines, by what they are about

A process may resume as long as one of its threads may, and a thread if one of the processes may for which it waits.
What is left is a deadlock if it was so at one moment: a second look has to find the same threads, not having run since.
"""

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from trio_debugmcp.probe.answers import BlockedProcess, BlockedThread, PipeEnds, SharedLock
from trio_debugmcp.server.answers.fleet.fleet_classes import named
from trio_debugmcp.server.answers.fleet.shared_waits import MOST_SAID, LineAbout, LockUse, waited_for, who

Holders = Mapping[str, Mapping[str, PipeEnds]]
"""Who has the ends of pipes, by the machine and the pipe; a pipe that others may have is not there."""

_IN_PIPES = {
    "write": "waits to write to a full pipe that only {} can read",
    "read": "waits to read from an empty pipe that only {} can write to",
}

_IN_SOCKETS = {
    "write": "waits to write to a full socket of which only {} have an end",
    "read": "waits to read from an empty socket of which only {} have an end",
}

_WITH_HOLDERS = ("file", *_IN_PIPES)
"""What is asked of the machine: who may end the wait."""

_SOCKET = "socket:"
"""How the name of one begins, among those of pipes."""


class BlockedUse(LockUse, frozen=True, kw_only=True):
    """The same with the threads that the kernel has blocked."""

    blocked: BlockedProcess

    @property
    def pid(self) -> tuple[str, int]:
        return self.machine, self.blocked.pid


class PipeQuestion(Struct, frozen=True):
    """Which process is to be asked for the holders of which pipes, in which those `among` them wait."""

    session_id: str
    machine: str
    pipes: Sequence[str]
    among: Sequence[int]


class _OutsideWait(Struct, frozen=True):
    """A wait of a thread that only other processes end, the `holders`; none where others may that are not known."""

    use: BlockedUse
    thread: BlockedThread
    holders: Sequence[BlockedUse]

    def is_for(self, sessions: AbstractSet[str]) -> bool:
        return any(each.process.id in sessions for each in self.holders)


def pipe_questions(uses: Sequence[BlockedUse]) -> list[PipeQuestion]:
    """Return what is to be asked, which is nothing where there can be no circle."""
    by_pid = {use.pid: use for use in uses if not use.blocked.others}
    while gone := [pid for pid, use in by_pid.items() if any((pid[0], end) not in by_pid for end in _ends(use))]:
        by_pid = {pid: use for pid, use in by_pid.items() if pid not in gone}
    found = list[PipeQuestion]()
    for machine in dict.fromkeys(machine for machine, _ in by_pid):
        here = [use for use in by_pid.values() if use.machine == machine]
        pipes = sorted({each.of for use in here for each in use.blocked.threads if each.in_ in _WITH_HOLDERS})
        if pipes and len(here) > 1:
            found.append(PipeQuestion(here[0].process.id, machine, pipes, [use.blocked.pid for use in here]))
    return found


def process_circles(uses: Sequence[BlockedUse], holders: Holders) -> dict[Hashable, LineAbout]:
    """Return the circles of several processes that can never resume."""
    waits = _dead(uses, holders)
    after = {session: {each.process.id for wait in own for each in wait.holders} for session, own in waits.items()}
    before: dict[str, set[str]] = {session: set() for session in waits}
    for session, others in after.items():
        for other in others:
            before[other].add(session)
    blocked = {use.process.id: use.blocked for use in uses}
    circles, done = dict[Hashable, LineAbout](), set[str]()
    for session in waits:
        if session in done:
            continue
        relied_on = _reached(session, after)
        circle = relied_on & _reached(session, before)
        done |= circle
        within = [wait for member in waits if member in circle for wait in waits[member] if wait.is_for(circle)]
        in_others = [wait for wait in within if wait.thread.in_ != "lock"]
        if len(circle) > 1 and in_others:  # a circle of locks only is known without the kernel
            key = frozenset((each, blocked[each]) for each in relied_on)
            locks = [wait for wait in within if wait.thread.in_ == "lock"]
            circles[key] = LineAbout(_line([*in_others, *locks]), frozenset(circle))
    return circles


def _dead(uses: Sequence[BlockedUse], holders: Holders) -> dict[str, list[_OutsideWait]]:
    """Return the processes that can never resume, with what their threads wait for in others."""
    by_pid = {use.pid: (number, use) for number, use in enumerate(uses)}
    locks: dict[tuple[str, str], list[tuple[BlockedUse, SharedLock]]] = {}
    unlisted = {use.machine for use in uses if use.omitted}  # there others may have any lock
    for use in uses:
        for lock in use.locks:
            locks.setdefault((use.machine, lock.id), []).append((use, lock))

    def outside_wait(use: BlockedUse, thread: BlockedThread) -> _OutsideWait:
        if thread.in_ == "lock":
            return _OutsideWait(use, thread, () if use.machine in unlisted else _owners(use, thread, locks))
        pids = (int(thread.of),) if thread.in_ == "end" else _other_end(thread, holders.get(use.machine, {}))
        known = dict(by_pid[use.machine, pid] for pid in pids if (use.machine, pid) in by_pid)
        return _OutsideWait(use, thread, [known[number] for number in sorted(known)] if len(known) == len(pids) else ())

    dead = {
        use.process.id: [outside_wait(use, each) for each in use.blocked.threads if each.in_ != "thread"]
        for use in uses
        if not use.blocked.others
    }
    while alive := [session for session, waits in dead.items() if _may_resume(waits, dead.keys())]:
        for session in alive:
            del dead[session]
    return dead


def _ends(use: BlockedUse) -> list[int]:
    """Return the processes for whose end one waits."""
    return [int(each.of) for each in use.blocked.threads if each.in_ == "end"]


def _other_end(thread: BlockedThread, pipes: Mapping[str, PipeEnds]) -> Sequence[int]:
    ends = pipes.get(thread.of, PipeEnds())
    return ends.readers if thread.in_ == "write" else ends.writers


def _owners(
    use: BlockedUse, thread: BlockedThread, locks: Mapping[tuple[str, str], Sequence[tuple[BlockedUse, SharedLock]]]
) -> Sequence[BlockedUse]:
    """Return the process that has the lock for which a thread waits, where it is known to be the only one."""
    wanted = [lock for lock in use.locks if any(each.thread == thread.thread for each in lock.waiters)]
    if len(wanted) != 1 or not wanted[0].single:
        return ()
    seen = locks[use.machine, wanted[0].id]
    owners = [each for each, lock in seen if lock.count > 0]
    return owners if len(owners) == 1 and all(lock.count >= 0 for _, lock in seen) else ()


def _may_resume(waits: Sequence[_OutsideWait], dead: AbstractSet[str]) -> bool:
    return any(not wait.holders or any(each.process.id not in dead for each in wait.holders) for wait in waits)


def _reached(session: str, edges: Mapping[str, AbstractSet[str]]) -> set[str]:
    found, following = {session}, [session]
    while following:
        others = edges[following.pop()] - found
        found |= others
        following += others
    return found


def _line(waits: Sequence[_OutsideWait]) -> str:
    more = f"; and {len(waits) - MOST_SAID} more" if len(waits) > MOST_SAID else ""
    return f"deadlock: {'; '.join(map(_said, waits[:MOST_SAID]))}{more}"


def _said(wait: _OutsideWait) -> str:
    """Return who waits for what, in words."""
    use, thread = wait.use, wait.thread
    others = [each.process for each in wait.holders if each.process.id != use.process.id]
    holders = " and ".join([named(others)] * bool(others) + ["itself"] * (len(others) < len(wait.holders)))
    is_one = len(wait.holders) == 1
    if thread.in_ == "end":
        what = f"waits for the end of {holders}"
    elif thread.in_ == "file":
        what = f"waits for the lock of {thread.of.partition('] ')[2]}, which {holders} {'has' if is_one else 'have'}"
    elif thread.in_ == "lock":
        what = f"waits for {waited_for(use, thread.thread)}, which {holders} has"
    else:
        words = _IN_SOCKETS if thread.of.startswith(_SOCKET) else _IN_PIPES
        what = words[thread.in_].format(holders)
    return f"{who(use, thread.thread)} {what}"
