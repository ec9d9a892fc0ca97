"""Whether there are instructions for a statement, so that it can run: `has_code(statement)`."""

import ast

from trio_debugmcp.runs.source.source_scopes import Statement


def has_code(statement: Statement) -> bool:
    """Whether there are instructions for a statement: not so for a function's docstring or bare annotation."""
    node, scope = statement.node, statement.scope
    if not scope.is_function or len(statement.nodes) > 1:
        return True
    if isinstance(node, ast.AnnAssign):
        return node.value is not None or not node.simple
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return not (is_text and scope.body.own[:1] == [statement])
