"""`ProgramTask`: a task of the program, whichever library it is of, with its frames and a name that leads to it.

Names need not be unique: Trio names its tasks by their functions. Those that are not get a number behind a `#`, which a
task keeps as long as it lives.
"""

import _weakref
from typing import Any, Dict, Iterable, List, Optional, Tuple

from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import await_chains

MOST_NAME = 200
"""Characters, of which a program may have given any number."""


class ProgramTask:
    """A task that is not done.

    Attributes:
        library: `asyncio` or `trio`.
        own_name: as the program knows it.
        name: as answers have it, by which it is asked for.
        thread: in which its loop runs, as far as that is known.
        coroutine: with which its chain begins.
    """

    def __init__(self, library: str, task: Any, name: str, thread: Optional[ProgramThread], coroutine: Any) -> None:
        self.library = library
        self.task = task
        self.own_name = self.name = name[:MOST_NAME]
        self.thread = thread
        self.coroutine = coroutine

    @property
    def is_running(self) -> bool:
        """Whether its thread runs it now, or is stopped in it."""
        coroutine = self.coroutine
        return bool(getattr(coroutine, "cr_running", False) or getattr(coroutine, "gi_running", False))

    def frames(self) -> List[Any]:
        """Return its frames, outermost first: suspended ones, or those of its thread up to the innermost."""
        if self.is_running and self.thread is not None:
            running = await_chains.running_frames(self.thread.top, self.coroutine)
            if running is not None:
                return running
        return await_chains.frames_of(self.coroutine)


_numbers: Dict[int, Tuple[Any, int]] = {}
_last = [0]


def set_names(tasks: Iterable[ProgramTask]) -> None:
    """Give each task a name that no other one has."""
    alike: Dict[str, List[ProgramTask]] = {}
    for task in tasks:
        alike.setdefault(task.own_name, []).append(task)
    for name, several in alike.items():
        for task in several if len(several) > 1 else ():
            task.name = f"{name}#{_number(task.task)}"
    for key, (reference, _) in list(_numbers.items()):
        if reference() is None:
            _numbers.pop(key, None)


def known_number(task: Any) -> Optional[int]:
    """Return the number that a task has got, if it has one."""
    reference, number = _numbers.get(id(task), (None, 0))
    return number if reference is not None and reference() is task else None


def _number(task: Any) -> int:
    known = known_number(task)
    if known is None:
        known = _last[0] = _last[0] + 1
        _numbers[id(task)] = (_weakref.ref(task), known)
    return known
