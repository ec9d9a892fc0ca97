"""`FailingExceptions`: which exceptions fail a test, of those that its runner catches, and what they are derived from.

    await failing.has(types, info, lineage, found)     # of these types, or nothing handles it before the runner does
    await failing.lineage("shop.Till$Bad")             # ("shop.Till$Bad", "java.lang.Exception", …)

What handles an exception, and its ancestors, are read from the files of the program, as far as its profile knows these.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import trio

from trio_debugmcp.dap.messages import StackTraceBody
from trio_debugmcp.dap.profiles.thrown import ThrowingFrame
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.frames import ProgramFrames
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.raised import is_of
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import ExceptionInfo

_T = TypeVar("_T")

_MAX_FRAMES = 50_000
"""Of a stack that are looked at: a recursion without an end has some 10,000."""

_STACK_SECONDS = 20.0
"""For a stack: without it a failure is passed over, and one of 10,000 frames takes the adapter its time."""


class FailingExceptions:
    """Those of one session; `class_path`: where the classes of its program are."""

    def __init__(self, requests: Requests, host: Host, frames: ProgramFrames, class_path: str) -> None:
        self._requests = requests
        self._host = host
        self._frames = frames
        self._class_path = class_path

    def __repr__(self) -> str:
        return f"<FailingExceptions of {self._requests.session_id}>"

    async def lineage(self, kind: str) -> tuple[str, ...]:
        """Return the type of an exception and those that it is derived from, as far as its class files are found."""
        ask = partial(self._requests.profile.thrown.lineage, kind, self._class_path)
        found = await self._find_out(f"what {kind} is derived from", ask)
        return (kind,) if found is None else tuple(found)

    async def has(
        self, types: Sequence[str], info: ExceptionInfo, lineage: tuple[str, ...] | None, found: Findings
    ) -> bool:
        """Whether the exception at a stop fails the test that runs there; `types`: those that always do, if any do."""
        thrown = self._requests.profile.thrown
        if any(is_of(thrown, name, info, lineage) for name in types):
            return True
        return bool(types) and thrown.knows_handlers and await self._is_unhandled(info.type, found)

    async def _is_unhandled(self, kind: str, found: Findings) -> bool:
        frames = [
            ThrowingFrame(each.label, each.location.line or 0, each.is_user_code) for each in await self._stack(found)
        ]
        ask = partial(self._requests.profile.thrown.fails_test, kind, frames, self._class_path)
        # A recording keeps the answers by the questions, and the same place is reached by many ways.
        way = hashlib.sha256(repr([(each.function, each.line) for each in frames]).encode()).hexdigest()
        return await self._find_out(f"{kind} fails the test, stack {way[:16]}", ask) or False

    async def _find_out(self, question: str, ask: Callable[[], _T]) -> _T | None:
        try:
            return await self._host.find_out(question, partial(trio.to_thread.run_sync, ask, abandon_on_cancel=True))
        except UsageError:  # a recording that was made without the question
            return None

    async def _stack(self, found: Findings) -> tuple[StackFrame, ...]:
        """Return all frames of the thread that stopped."""
        if found.total is not None and len(found.frames) >= found.total:
            return tuple(found.frames)
        wanted = {"threadId": found.thread_id, "startFrame": 0, "levels": _MAX_FRAMES}
        body = await self._requests.request_or_empty("stackTrace", wanted, StackTraceBody, seconds=_STACK_SECONDS)
        return self._frames.captured(body.stack_frames or [])
