"""Numbers of breakpoints, by which editors know them, and of sessions. Pure."""


def number_of(each_id: str) -> int:
    """Return the number of a breakpoint of any kind, which are counted together, or of a session."""
    return int(each_id.rpartition("-")[2])
