"""What may end a wait that no thread of the program ends: signals that it handles, and a timer of `faulthandler`.

    of_main()       # ["SIGALRM in 3 s", "SIGUSR1"]: only the main thread takes signals
    of_any()        # ["a timer of faulthandler"]: it can end the process

Python has no name for that timer. It is a thread without Python code, in which all signals are blocked.
"""

import _signal  # type: ignore[import-not-found, unused-ignore]
import posix
from typing import List

from trio_debugmcp.probe.inside import imported, waking

_TIMER = "a timer of faulthandler"

_TASKS = "/proc/self/task"

_MOST_TASKS = 500

_BLOCKED = "SigBlk:"

_NEVER_BLOCKED = {_signal.SIGKILL, _signal.SIGSTOP}

_LAST_PLAIN = 31
"""The signals above are for real-time programs."""


def of_main() -> List[str]:
    """Return what may end a wait of the main thread. Ctrl-C always may, and is named where the program handles it."""
    due = _signal.getitimer(_signal.ITIMER_REAL)[0]
    found = [f"SIGALRM in {due:.0f} s"] if due else []
    names = [name for name in sorted(vars(_signal)) if name[:3] == "SIG" and name[:4] != "SIG_"]
    for name in names:
        handler = _signal.getsignal(vars(_signal)[name])
        is_of_program = callable(handler) and handler is not _signal.default_int_handler and not waking.is_own(handler)
        if is_of_program and not (due and name == "SIGALRM"):
            found.append(name)
    return found + of_any()


def of_any() -> List[str]:
    """Return what may end a wait of any thread."""
    if imported.now("faulthandler") is None:
        return []
    try:
        return [_TIMER] if any(map(_blocks_all, posix.listdir(_TASKS)[:_MOST_TASKS])) else []
    except OSError:  # another system than Linux
        return []


def _blocks_all(task: str) -> bool:
    try:
        with open(f"{_TASKS}/{task}/status", encoding="ascii", errors="replace") as status:
            found = [line for line in status if line.startswith(_BLOCKED)]
    except OSError:  # it has ended
        return False
    mask = int(found[0].split()[1], 16) if found else 0
    return all(mask >> (number - 1) & 1 for number in range(1, _LAST_PLAIN + 1) if number not in _NEVER_BLOCKED)
