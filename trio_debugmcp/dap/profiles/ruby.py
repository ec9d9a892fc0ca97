"""Ruby: what an exception is derived from, and how its interpreter prints those that end a program.

    printed_in(stderr).crash      # Crash("OutOfStock: no plum", frames)

The exception is in the line of its innermost frame, and behind it are the others, and what it was raised from:

    shop.rb:5:in `price': no plum (OutOfStock)
            from shop.rb:14:in `<main>'
    shop.rb:3:in `find': key not found (KeyError)
            from shop.rb:5:in `price'

rdbg runs in the program and ends it where it fails itself: then the frames are those of its gem.
"""

import re
from typing import ClassVar

from trio_debugmcp.dap.profiles.language import JudgedExpressions, LanguagePrograms
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame, PrintedExceptions

_AT = r"(?P<file>[^\s:][^:\n]*):(?P<line>\d+):in [`'](?P<function>[^'\n]*)'"

_HEAD = re.compile(rf"{_AT}: (?P<message>.*) \((?P<kind>[A-Z][\w:]*)\)$")

_FRAME = re.compile(rf"\t+(?:\s*\d+: )?from {_AT}$")

_UNSEEN = "rdbg stops at none by itself"

_GEM = re.compile(r"/debug-(?P<version>[\d.]+)/lib/debug/")
"""Where the sources of rdbg are."""

_SECOND_STOP = "already in subsession"
"""What rdbg 1.4 says of a second stop when it has not left the first one."""


class RubyExpressions(JudgedExpressions):
    """Expressions of Ruby, in which rdbg gives the exception at a stop a name."""

    tells_lineage: ClassVar[bool] = True

    def lineage(self, kind: str) -> str | None:
        return '_raised.class.ancestors.join(" ")'


class RubyPrograms(LanguagePrograms):
    """What they have printed of the exception that ended them."""

    def printed_in(self, stderr: str) -> PrintedExceptions:
        crash: Crash | None = None
        own = None
        before = ""
        for line in stderr.splitlines():
            head, frame = _HEAD.match(line), _FRAME.match(line)
            if head is not None and _GEM.search(head["file"]) is not None:
                own = head if own is None or head["message"] == _SECOND_STOP else own
            elif head is not None and (crash is None or not before.startswith("\tfrom ")):
                crash = Crash(f"{head['kind']}: {head['message']}", (_frame(head),))
            elif head is not None and crash is not None:
                cause = Crash(f"{head['kind']}: {head['message']}", (_frame(head),), way="cause")
                crash = Crash(crash.exception, crash.frames, inner=(*crash.inner, cause))
            elif frame is not None and crash is not None and not crash.inner:
                crash = Crash(crash.exception, (*crash.frames, _frame(frame)))
            before = line
        if own is not None:
            return PrintedExceptions(of_debugger=_of_debugger(own))
        return PrintedExceptions(crash, unseen=_UNSEEN)


def _frame(found: re.Match[str]) -> CrashFrame:
    return CrashFrame(found["function"], found["file"], int(found["line"]))


def _of_debugger(failure: re.Match[str]) -> str:
    message, gem = failure["message"], _GEM.search(failure["file"])
    hint = ". A program with several threads may bring that about" if message == _SECOND_STOP else ""
    return f"rdbg {gem['version'] if gem else ''} itself has failed, and not the program: {message}{hint}"
