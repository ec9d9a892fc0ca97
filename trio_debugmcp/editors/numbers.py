"""Breakpoints as editors know them. Pure."""


def number_of(breakpoint_id: str) -> int:
    """Return the number of a breakpoint of any kind: they are counted together."""
    return int(breakpoint_id.rpartition("-")[2])
