"""`StopQuestions`: what is found at a stop, asked in one question to the probe, or in requests to the adapter.

    found = await questions.ask_probe(stopped.thread_id) or await questions.ask_adapter(stopped)
    found.threads, found.stack
    if not found.complete:
        locals_ = await questions.locals(found.thread_id, top_frame_id, found.answer)

The question of a stop runs no code of the program, so it is answered in milliseconds. Where the values of locals need
such code, a `__repr__`, a second one follows, whose answer may take its time: the stop is published by then.
"""

import logging
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import (
    DapFrame,
    DapSource,
    DapThread,
    DapVariable,
    ScopesBody,
    StackTraceBody,
    Stopped,
    ThreadsBody,
)
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProbeError, ProbeFrame, ProbeStop, ProbeThread, ProbeVariable
from trio_debugmcp.session.looking.composites import all_composed, scope_children
from trio_debugmcp.session.looking.frames import CAPTURED_FRAMES, frame_location
from trio_debugmcp.session.looking.probed_variables import values_apart
from trio_debugmcp.session.looking.program_probe import ProgramProbe
from trio_debugmcp.session.looking.scopes import chosen_scopes
from trio_debugmcp.session.looking.variables import probe_variable, unknown_value, variable_payload
from trio_debugmcp.session.requests import REQUEST_SECONDS, Requests
from trio_debugmcp.session.stops.exception_filter import EXAMINATION_SECONDS
from trio_debugmcp.state.model import Locals, NamedScope, Thread
from trio_debugmcp.state.payloads import Location

log = logging.getLogger(__name__)

CAPTURED_LOCALS = 100
"""Locals of the top frame kept with the stop."""

MAX_RETURNED = 20
"""Results of calls shown at a stop; a line that calls more functions is rare."""

_RETURNED = "return value"
"""The name of what the function at hand returns, where the adapter does not name that function."""

_SCOPES = (NamedScope("Locals", 0), NamedScope("Globals", 0))
"""Of every frame in Python, as pydevd names them."""


class Findings(Struct, frozen=True):
    """What is known of a stop; `answer` is the probe's, if it was asked."""

    thread_id: int
    threads: tuple[Thread, ...]
    stack: StackTraceBody
    answer: ProbeStop | None = None

    @property
    def complete(self) -> bool:
        """Whether the answer has the locals, and nothing of them was withheld."""
        return self.answer is not None and not any(each.withheld for each in _values(self.answer))


class StopQuestions:
    """The questions about the stops of one session."""

    def __init__(self, requests: Requests, probe: ProgramProbe) -> None:
        self._requests = requests
        self._probe = probe

    def __repr__(self) -> str:
        return f"<StopQuestions of {self._requests.session_id}>"

    # --- The probe ----------------------------------------------------------------------------------------------------

    async def ask_probe(self, thread_id: int | None, frames: int = CAPTURED_FRAMES) -> Findings | None:
        """Return what the probe finds; None if it does not answer, or knows of no stop there."""
        if not self._requests.profile.has_probe:
            return None
        try:
            found = (await self._probe.stop(thread_id, frames, CAPTURED_LOCALS)).answer
        except ProbeError as error:
            log.info("the probe at a stop: %s", error)
            return None
        if any(frame.id is None for frame in found.frames) or (frames and not found.frames):
            return None  # its thread is not stopped: only the adapter knows what it means
        threads = tuple(Thread(each.id, each.name, location=self._place(each)) for each in found.threads)
        if found.threads_total > len(found.threads):  # of all threads at least the names are known
            threads = _merged(await self._fetch_threads(), threads)
        stack = StackTraceBody([_dap_frame(each) for each in found.frames], found.total)
        return Findings(found.thread, threads, stack, found)

    async def locals(
        self, thread_id: int, frame_id: int | None, answer: ProbeStop | None = None, *, again: bool = False
    ) -> Locals:
        """Return the locals of the top frame, with what only code of the program can show.

        `again`: they have been asked for at this stop before.

        Raises:
            DebugError: the adapter, which is asked where there is no probe, did not answer.
        """
        failure: ProbeError | None = None
        if self._requests.profile.has_probe:
            try:
                if answer is None and not again:
                    answer = (await self._probe.stop(thread_id, 0, CAPTURED_LOCALS, seconds=REQUEST_SECONDS)).answer
                if answer is None or any(each.withheld for each in _values(answer)):
                    answer = (await self._probe.locals(thread_id, CAPTURED_LOCALS)).answer
            except ProbeError as error:
                log.info("the locals of a stop: %s", error)
                if answer is None and error.kind == "slow":
                    raise UsageError("TIMEOUT", str(error)) from None
                failure = error
            # The adapter is not asked instead of a slow probe: it would run the same code once more, and let the other
            # threads run meanwhile.
            if answer is not None:
                if failure is not None:
                    apart = await values_apart(self._probe, thread_id, 0, answer.locals, failure)
                    answer = replace(answer, locals=apart)
                return self.locals_in(answer, failure)
        return await self._fetch_locals(frame_id)

    def locals_in(self, answer: ProbeStop, failure: ProbeError | None = None) -> Locals:
        """Return the locals in an answer of the probe; `failure` is why values are still withheld."""
        is_path = self._requests.profile.expressions.is_path
        unknown = unknown_value(_values(answer), failure)
        return Locals(
            scopes=_SCOPES,
            variables=tuple(probe_variable(each, is_path, unknown) for each in answer.locals),
            total=answer.locals_total,
            returned=tuple(probe_variable(each, is_path, unknown) for each in answer.returned[:MAX_RETURNED]),
        )

    def _place(self, thread: ProbeThread) -> Location | None:
        if thread.at is None:
            return None
        place = thread.at.from_ or thread.at
        frame = DapFrame(0, place.function, place.line, 1, DapSource(path=place.file))
        return frame_location(self._requests, frame)

    # --- The adapter --------------------------------------------------------------------------------------------------

    async def ask_adapter(self, stopped: Stopped) -> Findings:
        """Return what the adapter finds: threads and frames; the locals are fetched later."""
        threads = await self._fetch_threads()
        # The stopped thread exists, even if the adapter does not list it.
        if stopped.thread_id is not None and all(thread.id != stopped.thread_id for thread in threads):
            threads = [*threads, DapThread(stopped.thread_id)]
        thread_id = stopped.thread_id if stopped.thread_id is not None else threads[0].id if threads else 0
        where = {"threadId": thread_id, "startFrame": 0, "levels": CAPTURED_FRAMES}
        stack = await self._requests.request_or_empty("stackTrace", where, StackTraceBody, seconds=EXAMINATION_SECONDS)
        return Findings(thread_id, tuple(Thread(each.id, each.name) for each in threads), stack)

    async def _fetch_threads(self) -> Sequence[DapThread]:
        body = await self._requests.request_or_empty("threads", {}, ThreadsBody, seconds=EXAMINATION_SECONDS)
        words = self._requests.profile.words
        return [replace(each, name=each.name and words.thread_name(each.name)) for each in body.threads or []]

    async def _fetch_locals(self, frame_id: int | None) -> Locals:
        """Return the locals of a frame from the adapter."""
        if frame_id is None:
            return Locals()
        profile = self._requests.profile
        scopes = (await self._requests.request("scopes", {"frameId": frame_id}, ScopesBody)).scopes or []
        named = tuple(NamedScope(each.name, each.variables_reference, bool(each.expensive)) for each in scopes)
        found: list[DapVariable] = []
        for each in chosen_scopes(profile.dialect, scopes, "locals"):
            found += await scope_children(self._requests, each.variables_reference)
        found = profile.values.locals_of(found)
        returned = [replace(each, name=_RETURNED) for each in found if profile.values.is_returned(each)]
        own = [each for each in found if not profile.values.is_returned(each)]
        shown = [each for each in own if not profile.values.is_definition(each)][:CAPTURED_LOCALS]
        return Locals(
            named,
            tuple(variable_payload(each, profile) for each in await all_composed(self._requests, shown)),
            len(own),
            tuple(variable_payload(each, profile) for each in returned),
        )


def _values(answer: ProbeStop) -> tuple[ProbeVariable, ...]:
    return answer.locals + answer.returned


def _dap_frame(frame: ProbeFrame) -> DapFrame:
    return DapFrame(
        id=frame.id or 0,
        name=frame.function,
        line=frame.line,
        column=1,  # as pydevd says where it knows none: it does at exceptions, for which the adapter is asked
        source=DapSource(path=frame.file, source_reference=frame.source),
        presentation_hint="subtle" if frame.library else None,
    )


def _merged(named: Sequence[DapThread], placed: Sequence[Thread]) -> tuple[Thread, ...]:
    """Return all threads, those with a place as they are."""
    known = {thread.id: thread for thread in placed}
    return tuple(known.get(each.id, Thread(each.id, each.name)) for each in named)
