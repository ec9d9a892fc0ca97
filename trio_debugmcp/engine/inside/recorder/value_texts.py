"""Texts of values that are more than their type: a date, a sum of money, a path, an object of named fields.

    reader = reader_of(Decimal)         # None: of values of this type only the type is said
    reader.text(price, short)           # Decimal('1.20'); `short` makes the texts of what is inside

Others are `<date 2024-05-01>`, `<Color.RED: 1>`, `Point(x=1, y=2)`, `<Order id=3, total=Decimal('1.20')>`.
Nothing of the program runs: types of C are asked by their own methods, which no program can replace, of others the
slots and the instance dict are read. A subclass is another type, of which the program knows the text.
"""

import types
from itertools import islice
from typing import Any, Callable

from trio_debugmcp.engine.inside.recorder import array_memory
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.probe.inside import imported
from trio_debugmcp.probe.inside.values import facts

ShortText = Callable[[Any], str]
ValueText = Callable[[Any, ShortText], str]
"""May raise: then only the type is known."""

MISSING = facts.MISSING

_MOST_FIELDS = 8
"""Fields of an object in its text, and items of a counter."""

_MOST_BYTES = 200

_MOST_BITS = 600
"""Of an integer in a text: its decimal digits take quadratic time."""

_MOST_NUMBERS = 20
"""Of an array whose text has them: others have their shape."""

_SCALARS = frozenset(["bool", "bool_", "float16", "float32", "float64"]).union(
    [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
)
"""Names of the types of numpy's numbers. Of others, `datetime64`, the memory is not what they say."""

_name: Any = type.__dict__["__name__"].__get__
_flags: Any = type.__dict__["__flags__"].__get__
_HEAP, _IMMUTABLE = 1 << 9, 1 << 8
"""Flags of a class that is not static, and of one whose attributes no program can set."""

_MEMBER = types.MemberDescriptorType

_dict_get, _tuple_iter = dict.get, tuple.__iter__


class TextReader:
    """How the values of a type are said.

    Attributes:
        text: makes the text of one.
        is_value: nothing is in them, so that they are said inside of others, too.
    """

    __slots__ = ("is_value", "text")

    def __init__(self, text: ValueText, is_value: bool) -> None:
        self.text = text
        self.is_value = is_value


def reader_of(cls: Any) -> TextReader | None:
    """Return what makes the texts of exactly this type's values, or None."""
    make = _OF_C.get(_named(cls)) if _is_of_c(cls) else _of_library(cls)
    if make is not None:
        return TextReader(make(cls), True)
    if array_memory.is_of_numpy(cls):
        return _of_numpy(cls)
    if facts.is_enum(cls):
        return TextReader(_enum_member(cls), True)
    if _is_of_library(cls, "collections", "Counter"):
        return TextReader(_counter, False)
    text = _named_tuple(cls) if issubclass(cls, tuple) else _object(cls)
    return None if text is None else TextReader(text, False)


def _is_of_c(cls: Any) -> bool:
    flags = _flags(cls)
    return not flags & _HEAP or bool(flags & _IMMUTABLE)


def _named(cls: Any) -> tuple[str, str]:
    return facts.module_name(cls), facts.type_name(cls)


def _of_library(cls: Any) -> Callable[[Any], ValueText] | None:
    module, name = _named(cls)
    make = _OF_LIBRARY.get((module.partition(".")[0], name))
    return make if make is not None and _is_of_library(cls, module, name) else None


def _is_of_library(cls: Any, module: str, name: str) -> bool:
    return _named(cls) == (module, name) and facts.attribute(imported.now(module), name) is cls


def _int(value: Any) -> int:
    if type(value) is not int or value.bit_length() > _MOST_BITS:
        raise ValueError
    return value


# --- Types of C -------------------------------------------------------------------------------------------------------


def _by_repr(cls: Any) -> ValueText:
    method = cls.__dict__["__repr__"]
    return lambda value, _: str(method(value))


def _by_method(name: str) -> Callable[[Any], ValueText]:
    def make(cls: Any) -> ValueText:
        method, shown = cls.__dict__[name], facts.type_name(cls)
        return lambda value, _: f"<{shown} {method(value)}>"

    return make


def _zoned(cls: Any) -> ValueText:
    """Of a time with a zone: one that the program has made is asked for nothing."""
    isoformat, replace, zone = cls.__dict__["isoformat"], cls.__dict__["replace"], cls.__dict__["tzinfo"].__get__
    shown = facts.type_name(cls)

    def text(value: Any, short: ShortText) -> str:
        tzinfo = zone(value)
        kind = type(tzinfo)
        if tzinfo is None or (_is_of_c(kind) and facts.type_name(kind) == "timezone"):
            return f"<{shown} {isoformat(value)}>"
        if not (_is_of_c(kind) and facts.type_name(kind) == "ZoneInfo"):
            return f"<{shown} {isoformat(replace(value, tzinfo=None))} in a {facts.type_name(kind)}>"
        key = facts.attribute(tzinfo, "key")
        return f"<{shown} {isoformat(value)}{f'[{key}]' if type(key) is str else ''}>"

    return text


def _range(cls: Any) -> ValueText:
    def text(value: Any, short: ShortText) -> str:
        start, stop, step = _int(value.start), _int(value.stop), _int(value.step)
        return f"range({start}, {stop})" if step == 1 else f"range({start}, {stop}, {step})"

    return text


def _byte_array(cls: Any) -> ValueText:
    def text(value: Any, short: ShortText) -> str:
        begin = repr(bytes(value[:_MOST_BYTES]))
        more = len(value) - _MOST_BYTES
        return f"bytearray({begin})" if more <= 0 else f"bytearray({begin}… (+{more} bytes))"

    return text


_OF_C: dict[tuple[str, str], Callable[[Any], ValueText]] = {
    ("decimal", "Decimal"): _by_repr,
    ("datetime", "date"): _by_method("isoformat"),
    ("datetime", "datetime"): _zoned,
    ("datetime", "time"): _zoned,
    ("datetime", "timedelta"): _by_method("__str__"),
    ("builtins", "range"): _range,
    ("builtins", "bytearray"): _byte_array,
}
"""By module and name: only code in C makes such types."""


# --- Numbers and arrays of numpy --------------------------------------------------------------------------------------


def _of_numpy(cls: Any) -> TextReader | None:
    if array_memory.is_plain_array(cls):
        return TextReader(_array, False)
    return TextReader(_scalar(cls), True) if facts.type_name(cls) in _SCALARS else None


def _scalar(cls: Any) -> ValueText:
    name = facts.type_name(cls)

    def text(value: Any, short: ShortText) -> str:
        memory = array_memory.memory_of(value)
        if memory is None:
            raise ValueError
        return f"np.{name}({memory.numbers()[0]!r})"

    return text


def _array(value: Any, short: ShortText) -> str:
    memory = array_memory.memory_of(value)
    if memory is not None and memory.size <= _MOST_NUMBERS and (memory.size or len(memory.shape) == 1):
        return f"ndarray({memory.nested(memory.numbers())}, dtype={memory.dtype})"
    return f"ndarray({array_memory.shape_of(value)})"


# --- Types of the standard library that are written in Python ---------------------------------------------------------


def _slot(cls: Any, name: str) -> Any:
    found = facts.class_attribute(cls, name)
    return found.__get__ if type(found) is _MEMBER else lambda _: MISSING


def _fraction(cls: Any) -> ValueText:
    numerator, denominator = _slot(cls, "_numerator"), _slot(cls, "_denominator")
    return lambda value, _: f"Fraction({_int(numerator(value))}, {_int(denominator(value))})"


def _uuid(cls: Any) -> ValueText:
    number = _slot(cls, "int")

    def text(value: Any, short: ShortText) -> str:
        digits = f"{_int(number(value)):032x}"
        return f"UUID('{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}')"

    return text


def _path(cls: Any) -> ValueText:
    name, parts = facts.type_name(cls), _slot(cls, "_raw_paths")
    is_windows = "Windows" in name

    def text(value: Any, short: ShortText) -> str:
        given = parts(value)
        if type(given) is not list or any([type(part) is not str for part in given]):
            raise ValueError
        return f"{name}({(_raw(given) if is_windows else _joined(given))!r})"

    return text


def _raw(parts: list[str]) -> str:
    return "\\".join(parts)


def _joined(parts: list[str]) -> str:
    """Return the path that parts given to `Path` make, as its text is: without empty parts and dots."""
    first = max([place for place, part in enumerate(parts) if part[:1] == "/"], default=0)
    whole = "/".join(parts[first:])
    names = [name for name in whole.split("/") if name and name != "."]
    root = "" if whole[:1] != "/" else "//" if whole[:2] == "//" and whole[2:3] != "/" else "/"
    return root + "/".join(names) or "."


_OF_LIBRARY: dict[tuple[str, str], Callable[[Any], ValueText]] = {
    ("fractions", "Fraction"): _fraction,
    ("uuid", "UUID"): _uuid,
    **{
        ("pathlib", name): _path
        for name in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")
    },
}  # fmt: skip
"""By the top module and name."""


def _counter(value: Any, short: ShortText) -> str:
    pairs = [f"{short(key)}: {short(count)}" for key, count in list(islice(dict.items(value), _MOST_FIELDS))]
    more = ", …" if dict.__len__(value) > _MOST_FIELDS else ""
    return f"Counter({{{', '.join(pairs)}{more}}})"


# --- Classes of the program -------------------------------------------------------------------------------------------


def _instance_dict(cls: Any) -> Callable[[Any], dict[str, Any]]:
    """Return what reads the `__dict__` of a type's instances; they may have none."""
    described = facts.class_attribute(cls, "__dict__")
    return described.__get__ if type(described) is types.GetSetDescriptorType else lambda _: {}


def _enum_member(cls: Any) -> ValueText:
    own_of = _instance_dict(cls)

    def text(value: Any, short: ShortText) -> str:
        own = own_of(value)
        name = _dict_get(own, "_name_")
        member = f".{name}" if type(name) is str else ""
        own_value = _dict_get(own, "_value_")
        is_hidden = type(own_value) is str and type(name) is str and is_secret(name)
        return f"<{_name(cls)}{member}: {'<secret>' if is_hidden else short(own_value)}>"

    return text


def _named_tuple(cls: Any) -> ValueText | None:
    names = facts.class_attribute(cls, "_fields")
    if type(names) is not tuple or not all([type(name) is str for name in names]):
        return None
    secrets = [is_secret(name) for name in names]

    def text(value: Any, short: ShortText) -> str:
        parts = [
            f"{name}={'<secret>' if secret else short(item)}"
            for name, secret, item in zip(names[:_MOST_FIELDS], secrets, _tuple_iter(value))
        ]
        return f"{_name(cls)}({', '.join(parts)}{', …' if len(names) > _MOST_FIELDS else ''})"

    return text


def _field_names(cls: Any) -> list[str]:
    """Return the fields that a dataclass shows, or a class of attrs or pydantic."""
    for place in ("__dataclass_fields__", "__pydantic_fields__", "__attrs_attrs__"):
        fields = facts.class_attribute(cls, place)
        if type(fields) is dict:
            pairs = list(fields.items())
        elif fields is not MISSING and issubclass(type(fields), tuple):
            pairs = [(facts.attribute(field, "name"), field) for field in _tuple_iter(fields)]
        else:
            continue
        return [name for name, field in pairs if type(name) is str and _is_shown(field)]
    return []


def _is_shown(field: Any) -> bool:
    kind = facts.attribute(field, "_field_type")  # of a dataclass: InitVar and ClassVar have none
    is_field = kind is MISSING or facts.attribute(kind, "name") == "_FIELD"
    return is_field and facts.attribute(field, "repr") is not False


def _object(cls: Any) -> ValueText | None:
    names = _field_names(cls)
    if not names:
        return None
    own_of = _instance_dict(cls)
    fields = [(name, _slot(cls, name), is_secret(name)) for name in names[:_MOST_FIELDS]]
    more = ", …" if len(names) > _MOST_FIELDS else ""

    def text(value: Any, short: ShortText) -> str:
        own = own_of(value)
        parts = []
        for name, slot, secret in fields:
            item = _dict_get(own, name, MISSING)
            if item is MISSING:
                try:
                    item = slot(value)
                except AttributeError:  # not set yet
                    continue
            if item is not MISSING:
                parts.append(f"{name}={'<secret>' if secret else short(item)}")
        return f"<{_name(cls)}{' ' if parts else ''}{', '.join(parts)}{more}>"

    return text
