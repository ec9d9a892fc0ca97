"""Java: the class that a program begins in, which its file says, and where its classes are.

    found = JavaPrograms().main_class("/src/shop/Shop.java")
    found.name, found.path      # "shop.Shop", "/src"

Of a class file the path is the same, of an archive its own. `session/before/builds.py` runs the compiler.
"""

import re
import zipfile
from pathlib import Path, PurePath
from typing import ClassVar

from trio_debugmcp.dap.profiles.java.class_files import class_file
from trio_debugmcp.dap.profiles.java.jvm_sources import SUFFIXES, UNREADABLE, main_of
from trio_debugmcp.dap.profiles.language import LanguagePrograms
from trio_debugmcp.dap.profiles.starts import MainClass
from trio_debugmcp.errors import UsageError

MAX_LENGTH = 4_000_000
"""Bytes of a file that are read: of source, of a class, of a manifest."""

_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"""(?:[^\\]|\\.)*?(?:"""|\Z)|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL
)

_PACKAGE = re.compile(r"^[^\S\n]*package[^\S\n]+([\w.]+)\s*;", re.MULTILINE)

_TYPE = re.compile(r"\b(?:class|record|enum|interface)\s+(\w+)")

_MAIN = re.compile(r"\bstatic\s+(?:final\s+|public\s+)*void\s+main\s*\(")

_MANIFEST = "META-INF/MANIFEST.MF"


class JavaPrograms(LanguagePrograms):
    """What the virtual machine can run."""

    has_main_classes: ClassVar[bool] = True

    def main_class(self, program: str) -> MainClass | None:
        path, kind = Path(program), Path(program).suffix.lower()
        if kind in SUFFIXES:
            found = main_of(path, _read(path).decode(errors="replace"))
            if found is None:
                raise _no_program(path, "it has no `main` that a program begins in. Pass the file that has it")
            return found
        if kind == ".java":
            return _of_source(path, _read(path).decode(errors="replace"))
        if kind == ".class":
            return _located(path, _name_of_class(path, _read(path)))
        return _of_archive(path) if kind == ".jar" else None


def _of_source(path: Path, text: str) -> MainClass:
    bare = _NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    package = _PACKAGE.search(bare)
    within = f"{package[1]}." if package is not None else ""
    name = _type_with_main(bare)
    if name is None:
        raise _no_program(path, "it has no method `public static void main(String[] args)`. Pass the file that has it")
    # Its directory is that of its package, or else the package is of this file alone.
    return _located(path, within + name)


def has_main(text: str) -> bool:
    """Whether a source file has a method in which programs begin."""
    return _type_with_main(_NOT_CODE.sub("", text)) is not None


def _type_with_main(text: str) -> str | None:
    """Return the outermost type that has a method `main`."""
    found = _MAIN.search(text)
    if found is None:
        return None
    depth, name = 0, None
    for match in re.finditer(r"[{}]|" + _TYPE.pattern, text[: found.start()]):
        if match[1] is not None:
            name = match[1] if depth == 0 else name
        else:
            depth += 1 if match[0] == "{" else -1
    return name


def _located(path: PurePath, name: str) -> MainClass:
    """Return a class with the directory that its package begins in, as far as the path has its directories."""
    root, packages = path.parent, name.split(".")[:-1]
    if packages and list(root.parts[-len(packages) :]) == packages:
        root = root.parents[len(packages) - 1]
    return MainClass(name, str(root))


def _name_of_class(path: Path, data: bytes) -> str:
    """Return the name in a class file."""
    try:
        return class_file(data).name
    except ValueError as error:
        raise _no_program(path, str(error)) from None


def _of_archive(path: Path) -> MainClass:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_MANIFEST) as manifest:
            text = manifest.read(MAX_LENGTH).decode(errors="replace")
    except (KeyError, *UNREADABLE):
        text = ""
    found = re.search(r"^Main-Class:\s*(\S+)", re.sub(r"\r?\n ", "", text), re.MULTILINE)
    if found is None:
        raise _no_program(
            path, 'its manifest names no `Main-Class`. Pass adapter_options={"mainClass": …, "classpath": …}'
        )
    return MainClass(found[1], str(path))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_LENGTH)
    except OSError as error:
        raise _no_program(path, f"it cannot be read ({error.strerror})") from None


def _no_program(path: PurePath, why: str) -> UsageError:
    return UsageError("LAUNCH_FAILED", f"'{path}' cannot be launched: {why}.", {"path": str(path)})
