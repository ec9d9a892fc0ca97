"""`WatchedValues`: what data breakpoints watch, read at every stop.

An adapter that reports a data breakpoint may say no more than that there was one (lldb-dap calls it a breakpoint,
without an id). So what was hit follows from what has changed.

    data = await watched.at_stop(stopped, frames)
    data.changes                                        # None: not a stop at a data breakpoint
"""

import logging
from collections.abc import Sequence

import trio
from msgspec import Struct

from trio_debugmcp.dap.messages import EvaluateBody, Stopped
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.breakpoints.specs import addressed_in
from trio_debugmcp.session.breakpoints.stop_judge import StopJudge
from trio_debugmcp.session.looking.memory_access import address_in, number
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import Breakpoint, Watch
from trio_debugmcp.state.model import DataChange, StackFrame
from trio_debugmcp.state.payloads import shortened

log = logging.getLogger(__name__)

VALUES_SECONDS = 5.0
"""For reading all values at a stop: adapters take milliseconds, and the stop waits for them."""

_MAX_FRAMES = 5
"""Frames in which a local variable is looked for: those of a recursion."""

OUT_OF_SCOPE = "its frame has returned, so this memory may be another variable now: remove it"


class DataStop(Struct, frozen=True):
    """What data breakpoints have to do with a stop.

    `changes`: what they saw; None: it is another kind of stop; (): it is unknown which. `passes`: the program was
    stopped only by such as do not stop there, by their conditions.
    """

    changes: tuple[DataChange, ...] | None = None
    passes: bool = False


class WatchedValues:
    """Reads what the data breakpoints of one session watch, and tells which were hit."""

    def __init__(self, requests: Requests, merger: Merger, judge: StopJudge) -> None:
        self._requests = requests
        self._merger = merger
        self._judge = judge
        self._values: dict[tuple[str, int], str] = {}
        self._is_stale = False
        self._reading = trio.Lock()

    def __repr__(self) -> str:
        return f"<WatchedValues of {self._requests.session_id}: {len(self._values)} values>"

    def forget(self) -> None:
        """Forget the values: a client is changing something, so that what was there is not what it will be."""
        self._values.clear()
        self._is_stale = True

    async def catch_up(self) -> None:
        """Have the values known before a resume, if they were forgotten: it waits for a reading that is under way."""
        if not self._watching():
            return  # without a checkpoint: the resume that follows is under way before its caller can be cancelled
        with trio.move_on_after(self._requests.patience.seconds(VALUES_SECONDS)):
            async with self._reading:
                snapshot = self._requests.snapshot
                if self._is_stale and snapshot is not None and snapshot.phase == "Paused":
                    await self._read(snapshot.stack.frames)

    async def read(self, frames: Sequence[StackFrame]) -> None:
        """Read the values, which are those before the next hit."""
        async with self._reading:  # what ended after a resume would not have read anything
            await self._read(frames)

    async def _read(self, frames: Sequence[StackFrame]) -> None:
        self._is_stale = False
        for breakpoint in self._watching():
            value = await self._value(breakpoint, frames)
            self._values.pop((breakpoint.id, breakpoint.version), None)
            if value is not None:
                self._values[breakpoint.id, breakpoint.version] = value

    async def at_stop(self, stopped: Stopped, frames: Sequence[StackFrame]) -> DataStop:
        """Return what data breakpoints saw at a stop, and whether one of them stops there."""
        watching = self._watching()
        if not watching:
            return DataStop()
        before = dict(self._values)
        with trio.move_on_after(self._requests.patience.seconds(VALUES_SECONDS)):
            await self.read(frames)
        if not _is_data(stopped):
            return DataStop()
        hit = self._hit(stopped, watching, before)
        frame_id = frames[0].id if frames else None
        stopping = [breakpoint for breakpoint in hit if await self._judge.stops(breakpoint, frame_id)]
        watches = [(breakpoint, breakpoint.spec.watch) for breakpoint in stopping]
        changes = [
            await self._change(breakpoint, watch, before, frames) for breakpoint, watch in watches if watch is not None
        ]
        return DataStop(tuple(changes), passes=bool(hit) and not stopping)

    def _watching(self) -> list[Breakpoint]:
        session_id = self._requests.session_id
        breakpoints = addressed_in(self._merger.state.breakpoints, session_id, self._requests.profile.name)
        return [
            breakpoint
            for breakpoint in breakpoints
            if breakpoint.spec.watch is not None and breakpoint.is_active
            if any(binding.verified and binding.session_id == session_id for binding in breakpoint.bindings)
        ]

    def _hit(
        self, stopped: Stopped, watching: list[Breakpoint], before: dict[tuple[str, int], str]
    ) -> list[Breakpoint]:
        ids = set(stopped.hit_breakpoint_ids or ())
        named = (
            [breakpoint for breakpoint in watching if any(binding.adapter_id in ids for binding in breakpoint.bindings)]
            if ids
            else []
        )
        if named or len(watching) == 1:
            return named or watching
        keys = ((breakpoint, (breakpoint.id, breakpoint.version)) for breakpoint in watching)
        changed = [breakpoint for breakpoint, key in keys if key in before and before[key] != self._values.get(key)]
        readable = [
            breakpoint
            for breakpoint in watching
            if breakpoint.spec.watch is not None and breakpoint.spec.watch.access != "write"
        ]
        # lldb stops for a write only if it changes something.
        return changed or (readable if len(readable) == 1 else [])

    async def _change(
        self, breakpoint: Breakpoint, watch: Watch, before: dict[tuple[str, int], str], frames: Sequence[StackFrame]
    ) -> DataChange:
        key = breakpoint.id, breakpoint.version
        note = None if await self._is_alive(watch, frames) else OUT_OF_SCOPE
        return DataChange(breakpoint.id, watch.expression, before.get(key), self._values.get(key), note)

    async def _value(self, breakpoint: Breakpoint, frames: Sequence[StackFrame]) -> str | None:
        watch = breakpoint.spec.watch
        if watch is None or watch.reader is None:
            return None
        frame = next((frame for frame in frames if watch.function in (None, frame.name)), None)
        body = None if frame is None else await self._evaluated(watch.reader, frame)
        return None if body is None else shortened(body.result)

    async def _is_alive(self, watch: Watch, frames: Sequence[StackFrame]) -> bool:
        """Whether the name still leads to the place that is watched, as far as it can be known."""
        if watch.address is None:
            return True
        meant = number(watch.address)
        places = []
        for frame in frames[:_MAX_FRAMES]:
            body = await self._evaluated(f"&({watch.expression})", frame)
            place = None if body is None else number(body.memory_reference or address_in(body))
            if place == meant:
                return True
            places.append(place)
        # A deeper frame may be the one that is meant: only if all were seen it is gone.
        return len(frames) > _MAX_FRAMES

    async def _evaluated(self, expression: str, frame: StackFrame) -> EvaluateBody | None:
        context = self._requests.profile.dialect.evaluate_context
        arguments = {"expression": expression, "frameId": frame.id, "context": context}
        try:
            return await self._requests.request("evaluate", arguments, EvaluateBody, seconds=VALUES_SECONDS)
        except DebugError as error:
            log.info("a value that is watched: %s", error)
            return None


def _is_data(stopped: Stopped) -> bool:
    if stopped.reason == "data breakpoint":
        return True
    words = f"{stopped.description} {stopped.text}".lower()
    return stopped.reason == "breakpoint" and not stopped.hit_breakpoint_ids and "watchpoint" in words
