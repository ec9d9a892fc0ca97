"""The handshake of a debug session, in the one form that every adapter understands.

`launch` or `attach` is sent without waiting for its answer: that may come before `initialized` or after, and with some
adapters only after `configurationDone`; a refusal may come instead of `initialized`. Once `initialized` is there, the
breakpoints are sent, then `configurationDone`, and then the answer to the start is waited for.
"""

import logging
from typing import TYPE_CHECKING

import trio

from trio_debugmcp.dap.messages import Capabilities, Nothing
from trio_debugmcp.errors import AdapterRefused, DebugError, UsageError
from trio_debugmcp.session.start import CLIENT_CAPABILITIES, start_request

if TYPE_CHECKING:
    from trio_debugmcp.session.session import DebugSession

log = logging.getLogger(__name__)

HANDSHAKE_SECONDS = 60.0
"""From the adapter's start to a program that may run, when the caller gives no bound; delve compiles first."""


class Handshake:
    """One session's handshake. What else happens meanwhile is told to it: `initialized`, or a reason to give up."""

    def __init__(self, session: "DebugSession") -> None:
        self.failure: DebugError | None = None
        self.done = False
        self._session = session
        self._shaking = trio.CancelScope()
        self._initialized = trio.Event()
        self._answered = trio.Event()

    def initialized(self) -> None:
        """The adapter is ready for its configuration. A second time means nothing."""
        self._initialized.set()

    def give_up(self, reason: DebugError) -> None:
        """It cannot succeed any more; the first reason counts. After the answer to the start it means nothing."""
        if not self._answered.is_set():
            self.failure = reason
            self._answered.set()
            self._shaking.cancel(reason="given up")

    async def shake(self, nursery: trio.Nursery) -> None:
        """Do it; `nursery` is where the answer to the start is waited for.

        Raises:
            DebugError: why the program does not run.
        """
        with self._shaking:
            self._shaking.deadline = trio.current_time() + HANDSHAKE_SECONDS
            await self._shake(nursery)
        if self.failure is not None:
            raise self.failure
        if self._shaking.cancelled_caught:
            raise self._too_slow()
        self.done = True

    async def _shake(self, nursery: trio.Nursery) -> None:
        session = self._session
        initialize = {**CLIENT_CAPABILITIES, "adapterID": session.profile.name}
        session.capabilities = await session.request("initialize", initialize, Capabilities)
        nursery.start_soon(self._send_start)
        await self._initialized.wait()
        await self._configure()
        await self._answered.wait()

    async def _send_start(self) -> None:
        command, arguments = start_request(self._session.profile, self._session.start)
        try:
            await self._session.request(command, arguments, Nothing, seconds=HANDSHAKE_SECONDS)
        except DebugError as error:
            self.give_up(error)
        self._answered.set()

    async def _configure(self) -> None:
        session = self._session
        for command, arguments in session.profile.dialect.settings_requests(session.capabilities):
            try:
                await session.request(command, arguments, Nothing)
            except AdapterRefused as refusal:
                log.info("%s", refusal)
        session.accepts_breakpoints = True
        await session.breakpoints.send_all()
        if session.capabilities.supports_configuration_done_request:
            await session.request("configurationDone", None, Nothing)

    def _too_slow(self) -> UsageError:
        name = self._session.profile.name
        return UsageError(
            "TIMEOUT",
            f"{name} did not get the program going in {HANDSHAKE_SECONDS:g} s. Look at its output with "
            "process_read_output, and try again with debug_launch.",
        )
