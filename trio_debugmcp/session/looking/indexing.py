"""An index by which an adapter would read other memory is refused, because its answer would look right."""

from collections.abc import Awaitable, Callable

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues
from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.payloads import shortened


async def check_indexed(
    values: AdapterValues, expression: str, file: str | None, evaluate: Callable[[str], Awaitable[EvaluateBody]]
) -> None:
    """Refuse an expression in a frame of this file if it indexes what the adapter cannot; `evaluate` asks for a part.

    Raises:
        UsageError: `EVAL_FAILED`, or the `EVAL_TIMEOUT` of `evaluate`.
    """
    for holder in values.indexed(expression, file):
        try:
            kind = (await evaluate(holder)).type
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
            continue  # then the whole fails as well, in words of its own
        problem = values.index_problem(kind)
        if problem is not None:
            raise UsageError(
                "EVAL_FAILED",
                f"`{shortened(expression)}` was not evaluated: `{shortened(holder)}` {problem}. Its items are spelled "
                f"as docs/adapters.md shows under Rust; `*({shortened(holder)} + 1)` is the memory behind.",
            )
