"""Whether an exception of Java fails the test that it is thrown in: whether anything handles it before JUnit does.

    JavaThrown().fails_test("java.lang.IllegalStateException", frames, "/app/classes:/lib/junit.jar")

For the virtual machine all that a test throws is caught: by JUnit. So each method of the stack is looked up in its
class file, which says what it handles in which lines.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import ClassVar

from trio_debugmcp.dap.profiles.java.class_files import ClassFile, Handler
from trio_debugmcp.dap.profiles.java.java_classes import JavaClasses
from trio_debugmcp.dap.profiles.java.java_objects import causes, thrown_object
from trio_debugmcp.dap.profiles.printed_exceptions import Crash
from trio_debugmcp.dap.profiles.thrown import ThrowingFrame, Thrown, ThrownObject

_RUNNERS = (
    *("org.junit.platform.", "org.junit.jupiter.engine.", "org.junit.runner.", "org.junit.runners."),
    *("org.junit.internal.runners.", "org.junit.rules.", "junit.framework."),
)
"""Packages of what runs tests: all that it catches it passes on, or reports as a failure of the test."""

_EXPECTING = ("org.junit.internal.runners.statements.ExpectException.", "org.junit.rules.ExpectedException$")
"""Beginnings of functions of runners that may expect an exception, and only then are on the stack."""

_REFLECTION = ("java.lang.reflect.", "jdk.internal.reflect.")
"""Packages through which methods are called: what these throw is caught, and thrown anew as another exception."""

_SKIPPING = frozenset(
    {
        *("org.opentest4j.TestAbortedException", "org.opentest4j.TestSkippedException"),
        "org.junit.AssumptionViolatedException",
        "org.junit.internal.AssumptionViolatedException",
    }
)
"""Exceptions that end a test which has not failed, with their subtypes."""


class JavaThrown(Thrown):
    """What is known of exceptions by the class files of the program."""

    knows_handlers: ClassVar[bool] = True

    def lineage(self, kind: str, class_path: str) -> Sequence[str]:
        return JavaClasses(class_path).lineage(kind)

    def object(self, kind: str, *, ends: bool) -> Generator[str, str | None, ThrownObject | None]:
        return thrown_object(kind, ends=ends)

    def behind(self) -> Generator[str, str | None, tuple[Crash, ...]]:
        return causes()

    def fails_test(self, kind: str, frames: Sequence[ThrowingFrame], class_path: str) -> bool:
        users = [index for index, frame in enumerate(frames) if frame.is_user_code and not _is_own(frame)]
        below = frames[users[-1] + 1 :] if users else []
        if not any(frame.function.startswith(_RUNNERS) for frame in below):
            return False
        if any(frame.function.startswith(_EXPECTING) for frame in frames):
            return False
        classes = JavaClasses(class_path)
        lineage = classes.lineage(kind)
        if not _SKIPPING.isdisjoint(lineage):
            return False
        within = frames[: users[-1] + 1]
        return not any(_handles(frames, index, lineage, classes) for index in range(len(within)))


def _is_own(frame: ThrowingFrame) -> bool:
    """Whether a frame is of the small programs that run a test for us."""
    return frame.function.startswith(("RunJUnit4.", "RunJUnit5."))


def _handles(frames: Sequence[ThrowingFrame], index: int, lineage: Sequence[str], classes: JavaClasses) -> bool:
    """Whether a frame handles an exception that leaves the one above it, or is thrown in it."""
    frame = frames[index]
    if frame.function.startswith(_RUNNERS):
        return False
    if frame.function.startswith(_REFLECTION):
        caller = next((each for each in frames[index:] if not each.function.startswith(_REFLECTION)), None)
        return index > 0 and caller is not None and not caller.function.startswith(_RUNNERS)
    name, _, method = frame.function.rpartition(".")
    found = classes.find(name.removesuffix("."))  # as of `a.Box.<init>`
    return found is not None and any(_catches(each, lineage) for each in _handlers(found, method, frame.line))


def _handlers(found: ClassFile, method: str, line: int) -> Iterator[Handler]:
    return (handler for handler in found.handlers if handler.method == method and line in handler.lines)


def _catches(handler: Handler, lineage: Sequence[str]) -> bool:
    """Whether a handler ends an exception: `finally` and what closes a resource throw it further."""
    if handler.catches is None or handler.closes:
        return False
    is_known = lineage[-1] == "java.lang.Object"
    return handler.catches in lineage or not is_known
