"""The type and the message of an exception, of which an adapter may have all in one. Pure."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.state.payloads import ExceptionInfo

_WHOLE = re.compile(r"(?:Uncaught (?:\(in promise\) )?)?([A-Za-z_$][\w$.]*): (.*)", re.DOTALL)
"""The type and the message of an exception."""


def divided(said: tuple[str, str] | None, info: ExceptionInfo) -> ExceptionInfo:
    """Return what is known of an exception, of which an adapter may have all in one: `TypeError: bad 2`.

    `said`: type and message, as the adapter says them in words of its own.
    """
    if said is not None:
        return replace(info, type=said[0], message=said[1])
    whole = _WHOLE.fullmatch(info.type)
    kind, message = info.type, info.message
    if whole is not None:
        kind, message = whole[1], info.message if info.message and not _WHOLE.fullmatch(info.message) else whole[2]
    # java-jdi has the type in the message, too.
    return replace(info, type=kind, message=message and message.removeprefix(f"{kind}: "))


def with_bare_names(lineage: Sequence[str]) -> tuple[str, ...]:
    """Return the names of types with those without their namespaces: the first two are of the type itself."""
    return tuple(name for each in lineage for name in (each, each.rpartition("::")[2]))
