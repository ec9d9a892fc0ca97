"""Values as text: short, with true lengths, and without changing the program.

    renderer = Renderer(budget)
    renderer.render([1, 2, 3])        # [1, 2, 3]
    renderer.render("a" * 999)        # 'aaaa[200 of them]'… (+799 characters)
    renderer.render(basket)           # Basket(owner='ben', lines=[('tea', 3), ('cup', 1)])
    renderer.render([[1, 2]] * 2)     # [[1, 2], <same as [0]>]

Collections, numbers, strings, functions, classes and exceptions are read directly. The program's own `__repr__` is run
within the bounds of `inside/bounds.py`; an object without one shows its fields. How deep is a question of room: what
fits is not cut.
"""

import types
from itertools import islice
from typing import Any, Iterable, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside.bounds import Budget, TooSlowError, slow
from trio_debugmcp.probe.inside.values import atoms, facts, program_text, shown_objects
from trio_debugmcp.probe.inside.values.parts import COUNT, LEAST, OUT_OF_TIME, Part, filled
from trio_debugmcp.probe.inside.values.program_text import is_quick
from trio_debugmcp.probe.inside.values.shown_objects import ShownObjects

LIMIT = 200
"""Characters of a value, unless the question has a limit of its own."""


CODE_DEPTH = 2
"""Depth down to which the program's `repr` is run; the fields of an object count as two. Below it fields are shown."""

_SHORT_TEXT = 2 * LEAST
"""Characters of a text inside of a value that is never cut."""

_FIRST, _ITEM = 8, 6
"""Items by which the length of a collection's text is estimated, and characters of one besides its own."""

_REPEATED = 10
"""Equal items from which on a list is said by one of them and their number."""

_MOST_COMPARED = 100000


class Renderer:
    """Renders the values of one answer.

    Args:
        budget: Of the answer.
        limit: Characters of a value, before what says how much was left out.
        code: Whether code of the program may be run.
        types: Whether the type of each value is wanted, also where its text shows it.
        fields: Whether an object whose `__repr__` may not be run shows its fields.
        deepest: Down to which depth the program's `repr` is run.
        hexadecimal: Whether integers are shown so.

    Attributes:
        withheld: The text of the last value lacks what only code of the program knows.
        withheld_any: That of any value so far does.
    """

    def __init__(
        self,
        budget: Budget,
        limit: int = LIMIT,
        code: bool = True,
        types: bool = False,
        fields: bool = False,
        deepest: int = CODE_DEPTH,
        hexadecimal: bool = False,
    ) -> None:
        self.types = types
        self.withheld = self.withheld_any = False
        self._code, self._fields, self._deepest = code, fields, deepest
        self._budget = budget
        self._limit = max(limit, 1)
        self._atom = atoms.in_hexadecimal if hexadecimal else atoms.of
        self._open: List[int] = []
        self._shown = ShownObjects()

    def render(self, value: Any) -> str:
        """Return a value as text that is not much longer than the limit. Never raises."""
        self.withheld = False
        try:
            text = self._render(value, self._limit, 0)
        except TooSlowError:
            text = OUT_OF_TIME
        except BaseException as error:
            if self._budget.passes_on(error):
                raise
            text = f"<cannot be shown: {facts.type_name(type(error))}>"
        del self._open[:]
        self._shown.clear()
        self.withheld_any = self.withheld_any or self.withheld
        self._budget.take(len(text))
        return text

    def _render(self, value: Any, limit: int, depth: int) -> str:
        simple = self._atom(type(value))
        return self._compound(value, limit, depth) if simple is None else simple(value, limit)

    def _compound(self, value: Any, limit: int, depth: int) -> str:
        """Return a value with what is inside of it, as far as there is room."""
        if self._budget.spent():
            return OUT_OF_TIME
        if id(value) in self._open:  # a cycle
            return _summary(value, "...")
        self._open.append(id(value))
        try:
            return self._inside(value, limit, depth)
        finally:
            self._open.pop()

    def _inside(self, value: Any, limit: int, depth: int) -> str:
        cls = type(value)
        method = facts.own_repr(cls)
        if _is_named(cls):
            return self._object(value, limit, depth)
        if not isinstance(method, types.FunctionType):
            atom = atoms.inherited(cls, method)
            if atom is not None:
                return atom(value, limit)
            if facts.container(value) is not None:
                return self._collection(value, limit, depth)
            if issubclass(cls, BaseException):
                pairs = [("", f".args[{index}]", each) for index, each in enumerate(atoms.arguments(value))]
                return self._call(cls, pairs, limit, depth)
        if facts.array_shape(value):
            return atoms.array(value, limit)
        if method is None:
            return self._object(value, limit, depth)
        below = depth > self._deepest
        shown = self._without_code(value, limit, depth) if below or (self._fields and not self._code) else None
        if shown is not None:
            self.withheld = self.withheld or not below
            return shown
        return f"{facts.type_name(cls)}(...)" if below and not is_quick(cls) else self._run_repr(value, limit, depth)

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _part(self, value: Any, depth: int, step: Optional[str]) -> Part:
        """Return a value that is inside of another one, from which a step leads to it."""
        cls = type(value)
        simple = self._atom(cls)
        if simple is not None:
            length = facts.length(value) if issubclass(cls, (str, bytes, bytearray)) else 0
            if (length or 0) <= _SHORT_TEXT:
                return Part(simple(value, LIMIT))
            long = length or 0
            return Part(simple(value, LEAST), lambda limit: simple(value, _within(limit, long)), lambda: long)
        if self._budget.spent():
            return Part(OUT_OF_TIME)
        if id(value) in self._open:
            return Part(_summary(value, "..."))
        return self._compound_part(value, depth, step)

    def _compound_part(self, value: Any, depth: int, step: Optional[str]) -> Part:
        cls = type(value)
        method, size, inner = facts.own_repr(cls), 0, "..."
        if _is_named(cls) or (method is None and facts.array_shape(value) is None):
            size = facts.length(value) or len(facts.fields(value))
        elif facts.container(value) is not None and not isinstance(method, types.FunctionType):
            size = facts.length(value) or 0
            inner = f"{size} item{'s' if size != 1 else ''}"
        path = self._shown.path(step)

        if size:
            short = _summary(value, inner)

            def deeper(limit: int) -> str:
                reference = self._shown.reference(value, path, lambda: _estimated(value, size))
                return reference or self._deeper(value, short, limit, depth, step)

            return Part(short, deeper, lambda: _estimated(value, size), lambda: self._shown.claim(value, path))
        mark = self._shown.mark()
        text = self._deeper(value, "...", self._limit, depth, step)  # once, as it may run code
        self._shown.back_to(mark)  # of what is in it, much may not be shown
        if len(text) <= _SHORT_TEXT and not shown_objects.empty_is_said(cls):
            return Part(text)
        length = len(text)

        def cut(limit: int) -> str:
            reference = self._shown.reference(value, path, lambda: length)
            return reference or atoms.cut(text, _within(limit, length))

        short = text if length <= _SHORT_TEXT else atoms.cut(text, LEAST)
        return Part(short, cut, lambda: length, lambda: self._shown.claim(value, path))

    def _deeper(self, value: Any, short: str, limit: int, depth: int, step: Optional[str]) -> str:
        try:
            return self._shown.below(step, self._compound, value, limit, depth)
        except RecursionError:  # the program is deep in its stack, or the value in others
            return short

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
        if total >= _REPEATED and not name and base in (list, tuple) and _is_repeated(value, base, total):
            one = self._shown.below("[0]", self._render, base.__getitem__(value, 0), limit, depth + 1)
            return f"{opening}{one}{',' if base is tuple else ''}{closing} * {total}"
        room = limit - len(opening) - len(closing)
        spare = COUNT if len(self._open) > 1 else 0
        text = filled(self._parts(value, limit, depth), total, room, "item", self._shown, spare)
        return f"{opening}{text}{',' if base is tuple and total == 1 else ''}{closing}"

    def _parts(self, value: Any, limit: int, depth: int) -> Iterator[Part]:
        """Yield the items of a collection, lazily: most of a long one are never rendered."""
        keyed, placed = issubclass(type(value), dict), not issubclass(type(value), (set, frozenset))
        try:
            for key, item in facts.items(value, 0, limit):
                if keyed:
                    name = self._shown.below(None, self._render, key, max(limit // 2, LEAST), depth + 1)
                    yield self._part(item, depth + 1, f"[{name}]").behind(f"{name}: ")
                else:
                    yield self._part(item, depth + 1, f"[{key}]" if placed else None)
        except RuntimeError:  # the program changed it meanwhile
            return

    # --- Objects ------------------------------------------------------------------------------------------------------

    def _object(self, value: Any, limit: int, depth: int) -> str:
        cls = type(value)
        fields: Iterable[Tuple[str, Any]] = facts.fields(value)
        if _is_named(cls):
            fields = zip(facts.class_attribute(cls, "_fields"), tuple.__iter__(value))
        found = [(f"{name}=", f".{name}", item) for name, item in fields]
        if not found and not facts.is_heap_type(cls):
            return atoms.cut(object.__repr__(value), limit)  # of C code: nothing is known but its address
        return self._call(cls, found, limit, max(depth, 1))

    def _without_code(self, value: Any, limit: int, depth: int) -> Optional[str]:
        """What is known of a value that has a `repr` of its own, or None."""
        cls = type(value)
        if is_quick(cls):
            return None
        if facts.is_enum(cls):
            own = facts.instance_dict(value) or {}
            return f"<{facts.type_name(cls)}.{own.get('_name_')}: {self._render(own.get('_value_'), limit, 1)}>"
        if facts.container(value) is not None:
            return self._collection(value, limit, depth)
        for base in (str, bytes, bytearray, int):
            atom = atoms.of(base) if issubclass(cls, base) else None
            if atom is not None:
                return f"{facts.type_name(cls)}({atom(value, limit)})"
        return self._object(value, limit, depth) if facts.fields(value) else None

    def _call(self, cls: type, pairs: List[Tuple[str, str, Any]], limit: int, depth: int) -> str:
        name = facts.type_name(cls)
        parts = (self._part(item, depth + 1, step).behind(before) for before, step, item in pairs)
        spare = COUNT if len(self._open) > 1 else 0
        return f"{name}({filled(parts, len(pairs), limit - len(name) - 2, 'field', self._shown, spare)})"

    # --- Code of the program ------------------------------------------------------------------------------------------

    def _run_repr(self, value: Any, limit: int, depth: int) -> str:
        cls = type(value)
        if self._code or is_quick(cls) or slow(cls) is not None:
            return program_text.of(value, limit, self._budget)
        self.withheld = True
        return self._object(value, limit, depth) if self._fields else f"{facts.type_name(cls)}(...)"

    def message(self, error: BaseException, limit: int) -> str:
        """Return what `str` of an exception is, or where that code is not run, its arguments. Never raises."""
        text = program_text.message(error, limit, self._budget, self._code)
        if text is not None:
            return text
        self.withheld_any = True
        return self.render(atoms.arguments(error))


def _within(limit: int, length: int) -> int:
    """Return how much of a text is shown so that, with what says how much was left out, it is within a limit."""
    return limit if length <= limit - 3 else max(limit - COUNT, LEAST)  # 3: quotes


def _estimated(value: Any, size: int) -> int:
    """Return about how many characters a value with so many items or fields has, by the first ones."""
    first: List[Any] = []
    try:
        held = facts.container(value) is not None
        first = list(facts.items(value, 0, _FIRST)) if held else facts.fields(value)[:_FIRST]
    except RuntimeError:  # the program changes it meanwhile
        pass
    seen = sum(_ITEM + (facts.length(part) or 0) for pair in first for part in pair if type(part) is not int)
    return size * seen // max(len(first), 1) + _ITEM * size


def _is_repeated(value: Any, base: Any, total: int) -> bool:
    """Whether a list or tuple has one object only, time and again."""
    return total <= _MOST_COMPARED and all(
        len({*map(id, islice(base.__iter__(value), most))}) == 1 for most in (_REPEATED, total)
    )


def _is_named(cls: type) -> bool:
    return issubclass(cls, tuple) and type(facts.class_attribute(cls, "_fields")) is tuple


def has_own_repr(value: Any) -> bool:
    """Whether the text of a value is what a function of the program returns."""
    own = facts.own_repr(type(value))
    return isinstance(own, types.FunctionType) and not _is_named(type(value)) and facts.array_shape(value) is None


def _summary(value: Any, inner: str) -> str:
    found = facts.container(value)
    if found is not None and type(value) is found[0]:
        return f"{found[2]}{inner}{found[3]}"
    return f"{facts.type_name(type(value))}({inner})"


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
