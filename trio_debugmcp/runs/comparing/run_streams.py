"""What runs beside each other in a recorded process: its threads, and the tasks of asyncio and Trio in them.

    streams = RunStreams(record)
    streams.of(frame)                           # the number of the thread or task that a frame belongs to
    pairs = paired(streams, other)              # each with its counterpart in another run; 0: it has none

A task is a coroutine that no coroutine awaits, with all that it calls. In two runs they take turns otherwise, so each
is compared by itself. A counterpart begins with the same function, and is of the same number among those.
"""

from collections import Counter

from trio_debugmcp.runs.files.process_record import FrameRecord, ProcessRecord

StreamPair = tuple[int, int]
"""The numbers of a thread or task in two runs; 0: there is none."""

_AWAITED = ("coroutine", "async_generator")


class RunStreams:
    """The threads and tasks of one process.

    Attributes:
        names: of each, from 1 on: the file and the function that it begins with, and its number among those.
        has_tasks: coroutines ran.
    """

    def __init__(self, record: ProcessRecord) -> None:
        self._record = record
        self._of: dict[int, int] = {}
        self._threads: dict[int, int] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._is_awaited = {code.number: code.kind in _AWAITED for code in record.codes}
        self.names: list[tuple[str, str, int]] = []
        self.has_tasks = any(self._is_awaited.values())
        for number in range(record.frames.first, record.last_frame + 1) if self.has_tasks else self._roots():
            self._find(number)

    def __len__(self) -> int:
        return len(self.names)

    def of(self, frame: int) -> int:
        """Return the number of the thread or task of a frame; 0: it is not known."""
        known = self._of.get(frame)
        return self._find(frame) if known is None else known

    def _roots(self) -> list[int]:
        return list(self._record.frames.next_like(1, 0, 0))

    def _find(self, number: int) -> int:
        """Return the stream of a frame, which is a new one where it begins one."""
        found = self._record.frame(number)
        if self.has_tasks and self._is_awaited.get(found.code, False):
            above = self._record.frame(found.parent).code if found.parent else 0
            stream = self.of(found.parent) if self._is_awaited.get(above, False) else self._new(found)
        elif self.has_tasks and found.parent:
            stream = self.of(found.parent)
        else:
            known = self._threads.get(found.thread)
            stream = self._threads[found.thread] = self._new(found) if known is None else known
        self._of[number] = stream
        return stream

    def _new(self, frame: FrameRecord) -> int:
        code = self._record.code(frame.code)
        root = self._record.facts.root.rstrip("/") + "/"
        name = code.file.removeprefix(root), code.name
        self._counts[name] += 1
        self.names.append((*name, self._counts[name]))
        return len(self.names)


def paired(good: RunStreams, bad: RunStreams) -> list[StreamPair]:
    """Return the threads and tasks of two runs, each with its counterpart."""
    others = {name: number for number, name in enumerate(bad.names, 1)}
    found = [(number, others.pop(name, 0)) for number, name in enumerate(good.names, 1)]
    return [*found, *((0, number) for number in others.values())]
