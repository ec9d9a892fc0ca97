"""The beginning of a session: waiting for the program of one that only launches, and programs that end before that."""

import trio

from trio_debugmcp.errors import AdapterGone, DebugError, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.output.terminal import DRAIN_SECONDS, Terminals

LAST_OUTPUT_LENGTH = 2000
"""Characters of the program's output in the details of a failed start: a traceback."""

PROGRAM_SECONDS = 30.0
"""From the start of a session that only launches to its program; node announces itself within half a second."""


_RUNS = ("Running", "Paused")


async def wait_program(merger: Merger, session_id: str, ending: Ending, patience: Patience) -> None:
    """Wait until the program of a session that only launches may run, or that session has a reason to end.

    Raises:
        AdapterGone: the adapter has ended before there was one.
        UsageError: `TIMEOUT`: there is no program.
    """
    seconds = patience.seconds(PROGRAM_SECONDS)
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:

            async def watch_end() -> None:
                await ending.wait()
                nursery.cancel_scope.cancel(reason="the session is over")

            nursery.start_soon(watch_end)
            # A program that ends at once ends this session, too; one that failed to start does not count.
            await merger.wait_until(
                lambda state: any(each.parent == session_id and each.phase in _RUNS for each in state.snapshots)
            )
            nursery.cancel_scope.cancel(reason="the program may run")
        if ending.failed:
            raise AdapterGone(ending.reason or "the debug adapter is gone")
        return
    raise UsageError(
        "TIMEOUT",
        f"The program did not connect to its debugger within {seconds:g} s. Look at its output with "
        "process_read_output: it may not be a program of this adapter's language.",
    )


async def ended_early(terminals: Terminals, ending: Ending, console: Console) -> DebugError | None:
    """Return the error of a program that ended before its debugger answered: a wrong interpreter, for example."""
    with trio.move_on_after(terminals.patience.seconds(DRAIN_SECONDS)):  # for its last words
        await terminals.wait_over()
    code = terminals.exit_code
    if code is None or ending.exited:
        return None
    output = "".join(entry.text for entry in console.entries())[-LAST_OUTPUT_LENGTH:].strip()
    last_line = output.rpartition("\n")[2]
    return UsageError(
        "LAUNCH_FAILED",
        f"The program ended with exit code {code} before the debugger in it had connected"
        + (f": {last_line.rstrip('. ')}. " if last_line else ". ")
        + "Correct its command, the interpreter above all, and call debug_launch again.",
        {"exitCode": code, "output": output},
    )
