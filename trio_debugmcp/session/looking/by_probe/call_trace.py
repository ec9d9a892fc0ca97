"""`ProgramTrace`: the trace of a function's calls in one program, from the question that begins it to its end.

    async with session.looking.open_trace(TraceQuestion("total", calls=1, stop=True)) as trace:
        async with registry.runs.temporary(file, line, trace.condition):
            ...                             # the program runs
            await trace.wait_ended()
            calls = (await trace.take()).calls

When the block is left nothing of it remains in the program, unless that does not answer any more.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from msgspec import Struct

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.probe import bootstrap
from trio_debugmcp.session.looking.by_probe.program_probe import ProgramProbe
from trio_debugmcp.session.looking.by_probe.traced_calls import Begun, TraceState
from trio_debugmcp.session.looking.from_outside.silence import Unanswered
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.session.requests import Requests

log = logging.getLogger(__name__)

MOST_HEAD = 2000
"""Lines that are kept of the beginnings of all calls together; loops are folded from them."""

TAKE_SECONDS = 5.0
"""For the calls to arrive, which may be some hundred thousand characters."""

END_SECONDS = 1.0
"""For the end of a trace that was left early."""

_LOOK_SECONDS = (0.02, 0.2)
"""How long after one another the program is asked whether the calls have ended: at first, and at last."""


class TraceQuestion(Struct, frozen=True):
    """Which function, by its bare name, how many calls, and whether to stop where the last one returns to."""

    name: str
    calls: int
    stop: bool


class ProgramTrace:
    """A trace under way.

    Attributes:
        replaced: another trace has begun in the program, which has one at a time; nothing is known of this one.
        outlives: what was traced outlives the program, unless that is killed.
    """

    def __init__(self, requests: Requests, probe: ProgramProbe, number: int) -> None:
        self._requests = requests
        self._probe = probe
        self._number = number
        self._taken: TraceState | None = None
        self.replaced = False
        self.outlives = False

    def __repr__(self) -> str:
        return f"<ProgramTrace {self._number}>"

    @property
    def condition(self) -> str:
        """The condition of the breakpoint on the function's first line, by which its calls are found."""
        return self._requests.form.reached(self._number)

    async def begin_in(self, frame_id: int) -> None:
        """Trace the call of a paused frame, if that is at its first line: its breakpoint has been passed already.

        Raises:
            DebugError: the adapter did not agree.
        """
        arguments = {"expression": self.condition, "frameId": frame_id, "context": bootstrap.CONTEXT}
        await self._requests.request("evaluate", arguments, EvaluateBody)

    async def wait_ended(self) -> TraceState | None:
        """Wait until the calls have ended, or the program is about to. The caller bounds the wait.

        None where the program knows of no trace: it has replaced itself by another one, say.
        """
        pause, last = _LOOK_SECONDS
        while True:
            try:
                state = await self._probe.attempt("traced", TraceState, number=self._number)
            except DebugError as error:  # the wait for the program's end reports it
                log.info("a trace: %s", error)
            else:
                if isinstance(state, TraceState) and state.ended:
                    return state
                if isinstance(state, Unanswered) and not (state.is_slow or state.kind == "invalid"):
                    self.replaced = state.kind == "trace"
                    return None
            await trio.sleep(pause)
            pause = min(2 * pause, last)

    async def take(self) -> TraceState | None:
        """End the trace, and return what was recorded; None if the program does not answer, and has left nothing."""
        with trio.move_on_after(self._probe.patience.seconds(TAKE_SECONDS)):
            self._taken = await self._end(TAKE_SECONDS)
        return self._taken or self._left()

    def _left(self) -> TraceState | None:
        """Return what the program recorded when it ended."""
        return self._probe.left_answer(self._number, TraceState)

    async def close(self) -> None:
        """End the trace, if it was not taken. The caller bounds it."""
        if self._taken is None:
            await self._end(END_SECONDS)

    async def _end(self, seconds: float) -> TraceState | None:
        return await self._probe.quietly("traced", TraceState, within=seconds, number=self._number, take=True)


@asynccontextmanager
async def open_trace(ways: Ways, question: TraceQuestion) -> AsyncIterator[ProgramTrace]:
    """Have a program look for calls of a function, until the block is left.

    Raises:
        UsageError: `NOT_SUPPORTED`: it cannot, and why.
    """
    probe = ways.probe
    number = probe.next_number()
    trace = ProgramTrace(ways.requests, probe, number)
    head = max(MOST_HEAD // question.calls, 100)
    wanted = {"name": question.name, "calls": question.calls, "stop": question.stop, "head": head}
    try:
        key = ways.requests.capabilities.hit_records
        if key is not None:  # else a program that ends takes the calls with it
            await probe.record(key)
            trace.outlives = True
        begun = await probe.attempt("trace", Begun, number=number, wanted=wanted)
        if isinstance(begun, Unanswered):
            sentence = f"The program cannot be traced: {begun.text}"
            raise UsageError("NOT_SUPPORTED", sentence, {"capability": "probe"})
        yield trace
    finally:
        with trio.move_on_after(probe.patience.seconds(END_SECONDS), shield=True):
            await trace.close()
