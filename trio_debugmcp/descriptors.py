"""How many file descriptors this process may open, so that connections can be bounded and leave enough for the rest.

with many_open_files(): ...     # as many as a thousand programs need, where the system allows that
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

DEFAULT_OPEN_FILES = 1024
"""Where the system sets no limit that can be read (Windows)."""

MANY_OPEN_FILES = 100_000
"""Where the limit is infinite."""

WANTED_OPEN_FILES = 4096
"""For a thousand programs that dial in: a connection each, one for the records of tracepoints, and the rest."""


def open_files() -> int:
    """Return how many descriptors this process may open."""
    if sys.platform == "win32":
        return DEFAULT_OPEN_FILES
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MANY_OPEN_FILES if soft == resource.RLIM_INFINITY else soft


def reachable_open_files() -> int:
    """Return how many descriptors this process may open once it has asked for as many as are wanted."""
    if sys.platform == "win32":
        return MANY_OPEN_FILES  # where connections are counted by no such limit
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = WANTED_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, WANTED_OPEN_FILES)
    return max(open_files(), most)


@contextmanager
def many_open_files() -> Iterator[None]:
    """For the length of the block, raise the number of descriptors as far as is wanted and allowed.

    After it, programs that are launched have the usual number again: one that uses `select` needs a small one.
    """
    if sys.platform == "win32" or reachable_open_files() <= open_files():
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (reachable_open_files(), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
