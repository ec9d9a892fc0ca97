"""The parent: imports everything, then forks a process for every relay that connects; see the package."""

import gc
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NoReturn

import anyio._backends._trio  # noqa: F401
import mcp
import mcp.server.streamable_http_manager  # noqa: F401

import trio_debugmcp.app
import trio_debugmcp.cli
import trio_debugmcp.client
import trio_debugmcp.dap.profiles.python.debugpy
import trio_debugmcp.listen
import trio_debugmcp.server.server
import trio_debugmcp.transports.http
import trio_debugmcp.transports.port
import trio_debugmcp.transports.stdio
from tests import measured
from trio_debugmcp.probe import bootstrap
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.transports.pages import Pages


class Parent:
    """One loop: forks a process for a relay, reports its end, and kills it if the relay disconnects."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._relays: dict[int, socket.socket] = {}
        self._notes: dict[int, Path] = {}
        self._selector = selectors.DefaultSelector()
        self._child_ended, tell = socket.socketpair()
        tell.setblocking(False)
        self._child_ended.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(tell.fileno())
        self._tell = tell
        for source in (sys.stdin.buffer, listener, self._child_ended):
            self._selector.register(source, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve relays until the test process has ended."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is sys.stdin.buffer:
                    return
                if key.fileobj is self._listener:
                    self._fork(*self._listener.accept())
                elif key.fileobj is self._child_ended:
                    self._child_ended.recv(4096)
                elif isinstance(key.data, int) and key.data in self._relays:
                    os.kill(key.data, signal.SIGKILL)
                    self._forget(key.data)
            self._reap()

    def kill(self) -> None:
        """Kill every process that is left."""
        for process in self._relays:
            os.kill(process, signal.SIGKILL)

    def _fork(self, relay: socket.socket, address: object) -> None:
        size, streams, _, _ = socket.recv_fds(relay, 4, 3)
        wanted = relay.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        if not wanted:  # the relay was killed meanwhile
            relay.close()
            return
        number, *what = json.loads(wanted)
        note = Path(f"{self._listener.getsockname()}-{number}")
        process = os.fork()
        if process == 0:
            note.write_text(str(os.getpid()))  # before it answers anything
            for inherited in (self._listener, self._child_ended, self._tell, relay, *self._relays.values()):
                inherited.close()
            self._selector.close()
            become(streams, *what)
        for stream in streams:
            os.close(stream)
        self._relays[process], self._notes[process] = relay, note
        self._selector.register(relay, selectors.EVENT_READ, process)
        with suppress(BrokenPipeError):
            relay.sendall(process.to_bytes(4, "big"))

    def _reap(self) -> None:
        while self._relays:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            if process in self._relays:
                self._forget(process, os.waitstatus_to_exitcode(status))

    def _forget(self, process: int, code: int | None = None) -> None:
        relay = self._relays.pop(process)
        self._notes.pop(process).unlink(missing_ok=True)  # as another process may have the number then
        self._selector.unregister(relay)
        if code is not None:
            with suppress(BrokenPipeError):
                relay.sendall(code.to_bytes(4, "big", signed=True))
        relay.close()


def become(
    streams: Sequence[int], module: str, arguments: list[str], directory: str, environment: dict[str, str]
) -> NoReturn:
    """In the fork: run the module with these streams and arguments, and exit."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        # Those of this process may have been files, which have a position that is asked for; these may be pipes.
        sys.stdout, sys.stderr = (os.fdopen(number, "w", 1, closefd=False) for number in (1, 2))
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv[1:] = arguments
        measured.start()
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as wish:
        code = wish.code if isinstance(wish.code, int) else int(wish.code is not None)
        if not isinstance(wish.code, int | None):
            print(wish.code, file=sys.stderr)  # noqa: T201
    except (Exception, KeyboardInterrupt):  # noqa: BLE001
        traceback.print_exc()
    finally:
        measured.stop()
        for text in (sys.stdout, sys.stderr):
            with suppress(ValueError, OSError):  # closed, or the reader is gone
                text.flush()
        os._exit(code)


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    directory = Path(listener.getsockname()).parent
    open_toolbox().listed()  # which imports every tool, and makes the list
    for command in iter_modules(trio_debugmcp.cli.__path__, "trio_debugmcp.cli."):
        import_module(command.name)
    bootstrap.install_expression()  # which reads the probe
    Pages()  # which puts the page together
    gc.freeze()  # so that the garbage collectors of the forks do not copy shared pages
    parent = Parent(listener)
    try:
        parent.run()
    finally:
        parent.kill()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
