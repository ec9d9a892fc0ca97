"""Parts of pydevd, which may not be there: it is of another version, or has left the process."""

import sys
from typing import Any


def pydevd() -> Any:
    """Return pydevd's debugger, or None if it has left the process."""
    get = part("_pydevd_bundle.pydevd_constants", "get_global_debugger")
    return get() if get is not None else None


def part(module: str, name: str) -> Any:
    """Return what a module of pydevd has under a name, or None."""
    return getattr(sys.modules.get(module), name, None)
