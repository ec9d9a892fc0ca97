"""When a breakpoint stops: the parameters that tools have for that, and the check of what is written in them."""

import re
from typing import Annotated

from msgspec import Meta

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.hit_conditions import is_hit_condition

Condition = Annotated[str | None, Meta(description="An expression; stop only when it is true.")]

HitCondition = Annotated[str | None, Meta(description="`3`, `>= 3`, `% 3`: stop only at these hits.")]


_ASSIGNS = re.compile(r"[\w.\[\]'\" ]+=[^=]")
"""What reads like an assignment, and is meant as a comparison in a condition that does not parse."""


def check_texts(condition: str | None, hit_condition: str | None, message: str | None, profile: Profile | None) -> None:
    """Check what a person or a model has written of when a breakpoint stops, and of what it writes.

    Raises:
        UsageError: `INVALID_CONDITION`.
    """
    check_condition(condition, profile)
    check_hit_condition(hit_condition)
    problem = profile.expressions.log_message_problem(message) if message is not None and profile is not None else None
    if problem is not None:
        sentence = f"The log message cannot be written: {problem}."
        raise UsageError("INVALID_CONDITION", sentence, {"parameter": "log_message", "logMessage": message})


def check_hit_condition(text: str | None) -> None:
    """Check a hit condition.

    Raises:
        UsageError: `INVALID_CONDITION`.
    """
    if text is not None and not is_hit_condition(text):
        raise UsageError(
            "INVALID_CONDITION",
            f"'{text}' is not a hit condition. Use one of `3`, `>= 3`, `> 3`, `% 3`, `< 3`, `<= 3`.",
            {"parameter": "hit_condition"},
        )


def check_condition(condition: str | None, profile: Profile | None) -> None:
    """Check a condition, as far as that is known of its language.

    Raises:
        UsageError: `INVALID_CONDITION`.
    """
    if condition is None or profile is None:
        return
    problem = profile.expressions.syntax_error(condition)
    if problem is not None:
        advice = " To compare, write `==`." if _ASSIGNS.match(condition) else ""
        raise UsageError(
            "INVALID_CONDITION",
            f"The condition `{condition}` is not a valid {profile.language} expression: {problem}.{advice}",
            {"parameter": "condition", "condition": condition},
        )
