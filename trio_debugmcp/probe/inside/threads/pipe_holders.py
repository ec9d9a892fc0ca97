"""Which processes of this machine have an end of a pipe, of a socket within this machine, or the lock of a file.

    holders_json(["pipe:[57]"], [12, 13], budget)
    # {"pipes": {"pipe:[57]": {"readers": [12], "writers": [12, 13]}}, "isWhole": True}

It is whole if no process may have one that does not let itself be looked at. Of a socket, who has either end is both a
reader and a writer: it may write, or shut it down. One whose other end is not known is left out. So is who has a lock,
and a lock of which it is not known.
"""

from typing import Any, Dict, Iterable, List, Tuple

from trio_debugmcp.probe.inside import imported, process_marks
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.threads import file_locks, unix_sockets
from trio_debugmcp.probe.inside.visible_frames import Json

_MOST_BYTES = 4000

_KERNEL_THREAD = 0x200000
_STATE, _PARENT, _FLAGS, _BEGIN = 0, 1, 6, 19
"""Fields of a process's `stat` behind its name."""

_ENDS = {0: ("readers",), 1: ("writers",), 2: ("readers", "writers")}
"""By the mode of a descriptor."""


def holders_json(pipes: List[str], among: List[int], budget: Budget) -> Json:
    """Return who has an end of these pipes, which those `among` them have, and whether those are all."""
    posix = imported.first_seen("posix")
    found: Dict[str, Dict[str, List[int]]] = {}
    by_link: Dict[str, List[Dict[str, List[int]]]] = {}
    for pipe in pipes:
        links = _links(pipe)
        if all(links):
            found[pipe] = {"readers": [], "writers": []}
            for link in links:
                by_link.setdefault(link, []).append(found[pipe])
    if posix is None:
        return {"pipes": found, "isWhole": False}
    begin, is_whole = min([_stat(posix, pid)[1] for pid in among], default=0), True
    for name in posix.listdir("/proc"):
        if not name.isdigit():
            continue
        if budget.spent():
            return {"pipes": found, "isWhole": False}
        try:
            _add_ends(posix, int(name), by_link)
        except OSError:
            is_whole = is_whole and not _may_have_one(posix, int(name), among, begin)
    for name in [name for name in found if name.startswith(file_locks.PREFIX)]:
        if not _is_known(posix, name, found[name]["readers"]):
            del found[name]
    return {"pipes": found, "isWhole": is_whole}


def _links(name: str) -> List[str]:
    """Return what leads to a pipe, a socket or a lock: what descriptors name, or the lock itself."""
    if name.startswith(file_locks.PREFIX):
        return [f"{file_locks.PREFIX}{file_locks.listed_in(name)}"]
    return [name] if name.startswith("pipe:[") else [name, unix_sockets.peer_of(name)]


def _is_known(posix: Any, lock: str, holders: List[int]) -> bool:
    """Whether who took a lock is among those who have it, or has ended."""
    taker = int(file_locks.listed_in(lock).split()[3])
    return bool(holders) and (taker in holders or taker <= 0 or _stat(posix, taker)[2] < 0)


def _may_have_one(posix: Any, pid: int, among: List[int], begin: int) -> bool:
    """Whether a process that cannot be looked at may come from those `among` them, of which the first began then."""
    may, began, parent = _stat(posix, pid)
    while may and began >= begin and parent > 1 and pid not in among:
        pid = parent
        _, began, parent = _stat(posix, pid)
    return may and (began >= begin or parent < 0)


def _add_ends(posix: Any, pid: int, found: Dict[str, List[Dict[str, List[int]]]]) -> None:
    with_locks = any(link.startswith(file_locks.PREFIX) for link in found)
    for number in posix.listdir(f"/proc/{pid}/fd"):
        try:
            link = posix.readlink(f"/proc/{pid}/fd/{number}")
            for lock in file_locks.held_by(posix, pid, number) if with_locks and link.startswith("/") else ():
                for ends in found.get(f"{file_locks.PREFIX}{lock}", ()):
                    _add(pid, ends, _ENDS[2])
            listed = found.get(link)
            if listed is None:
                continue
            lines = process_marks.read_file(posix, f"/proc/{pid}/fdinfo/{number}", _MOST_BYTES).splitlines()
        except FileNotFoundError:  # it was closed meanwhile
            continue
        mode = next(int(line.split()[1], 8) & 3 for line in lines if line.startswith(b"flags:"))
        for ends in listed:
            _add(pid, ends, _ENDS[mode])


def _add(pid: int, ends: Dict[str, List[int]], which: Iterable[str]) -> None:
    for end in which:
        if pid not in ends[end]:
            ends[end].append(pid)


def _stat(posix: Any, pid: int) -> Tuple[bool, int, int]:
    """Whether a process may have files, when it began, in ticks since the machine did, and what has started it.

    That is -1 where the process has ended.
    """
    try:
        text = process_marks.read_file(posix, f"/proc/{pid}/stat", _MOST_BYTES)
    except OSError:  # it has ended
        return False, 0, -1
    fields = text.rpartition(b")")[2].split()
    may = fields[_STATE] not in (b"Z", b"X") and not int(fields[_FLAGS]) & _KERNEL_THREAD
    return may, int(fields[_BEGIN]), int(fields[_PARENT])
