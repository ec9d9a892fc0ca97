"""How many file descriptors this process may open, so that connections can be bounded and leave enough for the rest."""

import sys

DEFAULT_OPEN_FILES = 1024
"""Where the system sets no limit that can be read (Windows)."""

MANY_OPEN_FILES = 100_000
"""Where the limit is infinite."""


def open_files() -> int:
    """Return how many descriptors this process may open."""
    if sys.platform == "win32":
        return DEFAULT_OPEN_FILES
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MANY_OPEN_FILES if soft == resource.RLIM_INFINITY else soft
