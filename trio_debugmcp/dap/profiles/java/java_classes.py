"""Classes as a program of Java finds them: on its class path, and in the image of the virtual machine.

    found = JavaClasses("/app/classes:/lib/x.jar").find("java.util.ArrayList")
    found.above      # "java.util.AbstractList"

The image is the file `lib/modules`, which no tool but the machine's own reads. It begins with a table by which names
are found: https://github.com/openjdk/jdk/blob/master/src/java.base/share/native/libjimage/imageFile.hpp
"""

import mmap
import os
import shutil
import struct
import zipfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from trio_debugmcp.dap.profiles.java.class_files import ClassFile, class_file
from trio_debugmcp.dap.profiles.java.jvm_sources import UNREADABLE

_MAX_KEPT = 4096
"""Classes of archives and images that are kept read."""

_HASH = 0x01000193

_HEADER = struct.Struct("=IIIIIII")

_MAGIC = 0xCAFEDADA

_OFFSET, _COMPRESSED, _SIZE = 5, 6, 7
"""What is known of an entry of the image: where it is, its size there if it is compressed, and its size."""


class JavaClasses:
    """Classes by their names. What is found on its class path is kept: a program is not built anew while it runs."""

    def __init__(self, class_path: str) -> None:
        self._places = [place for place in class_path.split(os.pathsep) if place]
        self._found: dict[str, ClassFile | None] = {}

    def __repr__(self) -> str:
        return f"<JavaClasses in {len(self._places)} places>"

    def find(self, name: str) -> ClassFile | None:
        """Return a class; None if it is nowhere, or cannot be read: one that is made at run time, for example."""
        if name not in self._found:
            self._found[name] = self._search(name)
        return self._found[name]

    def lineage(self, name: str) -> tuple[str, ...]:
        """Return a class and those that it extends, as far as they are found."""
        found = [name]
        while (this := self.find(found[-1])) is not None and this.above is not None:
            found.append(this.above)
        return tuple(found)

    def _search(self, name: str) -> ClassFile | None:
        file = f"{name.replace('.', '/')}.class"
        for place in self._places:
            with suppress(ValueError, *UNREADABLE):
                if not os.path.isdir(place):
                    found = _in_archive(place, os.stat(place).st_mtime_ns, file)
                else:
                    path = Path(place, file)
                    found = class_file(path.read_bytes()) if path.exists() else None
                if found is not None:
                    return found
        image = _image()
        with suppress(ValueError, LookupError, struct.error, OSError):
            return None if image is None else _in_image(image, name)
        return None


def _image() -> str | None:
    """Return the file with the classes of the virtual machine that the adapter starts."""
    java = shutil.which("java")
    file = None if java is None else Path(os.path.realpath(java)).parents[1] / "lib" / "modules"
    return str(file) if file is not None and file.is_file() else None


@lru_cache(maxsize=64)
def _names(place: str, _: int) -> frozenset[str]:
    with zipfile.ZipFile(place) as archive:
        return frozenset(archive.namelist())


@lru_cache(maxsize=_MAX_KEPT)
def _in_archive(place: str, stamp: int, file: str) -> ClassFile | None:
    if file not in _names(place, stamp):
        return None
    with zipfile.ZipFile(place) as archive:
        return class_file(archive.read(file))


@lru_cache(maxsize=_MAX_KEPT)
def _in_image(image: str, name: str) -> ClassFile | None:
    with open(image, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        reader = _Image(data)
        package = reader.content(f"/packages/{name.rpartition('.')[0]}")
        for at in range(0, len(package or b""), 8):
            is_empty, module = struct.unpack_from("=II", package or b"", at)
            found = None if is_empty else reader.content(f"/{reader.text(module)}/{name.replace('.', '/')}.class")
            if found is not None:
                return class_file(found)
    return None


class _Image:
    def __init__(self, data: mmap.mmap) -> None:
        magic, _, _, _, self._count, locations, strings = _HEADER.unpack_from(data, 0)
        if magic != _MAGIC:
            raise ValueError("it is not an image of classes")
        self._data = data
        self._locations = _HEADER.size + 8 * self._count
        self._strings = self._locations + locations
        self._contents = self._strings + strings

    def content(self, name: str) -> bytes | None:
        """Return what the image has by a name."""
        entry = self._entry(_hashed(name, _HASH) % self._count, name)
        if entry is None or entry.get(_COMPRESSED):
            return None
        start = self._contents + entry.get(_OFFSET, 0)
        return self._data[start : start + entry.get(_SIZE, 0)] if self._named(entry) == name else None

    def text(self, offset: int) -> str:
        start = self._strings + offset
        return self._data[start : self._data.find(b"\0", start)].decode(errors="replace")

    def _entry(self, index: int, name: str) -> dict[int, int] | None:
        again = struct.unpack_from("=i", self._data, _HEADER.size + 4 * index)[0]
        if again == 0:
            return None
        index = _hashed(name, again) % self._count if again > 0 else -1 - again
        at = self._locations + struct.unpack_from("=I", self._data, _HEADER.size + 4 * (self._count + index))[0]
        found = {}
        while kind := self._data[at] >> 3:
            length = (self._data[at] & 7) + 1
            found[kind] = int.from_bytes(self._data[at + 1 : at + 1 + length], "big")
            at += 1 + length
        return found

    def _named(self, entry: dict[int, int]) -> str:
        module, parent, base, extension = (self.text(entry.get(kind, 0)) for kind in (1, 2, 3, 4))
        folder = (f"/{module}" if module else "") + (f"/{parent}" if parent else "")
        return f"{folder}/{base}" + (f".{extension}" if extension else "")


def _hashed(name: str, seed: int) -> int:
    for byte in name.encode():
        seed = (seed * _HASH ^ byte) & 0xFFFFFFFF
    return seed & 0x7FFFFFFF
