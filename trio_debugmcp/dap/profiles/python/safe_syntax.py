"""Which Python expressions can run no code of a program, as far as their syntax tells. Pure.

    rejection("orders.pop()")       # None: what `pop` is, the program has to say
    rejection("[f := open(x)]")     # Rejection("f := open(x)", "an assignment changes a name")

What a syntax tree cannot tell is judged in the program, by `probe.inside.safe`, while it evaluates.
"""

import ast
import warnings

from trio_debugmcp.dap.profiles.language import Rejection

MAX_LENGTH = 4000
"""Characters of an expression. The parsers of some versions of Python crash with very deep ones."""

MAX_DEPTH = 60

_RULES: dict[type[ast.AST], str] = {
    ast.NamedExpr: "an assignment changes a name",
    ast.Lambda: "a lambda is a function of the program's, and none is called",
    ast.Await: "`await` lets tasks of the program run",
    ast.Yield: "`yield` would end what runs",
    ast.YieldFrom: "`yield` would end what runs",
}

ALLOWED = frozenset(
    (
        *("Attribute", "BinOp", "BoolOp", "Call", "Compare", "Constant", "Dict", "DictComp", "FormattedValue"),
        *("GeneratorExp", "IfExp", "JoinedStr", "List", "ListComp", "Name", "Set", "SetComp", "Slice", "Subscript"),
        *("Tuple", "UnaryOp"),
    )
)
"""The kinds of expressions that `probe.inside.safe` evaluates."""

_OTHER = "this kind of expression is not evaluated safely"


def rejection(expression: str) -> Rejection | None:
    """Return the first part of an expression that may run code of the program or change it; None if none is seen.

    Raises:
        SyntaxError: it is not Python.
    """
    text = expression.strip()
    if len(text) > MAX_LENGTH:
        return Rejection(text[:40], f"an expression has at most {MAX_LENGTH} characters")
    if not text:
        raise SyntaxError("the expression is empty")
    try:
        tree = _parsed(text, "eval")
    except SyntaxError:
        _parsed(text, "exec")
        return Rejection(text, "statements change something: one expression is evaluated safely")
    return _of_node(tree.body, text, 0)  # type: ignore[attr-defined]


def _parsed(text: str, mode: str) -> ast.AST:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the program would write the warning, and remember that it did
            return ast.parse(text, mode=mode)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "it is nested too deeply") from None


def _of_node(node: ast.AST, text: str, depth: int) -> Rejection | None:
    rule = "it is nested too deeply" if depth > MAX_DEPTH else _rule(node)
    if rule is not None:
        return Rejection(ast.get_source_segment(text, node) or text, rule)
    for child in ast.iter_child_nodes(node):
        found = _of_node(child, text, depth + 1)
        if found is not None:
            return found
    return None


def _rule(node: ast.AST) -> str | None:
    match node:
        case ast.Call(func=ast.Name() | ast.Attribute(), keywords=keywords):
            if any(keyword.arg != "reverse" for keyword in keywords):
                return "keywords are not passed, but for `reverse` of sorted"
            return None
        case ast.Call():
            return "only functions that have a name are called"
        case ast.expr() if not isinstance(node, ast.Starred) and type(node).__name__ not in ALLOWED:
            return _RULES.get(type(node), _OTHER)
    return None
