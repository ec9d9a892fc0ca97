"""The present stop in one line, kept in a file beside a project's server, for a shell's hook and monitor.

    async with open_nursery() as nursery:
        nursery.start_soon(keep_stop_line, debugger, place)

They only read the file: asking the server would keep it from ending when no call comes any more.
"""

from typing import NoReturn

from trio_debugmcp.kept.place import Place
from trio_debugmcp.masking.mask import masked
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.model import State

MAX_MESSAGE = 200
"""Characters of an exception's message."""


def stop_line(state: State) -> str | None:
    """Return the number of the stop in focus, why the program stopped and where; None while none is stopped."""
    stop = None if state.focused is None else state.focused.stop
    if stop is None:
        return None
    place = stop.location
    where = "" if place is None or place.file is None else f" at {place.file}:{place.line}"
    function = "" if place is None or not place.function_name else f" in {place.function_name}"
    error = stop.exception
    raised = "" if error is None else f", {error.type}: {(error.message or '')[:MAX_MESSAGE]}"
    return " ".join(f"{stop.number} {stop.reason}{raised}{where}{function}".split())


async def keep_stop_line(debugger: Debugger, place: Place) -> NoReturn:
    """Write the line at each stop, and take the file away when the program runs. Runs until cancelled."""
    line: str | None = None
    while True:
        state = await debugger.merger.wait_until(lambda state, line=line: stop_line(state) != line)  # type: ignore[misc]
        line = stop_line(state)
        place.write_stop(line if line is None or debugger.settings.show_secrets else masked(line))
