"""The command that starts pydevd in a program, from where it dials in to us."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trio_debugmcp.dap.listener import ListenerAddress
from trio_debugmcp.errors import CannotRun


def debugpy_package() -> str:
    """Return the folder of our debugpy, which any interpreter can run: the program's own environment needs none.

    Raises:
        CannotRun: it is not installed.
    """
    spec = importlib.util.find_spec("debugpy")
    if spec is None or spec.origin is None:
        raise CannotRun("debugpy", "it is not installed")
    return str(Path(spec.origin).parent)


def dial_arguments(address: ListenerAddress, options: Mapping[str, Any]) -> list[str]:
    """Return the arguments of debugpy with which it dials in at an address."""
    return [
        "--connect",
        f"{address.host}:{address.port}",
        "--adapter-access-token",
        address.token,
        "--configure-subProcess",
        "true" if options.get("subProcess", True) else "false",
    ]
