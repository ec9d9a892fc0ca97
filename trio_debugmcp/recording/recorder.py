"""`Recorder`: writes down what crosses the edges of the server. It changes nothing, waits for nothing and never fails.

    adapters   the DAP messages of every session, both ways, and the end of the connection
    programs   start, output and exit of what runs in a terminal of ours
    queries    what the server found out about this machine: sources, above all
    clients    the MCP messages of every client, both ways

The recorder is open for as long as the server runs:

    with open_recorder("bug.jsonl", directory="/src", debounce=0.3, max_wait=0.9, linger=120) as recorder:
        trio.run(serve, Options().recorded(recorder))
"""

import os
import platform
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import msgspec
import trio
from mcp.server.context import ServerMiddleware
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from trio_debugmcp import __version__
from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.process import Program, Watchdog
from trio_debugmcp.dap.profiles import PROFILES, Attach, Launch, Listen, Profile, TableProfile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.recording.file import MAX_FILE_BYTES, RecordingFile
from trio_debugmcp.recording.format import (
    FORMAT,
    VERSION,
    Header,
    ProgramEntry,
    QueryEntry,
    RecordedError,
    SessionEndEntry,
    SessionEntry,
    encode_line,
)
from trio_debugmcp.recording.redact import Redactor
from trio_debugmcp.recording.taps import ClientTap, TappedAdapter, TappedProgram
from trio_debugmcp.session.host import Host, Opening
from trio_debugmcp.transports.connection_tap import ConnectionTap, Role
from trio_debugmcp.transports.streams import Streams
from trio_debugmcp.transports.tap import tapped

T = TypeVar("T")


class Recorder(Host, ConnectionTap):
    """Records for the length of the `with` block, from the server's start on. `header` is completed then."""

    def __init__(self, file: RecordingFile, header: Header) -> None:
        self._file = file
        self._header = header
        self._answered: dict[str, int] = {}
        self._clients = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.end()

    def __repr__(self) -> str:
        return f"<Recorder to {self._file!r}>"

    # --- Host ---------------------------------------------------------------------------------------------------------

    def clock(self) -> Clock:
        """Make the wall clock. The recording begins here: its times and the clock have one origin."""
        clock = Clock()
        anchor, start = clock.now(), trio.current_time()
        started = datetime.fromtimestamp(anchor, UTC).isoformat(timespec="seconds")
        self._file.begin(replace(self._header, anchor=anchor, started_at=started), start)
        return clock

    @asynccontextmanager
    async def _open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AsyncIterator[Adapter]:
        session_id = opening.session_id
        kind, target = _start_of(opening)
        self._file.add(
            lambda t: SessionEntry(
                t=t, session=session_id, adapter=opening.adapter, start=kind, target=target, parent=opening.parent_id
            )
        )
        try:
            async with connect() as adapter:
                if adapter.process is not None:
                    own = partial(ProgramEntry, session=session_id, pid=adapter.process.pid)
                    part: Literal["streams", "program"] = "program" if adapter.is_program else "streams"
                    self._file.add(lambda t: own(t=t, process=part))
                yield TappedAdapter(adapter, session_id, self._file)
        finally:
            self._file.add(lambda t: SessionEndEntry(t=t, session=session_id))

    def open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AbstractAsyncContextManager[Adapter]:
        """Open the session's debug adapter with a tap on its connection."""
        return self._open_adapter(opening, connect)

    @asynccontextmanager
    async def _open_program(
        self, session_id: str, request: RunInTerminal, watchdog: Watchdog
    ) -> AsyncIterator[Program]:
        async with super().open_program(session_id, request, watchdog) as program:
            self._file.add(lambda t: ProgramEntry(t=t, session=session_id, pid=program.pid))
            yield TappedProgram(program, session_id, self._file)

    def open_program(
        self, session_id: str, request: RunInTerminal, watchdog: Watchdog
    ) -> AbstractAsyncContextManager[Program]:
        """Run the program with taps on its pipes."""
        return self._open_program(session_id, request, watchdog)

    async def find_out(self, question: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Return what `ask` finds out, and record it as `query` does."""
        refusal: UsageError | None = None
        try:
            answer = await ask()
        except UsageError as error:
            refusal = error

        def again() -> T:
            if refusal is not None:
                raise refusal
            return answer

        return self.query(question, again)

    def query(self, question: str, ask: Callable[[], T]) -> T:
        """Return what `ask` finds out, and record it if it differs from the last answer to the question."""
        try:
            answer = ask()
        except UsageError as error:
            refusal = RecordedError(error.code, error.message, error.details)
            self._record_answer(question, lambda t: QueryEntry(t=t, question=question, error=refusal))
            raise
        self._record_answer(question, lambda t: QueryEntry(t=t, question=question, answer=answer))
        return answer

    def _record_answer(self, question: str, make: Callable[[float], QueryEntry]) -> None:
        mark = hash(encode_line(make(0.0)))  # its hash: the text of a source may be long
        if self._answered.get(question) != mark:
            self._answered[question] = mark
            self._file.add(make)

    # --- Clients ------------------------------------------------------------------------------------------------------

    @contextmanager
    def streams(self, streams: Streams, role: Role, transport: str) -> Iterator[Streams]:
        """Record a client's messages for the length of the block."""
        with self._client(role, transport) as tap:
            yield tapped(streams, tap)

    @contextmanager
    def middleware(self, role: Role, transport: str) -> Iterator[Sequence[ServerMiddleware[Any]]]:
        """Record a client's requests, their answers and its notifications for the length of the block."""
        with self._client(role, transport) as tap:
            yield [tap.observe]

    @contextmanager
    def _client(self, role: Role, transport: str) -> Iterator[ClientTap]:
        tap = ClientTap(f"c-{next(self._clients)}", role, transport, self._file)
        try:
            yield tap
        finally:
            tap.left()


def open_recorder(
    path: str | Path,
    *,
    argv: Sequence[str] = (),
    secrets: Iterable[str] = (),
    keep_recognized: bool = False,
    directory: str,
    roots: Sequence[str] = (),
    debounce: float,
    max_wait: float,
    linger: float,
    tools: Literal["core", "full"] = "full",
    patience: Patience = USUAL,
    profiles: Sequence[Profile] = PROFILES,
    max_bytes: int = MAX_FILE_BYTES,
) -> Recorder:
    """Make a recorder to a new file: a context manager, which the caller closes.

    In a directory, the file is named by the time and the process. `secrets` are taken out wherever they appear, and so
    are variables of this process whose names are those of secrets. `keep_recognized`: leave what only looks like a
    secret of the program.

    Raises:
        FileExistsError: there is such a file already; it is not touched.
        OSError: the file cannot be made.
    """
    redactor = Redactor(secrets, keep_recognized=keep_recognized)
    redactor.learn_environment(os.environ)  # programs inherit it
    header = Header(
        format=FORMAT,
        version=VERSION,
        server=__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        adapters=[profile.name for profile in profiles],
        started_at="",
        anchor=0.0,
        argv=redactor.arguments(argv),
        directory=directory,
        roots=list(roots),
        debounce=debounce,
        max_wait=max_wait,
        linger=linger,
        tools=tools,
        patience=patience.factor,
        tables=_tables(profiles, redactor),
    )
    file = Path(path)
    if file.is_dir():
        file /= f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{os.getpid()}.jsonl"
    return Recorder(RecordingFile(file, redactor, max_bytes=max_bytes), header)


def _tables(profiles: Sequence[Profile], redactor: Redactor) -> dict[str, dict[str, Any]] | UnsetType:
    """Return the tables that are not ours: without them a replay does not know what their adapters' messages mean."""
    users = {
        profile.name: profile.table
        for profile in profiles
        if isinstance(profile, TableProfile) and profile not in PROFILES
    }
    if not users:
        return UNSET
    decoded: dict[str, dict[str, Any]] = msgspec.json.decode(redactor.message(msgspec.json.encode(users)))
    return decoded


def _start_of(opening: Opening) -> tuple[Any, str | None]:
    match opening.start:
        case Launch(program=program):
            return "launch", program
        case Attach(pid=pid, host=host, port=port):
            return "attach", str(pid) if pid is not None else f"{host or '127.0.0.1'}:{port}"
        case Listen(host=host, port=port):
            return "attach", f"{host}:{port}"
        case _:
            return "child", None
