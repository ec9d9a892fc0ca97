"""Standard input and output while the server is imported: a thread that reads, and answers what can be answered.

    early = EarlyStdio(EarlyAnswers(core_only=True).answer)
    early.start()
    ...    # import a part of the server
    early.add(answers_that_this_part_can_give)
    ...    # import the rest
    async with open_stdio(early.hand_over()) as (incoming, outgoing): ...

What it has read is given to the server, as if it came only then, and the server's own answers to what is answered are
not sent. So the server is in the state that it would be in without this. Imports no SDK and no Trio.
"""

import os
import select
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec import Struct

from trio_debugmcp.transports.line_splitter import LineSplitter

_CHUNK_BYTES = 64 * 1024

_MAX_BYTES = 1024 * 1024
"""Of what is read before the server is there; the client keeps the rest."""


_PIECE_BYTES = 512
"""Of one write: as much as a pipe that is ready takes without blocking (POSIX, PIPE_BUF)."""


class EarlyAnswer(Struct, frozen=True):
    """The answer to a request: the request's id, and a line without its end."""

    id: int | str
    text: bytes


class Handover(Struct, frozen=True):
    """What was read before the server was there, all of it, and which of the requests in it are answered."""

    received: bytes = b""
    answers: tuple[EarlyAnswer, ...] = ()

    unsent: bytes = b""
    """The end of the answers, perhaps from within a line, which the client has not taken yet."""

    ended: bool = False
    """Whether the client closed its end. A pipe says so to each read, a terminal (Ctrl-D) to one only."""


class EarlyStdio:
    """Serves the standard streams from `start` to `hand_over`.

    Args:
        answer: the answer to a line; None leaves it to the server. Called in the thread; imports nothing.
    """

    def __init__(self, answer: Callable[[bytes], EarlyAnswer | None]) -> None:
        self._answer = answer
        self._received = bytearray()
        self._answers: list[EarlyAnswer] = []
        self._unsent = b""
        self._ended = False
        self._thread = threading.Thread(target=self._serve, name="early stdio", daemon=True)
        self._stop_read, self._stop_write = os.pipe()
        self._late_read, self._late_write = os.pipe()
        self._late: list[EarlyAnswer] = []

    def __repr__(self) -> str:
        return f"<EarlyStdio: {len(self._answers)} answers>"

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def add(self, answers: Sequence[EarlyAnswer]) -> None:
        """Give answers to requests that could not be answered as they came."""
        if answers:
            self._late += answers
            os.write(self._late_write, b".")

    def hand_over(self) -> Handover:
        """Stop reading, and return what the server must know. The thread has ended.

        A client that does not read its answers does not hold this up: what it has not got is sent by the server.
        """
        os.close(self._stop_write)
        self._thread.join()
        for descriptor in (self._stop_read, self._late_read, self._late_write):
            os.close(descriptor)
        return Handover(bytes(self._received), tuple(self._answers), bytes(self._unsent), self._ended)

    def _serve(self) -> None:
        lines = LineSplitter()
        with suppress(OSError, ValueError):  # a stream is closed, or its other end: the server will see that, too
            while len(self._received) < _MAX_BYTES:
                ready, _, _ = select.select([0, self._stop_read, self._late_read], [], [])
                if self._late_read in ready:
                    os.read(self._late_read, 1)
                    late, self._late = self._late, []
                    self._send(late)
                if self._stop_read in ready:
                    return
                if 0 not in ready:
                    continue
                data = os.read(0, _CHUNK_BYTES)
                if not data:
                    self._ended = True
                    return
                self._received += data
                for line in lines.feed(data):
                    answer = None if line is None else self._answer(line)
                    self._send([] if answer is None else [answer])

    def _send(self, answers: Sequence[EarlyAnswer]) -> None:
        for answer in answers:
            self._answers.append(answer)
            self._unsent += answer.text + b"\n"
            self._write()

    def _write(self) -> None:
        """Write what is unsent, until the server takes over."""
        while self._unsent:
            stopped, ready, _ = select.select([self._stop_read], [1], [])
            if not ready and stopped:
                return
            with suppress(BlockingIOError):  # another process that has it may have made it non-blocking
                self._unsent = self._unsent[os.write(1, self._unsent[:_PIECE_BYTES]) :]
