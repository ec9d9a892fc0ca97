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

from trio_debugmcp.engine.inside.recorder.recorded_codes import RunChoice
from trio_debugmcp.engine.inside.recorder.recording_tool import RecordingTool
from trio_debugmcp.engine.inside.recorder.run_output import RunOutput
from trio_debugmcp.engine.inside.recorder.run_recorder import RunRecorder

FORMAT = 1

MOST_MB = 256

_MEGABYTE = 1 << 20


class ProcessRecording:
    """The recording of this process."""

    def __init__(self, body: dict[str, Any], home: str, parent: Any = None) -> None:
        self.body = body
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
        self.recorder = RunRecorder(self.output, choice, self._tool)
        self.output.at_end = self._tool.close
        self._tool.open(self.recorder.callbacks())

    def end(self, how: str) -> None:
        """Write no more; `how` is a word for the facts."""
        self.output.end(how)


_now: list[ProcessRecording] = []


def current() -> ProcessRecording | None:
    """Return the recording of this process, or None."""
    return _now[0] if _now and not _now[0].output.is_over else None


def begin(body: dict[str, Any], home: str = "") -> ProcessRecording:
    """Begin to record this process.

    Raises:
        OSError: the directory cannot be written.
        NoToolError: other tools use all numbers of sys.monitoring.
    """
    made = ProcessRecording(body, home)
    if not _now:
        atexit.register(_at_exit)
    _now[:] = [made]
    return made


def _at_exit() -> None:
    if _now:
        _now[0].end("exit")


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
