"""A panic of Rust, from the stack where its runtime begins to unwind and from what the program has written. Pure.

`rust_panic` is the function that the standard library keeps for debuggers: it is called once the message is written,
and before anything is unwound, whatever will catch the panic. Since Rust 1.89 its name is `__rustc::rust_panic`.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from trio_debugmcp.dap.profiles.thrown import ThrownDescription

PANIC = "panic"
"""The type of every panic: what is thrown may be of any, and is hardly ever looked at."""

_CALLS = re.compile(r"(^|::)rust_panic$")

_PASSED_ON = re.compile(r"(^|::)(resume_unwind|rust_panic_without_hook)\b")
"""What raises once more what was caught, and writes nothing."""

_CATCHES = re.compile(r"\bpanicking::(catch_unwind|try)\b")

_BEGINS = re.compile(r"\b__rust_begin_short_backtrace\b|\blang_start\b")
"""The runtime's last function before the program's own, of `main`, a thread and a test; what is further out catches
every panic, to end the program, the thread or the test."""

_NOTICE = re.compile(
    r"thread '(?P<thread>[^'\n]*)' (?:\(\d+\) )?panicked at "
    r"(?:'(?P<old>(?:(?!thread ')[^\0])*?)', (?P<at>[^\n]+?:\d+:\d+)$"  # before Rust 1.73
    r"|(?P<place>[^\n]+?:\d+:\d+):\n(?P<message>[^\0]*?)(?=\nnote: |\nstack backtrace:|\n?\Z|\n\n?thread '))",
    re.MULTILINE,
)


class PanicFrame(NamedTuple):
    """A frame of a stack: its function, and its place as far as it has a source."""

    function: str
    file: str | None = None
    line: int | None = None


def is_panic(function: str) -> bool:
    """Whether this is the function by which the runtime raises a panic."""
    return _CALLS.search(function) is not None


def is_decided(functions: Iterable[str]) -> bool:
    """Whether so much of a stack shows if anything of the program's catches a panic."""
    return any(_CATCHES.search(function) or _BEGINS.search(function) for function in functions)


def panic(frames: Sequence[PanicFrame], output: str) -> ThrownDescription:
    """Describe a panic, `output` being the last that the program wrote; without a mode if it is only passed on."""
    functions = [frame.function for frame in frames]
    if any(_PASSED_ON.search(function) for function in functions[:4]):
        return ThrownDescription(PANIC)
    first = next((function for function in functions if _CATCHES.search(function) or _BEGINS.search(function)), "")
    mode = "always" if _CATCHES.search(first) else "unhandled"
    return ThrownDescription(PANIC, _notice(frames, output.replace("\r\n", "\n")), (PANIC,), mode)


def _notice(frames: Sequence[PanicFrame], output: str) -> str | None:
    """What the program has written about it: the last that names a place of the stack, as others may have panicked."""
    places = {(frame.file.rpartition("/")[2], frame.line) for frame in frames if frame.file is not None}
    for found in reversed(list(_NOTICE.finditer(output))):
        place = found["place"] or found["at"]
        file, line, _ = place.rsplit(":", 2)
        if (re.split(r"[/\\]", file)[-1], int(line)) in places or not any(line for _, line in places):
            message = found["message"] if found["old"] is None else found["old"]
            return f"thread '{found['thread']}' panicked at {place}: {message}".removesuffix(": ")
    return None
