"""`Ending`: whether one session is over, why, and how its program ended."""

from collections.abc import Awaitable, Callable

import trio

from trio_debugmcp.session.adoptions import Adoptions

BY_ITSELF = "the program ended"

LEFT = "left the debugger, still running"
"""Of a process whose connection has ended, though it has not: it has closed that, or replaced itself."""

OwnExit = Callable[[], Awaitable[int | None]]
"""Waits for the exit code of a program that is its own adapter."""


class Ending:
    """The end of one session, from the first reason for it. Several tasks may see that end first; one reason counts.

    Attributes:
        reason: why the session ends; None while it lives.
        exit_code: the program's, as the adapter reported it; None until then.
        failed: it ended without a client's wish or the program's end: the adapter crashed, or this server has a bug.
        killed: the debugger ended the program; it did not exit by itself.
        own_exit: waits for the exit code of a program that is its own adapter; None if it has one.
        terminate: whether the program is to be terminated; None: the default of how it was started.
        adoptions: of children that were announced to the session; it does not end before they are there.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.exit_code: int | None = None
        self.failed = False
        self.killed = False
        self.own_exit: OwnExit | None = None
        self.terminate: bool | None = None
        self.adoptions = Adoptions()
        self._over = trio.Event()

    def __repr__(self) -> str:
        return f"<Ending reason={self.reason!r} exit_code={self.exit_code} failed={self.failed}>"

    @property
    def over(self) -> bool:
        """Whether there is a reason to end."""
        return self._over.is_set()

    @property
    def exited(self) -> bool:
        """Whether the adapter has reported the program's exit; when it disconnects then, that is not a failure."""
        return self.exit_code is not None

    def expect(self, reason: str) -> None:
        """Keep why the session is about to end; what happens until then is a consequence of it."""
        self.reason = self.reason or reason

    def finish(self, reason: str) -> None:
        """End the session for this reason, unless it ends already."""
        if self.reason is None:
            self.reason = reason
        self._over.set()

    async def wait(self) -> None:
        """Wait until there is a reason to end."""
        await self._over.wait()
