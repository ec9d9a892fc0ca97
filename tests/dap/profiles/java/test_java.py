"""The class that a program of Java begins in, by its source, its class file or its archive."""

import struct
import zipfile
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles import MainClass
from trio_debugmcp.dap.profiles.java.java import JavaPrograms
from trio_debugmcp.errors import UsageError

MAIN = "  public static void main(String[] args) {}\n"


def main_class(path: Path) -> MainClass | None:
    return JavaPrograms().main_class(str(path))


@pytest.mark.parametrize(
    ("file", "text", "name", "root"),
    [
        ("Shop.java", f"public class Shop {{\n{MAIN}}}\n", "Shop", "."),
        ("a/b/Shop.java", f"package a.b;\nclass Shop {{\n{MAIN}}}\n", "a.b.Shop", "."),
        ("elsewhere/Shop.java", f"package a.b;\nclass Shop {{\n{MAIN}}}\n", "a.b.Shop", "elsewhere"),
        (
            "Shop.java",
            f"class Item {{ class A {{}} }}\nrecord Till(int n) {{\n{MAIN}}}\nclass B {{}}",
            "Till",
            ".",
        ),
        ("Shop.java", f'// package no;\n/* class No {{ */ class Shop {{ String s = "}}";\n{MAIN}}}\n', "Shop", "."),
    ],
)
def test_a_source_file_has_it_with_its_package(tmp_path: Path, file: str, text: str, name: str, root: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert main_class(path) == MainClass(name, str(tmp_path / root))


def class_file(name: str) -> bytes:
    """A class file without members, with constants of several kinds before the class's own."""
    text, encoded = b"\x01\x00\x02ab", name.encode()
    constants = [text, b"\x05" + bytes(8), b"\x07\x00\x05", b"\x01" + struct.pack(">H", len(encoded)) + encoded]
    head = b"\xca\xfe\xba\xbe\x00\x00\x00\x3d" + struct.pack(">H", 6)  # a long counts as two
    return head + b"".join(constants) + struct.pack(">HHHHHHH", 0x21, 4, 0, 0, 0, 0, 0)


def test_a_class_file_has_it_and_its_path_is_where_its_package_begins(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    path = tmp_path / "shop" / "Till.class"
    path.write_bytes(class_file("shop/Till"))
    assert main_class(path) == MainClass("shop.Till", str(tmp_path))


def test_an_archive_has_it_in_its_manifest_whose_long_lines_are_folded(tmp_path: Path) -> None:
    path = tmp_path / "shop.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\nMain-Class: a.very.lo\r\n ng.Name\r\n")
    assert main_class(path) == MainClass("a.very.long.Name", str(path))


@pytest.mark.parametrize(
    ("file", "data", "why"),
    [
        ("Shop.java", b"class Shop {}", "it has no method `public static void main"),
        ("Shop.class", b"\xca\xfe\xba\xbe\x00\x00", "it is not a class file"),
        ("Shop.class", b"#!/bin/sh", "it is not a class file"),
        ("shop.jar", b"not a zip", "its manifest names no `Main-Class`"),
    ],
)
def test_what_has_none_cannot_be_launched(tmp_path: Path, file: str, data: bytes, why: str) -> None:
    path = tmp_path / file
    path.write_bytes(data)
    with pytest.raises(UsageError) as failed:
        main_class(path)
    assert failed.value.code == "LAUNCH_FAILED"
    assert why in failed.value.message


def test_other_files_have_none(tmp_path: Path) -> None:
    assert main_class(tmp_path / "a.txt") is None
