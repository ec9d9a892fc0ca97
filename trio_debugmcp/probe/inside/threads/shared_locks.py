"""Locks in memory that processes share: those of `multiprocessing`, which are the same in all processes that have one.

    semaphore_of(manager)       # the semaphore in C behind a lock, or None
    known_here()                # those that this process has made, or had when it was forked

A semaphore counts how often its process has acquired it and not released it; which thread that was it does not say.
"""

import types
from typing import Any, Dict, List, Tuple

from trio_debugmcp.probe.inside import imported, process_marks
from trio_debugmcp.probe.inside.values import facts

_MOST_LOOKED_AT = 10_000
"""Of what a process renews after a fork, as its locks."""

_MOST_MAPPED = 4_000_000
"""Bytes of the list of what is mapped into the process that are searched."""

_RECURSIVE = 0
"""The kind of a semaphore that one thread may acquire several times."""


def semaphore_of(manager: Any) -> Any:
    """Return the semaphore behind a lock, semaphore or condition of `multiprocessing`, or None."""
    semaphore = _semaphore_type()
    if semaphore is None or type(manager) is semaphore:
        return manager if semaphore is not None else None
    for holder in (manager, facts.attribute(manager, "_lock")):
        if holder is not facts.MISSING and facts.module_name(type(holder)) == "multiprocessing.synchronize":
            found = facts.attribute(holder, "_semlock")
            if type(found) is semaphore:
                return found
    return None


def are_here() -> bool:
    """Whether the program may have such locks."""
    return _semaphore_type() is not None


def known_here() -> Tuple[List[Any], int]:
    """Return the semaphores that this process has made, or had when it was forked, and how many more there may be.

    Those that were sent to it are not known.
    """
    registry = facts.attribute(imported.now("multiprocessing.util"), "_afterfork_registry")
    references = facts.attribute(registry, "data")
    found: Dict[int, Any] = {}
    registered = list(references.values()) if type(references) is dict else []
    for reference in registered[:_MOST_LOOKED_AT]:
        semaphore = semaphore_of(reference())
        if semaphore is not None:
            found[id(semaphore)] = semaphore
    return list(found.values()), max(0, len(registered) - _MOST_LOOKED_AT)


def count(semaphore: Any) -> int:
    """Return how often this process has acquired it more than released it; below 0 if others have acquired it."""
    counted: int = _semaphore_type()._count(semaphore)
    return counted


def is_single(semaphore: Any) -> bool:
    """Whether only one can have it: a lock, as opposed to a semaphore that may be a signal."""
    return bool(semaphore.maxvalue == 1 or semaphore.kind == _RECURSIVE)


def is_free(semaphore: Any) -> bool:
    """Whether it can be acquired now, as far as the system says that."""
    try:
        return bool(_semaphore_type()._get_value(semaphore) > 0)
    except Exception:  # not on macOS
        return False


def identities(semaphores: List[Any]) -> Dict[int, str]:
    """Return what is the same of a semaphore in all processes of this machine, by the ids of the objects.

    That is the file which is mapped; where it is not known the name. A semaphore of forked processes has no name.
    """
    posix = imported.first_seen("posix")
    mapped = _mapped(posix) if posix is not None and semaphores else []
    found: Dict[int, str] = {}
    for semaphore in semaphores:
        file = next((file for start, end, file in mapped if start <= semaphore.handle < end), "")
        identity = file or semaphore.name
        if identity:
            found[id(semaphore)] = identity
    return found


def _mapped(posix: Any) -> List[Tuple[int, int, str]]:
    """Files that are mapped into this process and shared: the addresses, and device and number of each."""
    try:
        lines = process_marks.read_file(posix, "/proc/self/maps", _MOST_MAPPED).splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        fields = line.split(None, 5)
        if len(fields) > 4 and fields[1].endswith(b"s") and fields[4] != b"0":
            start, _, end = fields[0].partition(b"-")
            found.append((int(start, 16), int(end, 16), f"{fields[3].decode()} {fields[4].decode()}"))
    return found


def _semaphore_type() -> Any:
    """The type that the program's locks have: `_multiprocessing` may have been loaded more than once."""
    module = facts.attribute(imported.now("multiprocessing.synchronize"), "_multiprocessing")
    found = facts.attribute(module, "SemLock")
    is_type = issubclass(type(found), type)
    return found if is_type and type(facts.own(found, "_count")) is types.MethodDescriptorType else None
