"""Exception filters of the DAP: which of those that an adapter offers stop for what is wanted. Pure.

    filter_arguments([TypedException("*", True, False, condition="code > 3")], capabilities)
    # {"filters": [], "filterOptions": [{"filterId": "raised", "condition": "code > 3"}]}

Filters are coarse, and their names are the adapters' own: what stops too often is decided at the stop.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.messages import Capabilities, ExceptionBreakpointFilter


class TypedException(Struct, frozen=True):
    """An exception breakpoint as the adapter needs to know it; the type is `*` for all."""

    type: str
    first_chance: bool
    second_chance: bool
    user_unhandled: bool = False
    condition: str | None = None
    fails_test: bool = False
    """Of `user_unhandled`: where a test fails, for adapters that can tell this from what a library catches."""


def filter_arguments(wanted: Sequence[TypedException], capabilities: Capabilities) -> dict[str, Any]:
    """Return the arguments of a `setExceptionBreakpoints` that stops at least for what is wanted.

    An adapter that can judges the condition of a breakpoint whose filters all serve no other one.
    """
    filters = capabilities.exception_breakpoint_filters or ()
    served = {
        exception_filter.filter: [one for one in wanted if _serves(exception_filter, one, capabilities)]
        for exception_filter in filters
    }
    able = {
        exception_filter.filter
        for exception_filter in filters
        if exception_filter.supports_condition and len(served[exception_filter.filter]) == 1
    }
    if not capabilities.supports_exception_filter_options:
        able = set()
    plain, options = [], []
    for name, those in served.items():
        condition = those[0].condition if name in able else None
        if condition and all(other in able for other, others in served.items() if those[0] in others):
            options.append({"filterId": name, "condition": condition})
        elif those:
            plain.append(name)
    return {"filters": plain, **({"filterOptions": options} if options else {})}


def judged_conditions(arguments: dict[str, Any]) -> frozenset[str]:
    """Return the conditions that the adapter judges itself: wherever these are meant, it does."""
    options = arguments.get("filterOptions", ())
    return frozenset(option["condition"] for option in options if "condition" in option)


def _serves(offered: ExceptionBreakpointFilter, wanted: TypedException, capabilities: Capabilities) -> bool:
    """Whether a filter stops for what is wanted, as far as its name says it."""
    names = {breakpoint_filter.filter.lower() for breakpoint_filter in capabilities.exception_breakpoint_filters or ()}
    name = offered.filter.lower()
    # Of one language: `Ada exceptions` of gdb, which fail in programs of other languages.
    if offered.label.startswith("Ada "):
        return False
    if "user" in name and "unhandled" in name:
        return wanted.user_unhandled
    if "uncaught" in name or "unhandled" in name:
        return wanted.second_chance
    # What is thrown is seen once: not again where it is thrown further, nor where it is caught.
    if any(word in name and name.replace(word, "throw") in names for word in ("catch", "rethrow")):
        return False
    return wanted.first_chance
