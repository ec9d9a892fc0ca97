"""Questions about types, symbols and references: what they look at is found without code of the program.

    type_(ProbeQuestion({"expression": "basket", "thread": 1}))     # {"name": "shop.Basket", "members": [...]}

What answers them is compiled only in programs that are asked.
"""

from typing import Any

from trio_debugmcp.probe.inside.question import ProbeQuestion, UnknownError
from trio_debugmcp.probe.inside.visible_frames import Json


def type_(asked: ProbeQuestion) -> Json:
    """Return the type of what an expression stands for, or the class that it names, with its members."""
    from trio_debugmcp.probe.inside.types import type_members

    value = _found(asked)
    question = type_members.MemberQuestion(
        start=asked.number("start", 0),
        most=asked.number("count", 100),
        filter_=asked.text("filter"),
        kind=asked.text("only"),
        inherited=bool(asked.parameters.get("inherited")),
    )
    return type_members.type_json(value, question, asked.budget, asked.renderer)


def symbols(asked: ProbeQuestion) -> Json:
    """Return the types and functions of the loaded modules by a pattern."""
    from trio_debugmcp.probe.inside.types import module_symbols as found

    question = found.SymbolQuestion(
        asked.text("pattern"),
        asked.text("only"),
        asked.text("module"),
        asked.number("start", 0),
        asked.number("count", 100),
    )
    return found.symbols_json(question, asked.budget, asked.renderer)


def references(asked: ProbeQuestion) -> Json:
    """Return what refers to what an expression stands for, and what that refers to."""
    from trio_debugmcp.probe.inside.types import referrers as found

    question = found.ReferenceQuestion(asked.text("direction") or "both", asked.number("count", 50))
    try:
        return found.references_json(_found(asked), question, asked.budget, asked.renderer)
    except found.AtomError as error:
        raise UnknownError("atom", str(error)) from None


def instances(asked: ProbeQuestion) -> Json:
    """Return how many instances of the class that an expression names there are, and the ways that hold them."""
    from trio_debugmcp.probe.inside.types import instances as found

    try:
        return found.instances_json(_found(asked), asked.number("count", 50), asked.budget, asked.renderer)
    except found.NoClassError as error:
        raise UnknownError("class", str(error)) from None


def _found(asked: ProbeQuestion) -> Any:
    """What an expression stands for, found without running code of the program."""
    from trio_debugmcp.probe.inside.safe import readable  # compiled only in programs that are asked
    from trio_debugmcp.probe.inside.types import lookup

    frame = asked.place().frame if asked.has_place else None
    try:
        return lookup.found(asked.text("expression"), frame, asked.budget)
    except readable.RejectedError as error:
        raise UnknownError("rejected", error.rule) from None
    except lookup.AmbiguousError as error:
        raise UnknownError("ambiguous", str(error)) from None
