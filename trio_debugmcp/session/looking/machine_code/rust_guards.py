"""Who has a mutex of Rust's library: it does not say so itself, but the guard in a variable of a frame leads to it.

    holders = await guard_holders(requests, stacks, {0x5555555baa20})     # {0x5555555baa20: 3}

A guard that was dropped or moved before the end of its block looks like one that is there. So this is what is probable,
and of a mutex to which the guards of several threads lead nothing is said.
"""

import re
from collections.abc import Collection, Mapping, Sequence

import trio

from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.looking.by_adapter.adapter_commands import by_commands
from trio_debugmcp.session.looking.by_adapter.adapter_variables import scope_variables
from trio_debugmcp.session.looking.by_probe.live_threads import LiveStack
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame

GUARDS_SECONDS = 0.5
"""For the guards of all threads: a few requests for each frame, which take milliseconds."""

_MAX_FRAMES = 40
"""Frames of the user's that are looked into, of all threads together."""

_GUARD = re.compile(r"\bMutexGuard<")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")

_MUTEX_OF = ("&(*{}.lock).inner", "&{}->lock->inner", "&{}.lock->inner")
"""The mutex of the system in what a guard leads to, as gdb and lldb have it: where its futex is."""


async def guard_holders(requests: Requests, stacks: Sequence[LiveStack], wanted: Collection[int]) -> Mapping[int, int]:
    """Return the threads whose guards lead to these futexes, by the addresses."""
    found: dict[int, set[int]] = {}
    frames = [(stack.thread.id, frame) for stack in stacks for frame in stack.frames if _is_of_rust(frame)]
    with trio.move_on_after(requests.patience.seconds(GUARDS_SECONDS)):
        for thread_id, frame in frames[:_MAX_FRAMES]:
            for address in await _guarded(requests, frame):
                found.setdefault(address, set()).add(thread_id)
    return {address: next(iter(ids)) for address, ids in found.items() if address in wanted and len(ids) == 1}


def _is_of_rust(frame: StackFrame) -> bool:
    return frame.is_user_code and (frame.location.file or "").endswith(".rs")


async def _guarded(requests: Requests, frame: StackFrame) -> list[int]:
    """Return the addresses of the mutexes to which the guards in the variables of a frame lead."""
    found: list[int] = []
    try:
        variables = await scope_variables(requests, frame, "locals")
    except DebugError:
        return found
    for variable in variables:
        if _GUARD.search(variable.type or ""):
            address = await _mutex(requests, frame, variable.name)
            found += [] if address is None else [address]
    return found


async def _mutex(requests: Requests, frame: StackFrame, name: str) -> int | None:
    for pattern in _MUTEX_OF:
        expression = pattern.format(name)
        commands = requests.profile.repl.safe_commands(expression)
        try:
            value, _ = await by_commands(requests, frame, expression, commands, GUARDS_SECONDS)
        except DebugError:
            continue
        address = _ADDRESS.search(value)
        if address is not None:
            return int(address[0], 16)
    return None
