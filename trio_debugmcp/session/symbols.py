"""Types of a program with their members, and its types and functions by a pattern: by the probe.

    found = await type_of(session, SafePlace(), "shop.till.Basket", MembersQuestion(filter="total"))
    found.members[0].line

No code of the program runs for that, so it is asked while the program runs too.
"""

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProbeError
from trio_debugmcp.probe.type_answers import References, Symbols, TypeAnswer
from trio_debugmcp.session.native_types import MembersQuestion, native_type
from trio_debugmcp.session.safe_evaluation import SafePlace, refused
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.payloads import shortened

SECONDS = 4.0
"""For an answer. The probe takes less; an earlier question may be in its way."""

PROBE_SECONDS = 1.5
"""For the search in the program, whose threads run meanwhile."""

WALK_SECONDS = 0.8
"""To walk through the objects of the program, which stands still meanwhile."""

VALUE_LENGTH = 60
"""Characters of a class attribute's value, or of a default."""


class SymbolsQuestion(Struct, frozen=True):
    """Which symbols: a pattern with `*` and `?`, or a part of a name."""

    pattern: str
    kind: str | None = None
    module: str | None = None
    start: int = 0
    count: int = 100


async def type_of(session: DebugSession, place: SafePlace, expression: str, asked: MembersQuestion) -> TypeAnswer:
    """Return the type that an expression names, or that its value is of.

    Raises:
        UsageError: `SAFE_EVAL_REJECTED`, `EVAL_FAILED`, `EVAL_TIMEOUT`, `INVALID_PARAMETER` or `NOT_SUPPORTED`.
    """
    if not session.profile.has_probe:
        return await native_type(session, place, expression, asked)
    try:
        reply = await session.probe.ask(
            "type",
            TypeAnswer,
            within=SECONDS,
            seconds=PROBE_SECONDS,
            thread=place.thread_id,
            frame=place.index,
            expression=expression.strip(),
            filter=asked.filter,
            only=asked.kind,
            inherited=asked.inherited,
            start=asked.start,
            count=asked.count,
            limit=VALUE_LENGTH,
            code=False,
        )
    except ProbeError as error:
        raise refused(error, session, expression) from None
    return reply.answer


async def symbols_of(session: DebugSession, asked: SymbolsQuestion) -> Symbols:
    """Return a page of the types and functions whose names match.

    Raises:
        UsageError: `EVAL_TIMEOUT` or `NOT_SUPPORTED`.
    """
    check_probe(session, "symbols_search", "it has no request for that")
    try:
        reply = await session.probe.ask(
            "symbols",
            Symbols,
            within=SECONDS,
            seconds=PROBE_SECONDS,
            pattern=asked.pattern,
            only=asked.kind,
            module=asked.module,
            start=asked.start,
            count=asked.count,
            limit=VALUE_LENGTH,
            code=False,
        )
    except ProbeError as error:
        raise refused(error, session, asked.pattern) from None
    return reply.answer


async def references_of(
    session: DebugSession, place: SafePlace, expression: str, direction: str, count: int
) -> References:
    """Return what refers to the value of an expression, and what it refers to.

    Raises:
        UsageError: as `type_of`; `INVALID_PARAMETER` for a number or a short text.
    """
    check_probe(session, "references_get", "it does not tell what refers to an object")
    try:
        reply = await session.probe.ask(
            "references",
            References,
            within=SECONDS,
            seconds=WALK_SECONDS,
            thread=place.thread_id,
            frame=place.index,
            expression=expression.strip(),
            direction=direction,
            count=count,
            limit=VALUE_LENGTH,
            code=False,
        )
    except ProbeError as error:
        if error.kind == "atom":
            raise UsageError(
                "INVALID_PARAMETER",
                f"`{shortened(expression)}` is of type {error}. Equal values of that type may be one object, which "
                "anything may refer to. Ask about an object that has it.",
                {"parameter": "expression", "type": str(error)},
            ) from None
        raise refused(error, session, expression) from None
    return reply.answer


def check_probe(session: DebugSession, tool: str, why: str) -> None:
    """Refuse what only the probe knows, where there is none.

    Raises:
        UsageError: `NOT_SUPPORTED`.
    """
    if not session.profile.has_probe:
        name = session.profile.name
        raise UsageError("NOT_SUPPORTED", f"{name} has no answer to {tool}: {why}.", {"adapter": name})
