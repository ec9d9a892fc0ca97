"""What processes have started, as long as the parents between are there: of several, and a program among an adapter's.

    started = descendants_of({process.pid})
    program = launched_process(adapter.pid, "-agentlib:jdwp")     # None: that is not sure

One whose parent has ended is not among them: nothing says any more who began it.
"""

import re
from collections.abc import Collection

from trio_debugmcp.dap.pids import command_line_of, parent_of, tracer_of
from trio_debugmcp.dap.watchdog_process import all_processes


def descendants_of(ancestors: Collection[int]) -> dict[int, int]:
    """Return the processes that these have started, and what those have started, each with its parent."""
    parents = {pid: parent for pid in all_processes() if (parent := parent_of(pid)) is not None}
    found = dict[int, int]()
    newest = set(ancestors)
    while newest:
        newest = {pid for pid, parent in parents.items() if parent in newest and pid not in found} - set(ancestors)
        found |= {pid: parents[pid] for pid in newest}
    return found


def launched_process(adapter: int, command: str | None) -> int | None:
    """Return the process of the program that an adapter has launched; None where that is not sure.

    It is what the adapter, or a process of it, traces; or else one whose command line has the pattern `command`. What
    the program has started itself may look the same.
    """
    started = descendants_of({adapter})
    family = {adapter, *started}

    def is_program(pid: int) -> bool:
        return tracer_of(pid) in family or (command is not None and bool(re.search(command, command_line_of(pid))))

    programs = {pid for pid in started if is_program(pid)}
    first = [pid for pid in programs if started[pid] not in programs]
    return first[0] if len(first) == 1 else None
