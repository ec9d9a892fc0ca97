"""What a program has printed of exceptions, in any language. Pure."""

from msgspec import Struct


class CrashFrame(Struct, frozen=True):
    """A frame that an exception passed."""

    function: str
    file: str
    line: int
    is_library: bool = False
    text: str | None = None
    """Its source line, where that is known."""


class Crash(Struct, frozen=True):
    """An exception that a program has printed: `ValueError: …`, and its frames, innermost first.

    Attributes:
        way: from the one that it stands behind: `cause`, `context` or `member` (of a group).
        notes: lines below its message: notes that were added to it, or the rest of the message.
        members: how many exceptions a group has, shown or not.
        inner: what is directly behind it.
    """

    exception: str
    frames: tuple[CrashFrame, ...]
    way: str | None = None
    notes: tuple[str, ...] = ()
    members: int = 0
    inner: tuple["Crash", ...] = ()


class Survived(Struct, frozen=True):
    """An exception that a program has printed and did not end by, `where` it was, and the frame that raised it.

    Without an `exception` it is something else that was left behind: a task that was still pending at the end.
    """

    exception: str | None
    where: str
    frame: CrashFrame | None = None


class PrintedExceptions(Struct, frozen=True):
    """What a program has printed of exceptions: the one that ended it, as far as that is known, and others.

    `unseen`: why the debugger takes the one that ended it for one that is caught, and does not stop at it.
    `by_line`: only a breakpoint on the line that raised it stops there.
    `of_debugger`: that the debugger itself has failed, in a sentence: then no exception of the program ended it.
    """

    crash: Crash | None = None
    survived: tuple[Survived, ...] = ()
    unseen: str | None = None
    by_line: bool = False
    of_debugger: str | None = None
