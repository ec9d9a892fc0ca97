"""Variables as clients see them: cut to size, and with a path that finds them again. Pure."""

from collections.abc import Callable

from trio_debugmcp.dap.messages import DapVariable, EvaluateBody
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, Variable, shortened


def variable_payload(
    variable: DapVariable, is_path: Callable[[str], bool], *, limit: int = MAX_VALUE_LENGTH, parent: str | None = None
) -> Variable:
    """Return a variable as clients see it, without its children; `is_path`: which paths would be accepted back."""
    path = variable.evaluate_name or (f"{parent}.{variable.name}" if parent else variable.name)
    return Variable(
        name=variable.name,
        value=shortened(variable.value, limit),
        type=variable.type,
        path=path if is_path(path) else None,
        child_count=child_count(variable),
    )


def child_count(value: DapVariable | EvaluateBody) -> int | None:
    """Return how many children a value has: 0 for a leaf, None if the adapter does not count them."""
    if not value.variables_reference:
        return 0
    counted = (value.named_variables or 0) + (value.indexed_variables or 0)
    return counted or None
