"""What is thrown in Java: read by expressions, from its fields and by what it says of itself."""

from collections.abc import Generator, Mapping
from typing import TypeVar

from trio_debugmcp.dap.profiles.java.java_objects import causes, thrown_object
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame
from trio_debugmcp.dap.profiles.thrown import ThrownObject

Found = TypeVar("Found")


def looked(look: Generator[str, str | None, Found], values: Mapping[str, str]) -> Found:
    """Answer a look as the adapter does, which refuses what it does not know."""
    value = None
    while True:
        try:
            expression = look.send(value)
        except StopIteration as end:
            found: Found = end.value
            return found
        value = values.get(expression)


def trace(path: str, *frames: tuple[str, str, int]) -> dict[str, str]:
    """The values of a stack trace: classes with their methods, files and lines."""
    values = {f"{path}.getStackTrace().length": str(len(frames))}
    for index, (name, file, line) in enumerate(frames):
        kind, _, method = name.rpartition(".")
        fields = {"declaringClass": f'"{kind}"', "methodName": f'"{method}"', "fileName": f'"{file}"'}
        values |= {f"{path}.stackTrace[{index}].{field}": text for field, text in fields.items()}
        values[f"{path}.stackTrace[{index}].lineNumber"] = str(line)
    return values


def test_a_null_pointer_exception_is_asked_for_its_message_and_no_class_of_the_program_is() -> None:
    said = '"Cannot invoke "String.length()" because "box.label" is null"'
    values = {"$exception": "java.lang.NullPointerException@7", "$exception.getMessage()": said}
    null = thrown_object("java.lang.NullPointerException", ends=False)
    assert looked(null, values) == ThrownObject("java.lang.NullPointerException@7", said[1:-1])
    own = thrown_object("shop.Bad", ends=False)
    assert looked(own, {**values, "$exception": "shop.Bad@8"}) == ThrownObject("shop.Bad@8")
    old = thrown_object("java.lang.NullPointerException", ends=True)
    assert looked(old, {}) is None  # an adapter without `$exception`


def test_where_an_exception_was_made_is_the_first_frame_of_the_program() -> None:
    frames = [("java.lang.Integer.parseInt", "Integer.java", 668), ("shop.Till.read", "Till.java", 7)]
    values = {"$exception": "java.lang.NumberFormatException@9", **trace("$exception", *frames)}
    found = looked(thrown_object("java.lang.NumberFormatException", ends=True), values)
    assert found == ThrownObject("java.lang.NumberFormatException@9", None, ("shop.Till.read", 7), "Till.java")


def test_causes_have_their_frames_and_what_was_suppressed_stands_beside_them() -> None:
    cause, closing = "$exception.cause", "$exception.suppressedExceptions.elementData[0]"
    values = {
        "$exception": "shop.Bad@1",
        cause: "java.io.IOException@2",
        f"{cause}.detailMessage": '"disk"',
        f"{cause}.cause": "java.io.IOException@2",  # one that has none is its own
        "$exception.suppressedExceptions.size": "1",
        closing: "shop.Shut@3",
        f"{closing}.detailMessage": "null",
        f"{closing}.cause": "shop.Bad@1",
        **trace(cause, ("shop.Till.read", "Till.java", 7), ("java.lang.Thread.run", "Thread.java", 8)),
    }
    frames = (CrashFrame("shop.Till.read", "Till.java", 7), CrashFrame("java.lang.Thread.run", "Thread.java", 8, True))
    assert looked(causes(), values) == (
        Crash("java.io.IOException: disk", frames, way="cause"),
        Crash("shop.Shut", (), way="suppressed"),
    )
    assert looked(causes(), {}) == ()


def test_of_a_long_chain_as_many_are_looked_at_as_are_shown() -> None:
    paths = ["$exception" + ".cause" * index for index in range(30)]
    found = looked(causes(), {path: f"shop.Bad@{index}" for index, path in enumerate(paths)})
    depth = 0
    while found:
        (crash,), depth = found, depth + 1
        found = crash.inner
    assert depth == 20
