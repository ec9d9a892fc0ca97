"""`StopQuestions`: what is found at a stop, asked in one question to the probe, or in requests to the adapter.

    found = await session.looking.stop.ask(stopped)
    found.threads, found.frames
    if found.locals is None:
        locals_ = await session.looking.stop.locals(found.thread_id, top_frame_id, found)

The question of a stop runs no code of the program, so it is answered in milliseconds; our engine, once it was asked,
answers it with each later stop. Where the values of locals need
such code, a `__repr__`, a second one follows, whose answer may take its time: the stop is published by then.
"""

import logging
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapThread, DapVariable, ScopesBody, StackTraceBody, Stopped, ThreadsBody
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProbeFrame, ProbePlace, ProbeStop, ProbeThread, ProbeVariable
from trio_debugmcp.session.looking.by_adapter.composites import all_composed, scope_children
from trio_debugmcp.session.looking.by_adapter.dap_variables import chosen_scopes, variable_payload
from trio_debugmcp.session.looking.by_probe.own_questions import EXAMINATION_SECONDS
from trio_debugmcp.session.looking.by_probe.program_probe import MAX_THREADS, PROBE_SECONDS
from trio_debugmcp.session.looking.by_probe.withheld import unknown_value, values_apart
from trio_debugmcp.session.looking.frames import CAPTURED_FRAMES
from trio_debugmcp.session.looking.from_outside.silence import Unanswered
from trio_debugmcp.session.looking.variables import FramePlace, probe_variable
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.session.requests import REQUEST_SECONDS
from trio_debugmcp.state.model import Locals, NamedScope, StackFrame, Thread
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, Location, name_of, shortened

log = logging.getLogger(__name__)

CAPTURED_LOCALS = 100
"""Locals of the top frame kept with the stop."""

MAX_RETURNED = 20
"""Results of calls shown at a stop; a line that calls more functions is rare."""

MAX_GLOBALS = 20
"""Globals that a statement reads; the probe names fewer."""

_RETURNED = "return value"
"""The name of what the function at hand returns, where the adapter does not name that function."""

_SCOPES = (NamedScope("Locals", 0), NamedScope("Globals", 0))
"""Of every frame in Python, as pydevd names them."""


class Findings(Struct, frozen=True):
    """What is known of a stop.

    Attributes:
        total: how many frames its thread has, as far as that is known.
        located: whether the threads have their places.
        locals: of the top frame; None if they are still to be asked for.
        answer: the probe's, if it was asked.
    """

    thread_id: int
    threads: tuple[Thread, ...]
    frames: tuple[StackFrame, ...]
    total: int | None = None
    located: bool = False
    locals: Locals | None = None
    answer: ProbeStop | None = None

    @property
    def top(self) -> StackFrame | None:
        """The frame where the thread is."""
        return self.frames[0] if self.frames else None

    @property
    def handling(self) -> str | None:
        """The exception that the frame is handling where the thread is, as far as that is known."""
        handling = None if self.answer is None else self.answer.handling
        return shortened(handling, MAX_MESSAGE_LENGTH) if handling else None


class StopQuestions:
    """The questions about the stops of one session."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        self._requests = ways.requests

    def __repr__(self) -> str:
        return f"<StopQuestions of {self._requests.session_id}>"

    async def ask(self, stopped: Stopped) -> Findings:
        """Return what the probe finds, or else the adapter: of exceptions that knows more, as pydevd reports them."""
        if stopped.reason != "exception":
            found = await self._by_probe(stopped)
            if found is not None:
                return found
        elif self._ways.has_probe and not self._requests.capabilities.engine_requests:
            await self._bring_probe(stopped)
        return await self._by_adapter(stopped)

    async def _bring_probe(self, stopped: Stopped) -> None:
        """Have the probe in the program: with it pydevd's stacks have the places of templates and generated code."""
        probe = self._ways.probe
        if probe.expressions.state != "installed":
            await probe.attempt("stop", ProbeStop, patient=False, thread=stopped.thread_id, frames=0)

    async def locals(
        self, thread_id: int, frame_id: int | None, found: Findings | None = None, *, again: bool = False
    ) -> Locals:
        """Return the locals of the top frame, with what only code of the program can show.

        `again`: they have been asked for at this stop before.

        Raises:
            DebugError: the adapter, which is asked where there is no probe, did not answer.
        """
        if not self._ways.has_probe:
            return await self._adapter_locals(frame_id)
        answer = None if found is None else found.answer
        failure: Unanswered | None = None
        if answer is None and not again:
            reply = await self._stop(thread_id, frames=0, within=REQUEST_SECONDS)
            answer, failure = (None, reply) if isinstance(reply, Unanswered) else (reply, None)
        if failure is None and (answer is None or _has_withheld(answer)):
            with_code = await self._ways.probe.attempt(
                "stop", ProbeStop, thread=thread_id, frames=0, locals=CAPTURED_LOCALS, threads=0, types=True
            )
            answer, failure = (answer, with_code) if isinstance(with_code, Unanswered) else (with_code, None)
        if answer is None and failure is not None:
            log.info("the locals of a stop: %s", failure.text)
            if failure.is_slow:
                raise UsageError("TIMEOUT", (await self._ways.probe.process.explained(failure)).text)
            return await self._adapter_locals(frame_id)
        # The adapter is not asked instead of a slow probe: it would run the same code once more, and let the other
        # threads run meanwhile.
        if answer is not None and failure is not None:
            log.info("the locals of a stop: %s", failure.text)
            both = answer.locals + answer.globals
            apart = await values_apart(self._ways.probe, FramePlace(thread_id), both, failure)
            first = len(answer.locals)
            answer = replace(answer, locals=apart[:first], globals=apart[first:])
        return await self._adapter_locals(frame_id) if answer is None else self._locals_in(answer, failure)

    # --- The probe ----------------------------------------------------------------------------------------------------

    async def _by_probe(self, stopped: Stopped) -> Findings | None:
        """Return what has come with the stop, or what the probe finds; None if that knows of no stop, or is silent."""
        answer = bytes(stopped.answer)
        found: ProbeStop | Unanswered | None = self._ways.probe.read(answer, ProbeStop) if answer else None
        if found is None:
            found = await self._stop(stopped.thread_id, frames=CAPTURED_FRAMES, at_stops=True)
        if isinstance(found, Unanswered):
            if found.kind != "none":
                log.info("the probe at a stop: %s", found.text)
            return None
        if not found.frames or any(frame.id is None for frame in found.frames):
            return None  # its thread is not stopped: only the adapter knows what it means
        threads = tuple(
            Thread(thread.id, name_of(thread.name), location=self._place(thread)) for thread in found.threads
        )
        if found.threads_total > len(found.threads):  # of all threads at least the names are known
            threads = _merged(await self._fetch_threads(), threads)
        return Findings(
            found.thread,
            threads,
            tuple(map(self._frame, found.frames)),
            found.total,
            located=True,
            locals=None if _has_withheld(found) else self._locals_in(found),
            answer=found,
        )

    async def _stop(
        self, thread_id: int | None, *, frames: int, within: float = PROBE_SECONDS, at_stops: bool = False
    ) -> ProbeStop | Unanswered:
        """Ask for all that a stop shows. No code of the program is run: what that would tell is `withheld`."""
        return await self._ways.probe.attempt(
            "stop",
            ProbeStop,
            within=within,
            patient=False,  # there is the adapter
            at_stops=at_stops,
            thread=thread_id,
            frames=frames,
            locals=CAPTURED_LOCALS,
            threads=MAX_THREADS,
            first=True,
            code=False,
            types=True,
        )

    def _frame(self, frame: ProbeFrame) -> StackFrame:
        is_user_code = not frame.library and bool(frame.file or frame.source)
        return StackFrame(
            frame.id or 0,
            name_of(frame.function),
            self._location(frame),
            is_user_code,
            frame.source,
            label=frame.function,
        )

    def _place(self, thread: ProbeThread) -> Location | None:
        return None if thread.at is None else self._location(thread.at.from_ or thread.at)

    def _location(self, place: ProbePlace) -> Location:
        profile = self._ways.profile
        line = place.line or profile.dialect.line_of(place.function)
        return Location(
            place.file,
            line,
            profile.dialect.column,
            name_of(place.function) or None,
            profile.code.module_in(place.file),
        )

    def _locals_in(self, answer: ProbeStop, failure: Unanswered | None = None) -> Locals:
        """Return the locals in an answer of the probe; `failure` is why values are still withheld."""
        is_path = self._ways.profile.expressions.is_path
        unknown = unknown_value(_values(answer), failure)
        return Locals(
            scopes=_SCOPES,
            variables=tuple(probe_variable(local, is_path, unknown) for local in answer.locals),
            total=answer.locals_total,
            globals=tuple(probe_variable(value, is_path, unknown) for value in answer.globals[:MAX_GLOBALS]),
            returned=tuple(probe_variable(value, is_path, unknown) for value in answer.returned[:MAX_RETURNED]),
            hidden=answer.hidden,
            raised=None if answer.raised is None else self._location(answer.raised),
            raised_in_library=answer.raised is not None and answer.raised.library,
        )

    # --- The adapter --------------------------------------------------------------------------------------------------

    async def _by_adapter(self, stopped: Stopped) -> Findings:
        """Return what the adapter finds: threads and frames; the locals are fetched later."""
        threads = await self._fetch_threads()
        # The stopped thread exists, even if the adapter does not list it.
        if stopped.thread_id is not None and all(thread.id != stopped.thread_id for thread in threads):
            threads = [*threads, DapThread(stopped.thread_id)]
        thread_id = stopped.thread_id if stopped.thread_id is not None else threads[0].id if threads else 0
        where = {"threadId": thread_id, "startFrame": 0, "levels": CAPTURED_FRAMES}
        stack = await self._requests.request_or_empty("stackTrace", where, StackTraceBody, seconds=EXAMINATION_SECONDS)
        frames = self._ways.frames.captured(stack.stack_frames or [])
        return Findings(
            thread_id,
            tuple(Thread(thread.id, name_of(thread.name or "")) for thread in threads),
            frames,
            stack.total_frames,
        )

    async def _fetch_threads(self) -> Sequence[DapThread]:
        body = await self._requests.request_or_empty("threads", {}, ThreadsBody, seconds=EXAMINATION_SECONDS)
        words = self._requests.profile.words
        return [replace(thread, name=thread.name and words.thread_name(thread.name)) for thread in body.threads or []]

    def _frame_of_stop(self, frame_id: int) -> StackFrame | None:
        """Return a frame of the stop."""
        snapshot = self._requests.snapshot
        frames = () if snapshot is None else snapshot.stack.frames
        return next((frame for frame in frames if frame.id == frame_id), None)

    async def _adapter_locals(self, frame_id: int | None) -> Locals:
        """Return the locals of a frame from the adapter."""
        if frame_id is None:
            return Locals()
        profile = self._requests.profile
        scopes = (await self._requests.request("scopes", {"frameId": frame_id}, ScopesBody)).scopes or []
        named = tuple(NamedScope(scope.name, scope.variables_reference, bool(scope.expensive)) for scope in scopes)
        variables: list[DapVariable] = []
        for scope in chosen_scopes(profile.dialect, scopes, "locals"):
            variables += await scope_children(self._requests, scope.variables_reference)
        variables = profile.values.locals_of(variables)
        returned = [replace(variable, name=_RETURNED) for variable in variables if profile.values.is_returned(variable)]
        own_variables = [variable for variable in variables if not profile.values.is_returned(variable)]
        shown = [variable for variable in own_variables if not profile.values.is_definition(variable)][:CAPTURED_LOCALS]
        shown = self._ways.unmade.shown(shown, self._frame_of_stop(frame_id))
        return Locals(
            named,
            tuple(variable_payload(variable, profile) for variable in await all_composed(self._requests, shown)),
            len(own_variables),
            tuple(variable_payload(variable, profile) for variable in returned),
        )


def _values(answer: ProbeStop) -> tuple[ProbeVariable, ...]:
    return answer.locals + answer.globals + answer.returned


def _has_withheld(answer: ProbeStop) -> bool:
    return any(value.withheld for value in _values(answer))


def _merged(named: Sequence[DapThread], placed: Sequence[Thread]) -> tuple[Thread, ...]:
    """Return all threads, those with a place as they are."""
    known = {thread.id: thread for thread in placed}
    return tuple(known.get(thread.id, Thread(thread.id, name_of(thread.name or ""))) for thread in named)
