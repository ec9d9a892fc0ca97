"""One thread or task of a recorded run, statement by statement, and two of them in step.

    walk = StepWalk(RunSteps(record, keys, streams), 1)
    walk.key, walk.row                          # of the step at hand; 0 at the end
    count, last = together(walk, other)         # on as long as both take the same way; the rows of the last such step

Whole blocks are compared at a time: a record has millions of steps, and most are equal. What is equal as it is
compressed is not even read, and the rows of steps are only looked up where they are asked for.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import chain

from trio_debugmcp.runs.comparing.run_streams import RunStreams
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.block_columns import FirstWords
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import each, each_back, subject_of

CHANGED = 0
"""The key of statements that only one of the sources has."""

_MOST_SKIPPED = 200_000
"""Steps of a loop that one run has more rounds of than the other."""

_LINE_HEAD = rows.LINE << 28


class _StepBlock:
    """Some steps that follow each other: how many, and when they are asked for, their keys and rows."""

    def __init__(self, keys: Sequence[int], found: Sequence[int]) -> None:
        self.count = len(keys)
        self.keys, self._rows = keys, found

    def row(self, index: int) -> int:
        return self._rows[index]

    def is_same(self, _: "_StepBlock") -> bool:
        """Whether another one is known to have the same steps."""
        return False


class _WholeBlock(_StepBlock):
    """The steps of a block of rows of a process that is one thread."""

    def __init__(self, words: FirstWords, table: dict[int, int]) -> None:
        counts = words.counts()
        self.named = {head: table[head] for head in counts.keys() & table.keys()}
        self.count = sum(counts[head] for head in self.named)
        self.words, self._table = words, table

    @cached_property
    def heads(self) -> bytes:
        return memoryview(self.words.read()).cast("I")[1::2].tobytes()

    @cached_property
    def keys(self) -> list[int]:  # type: ignore[override]  # it is read where it is asked for
        return list(filter(None, map(self._table.get, memoryview(self.heads).cast("I"))))

    @cached_property
    def _found(self) -> list[int]:
        heads = memoryview(self.heads).cast("I")
        return [number for number, head in enumerate(heads, self.words.block.first) if head in self._table]

    def row(self, index: int) -> int:
        return self._found[index]

    def is_same(self, other: _StepBlock) -> bool:
        if not isinstance(other, _WholeBlock) or self.named != other.named:
            return False
        return self.words.is_same(other.words) or self.heads == other.heads


class RunSteps:
    """The statements of a run, for walks through each of its threads and tasks.

    Attributes:
        keys: of the common statements by their sites.
        streams: the threads and tasks.
    """

    def __init__(self, record: ProcessRecord, keys: dict[int, int], streams: RunStreams) -> None:
        self.record, self.keys, self.streams = record, keys, streams

    @cached_property
    def table(self) -> dict[int, int]:
        """The keys by the first words of rows, without those of statements that only this source has."""
        return {_LINE_HEAD | site: key for site, key in self.keys.items() if key != CHANGED}

    def blocks(self) -> Iterator[_StepBlock]:
        """Yield the steps of a process that is one thread, block by block."""
        for words in self.record.rows.blocks.first_words:
            yield _WholeBlock(words, self.table)

    def of_stream(self, stream: int) -> _StepBlock:
        """Return the steps of one of several threads and tasks."""
        return self._common.get(stream) or _StepBlock((), ())

    def changed_of(self, stream: int) -> Iterator[int]:
        """Yield the rows of statements that only this source has, in order."""
        if len(self.streams) == 1:
            return merge(*(each(self.record, rows.LINE, site) for site in self._changed_sites))
        return iter(self._changed.get(stream, ()))

    def changed_before(self, stream: int, end: int) -> int:
        """Return the last such row before one; 0: there is none."""
        if len(self.streams) == 1:
            last = (next(each_back(self.record, rows.LINE, site, end), 0) for site in self._changed_sites)
            return max(last, default=0)
        found = self._changed.get(stream, ())
        place = bisect_left(found, end)
        return found[place - 1] if place else 0

    @cached_property
    def _changed_sites(self) -> list[int]:
        sites = chain.from_iterable(self.record.sites_of(code.number) for code in self.record.codes)
        return [site.number for site in sites if self.keys.get(site.number, CHANGED) == CHANGED]

    @cached_property
    def _common(self) -> dict[int, _StepBlock]:
        """The steps of each thread and task, from one look at all rows: there can be hundreds of tasks."""
        found: dict[int, tuple[array[int], array[int]]] = {}
        stream_of: dict[int, int] = {}
        for first, column in self.record.rows.columns(0):
            words = memoryview(column).cast("I")
            heads, frames = words[1::2].tolist(), words[::2].tolist()
            for place, key in enumerate(map(self.table.get, heads)):
                if key is None:
                    continue
                frame = frames[place]
                stream = stream_of.get(frame)
                if stream is None:
                    stream = stream_of[frame] = self.streams.of(frame)
                steps = found.get(stream)
                if steps is None:
                    steps = found[stream] = array("I"), array("Q")
                steps[0].append(key)
                steps[1].append(first + place)
        return {stream: _StepBlock(keys, places) for stream, (keys, places) in found.items()}

    @cached_property
    def _changed(self) -> dict[int, "array[int]"]:
        found: dict[int, array[int]] = {}
        for row in merge(*(each(self.record, rows.LINE, site) for site in self._changed_sites)):
            found.setdefault(self.streams.of(subject_of(self.record, row)), array("Q")).append(row)
        return found


class StepWalk:
    """The statements of one thread or task that both sources have, in order."""

    def __init__(self, steps: RunSteps, stream: int) -> None:
        self.record, self.keys = steps.record, steps.keys
        self._steps, self._stream = steps, stream
        self._parts = steps.blocks() if len(steps.streams) == 1 else iter((steps.of_stream(stream),))
        self._part, self._at = _StepBlock((), ()), 0
        self._before = self._part, -1
        self._load()

    @property
    def key(self) -> int:
        """The key of the step at hand; 0 at the end."""
        return self._part.keys[self._at] if self._at < self._part.count else 0

    @property
    def row(self) -> int:
        """The LINE row of the step at hand; 0 at the end."""
        return self._part.row(self._at) if self._at < self._part.count else 0

    def advance(self, count: int = 1) -> None:
        """Continue by some steps, at most to the end of those that are `ahead`."""
        self._at += count
        self._before = self._part, self._at - 1
        self._load()

    @property
    def ahead(self) -> Sequence[int]:
        """The keys of the next steps; empty at the end."""
        return self._part.keys[self._at :]

    @property
    def whole_block(self) -> _StepBlock | None:
        """The block of the next steps, if none of it has been passed yet."""
        return self._part if self._at == 0 else None

    @property
    def last(self) -> int:
        """The row of the step before; 0: there is none."""
        part, index = self._before
        return part.row(index) if index >= 0 else 0

    def skipped_to(self, key: int, frame: int, header: int) -> int:
        """Pass on to the next step of a key in a frame; return how many more rounds the loop begins before it.

        0: it does not come, or not behind the loop's header, and nothing is passed over.
        """
        rounds, at = 0, self.row
        record = self.record
        for _ in range(_MOST_SKIPPED):
            at = record.forth_of(frozenset((rows.LINE,)), frame, at)
            if not at:
                return 0
            line = record.row(at)
            if self.keys.get(line.key) == key:
                while rounds and self.row and self.row < at:
                    self.advance()
                return rounds
            rounds += line.key == header
        return 0

    # --- Its steps ----------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        while self._at >= self._part.count:
            part = next(self._parts, None)
            if part is None:
                return
            self._part, self._at = part, 0

    def changed(self) -> Iterator[int]:
        """Yield the rows of its statements that only its source has, in order."""
        return self._steps.changed_of(self._stream)

    def changed_before(self, end: int) -> int:
        """Return the last such row before one; 0: there is none."""
        return self._steps.changed_before(self._stream, end)


def first_changed(walk: StepWalk) -> int:
    """Return the first LINE row so far of a statement that only the source of a walk has; 0: none."""
    first = next(walk.changed(), 0)
    return first if first < (walk.row or walk.record.last + 1) else 0


def last_skipped(walk: StepWalk) -> int:
    """Return the last such row that was passed over for the step at hand; 0: none."""
    last = walk.changed_before(walk.row or walk.record.last + 1)
    return last if last > walk.last else 0


def together(good: StepWalk, bad: StepWalk) -> tuple[int, tuple[int, int] | None]:
    """Continue two walks as long as both take the same way; return how many steps, and the rows of the last one."""
    same = 0
    while True:
        one, other = good.whole_block, bad.whole_block
        if one and other and one.count and one.is_same(other):
            good.advance(one.count)
            bad.advance(one.count)
            same += one.count
            continue
        if good.key != bad.key or good.key == CHANGED:
            break
        keys, others = good.ahead, bad.ahead
        count = min(len(keys), len(others))
        if keys[:count] != others[:count]:
            # A list and an array differ always, as do their types.
            places = (place for place, pair in enumerate(zip(keys, others, strict=False)) if pair[0] != pair[1])
            count = next(places, count)
        good.advance(count)
        bad.advance(count)
        same += count
    return same, (good.last, bad.last) if same else None
