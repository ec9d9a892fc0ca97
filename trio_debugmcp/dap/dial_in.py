"""`DialIns`: the door for programs whose debugger dials in to us (pydevd with `--connect`), one per server.

    async with open_dial_ins() as dial_ins:
        address = await dial_ins.listen()               # loopback, a free port; the first call opens it
        ...                                             # start `python -m debugpy --connect HOST:PORT …`
        caller = await dial_ins.take(pid)               # DAP, straight to the debugger inside that process

Who dials in is asked for the token first, and for its process id and its parent's. A caller that a launch or an
attachment waits for is handed to it; another one is a child: the session that owns its nearest known ancestor is asked
to announce it. A stranger is disconnected, and a bounded number of them can be at the door at once.

`pydevdAuthorize` and `pydevdSystemInfo` are pydevd's own requests; tests/dap/test_dial_in.py has a test for each fact.
"""

import errno
import logging
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, NamedTuple

import msgspec
import trio

from trio_debugmcp.dap.codec import decode_message
from trio_debugmcp.dap.framing import FrameDecoder, encode_frame
from trio_debugmcp.dap.messages import Response
from trio_debugmcp.errors import AdapterGone, ProtocolViolation

log = logging.getLogger(__name__)

ADMISSION_SECONDS = 5.0
"""For a caller to show the token and say who it is; pydevd takes milliseconds, even right after a fork."""

MAX_AT_THE_DOOR = 64
"""Connections that have not shown the token yet; fifty children may start in one second, strangers may knock."""

TOKEN_BYTES = 24
"""Random bytes in the token."""

_CHUNK_BYTES = 64 * 1024

_RELEASE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialize", {"adapterID": "debugpy", "pathFormat": "path"}),
    ("attach", {}),
    ("configurationDone", {}),
    ("disconnect", {"terminateDebuggee": False}),
)
"""The shortest handshake after which a process runs, and a goodbye."""

_MAX_ANCESTORS = 32
"""Generations that are climbed from an unknown caller to a known process."""


class Address(NamedTuple):
    """Where programs dial in, and the token that they must know."""

    host: str
    port: int
    token: str


class Caller:
    """A debugger inside a process that has dialed in and shown the token.

    Attributes:
        stream: its socket; whoever takes the caller closes it.
        received: bytes that came after its answers.
    """

    def __init__(self, stream: trio.SocketStream, pid: int, parent_pid: int, received: bytes) -> None:
        self.stream = stream
        self.pid = pid
        self.parent_pid = parent_pid
        self.received = received

    def __repr__(self) -> str:
        return f"<Caller pid={self.pid} parent={self.parent_pid}>"


Announce = Callable[[Caller], None]
"""Called with a child that has dialed in; it waits to be taken."""


class DialIns:
    """The listening socket, the callers that wait to be taken, and the processes whose children announce themselves.

    Made by `open_dial_ins`.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._address: Address | None = None
        self._opening = trio.Lock()
        self._waiting: dict[int, Caller] = {}
        self._arrived = trio.lowlevel.ParkingLot()
        self._expected: dict[int, int] = {}
        self._owners: dict[int, Announce] = {}
        self._admitting = 0

    def __repr__(self) -> str:
        return f"<DialIns {self._address!r} waiting={list(self._waiting)} owners={list(self._owners)}>"

    async def listen(self) -> Address:
        """Listen, from the first call on, and return where.

        Raises:
            OSError: this machine gives no port.
        """
        async with self._opening:
            if self._address is None:
                [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
                port: int = listener.socket.getsockname()[1]
                self._address = Address("127.0.0.1", port, secrets.token_urlsafe(TOKEN_BYTES))
                self._nursery.start_soon(self._accept, listener)
        return self._address

    async def take(self, pid: int) -> Caller:
        """Wait until the process with that id has dialed in, and take it. The caller bounds the wait."""
        self._expected[pid] = self._expected.get(pid, 0) + 1
        try:
            while pid not in self._waiting:
                await self._arrived.park()
            return self._waiting.pop(pid)
        finally:
            self._expected[pid] -= 1
            if not self._expected[pid]:
                del self._expected[pid]

    def dismiss(self, pid: int) -> None:
        """Disconnect a caller that no session takes; the process continues without a debugger."""
        caller = self._waiting.pop(pid, None)
        if caller is not None:
            self._nursery.start_soon(self._release, caller)

    def own(self, pid: int, announce: Announce) -> None:
        """Have children of this process announced to its session, until `disown`."""
        self._owners[pid] = announce

    def disown(self, pid: int, announce: Announce) -> None:
        """Stop announcing children of this process to that session."""
        if self._owners.get(pid) is announce:
            del self._owners[pid]

    # --- At the door --------------------------------------------------------------------------------------------------

    async def _accept(self, listener: trio.SocketListener) -> None:
        async with listener:
            while True:
                try:
                    stream = await listener.accept()
                except OSError as error:
                    if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                        raise
                    log.warning("a program cannot dial in: %s", error)
                    await trio.sleep(0.1)
                    continue
                if self._admitting >= MAX_AT_THE_DOOR:
                    await trio.aclose_forcefully(stream)
                    continue
                self._admitting += 1
                self._nursery.start_soon(self._admit, stream)

    async def _admit(self, stream: trio.SocketStream) -> None:
        caller = None
        try:
            with trio.move_on_after(ADMISSION_SECONDS):
                caller = await self._ask(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError, ProtocolViolation, AdapterGone) as error:
            log.info("a stranger at the door for programs: %s", error)
        finally:
            self._admitting -= 1
            if caller is None:
                await trio.aclose_forcefully(stream)
        if caller is not None:
            await self._deliver(caller)

    async def _ask(self, stream: trio.SocketStream) -> Caller:
        """Ask a caller for the token and who it is.

        Raises:
            AdapterGone: it does not know the token, or has disconnected.
            ProtocolViolation: it does not speak DAP.
        """
        conversation = _Conversation(stream)
        shown = await conversation.ask("pydevdAuthorize", {"debugServerAccessToken": None})
        token = shown.get("clientAccessToken")
        address = self._address
        if (
            address is None
            or not isinstance(token, str)
            or not secrets.compare_digest(token.encode("utf-8", "surrogateescape"), address.token.encode())
        ):
            raise AdapterGone("it does not know the token")
        process = (await conversation.ask("pydevdSystemInfo", {})).get("process")
        if not isinstance(process, dict) or not isinstance(process.get("pid"), int):
            raise AdapterGone("it does not say which process it is")
        parent = process.get("ppid")
        return Caller(stream, process["pid"], parent if isinstance(parent, int) else 0, conversation.rest)

    async def _deliver(self, caller: Caller) -> None:
        known = self._waiting.pop(caller.pid, None)
        if known is not None:  # dialed in twice before it was taken: the later connection is the living one
            await trio.aclose_forcefully(known.stream)
        owner = None if caller.pid in self._expected else self._owner_of(caller)
        if owner is None and caller.pid not in self._expected:
            log.warning("%r dialed in, and no session waits for it", caller)
            await self._release(caller)
            return
        self._waiting[caller.pid] = caller
        self._arrived.unpark_all()
        if owner is not None:
            owner(caller)

    async def _release(self, caller: Caller) -> None:
        """Let a process run that waits for its debugger: pydevd holds it until a whole handshake is over."""
        conversation = _Conversation(caller.stream)
        try:
            with trio.move_on_after(ADMISSION_SECONDS):
                for command, arguments in _RELEASE:
                    await conversation.ask(command, arguments)
        except (trio.BrokenResourceError, trio.ClosedResourceError, ProtocolViolation, AdapterGone) as error:
            log.info("%r: %s", caller, error)
        finally:
            await trio.aclose_forcefully(caller.stream)

    def _owner_of(self, caller: Caller) -> Announce | None:
        """Return who announces this caller: the owner of itself (`exec`), of an ancestor, or of its process session."""
        if caller.pid in self._owners:
            return self._owners[caller.pid]
        ancestor: int | None = caller.parent_pid
        for _ in range(_MAX_ANCESTORS):
            if not ancestor:
                break
            if ancestor in self._owners:
                return self._owners[ancestor]
            ancestor = parent_of(ancestor)
        # Its parent has ended already: a double fork, a pool whose server is gone. The token says that it is one of
        # ours, and the process session of which program, unless it is a daemon.
        leader = _session_of(caller.pid)
        if leader in self._owners:
            return self._owners[leader]
        return next(iter(self._owners.values()), None)


class _Conversation:
    """Two questions to a caller, before its stream is anybody's connection."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._decoder = FrameDecoder()
        self._frames: list[bytes] = []
        self._numbers = count(1)

    @property
    def rest(self) -> bytes:
        """What came after the answers, as bytes of the protocol."""
        return b"".join(encode_frame(frame) for frame in self._frames) + self._decoder.pending

    async def ask(self, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        request = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        await self._stream.send_all(encode_frame(msgspec.json.encode(request)))
        others: list[bytes] = []
        while True:
            while self._frames:
                frame = self._frames.pop(0)
                message = decode_message(frame)
                if isinstance(message, Response) and message.request_seq == number:
                    self._frames[:0] = others
                    if not message.success:
                        raise AdapterGone(f"it refused {command}")
                    body = msgspec.json.decode(message.body) if message.body else None
                    return body if isinstance(body, dict) else {}
                others.append(frame)
            data = await self._stream.receive_some(_CHUNK_BYTES)
            if not data:
                raise AdapterGone("it has disconnected")
            acknowledge_at_once(self._stream)
            self._frames += self._decoder.feed(bytes(data))


def acknowledge_at_once(stream: trio.SocketStream) -> None:
    """Ask for a quick acknowledgement of what has been received; Linux only, and to be repeated after each read.

    pydevd writes the head and the body of a message apart, with Nagle's algorithm on: the body waits for the
    acknowledgement of the head, which Linux delays by 40 ms.
    """
    if hasattr(socket, "TCP_QUICKACK"):
        with suppress(OSError):
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


@asynccontextmanager
async def open_dial_ins() -> AsyncIterator[DialIns]:
    """Run the door for the length of the block. It listens from the first `listen` on."""
    async with trio.open_nursery() as nursery:
        dial_ins = DialIns(nursery)
        yield dial_ins
        nursery.cancel_scope.cancel(reason="no more programs dial in")
        for caller in dial_ins._waiting.values():  # noqa: SLF001 (its own module)
            await trio.aclose_forcefully(caller.stream)


def is_alive(pid: int) -> bool:
    """Return whether a process exists and has not ended; a zombie has."""
    status = _status(pid)
    return exists(pid) if status is None else status[0] != "Z"


def exists(pid: int) -> bool:
    """Return whether there is a process with that id, a zombie included."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def parent_of(pid: int) -> int | None:
    """Return the parent of a process; None where that cannot be known."""
    status = _status(pid)
    return None if status is None else int(status[1])


def _session_of(pid: int) -> int | None:
    with suppress(OSError):
        return os.getsid(pid)
    return None


def _status(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on: state, parent, …; None without a /proc, or a process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()
    except OSError:
        return None
