"""The names that fit to what is typed, found without running code of the program.

    completions("first.bit_le", 1, 13, frame)
    # [{"label": "bit_length", "type": "method", "start": 6, "length": 6}]

Behind a dot these are the names in the object and in its classes; `__dir__` and `__getattr__` are not asked.
"""

import types
from typing import Any, Dict, Iterator, List, Tuple

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.safe import walk
from trio_debugmcp.probe.inside.values import facts

MOST = 2000

_OPENING = {")": "(", "]": "[", "}": "{"}

_QUOTES = ("'", '"')

_FUNCTIONS: Tuple[type, ...] = (types.FunctionType, types.BuiltinFunctionType)

_METHODS: Tuple[type, ...] = (
    types.MethodType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    classmethod,
    staticmethod,
)


def completions(text: str, line: int, column: int, frame: Any) -> List[Dict[str, Any]]:
    """Return what fits before a place in a text, as DAP describes it.

    Lines and columns are counted from 1, columns in UTF-16. Without a frame, the names are those of the main module.
    """
    lines = text.splitlines() or [""]
    if not 1 <= line <= len(lines):
        return []
    units = lines[line - 1].encode("utf-16-le", "surrogatepass")[: 2 * max(0, column - 1)]
    owner, dot, begun = _parts(units.decode("utf-16-le", "replace"))
    try:
        known = list(_names_in(walk.value(owner, _lookups(frame))) if dot else _names(frame))
    except Exception:  # the expression is not complete, has no value, or could run something
        return []
    wanted, length = begun.lower(), len(begun.encode("utf-16-le", "replace")) // 2
    found: Dict[str, str] = {}
    for name, value in known:
        if type(name) is str and name not in found and name.lower().startswith(wanted) and name.isidentifier():
            found[name] = _kind(value, bool(dot))
    ordered = sorted(found, key=_rank)[:MOST]
    start = len(units) // 2 - length
    return [{"label": name, "type": found[name], "start": start, "length": length} for name in ordered]


# --- What is typed ----------------------------------------------------------------------------------------------------


def _parts(text: str) -> Tuple[str, str, str]:
    """Split what is typed: the expression before the last dot, the dot, and the name that is begun."""
    end = len(text)
    while end and (text[end - 1].isidentifier() or text[end - 1].isdigit()):
        end -= 1
    begun, before = text[end:], text[:end].rstrip()
    if not before.endswith("."):
        return "", "", begun
    owner = before[:-1].rstrip()
    return owner[_begin(owner) :], ".", begun


def _begin(text: str) -> int:
    """Return where the expression begins that a text ends with: names, dots, brackets and quoted texts."""
    place = len(text)
    while place:
        last = text[place - 1]
        if last in _OPENING:
            place = _opening(text, place - 1)
        elif last in _QUOTES:
            place = max(0, text.rfind(last, 0, place - 1))
        elif last == "." or last.isidentifier() or last.isdigit():
            place -= 1
        else:
            break
    return place


def _opening(text: str, place: int) -> int:
    """Return where the bracket begins that ends at a place; the begin of the text if it does not."""
    expected = []
    while place >= 0:
        letter = text[place]
        if letter in _OPENING:
            expected.append(_OPENING[letter])
        elif expected and letter == expected[-1]:
            expected.pop()
            if not expected:
                return place
        elif letter in _QUOTES:
            place = text.rfind(letter, 0, place)
        place -= 1
    return 0


# --- Names ------------------------------------------------------------------------------------------------------------


def _lookups(frame: Any) -> Tuple[Dict[str, Any], ...]:
    return (visible_frames.main_globals(), walk.builtin_names()) if frame is None else walk.names_of(frame)


def _names(frame: Any) -> Iterator[Tuple[Any, Any]]:
    """Yield the names of a frame with their values, the innermost first."""
    for names in _lookups(frame):
        for name, value in list(names.items()):
            if visible_frames.is_shown(name):
                yield name, value


def _names_in(value: Any) -> Iterator[Tuple[Any, Any]]:
    """Yield the names in an object and in its classes, with what stands there."""
    if issubclass(type(value), type):
        for base in facts.mro(value):
            yield from list(type.__dict__["__dict__"].__get__(base).items())
    else:
        yield from facts.fields(value)
    for base in facts.mro(type(value)):
        yield from list(type.__dict__["__dict__"].__get__(base).items())


def _kind(value: Any, is_member: bool) -> str:
    cls = type(value)
    if issubclass(cls, types.ModuleType):
        return "module"
    if issubclass(cls, type):
        return "class"
    if any(cls is each for each in _METHODS):
        return "method"
    if any(cls is each for each in _FUNCTIONS):
        return "method" if is_member else "function"
    if cls is property:
        return "property"
    return "field" if is_member else "variable"


def _rank(name: str) -> int:
    """Public names first, then private ones, then those with a meaning for Python."""
    return 0 if name[:1] != "_" else 2 if name[:2] == "__" else 1
