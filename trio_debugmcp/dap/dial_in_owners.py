"""`DialInOwners`: the session of a program that has dialed in, by its ancestors or by what is being launched.

    owners.own(pid, announce)           # children of this process are announced to its session
    owners.owner_of(caller)             # `announce`, for a caller below that process

A caller below no known process belongs to the first one: the token says that it is one of ours.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trio_debugmcp.dap.incoming_connection import IncomingConnection
from trio_debugmcp.dap.pids import parent_of, process_session_of

_MAX_ANCESTORS = 32
"""Generations that are climbed from an unknown caller to a known process."""

Announce = Callable[[IncomingConnection], None]
"""Called with a child that has dialed in; it waits to be taken."""


class DialInOwners:
    """The processes whose children announce themselves (`len()` is how many), and the launches under way."""

    def __init__(self) -> None:
        self._owners: dict[int, Announce] = {}
        self._launching = 0

    def __len__(self) -> int:
        return len(self._owners)

    def __repr__(self) -> str:
        return f"<DialInOwners {list(self._owners)}>"

    def own(self, pid: int, announce: Announce) -> None:
        """Have children of this process announced to its session, until `disown`."""
        self._owners[pid] = announce

    def disown(self, pid: int, announce: Announce) -> None:
        """Stop announcing children of this process to that session."""
        if self._owners.get(pid) == announce:  # not `is`: a bound method is made anew each time
            del self._owners[pid]

    @contextmanager
    def launching(self) -> Iterator[None]:
        """For the length of the block, have a program that this process starts wait to be taken.

        It may dial in before this task knows its process id: it takes some 50 ms, and the machine may be busy.
        """
        self._launching += 1
        try:
            yield
        finally:
            self._launching -= 1

    def is_launched(self, caller: IncomingConnection) -> bool:
        """Whether a launch that is under way has started this program: a child of this process, and of no session."""
        owned = caller.pid in self._owners or caller.parent_pid in self._owners
        return bool(self._launching) and caller.parent_pid == os.getpid() and not owned

    def owner_of(self, caller: IncomingConnection) -> Announce | None:
        """Return who announces this caller: the owner of itself (`exec`), of an ancestor, or of its process session."""
        if caller.pid in self._owners:
            return self._owners[caller.pid]
        ancestor: int | None = caller.parent_pid
        for _ in range(_MAX_ANCESTORS):
            if not ancestor:
                break
            if ancestor in self._owners:
                return self._owners[ancestor]
            ancestor = parent_of(ancestor)
        # Its parent has ended already: a double fork, a pool whose server is gone. The token says that it is one of
        # ours, and the process session of which program, unless it is a daemon.
        leader = process_session_of(caller.pid)
        if leader in self._owners:
            return self._owners[leader]
        return next(iter(self._owners.values()), None)
