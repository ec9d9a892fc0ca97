"""What code of the program says of a value: its `__repr__`, the `__str__` of an exception, run within bounds.

    of(basket, 200, budget)             # "basket of ben"
    message(error, 200, budget, True)   # "no such product"

What raises, takes too long or would is said in the place of the text.
"""

import sys
import types
from typing import Any, Optional

from trio_debugmcp.probe.inside.bounds import Budget, TooSlowError, slow, slowness
from trio_debugmcp.probe.inside.values import atoms, facts
from trio_debugmcp.probe.inside.values.parts import OUT_OF_TIME

LARGE = 10000
"""Items from which on a collection of another library is not asked for its `repr`: C code cannot be interrupted."""

_MOST_MESSAGE = 200
"""Characters of an exception's message that is read without code of the program."""

_QUICK = {
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "pathlib": ("PosixPath", "PurePosixPath", "PurePath", "Path", "WindowsPath", "PureWindowsPath"),
    "pathlib._local": ("PosixPath", "PurePosixPath", "PurePath", "Path", "WindowsPath", "PureWindowsPath"),
    "re": ("Pattern", "Match"),
    "uuid": ("UUID",),
    "numpy": tuple("bool bool_ float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()),
}
"""Types of libraries, by module, whose `repr` runs no code but its own and takes no time."""


def of(value: Any, limit: int, budget: Budget) -> str:
    """Return what `repr` of a value is, or why that is not known."""
    cls = type(value)
    if slow(cls) is not None:
        return f"<repr {slowness()}>"
    unasked = _unasked(value)
    if unasked is not None:
        return atoms.cut(unasked, limit)
    size = _size(value)
    if size is not None and size > LARGE:
        return f"<{facts.type_name(cls)} of {size} items>"
    try:
        text = str.__str__(budget.run(cls, lambda: repr(value)))
        if slow(cls) is None:
            return atoms.cut(_squeezed(text) if "\n" in text else text, limit)
        raise TooSlowError  # the same value reads the same now and later
    except TooSlowError:
        return f"<repr {slowness()}>" if slow(cls) is not None else OUT_OF_TIME
    except BaseException as error:
        if budget.passes_on(error):
            raise
        return atoms.cut(f"<repr raised {error_text(error)}>", limit)


def message(error: BaseException, limit: int, budget: Budget, code: bool) -> Optional[str]:
    """Return what `str` of an exception is; None if that is code of the program, and none may be run."""
    cls = type(error)
    arguments = atoms.arguments(error)
    quick = facts.class_attribute(cls, "__str__") is BaseException.__str__ and len(arguments) < 2
    if quick and all(type(argument) is str for argument in arguments):
        return atoms.cut(arguments[0], limit) if arguments else ""
    if not code and not (facts.module_name(cls) == "builtins" and all(map(_is_atom, arguments))):
        return None
    try:
        return atoms.cut(str.__str__(budget.run(cls, lambda: str(error))), limit)
    except TooSlowError:
        return f"<str {slowness()}>" if slow(cls) is not None else OUT_OF_TIME
    except BaseException as raised:
        return atoms.cut(f"<str raised {error_text(raised)}>", limit)


def _size(value: Any) -> Optional[int]:
    """The length of a collection, where C code knows it: a `__len__` in Python may fetch what there is, and keep it."""
    known = facts.length(value)
    if known is not None:
        return known
    counts = facts.class_attribute(type(value), "__len__")
    if type(counts) not in (types.WrapperDescriptorType, types.MethodDescriptorType):
        return None
    try:
        return int(counts(value))
    except Exception:
        return None


def _unasked(value: Any) -> Optional[str]:
    """Return what is shown of a query of Django: its `repr` would ask the database, by a connection of its own."""
    for base in facts.mro(type(value)):
        if facts.type_name(base) == "QuerySet" and facts.module_name(base) == "django.db.models.query":
            model, fetched = facts.attribute(value, "model"), facts.attribute(value, "_result_cache")
            of = f" of {facts.type_name(model)}" if isinstance(model, type) else ""
            count = list.__len__(fetched) if type(fetched) is list else None
            state = "not evaluated" if count is None else f"{count} fetched"
            return f"<{facts.type_name(type(value))}{of}, {state}>"
    return None


def _is_atom(value: Any) -> bool:
    return atoms.of(type(value)) is not None


def is_quick(cls: type) -> bool:
    """Whether this is one of the types of libraries whose `repr` takes no time and has no effects."""
    names = _QUICK.get(facts.module_name(cls))
    if names is None or facts.type_name(cls) not in names:
        return False
    module: Any = sys.modules.get(facts.module_name(cls))
    return getattr(module, facts.type_name(cls), None) is cls


def _squeezed(text: str) -> str:
    """Return a text of several lines without the blanks that fill them."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def error_text(error: BaseException) -> str:
    """Return an exception's type and, where it is a string, its message, without code of the program."""
    arguments = atoms.arguments(error)
    text = f": {str.__str__(arguments[0])[:_MOST_MESSAGE]}" if arguments and type(arguments[0]) is str else ""
    return facts.type_name(type(error)) + text
