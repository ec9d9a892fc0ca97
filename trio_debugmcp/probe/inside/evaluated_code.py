"""What users type, compiled as parts: what stands before a last expression, and that."""

import _ast
from typing import Any, Dict, List, Optional, Tuple

_PARSE, _TOP_LEVEL_AWAIT = 0x400, 0x2000
"""Flags of the compiler: only to make a syntax tree, and to allow `await` outside of functions."""


def compiled(source: str) -> Tuple[List[Any], bool]:
    """Return the code before a last expression and that expression's, and whether there is such an expression."""
    tree: Any = compile(source, "<evaluate>", "exec", _PARSE | _TOP_LEVEL_AWAIT, True)
    parts = []
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
    if tree.body:
        parts.append(compile(tree, "<evaluate>", "exec", _TOP_LEVEL_AWAIT, True))
    if last is not None:
        parts.append(compile(_ast.Expression(last.value), "<evaluate>", "eval", _TOP_LEVEL_AWAIT, True))
    return parts, last is not None


def value(code: Any, names: Dict[str, Any], source: str) -> Any:
    """Return the value of such a part; `source` is that of all of them."""
    try:
        return eval(code, names)
    except AttributeError:
        found = _mangled(source, names) if ".__" in source else None
        if found is None:
            raise
        return found[0]


def _mangled(source: str, names: Dict[str, Any]) -> Optional[Tuple[Any]]:
    """The value of names behind dots, private ones of a class as within that class; as pydevd does."""
    first, *rest = source.strip().split(".")
    if first not in names or not all(each.isidentifier() for each in rest):
        return None
    found = names[first]
    for each in rest:
        private = each[:2] == "__" and each[-2:] != "__" and not hasattr(found, each)
        found = getattr(found, f"_{type(found).__name__.lstrip('_')}{each}" if private else each)
    return (found,)
