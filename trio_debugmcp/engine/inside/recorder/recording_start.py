"""How a recording begins and ends in this process.

    begin({"directory": "/tmp/run", "root": "/project", "include": [], "maxMb": 256}, home="")
    current().end("asked")

The files outlive the process: see `run_blocks`.
"""

import atexit
import posix
import sys
import time
from typing import Any

from trio_debugmcp.engine.inside.monitoring import NoToolError
from trio_debugmcp.engine.inside.recorder.recorded_codes import RunChoice
from trio_debugmcp.engine.inside.recorder.recording_tool import RecordingTool
from trio_debugmcp.engine.inside.recorder.run_output import RunOutput
from trio_debugmcp.engine.inside.recorder.run_recorder import RunRecorder

FORMAT = 1

MOST_MB = 256

_MEGABYTE = 1 << 20


class ProcessRecording:
    """The recording of this process."""

    def __init__(self, body: dict[str, Any], home: str, own_threads: Any, parent: Any = None) -> None:
        self.body = body
        self.home = home
        self._tool = RecordingTool()
        path = _own_directory(str(body["directory"]))
        self.directory = path
        self.output = RunOutput(path, int(body.get("maxMb") or MOST_MB) * _MEGABYTE)
        root = str(body.get("root") or posix.getcwd())
        fact: dict[str, Any] = {
            "run": FORMAT,
            "pid": posix.getpid(),
            "argv": sys.orig_argv,
            "python": "{}.{}.{}".format(*sys.version_info),
            "root": root,
            "time": time.time(),
        }
        self.output.fact(fact if parent is None else {**fact, "parent": parent})
        choice = RunChoice(root, [str(each) for each in body.get("include") or ()], home or "/")
        self.recorder = RunRecorder(self.output, choice, self._tool, own_threads)
        self.output.at_end = self._tool.close
        self._tool.open(self.recorder.callbacks())
        self.recorder.adopt()

    @property
    def rows(self) -> int:
        """The number of the last row."""
        return self.output.rows.next - 1

    def leave_out(self, own_threads: Any) -> None:
        """Record no threads of the debugger, as a set of their identifiers that changes."""
        self.recorder.own_threads = own_threads

    def leave_to_parent(self) -> None:
        """Write no more in a fork: the files are the parent's."""
        self.output.is_over = True
        self._tool.close()

    def end(self, how: str) -> None:
        """Write no more; `how` is a word for the facts."""
        self.output.end(how)


_now: list[ProcessRecording] = []


def current() -> ProcessRecording | None:
    """Return the recording of this process, or None."""
    return _now[0] if _now and not _now[0].output.is_over else None


def begin(body: dict[str, Any], home: str = "", own_threads: Any = frozenset()) -> ProcessRecording:
    """Begin to record this process, but for threads of the debugger, as a set of their identifiers that changes.

    Raises:
        OSError: the directory cannot be written.
        NoToolError: other tools use all numbers of sys.monitoring.
    """
    made = ProcessRecording(body, home, own_threads)
    if not _now:
        atexit.register(_at_exit)
        posix.register_at_fork(after_in_child=_in_child)
    _now[:] = [made]
    return made


def _at_exit() -> None:
    if _now:
        _now[0].end("exit")


def _in_child() -> None:
    """A fork has a record of its own, which begins with nothing known."""
    known = current()
    if known is None:
        return
    known.leave_to_parent()
    parent = [posix.getppid(), known.rows]
    try:
        # A thread of the program may get the identifier that one of the debugger had in the parent.
        _now[:] = [ProcessRecording(known.body, known.home, frozenset(), parent)]
    except (OSError, NoToolError):
        return


def _own_directory(run: str) -> str:
    """Make the directory of this process in that of the run."""
    for number in range(10_000):
        path = f"{run}/p-{posix.getpid()}-{number}"
        try:
            posix.mkdir(path, 0o700)
        except FileExistsError:
            continue
        return path
    raise OSError(f"there are too many recordings in {run}")
