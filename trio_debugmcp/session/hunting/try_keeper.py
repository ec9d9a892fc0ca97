"""Runs one try of a hunt, and ends all that it has started: a program of the standard library, on Python 3.8 and newer.

    echo '{"command": ["python", "shop.py"], "cwd": "/src", "directory": "/tmp/try-1", …}' | python try_keeper.py

The first line of standard input says what is run, as one JSON object; the rest stays open. At its end, which is also
that of the process that has started this, the try is over. One JSON object comes back: how the program ended, and the
last that it wrote. What it leaves running is ended, daemons too where the system lets this process be their parent.
"""

import base64
import ctypes
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
import zlib
from contextlib import suppress
from typing import Any

KEPT_BYTES = 16384
"""Of each stream, its end."""

ROUNDS = 200
"""How often is looked for what is left: a program that forks faster than this ends it would else keep this busy."""

BETWEEN_SECONDS = 0.02

PR_SET_CHILD_SUBREAPER = 36

GROUPS: Any = []
"""The process group of the program."""


def main() -> None:
    """Run the try that standard input names, in a child of this process.

    What ends a server that was killed ends this process session, and the program is in it. The child, the keeper, has
    left it by then, and ends what else there is.
    """
    keeper = os.fork()
    if keeper:
        os.waitpid(keeper, 0)
        os._exit(0)
    wanted = json.loads(read_line(0))
    adopt_orphans()
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        answer = run(wanted, woken)
    except EOFError:
        end_all()
        shutil.rmtree(wanted["directory"], ignore_errors=True)  # whose directory it is may have been killed
        os._exit(1)
    finally:
        end_all()
    with suppress(OSError):  # the server has gone
        os.write(1, (json.dumps(answer) + "\n").encode())
    os._exit(0)


def read_line(descriptor: int) -> bytes:
    """Read a line without reading on, as the end of the rest has a meaning."""
    parts: Any = []
    while not parts or not parts[-1].endswith(b"\n"):
        part = os.read(descriptor, 65536)
        if not part:
            sys.exit(1)
        parts.append(part)
    return b"".join(parts)


def adopt_orphans() -> None:
    """Have what loses its parents become a child of this process, where the system can do that."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):  # not Linux
        return


def run(wanted: Any, woken: int) -> Any:
    """Run the program until it ends, or the time is over.

    Raises:
        EOFError: standard input is over, so the answer is not wanted any more.
    """
    env = {name: value for name, value in {**os.environ, **wanted["env"]}.items() if value is not None}
    home = write_start(wanted)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [home, env.get("PYTHONPATH", "")]))
    begun = time.monotonic()
    try:
        child = subprocess.Popen(
            wanted["command"],
            cwd=wanted["cwd"],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=os.setpgrp,  # noqa: PLW1509 (it has one thread)
        )
    except (OSError, ValueError) as error:
        return {"refused": f"{getattr(error, 'strerror', None) or error}: {getattr(error, 'filename', '') or ''}"}
    GROUPS.append(child.pid)
    os.setsid()
    streams = Streams(child, wanted.get("stdin") or "")
    ended = streams.follow(woken, begun + wanted["seconds"])
    return {
        "exitCode": ended,
        "timedOut": ended is None,
        "seconds": time.monotonic() - begun,
        "stdout": streams.text(child.stdout),
        "stderr": streams.text(child.stderr),
        "leftOut": streams.left_out,
        "areSet": os.path.exists(f"{home}/are_set"),
    }


def write_start(wanted: Any) -> str:
    """Write what the program executes first, and what that needs; return the directory that it is in."""
    directory, given = wanted["directory"], wanted["given"]
    home = f"{directory}/home"
    os.mkdir(home, 0o700)
    given["home"] = home
    if "code" in wanted:  # on a machine that has not the files of the server
        sources = f"{directory}/sources"
        write(sources, zlib.decompress(base64.b64decode(wanted["code"])))
        given.update(sources=sources, blobs=wanted.get("cache") or directory)
    if given["record"] is not None:
        given["record"]["directory"] = f"{directory}/run"
        os.mkdir(f"{directory}/run", 0o700)
    write(f"{home}/sitecustomize.py", wanted["start"].replace("PARAMETERS", repr(given)).encode())
    return home


def write(path: str, data: bytes) -> None:
    """Write a file that only this user may read."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


class Streams:
    """The streams of a program: its input is written, and the end of what it writes is kept."""

    def __init__(self, child: Any, text: str) -> None:
        self.child = child
        self.left_out = 0
        self._input = memoryview(text.encode())
        self._kept = {child.stdout: bytearray(), child.stderr: bytearray()}
        self._selector = selectors.DefaultSelector()
        for pipe in self._kept:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ)
        if self._input:
            os.set_blocking(child.stdin.fileno(), False)
            self._selector.register(child.stdin, selectors.EVENT_WRITE)
        else:
            child.stdin.close()

    def follow(self, woken: int, deadline: float) -> Any:
        """Return with what code the program ended; None if the time was over before.

        Raises:
            EOFError: standard input is over.
        """
        self._selector.register(woken, selectors.EVENT_READ)
        self._selector.register(0, selectors.EVENT_READ)
        while self.child.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            for key, _ in self._selector.select(min(left, 1.0)):
                if key.fileobj == 0:
                    if not os.read(0, 4096):
                        raise EOFError
                elif key.fileobj == woken:
                    os.read(woken, 4096)
                elif key.fileobj is self.child.stdin:
                    self._write()
                else:
                    self._read(key.fileobj)
        for pipe in self._kept:  # what it wrote last; of others that have the pipe, too, nothing is waited for
            while pipe in self._selector.get_map() and self._read(pipe):
                pass
        return None if self.child.returncode is None else int(self.child.returncode)

    def _write(self) -> None:
        try:
            self._input = self._input[os.write(self.child.stdin.fileno(), self._input[:65536]) :]
        except BrokenPipeError:
            self._input = self._input[:0]
        if not self._input:
            self._selector.unregister(self.child.stdin)
            self.child.stdin.close()

    def _read(self, pipe: Any) -> bool:
        try:
            data = os.read(pipe.fileno(), 65536)
        except BlockingIOError:
            return False
        kept = self._kept[pipe]
        kept += data
        too_many = max(0, len(kept) - KEPT_BYTES)
        self.left_out += too_many
        del kept[:too_many]
        if not data:
            self._selector.unregister(pipe)
        return bool(data)

    def text(self, pipe: Any) -> str:
        """Return what is kept of a stream."""
        return self._kept[pipe].decode(errors="replace")


def end_all() -> None:
    """End every process that has come of the try, and take note of their ends."""
    for _ in range(ROUNDS):
        found = offspring()
        for pid in found:
            with suppress(OSError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
        reap()
        if not found:
            return
        time.sleep(BETWEEN_SECONDS)


def reap() -> None:
    """Take note of the children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def offspring() -> Any:
    """Return what lives of this process's children, and of theirs, or is in the program's process group."""
    mine = os.getpid()
    living = [(pid, fields) for pid, fields in processes() if fields[0] != "Z" and pid != mine]
    found = {pid for pid, fields in living if int(fields[2]) in GROUPS}
    while True:
        more = {pid for pid, fields in living if int(fields[1]) == mine or int(fields[1]) in found} - found
        if not more:
            return found
        found |= more


def processes() -> Any:
    """Yield each process of this machine, and what the system says of it: state, parent, group."""
    if os.path.isdir("/proc/self"):
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        yield int(name), file.read().rpartition(b")")[2].decode().split()[:3]
                except (OSError, ValueError):
                    continue
        return
    listed = subprocess.run(["ps", "-axo", "pid=,stat=,ppid=,pgid="], capture_output=True, text=True, check=False)
    for line in listed.stdout.splitlines():
        pid, *fields = line.split()
        yield int(pid), [fields[0][0], fields[1], fields[2]]


if __name__ == "__main__":
    main()
