"""Expressions evaluated without running any code of the program: a small interpreter of Python's syntax tree.

    value("len(orders) > 3 and orders[-1].price", names)

Nothing is compiled and nothing is passed to `eval`. Each node of the tree is computed here from values that are already
there, by operations of C on builtin types. What could run code of the program raises `RejectedError`, and so does what
could take long: a number of a million digits, a list of a million items, a loop that has no end. docs/evaluate_safe.md
says what that guarantees.
"""

import _ast
import time
from typing import Any, Callable, Dict, Iterator, List, Tuple

from trio_debugmcp.probe.inside import imported, visible_frames
from trio_debugmcp.probe.inside.bounds import TooSlowError, patient
from trio_debugmcp.probe.inside.safe import builtin_calls, operators, readable
from trio_debugmcp.probe.inside.safe.operators import arithmetic, comparison, unary
from trio_debugmcp.probe.inside.safe.readable import RejectedError
from trio_debugmcp.probe.inside.syntax import parsed, segment
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.facts import MISSING

MOST_STEPS = 200_000
"""Nodes that are computed, those of a comprehension once for each item."""

MOST_SECONDS = 0.5
"""For one expression; every single step is bounded by the sizes that it takes."""

_MOST_DEPTH = 60


class PartRejectedError(Exception):
    """A part of the expression that is refused, and the rule that it breaks."""

    def __init__(self, node: Any, rule: str) -> None:
        super().__init__(rule)
        self.node = node
        self.rule = rule


def value(source: str, lookups: Tuple[Dict[str, Any], ...]) -> Any:
    """Return the value of an expression; `lookups` are namespaces, the innermost first, with builtins at the end.

    Raises:
        RejectedError: with the part and the rule.
        TooSlowError: it takes too long.
        Exception: what evaluating it raises, a KeyError for example.
    """
    builtin_calls.check_builtins()
    tree = parsed(source.strip())
    try:
        return Walk(lookups).of(tree)
    except PartRejectedError as error:
        part = segment(source.strip(), error.node) or source.strip()
        raise RejectedError(f"`{part[:200]}`: {error.rule}") from None
    except RecursionError:
        raise RejectedError("the expression is nested too deeply") from None


def names_of(frame: Any) -> Tuple[Dict[str, Any], ...]:
    """Return the namespaces of a frame. That of a class body may be an object of the program's."""
    if facts.is_heap_type(type(frame.f_locals)):
        raise RejectedError("the frame's names are kept by an object of the program's, which would run")
    return dict(visible_frames.local_names(frame)), frame.f_globals, frame.f_builtins


def builtin_names() -> Dict[str, Any]:
    """Return the builtins of the program, as it has them now."""
    found: Dict[str, Any] = vars(imported.now("builtins"))
    return found


class Walk:
    """One evaluation: its names, and what it may still use up.

    A method for each kind of syntax node, hence so many.
    """

    def __init__(self, lookups: Tuple[Dict[str, Any], ...]) -> None:
        for names in lookups:
            if type(names) is not dict or not readable.has_plain_keys(names):
                raise RejectedError("the program's names are in no plain dict of texts: looking one up could run code")
        self._lookups = lookups
        self._bound: List[Dict[str, Any]] = []
        self._steps = 0
        self._depth = 0
        self._end = time.monotonic() + patient(MOST_SECONDS)

    def of(self, node: Any) -> Any:
        """Return the value of a node."""
        self._step(node)
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise PartRejectedError(node, "this kind of expression is not evaluated safely")
        self._depth += 1
        try:
            return method(node)
        except RejectedError as error:
            raise PartRejectedError(node, error.rule) from None
        finally:
            self._depth -= 1

    def _step(self, node: Any) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise PartRejectedError(node, f"it takes more than {MOST_STEPS} steps")
        if self._depth > _MOST_DEPTH:
            raise PartRejectedError(node, "it is nested too deeply")
        if time.monotonic() > self._end:
            raise TooSlowError

    # --- Names and constants ------------------------------------------------------------------------------------------

    def _constant(self, node: Any) -> Any:
        return node.value

    def _name(self, node: Any) -> Any:
        for names in (*reversed(self._bound), *self._lookups):
            found = names.get(node.id, MISSING)
            if found is not MISSING:
                return found
        raise NameError(f"name '{node.id}' is not defined")

    def _attribute(self, node: Any) -> Any:
        return readable.attribute(self.of(node.value), node.attr)

    def _subscript(self, node: Any) -> Any:
        return readable.item(self.of(node.value), self.of(node.slice))

    def _index(self, node: Any) -> Any:  # of Python 3.8
        return self.of(node.value)

    def _slice(self, node: Any) -> Any:
        parts = [None if each is None else self.of(each) for each in (node.lower, node.upper, node.step)]
        if any(not readable.one_of(type(part), (int, bool, type(None))) for part in parts):
            raise RejectedError("the ends of a slice are whole numbers")
        return slice(*parts)

    # --- Operators ----------------------------------------------------------------------------------------------------

    def _boolop(self, node: Any) -> Any:
        stops = type(node.op) is _ast.Or
        for each in node.values:
            found = self.of(each)
            if operators.truth(found) is stops:
                break
        return found

    def _unaryop(self, node: Any) -> Any:
        found = self.of(node.operand)
        return not operators.truth(found) if type(node.op) is _ast.Not else unary(type(node.op).__name__, found)

    def _binop(self, node: Any) -> Any:
        return arithmetic(type(node.op).__name__, self.of(node.left), self.of(node.right))

    def _compare(self, node: Any) -> Any:
        left = self.of(node.left)
        for op, each in zip(node.ops, node.comparators):
            right = self.of(each)
            if not comparison(type(op).__name__, left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: Any) -> Any:
        return self.of(node.body if operators.truth(self.of(node.test)) else node.orelse)

    # --- Collections and comprehensions -------------------------------------------------------------------------------

    def _many(self, nodes: List[Any]) -> List[Any]:
        found: List[Any] = []
        for node in nodes:
            found += readable.items(self.of(node.value)) if type(node) is _ast.Starred else [self.of(node)]
            readable.bounded((), len(found))
        return found

    def _list(self, node: Any) -> Any:
        return self._many(node.elts)

    def _tuple(self, node: Any) -> Any:
        return tuple(self._many(node.elts))

    def _set(self, node: Any) -> Any:
        return set(builtin_calls.hashable(self._many(node.elts)))

    def _dict(self, node: Any) -> Any:
        if any(key is None for key in node.keys):
            raise RejectedError("`**` in a dict is not evaluated safely")
        return dict(zip(builtin_calls.hashable(self._many(node.keys)), self._many(node.values)))

    def _listcomp(self, node: Any) -> Any:
        return self._each(node, lambda: self.of(node.elt))

    _generatorexp = _listcomp

    def _setcomp(self, node: Any) -> Any:
        return set(builtin_calls.hashable(self._each(node, lambda: self.of(node.elt))))

    def _dictcomp(self, node: Any) -> Any:
        pairs = self._each(node, lambda: (self.of(node.key), self.of(node.value)))
        builtin_calls.hashable([key for key, _ in pairs])
        return dict(pairs)

    def _each(self, node: Any, compute: Callable[[], Any]) -> List[Any]:
        names: Dict[str, Any] = {}
        self._bound.append(names)
        try:
            return [compute() for _ in self._turns(node.generators, names)]
        finally:
            self._bound.pop()

    def _turns(self, generators: List[Any], names: Dict[str, Any]) -> Iterator[None]:
        """Yield once for each turn of these loops within loops, with their names bound."""
        if not generators:
            yield
            return
        first, *others = generators
        if first.is_async:
            raise PartRejectedError(first.iter, "`async for` runs code of the program")
        try:
            found = readable.items(self.of(first.iter))
        except RejectedError as error:
            raise PartRejectedError(first.iter, error.rule) from None
        for each in found:
            self._step(first.iter)
            self._bind(first.target, each, names)
            if all(operators.truth(self.of(test)) for test in first.ifs):
                yield from self._turns(others, names)

    def _bind(self, target: Any, found: Any, names: Dict[str, Any]) -> None:
        if type(target) is _ast.Name:
            names[target.id] = found
            return
        if not isinstance(target, (_ast.Tuple, _ast.List)):
            raise PartRejectedError(target, "a comprehension binds names only: this would change something")
        parts = readable.items(found)
        if len(parts) != len(target.elts):
            raise ValueError(f"{len(parts)} values for {len(target.elts)} names")
        for each, part in zip(target.elts, parts):
            self._bind(each, part, names)

    # --- Texts and calls ----------------------------------------------------------------------------------------------

    def _joinedstr(self, node: Any) -> Any:
        text = "".join([self.of(each) for each in node.values])
        readable.bounded((), len(text))
        return text

    def _formattedvalue(self, node: Any) -> Any:
        found = self.of(node.value)
        conversion = {-1: "", 115: "str", 114: "repr", 97: "ascii"}[node.conversion]
        if conversion or not readable.one_of(type(found), readable.ATOMS):
            found = builtin_calls.call_builtin(conversion or "str", [found])
        form = "" if node.format_spec is None else self._joinedstr(node.format_spec)
        if not _is_short(form):
            raise RejectedError("its format could make a long text, or is not known")
        return format(found, form)

    def _call(self, node: Any) -> Any:
        if any(keyword.arg != "reverse" for keyword in node.keywords):
            raise RejectedError("keywords are not passed, but for `reverse` of sorted")
        reverse = [self.of(keyword.value) for keyword in node.keywords]
        if type(node.func) is _ast.Attribute:
            owner = self.of(node.func.value)
            if not reverse and builtin_calls.has_methods(owner):
                return builtin_calls.call_method(owner, node.func.attr, self._many(node.args))
            function = readable.attribute(owner, node.func.attr)
        elif type(node.func) is _ast.Name:
            function = self._name(node.func)
        else:
            raise RejectedError("only functions that have a name are called")
        return builtin_calls.call(function, lambda: self._many(node.args), reverse)


def _is_short(form: str) -> bool:
    """Whether a format is known, and makes at most 999 characters: `.2f`, `*>10`, `+,`, `#x`."""
    rest = form[2:] if form[1:2] in _ALIGNS and form[0] != "\n" else form[1:] if form[:1] in _ALIGNS else form
    for letters in ("-+ ", "#", "0"):
        rest = rest[1:] if rest[:1] in tuple(letters) else rest
    rest = _without_digits(rest)
    rest = rest[1:] if rest[:1] in (",", "_") else rest
    rest = _without_digits(rest[1:]) if rest[:1] == "." else rest
    return rest in ("", *"bcdeEfFgGnosxX%")


_ALIGNS = tuple("<>=^")


def _without_digits(text: str) -> str:
    count = 0
    while count < _MOST_DIGITS and text[count : count + 1].isdecimal():
        count += 1
    return text[count:]


_MOST_DIGITS = 3
"""Of a width and of a precision."""
