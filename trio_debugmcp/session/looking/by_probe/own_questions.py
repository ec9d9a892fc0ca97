"""Questions of our own to a program: expressions that no user has written, and what their values mean.

    value = await evaluated(requests, "len(orders) > 3", frame_id)
    if value is not None and holds(value):
        ...

Users' own expressions are evaluated elsewhere: these are short, and their errors are logged.
"""

import logging
from collections.abc import Generator
from typing import TypeVar, cast

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.session.requests import Requests

log = logging.getLogger(__name__)

_Found = TypeVar("_Found")

EXAMINATION_SECONDS = 3.0
"""For each answer about a stop; the stop is published without what an adapter has not sent by then."""

_FALSE = frozenset(
    {"", "false", "nil", "null", "none", "undefined", "undef", "nan", "nullptr", "0", "-0", "0.0", "0x0", "''", '""'}
)
"""How languages write what does not hold, in lower case."""


async def evaluated(
    requests: Requests, expression: str, frame_id: int | None, *, seconds: float = EXAMINATION_SECONDS
) -> str | None:
    """Evaluate an expression of ours, in a frame of the stop or in none; None if that fails."""
    try:
        return await value_of(requests, expression, frame_id, seconds=seconds)
    except DebugError as error:
        log.info("%s: %s", expression, error)
        return None


async def looked_at(
    requests: Requests,
    look: Generator[str, str | None, _Found],
    frame_id: int | None,
    *,
    seconds: float = EXAMINATION_SECONDS,
) -> _Found:
    """Evaluate what a look asks for, one expression after the other, and return what it has found."""
    value = None
    while True:
        try:
            expression = look.send(value)
        except StopIteration as end:
            return cast("_Found", end.value)
        value = await evaluated(requests, expression, frame_id, seconds=seconds)


async def value_of(
    requests: Requests, expression: str, frame_id: int | None, *, seconds: float = EXAMINATION_SECONDS
) -> str:
    """Evaluate an expression in a frame of the stop or in none.

    Raises:
        DebugError: the adapter refuses it, or does not answer in time.
    """
    arguments: dict[str, object] = {"expression": expression, "context": requests.profile.dialect.evaluate_context}
    if frame_id is not None:
        arguments["frameId"] = frame_id
    value = (await requests.request("evaluate", arguments, EvaluateBody, seconds=seconds)).result
    error = requests.profile.habits.error_in(value)
    if error is not None:
        raise AdapterRefused("evaluate", error)
    return value


def holds(value: str) -> bool:
    """Whether a condition with this value holds, in any language."""
    return value.strip().lower() not in _FALSE
