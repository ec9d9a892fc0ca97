"""Where a name is from that an adapter has found in another file than the frame's, without a word about it."""

import os

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame

_SECONDS = 1.0
"""For a question beside an evaluation, whose answer is not held up by it."""


async def origin_notes(requests: Requests, frame: StackFrame, expression: str) -> tuple[str, ...]:
    """Return a note if an expression begins with a variable of another file."""
    meanings, file = requests.profile.values.meanings, frame.location.file
    command = None if file is None else meanings.origin_command(expression, file)
    if command is None or file is None:
        return ()
    seconds = requests.patience.seconds(_SECONDS)
    arguments = {"expression": command, "frameId": frame.id, "context": "repl"}
    try:
        body = await requests.request("evaluate", arguments, EvaluateBody, seconds=seconds)
    except DebugError:  # the value is known all the same
        return ()
    found = meanings.origin(body.result)
    if found is None or _is_same(found.file, file):
        return ()
    more = "" if found.others == 0 else f"; {found.others} other files have one of that name, too"
    return (f"`{found.name}` is a variable of {os.path.basename(found.file)}:{found.line}, not of this file{more}",)


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
