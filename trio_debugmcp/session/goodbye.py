"""The goodbye of a session to its adapter, which ends the program or detaches from it."""

import trio

from trio_debugmcp.dap.profiles import Attach, Launch
from trio_debugmcp.dap.profiles.starts import Start
from trio_debugmcp.session.breakpoints.breakpoint_sync import BreakpointSync
from trio_debugmcp.session.output.terminal import Terminals
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.start import has_program

GOODBYE_SECONDS = 6.0
"""For the response to `disconnect`; lldb takes 5.1 s to detach from a program that lives on."""

HASTY_GOODBYE_SECONDS = 1.0
"""The same for a session that never started, whose adapter is likely to be stuck, and for a server that shuts down:
it promises that nothing of it lives two seconds longer. What has not answered by then is killed."""


async def say_goodbye(
    requests: Requests,
    breakpoints: BreakpointSync,
    terminals: Terminals,
    start: Start,
    *,
    terminate: bool | None,
    is_child: bool,
    hasty: bool,
) -> None:
    """Disconnect. With None for `terminate` a launched program is ended, and one that was attached to runs on."""
    ends = terminate if terminate is not None else isinstance(start, Launch)
    if ends and not has_program(requests.profile, start):
        terminals.end()  # before its session is: a paused program would run on when that detaches
    arguments = {} if is_child and not terminate else {"terminateDebuggee": ends}
    seconds = HASTY_GOODBYE_SECONDS if hasty else GOODBYE_SECONDS
    with trio.move_on_after(requests.patience.seconds(seconds)):
        await _let_run_on(requests, breakpoints, start, terminate)
        await requests.request_quietly("disconnect", arguments)


async def _let_run_on(requests: Requests, breakpoints: BreakpointSync, start: Start, terminate: bool | None) -> None:
    """Have a program run on that is about to be left, where its adapter would not see to that. The caller bounds it."""
    if isinstance(start, Attach) and start.port is not None and not terminate:
        command = requests.profile.habits.detach
        if command is not None:
            await requests.request_quietly("evaluate", {"expression": command, "context": "repl"})
    if not isinstance(start, Attach) or terminate or not requests.profile.habits.halts_when_left:
        return
    for file in sorted(breakpoints.lines.sent_files):
        await requests.request_quietly("setBreakpoints", {"source": {"path": file}, "breakpoints": []})
    if breakpoints.functions.sent:
        await requests.request_quietly("setFunctionBreakpoints", {"breakpoints": []})
    snapshot = requests.snapshot
    if snapshot is not None and snapshot.phase == "Paused" and snapshot.stop is not None:
        await requests.request_quietly("continue", {"threadId": snapshot.stop.thread_id})
