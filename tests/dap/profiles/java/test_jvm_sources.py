"""Classes of Kotlin and Scala are known by what they were made of: by class files, in a jar or not, or by the text."""

import struct
import zipfile
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.java.class_files import class_file
from trio_debugmcp.dap.profiles.java.java_expressions import JavaCode
from trio_debugmcp.dap.profiles.java.jvm_sources import classes_of, main_of

KOTLIN = """@file:JvmName("Till")
package depot.stock // package no.where
/* object Nope */
data class Shelf(val name: String) {
    class Box
}
internal object Shed
fun main() = println("class Text")
"""

SCALA = """package depot
package stock
case class Shelf(price: Int)
object Shelf
object Till { // def main(
  def main(args: Array[String]): Unit = ()
}
"""


def made(name: str, source: str | None, lines: list[int]) -> bytes:
    """A class file with one function that has code in these lines."""
    texts = [name.replace(".", "/"), "run", "()V", "Code", "LineNumberTable", "SourceFile", source or ""]
    constants = b"".join(struct.pack(">BH", 1, len(text.encode())) + text.encode() for text in texts)
    constants += struct.pack(">BH", 7, 1) + struct.pack(">Bq", 5, 7)  # the class, and a long, which counts as two
    table = struct.pack(">H", len(lines)) + b"".join(struct.pack(">HH", 0, line) for line in lines)
    code = struct.pack(">HHI", 1, 1, 1) + b"\xb1" + struct.pack(">HHHHH", 1, 0, 1, 0, 0) + struct.pack(">H", 1)
    code += struct.pack(">HI", 5, len(table)) + table
    method = struct.pack(">HHHH", 1, 2, 3, 1) + struct.pack(">HI", 4, len(code)) + code
    own = struct.pack(">HHIH", 1, 6, 2, 7) if source is not None else struct.pack(">H", 0)
    head = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 52, len(texts) + 4) + constants
    return head + struct.pack(">HHHHH", 1, 8, 0, 0, 0) + struct.pack(">H", 1) + method + own


def test_a_class_file_says_its_name_its_source_and_its_lines() -> None:
    found = class_file(made("depot.Shelf", "shelf.kt", [4, 7]))
    assert (found.name, found.source, found.lines) == ("depot.Shelf", "shelf.kt", frozenset({4, 7}))
    assert class_file(made("Shelf", None, [])).source is None


@pytest.mark.parametrize("data", [b"", b"text", b"\xca\xfe\xba\xbe", made("A", "a.kt", [1])[:-20]])
def test_other_data_and_a_part_of_a_class_file_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a class file"):
        class_file(data)


@pytest.mark.parametrize("jar", [False, True])
def test_classes_of_a_file_are_those_of_its_package_that_were_made_of_it(tmp_path: Path, jar: bool) -> None:
    files = {
        "depot/stock/Till.class": made("depot.stock.Till", "shelf.kt", [8]),
        "depot/stock/Shelf$1.class": made("depot.stock.Shelf$1", "shelf.kt", [5]),
        "depot/stock/Other.class": made("depot.stock.Other", "other.kt", [5]),
        "depot/stock/Broken.class": b"",
        "depot/Shelf.class": made("depot.Shelf", "shelf.kt", [8]),
    }
    place = tmp_path / ("made.jar" if jar else "made")
    if jar:
        with zipfile.ZipFile(place, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    else:
        for name, data in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
    found = classes_of("/elsewhere/shelf.kt", KOTLIN, f"{tmp_path}/nowhere:{place}")
    assert found == [("depot.stock.Shelf$1", [5]), ("depot.stock.Till", [8])]


def test_archives_that_are_damaged_or_encrypted_are_gone_past(tmp_path: Path) -> None:
    name, whole = "depot/stock/Till.class", tmp_path / "whole.jar"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(name, made("depot.stock.Till", "shelf.kt", [8]))
    data = whole.read_bytes()
    directory = data.index(b"PK\x01\x02")
    content = data.index(b"\xca\xfe\xba\xbe")
    damaged = {
        "cut": data[100:],
        "directory": data[:directory] + b"XX" + data[directory + 2 :],
        "content": data[:content] + b"XX" + data[content + 2 :],
        "encrypted": data[: directory + 8] + b"\1" + data[directory + 9 :],
        "compressed": data[: directory + 10] + b"\x08" + data[directory + 11 :],
    }
    for kind, changed in damaged.items():
        (tmp_path / f"{kind}.jar").write_bytes(changed)
    class_path = ":".join([*(str(tmp_path / f"{kind}.jar") for kind in damaged), str(whole)])
    assert classes_of("/elsewhere/shelf.kt", KOTLIN, class_path) == [("depot.stock.Till", [8])]


def test_of_a_source_that_is_gone_no_classes_are_known() -> None:
    assert JavaCode().classes_of("/nowhere/shelf.kt", None, "") == []


def test_without_class_files_classes_are_named_by_the_source() -> None:
    names = [name for name, _ in classes_of("/src/shelf.kt", KOTLIN, "")]
    assert names == [f"depot.stock.{name}" for name in ("Shelf", "Shed", "Till", "Shelf$Companion")]
    names = [name for name, _ in classes_of("/src/till.scala", SCALA, "")]
    assert names == [f"depot.stock.{name}" for name in ("Shelf", "Shelf", "Till", "Shelf$", "Till$")]


def test_a_program_begins_in_the_class_of_its_file_or_in_the_object_that_has_the_main() -> None:
    till = main_of(Path("/src/shelf.kt"), KOTLIN)
    assert till is not None
    assert (till.name, till.entry, till.path) == ("depot.stock.Till", "", "/src")
    named = main_of(Path("/src/my-shop.kt"), "fun main(args: Array<String>) {}")
    assert named is not None
    assert named.name == "My_shopKt"
    till = main_of(Path("/src/any.scala"), SCALA)
    assert till is not None
    assert (till.name, till.entry) == ("depot.stock.Till", "depot.stock.Till$")
    app = main_of(Path("/src/any.scala"), "object Shop extends App {\n  println(1)\n}\n")
    assert app is not None
    assert app.name == "Shop"
    assert main_of(Path("/src/a.kt"), "// fun main()\nclass A { fun main() {} }") is None
    assert main_of(Path("/src/a.scala"), "class A { def main(args: Array[String]): Unit = () }") is None


def test_an_archive_is_read_again_only_if_it_was_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "till.jar"

    def write(lines: list[int]) -> None:
        with zipfile.ZipFile(jar, "w") as archive:
            archive.writestr("depot/stock/Till.class", made("depot.stock.Till", "shelf.kt", lines))

    write([8])
    assert classes_of("/elsewhere/shelf.kt", KOTLIN, str(jar)) == [("depot.stock.Till", [8])]
    with monkeypatch.context() as patched:
        patched.setattr(zipfile, "ZipFile", None)
        assert classes_of("/elsewhere/shelf.kt", KOTLIN, str(jar)) == [("depot.stock.Till", [8])]
    write([8, 9])
    assert classes_of("/elsewhere/shelf.kt", KOTLIN, str(jar)) == [("depot.stock.Till", [8, 9])]


@pytest.mark.parametrize("text", ["\n" * 200_000, "\n \n" * 50_000, "/* " * 200_000, '""" "' * 100_000])
def test_a_long_source_takes_a_time_that_grows_with_its_length_alone(text: str) -> None:
    for name in ("shelf.kt", "till.scala"):
        assert main_of(Path(name), text) is None  # else it takes minutes
        assert len(classes_of(name, text, "")) <= 1
