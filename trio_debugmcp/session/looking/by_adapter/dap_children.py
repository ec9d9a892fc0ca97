"""What is fetched from an adapter below a value, level by level: how much of it, and which children are known. Pure."""

import re

from trio_debugmcp.dap.messages import DapVariable

ADAPTER_SECONDS = 4.0
"""For all requests to an adapter; what is not there by then is left out, and counted where the adapter counts."""

MAX_NODES = 1000
"""Variables fetched by one call, including children: every parent costs the adapter a request."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")


def identity(variable: DapVariable) -> str:
    """Return what tells one object of a stop from another: its address and type, or its reference."""
    address = _ADDRESS.search(variable.value)
    return f"{variable.type} {address[0]}" if address is not None else f"{variable.variables_reference}"


def path_of(variable: DapVariable) -> str | None:
    """Return the path that an adapter gives a variable. js-debug has a private field as an item: `cart["#lines"]`."""
    path, item = variable.evaluate_name, f'["{variable.name}"]'
    if path is None or variable.hint("visibility") != "private" or not path.endswith(item):
        return path
    return f"{path.removesuffix(item)}.{variable.name}"


def path_below(variable: DapVariable, parent: str) -> str:
    """Return the path of a child; `parent` is that of what it is inside of."""
    if variable.evaluate_name:
        return variable.evaluate_name
    return f"{parent}{variable.name}" if variable.name.startswith("[") else f"{parent}.{variable.name}"
