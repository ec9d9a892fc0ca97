"""An exception of Java fails a test where nothing on the stack handles it, as the class files say."""

import os
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.java.class_files import Handler, class_file
from trio_debugmcp.dap.profiles.java.java_classes import JavaClasses
from trio_debugmcp.dap.profiles.java.java_thrown import JavaThrown
from trio_debugmcp.dap.profiles.thrown import ThrowingFrame

OBJECT, THROWABLE, BAD, WORSE = "java.lang.Object", "java.lang.Throwable", "shop.Bad", "shop.Worse"

RUNNER = ("org.junit.platform.commons.util.ReflectionUtils.invokeMethod", 727, False)

CALLED = [("jdk.internal.reflect.Accessor.invoke", 43, False), ("java.lang.reflect.Method.invoke", 569, False), RUNNER]


def made(name: str, above: str = OBJECT, catches: str | None = None, *, closes: bool = False) -> bytes:
    """A class file with a method `run` whose line 5 is handled, and line 4 before and 6 behind it are not.

    `catches`: a type, or `finally`. `closes`: the handler adds what closing raises.
    """
    kind = catches if catches not in (None, "finally") else OBJECT
    texts = [each.replace(".", "/") for each in (name, above, kind or "", "run", "()V", "Code", "LineNumberTable")]
    constants = b"".join(struct.pack(">BH", 1, len(text)) + text.encode() for text in [*texts, "addSuppressed"])
    constants += b"".join(struct.pack(">BH", 7, number) for number in (1, 2, 3))  # 9 to 11: classes
    constants += struct.pack(">BHH", 12, 8, 5) + struct.pack(">BHH", 10, 10, 12)  # 13: Throwable.addSuppressed
    code = b"\0\0\0\xb1" + (struct.pack(">BH", 0xB6, 13) if closes else b"\0\0\0") + b"\xbf"
    caught = [] if catches is None else [struct.pack(">4H", 1, 2, 4, 0 if catches == "finally" else 11)]
    lines = b"".join(struct.pack(">HH", start, line) for start, line in ((0, 4), (1, 5), (2, 6)))
    body = struct.pack(">HHI", 1, 1, len(code)) + code + struct.pack(">H", len(caught)) + b"".join(caught)
    body += struct.pack(">HHIH", 1, 7, 2 + len(lines), 3) + lines
    method = struct.pack(">HHHHHI", 1, 4, 5, 1, 6, len(body)) + body
    head = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 52, 14) + constants
    return head + struct.pack(">HHHHHH", 1, 9, 10, 0, 0, 1) + method + struct.pack(">H", 0)


@pytest.fixture
def classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class path with two exceptions, one of which extends the other, and no virtual machine."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, above in ((BAD, THROWABLE), (WORSE, BAD), (THROWABLE, OBJECT)):
        add(tmp_path, name, made(name, above))
    return tmp_path


def add(root: Path, name: str, data: bytes) -> None:
    file = root / f"{name.replace('.', '/')}.class"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def fails(root: Path, frames: Sequence[tuple[str, int, bool]], kind: str = WORSE) -> bool:
    return JavaThrown().fails_test(kind, [ThrowingFrame(*frame) for frame in frames], str(root))


def test_a_class_file_says_what_it_handles_and_in_which_lines() -> None:
    found = class_file(made("shop.Till", "shop.Desk", BAD))
    assert (found.above, found.handlers) == ("shop.Desk", (Handler("run", frozenset({5}), BAD),))
    assert class_file(made("shop.Till", catches=THROWABLE, closes=True)).handlers[0].closes
    assert class_file(made("shop.Till", catches="finally")).handlers[0].catches is None


@pytest.mark.parametrize(
    ("catches", "closes", "line", "fatal"),
    [
        (None, False, 5, True),
        (WORSE, False, 5, False),
        (BAD, False, 5, False),
        (BAD, False, 4, True),
        (BAD, False, 6, True),
        ("shop.Other", False, 5, True),
        ("finally", False, 5, True),
        (THROWABLE, True, 5, True),
        (THROWABLE, False, 5, False),
    ],
)
def test_an_exception_fails_a_test_unless_its_line_is_in_a_handler_of_its_type(
    classes: Path, catches: str | None, closes: bool, line: int, fatal: bool
) -> None:
    add(classes, "shop.Till", made("shop.Till", catches=catches, closes=closes))
    add(classes, "shop.ShopTest", made("shop.ShopTest"))
    assert fails(classes, [("shop.Till.run", line, True), ("shop.ShopTest.run", 4, True), *CALLED]) is fatal


def test_a_library_between_the_users_functions_handles_it_and_the_runner_below_does_not(classes: Path) -> None:
    with zipfile.ZipFile(classes / "lib.jar", "w") as jar:
        jar.writestr("lib/Guard.class", made("lib.Guard", catches=THROWABLE))
    path = os.pathsep.join([str(classes), str(classes / "lib.jar")])
    inner, guard, outer = ("shop.ShopTest.inner", 9, True), ("lib.Guard.run", 5, False), ("shop.ShopTest.run", 5, True)
    frames = [[inner, guard, outer, *CALLED], [inner, outer, *CALLED, guard]]
    verdicts = [JavaThrown().fails_test(BAD, [ThrowingFrame(*each) for each in one], path) for one in frames]
    assert verdicts == [False, True]


def test_what_a_reflective_call_of_the_user_throws_is_thrown_anew_by_that(classes: Path) -> None:
    inner, outer = ("shop.ShopTest.inner", 9, True), ("shop.ShopTest.run", 5, True)
    assert not fails(classes, [inner, *CALLED[:2], outer, *CALLED])
    assert fails(classes, [inner, *CALLED, outer, *CALLED])  # of an extension around the test


@pytest.mark.parametrize(
    ("frames", "kind"),
    [
        ([("shop.Till.run", 4, True)], BAD),  # in a thread without a test
        ([("java.util.Spliterator.next", 4, False), *CALLED], BAD),  # of the runner's own
        ([("java.util.Spliterator.next", 4, False), *CALLED, ("RunJUnit5.main", 17, True)], BAD),
        ([("shop.ShopTest.run", 4, True), *CALLED], "org.junit.AssumptionViolatedException"),
        (
            [
                *[("shop.ShopTest.run", 4, True), *CALLED],
                ("org.junit.internal.runners.statements.ExpectException.evaluate", 19, False),
            ],
            BAD,
        ),
    ],
)
def test_what_is_thrown_outside_of_tests_or_on_purpose_fails_no_test(
    classes: Path, frames: Sequence[tuple[str, int, bool]], kind: str
) -> None:
    assert not fails(classes, frames, kind)


def test_of_an_exception_whose_class_is_not_found_any_handler_may_be_meant(classes: Path) -> None:
    add(classes, "shop.ShopTest", made("shop.ShopTest", catches="shop.Other"))
    frames = [("shop.ShopTest.run", 5, True), *CALLED]
    assert (fails(classes, frames, "gone.Bad"), fails(classes, frames)) == (False, True)


def image(entries: dict[str, bytes]) -> bytes:
    """An image of classes, by the names of its entries; the module of the first is the first of its texts."""
    count, strings, contents, locations = 97, b"\0", b"", b"\0"
    redirects, offsets = [0] * count, [0] * count
    for index, (name, content) in enumerate(entries.items()):
        module, _, rest = name[1:].partition("/")
        parent, _, file = rest.rpartition("/")
        base, extension = (file.removesuffix(".class"), "class") if file.endswith(".class") else (file, "")
        attributes = b""
        for kind, text in ((1, module), (2, parent), (3, base), (4, extension)):
            attributes += struct.pack(">BI", kind << 3 | 3, len(strings))
            strings += text.encode() + b"\0"
        attributes += struct.pack(">BI", 5 << 3 | 3, len(contents)) + struct.pack(">BI", 7 << 3 | 3, len(content))
        offsets[index] = len(locations)
        locations += attributes + b"\0"
        contents += content
        seed = 0x01000193
        for byte in name.encode():
            seed = (seed * 0x01000193 ^ byte) & 0xFFFFFFFF
        place = (seed & 0x7FFFFFFF) % count
        assert redirects[place] == 0, "choose another count"
        redirects[place] = -1 - index
    table = struct.pack(f"={count}i", *redirects) + struct.pack(f"={count}I", *offsets)
    head = struct.pack("=7I", 0xCAFEDADA, 1 << 16, 0, len(entries), count, len(locations), len(strings))
    return head + table + locations + strings + contents


def test_classes_of_the_virtual_machine_are_read_from_its_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    (tmp_path / "lib").mkdir()
    java.parent.mkdir()
    java.touch(0o755)
    monkeypatch.setenv("PATH", str(java.parent))
    whole = image(
        {
            "/java.base/java/util/List.class": made("java.util.List", catches=BAD),
            "/packages/java.util": struct.pack("=II", 1, 0) + struct.pack("=II", 0, 1),  # the first text, java.base
        }
    )
    (tmp_path / "lib" / "modules").write_bytes(whole)
    found = JavaClasses("").find("java.util.List")
    assert found is not None
    assert (found.name, [handler.catches for handler in found.handlers]) == ("java.util.List", [BAD])
    assert JavaClasses("").find("java.util.Map") is None
