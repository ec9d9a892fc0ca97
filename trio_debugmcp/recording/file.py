"""The recording's file on its way to the disk: a thread of its own writes it, so that no disk can delay the debugger.

Whole lines, each batch with one write to the end of the file. A server that is killed leaves at most one torn line, and
loses what was said in its last instant. A file that cannot be written any more ends the recording, not the session.
"""

import logging
import os
import queue
import threading
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

MAX_WAITING_BYTES = 32 * 1024 * 1024
"""Of lines that wait for the disk; a disk that is further behind does not catch up."""

CLOSE_SECONDS = 2.0
"""For the rest to be written at the end."""

MAX_BATCH_LINES = 1000
"""Written at once, when many wait."""


class Journal:
    """Lines go in from one thread, the event loop's, and never wait.

    Raises:
        FileExistsError: there is such a file already; it is not touched.
        OSError: it cannot be made.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.failure: str | None = None
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._put = self._taken = 0
        self._thread = threading.Thread(target=self._write_all, name="recording", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Bytes that are not written yet."""
        return self._put - self._taken

    def write(self, line: bytes) -> None:
        """Have a line written."""
        self._put += len(line)
        self._lines.put(line)

    def close(self) -> None:
        """Have the rest written, within bounds, and close the file."""
        self._lines.put(None)
        self._thread.join(CLOSE_SECONDS)

    def discard(self) -> None:
        """Close the file, which nobody will miss, and delete it."""
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
