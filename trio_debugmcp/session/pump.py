"""`EventPump`: takes the adapter's events in order, acts on them, and has them merged into the state.

Some events must take effect before the state changes (a stop closes or opens the stop gate at once), others after it
(the examination of a stop needs the stop's generation): `_before_merge` and `_after_merge`.

The pump never awaits a response: the DAP reader that delivers responses waits until the pump takes its next event.
"""

from contextlib import suppress
from typing import Self

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.connection import Connection, EndOfStream
from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    CapabilitiesEvent,
    Continued,
    EventBody,
    Exited,
    Initialized,
    LoadedSource,
    ModuleEvent,
    OutputEvent,
    ProgramLost,
    Stopped,
    Terminated,
    UnknownEvent,
)
from trio_debugmcp.dap.profiles.adapter_values import Words
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.session.breakpoints.judging import is_judged_twice
from trio_debugmcp.session.breakpoints.program_hits import ProgramHits
from trio_debugmcp.session.ending import BY_ITSELF, Ending
from trio_debugmcp.session.handshake import Handshake
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.output.output_marks import parted, pieces
from trio_debugmcp.session.output.whole_lines import Writer
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.examination import Examiner
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.state.changes import BreakpointFaulted, BreakpointLogged, EventReceived, Report, ReportsReceived
from trio_debugmcp.state.labels import short_label
from trio_debugmcp.state.model import Snapshot, State

EXIT_SECONDS = 5.0
"""From `exited` to the end of a session whose adapter sends no `terminated`; the others send it at once."""


class _EventRuns:
    """The events of a connection in order; those that only report, and have come one after the other, as one tuple."""

    def __init__(self, events: trio.MemoryReceiveChannel[EventBody | EndOfStream]) -> None:
        self._events = events
        self._following: EventBody | EndOfStream | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EventBody | EndOfStream | tuple[Report, ...]:
        event, self._following = self._following, None
        if event is None:
            event = await self._events.__anext__()
        if not isinstance(event, Report):
            return event
        reports = [event]
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while isinstance(event := self._events.receive_nowait(), Report):
                reports.append(event)
            self._following = event
        return tuple(reports)


def _in_our_words(report: Report, words: Words) -> Report:
    if not isinstance(report, BreakpointEvent):
        return report
    return replace(report, breakpoint=words.about_breakpoint(report.breakpoint))


class EventPump:
    """The events of one session's adapter. Each kind that needs more than the merger has a method, hence so many."""

    def __init__(
        self,
        requests: Requests,
        suspension: Suspension,
        handshake: Handshake,
        examiner: Examiner,
        ending: Ending,
        merger: Merger,
        console: Console,
        sources: Sources,
        hits: ProgramHits,
    ) -> None:
        self._requests = requests
        self._suspension = suspension
        self._handshake = handshake
        self._examiner = examiner
        self._ending = ending
        self._merger = merger
        self._console = console
        self._sources = sources
        self._hits = hits
        self._before = ""
        self._report = requests.profile.words.event_report()

    def __repr__(self) -> str:
        return f"<EventPump of {self._requests.session_id}>"

    async def run(self, connection: Connection, nursery: trio.Nursery) -> None:
        """Pump until the connection ends; tasks that follow from an event are started in `nursery`."""
        async for event in _EventRuns(connection.events):
            match event:
                case EndOfStream():
                    await self._on_end(event)
                    return
                case tuple():
                    await self._on_reports(event)
                case OutputEvent():
                    await self._on_output(event)
                case CapabilitiesEvent(capabilities=raw):
                    self._requests.learn_capabilities(raw)
                case Initialized():
                    self._handshake.initialized()
                case Stopped(reason=reason) if self._suspension.is_echo(reason):
                    pass  # the stop at hand, reported once more
                case Stopped() if self._suspension.stopped and _is_core_file(self._requests.snapshot):
                    pass  # lldb-dap reports each thread of a core file, the one that crashed first
                case Continued() if self._suspension.is_interlude():
                    pass  # at the stop at hand, while variables are fetched
                case UnknownEvent(event=name, body=body) if self._report is not None:
                    self._console.append("stderr", self._report.text_of(name, body) or "")
                case _:
                    if isinstance(event, Stopped) and not self._suspension.stopped:
                        await self._merge_resume()
                    self._before_merge(event)
                    # No name for the state here: each of a thousand pumps would hold another while nothing happens,
                    # and with it all sessions as they were.
                    received = EventReceived(self._requests.session_id, event)
                    self._after_merge(event, await self._merger.merge(received), nursery)

    async def _on_reports(self, reports: tuple[Report, ...]) -> None:
        for report in reports:
            self._before_merge(report)
        bodies = tuple(_in_our_words(report, self._requests.profile.words) for report in reports)
        await self._merger.merge(ReportsReceived(self._requests.session_id, bodies))

    async def _merge_resume(self) -> None:
        """Merge the `continued` that was taken for an interlude, before the stop that shows what it was."""
        snapshot = self._requests.snapshot
        if snapshot is not None and snapshot.phase == "Paused":
            await self._merger.merge(EventReceived(self._requests.session_id, Continued()))

    def _before_merge(self, event: EventBody) -> None:
        session_id = self._requests.session_id
        match event:
            case ModuleEvent(module=module):
                self._sources.learn(module.path, session_id)
            case LoadedSource(source=source):
                self._sources.learn(source.path, session_id, source.source_reference or 0)
            case BreakpointEvent(breakpoint=breakpoint_) if breakpoint_.verified and breakpoint_.source is not None:
                self._sources.learn(breakpoint_.source.path, session_id)
            case Stopped(reason=reason):
                self._examiner.cancel()
                self._suspension.report_stop(reason)
            case Continued() | ProgramLost():
                self._examiner.cancel()
                self._suspension.report_resume()
            case Exited(exit_code=exit_code):
                self._ending.exit_code = exit_code
            case _:
                pass

    def _after_merge(self, event: EventBody, state: State, nursery: trio.Nursery) -> None:
        match event:
            case Stopped():
                snapshot = state.snapshot(self._requests.session_id)
                if snapshot is not None:
                    self._examiner.begin(nursery, event, snapshot)
            case Exited():
                nursery.start_soon(self._follow_exit)
            case Terminated():
                nursery.start_soon(self._finish_after_children)
            case _:
                pass

    async def _follow_exit(self) -> None:
        """End the session of a program that has exited, if the adapter does not; after its children have ended."""
        await trio.sleep(self._requests.patience.seconds(EXIT_SECONDS))
        session_id = self._requests.session_id
        await self._merger.wait_until(lambda state: all(snapshot.parent != session_id for snapshot in state.snapshots))
        self.finish(BY_ITSELF)

    async def _finish_after_children(self) -> None:
        """End the session once no child that outlives it is debugged any more, or about to be."""
        await self._ending.adoptions.settled()
        await self._merger.wait_until(lambda state: not self._has_children(state))
        self.finish(BY_ITSELF)

    def _has_children(self, state: State) -> bool:
        return state.has_lasting_children(self._requests.session_id)

    def finish(self, reason: str) -> None:
        """End the session, for the first reason that is given, and its handshake."""
        self._ending.finish(reason)
        self._handshake.abort(AdapterGone(reason))

    async def _on_end(self, end: EndOfStream) -> None:
        if self._ending.own_exit is not None and not self._ending.over:  # the end of the program is all it says of it
            self._ending.exit_code = await self._ending.own_exit()
        adapter = self._requests.adapter
        tail = "" if adapter is None else adapter.stderr_tail
        self._handshake.abort(AdapterGone(end.reason, tail))
        if not self._ending.over:
            snapshot = self._requests.snapshot
            # After `exited` some adapters just disconnect; after `terminated` too, while children keep the session.
            expected = self._ending.exited or (snapshot is not None and snapshot.phase == "Terminating")
            expected = expected or (self._handshake.done and self._requests.profile.habits.ends_by_closing)
            self._ending.failed = not expected
            await self._merger.merge(EventReceived(self._requests.session_id, Terminated()))
            if expected:
                await self._finish_after_children()
        last_line = tail.rpartition("\n")[2]
        self.finish(f"{end.reason} ({last_line})" if last_line else end.reason)

    async def _on_output(self, output: OutputEvent) -> None:
        category, text = output.category or "console", output.output
        if self._requests.profile.habits.crlf:
            text = text.replace("\r\n", "\n")
        if category == "telemetry":
            return
        is_record, explanation = await self._hits.take(output)
        if explanation is not None:
            self._examiner.explain_next_stop(explanation)
        if is_record:
            return
        tracepoints = {} if self._hits.possible else self._tracepoints()
        marks = {self._requests.profile.dialect.log_message(id_, ""): id_ for id_ in tracepoints}
        for piece in pieces(text, marks, self._requests.profile.habits.log_prefix):
            if piece.written_by is None:
                await self._on_text(category, piece.text)
                continue
            logged = self._console.message(tracepoints[piece.written_by], piece.text)
            self._console.append("tracepoint", logged if logged.endswith("\n") else f"{logged}\n")  # gdb has none
            await self._merger.merge(BreakpointLogged(self._requests.session_id, piece.written_by, logged))

    def _tracepoints(self) -> dict[str, str]:
        """Return the ids of all tracepoints and their messages."""
        breakpoints = self._merger.state.breakpoints
        return {
            breakpoint.id: breakpoint.spec.log_message
            for breakpoint in breakpoints
            if breakpoint.spec.log_message is not None
        }

    async def _on_text(self, category: str, text: str) -> None:
        """Keep what the program wrote, or the adapter, and learn what the adapter says in its words."""
        session_id, dialect = self._requests.session_id, self._requests.profile.dialect
        exit_code = self._requests.profile.habits.exit_code_in(text) if category != "stdout" else None
        if exit_code is not None and not self._ending.exited:
            self._ending.exit_code = exit_code
        failed = dialect.condition_failure(text)
        doubted = self._requests.profile.habits.conditions == "doubted"
        # Where it is judged again at the stop that follows, that stop tells, which may find that it holds.
        if failed is not None and not (doubted and is_judged_twice(self._requests.profile, failed[0])):
            condition, error = failed
            problem = f"the condition `{condition}` failed: {error}"
            if not doubted:
                self._examiner.explain_next_stop(problem)
            await self._merger.merge(BreakpointFaulted(session_id, condition, problem))
        words = self._requests.profile.words
        stream = "console" if words.is_beginning(self._before) else words.stream(category, text)
        self._before = text
        # What it repeats was read from the program's own streams.
        is_repeated = stream != "console" and self._requests.profile.habits.repeats_output and self._console.is_piped
        if not is_repeated and not words.is_routine(text):
            lines = self._requests.profile.habits.own_lines
            text, others = parted(text, lines) if stream != "console" and not self._console.is_piped else (text, "")
            self._console.append(stream, text, _writer(self._merger.state, self._requests.snapshot))
            self._console.append("console", others)


def _writer(state: State, snapshot: Snapshot | None) -> Writer | None:
    """Return who writes, where many processes do that have dialed in: their lines would be mixed."""
    root = None if snapshot is None else state.snapshot(state.root_of(snapshot.id) or "")
    if snapshot is None or root is None or not root.origin.listens or root is snapshot:
        return None
    return Writer(snapshot.id, short_label(snapshot.origin.labels))


def _is_core_file(snapshot: Snapshot | None) -> bool:
    return snapshot is not None and snapshot.origin.core_file is not None
