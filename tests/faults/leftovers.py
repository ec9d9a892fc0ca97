"""What a process holds: tasks, descriptors, children. To be counted before and after."""

import os
from collections import Counter
from pathlib import Path

import trio
import trio.lowlevel


def tasks() -> Counter[str]:
    """The names of all of trio's tasks, with how many there are of each."""
    root = trio.lowlevel.current_root_task()
    found: Counter[str] = Counter()
    waiting = [root] if root is not None else []
    while waiting:
        task = waiting.pop()
        found[task.name] += 1
        waiting += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return found


def descriptors() -> int:
    """How many file descriptors are open."""
    return len(os.listdir("/proc/self/fd"))


def children() -> list[str]:
    """The ids of our child processes, of which the fault matrix must have none."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
