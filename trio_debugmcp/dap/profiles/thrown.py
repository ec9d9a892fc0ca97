"""`Thrown`: what an adapter's stop at an exception or a signal is about, where its messages do not say it. Pure.

Looking at it takes evaluations in the top frame. A look is a generator that yields expressions, is sent their values
(None for one that failed), and returns what it has found; so no look runs anything itself.

    look = thrown.exception()
    expression = next(look)
    expression = look.send(value)       # until StopIteration, whose value is a `ThrownDescription` or None
"""

import re
from collections.abc import Generator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from msgspec import Struct

from trio_debugmcp.dap.messages import Stopped
from trio_debugmcp.dap.profiles.printed_exceptions import Crash

SIGNAL = re.compile(r"signal (SIG\w+)(?:: (.*))?", re.DOTALL)
"""How lldb's adapters describe a stop at a signal: `signal SIGSEGV: address not mapped`."""


class ThrowingFrame(Struct, frozen=True):
    """A frame of the stack in which an exception is thrown: its function, as the adapter names it, and where it is."""

    function: str
    line: int
    is_user_code: bool


class ThrownDescription(Struct, frozen=True):
    """An exception or a signal. `lineage`: the type and its ancestors, most derived first; `mode`: its break mode.

    `passed`: how many were raised before it at which the program was not stopped, by their types.
    """

    type: str
    message: str | None = None
    lineage: tuple[str, ...] = ()
    mode: str | None = None
    passed: Mapping[str, int] = MappingProxyType({})


class ThrownObject(Struct, frozen=True):
    """The object that is thrown, where it is one that can be looked at.

    Attributes:
        identity: what tells it from all other objects while it is thrown.
        message: what it says, if that is not among what the adapter says of it.
        made: the function and the line of the program's code in which it was made; `made_in` is that line's file.
    """

    identity: str
    message: str | None = None
    made: tuple[str, int] | None = None
    made_in: str | None = None


Look = Generator[str, str | None, ThrownDescription | None]


class Thrown:
    """The defaults know nothing: what the adapter says of an exception is all there is.

    `reads_types`: exceptions are looked at; where that fails their type is unknown, and any may be meant.
    `reports_once`: one that nothing catches is only reported as such, and not where it is thrown before that.
    """

    reports_once: ClassVar[bool] = False

    raised_in: tuple[str, ...] = ()
    """Functions that raise exceptions for which the adapter has no filter: a stop there is about one."""

    raised_if: Mapping[str, str] = MappingProxyType({})
    """Of these functions, those that count only under a condition, which the adapter judges."""

    fails_in: ClassVar[str | None] = None
    """The function in which a test fails, of a runner that raises nothing for it."""

    panics_in: ClassVar[str | None] = None
    """The function that raises what ends a test, whose runner then calls `fails_in` and raises it again."""

    reads_types: ClassVar[bool] = False

    knows_handlers: ClassVar[bool] = False
    """Whether the program's files say what an exception is derived from, and what handles it."""

    thrown_by: Mapping[str, str] = MappingProxyType({})
    """By the suffixes of languages whose exceptions the adapter does not know: the function that raises each."""

    without_breakpoints: ClassVar[str] = ""
    """Where an adapter without exception breakpoints stops all the same: the end of a sentence about these."""

    def signal(self, stopped: Stopped) -> str | None:
        """The name of the signal that a stop is about, empty if the adapter does not name it; None if it is not."""
        if stopped.reason != "exception":
            return None
        found = SIGNAL.match(stopped.description or stopped.text or "")
        return found[1] if found else None

    def ends_in(self, stopped: Stopped, signal: str, output: str) -> Look:
        """Look at a signal that would end the program; `output` is the last that the program wrote."""
        found = SIGNAL.match(stopped.description or stopped.text or "")
        yield from ()
        return ThrownDescription(signal or "signal", found[2] if found else stopped.description)

    def types_beside(self, name: str, files: Sequence[str], directories: Sequence[str]) -> Sequence[str] | None:
        """The types in these files and directories; None if this name stands there: a library's, for example."""
        return ()

    def raises(self, function: str) -> bool:
        """Whether this function of the runtime raises exceptions, so that a stop there is about one."""
        return False

    def is_panic(self, function: str) -> bool:
        """Whether this is one of `raised_in`, so that a stop there is about a panic of Rust."""
        return False

    def ending(self, function: str) -> Look:
        """Look at the error for which this function, one of `raised_in`, ends the program; None of another one."""
        return nothing()

    def is_skipped(self, file: str) -> bool:
        """Whether the adapter passes over what is caught and raised in this file of a library, or is late to do so."""
        return False

    def is_again(self, function: str) -> bool:
        """Whether a stop in this function is about an exception that was raised before, and is passed on."""
        return False

    def fails_test(self, kind: str, frames: Sequence[ThrowingFrame], class_path: str) -> bool:
        """Whether an exception ends the test in which it is thrown, as nothing handles it before the runner does."""
        return False

    def lineage(self, kind: str, class_path: str) -> Sequence[str]:
        """The type of an exception and those that it is derived from, by the class files of the program."""
        return (kind,)

    def exception(self) -> Look:
        """Look at the exception that is being raised."""
        return nothing()

    def may_be(self, wanted: str, shown: str) -> bool:
        """Whether an exception that could not be looked at may be of this type; `shown`: what the adapter calls it."""
        return True

    def object(self, kind: str, *, ends: bool) -> Generator[str, str | None, ThrownObject | None]:
        """Look at the object that is thrown at a stop; `ends`: nothing catches it, or a test fails by it."""
        return nothing()

    def behind(self) -> Generator[str, str | None, tuple[Crash, ...]] | None:
        """Look at what is behind the exception at a stop: its causes, and the members of a group.

        None if it is what the adapter says of inner exceptions.
        """
        return None


def nothing() -> Generator[str, str | None, None]:
    """A look that finds nothing."""
    yield from ()
    return None
