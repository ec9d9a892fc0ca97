"""What node prints of an exception that ends a program. Pure.

    printed_in(stderr).crash      # Crash("TypeError: bad 2", frames, inner=(Crash("RangeError: inner", way="cause"),))

It prints the place with its source line, the exception with its stack, what is inside of it in braces (the cause
indented under `[cause]:`), and its own version:

    /src/app.js:14
      throw new TypeError("bad " + n, { cause });
      ^

    TypeError: bad 2
        at fail (/src/app.js:14:9) {
      [cause]: RangeError: inner
          at fail (/src/app.js:13:17)
    }

    Node.js v20.20.2
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote

from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame, PrintedExceptions

_END = re.compile(r"^Node\.js v\d+\S*\s*$", re.MULTILINE)

_POINTER = re.compile(r"^[ \t]*\^+[ \t]*\n+", re.MULTILINE)
"""The line below the source line, with a mark where in it the exception was thrown."""

_FRAME = re.compile(
    r"^\s*at (?:async )?(?:(?P<function>.+?) \()?"
    r"(?P<file>(?:file://)?/[^()]*?|node:[^()]*?):(?P<line>\d+):\d+\)?,?(?: \{)?$"
)

_OF_MODULE = re.compile(r"^\s*at (?:async )?(?:.+ \()?file://|^\s*at ModuleJob\.run ")
"""A frame of an ES module: those of other files have a path."""

_CAUGHT_BY_NODE = "node itself catches what an ES module throws while it is loaded"

_NAMED = re.compile(r"^([\w$.]+) \[\w*Error\](?=:|$)")
"""A class whose errors do not have its name: `Sold [Error]: none left`."""

_CAUSE = re.compile(r"^\s*\[(?P<way>cause|errors)\]: (?P<text>.*)$")

_PRIMITIVE = "(Use `node --trace-uncaught"


def printed_in(stderr: str) -> PrintedExceptions:
    """Return the exception by which a program of node has ended, in what it has printed."""
    ends = list(_END.finditer(stderr))
    if not ends:
        return PrintedExceptions()
    text = stderr[: ends[-1].start()]
    pointers = list(_POINTER.finditer(text))
    if not pointers:
        return PrintedExceptions()
    lines = text[pointers[-1].end() :].rstrip().splitlines()
    if not lines:
        return PrintedExceptions()
    of_module = any(_OF_MODULE.match(line) for line in lines)
    crash = _with_place(_crash(lines, None), text[: pointers[-1].start()])
    return PrintedExceptions(crash, unseen=_CAUGHT_BY_NODE if of_module else None)


def frames_in(stack: str) -> tuple[CrashFrame, ...]:
    """Return the frames in the text of a stack, innermost first."""
    return tuple(_frame(found) for line in stack.splitlines() if (found := _FRAME.match(line)) is not None)


def _crash(lines: Sequence[str], way: str | None) -> Crash:
    """Return the exception that these lines begin with."""
    cause = next((number for number, line in enumerate(lines) if number and _CAUSE.match(line)), len(lines))
    head = list(lines[:cause])
    text = []
    for line in head:
        if _FRAME.match(line) or line.startswith(_PRIMITIVE):
            break
        text.append(line)
    inner: tuple[Crash, ...] = ()
    found = _CAUSE.match(lines[cause]) if cause < len(lines) else None
    if found is not None and found["way"] == "cause":
        inner = (_crash([found["text"], *lines[cause + 1 :]], "cause"),)
    message = _NAMED.sub(r"\1", "\n".join(text).strip().removesuffix(" {"))
    return Crash(message, frames_in("\n".join(head)), way=way, inner=inner)


def _with_place(crash: Crash, before: str) -> Crash:
    """Add the place above the mark to an exception that has no frame there: `throw 42`, or a file that is not valid."""
    lines = before.rstrip("\n").splitlines()
    found = re.match(r"(?P<file>(?:file://)?/.*|node:.*):(?P<line>\d+)$", lines[-2]) if len(lines) > 1 else None
    if found is None or any(not frame.is_library for frame in crash.frames):
        return crash
    file = _path(found["file"])
    if _is_library(file):
        return crash
    frame = CrashFrame("<anonymous>", file, int(found["line"]), _is_library(file), lines[-1].strip())
    return Crash(crash.exception, (frame, *crash.frames), inner=crash.inner)


def _frame(found: re.Match[str]) -> CrashFrame:
    file = _path(found["file"])
    function = (found["function"] or "<anonymous>").removeprefix("new ").removeprefix("Object.")
    return CrashFrame(function, file, int(found["line"]), _is_library(file))


def _path(file: str) -> str:
    return unquote(file.removeprefix("file://")) if file.startswith("file://") else file


def _is_library(file: str) -> bool:
    return file.startswith("node:") or "/node_modules/" in file
