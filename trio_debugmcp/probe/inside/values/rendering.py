"""Values as text: short, with true lengths, and without changing the program.

    renderer = Renderer(budget)
    renderer.render([1, 2, 3])        # [1, 2, 3]
    renderer.render("a" * 999)        # 'aaaa[200 of them]'… (+799 characters)
    renderer.render(basket)           # Basket(owner='ben', lines=[2 items])

Collections, numbers, strings, functions, classes and exceptions are read directly. The program's own `__repr__` is run
within the bounds of `inside/bounds.py`; an object without one shows its fields, one level deep.
"""

import sys
import types
from typing import Any, Iterable, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside.bounds import Budget, TooSlowError, slow, slowness
from trio_debugmcp.probe.inside.values import atoms, facts

LIMIT = 200
"""Characters of a value, unless the question has a limit of its own."""

LARGE = 10000
"""Items from which on a collection of another library is not asked for its `repr`: C code cannot be interrupted."""

DEEPEST = 1
"""Depth down to which the items of collections are shown; below it their number. Fields of an object count as two."""

OUT_OF_TIME = "<no time left>"

_LEAST = 20
"""Characters of an item, however little is left of the limit."""

_FIRST = 10
"""Items of a collection among which one without a `repr` is looked for."""


class Renderer:
    """Renders the values of one answer.

    Args:
        budget: Of the answer.
        limit: Characters of a value, before what says how much was left out.
        code: Whether code of the program may be run.
        types: Whether the type of each value is wanted, also where its text shows it.
        fields: Whether an object whose `__repr__` may not be run shows its fields.

    Attributes:
        withheld: The text of the last value lacks what only code of the program knows.
        withheld_any: That of any value so far does.
    """

    def __init__(
        self, budget: Budget, limit: int = LIMIT, code: bool = True, types: bool = False, fields: bool = False
    ) -> None:
        self.types = types
        self.withheld = self.withheld_any = False
        self._code, self._fields = code, fields
        self._budget = budget
        self._limit = max(limit, 1)
        self._open: List[int] = []

    def render(self, value: Any) -> str:
        """Return a value as text that is not much longer than the limit. Never raises."""
        self.withheld = False
        try:
            text = self._render(value, self._limit, 0)
        except TooSlowError:
            text = OUT_OF_TIME
        except BaseException as error:
            text = f"<cannot be shown: {facts.type_name(type(error))}>"
        del self._open[:]
        self.withheld_any = self.withheld_any or self.withheld
        self._budget.take(len(text))
        return text

    def _render(self, value: Any, limit: int, depth: int) -> str:
        simple = atoms.of(type(value))
        if simple is not None:
            return simple(value, limit)
        if self._budget.spent():
            return OUT_OF_TIME
        if id(value) in self._open:  # a cycle
            return _summary(value, "...")
        self._open.append(id(value))
        try:
            return self._compound(value, limit, depth)
        finally:
            self._open.pop()

    def _compound(self, value: Any, limit: int, depth: int) -> str:
        cls = type(value)
        method = facts.own_repr(cls)
        if issubclass(cls, tuple) and type(facts.class_attribute(cls, "_fields")) is tuple:
            return self._named_tuple(value, limit, depth)
        if not isinstance(method, types.FunctionType):
            atom = atoms.inherited(cls, method)
            if atom is not None:
                return atom(value, limit)
            if facts.container(value) is not None:
                return self._collection(value, limit, depth)
            if issubclass(cls, BaseException):
                return self._call(cls, [("", argument) for argument in atoms.arguments(value)], limit, depth)
        if facts.array_shape(value):
            return atoms.array(value, limit)
        if method is None:
            return self._object(value, limit, depth)
        shown = self._without_code(value, limit, depth) if self._fields and not self._code else None
        if shown is not None:
            self.withheld = True
            return shown
        return self._run_repr(value, limit, depth)

    # --- Collections --------------------------------------------------------------------------------------------------

    def _collection(self, value: Any, limit: int, depth: int) -> str:
        base, _, opening, closing = facts.container(value) or facts.CONTAINERS[0]
        total = facts.length(value) or 0
        name = "" if type(value) is base else facts.type_name(type(value))
        if name:  # Stack([1, 2])
            bare = {"frozenset({": "{", "deque([": "["}.get(opening, opening)
            opening, closing = f"{name}({bare}", {"{": "}", "[": "]", "(": ")"}[bare] + ")"
        if not total:
            empty = {id(dict): "{}", id(set): "set()", id(frozenset): "frozenset()"}.get(id(base), opening + closing)
            return f"{name}()" if name else empty
        if depth > DEEPEST:
            return _summary(value, f"{total} item{'s' if total != 1 else ''}")
        text = joined(self._pieces(value, limit, depth), total, limit - len(opening) - len(closing), "item")
        return f"{opening}{text}{',' if base is tuple and total == 1 else ''}{closing}"

    def _pieces(self, value: Any, limit: int, depth: int) -> Iterator[str]:
        """Yield the items of a collection as text, lazily: most of a long one are never rendered."""
        keyed = issubclass(type(value), dict)
        try:
            for key, item in facts.items(value, 0, limit):
                name = f"{self._render(key, max(limit // 2, _LEAST), depth + 1)}: " if keyed else ""
                yield name + self._render(item, max(limit // 2, _LEAST), depth + 1)
        except RuntimeError:  # the program changed it meanwhile
            return

    # --- Objects ------------------------------------------------------------------------------------------------------

    def _named_tuple(self, value: Any, limit: int, depth: int) -> str:
        names = facts.class_attribute(type(value), "_fields")
        pairs = [(f"{name}=", item) for name, item in zip(names, tuple.__iter__(value))]
        return self._call(type(value), pairs, limit, max(depth, DEEPEST))

    def _object(self, value: Any, limit: int, depth: int) -> str:
        cls = type(value)
        found = [(f"{name}=", item) for name, item in facts.fields(value)]
        if depth > DEEPEST and found:
            return _summary(value, "...")
        if not found and not facts.is_heap_type(cls):
            return atoms.cut(object.__repr__(value), limit)  # of C code: nothing is known but its address
        return self._call(cls, found, limit, max(depth, DEEPEST))

    def _without_code(self, value: Any, limit: int, depth: int) -> Optional[str]:
        """What is known of a value that has a `repr` of its own, or None."""
        cls = type(value)
        if is_quick(cls):
            return None
        if facts.is_enum(cls):
            own = facts.instance_dict(value) or {}
            return f"<{facts.type_name(cls)}.{own.get('_name_')}: {self._render(own.get('_value_'), limit, DEEPEST)}>"
        if facts.container(value) is not None:
            return self._collection(value, limit, depth)
        for base in (str, bytes, bytearray, int):
            atom = atoms.of(base) if issubclass(cls, base) else None
            if atom is not None:
                return f"{facts.type_name(cls)}({atom(value, limit)})"
        return self._object(value, limit, depth) if facts.fields(value) else None

    def _call(self, cls: type, pairs: List[Tuple[str, Any]], limit: int, depth: int) -> str:
        name = facts.type_name(cls)
        part = max(limit // 2, _LEAST)
        pieces = (before + self._render(item, part, depth + 1) for before, item in pairs)
        return f"{name}({joined(pieces, len(pairs), limit - len(name) - 2, 'field')})"

    # --- Code of the program ------------------------------------------------------------------------------------------

    def _run_repr(self, value: Any, limit: int, depth: int) -> str:
        cls = type(value)
        if slow(cls) is not None:
            return f"<repr {slowness()}>"
        if not self._code and not is_quick(cls):
            self.withheld = True
            return self._object(value, limit, depth) if self._fields else f"{facts.type_name(cls)}(...)"
        size = self._size(value)
        if size is not None and size > LARGE:
            return f"<{facts.type_name(cls)} of {size} items>"
        try:
            text = self._budget.run(cls, lambda: repr(value))
            if slow(cls) is None:
                return atoms.cut(str.__str__(text), limit)
            raise TooSlowError  # the same value reads the same now and later
        except TooSlowError:
            return f"<repr {slowness()}>" if slow(cls) is not None else OUT_OF_TIME
        except BaseException as error:
            return atoms.cut(f"<repr raised {error_text(error)}>", limit)

    def message(self, error: BaseException, limit: int) -> str:
        """Return what `str` of an exception is, or where that code is not run, its arguments. Never raises."""
        cls = type(error)
        arguments = atoms.arguments(error)
        quick = facts.class_attribute(cls, "__str__") is BaseException.__str__ and len(arguments) < 2
        if quick and all(type(argument) is str for argument in arguments):
            return atoms.cut(arguments[0], limit) if arguments else ""
        if not self._code and not (facts.module_name(cls) == "builtins" and all(map(_is_atom, arguments))):
            self.withheld_any = True
            return self.render(arguments)
        try:
            return atoms.cut(str.__str__(self._budget.run(cls, lambda: str(error))), limit)
        except TooSlowError:
            return f"<str {slowness()}>" if slow(cls) is not None else OUT_OF_TIME
        except BaseException as raised:
            return atoms.cut(f"<str raised {error_text(raised)}>", limit)

    def _size(self, value: Any) -> Optional[int]:
        """The length of a collection that is not one of Python's own."""
        cls = type(value)
        if not callable(facts.class_attribute(cls, "__len__")):
            return None
        try:
            return int(self._budget.run(cls, lambda: len(value)))
        except BaseException:
            return None


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


def _is_atom(value: Any) -> bool:
    return atoms.of(type(value)) is not None


def is_quick(cls: type) -> bool:
    """Whether this is one of the types of libraries whose `repr` takes no time and has no effects."""
    names = _QUICK.get(facts.module_name(cls))
    if names is None or facts.type_name(cls) not in names:
        return False
    module: Any = sys.modules.get(facts.module_name(cls))
    return getattr(module, facts.type_name(cls), None) is cls


def joined(pieces: Iterable[str], total: int, limit: int, noun: str) -> str:
    """Join pieces up to a limit; say how many of the total were left out."""
    shown: List[str] = []
    size = 0
    for piece in pieces:
        if shown and size + len(piece) > limit:
            break
        shown.append(piece)
        size += len(piece) + 2
        if piece == OUT_OF_TIME:
            break
    left = total - len(shown)
    if left > 0:
        shown.append(f"… (+{left} {noun}{'s' if left != 1 else ''})")
    return ", ".join(shown)


def is_bare(value: Any) -> bool:
    """Whether `repr` shows an address in place of the fields, or of digits: of the value, or of a first item."""
    try:
        if facts.container(value) is None:
            return _has_no_repr(value)
        return any(_has_no_repr(item) for _, item in facts.items(value, 0, _FIRST))
    except Exception:  # a collection that the program changes meanwhile
        return False


def _has_no_repr(value: Any) -> bool:
    if type(value) is int:  # since Python 3.11 `repr` raises, and pydevd shows the address
        return value.bit_length() > atoms.MOST_BITS
    return facts.class_attribute(type(value), "__repr__") is object.__repr__


def _summary(value: Any, inner: str) -> str:
    found = facts.container(value)
    if found is not None and type(value) is found[0]:
        return f"{found[2]}{inner}{found[3]}"
    return f"{facts.type_name(type(value))}({inner})"


def error_text(error: BaseException) -> str:
    """Return an exception's type and, where it is a string, its message, without code of the program."""
    arguments = atoms.arguments(error)
    text = f": {str.__str__(arguments[0])[:LIMIT]}" if arguments and type(arguments[0]) is str else ""
    return facts.type_name(type(error)) + text


def shows_type(value: Any, text: str) -> bool:
    """Whether the text of a value shows its type already."""
    cls = type(value)
    if atoms.of(cls) is not None or any(cls is entry[0] for entry in facts.CONTAINERS):
        return True
    before, found, after = text[:LIMIT].partition(facts.type_name(cls))
    if not found or (after[:1].isalnum() or after[:1] == "_"):
        return False
    before = before[1:] if before[:1] == "<" else before  # <shop.Basket object at 0x1>, <Color.RED: 1>
    return not before or (before[-1] in ". " and before[:-1].replace(".", "").replace("_", "").isalnum())
