"""A watchdog process that kills what the server leaves behind, even if the server is killed with SIGKILL.

`Watchdog` runs watchdog_process.py as a script and sends it through a pipe which process sessions to watch. When the
pipe ends, because the server closed it or died, the script kills every process of the sessions that are still on its
list. A process session (`setsid`) contains an adapter or a debuggee with all its children, whatever process groups
they make for themselves.

    watchdog = Watchdog()
    watchdog.watch(process.pid)  # the process was started with start_new_session=True
    ...
    watchdog.forget(process.pid)
    watchdog.close()
"""

import subprocess
import sys
from contextlib import suppress

from trio_debugmcp.dap import watchdog_process
from trio_debugmcp.patience import USUAL, Patience

_CLOSE_SECONDS = 2.0
"""For the script to kill what is left and to exit; its sweeps take a second at most."""


class Watchdog:
    """The server's end: starts the watchdog process with the first process session that it is to watch.

    Attributes:
        patience: with the processes that it watches, when they are to listen or to end.
    """

    def __init__(self, patience: Patience = USUAL) -> None:
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: set[int] = set()

    def __repr__(self) -> str:
        return f"<dap.Watchdog pid={self.pid}, watching {len(self._watched)} process sessions>"

    @property
    def pid(self) -> int | None:
        """The id of the watchdog process, which may have been killed; None if there is no need for one yet."""
        return None if self._process is None else self._process.pid

    def watch(self, sid: int) -> None:
        """Have process session `sid` killed if this process ends before `forget`."""
        self._watched.add(sid)
        # A watchdog that was killed is replaced, and the new one gets the whole list.
        if not self._send(f"+{sid}\n"):
            self._start()

    def forget(self, sid: int) -> None:
        """Stop watching process session `sid`, which has ended."""
        self._watched.discard(sid)
        self._send(f"-{sid}\n")

    def close(self) -> None:
        """End the watchdog process; it kills what is still watched."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self.patience.seconds(_CLOSE_SECONDS))
            self._process = None

    def _start(self) -> None:
        self.close()
        # Popen without preexec_fn is a vfork and an exec: some milliseconds, once per server.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog_process.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        self._send("".join(f"+{sid}\n" for sid in sorted(self._watched)))

    def _send(self, commands: str) -> bool:
        """Write a few bytes to an empty pipe, which does not block; False if no watchdog is running."""
        if self._process is None or self._process.stdin is None:
            return False
        try:
            self._process.stdin.write(commands.encode())
            self._process.stdin.flush()
        except OSError:
            return False
        return True
