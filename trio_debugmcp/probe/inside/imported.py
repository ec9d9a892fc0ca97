"""Modules that the program may have imported, for what it may have made of them. Nothing is imported here.

now("sys").stdout               # what the program has put there
first_seen("enum").Enum         # the class, whatever has been put in its place since
"""

import sys
from typing import Any


def now(name: str) -> Any:
    """Return a module of the program as it is now, or None if it is not imported."""
    return sys.modules.get(name)


def first_seen(name: str) -> Any:
    """Return a module as it was when it was first asked for, or at the beginning; None if it is not imported."""
    return __import__(name, None, None, ("",)) if name in sys.modules else None
