"""The direct line: DAP straight to the debugger inside the program, with no adapter process in between.

To a session a direct line is an adapter like any other: a stream of DAP. What an adapter would do before the program
runs is done here, in the same words of the protocol:

1. `runInTerminal` is asked of the session, with the program's command line: the program is the session's, with its
   process group, pipes and exit status. (An attachment has an injector run instead.)
2. The program dials in (`dial_in`). From then on every frame is passed on as it is, both ways.
3. A child that dials in is announced with `startDebugging`, as adapters do; its session takes it by its process id.
4. `terminated` is sent when the process has ended, not when it begins to, and also for one that was killed. The
   connection may end before: after an `exec` the process dials in anew, and is announced as a child of itself.

Because all of it is DAP, a recording of a session has it, and replays it with no program at all.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, suppress
from typing import Any

import trio

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.daemons import OwnProcess, end_process, is_in_session_of_ours, own_process
from trio_debugmcp.dap.dial_in import DialIns
from trio_debugmcp.dap.direct_stream import PROGRAM_ENDED, PROGRAM_LOST, DirectStream
from trio_debugmcp.dap.incoming_connection import IncomingConnection
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.pids import exists, exit_code_of_zombie, wait_ended
from trio_debugmcp.dap.process import Watchdog, open_process
from trio_debugmcp.errors import CannotRun, ProtocolViolation
from trio_debugmcp.patience import Patience

log = logging.getLogger(__name__)

_LAST_FRAMES_SECONDS = 0.3
"""From a program's end to that of its connection, for what it has sent; a forked child may keep the socket open."""

_LATE_CALL_SECONDS = 0.1
"""From a program's end to giving up on its call: it may have dialed in just before, and be at the door."""

_EXEC_SECONDS = 0.3
"""From the end of a connection to the conclusion that its process lives: usually it is about to end."""

_REAP_SECONDS = 0.5
"""For a launched program that has ended to be reaped."""

_POLL_SECONDS = 0.02
"""Between two checks whether it was reaped."""

_CHILD_SECONDS = 1.0
"""For a Python that a program has started just before its own end to dial in; it takes some 50 ms."""

_SHORT_LIFE_SECONDS = 0.1
"""From a child's call to having the watchdog watch it; as long as it is in the process session of its program it is
watched with that. Most forks have ended before."""

_SHORT = 16
"""Characters of an option; a token and a path are longer."""

_LAST_WORDS_SECONDS = 0.5
"""For the standard error of an injector that has failed; a native debugger of its own may keep it open."""

_SAID_BYTES = 4000
"""Of what an injector that fails has written: its last line is the reason."""

Connect = Callable[[DirectStream], Awaitable[None]]


def open_launched(
    wanted: RunInTerminal, dial_ins: DialIns, child_arguments: Mapping[str, Any]
) -> AbstractAsyncContextManager[Adapter]:
    """Open the direct line to a program that the session is asked to run with this command line."""

    async def connect(stream: DirectStream) -> None:
        with ExitStack() as launching:
            launching.enter_context(dial_ins.owners.launching())
            pid = await stream.run_program(wanted)
            if pid is not None:  # otherwise the session knows already why it could not run it
                await _connect(stream, pid, dial_ins, taken=lambda _: launching.close())

    return _open_line(connect, dial_ins, child_arguments, is_ours=True)


@asynccontextmanager
async def open_caller(
    pid: int, dial_ins: DialIns, child_arguments: Mapping[str, Any], watchdog: Watchdog | None = None
) -> AsyncIterator[Adapter]:
    """Open the direct line to a process that has dialed in: a child.

    `watchdog`: that of a program that was launched here, with which its children end, also those that have left its
    process session. Without one they are not ours to end.
    """
    process: OwnProcess | None = None
    watched = False

    def watch() -> None:
        nonlocal watched
        if watchdog is not None and process is not None and not watched:
            watchdog.watch_process(*process)
            watched = True

    def identify(caller: IncomingConnection) -> None:
        nonlocal process
        process = None if watchdog is None else own_process(caller, watchdog)
        if watchdog is not None and not is_in_session_of_ours(caller, watchdog):
            watch()

    async def watch_later() -> None:
        await trio.sleep(_SHORT_LIFE_SECONDS)
        watch()

    async def connect(stream: DirectStream) -> None:
        await _connect(stream, pid, dial_ins, identify, watch_later)

    ends = False
    try:
        async with _open_line(connect, dial_ins, child_arguments) as adapter:
            try:
                yield adapter
            finally:
                ends = isinstance(adapter.stream, DirectStream) and adapter.stream.ends_program
    finally:
        if watchdog is not None and process is not None:
            if ends:
                with trio.CancelScope(shield=True):  # bounded: it is
                    await end_process(process, watchdog.patience)
            if watched:
                watchdog.forget_process(*process)


def open_guest(
    number: int, dial_ins: DialIns, child_arguments: Mapping[str, Any]
) -> AbstractAsyncContextManager[Adapter]:
    """Open the direct line to a guest: a process that has dialed in by itself, from anywhere (`listening`)."""

    async def connect(stream: DirectStream) -> None:
        stream.connect(await dial_ins.take(number))
        await stream.serve()
        await stream.lose(PROGRAM_ENDED)  # its process cannot be looked for: its connection was all of it
        await stream.report_end()

    return _open_line(connect, dial_ins, child_arguments, is_guest=True)


def open_injected(
    pid: int, command: Sequence[str], dial_ins: DialIns, watchdog: Watchdog, child_arguments: Mapping[str, Any]
) -> AbstractAsyncContextManager[Adapter]:
    """Open the direct line to a running process; `command` puts the debugger into it."""

    async def connect(stream: DirectStream) -> None:
        async with open_process(command, watchdog) as injector, trio.open_nursery() as nursery:
            if injector.stdout is None or injector.stderr is None:
                raise AssertionError("the process was opened with pipes")
            said = bytearray()
            nursery.start_soon(_keep_reading, injector.stdout, bytearray())
            all_said = trio.Event()

            async def read_errors(pipe: trio.abc.ReceiveStream) -> None:
                await _keep_reading(pipe, said)
                all_said.set()

            nursery.start_soon(read_errors, injector.stderr)

            async def watch() -> None:
                code = await injector.wait()
                if code:
                    with trio.move_on_after(dial_ins.patience.seconds(_LAST_WORDS_SECONDS)):
                        await all_said.wait()
                    last = said.decode(errors="replace").strip().rpartition("\n")[2]
                    # A native debugger's command line has the token of the door in it.
                    if "CalledProcessError" in last or any(word in last for word in command if len(word) > _SHORT):
                        last = ""
                    await stream.refuse(last or f"the debugger could not be put into the process (exit code {code})")
                    nursery.cancel_scope.cancel(reason="the injector has failed")

            nursery.start_soon(watch)
            await _connect(stream, pid, dial_ins)
            nursery.cancel_scope.cancel(reason="the line is over")

    return _open_line(connect, dial_ins, child_arguments)


@asynccontextmanager
async def _open_line(
    connect: Connect,
    dial_ins: DialIns,
    child_arguments: Mapping[str, Any],
    *,
    is_ours: bool = False,
    is_guest: bool = False,
) -> AsyncIterator[Adapter]:
    """Run `connect` beside the block. Shielded, as an adapter process is: it must answer the session's goodbye."""
    serving = trio.CancelScope(shield=True)

    async def carry(stream: DirectStream) -> None:
        with serving:
            try:
                await connect(stream)
            except* (trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # the session has closed the stream
            except* (ProtocolViolation, CannotRun) as errors:
                log.warning("a direct line: %s", errors.exceptions[0])
                await stream.refuse(str(errors.exceptions[0]))
            finally:
                stream.hang_up()

    async with trio.open_nursery() as nursery:
        stream = DirectStream(dial_ins, nursery, child_arguments, is_ours=is_ours, is_guest=is_guest)
        nursery.start_soon(carry, stream)
        try:
            yield Adapter(stream)
        finally:
            serving.cancel(reason="the session is over")
            nursery.cancel_scope.cancel(reason="the session is over")


async def _connect(
    stream: DirectStream,
    pid: int,
    dial_ins: DialIns,
    taken: Callable[[IncomingConnection], None] | None = None,
    beside: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Wait until the process has dialed in, tell `taken`, and serve it until it has ended, with `beside` meanwhile."""
    ended, seen = trio.Event(), list[int | None]()

    async def watch() -> None:
        await wait_ended(pid)
        seen.append(None if stream.is_ours else exit_code_of_zombie(pid))
        ended.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        if await _has_connected(stream, pid, dial_ins, ended, taken):
            nursery.start_soon(_cut_at_end, stream, ended, dial_ins.patience)
            if beside is not None:
                nursery.start_soon(beside)
            await stream.serve()
            # The connection is over, but perhaps not the process.
            with trio.move_on_after(dial_ins.patience.seconds(_EXEC_SECONDS)):
                await ended.wait()
            if not ended.is_set():
                await stream.lose(PROGRAM_LOST)
                await ended.wait()
            await stream.lose(PROGRAM_ENDED)
            await _wait_children(stream, dial_ins.patience)
            if stream.is_ours:
                await _wait_reaped(pid, dial_ins.patience)
            code = None if stream.is_ours else seen[0]
            if code is None and stream.is_engines and not stream.is_ours:
                code = await dial_ins.exit_codes.take(pid, dial_ins.patience)
            await stream.report_end(code)
        else:
            await stream.refuse("the program ended before the debugger inside it had connected")
        nursery.cancel_scope.cancel(reason="the process has ended")


async def _has_connected(
    stream: DirectStream,
    pid: int,
    dial_ins: DialIns,
    ended: trio.Event,
    taken: Callable[[IncomingConnection], None] | None,
) -> bool:
    """Wait until the process has dialed in; False if it ends before."""
    if dial_ins.is_waiting(pid):  # a child, which was announced
        _speak_to(await dial_ins.take(pid), stream, taken)
        return True
    connected = False
    async with trio.open_nursery() as nursery:

        async def give_up() -> None:
            await ended.wait()
            await trio.sleep(dial_ins.patience.seconds(_LATE_CALL_SECONDS))
            nursery.cancel_scope.cancel(reason="the process has ended")

        nursery.start_soon(give_up)
        _speak_to(await dial_ins.take(pid), stream, taken)
        connected = True
        nursery.cancel_scope.cancel(reason="it has dialed in")
    return connected


def _speak_to(
    caller: IncomingConnection, stream: DirectStream, taken: Callable[[IncomingConnection], None] | None
) -> None:
    if taken is not None:
        taken(caller)
    stream.connect(caller)


async def _cut_at_end(stream: DirectStream, ended: trio.Event, patience: Patience) -> None:
    await ended.wait()
    await trio.sleep(patience.seconds(_LAST_FRAMES_SECONDS))
    stream.reading.cancel(reason="the process has ended")  # a child that it forked may hold its connection open


async def _wait_children(stream: DirectStream, patience: Patience) -> None:
    """Wait for the Pythons that a program has started: they are announced to its session, which ends with it."""
    with trio.move_on_after(patience.seconds(_CHILD_SECONDS)):
        while not stream.ends_program and any(exists(pid) for pid in stream.requests.starting):  # noqa: ASYNC110 (of the system)
            await trio.sleep(_POLL_SECONDS)


async def _wait_reaped(pid: int, patience: Patience) -> None:
    """Wait until this server has taken a process's exit code, which its session and a recording report at its end."""
    with trio.move_on_after(patience.seconds(_REAP_SECONDS)):
        while exists(pid):  # noqa: ASYNC110
            await trio.sleep(_POLL_SECONDS)
        await trio.sleep(_POLL_SECONDS)


async def _keep_reading(pipe: trio.abc.ReceiveStream, into: bytearray) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        while data := await pipe.receive_some():
            into += data
            del into[:-_SAID_BYTES]
