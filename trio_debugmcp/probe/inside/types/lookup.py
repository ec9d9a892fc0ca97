"""What an expression or a name stands for, found without running code of the program.

    found("order.items[0]", frame)      # evaluated as by `evaluate_safe`
    found("shop.till.Basket", None)     # by the name of its module, which need not be imported where the program stands
    found("Basket", None)               # a class or a function of this name in any module, if there is only one

Names of modules are those in `sys.modules`; nothing is imported.
"""

import _ast
import sys
from typing import Any, Dict, Tuple

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.safe import readable, walk
from trio_debugmcp.probe.inside.syntax import parsed
from trio_debugmcp.probe.inside.types import definitions
from trio_debugmcp.probe.inside.values import facts

MOST_NAMED = 10
"""Candidates that are named where a name could be several things."""


class AmbiguousError(Exception):
    """A name stands for several things, which the message lists."""


def found(expression: str, frame: Any, budget: Budget) -> Any:
    """Return what an expression stands for: in a frame, or without one in the main module.

    Raises:
        RejectedError: only running code would tell.
        AmbiguousError: several classes or functions have that name.
        Exception: what evaluating it raises, a NameError for example.
    """
    names = (visible_frames.main_globals(), walk.builtin_names()) if frame is None else walk.names_of(frame)
    try:
        return _evaluated(expression, names)
    except (NameError, AttributeError):
        name = expression.strip()
        if not all(part.isidentifier() for part in name.split(".")):
            raise
        named = in_modules(name)
        if named is facts.MISSING:
            named = _anywhere(name, budget)
        if named is facts.MISSING:
            raise
        return named


def _evaluated(expression: str, names: Tuple[Dict[str, Any], ...]) -> Any:
    try:
        return walk.value(expression, names)
    except readable.RejectedError as error:
        try:
            return _stored(parsed(expression.strip()), walk.Walk(names))
        except (readable.RejectedError, walk.PartRejectedError):
            raise error from None


def _stored(node: Any, walk: walk.Walk) -> Any:
    """What a chain of attributes stands for as it is stored, where the safe evaluation refuses to read it.

    That is a field that the class would read in a way of its own, or the function behind `basket.put`.
    """
    if not isinstance(node, _ast.Attribute):
        return walk.of(node)
    owner = _stored(node.value, walk)
    try:
        return readable.attribute(owner, node.attr)
    except readable.RejectedError:
        value = _field_or_method(owner, node.attr)
        if value is facts.MISSING:
            raise
        return value


def _field_or_method(owner: Any, name: str) -> Any:
    is_class = issubclass(type(owner), type)
    for field, value in () if is_class else facts.fields(owner):
        if field == name:
            return value
    value = readable.class_entry(owner if is_class else type(owner), name)
    return value if definitions.is_function(value) else facts.MISSING


def in_modules(name: str) -> Any:
    """Return what the name of a module, and of something in it, stands for, or MISSING."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        value = sys.modules.get(".".join(parts[:size]), facts.MISSING)
        if value is facts.MISSING:
            continue
        try:
            for part in parts[size:]:
                value = readable.attribute(value, part)
        except AttributeError:
            continue
        return value
    return facts.MISSING


def _anywhere(name: str, budget: Budget) -> Any:
    """The class or function that is defined under this name, with or without the names of its modules."""
    ending = "." + name
    candidates = [each for each in definitions.everything(budget) if f".{each.full}".endswith(ending)]
    if not candidates:
        return facts.MISSING
    if len(candidates) > 1:
        named = ", ".join(candidate.full for candidate in candidates[:MOST_NAMED])
        more = f" and {len(candidates) - MOST_NAMED} more" if len(candidates) > MOST_NAMED else ""
        raise AmbiguousError(f"`{name}` could be {named}{more}")
    return candidates[0].value
