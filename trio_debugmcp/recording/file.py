"""`RecordingFile`: entries on their way to the disk. It never waits and never raises once it has begun.

Owns the file, the thread that writes it, and the bounds: whatever goes wrong with the recording (the file reaches its
largest size, the disk is full or too slow, a bug in the recorder) ends the recording and not the session.

    file = RecordingFile("bug.jsonl", redactor)
    file.begin(header, trio.current_time())                 # `t` is 0 here
    file.add(lambda t: SessionEndEntry(t=t, session="s-1"))
    file.end()
"""

import logging
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import trio

from trio_debugmcp.recording.format import (
    MAX_MESSAGE_BYTES,
    AdapterEntry,
    EndEntry,
    Header,
    McpEntry,
    RecordingEntry,
    encode_line,
    envelope,
    one_line,
)
from trio_debugmcp.recording.redact import Redactor

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 256 * 1024 * 1024
"""Bytes of a recording: some hours of an agent's work, and still a file that can be mailed or attached to an issue."""

WARNED_AT = 0.8
"""The part of the largest size from which on a warning has been logged: there is time to end the session, or to begin
another recording."""

MAX_WAITING_BYTES = 32 * 1024 * 1024
"""Bytes of lines that wait for the disk; one that is further behind does not catch up."""

CLOSE_SECONDS = 2.0
"""For the rest to be written at the end."""

MAX_BATCH_LINES = 1000
"""Written with one system call, when many wait."""


class RecordingFile:
    """A new recording, from its header to its last line.

    Args:
        path: of the file to make; only its owner may read it.
        redactor: takes secrets out of every line.
        max_bytes: the largest size of the file.

    Raises:
        FileExistsError: there is such a file already; it is not touched.
        OSError: the file cannot be made.
    """

    def __init__(self, path: str | Path, redactor: Redactor, *, max_bytes: int = MAX_FILE_BYTES) -> None:
        self._redactor = redactor
        self._max_bytes = self._room = max_bytes
        self._warn_below = round(max_bytes * (1 - WARNED_AT))
        self._start: float | None = None
        self._last = 0.0
        self._over = False
        self._writer = _WriterThread(str(path))

    def __repr__(self) -> str:
        return f"<RecordingFile {self._writer.path}{' over' if self._over else ''}>"

    def begin(self, header: Header, start: float) -> None:
        """Write the header. The time of every entry counts from `start`, a time of Trio's clock."""
        self._start = start
        self._write(header)

    def add(self, make: Callable[[float], RecordingEntry]) -> None:
        """Write the entry that `make` returns for the time `t`, unless the recording is over."""
        if self._over:
            return
        try:
            self._write(make(self._now()))
        except Exception:  # a fault of the recorder must not reach the session that it records
            log.exception("recording")
            self._stop("the recorder failed")

    def with_message(self, text: bytes, make: Callable[..., RecordingEntry]) -> RecordingEntry:
        """Make the entry for a JSON message, with `msg`, and with `cut` if only the envelope fits.

        Raises:
            NotJson: the text is not JSON.
        """
        if len(text) <= MAX_MESSAGE_BYTES:
            return make(msg=msgspec.Raw(self._redactor.message(one_line(text))))
        return make(msg=msgspec.Raw(self._redactor.message(envelope(text))), cut=len(text))

    def end(self) -> None:
        """Write the last line and close the file, within bounds. A file that was never begun is deleted."""
        if self._start is None:
            self._writer.discard()
            return
        if not self._over:
            self._write(EndEntry(t=self._last, reason="the server ended"))
        self._over = True
        self._writer.close()

    def _now(self) -> float:
        if self._start is None:
            raise AssertionError("the recording has not begun")
        self._last = round(trio.current_time() - self._start, 6)
        return self._last

    def _write(self, line: Header | RecordingEntry) -> None:
        text = encode_line(line)
        if not isinstance(line, AdapterEntry | McpEntry):  # `with_message` has cleaned these
            text = self._redactor.line(text)
        if self._writer.failure is not None:  # found out by the thread, which has logged it
            self._over = True
        elif len(text) > self._room:
            self._stop("the file has reached its largest size")
        elif self._writer.waiting > MAX_WAITING_BYTES:
            self._stop("the disk does not keep pace")
        else:
            self._room -= len(text)
            self._writer.write(text)
            if self._room < self._warn_below:
                self._warn_below = 0
                log.warning("recording to %s ends soon: %s", self._writer.path, self._fill())

    def _fill(self) -> str:
        return f"{self._room / 2**20:.1f} of {self._max_bytes / 2**20:.0f} MiB are left. The debug session continues"

    def _stop(self, reason: str) -> None:
        self._over = True
        log.warning("recording to %s has ended: %s", self._writer.path, reason)
        # Past all bounds, and without the redactor, which may be what failed: the line holds no text of the session.
        self._writer.write(encode_line(EndEntry(t=self._last, reason=reason, complete=False)))


class _WriterThread:
    """Takes lines from the event loop's thread and writes them to a new file, so that no disk can delay the debugger.

    Whole lines, each batch with one write to the end of the file: a server that is killed leaves at most one torn line.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.failure: str | None = None
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        # One counter for each thread: each is written by one thread only, so that no lock is needed.
        self._put = self._taken = 0
        self._thread = threading.Thread(target=self._write_all, name="recording", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Bytes that are not written yet."""
        return self._put - self._taken

    def write(self, line: bytes) -> None:
        self._put += len(line)
        self._lines.put(line)

    def close(self) -> None:
        """Have the rest written, within bounds, and close the file."""
        self._lines.put(None)
        self._thread.join(CLOSE_SECONDS)

    def discard(self) -> None:
        """Close the file and delete it."""
        self.close()
        with suppress(OSError):
            os.unlink(self.path)

    def _write_all(self) -> None:
        open_ = True
        while open_:
            batch = [self._lines.get()]
            while len(batch) < MAX_BATCH_LINES and not self._lines.empty():
                batch.append(self._lines.get())
            open_ = batch[-1] is not None
            data = b"".join(line for line in batch if line is not None)
            if self.failure is None:
                self._write(data)
            self._taken += len(data)
        os.close(self._file)

    def _write(self, data: bytes) -> None:
        try:
            while data:  # a full disk takes a part, and refuses the rest
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.failure = error.strerror or str(error)
            log.warning("recording to %s has ended: %s", self.path, self.failure)
