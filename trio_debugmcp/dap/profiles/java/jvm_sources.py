"""Sources of Kotlin and Scala: the class that a program begins in, and the classes that are made of a file.

    main_of(Path("shop.kt"), text)                          # MainClass("shop.ShopKt", "/src")
    classes_of("/src/shop.kt", text, "/built:/lib/x.jar")   # [("shop.ShopKt", [6, 7]), ("shop.ShopKt$main$1", [9])]

A file of these languages has any name, in any directory, and makes classes of any names: what a class was made of, its
class file says. Where these are not known, as of a program that is attached to, names are taken from the text.
"""

import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePath

from trio_debugmcp.dap.profiles.java.class_files import ClassFile, class_file
from trio_debugmcp.dap.profiles.starts import MainClass

SUFFIXES = (".kt", ".scala")
"""Of files whose classes are named otherwise than they are."""

_MAX_CLASSES = 5000
"""Class files of a package that are read."""

_MAX_KEPT = 512
"""Packages in archives and directories of which the classes are kept until these are written anew."""

UNREADABLE = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What an archive that is damaged, encrypted or not ours to read raises."""

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|""".*?(?:"""|\Z)|"(?:[^"\\\n]|\\.)*"', re.DOTALL)

_PACKAGE = re.compile(r"^[^\S\n]*package[^\S\n]+([\w.`]+)", re.MULTILINE)

_FILE_NAME = re.compile(r'@file\s*:\s*(?:\[\s*)?(?:kotlin\.jvm\.)?JvmName\(\s*"(\w+)"')

_TYPE = re.compile(
    r"^(?:[\w@]+(?:\([^)\n]*\))?\s+)*?(?P<kind>class|object|interface|trait)\s+(?P<name>\w+)", re.MULTILINE
)
"""A type at the beginning of a line: one that is in no other."""

_FUNCTION = re.compile(r"^(?:(?:public|suspend)\s+)*fun\s+main\s*\(", re.MULTILINE)

_OBJECT_OF_SCALA = re.compile(
    r"^(?:[\w@]+\s+)*?object\s+(?P<name>\w+)(?P<rest>[^{\n]*)(?P<body>.*?)(?=^\S*\s*(?:object|class|trait)\s|\Z)",
    re.MULTILINE | re.DOTALL,
)


def main_of(path: Path, text: str) -> MainClass | None:
    """Return the class that a program begins in by its source; None if it has no `main`."""
    bare = _NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    within = _package(bare)
    if path.suffix.lower() == ".kt":
        if _FUNCTION.search(bare) is None:
            return None
        return MainClass(within + _file_class(path, text), str(path.parent), libraries=libraries("kotlinc"))
    for found in _OBJECT_OF_SCALA.finditer(bare):
        if re.search(r"\bdef\s+main\s*\(", found["body"]) or re.search(r"\bextends\s+App\b", found["rest"]):
            name = within + found["name"]
            return MainClass(name, str(path.parent), entry=f"{name}$", libraries=libraries("scalac"))
    return None


def classes_of(file: str, text: str, class_path: str) -> list[tuple[str, list[int]]]:
    """Return the classes that are made of a file, and their lines with code; without lines, if these are not known."""
    path = PurePath(file)
    bare = _NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    package = _package(bare)
    made = (each for each in _of_package(class_path, package) if each.source == path.name)
    found = [(each.name, sorted(each.lines)) for each in made]
    if found:
        return sorted(found)
    types = [(one["kind"], one["name"]) for one in _TYPE.finditer(bare)]
    names = [name for _, name in types]
    if path.suffix.lower() == ".kt":
        names += [_file_class(path, text), *(f"{name}$Companion" for kind, name in types if kind == "class")]
    else:
        names += [f"{name}$" for kind, name in types if kind == "object"]
    return [(package + name, []) for name in names]


def package_of(text: str) -> str:
    """Return the package of a source."""
    return _package(_NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)).removesuffix(".")


def _package(bare: str) -> str:
    """Return the package of a source, with a dot behind it; in Scala its parts may stand one below the other."""
    found = ".".join(part.replace("`", "") for part in _PACKAGE.findall(bare))
    return f"{found}." if found else ""


def _file_class(path: PurePath, text: str) -> str:
    """Return the class that has the functions of a file of Kotlin."""
    named = _FILE_NAME.search(text)
    stem = re.sub(r"\W", "_", path.stem)
    return named[1] if named is not None else f"{stem[:1].upper()}{stem[1:]}Kt"


def _of_package(class_path: str, package: str) -> Iterator[ClassFile]:
    """Yield the classes of a package, but for those that cannot be read: so does the virtual machine."""
    folder = package.replace(".", "/").removesuffix("/")
    for place in filter(None, class_path.split(os.pathsep)):
        with suppress(OSError):
            if os.path.isdir(place):
                files = islice(sorted(Path(place, folder).glob("*.class")), _MAX_CLASSES)
                yield from _in_directory(tuple((str(file), *_stamp(file)) for file in files))
            else:
                yield from _in_archive(place, folder, _stamp(Path(place)))


def _stamp(file: Path) -> tuple[int, int]:
    """Return what is another once a file is written anew."""
    found = file.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=_MAX_KEPT)
def _in_directory(files: tuple[tuple[str, int, int], ...]) -> tuple[ClassFile, ...]:
    found = []
    for file, *_ in files:
        with suppress(OSError):
            found.append(Path(file).read_bytes())
    return _named(found)


@lru_cache(maxsize=_MAX_KEPT)
def _in_archive(place: str, folder: str, _: tuple[int, int]) -> tuple[ClassFile, ...]:
    found = []
    with suppress(*UNREADABLE), zipfile.ZipFile(place) as archive:
        names = [name for name in archive.namelist() if name.endswith(".class") and name.rpartition("/")[0] == folder]
        for name in names[:_MAX_CLASSES]:
            with suppress(*UNREADABLE):
                found.append(archive.read(name))
    return _named(found)


def _named(data: Iterable[bytes]) -> tuple[ClassFile, ...]:
    """Return the classes that were made of files of these languages."""
    found = []
    for each in data:
        with suppress(ValueError):
            found.append(class_file(each))
    return tuple(each for each in found if each.source is not None and each.source.endswith(SUFFIXES))


def libraries(compiler: str) -> tuple[str, ...]:
    """Return the jars of a language that its programs need to run, where its compiler has them."""
    found = shutil.which(compiler)
    if found is None:
        return ()
    lib = Path(os.path.realpath(found)).parent.parent / "lib"
    patterns = (
        ("kotlin-stdlib.jar", "kotlin-test.jar")
        if compiler == "kotlinc"
        else ("scala-library*.jar", "scala3-library*.jar")
    )
    return tuple(str(jar) for pattern in patterns for jar in sorted(lib.glob(pattern)))
