"""Values that are shown without code of the program: numbers, strings, functions, classes, arrays."""

import types
from typing import Any, Callable, Dict, Optional, Tuple

from trio_debugmcp.probe.inside.values import byte_runs, facts

Atom = Callable[[Any, int], str]

MOST_BITS = 2000
"""Of an integer that is shown in full: its decimal digits take quadratic time."""

_MOST_WRAPPED = 20
"""Decorators of one function that are looked through; a circle of them is possible."""

_SMALL_ARRAY = 20
"""Items of an array that are shown."""

_ESCAPED, _QUOTES = 2, 20
"""How many times as long as the limit a text may become by its escapes, and characters around it: `bytearray(b'')`."""

_ARGUMENTS: Any = BaseException.__dict__["args"]
_QUALIFIED_NAME: Any = type.__dict__["__qualname__"]


def cut(text: str, limit: int, total: Optional[int] = None) -> str:
    """Return a text up to a limit, with the number of characters left out."""
    left = (len(text) if total is None else total) - limit
    return text if left <= 0 else f"{text[:limit]}… (+{left} character{'s' if left != 1 else ''})"


def arguments(error: BaseException) -> Tuple[Any, ...]:
    """Return the `args` of an exception, whatever its class has under that name."""
    found = _ARGUMENTS.__get__(error)
    return found if type(found) is tuple else ()


def qualified_name(cls: type) -> str:
    """Return the name of a class with its module, without `builtins`."""
    module = facts.module_name(cls)
    name = str(_QUALIFIED_NAME.__get__(cls))
    return name if module in ("", "builtins") else f"{module}.{name}"


# --- One function per kind --------------------------------------------------------------------------------------------


def _string(value: str, limit: int) -> str:
    return _quoted(
        str.__repr__, lambda count: str.__getitem__(value, slice(count)), str.__len__(value), limit, "character"
    )


def _bytes(value: bytes, limit: int) -> str:
    base: Any = bytes if issubclass(type(value), bytes) else bytearray
    length = base.__len__(value)
    shown = byte_runs.runs(lambda start, end: bytes(base.__getitem__(value, slice(start, end))), length, limit)
    if shown is not None:
        text, left = shown
        whole = text if base is bytes else f"bytearray({text})"
        return whole if not left else f"{whole}… (+{left} byte{'s' if left != 1 else ''})"
    return _quoted(base.__repr__, lambda count: base.__getitem__(value, slice(count)), length, limit, "byte")


def _quoted(written: Callable[[Any], str], begin: Callable[[int], Any], length: int, limit: int, noun: str) -> str:
    """Return a text as Python writes it; one that is full of escapes is cut before the limit."""
    count = min(length, limit)
    text = written(begin(count))
    while len(text) > _ESCAPED * limit + _QUOTES and count > 1:
        count = max(1, count * _ESCAPED * limit // len(text))
        text = written(begin(count))
    left = length - count
    return text if left <= 0 else f"{text}… (+{left} {noun}{'s' if left != 1 else ''})"


def _integer(value: int, limit: int) -> str:
    bits = int.bit_length(value)
    return f"<int of {bits} bits>" if bits > MOST_BITS else cut(int.__repr__(value), max(limit, 40))


def _hexadecimal(value: int, limit: int) -> str:
    return cut(hex(value), max(limit, 40))


def _plain(value: Any, limit: int) -> str:
    return cut(repr(value), limit)


def _place(code: types.CodeType) -> str:
    return f"{_file_name(code)}:{code.co_firstlineno}"


def _file_name(code: types.CodeType) -> str:
    return code.co_filename.rpartition("/")[2]


def _function(value: Any, limit: int) -> str:
    return cut(f"<function {value.__qualname__} at {_place(_undecorated(value).__code__)}>", limit)


def _undecorated(function: Any) -> Any:
    """Return the function that decorators have wrapped, whose name and place are meant (`functools.wraps`)."""
    for _ in range(_MOST_WRAPPED):
        inner = dict.get(function.__dict__, "__wrapped__")
        if type(inner) is not types.FunctionType:
            break
        function = inner
    return function


def _method(value: types.MethodType, limit: int) -> str:
    function = value.__func__
    if type(function) is types.FunctionType:
        return cut(f"<method {function.__qualname__} at {_place(_undecorated(function).__code__)}>", limit)
    return cut(f"<method of {facts.type_name(type(value.__self__))}>", limit)


def _builtin(value: Any, limit: int) -> str:
    return cut(f"<built-in function {value.__qualname__}>", limit)


def _module(value: types.ModuleType, limit: int) -> str:
    name = (facts.instance_dict(value) or {}).get("__name__")
    return cut(f"<module {str.__repr__(name) if type(name) is str else '?'}>", limit)


def _class(value: type, limit: int) -> str:
    return cut(f"<class {str.__repr__(qualified_name(value))}>", limit)


def _generator(value: Any, limit: int) -> str:
    kind = type(value).__name__
    prefix = {"generator": "gi", "coroutine": "cr", "async_generator": "ag"}[kind]
    frame = getattr(value, f"{prefix}_frame")
    code = getattr(value, f"{prefix}_code")
    if frame is None:
        state = "finished"
    elif getattr(value, f"{prefix}_running"):
        state = "running"
    elif not getattr(value, f"{prefix}_suspended", frame.f_lasti >= 0):  # 3.11 or newer; before 3.11 -1 is the start
        state = f"not started, {_place(code)}"
    else:
        state = f"suspended at {_file_name(code)}:{frame.f_lineno}"
    return cut(f"<{kind} {value.__qualname__}, {state}>", limit)


async def _coroutine() -> None:
    return None


async def _async_generator() -> Any:
    yield


def _kinds() -> Dict[type, Atom]:
    coroutine = _coroutine()
    kinds: Dict[type, Atom] = {type(coroutine): _generator, type(_async_generator()): _generator}
    coroutine.close()
    kinds.update(dict.fromkeys((type(None), bool, float, complex, type(...), type(NotImplemented), range), _plain))
    kinds.update({int: _integer, str: _string, bytes: _bytes, bytearray: _bytes, type: _class})
    kinds.update({types.FunctionType: _function, types.MethodType: _method, types.ModuleType: _module})
    kinds.update({types.BuiltinFunctionType: _builtin, types.GeneratorType: _generator})
    return kinds


_KINDS = _kinds()

_BY_ID = {id(cls): atom for cls, atom in _KINDS.items()}
"""Looked up by id: the hash of a class may be code of its metaclass."""


def of(cls: type) -> Optional[Atom]:
    """Return how the values of exactly this type are shown, or None."""
    return _BY_ID.get(id(cls))


def in_hexadecimal(cls: type) -> Optional[Atom]:
    """Return what shows a value of a type, integers as hexadecimal numbers."""
    return _hexadecimal if cls is int else of(cls)


def inherited(cls: type, method: Any) -> Optional[Atom]:
    """Return how the values of a subclass of an atom are shown, if it has no `repr` of its own."""
    if issubclass(cls, type):
        return _class
    if issubclass(cls, types.ModuleType):
        return _module
    for base in (str, bytes, bytearray, int, float, complex):
        if issubclass(cls, base) and method is base.__repr__:
            return _KINDS[base] if base is not float and base is not complex else _plain
    return None


# --- Arrays -----------------------------------------------------------------------------------------------------------


def array(value: Any, limit: int) -> str:
    """Return the shape and type of an array or a table of numpy, pandas, torch and their like; few items in full."""
    shape = facts.array_shape(value) or ()
    name = facts.type_name(type(value))
    columns = facts.class_attribute(type(value), "columns")
    if columns is not facts.MISSING or name == "DataFrame":
        return cut(f"DataFrame({_table(value, shape, limit)})", limit)
    parts = [f"shape={shape!r}", f"dtype={_quick(value, 'dtype')}"]
    size = 1
    for each in shape:
        size *= each
    if size <= _SMALL_ARRAY and facts.module_name(type(value)).startswith(
        ("numpy", "pandas")
    ):  # others may copy from a GPU
        items = _quick(value, "tolist", call=True)
        parts[:1] = [items] if items != "?" else parts[:1]
    return cut(f"{name}({', '.join(parts)})", limit)


def _table(value: Any, shape: Tuple[int, ...], limit: int) -> str:
    try:
        names = [str(column) for column in list(value.columns[:_SMALL_ARRAY])]
    except Exception:
        names = []
    more = ", …" if len(shape) > 1 and shape[1] > len(names) else ""
    return f"{' x '.join(map(str, shape))}: {', '.join(names)}{more}"


def _quick(value: Any, name: str, call: bool = False) -> str:
    try:
        found = getattr(value, name)
        return str(found() if call else found)
    except Exception:
        return "?"
