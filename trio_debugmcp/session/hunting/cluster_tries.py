"""`ClusterTries`: tries of a hunt on the workers of Dask or Ray.

    async with open_cluster(ClusterRequest("dask", address, parallel=4, pythons=(python,)), home, watchdog) as tries:
        answer = await tries.run(wanted, directory)

The cluster's client runs in a process of its own, in a Python that has it: the program's, or this server's. It is
imported nowhere else, and this package does not depend on it. What a worker is sent is text, and a record comes back as
one file.
"""

import marshal
import re
import sys
import zipfile
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from trio_debugmcp.dap.process import Program, Watchdog, environment, open_process
from trio_debugmcp.engine import carrier
from trio_debugmcp.errors import CannotRun, UsageError, leaf
from trio_debugmcp.session.hunting.local_tries import KEEPER, checked_answer

CLIENT = Path(__file__).parent / "cluster_client.py"
"""The program that is the client of a cluster."""

MOST_RECORD_BYTES = 64_000_000
"""Of a record that comes back from a worker, packed: some hundred megabytes of rows."""

MOST_UNPACKED_BYTES = 1_000_000_000
"""Of that record. A file whose size would exceed it is left out."""

_START_SECONDS = 60.0
"""For a cluster of our own to start, or for one that is there to be reached."""

_CHUNK_BYTES = 64 * 1024

_RECORD_FILE = re.compile(r"p-\d+-\d+/\w[\w.-]*")

_PACKAGES = {"dask": "distributed", "ray": "ray"}


class ClusterRequest(Struct, frozen=True):
    """A cluster that tries are to run on.

    Attributes:
        engine: `dask` or `ray`.
        address: of one that is there; None: one is made, and ends with the hunt.
        parallel: tries at once, at most.
        pythons: the interpreters of which one has its client, the first first.
    """

    engine: str
    address: str | None
    parallel: int
    pythons: tuple[str, ...] = (sys.executable,)


class ClusterTries:
    """Tries on workers. Made by `open_cluster`.

    Attributes:
        slots: how many at once.
        problems: what workers have said beside their answers.
    """

    def __init__(self, engine: str, client: Program, slots: int) -> None:
        self.slots = slots
        self.problems: dict[str, None] = {}
        self._engine, self._client = engine, client
        self._code = _packed_code()
        self._keeper = KEEPER.read_text(encoding="utf-8")
        self._numbers = count(1)
        self._waiting: dict[int, tuple[trio.Event, list[dict[str, Any]]]] = {}
        self._lines = trio.Lock()
        self._is_gone = False

    def __repr__(self) -> str:
        return f"<ClusterTries of {self._engine}, {self.slots} at once>"

    async def run(self, wanted: Mapping[str, Any], directory: str) -> dict[str, Any]:
        """Run one try on a worker, and put its record into the directory. Cancelling does not wait for the worker.

        Raises:
            UsageError: `LAUNCH_FAILED`: it cannot be run there.
        """
        number, done, answers = next(self._numbers), trio.Event(), list[dict[str, Any]]()
        bring = f"{directory}/record.zip"
        line = msgspec.json.encode(
            {
                **wanted,
                "number": number,
                "bring": bring,
                "code": self._code,
                "keeper": self._keeper,
                "mostBytes": MOST_RECORD_BYTES,
            }
        )
        self._waiting[number] = done, answers
        try:
            if self._client.stdin is None:
                raise AssertionError("the process was opened with pipes")
            async with self._lines:
                await self._client.stdin.send_all(line + b"\n")
            if not self._is_gone:
                await done.wait()
        except trio.BrokenResourceError:
            self._is_gone = True
        finally:
            del self._waiting[number]
        if not answers:
            sentence = f"The client of {self._engine} has ended. Look whether the cluster lives, and call again."
            raise UsageError("LAUNCH_FAILED", sentence)
        answer = checked_answer(answers[0])
        if answer.get("problem"):
            self.problems[answer["problem"]] = None
        if Path(bring).is_file():
            await trio.to_thread.run_sync(unpack_record, bring, f"{directory}/run")
        return answer

    async def take_answers(self, read: "LineReader") -> None:
        """Take what the client writes, until it ends."""
        while (message := await read.line()) is not None:
            waiting = self._waiting.get(message["number"])
            if waiting is not None:
                waiting[1].append(message["answer"])
                waiting[0].set()
        self._is_gone = True
        for done, _ in self._waiting.values():
            done.set()


class LineReader:
    """The lines that a client writes, each one JSON object."""

    def __init__(self, pipe: trio.abc.ReceiveStream) -> None:
        self._pipe = pipe
        self._data = bytearray()

    async def line(self) -> dict[str, Any] | None:
        """Return the next line; None at the end."""
        while b"\n" not in self._data:
            data = await self._pipe.receive_some(_CHUNK_BYTES)
            if not data:
                return None
            self._data += data
        line, _, rest = self._data.partition(b"\n")
        self._data = rest
        message: dict[str, Any] = msgspec.json.decode(line)
        return message


def unpack_record(packed: str, run: str) -> None:
    """Put the files of a record where they belong; a worker may send anything, so only such are taken."""
    left = MOST_UNPACKED_BYTES
    with suppress(zipfile.BadZipFile, zlib.error), zipfile.ZipFile(packed) as archive:
        for item in archive.infolist():
            left -= item.file_size
            if _RECORD_FILE.fullmatch(item.filename) and left >= 0:
                target = Path(run, item.filename)
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                target.write_bytes(archive.read(item))
    Path(packed).unlink()


@contextmanager
def out_of_groups() -> Iterator[None]:
    """Raise the refusal of a try, which ends the hunt, as it is: a nursery puts it into a group."""
    try:
        yield
    except BaseExceptionGroup as group:
        refused, others = group.split(UsageError)
        if refused is None or others is not None:
            raise
        refusal: Any = leaf(refused)
        raise UsageError(refusal.code, refusal.message, refusal.details) from None


@asynccontextmanager
async def open_cluster(request: ClusterRequest, home: Path, watchdog: Watchdog) -> AsyncIterator[ClusterTries]:
    """Reach a cluster, or make one, for the length of the block.

    Resource handling: at the end of the block the client has left the cluster, which ends the tries under way; one
    that was made for it has ended.

    Raises:
        UsageError: `NOT_SUPPORTED`: its package is not installed; or `LAUNCH_FAILED`: it is not reached.
    """
    for python in dict.fromkeys(request.pythons):
        words = [request.engine, request.address or "-", str(request.parallel), str(home)]
        try:
            async with open_process([python, str(CLIENT), *words], watchdog, cwd="/", env=environment({})) as client:
                message, read = await _first_message(client, request, watchdog)
                if "missing" in message:
                    continue
                tries = ClusterTries(request.engine, client, int(message["slots"]))
                with out_of_groups():
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(_drained, client.stderr)
                        nursery.start_soon(tries.take_answers, read)
                        yield tries
                        nursery.cancel_scope.cancel(reason="the hunt is over")
                return
        except CannotRun:
            continue
    package, python = _PACKAGES[request.engine], request.pythons[0]
    raise UsageError(
        "NOT_SUPPORTED",
        f"engine='{request.engine}' needs the package {package}, which {' and '.join(dict.fromkeys(request.pythons))} "
        f"do not have: {python} -m pip install {package}. Or leave out `engine`.",
        {"capability": request.engine},
    )


async def _first_message(
    client: trio.Process, request: ClusterRequest, watchdog: Watchdog
) -> tuple[dict[str, Any], LineReader]:
    if client.stdout is None or client.stderr is None:
        raise AssertionError("the process was opened with pipes")
    read, message = LineReader(client.stdout), None
    seconds = watchdog.patience.seconds(_START_SECONDS)
    with trio.move_on_after(seconds):
        message = await read.line()
    if message is not None and "failed" not in message:
        return message, read
    where = f"at {request.address}" if request.address else "on this machine"
    reason = f"it took more than {seconds:g} s" if message is None else message["failed"]
    raise UsageError(
        "LAUNCH_FAILED",
        f"No {request.engine.capitalize()} cluster is reached {where}: {reason.rstrip('.')}. Start one there, or leave "
        "out `address`, and one is made for this hunt.",
    )


async def _drained(pipe: trio.abc.ReceiveStream | None) -> None:
    while pipe is not None and await pipe.receive_some(_CHUNK_BYTES):
        pass


def _packed_code() -> str:
    """Return the code that is brought in, for a machine that has not the files of this one."""
    return b64encode(zlib.compress(marshal.dumps(carrier.sources(), 2))).decode()
