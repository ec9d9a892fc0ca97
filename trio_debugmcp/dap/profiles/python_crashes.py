"""What a Python program has printed when an exception ended it. Pure.

    crash_in(stderr)      # Crash("KeyError: 'jam'", frames)

Only the places of the frames are known then: their values have gone with the program.
"""

import re

from trio_debugmcp.dap.profiles.language import Crash, CrashFrame

_TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\):\n"
    r'(?P<frames>(?:  File ".*", line \d+(?:, in .*)?\n(?: {4}.*\n|  \[Previous line repeated .*\n)*)+)'
    r"(?P<exception>[\w.]+(?:: .*|))$",
    re.MULTILINE,
)
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+), in (?P<name>.*)$', re.MULTILINE)
_DEBUGGER = re.compile(r"[/\\]debugpy[/\\]|[/\\]runpy\.py$|^<frozen runpy>$|^<runner>$")
"""Files of frames that are there because the program is debugged."""

_LIBRARY = re.compile(r"[/\\](?:site-packages|lib[/\\]python3\.\d+)[/\\]|^<frozen ")

_SURVIVED = re.compile(r"(?:Exception in thread |Exception ignored |future: <).*\n\Z")
"""Lines before tracebacks that do not end the program."""


def crash_in(stderr: str) -> Crash | None:
    """Return what the last traceback says; None if there is none, or it is of an exception that ended a thread only."""
    found = None
    for each in _TRACEBACK.finditer(stderr):
        if not _SURVIVED.search(stderr[: each.start()]):
            found = each
    if found is None:
        return None
    frames = [
        CrashFrame(frame["name"], frame["file"], int(frame["line"]), _LIBRARY.search(frame["file"]) is not None)
        for frame in _FRAME.finditer(found["frames"])
        if not _DEBUGGER.search(frame["file"])
    ]
    return Crash(found["exception"], tuple(reversed(frames)))
