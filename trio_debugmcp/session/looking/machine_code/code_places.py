"""Places of addresses in files of machine code, by gdb, which need not debug anything for that."""

import subprocess
from collections.abc import Sequence

import trio

from trio_debugmcp.dap.profiles.native.crash_texts import CodeAddress, CodePlace, gdb_command, places_in
from trio_debugmcp.errors import UsageError
from trio_debugmcp.patience import Patience

READ_SECONDS = 20.0
"""For the debug information of one file, of which gdb reads what is near the addresses."""


async def code_places(gdb: str, module: str, addresses: Sequence[CodeAddress], patience: Patience) -> list[CodePlace]:
    """Return what is at these addresses of a file; empty places where gdb knows none.

    Raises:
        UsageError: `EVAL_TIMEOUT` or `EVAL_FAILED`.
    """
    seconds = patience.seconds(READ_SECONDS)
    try:
        with trio.fail_after(seconds):
            done = await trio.run_process(
                gdb_command(gdb, module, addresses),
                stdin=subprocess.DEVNULL,
                capture_stdout=True,
                capture_stderr=True,
                check=False,
            )
    except trio.TooSlowError:
        raise UsageError("EVAL_TIMEOUT", f"gdb has not read '{module}' within {seconds:g} s.") from None
    except OSError as error:
        raise UsageError("EVAL_FAILED", f"gdb does not start: {error}.") from None
    found = places_in(done.stdout.decode(errors="replace"))
    if len(found) != len(addresses):
        said = " ".join(done.stderr.decode(errors="replace").split())[:300]
        raise UsageError("EVAL_FAILED", f"gdb cannot read '{module}': {said}.")
    return found
