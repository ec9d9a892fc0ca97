"""What loads the probe inside the program, on builtins and modules that the program cannot change.

    kept = Kept()                       # as early as there is a way in: before the program's first line, if possible
    questions = load(sources, kept)     # or a blob: `pack(sources, kept)`, which `keep_blob` has put into a file
    questions.call("threads", "{}")

This file runs in the program, by itself, in the Python of 3.8. It has to be executed in a namespace with builtins of
its own: `exec(text, {"__builtins__": dict(vars(builtins))})`.

A program may replace anything by any name: `mock.patch("builtins.len")`, `freezegun`, `gevent.monkey`. So the code that
is loaded here looks nothing up where the program can reach. Its builtins are a copy; what it imports are copies. Of a
module in Python the copy has functions of its own, with the same code, which look names up in the copies: else a
patched `len` would reach us through `traceback`. Classes and objects are the same ones, but for the few that matter.
"""

import builtins
import sys
from typing import Any, Dict, Optional, Union

TAKEN = (
    *("_ast", "_collections", "_ctypes", "_imp", "_json", "_sha2", "_signal", "_socket", "_ssl", "_struct"),
    *("_thread", "_weakref", "ast", "atexit", "builtins", "collections", "dis", "enum", "itertools", "linecache"),
    *("marshal", "ntpath", "opcode", "os", "posix", "posixpath", "sys", "textwrap", "threading", "time", "token"),
    *("tokenize", "traceback", "types"),
)
"""Modules that are copied as they are at the beginning, those that are there. Others are as they are when needed."""

_OF_THE_PROGRAM = ("enum", "gc", "threading")
"""Needed only for what the program makes of them: never imported for us. Who imports `threading` first is, in Python
3.12, its main thread."""

_REHOMED = ("ast", "dis", "linecache", "ntpath", "os", "posixpath", "textwrap", "tokenize", "traceback")
"""Modules in Python whose functions are called, and those that these call."""

_COPIED_CLASSES = ("dis", "traceback")
"""Of these the classes are copied as well, as their methods do the work."""

_MOST_BLOB = 4_000_000
"""Bytes of a file that is read; there are 300,000 in one."""

_LOCK_SECONDS = 2.0
"""For another thread to load a module. In a forked child it may not be there any more."""

_Module = type(sys)
_Function: Any = type(lambda: None)


class Kept:
    """The builtins and the modules of an interpreter as they are when this is made.

    Attributes:
        builtins: for the namespaces of code that is to run on what is kept.
        magic: what compiled code begins with that this version of Python can run.
    """

    def __init__(self) -> None:
        self._import = builtins.__import__
        self._modules = sys.modules
        self.magic: bytes = self._modules["_frozen_importlib_external"].MAGIC_NUMBER
        self._taken = {
            name: dict(vars(self._modules[name])) for name in TAKEN if type(self._modules.get(name)) is _Module
        }
        self._copies: Dict[str, Any] = {}
        self._rehomed: Dict[int, Any] = {}
        self.builtins: Dict[str, Any] = {**vars(builtins), "__import__": self.find}

    def find(self, name: str, names: Any = None, local_names: Any = None, parts: Any = (), level: int = 0) -> Any:
        """Import a module as `__import__` does: return its copy."""
        if level or type(parts) is list:  # a list is of C code, which then looks into `sys.modules`
            return self._import(name, names, local_names, parts, level)
        return self.module(name if parts else name.partition(".")[0])

    def module(self, name: str) -> Any:
        """Return the copy of a module.

        Raises:
            ImportError: the program has not imported it, and it is none of those that are imported for us.
        """
        copy = self._copies.get(name)
        if copy is None:
            names = self._taken.get(name) or self._names(name)
            copy = _Module(name)
            vars(copy).update(names)
            copy = self._copies.setdefault(name, copy)
            if name in _REHOMED:
                self._rehome(name, vars(copy))
        return copy

    def _names(self, name: str) -> Dict[str, Any]:
        if name not in self._modules:
            if name not in TAKEN or name in _OF_THE_PROGRAM:
                raise ImportError(f"the program has not imported {name}")
            self._import(name)
        return dict(vars(self._modules[name]))

    # --- Copies of functions ------------------------------------------------------------------------------------------

    def _rehome(self, name: str, names: Dict[str, Any]) -> None:
        """Put copies in the place of what is in the namespace of a module in Python."""
        names["__builtins__"] = self.builtins
        for each, value in list(names.items()):
            if each[:2] != "__":
                names[each] = self._at_home(value, name)

    def _at_home(self, value: Any, module: str) -> Any:
        cls = type(value)
        if cls is _Module:
            known = value.__name__
            return self.module(known) if known in TAKEN and self._modules.get(known) is value else value
        if cls is _Function:
            return self._function(value)
        if cls is type and module in _COPIED_CLASSES and value.__module__ == module:
            return self._class(value, module)
        return value

    def _function(self, function: Any, cell: Any = None) -> Any:
        known = self._rehomed.get(id(function))
        if known is not None:
            return known[1]
        module = function.__globals__.get("__name__")
        if module not in _REHOMED or vars(self._modules.get(module, sys)) is not function.__globals__:
            return function
        names = vars(self.module(module))
        if id(function) in self._rehomed:  # the module had not been copied before
            return self._rehomed[id(function)][1]
        closure = function.__closure__
        if cell is not None and closure is not None:  # of a method that calls `super()`
            closure = tuple(
                map(lambda name, own: cell if name == "__class__" else own, function.__code__.co_freevars, closure)
            )
        copy = _Function(function.__code__, names, function.__name__, function.__defaults__, closure)
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__qualname__ = function.__qualname__
        self._rehomed[id(function)] = (function, copy)  # with the function, so that the id stays its own
        return copy

    def _class(self, cls: Any, module: str) -> Any:
        known = self._rehomed.get(id(cls))
        if known is not None:
            return known[1]
        cell = self.module("types").CellType()
        bases = tuple(self._at_home(base, module) for base in cls.__bases__)
        slots = ("__dict__", "__weakref__", *vars(cls).get("__slots__", ()))
        names = {name: self._member(value, cell) for name, value in vars(cls).items() if name not in slots}
        copy = type(cls.__name__, bases, names)
        cell.cell_contents = copy
        self._rehomed[id(cls)] = (cls, copy)
        return copy

    def _member(self, value: Any, cell: Any) -> Any:
        cls = type(value)
        if cls is _Function:
            return self._function(value, cell)
        if cls is classmethod or cls is staticmethod:
            return cls(self._member(value.__func__, cell))
        if cls is property:
            return property(*(self._member(each, cell) for each in (value.fget, value.fset, value.fdel)))
        return value


Packed = Union[bytes, Dict[str, str], Dict[str, bytes]]
"""A blob of this very version of Python, or sources by the full names of their modules."""


def load(packed: Packed, kept: Any, package: str = "trio_debugmcp.probe.inside", main: str = "questions") -> Any:
    """Load a package and return its main module. Nothing of it is in `sys.modules`; its modules load when needed."""
    marshal = kept.module("marshal")
    codes: Any = marshal.loads(packed) if type(packed) is bytes else packed
    loaded: Dict[str, Any] = {}
    lock = kept.module("_thread").RLock()

    def find(name: str, names: Any = None, local_names: Any = None, parts: Any = (), level: int = 0) -> Any:
        if name in codes:
            return loaded.get(name) or module(name)
        if name == package or name.startswith(package + "."):
            room = _Module(name)
            vars(room).update({part: find(f"{name}.{part}") for part in parts})
            return room
        return kept.find(name, names, local_names, parts, level)

    own_builtins = {**kept.builtins, "__import__": find}

    def module(name: str) -> Any:
        locked = lock.acquire(True, _LOCK_SECONDS)
        try:
            made = loaded.get(name)
            if made is None:
                # No other caller gets it before it is complete: no thread that has waited in vain, and no handler of a
                # signal or finalizer that comes in between. These load their own; the first that is complete stays.
                made = _Module(name)
                vars(made)["__builtins__"] = own_builtins
                code = codes[name]
                exec(marshal.loads(code) if type(code) is bytes else _compiled(name, code), vars(made))
                made = loaded.setdefault(name, made)
            return made
        finally:
            if locked:
                lock.release()

    return module(f"{package}.{main}")


def _compiled(name: str, source: str) -> Any:
    file = f"<trio_debugmcp probe>/{name.rpartition('.')[2]}.py"
    return compile(source, file, "exec", dont_inherit=True, optimize=2)


# --- Blobs ------------------------------------------------------------------------------------------------------------


def pack(sources: Dict[str, str], kept: Kept) -> bytes:
    """Compile sources to a blob, in which each module is by itself: most programs need a few of them."""
    dumps = kept.module("marshal").dumps
    packed: bytes = dumps({name: dumps(_compiled(name, source)) for name, source in sources.items()})
    return packed


def blob_file(directory: str, digest: str) -> str:
    """Return the path of the blob of these sources for this version of Python."""
    return f"{directory}/{digest}-{sys.implementation.cache_tag}.blob"


def read_blob(path: str, kept: Kept) -> Optional[bytes]:
    """Return a blob from a file that this user has written for this version of Python, or None."""
    os = kept.module("os")
    try:
        file = os.open(path, os.O_RDONLY)
        try:
            data = os.read(file, _MOST_BLOB) if _is_ours(os.fstat(file), os) else b""
        finally:
            os.close(file)
    except OSError:
        return None
    blob: bytes = data[len(_mark(b"", kept)) :]
    return blob if data[: len(data) - len(blob)] == _mark(blob, kept) else None


def keep_blob(path: str, blob: bytes, kept: Kept) -> None:
    """Write a blob to its file, if that can be done in a directory of this user's. Never raises."""
    os = kept.module("os")
    part = f"{path}.{os.getpid()}"
    try:
        if not _is_ours(os.stat(path.rpartition("/")[0]), os):
            return
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            data = _mark(blob, kept) + blob
            whole = os.write(file, data) == len(data)
        finally:
            os.close(file)
        if whole:
            os.replace(part, path)
        else:
            os.unlink(part)
    except OSError:  # there is no such directory where the program runs, or the disk is full
        return


def _is_ours(found: Any, os: Any) -> bool:
    """Whether only this user can have written there. What is loaded is code."""
    return bool(found.st_uid == os.geteuid() and not found.st_mode & 0o022)


def _mark(blob: bytes, kept: Kept) -> bytes:
    """What stands before a blob: for which version of Python it is, and whether it is whole."""
    mark: bytes = kept.magic + kept.module("_imp").source_hash(0, blob)
    return mark


# --- Installation -----------------------------------------------------------------------------------------------------


def install(
    place: Dict[str, Any], name: str, directory: Optional[str], digest: str, sources: Optional[Dict[str, str]]
) -> str:
    """Put the probe under a name into a namespace, once. Returns `installed`, or `sources` if these are needed."""
    if name in place:
        return "installed"
    kept = Kept()
    path = blob_file(directory, digest) if directory is not None else ""
    packed: Optional[Packed] = read_blob(path, kept) if path else None
    if packed is None:
        if sources is None:
            return "sources"
        packed = sources
        if path:
            packed = pack(sources, kept)
            keep_blob(path, packed, kept)
    place.setdefault(name, load(packed, kept))
    return "installed"
