"""Which objects a frame is inside of: the managers of its `with` blocks, what it has acquired, and what it awaits."""

from typing import Any, Dict, List, Optional

from trio_debugmcp.probe.inside.threads import bytecode
from trio_debugmcp.probe.inside.threads.bytecode import Known, ReadCode, known_code, stack_at
from trio_debugmcp.probe.inside.values import facts

_CALL = 12
"""Instructions of a call of such a function, at most."""

_LOADS = ("LOAD_", "KW_NAMES", "PRECALL", "PUSH_NULL", "CACHE", "EXTENDED_ARG")
"""Instructions between the name of a method and its call, if its arguments are plain."""

_OF_THREADS = ("_thread", "threading", "multiprocessing.synchronize")
"""Modules of locks whose `acquire` is called and not awaited."""

_LEAVES = ("JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_NO_INTERRUPT", "RETURN", "RAISE", "RERAISE")
"""How instructions begin behind which the next one is reached from elsewhere only."""

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


def acquired(frame: Any) -> List[Known]:
    """Return the objects whose `acquire` a frame has called, or awaited, with no `release` since.

    A call that waits still has given it nothing yet; and a coroutine that is handed to others is of theirs.
    """
    known, here = known_code(frame.f_code), bytecode.position(frame)
    _, names = known.sites()
    held: Dict[str, Known] = {}
    for index in names:
        if index >= here:
            break
        stack = stack_at(frame, index)
        if not stack:
            continue
        if known.instructions[index].argval == "release":
            held.pop(stack[-1].text, None)
        elif _has_acquired(frame, index, stack[-1].value, here) and _leads_to(known.instructions, index, here):
            held[stack[-1].text] = stack[-1]
    return list(held.values())


def _has_acquired(frame: Any, index: int, lock: Any, here: int) -> bool:
    """Whether the `acquire` that is loaded at an index was called, and awaited if it is a coroutine's."""
    found = known_code(frame.f_code).instructions
    call = _next(found, index, "CALL")
    if call is None or call >= here:
        return False
    if facts.module_name(type(lock)) in _OF_THREADS:  # with a timeout it may have failed, which the result tells
        return bool(found[call].argval == 0 and found[call + 1].opname == "POP_TOP")
    awaiting = call + 1
    if found[awaiting].opname != "GET_AWAITABLE":  # perhaps `await asyncio.wait_for(lock.acquire(), 5)`
        outer = _next(found, call, "CALL")
        if outer is None or not any(each.last == "wait_for" for each in stack_at(frame, outer)):
            return False
        awaiting = outer + 1
    return found[awaiting].opname == "GET_AWAITABLE" and _resumes_at(found, awaiting) <= here


def _leads_to(found: List[Any], start: int, here: int) -> bool:
    """Whether the code leads from one instruction to a later one, in one round and without an exception."""
    places = {instruction.offset: index for index, instruction in enumerate(found)}
    reached = {start}
    for index in range(start, here):
        if index not in reached:
            continue
        name = found[index].opname
        if "JUMP" in name or name in ("FOR_ITER", "SEND"):
            reached.add(places.get(found[index].argval, -1))
        if not name.startswith(_LEAVES):
            reached.add(index + 1)
    return here in reached


def _next(found: List[Any], index: int, name: str) -> Optional[int]:
    """Return the index of the next instruction of that name, if nothing but loading of values is before it."""
    for number in range(index + 1, min(index + _CALL, len(found) - 1)):
        operation = found[number].opname
        if operation != "PRECALL" and name in operation:
            return number
        if not operation.startswith(_LOADS):
            return None
    return None


def _resumes_at(found: List[Any], index: int) -> int:
    """Return the index of the instruction at which a coroutine resumes after what it awaits from an index on."""
    for number in range(index, min(index + _AWAITS, len(found))):
        if found[number].opname == "YIELD_FROM":  # up to 3.10
            return number + 1
        if found[number].opname == "SEND":
            return next(later for later in range(number, len(found)) if found[later].offset >= found[number].argval)
    return len(found)


def taken_by_blocks(frame: Any) -> List[Known]:
    """Return the objects of a frame's `with` blocks, which may be locks."""
    try:
        return entered(frame)
    except Exception:  # bytecode of a version that is not known
        return []


def taken_by_calls(frame: Any) -> List[Known]:
    """Return what a frame has acquired and not released. Others may have done that since."""
    try:
        return acquired(frame)
    except Exception:
        return []


def is_released(manager: Any, inner: Any) -> bool:
    """Whether the frame inside is the `wait` of a Condition, which gives its lock back meanwhile."""
    return inner is not None and inner.f_code.co_name in ("wait", "wait_for") and inner.f_locals.get("self") is manager


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
