"""`IncomingConnection`: a debugger inside a process that has dialed in; how one is admitted, sheltered and released.

    caller = await admitted(stream, token)      # raises if it is a stranger
    ...                                         # DAP on caller.stream, beginning with caller.received
    await release(caller.stream, patience)      # or: it is not wanted, and its process is to run on

`pydevdAuthorize`, `pydevdSystemInfo` and `evaluate` without a frame are pydevd's own requests, and so is the order in
which `release` works: tests/real/test_direct_line.py has a test for each fact.
"""

import logging
import secrets
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.codec import FrameDecoder, decode_message, encode_frame
from trio_debugmcp.dap.door_tls import RELAYS
from trio_debugmcp.dap.kept_tracing import KEEPER, untraced
from trio_debugmcp.dap.messages import Response
from trio_debugmcp.dap.sockets import acknowledge_at_once
from trio_debugmcp.engine import FETCHES
from trio_debugmcp.errors import AdapterGone, ProtocolViolation
from trio_debugmcp.patience import Patience

log = logging.getLogger(__name__)

RELEASE_SECONDS = 1.0
"""For a debugger to take its release and to disconnect; it takes some milliseconds."""

RECORDS = b"trio_debugmcp records "
"""How a connection for records begins; the token and a key follow, with a blank between, then a line break."""

MAX_ADMISSION_BYTES = 256 * 1024
"""What a caller may send before it is admitted; pydevd sends about 2 KB."""

MAX_SAID_CHARACTERS = 200
"""Of what a caller says when it refuses: the end of it, as of a traceback."""

MAX_PID = 2**31 - 1
"""The largest process id that any system has."""

_CHUNK_BYTES = 64 * 1024

SHELTER = """
import sys
monkey = sys.modules["_pydev_bundle.pydev_monkey"]
if not hasattr(monkey, "_dialing"):
    monkey._dialing = monkey._get_apply_arg_patching, monkey._on_forked_process
    def children_dial_in():
        debugger = monkey.get_global_debugger()
        return debugger is not None and not debugger.pydb_disposed and monkey._dialing[0]()
    def on_forked_process(setup_tracing=True):
        try:
            monkey._dialing[1](setup_tracing)
        except OSError:
            monkey.set_global_debugger(None)
    def wait_for_ready_to_run(self):
        while not (self.ready_to_run or self.pydb_disposed):
            self.process_internal_commands()
            self._py_db_command_thread_event.clear()
            self._py_db_command_thread_event.wait(0.05)
    monkey._get_apply_arg_patching = children_dial_in
    monkey._on_forked_process = on_forked_process
    type(monkey.get_global_debugger()).wait_for_ready_to_run = wait_for_ready_to_run
    function = type(children_dial_in)
    def own_class(kind, names):
        parts = {key: value for key, value in vars(kind).items() if key not in ("__dict__", "__weakref__")}
        for key, value in parts.items():
            if type(value) is function:
                parts[key] = function(value.__code__, names, key, value.__defaults__)
        return type(kind.__name__, kind.__bases__, parts)
    own = {}
    for name in ("json", "time", "threading", "queue"):
        original = sys.modules[name]
        private = type(sys)(name)
        vars(private).update(vars(original))
        own[name] = original, private
    threads, queues = own["threading"][1], own["queue"][1]
    for module, kind in ((threads, "Condition"), (threads, "Event"), (queues, "Queue")):
        setattr(module, kind, own_class(vars(module)[kind], vars(module)))
    queues.threading, queues.time = threads, own["time"][1].monotonic
    own["Event"] = own["threading"][0].Event, threads.Event
    for module, found in list(sys.modules.items()):
        if module.startswith(("pydev", "_pydev", "debugpy")):
            for name, value in list(vars(found).items()):
                for original, private in own.values():
                    if value is original:
                        setattr(found, name, private)
    debugger = monkey.get_global_debugger()
    debugger._cmd_queue.default_factory, debugger._thread_events.default_factory = queues.Queue, threads.Event
    for each in (debugger.writer._cmd_queue, *debugger._cmd_queue.values()):
        each.__class__ = queues.Queue
"""
"""Python that runs inside the debugger of a process which has dialed in, for when we are gone before it is.

pydevd makes every child dial in as long as its parent lives. Where no server listens any more, `os.fork` raises in the
child and a new interpreter does not start; where the connection ends before the child may run, it waits for ever.
So children dial in only while their parent is connected, and a fork whose debugger is gone runs on without one.

pydevd looks up functions of these modules when it needs them. A program that replaces one of them for a while, as
`mock.patch("json.dumps")` does, lost its stops for ever, and got pydevd's errors: so pydevd has copies of its own, also
of the classes by which its threads speak to each other, as these look into the modules that they are from.
"""


class WrongToken(AdapterGone):
    """A debugger has dialed in that shows another token, or none."""


class WritesRecords(Exception):
    """The connection is one for records, not that of a debugger; it begins with these bytes."""

    def __init__(self, received: bytes) -> None:
        super().__init__("a connection for records")
        self.received = received


class IncomingConnection:
    """A debugger inside a process that has dialed in and shown the token.

    Attributes:
        stream: the connection to it; the task that takes the caller closes it.
        received: bytes that came after its answers.
        is_engine: it is our engine.
        place: where it runs, if a relay carries it.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        pid: int,
        parent_pid: int,
        received: bytes = b"",
        *,
        is_engine: bool = False,
        place: str = "",
    ) -> None:
        self.place = place
        self.stream = stream
        self.pid = pid
        self.parent_pid = parent_pid
        self.received = received
        self.is_engine = is_engine

    def __repr__(self) -> str:
        return f"<Caller pid={self.pid} parent={self.parent_pid}>"


class WantsEngine(Exception):
    """The connection is one of a program that fetches our engine; it begins with these bytes."""

    def __init__(self, received: bytes) -> None:
        super().__init__("a connection for the engine")
        self.received = received


class IsRelay(Exception):
    """The connection is one of a relay; it begins with these bytes."""

    def __init__(self, received: bytes) -> None:
        super().__init__("a connection of a relay")
        self.received = received


async def admitted(stream: trio.abc.Stream, token: str) -> IncomingConnection:
    """Ask a caller for the token and who it is, and have its children dial in only while it is connected.

    The caller bounds the wait, and closes the stream if this raises.

    Raises:
        WritesRecords: it is a connection for records.
        WantsEngine: it is a connection for the engine's code.
        IsRelay: it is a connection of a relay.
        WrongToken: it does not know the token.
        AdapterGone: it has disconnected, or refuses to say who it is.
        ProtocolViolation: it does not speak DAP.
        trio.BrokenResourceError: the connection broke.
    """
    conversation = _Conversation(stream)
    authorization = await conversation.send("pydevdAuthorize", {"debugServerAccessToken": None})
    answer = await conversation.answer(authorization)
    shown = answer.get("clientAccessToken")
    if not isinstance(shown, str) or not secrets.compare_digest(_bytes(shown), _bytes(token)):
        raise WrongToken("it does not know the token")
    if "process" in answer:  # our engine says it at once, and its children need no shelter
        return IncomingConnection(stream, *_pids(answer), conversation.rest, is_engine=True)
    system = await conversation.send("pydevdSystemInfo", {})
    shelter = await conversation.send("evaluate", {"expression": untraced(SHELTER + KEEPER), "context": "repl"})
    pid, parent = _pids(await conversation.answer(system))
    try:
        await conversation.answer(shelter)
    except AdapterGone as refusal:
        log.warning("process %d: its children dial in for ever: %s", pid, refusal)
    return IncomingConnection(stream, pid, parent, conversation.rest)


async def release(stream: trio.abc.Stream, patience: Patience) -> None:
    """Let the process at the other end run on without a debugger, and close the connection. Bounded and shielded.

    Without `configurationDone` it would wait for ever, even once the connection is closed. The connection is closed
    when the debugger has read everything: bytes on their way are lost when a socket is closed with something unread.
    """
    requests = ("attach", "configurationDone", "disconnect")
    goodbye = b"".join(_request(number, command, {}) for number, command in enumerate(requests, 1_000_000_000))
    with trio.move_on_after(patience.seconds(RELEASE_SECONDS), shield=True):
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await stream.send_all(goodbye)
            if isinstance(stream, trio.abc.HalfCloseableStream):
                await stream.send_eof()
            while await stream.receive_some(_CHUNK_BYTES):
                pass
    with trio.CancelScope(shield=True):
        await trio.aclose_forcefully(stream)


class _Conversation:
    """Questions to a caller, before its stream is anybody's connection."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._decoder = FrameDecoder(max_body_bytes=MAX_ADMISSION_BYTES)
        self._frames: list[bytes] = []
        self._responses: dict[int, Response] = {}
        self._numbers = count(1)
        self._allowance = MAX_ADMISSION_BYTES

    @property
    def rest(self) -> bytes:
        """What came beside the answers, as bytes of the protocol."""
        return b"".join(encode_frame(frame) for frame in self._frames) + self._decoder.pending

    async def send(self, command: str, arguments: dict[str, Any]) -> int:
        """Send a request and return its number."""
        number = next(self._numbers)
        await self._stream.send_all(_request(number, command, arguments))
        return number

    async def answer(self, number: int) -> dict[str, Any]:
        """Wait for the response to a request, and return its body."""
        while number not in self._responses:
            data = bytes(await self._stream.receive_some(_CHUNK_BYTES))
            if not data:
                raise AdapterGone("it has disconnected")
            if self._allowance == MAX_ADMISSION_BYTES and data[: len(RECORDS)] == RECORDS[: len(data)]:
                raise WritesRecords(data)
            if self._allowance == MAX_ADMISSION_BYTES and data.startswith(FETCHES):
                raise WantsEngine(data)
            if self._allowance == MAX_ADMISSION_BYTES and data.startswith(RELAYS):
                raise IsRelay(data)
            acknowledge_at_once(self._stream)
            self._allowance -= len(data)
            if self._allowance < 0:
                raise ProtocolViolation("it talks without an end")
            for frame in self._decoder.feed(data):
                message = decode_message(frame)
                if isinstance(message, Response) and message.request_seq not in self._responses:
                    self._responses[message.request_seq] = message
                else:
                    self._frames.append(frame)
        response = self._responses[number]
        if not response.success:
            said = (response.message or "")[-MAX_SAID_CHARACTERS:]
            raise AdapterGone(f"it refused {response.command}: {said}")
        try:
            body = msgspec.json.decode(response.body) if response.body else None
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise ProtocolViolation(f"an answer without sense: {error}") from error
        return body if isinstance(body, dict) else {}


def _request(number: int, command: str, arguments: dict[str, Any]) -> bytes:
    request = {"seq": number, "type": "request", "command": command, "arguments": arguments}
    return encode_frame(msgspec.json.encode(request))


def _bytes(token: str) -> bytes:
    return token.encode("utf-8", "surrogatepass")


def _pids(answer: dict[str, Any]) -> tuple[int, int]:
    """Return the ids of a process and of its parent.

    Raises:
        AdapterGone: there is none.
    """
    process = answer.get("process")
    pid, parent = (_pid(process.get(name)) for name in ("pid", "ppid")) if isinstance(process, dict) else (0, 0)
    if not pid:
        raise AdapterGone("it does not say which process it is")
    return pid, parent


def _pid(value: object) -> int:
    """The value if it can be the id of a process, else 0."""
    return value if type(value) is int and 0 < value <= MAX_PID else 0
