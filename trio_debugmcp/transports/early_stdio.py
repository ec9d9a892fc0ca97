"""Standard input and output while the server is imported: a thread that reads, and answers what can be answered.

    early = EarlyStdio(EarlyAnswers(core_only=True).answer)
    early.start()
    ...    # import the server
    async with open_stdio(early.hand_over()) as (incoming, outgoing): ...

What it has read is given to the server, as if it came only then, and the server's own answers to what is answered are
not sent. So the server is in the state that it would be in without this. Imports no SDK and no Trio.
"""

import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from trio_debugmcp.transports.line_splitter import LineSplitter

_CHUNK_BYTES = 64 * 1024

_MAX_BYTES = 1024 * 1024
"""Of what is read before the server is there; the client keeps the rest."""


class EarlyAnswer(Struct, frozen=True):
    """The answer to a request: the request's id, and a line without its end."""

    id: int | str
    text: bytes


class Handover(Struct, frozen=True):
    """What was read before the server was there, all of it, and which of the requests in it are answered."""

    received: bytes = b""
    answers: tuple[EarlyAnswer, ...] = ()


class EarlyStdio:
    """Serves the standard streams from `start` to `hand_over`.

    Args:
        answer: the answer to a line; None leaves it to the server. Called in the thread; imports nothing.
    """

    def __init__(self, answer: Callable[[bytes], EarlyAnswer | None]) -> None:
        self._answer = answer
        self._received = bytearray()
        self._answers: list[EarlyAnswer] = []
        self._thread = threading.Thread(target=self._serve, name="early stdio", daemon=True)
        self._stop_read, self._stop_write = os.pipe()

    def __repr__(self) -> str:
        return f"<EarlyStdio: {len(self._answers)} answers>"

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def hand_over(self) -> Handover:
        """Stop reading, and return what the server must know. The thread has ended."""
        os.close(self._stop_write)
        self._thread.join()
        os.close(self._stop_read)
        return Handover(bytes(self._received), tuple(self._answers))

    def _serve(self) -> None:
        lines = LineSplitter()
        with suppress(OSError, ValueError):  # a stream is closed, or its other end: the server will see that, too
            while len(self._received) < _MAX_BYTES:
                ready, _, _ = select.select([0, self._stop_read], [], [])
                data = b"" if self._stop_read in ready else os.read(0, _CHUNK_BYTES)
                if not data:
                    return
                self._received += data
                for line in lines.feed(data):
                    answer = None if line is None else self._answer(line)
                    if answer is not None:
                        self._answers.append(answer)
                        self._write(answer.text + b"\n")

    def _write(self, data: bytes) -> None:
        while data:
            select.select([], [1], [])  # another process that has it may have made it non-blocking
            with suppress(BlockingIOError):
                data = data[os.write(1, data) :]
