"""What a variable is inside of, by its path: adapters take its name together with a reference to that."""

import re
from collections.abc import Sequence

from trio_debugmcp.dap.messages import DapVariable, ScopesBody
from trio_debugmcp.session.looking import paused_program
from trio_debugmcp.session.looking.composites import children
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame

PARENT_SECONDS = 5.0
"""For the value of what a variable is inside of, as for an evaluation."""

_LAST_PART = re.compile(r"(?P<parent>.+?)(?:(?:\.|->)(?P<name>[^.\[\]>]+)|(?P<item>\[[^\[\]]*\]))", re.DOTALL)
"""What a path leads to, behind the path to what it is inside of."""


async def container(requests: Requests, frame: StackFrame, path: str) -> tuple[int, str] | None:
    """Return the reference of what a variable is inside of, and its name there; None if there is no such variable.

    Raises:
        UsageError: `EVAL_FAILED`: there is nothing that it could be inside of.
    """
    parts = _LAST_PART.fullmatch(path)
    if parts is None:
        scopes = (await requests.request("scopes", {"frameId": frame.id}, ScopesBody)).scopes or []
        for scope in scopes:
            name = _named(await children(requests, scope.variables_reference), path, {path})
            if name is not None:
                return scope.variables_reference, name
    else:
        holder = await paused_program.evaluate(
            requests, frame, parts["parent"], requests.patience.seconds(PARENT_SECONDS)
        )
        item = parts["item"]
        names = {parts["name"]} if item is None else {item, item[1:-1], item[1:-1].strip("'\"")}
        name = _named(await children(requests, holder.reference), path, names)
        if name is not None:
            return holder.reference, name
    return None


def _named(found: Sequence[DapVariable], path: str, names: set[str | None]) -> str | None:
    """Return the name of the variable of that path, or else of one of these names."""
    by_path = [each.name for each in found if each.evaluate_name == path]
    if by_path:
        return by_path[-1]  # lldb lists those of outer blocks first: `n @ a.cpp:5`, `n @ a.cpp:7`, both by the path `n`
    return next((each.name for each in found if each.name in names), None)
