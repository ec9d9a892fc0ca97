"""Addresses in texts: as adapters name them, and as values of pointers show them. Pure."""

import re

from trio_debugmcp.dap.messages import EvaluateBody

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def number(text: str | None) -> int | None:
    """Return the number that an address is; None of what only the adapter understands."""
    try:
        return None if text is None else int(text, 0)
    except ValueError:
        return None


def address_in(body: EvaluateBody) -> str | None:
    """Return the address that a value shows."""
    found = _ADDRESS.search(body.result)
    return None if found is None else found[0]
