"""Tasks that wait for each other in a circle, so that none of them can continue."""

from typing import Dict, FrozenSet, List, Tuple


class TaskCircles:
    """Which tasks wait for which, by the ids of their objects."""

    def __init__(self) -> None:
        self._waits: Dict[int, Tuple[List[int], bool]] = {}

    def add(self, task: int, others: List[int], any_of_them: bool = False) -> None:
        """Note that a task waits for others: for all, or until one of them (who has a semaphore) continues."""
        self._waits[task] = (others, any_of_them)

    def all(self) -> List[List[int]]:
        """Return the circles, each once and as short as it can be, beginning with the task that was added first."""
        stuck = self._stuck()
        found: Dict[FrozenSet[int], List[int]] = {}
        for start in self._waits:
            circle = self._circle(start, stuck) if start in stuck else []
            if circle:
                found.setdefault(frozenset(circle), circle)
        return list(found.values())

    def _stuck(self) -> Dict[int, bool]:
        """The tasks that no task which can continue will free."""
        stuck = dict.fromkeys(self._waits, True)
        while True:
            free = [task for task in stuck if not self._is_held_up(task, stuck)]
            if not free:
                return stuck
            for task in free:
                del stuck[task]

    def _is_held_up(self, task: int, stuck: Dict[int, bool]) -> bool:
        others, any_of_them = self._waits[task]
        held_up = [other in stuck for other in others]
        return bool(others) and (all(held_up) if any_of_them else any(held_up))

    def _circle(self, start: int, stuck: Dict[int, bool]) -> List[int]:
        """Return the shortest way of waiting that leads from a task back to it; empty: there is none."""
        ways = [[start]]
        seen = set()
        for way in ways:
            for after in self._waits[way[-1]][0]:
                if after == start:
                    return way
                if after not in seen and after in stuck:
                    seen.add(after)
                    ways.append([*way, after])
        return []
