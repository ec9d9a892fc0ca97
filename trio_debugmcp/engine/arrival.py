"""How the engine comes into a program: on modules of its own, before the program's first line.

    arrive(codes, {"host": "127.0.0.1", "port": 40123, "token": "…"})      # `sitecustomize` does that: see `carrier`

This file runs in the program by itself, behind `probe/loader.py` in one namespace, whose builtins are a copy.

What the engine needs of the standard library is executed once more for it alone, from the library's own files, in
modules that are nowhere in `sys.modules`. So the program finds no module that it has not imported itself, and may patch
all those that it has. Modules in C are copied, or made anew, for the same reason.
"""

import builtins
import sys
from typing import Any

from trio_debugmcp.probe.loader import load

_Module = type(sys)

_OF_THE_PROGRAM = frozenset({"enum", "threading"})
"""Asked for only because of what the program makes of them. The first importer of `threading` is 3.12's main thread."""

_EMPTY = frozenset({"warnings", "_py_warnings"})
"""Imported for what is not used here; executed, it would change the filters, which are those of the process."""

_SHARED = frozenset({"_collections"})
"""Each module that is made of this has types of its own, and the program's are to be known: deque, OrderedDict."""

_MOST_BYTES = 8_000_000
"""Of a file of code."""


class PrivateModules:
    """Modules of the standard library for the debugger alone: what `loader.Kept` is where the debugger comes late.

    Attributes:
        builtins: for the namespaces of code that is to run on these.
        magic: what compiled code begins with that this version of Python can run.
    """

    def __init__(self) -> None:
        self._frozen = sys.modules["_frozen_importlib"]
        self._external: Any = sys.modules["_frozen_importlib_external"]
        self.magic: bytes = self._external.MAGIC_NUMBER
        self._program = sys.modules
        self._import = builtins.__import__
        self._imp: Any = self._program["_imp"]
        self._posix: Any = self._program["posix"]
        self._library: str = sys._stdlib_dir or ""  # type: ignore[attr-defined]
        self._suffix = f".{sys.implementation.cache_tag}.pyc"
        self._loaded: dict[str, Any] = {}
        self._of_program: dict[str, Any] = {}
        self.builtins: dict[str, Any] = {**vars(builtins), "__import__": self.find}
        for name in sys.builtin_module_names:
            if name in self._program and name not in ("__main__", "_frozen_importlib"):
                self._copy(name)
        self._library_sys = _Module("sys")
        vars(self._library_sys).update(vars(sys), modules=self._loaded)
        self._library_builtins = {**self.builtins, "__import__": self._find_for_library}

    def _find_for_library(self, name: str, *rest: Any) -> Any:
        """Import for a module of the standard library: in the `sys` that it sees there are the modules made here."""
        return self._library_sys if name == "sys" else self._found(self._private, name, *rest)

    def find(self, name: str, names: Any = None, local_names: Any = None, parts: Any = (), level: int = 0) -> Any:
        """Import a module as `__import__` does."""
        if type(parts) is list:  # by C code, which then looks into `sys.modules`: the compiler for `unicodedata`
            self._import(name)
            return self._program[name]
        return self._found(self.module, name, names, local_names, parts, level)

    def _found(
        self, module: Any, name: str, names: Any = None, local_names: Any = None, parts: Any = (), level: int = 0
    ) -> Any:
        if level:
            package = str(names["__name__"])
            if "__path__" not in names:
                package = package.rpartition(".")[0]
            name = f"{package}.{name}" if name else package
        found = module(name)
        for part in parts or ():
            if part not in vars(found) and "__path__" in vars(found):
                setattr(found, part, module(f"{name}.{part}"))
        return found if parts or level else module(name.partition(".")[0])

    def module(self, name: str) -> Any:
        """Return a module.

        Raises:
            ImportError: there is none, or it is one of the program's that this has not imported.
        """
        if name not in _OF_THE_PROGRAM:
            return self._private(name)
        found = self._of_program.get(name)
        if found is None:
            if name not in self._program:
                raise ImportError(f"the program has not imported {name}")
            found = self._of_program[name] = _Module(name)
            vars(found).update(vars(self._program[name]))
        return found

    def _private(self, name: str) -> Any:
        found = self._loaded.get(name)
        if found is not None:
            return found
        if name in _EMPTY:
            return self._loaded.setdefault(name, _Module(name))
        if name in _SHARED:
            return self._shared(name)
        parent, _, _ = name.rpartition(".")
        if parent and parent not in self._loaded:
            self._private(parent)
            if name in self._loaded:  # the parent has made it
                return self._loaded[name]
        return self._in_c(name) or self._in_python(name) or self._shared(name)

    # --- In C ---------------------------------------------------------------------------------------------------------

    def _copy(self, name: str) -> Any:
        made = self._loaded[name] = _Module(name)
        vars(made).update(vars(self._program[name]))
        return made

    def _in_c(self, name: str) -> Any:
        """Make a module that is part of the interpreter, or a library beside it; None if there is none of that name."""
        spec = self._frozen.ModuleSpec(name, None)
        if self._imp.is_builtin(name) == 1:
            made = self._imp.create_builtin(spec)
            self._imp.exec_builtin(made)
        else:
            for suffix in self._imp.extension_suffixes():
                path = f"{self._library}/lib-dynload/{name}{suffix}"
                if self._exists(path):
                    break
            else:
                return None
            spec.origin = path
            known = name in self._program
            made = self._imp.create_dynamic(spec)
            self._imp.exec_dynamic(made)
            if not known:
                self._program.pop(name, None)  # one that can exist only once has registered itself
        return self._loaded.setdefault(name, made)

    # --- In Python ----------------------------------------------------------------------------------------------------

    def _in_python(self, name: str) -> Any:
        """Execute a module of the standard library; None if there is no file of it."""
        folder, _, last = f"{self._library}/{name.replace('.', '/')}".rpartition("/")
        code = self._code(folder, last)
        path: list[str] | None = None
        if code is None:
            path = [f"{folder}/{last}"]
            code = self._code(path[0], "__init__")
        if code is None:
            return None
        made = self._loaded[name] = _Module(name)
        names = vars(made)
        names["__builtins__"] = self._library_builtins
        names["__file__"] = f"{path[0]}/__init__.py" if path is not None else f"{folder}/{last}.py"
        if path is not None:
            names["__path__"] = path
        shared = self._changed_by(name)
        before = {id(each): set(vars(each)) for each in shared}
        try:
            exec(code, names)
        except BaseException:
            self._loaded.pop(name, None)
            raise
        for each in shared:  # attributes that it has given to types of the process
            for attribute in set(vars(each)) - before[id(each)]:
                delattr(each, attribute)
        made = self._loaded[name]  # it may have put another one in its place
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(self.module(parent), child, made)
        return made

    def _changed_by(self, name: str) -> list[Any]:
        """The types of the process that a module gives attributes to when it is executed."""
        return [each for each in vars(self.module("_ast")).values() if type(each) is type] if name == "ast" else []

    def _code(self, folder: str, name: str) -> Any:
        source = f"{folder}/{name}.py"
        if not self._exists(source):
            return None
        data = self._read(f"{folder}/__pycache__/{name}{self._suffix}")
        marshal = self.module("marshal")
        if data is not None and data[:4] == self.magic and self._is_fresh(data, source):
            return marshal.loads(data[16:])
        text = self._read(source)
        return None if text is None else compile(text, source, "exec", dont_inherit=True)

    def _is_fresh(self, data: bytes, source: str) -> bool:
        """Whether a compiled file is of this source: by its time and size. One checked by a hash is believed."""
        if data[4]:
            return True
        found = self._posix.stat(source)
        written, size = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")
        return bool(written == int(found.st_mtime) & 0xFFFFFFFF and size == found.st_size & 0xFFFFFFFF)

    def _shared(self, name: str) -> Any:
        """Import a module for the program as well; also where the library is in a zip file or an executable.

        A part of the interpreter is made without `import`, whose code calls what the program may have patched.
        """
        if name in self._program or self._imp.is_builtin(name) != 1:
            self._import(name)
            return self._copy(name)
        loader = self._frozen.BuiltinImporter
        spec = self._frozen.ModuleSpec(name, loader, origin="built-in")
        made = self._imp.create_builtin(spec)
        vars(made).update(__loader__=loader, __package__="", __spec__=spec)
        self._imp.exec_builtin(made)
        self._program.setdefault(name, made)  # another thread may have been first
        return self._copy(name)

    # --- Files --------------------------------------------------------------------------------------------------------

    def _exists(self, path: str) -> bool:
        try:
            self._posix.stat(path)
        except OSError:
            return False
        return True

    def _read(self, path: str) -> bytes | None:
        try:
            file = self._posix.open(path, self._posix.O_RDONLY | self._posix.O_CLOEXEC)
        except OSError:
            return None
        try:
            parts = []
            while part := self._posix.read(file, _MOST_BYTES):
                parts.append(part)
            return b"".join(parts)
        except OSError:
            return None
        finally:
            self._posix.close(file)


def arrive(codes: dict[str, bytes], given: dict[str, Any]) -> None:
    """Load the engine, and have it wait until the debugger lets the program run.

    Without a debugger at that address, the program runs as if nothing had been there.
    """
    _loaded(codes).begin(given)


def arrive_late(codes: dict[str, bytes], given: dict[str, Any]) -> None:
    """Load the engine into a program that runs already, and return at once: it dials in in a thread of its own."""
    _loaded(codes).begin_late(given)


def arrive_here(codes: dict[str, bytes], given: dict[str, Any]) -> None:
    """Load the engine into a program that runs already, and return when the debugger lets it run on."""
    _loaded(codes).begin_here(given)


def arrive_to_record(codes: dict[str, bytes], given: dict[str, Any]) -> None:
    """Begin to record the program, without a debugger; `given["record"]` is the body of a request `recordRun`."""
    _loaded(codes, "engine.inside.recorder.recording_start").begin(given["record"], given["home"])


def _loaded(codes: dict[str, bytes], main: str = "engine.inside.engine_start") -> Any:
    return load(codes, PrivateModules(), "trio_debugmcp", main)
