"""`Recorder`: writes down what crosses the edges of the server. It changes nothing, waits for nothing, and never fails.

    adapters   the DAP messages of every session, both ways, and the end of the connection
    programs   start, output and exit of what runs in a terminal of ours
    looks      what the server looked up on this machine: sources, above all
    clients    the MCP messages of every client, both ways

Whatever goes wrong with the recording ends the recording.
"""

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from itertools import count
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
import trio
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from msgspec.structs import replace

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.profiles import Attach, Launch
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import UsageError
from trio_debugmcp.recording.ears import AdapterEar, ClientEar
from trio_debugmcp.recording.file import MAX_WAITING_BYTES, Journal
from trio_debugmcp.recording.format import (
    Direction,
    EndEntry,
    Entry,
    ExitEntry,
    Header,
    LookEntry,
    OutputEntry,
    ProgramEntry,
    Refusal,
    SessionEndEntry,
    SessionEntry,
    encode_line,
)
from trio_debugmcp.recording.redact import Redactor
from trio_debugmcp.recording.shrink import MAX_MESSAGE_BYTES, envelope, one_line
from trio_debugmcp.recording.taps import McpTap, TappedAdapter, TappedProgram
from trio_debugmcp.session.host import Host, Opening, Program
from trio_debugmcp.transports.jsonrpc import message_text

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 256 * 1024 * 1024
"""Of a recording: some hours of an agent's work, and still a file that can be sent to somebody."""

T = TypeVar("T")


class Recorder(Host):
    """Records for the length of the `with` block, from the server's start on. `header` is completed there."""

    def __init__(
        self, journal: Journal, header: Header, redactor: Redactor, *, max_bytes: int = MAX_FILE_BYTES
    ) -> None:
        self._journal = journal
        self._header = header
        self._redactor = redactor
        self._room = max_bytes
        self._start: float | None = None
        self._last = 0.0
        self._over = False
        self._looked: dict[str, int] = {}
        self._clients = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._start is None:  # the server did not even start
            self._journal.discard()
            return
        if not self._over:
            self._write(EndEntry(t=self._last, reason="the server ended"))
        self._over = True
        self._journal.close()

    # --- Writing ---------------------------------------------------------------------------------------------

    def _now(self) -> float:
        if self._start is None:
            raise AssertionError("the server has not started")
        self._last = round(trio.current_time() - self._start, 6)
        return self._last

    def note(self, make: Callable[[float], Entry]) -> None:
        """Write an entry down, unless the recording is over."""
        if self._over:
            return
        try:
            self._write(make(self._now()))
        except Exception:  # ours, and not a reason to disturb the debugging
            log.exception("recording")
            self._stop("a fault of the recorder's")

    def _write(self, line: Header | Entry) -> None:
        text = self._redactor.line(encode_line(line))
        if self._journal.failure is not None:
            self._over = True
        elif len(text) > self._room:
            self._stop("the file has reached its largest size")
        elif self._journal.waiting > MAX_WAITING_BYTES:
            self._stop("the disk does not keep pace")
        else:
            self._room -= len(text)
            self._journal.write(text)

    def _stop(self, reason: str) -> None:
        self._over = True
        log.warning("recording to %s has ended: %s", self._journal.path, reason)
        self._journal.write(encode_line(EndEntry(t=self._last, reason=reason, complete=False)))

    def fitting(self, text: bytes, make: Callable[..., Entry]) -> Entry:
        """The entry for a JSON message, made with `msg` and `cut`.

        Raises:
            NotJson: it is none.
        """
        if len(text) <= MAX_MESSAGE_BYTES:
            return make(msg=msgspec.Raw(self._redactor.message(one_line(text))))
        return make(msg=msgspec.Raw(self._redactor.message(envelope(text))), cut=len(text))

    # --- The edges of sessions -------------------------------------------------------------------------------

    def clock(self) -> Clock:
        """Here the recording begins."""
        clock = Clock()
        self._start, anchor = trio.current_time(), clock.now()
        started = datetime.fromtimestamp(anchor, UTC).isoformat(timespec="seconds")
        self._write(replace(self._header, anchor=anchor, started_at=started))
        return clock

    def open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AbstractAsyncContextManager[Adapter]:
        """The adapter, listened to."""
        return self._open_adapter(opening, connect)

    @asynccontextmanager
    async def _open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AsyncIterator[Adapter]:
        session = opening.session
        kind, target = _start_of(opening)
        self.note(
            lambda t: SessionEntry(
                t=t, session=session, adapter=opening.adapter, start=kind, target=target, parent=opening.parent
            )
        )
        try:
            async with connect() as adapter:
                yield TappedAdapter(adapter, AdapterEar(self, session, adapter))
        finally:
            self.note(lambda t: SessionEndEntry(t=t, session=session))

    def open_program(
        self, session: str, wanted: RunInTerminal, watchdog: Watchdog
    ) -> AbstractAsyncContextManager[Program]:
        """The program, listened to."""
        return self._open_program(session, wanted, watchdog)

    @asynccontextmanager
    async def _open_program(self, session: str, wanted: RunInTerminal, watchdog: Watchdog) -> AsyncIterator[Program]:
        async with super().open_program(session, wanted, watchdog) as program:
            pid = program.pid
            self.note(lambda t: ProgramEntry(t=t, session=session, pid=pid))

            def wrote(stream: Any, text: str | None) -> None:
                self.note(lambda t: OutputEntry(t=t, session=session, pid=pid, stream=stream, text=text))

            def exited(code: int) -> None:
                self.note(lambda t: ExitEntry(t=t, session=session, pid=pid, exit_code=code))

            yield TappedProgram(program, wrote, exited)

    def query(self, question: str, ask: Callable[[], T]) -> T:
        """Asked, and written down if the answer is a new one."""
        try:
            answer = ask()
        except UsageError as error:
            refusal = Refusal(error.code, error.message, error.details)
            self._looked_up(question, lambda t: LookEntry(t=t, question=question, error=refusal))
            raise
        self._looked_up(question, lambda t: LookEntry(t=t, question=question, answer=answer))
        return answer

    def _looked_up(self, question: str, make: Callable[[float], LookEntry]) -> None:
        mark = hash(encode_line(make(0.0)))
        if self._looked.get(question) != mark:
            self._looked[question] = mark
            self.note(make)

    # --- MCP clients -----------------------------------------------------------------------------------------

    @contextmanager
    def listen(
        self,
        incoming: ReadStream[SessionMessage | Exception],
        outgoing: WriteStream[SessionMessage],
        role: Any,
        transport: str,
    ) -> Iterator[tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]]:
        """A client's streams, listened to for the length of the block."""
        with self.client(role, transport) as ear:
            tap = McpTap(
                lambda item: ear.heard("in", message_text(item).encode()),
                lambda item: ear.heard("out", message_text(item).encode()),
            )
            yield tap.reading(incoming), tap.writing(outgoing)

    @contextmanager
    def overhear(self, role: Any, transport: str) -> Iterator[ServerMiddleware[Any]]:
        """The SDK's middleware, for transports whose messages are not seen: requests, their answers, notifications."""
        with self.client(role, transport) as ear:

            def tell(direction: Direction, **members: Any) -> None:
                ear.heard(direction, json.dumps({"jsonrpc": "2.0", **members}, default=str).encode())

            async def overhear(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
                number = {} if ctx.request_id is None else {"id": ctx.request_id}
                parameters = {} if ctx.params is None else {"params": dict(ctx.params)}
                tell("in", **number, method=ctx.method, **parameters)
                try:
                    result = await call_next(ctx)
                except MCPError as error:
                    tell("out", **number, error=error.error.model_dump(by_alias=True, exclude_none=True, mode="json"))
                    raise
                if number:
                    tell("out", **number, result=result)
                return result

            yield overhear

    @contextmanager
    def client(self, role: Any, transport: str) -> Iterator[ClientEar]:
        """A client is connected for the length of the block; what it says is told to the ear."""
        ear = ClientEar(self, f"c-{next(self._clients)}", role, transport)
        try:
            yield ear
        finally:
            ear.left()


def _start_of(opening: Opening) -> tuple[Any, str | None]:
    match opening.start:
        case Launch(program=program):
            return "launch", program
        case Attach(pid=pid, host=host, port=port):
            return "attach", str(pid) if pid is not None else f"{host or '127.0.0.1'}:{port}"
        case _:
            return "child", None
