"""Which locks a thread has taken, as its stack shows: by `with` blocks, and by calls of `acquire`.

    of(thread, lambda lock: lock is wanted)     # [(lock, frame, True)]

Another thread may have released one since.
"""

from typing import Any, Callable, List, Tuple

from trio_debugmcp.probe.inside.debugger import seam
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import waits, with_blocks

_MOST_FRAMES = 60
"""Of a thread that are searched."""


def of(thread: ProgramThread, is_searched: Callable[[Any], bool]) -> List[Tuple[Any, Any, bool]]:
    """Return the locks, of those that are searched, which a thread has taken; the frame of each, and if by a `with`."""
    found = []
    frame, inner = thread.top, None
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if not seam.is_probe(frame):
            for by_block, taken in ((True, with_blocks.taken_by_blocks), (False, with_blocks.taken_by_calls)):
                for known in taken(frame):
                    lock = waits.lock_of(known.value)
                    if is_searched(lock) and not with_blocks.is_released(known.value, inner):
                        found.append((lock, frame, by_block))
        frame, inner = frame.f_back, frame
    return found
