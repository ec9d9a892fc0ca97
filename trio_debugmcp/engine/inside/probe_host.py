"""`EngineDebugger`: the engine as the probe sees it."""

from typing import Any, Callable, Iterator

from trio_debugmcp.engine.inside import door_connection
from trio_debugmcp.engine.inside.held_threads import ThreadStop
from trio_debugmcp.engine.inside.interruptions import is_own_code
from trio_debugmcp.engine.inside.thread_records import ThreadRecord, program_frame
from trio_debugmcp.probe.inside.debugger.seam import (
    DebuggerServices,
    ProgramDebugger,
    ProgramThread,
    ProgramView,
    RecordPeer,
    RefusedError,
    VisibleFrame,
)


class EngineView(ProgramView):
    """What the engine knows of threads, frames and stops."""

    own_modules = ("trio_debugmcp.probe.inside", "trio_debugmcp.engine")

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def threads(self) -> list[ProgramThread]:
        found = []
        threads = self._engine.threads
        for ident, frame in threads.tops().items():
            top = program_frame(frame)
            if top is not None:
                record = threads.of(ident)
                stopped = record if record.is_held else None
                found.append(
                    ProgramThread(record.id, ident, threads.name_of(ident), top, stopped, threads.is_daemon(ident))
                )
        found.sort(key=lambda each: each.id)
        return found

    def turned_away(self) -> list[int]:
        held = self._engine.held
        return [record.ident for record in list(held.parked) if record.parked is not None] if held.loans else []

    def owns(self, frame: Any) -> bool:
        return is_own_code(frame.f_code)

    def frames(self, thread: ProgramThread) -> Iterator[VisibleFrame]:
        engine, record = self._engine, self._engine.threads.of(thread.ident)
        for frame in engine.frames.shown_of(record):
            if thread.stopped is not None:
                engine.frames.number(record, frame)
            yield self.visible(frame)

    def visible(self, frame: Any) -> VisibleFrame:
        files, code = self._engine.files, frame.f_code
        name, file, line = self._engine.frames.place(frame)
        is_mapped = file not in (name, f"<{name}>")
        return VisibleFrame(frame, file, line, code.co_name, not files.is_user(name), name, is_mapped)

    def frame_id(self, frame: Any) -> int | None:
        found: int | None = self._engine.frames.known_number(frame)
        return found

    def frame_of(self, frame_id: int) -> Any:
        found = self._engine.frames.find(frame_id)
        return None if found is None else found[1]

    def is_library(self, frame: Any) -> bool:
        return not self._engine.files.is_user(frame.f_code.co_filename)

    def stop_frame(self, thread: ProgramThread) -> Any:
        record: ThreadRecord | None = thread.stopped
        return None if record is None else record.held_frame

    def exception(self, thread: ProgramThread) -> tuple[Any, Any]:
        stop = None if thread.stopped is None else thread.stopped.stop
        if stop is None or stop.exception is None:
            return None, None
        _, value, trace = stop.exception
        return value, trace

    def handled(self, thread: ProgramThread) -> Any:
        stop = None if thread.stopped is None else thread.stopped.stop
        return None if stop is None else stop.handled

    def returned(self, frame: Any, ident: int, first: bool) -> list[tuple[str, Any, str]]:
        stop = self._engine.threads.of(ident).stop
        return [] if stop is None else [(name, value, "") for name, value in stop.returned]


class EngineServices(DebuggerServices):
    """What the engine does for the probe."""

    _engine: Any

    def announce(self, frame: VisibleFrame) -> None:
        self._engine.modules.report(frame.file, frame.frame)

    def source_reference(self, frame: VisibleFrame) -> int:
        is_of_file = frame.file[:1] != "<" or frame.original[:1] == "<"
        found: int = self._engine.sources.reference(frame.frame.f_code, is_of_file=is_of_file)
        return found

    def start_thread(self, function: Callable[[], None]) -> None:
        self._engine.threads.start(function)

    def stop_in(self, frame: Any, value: Any, returning: Any) -> None:
        record = self._engine.threads.current()
        stop = ThreadStop(record, frame, "step")
        stop.returned = [] if value is None or returning is None else [(returning.f_code.co_qualname, value)]
        self._engine.held.stop(stop)

    def answer_without(self, ident: int) -> None:
        self._engine.reader.replace(ident)

    def take_back_pause(self) -> bool:
        if self._engine.held.holder is not None:
            return False
        self._engine.pauses.end()
        return True

    def record_peer(self) -> RecordPeer:
        connection = self._engine.connection
        if not connection.is_open:
            raise RefusedError("the debugger is not connected")
        return RecordPeer(connection.family, connection.address, self._engine.token, connection.pin)

    def send_whole(self, made: Any, cipher: Any, data: bytes, flags: int, raised: list[BaseException]) -> None:
        door_connection.send_whole(made, cipher, data, flags, raised)

    def tell_at_stops(self, written: Callable[[], int]) -> None:
        self._engine.stop_answers.record_bytes = written


class EngineDebugger(EngineView, EngineServices, ProgramDebugger):
    """The engine as a debugger that the probe asks."""
