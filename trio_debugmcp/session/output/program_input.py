"""`ProgramInput`: the standard input of a program, as clients write to it."""

import trio

from trio_debugmcp.errors import UsageError
from trio_debugmcp.patience import Patience

_WRITE_SECONDS = 5.0
"""For the program to take its input; a pipe holds 64 KiB before the writer has to wait."""

_PIECE_BYTES = 4096
"""Written at once: if the program stops reading, this is how exactly the error knows what it has taken."""


class ProgramInput:
    """The input of one program; closed until there is a pipe to it. What two clients write is not mixed."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._pipe: trio.abc.SendStream | None = None
        self._writing = trio.Lock()

    def __repr__(self) -> str:
        return f"<ProgramInput {'closed' if self._pipe is None else repr(self._pipe)}>"

    def connect(self, pipe: trio.abc.SendStream) -> None:
        """Write input to this pipe from now on."""
        self._pipe = pipe

    def disconnect(self) -> None:
        """Refuse input from now on: the program has ended."""
        self._pipe = None

    async def write(self, data: str, *, close_after: bool) -> int:
        """Write to the program's standard input; returns the number of bytes written.

        Raises:
            UsageError: `STDIN_CLOSED` if there is no input to write to, `TIMEOUT` if the program does not read it.
        """
        pipe, encoded = self._pipe, data.encode()
        if pipe is None:
            raise UsageError(
                "STDIN_CLOSED",
                "The program's standard input is not open: it was closed, the program has ended, or it was attached "
                "to. Launch the program with debug_launch to write to its input.",
            )
        written, seconds = 0, self._patience.seconds(_WRITE_SECONDS)
        try:
            with trio.fail_after(seconds):
                async with self._writing:
                    while written < len(encoded):
                        await pipe.send_all(encoded[written : written + _PIECE_BYTES])
                        written += len(encoded[written : written + _PIECE_BYTES])
        except trio.TooSlowError:
            raise UsageError(
                "TIMEOUT",
                f"The program did not read its input within {seconds:g} s: it took {written} of {len(encoded)} "
                "bytes. It may be paused: continue it, then write the rest.",
                {"bytesWritten": written},
            ) from None
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._pipe = None
            raise UsageError(
                "STDIN_CLOSED", "The program has closed its standard input.", {"bytesWritten": written}
            ) from None
        if close_after:
            self._pipe = None
            await pipe.aclose()
        return len(encoded)
