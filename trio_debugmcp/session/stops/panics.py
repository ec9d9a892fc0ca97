"""What a stop at a panic is about: the frames that show whether anything catches it, and what the program wrote."""

from trio_debugmcp.dap.messages import StackTraceBody
from trio_debugmcp.dap.profiles.native.rust_panics import is_decided, panic
from trio_debugmcp.dap.profiles.thrown import ThrownDescription
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.requests import Requests

_MAX_FRAMES = 500
"""Of a stack that are looked through for what catches a panic; if nothing is found, nothing does."""

_LAST_ENTRIES = 400
"""Of the program's output, in which its message is: a backtrace may follow that."""


async def panicked(
    requests: Requests, console: Console, thread_id: int, stack: StackTraceBody, seconds: float
) -> ThrownDescription:
    """Describe the panic of a stop, without a mode if it is only passed on."""
    frames = stack.stack_frames or []
    if not is_decided(frames):
        wanted = {"threadId": thread_id, "startFrame": 0, "levels": _MAX_FRAMES}
        body = await requests.request_or_empty("stackTrace", wanted, StackTraceBody, seconds=seconds)
        frames = body.stack_frames or frames
    await console.settle()
    return panic(frames, "".join(entry.text for entry in console.entries()[-_LAST_ENTRIES:]))
