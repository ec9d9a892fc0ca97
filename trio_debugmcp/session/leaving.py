"""Leaving a program that was attached to: it runs on, whatever its debugger does by itself."""

from trio_debugmcp.dap.profiles import Attach
from trio_debugmcp.session.breakpoints.breakpoint_sync import BreakpointSync
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.start import Start


async def release(requests: Requests, breakpoints: BreakpointSync, start: Start, *, terminate: bool | None) -> None:
    """Have a program run on that is about to be left, where its adapter would not see to that. The caller bounds it."""
    if isinstance(start, Attach) and start.port is not None and not terminate:
        command = requests.profile.habits.detach
        if command is not None:
            await requests.request_quietly("evaluate", {"expression": command, "context": "repl"})
    if not isinstance(start, Attach) or terminate or not requests.profile.habits.halts_when_left:
        return
    for file in sorted(breakpoints.sent_files):
        await requests.request_quietly("setBreakpoints", {"source": {"path": file}, "breakpoints": []})
    if breakpoints.sent_functions:
        await requests.request_quietly("setFunctionBreakpoints", {"breakpoints": []})
    snapshot = requests.snapshot
    if snapshot is not None and snapshot.phase == "Paused" and snapshot.stop is not None:
        await requests.request_quietly("continue", {"threadId": snapshot.stop.thread_id})
