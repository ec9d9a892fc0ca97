"""Which objects a frame is inside of: the managers of its `with` blocks, what it has acquired, and what it awaits."""

from typing import Any, Dict, List, Optional

from trio_debugmcp.probe.inside.threads import bytecode
from trio_debugmcp.probe.inside.threads.bytecode import Known, ReadCode, known_code, stack_at

_TIMEOUTS = frozenset(("timeout", "timeout_at", "move_on_after", "move_on_at", "fail_after", "fail_at"))
"""Functions of asyncio, Trio and anyio whose `with` blocks end by themselves."""

_CALL = 12
"""Instructions of a call of such a function, at most."""

_AWAITS = 8
"""Instructions from the one that takes what is awaited to the one at which a coroutine is suspended."""


def entering(frame: Any) -> Optional[Known]:
    """Return the context manager whose `__enter__` a frame calls for a `with` statement, or None."""
    known, index = known_code(frame.f_code), bytecode.position(frame)
    name = known.instructions[index].opname
    if name == "CALL" and index and bytecode.loads_enter(known.instructions[index - 1]):  # 3.14
        index = bytecode.copied(known.instructions, index - 1)
    elif name not in ("SETUP_WITH", "BEFORE_WITH"):
        return None
    stack = stack_at(frame, index)
    return stack[-1] if stack else None


def entered(frame: Any) -> List[Known]:
    """Return the context managers of the `with` blocks that a frame is in, the outermost first."""
    known = known_code(frame.f_code)
    blocks, _ = known.sites()
    managers = []
    for index, body in blocks:
        if known.instructions[index].offset <= frame.f_lasti and _covers(known, body, frame.f_lasti):
            stack = stack_at(frame, index)
            if stack:
                managers.append(stack[-1])
    return managers


def _covers(known: ReadCode, body: int, offset: int) -> bool:
    """Whether an instruction is in the block whose first instruction has that index."""
    found = known.instructions
    before = found[body - 1]
    if before.opname in ("SETUP_WITH", "SETUP_ASYNC_WITH"):  # up to 3.10
        return bool(before.offset < offset < before.argval)
    table = known.table()
    if body >= len(found):
        return False
    start = found[body].offset
    handler = next((target for first, _, target in table if first == start), None)
    for _ in range(20):  # from the innermost handler outwards
        target = next((target for first, last, target in table if first <= offset < last), None)
        if target is None or handler is None:
            return False
        if target == handler:
            return True
        offset = target
    return False


def acquired(frame: Any, acquiring: bool = False) -> List[Known]:
    """Return the objects whose `acquire` stands before a frame's current instruction, with no `release` since.

    acquiring: it waits in the last of these calls, which has given it nothing yet.
    """
    known = known_code(frame.f_code)
    _, names = known.sites()
    before = [index for index in names if known.instructions[index].offset < frame.f_lasti]
    held: Dict[str, Known] = {}
    for index in before[: len(before) - acquiring]:
        instruction = known.instructions[index]
        stack = stack_at(frame, index)
        if stack and instruction.argval == "acquire":
            held[stack[-1].text] = stack[-1]
        elif stack:
            held.pop(stack[-1].text, None)
    return list(held.values())


def ends_by_itself(frame: Any) -> bool:
    """Whether a frame is in the `with` block of a timeout."""
    try:
        known = known_code(frame.f_code)
        found, (blocks, _) = known.instructions, known.sites()
        return any(
            found[index].offset <= frame.f_lasti
            and _is_of_timeout(known, index)
            and _covers(known, body, frame.f_lasti)
            for index, body in blocks
        )
    except Exception:  # bytecode of a version that is not known
        return False


def _is_of_timeout(known: ReadCode, site: int) -> bool:
    for index in range(site - 1, max(site - _CALL, -1), -1):
        instruction = known.instructions[index]
        if instruction.opname.startswith(("STORE", "POP", "RESUME")):  # of another statement
            return False
        if instruction.argval in _TIMEOUTS:
            return True
    return False


def used_as_locks(frame: Any, acquiring: bool = False) -> List[Known]:
    """What a frame is inside of that may be a lock: the objects of its `with` blocks, and of what it has acquired."""
    try:
        return entered(frame) + acquired(frame, acquiring)
    except Exception:  # bytecode of a version that is not known
        return []


def awaited(frame: Any) -> List[Known]:
    """Return what is known of the stack, the top last, from which a suspended frame took what it awaits.

    For a call it is the stack with the function and its arguments; for `async with` its end is the manager.
    """
    found, here = known_code(frame.f_code).instructions, bytecode.position(frame)
    for index in range(here, max(here - _AWAITS, 0), -1):
        if found[index].opname == "GET_ANEXT":
            return stack_at(frame, index)
        if found[index].opname == "GET_AWAITABLE":
            before = index - 1
            if "CALL" not in found[before].opname:
                return stack_at(frame, before if found[before].opname == "BEFORE_ASYNC_WITH" else index)
            return stack_at(frame, before - (found[before - 1].opname == "PRECALL"))
    return []
