"""Types of a program with their members, and its types and functions by a pattern: by the probe, where there is one.

    found = await type_of(session, SafePlace(), "shop.till.Basket", MembersQuestion(filter="total"))
    found.members[0].line

No code of the program runs for that, so the probe is asked while the program runs too.
"""

from typing import TypeVar

from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProbeAnswer, ProbeError
from trio_debugmcp.probe.type_answers import References, Symbols, TypeAnswer
from trio_debugmcp.session.looking.native_symbols import SymbolsQuestion, native_symbols
from trio_debugmcp.session.looking.native_types import MembersQuestion, native_type
from trio_debugmcp.session.looking.safe_evaluation import SafePlace, refused
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import shortened

SECONDS = 4.0
"""For an answer. The probe takes less; an earlier question may be in its way."""

PROBE_SECONDS = 1.5
"""For the search in the program, whose threads run meanwhile."""

WALK_SECONDS = 0.8
"""To walk through the objects of the program, which stands still meanwhile."""

_Answer = TypeVar("_Answer", bound=ProbeAnswer)

VALUE_LENGTH = 60
"""Characters of a class attribute's value, or of a default."""


async def type_of(session: DebugSession, place: SafePlace, expression: str, asked: MembersQuestion) -> TypeAnswer:
    """Return the type that an expression names, or that its value is of.

    Raises:
        UsageError: `SAFE_EVAL_REJECTED`, `EVAL_FAILED`, `EVAL_TIMEOUT`, `INVALID_PARAMETER` or `NOT_SUPPORTED`.
    """
    if not session.profile.has_probe:
        return await native_type(session, place, expression, asked)
    return await _answer(
        session,
        "type",
        TypeAnswer,
        expression,
        seconds=PROBE_SECONDS,
        thread=place.thread_id,
        frame=place.index,
        expression=expression.strip(),
        filter=asked.filter,
        only=asked.kind,
        inherited=asked.inherited,
        start=asked.start,
        count=asked.count,
    )


async def symbols_of(session: DebugSession, frame: StackFrame | None, asked: SymbolsQuestion) -> Symbols:
    """Return a page of the types and functions whose names match; `frame` is needed where `needs_frame` says so.

    Raises:
        UsageError: `EVAL_TIMEOUT` or `NOT_SUPPORTED`; as `native_symbols`.
    """
    commands = session.profile.symbols
    if commands is not None and frame is not None:
        return await native_symbols(session, frame, commands, asked)
    check_probe(session, "symbols_search", "it has no request for that")
    return await _answer(
        session,
        "symbols",
        Symbols,
        asked.pattern,
        seconds=PROBE_SECONDS,
        pattern=asked.pattern,
        only=asked.kind,
        module=asked.module,
        start=asked.start,
        count=asked.count,
    )


def needs_frame(session: DebugSession) -> bool:
    """Whether symbols are searched by commands of the debugger, which it takes while the program is paused."""
    return session.profile.symbols is not None


async def references_of(
    session: DebugSession, place: SafePlace, expression: str, direction: str, count: int
) -> References:
    """Return what refers to the value of an expression, and what it refers to.

    Raises:
        UsageError: as `type_of`; `INVALID_PARAMETER` for a number or a short text.
    """
    check_probe(session, "references_get", "it does not tell what refers to an object")
    return await _answer(
        session,
        "references",
        References,
        expression,
        seconds=WALK_SECONDS,
        thread=place.thread_id,
        frame=place.index,
        expression=expression.strip(),
        direction=direction,
        count=count,
    )


async def _answer(
    session: DebugSession, question: str, kind: type[_Answer], about: str, /, *, seconds: float, **parameters: object
) -> _Answer:
    try:
        reply = await session.probe.ask(
            question, kind, within=SECONDS, seconds=seconds, limit=VALUE_LENGTH, code=False, **parameters
        )
    except ProbeError as error:
        if error.kind == "atom":
            raise UsageError(
                "INVALID_PARAMETER",
                f"`{shortened(about)}` is of type {error}. Equal values of that type may be one object, which "
                "anything may refer to. Ask about an object that has it.",
                {"parameter": "expression", "type": str(error)},
            ) from None
        raise refused(error, session, about) from None
    return reply.answer


def check_probe(session: DebugSession, tool: str, why: str) -> None:
    """Refuse what only the probe knows, where there is none.

    Raises:
        UsageError: `NOT_SUPPORTED`.
    """
    if not session.profile.has_probe:
        name = session.profile.name
        raise UsageError("NOT_SUPPORTED", f"{name} has no answer to {tool}: {why}.", {"adapter": name})
