"""One thread or task of a recorded run, statement by statement, and two of them in step.

    walk = StepWalk(record, keys, streams, 1)
    walk.key, walk.row                          # of the step at hand; 0 at the end
    count, last = together(walk, other)         # on as long as both take the same way; the rows of the last such step

Whole blocks are compared at a time: a record has millions of steps, and most are equal. What is equal as it is
compressed is not even read, and the rows of steps are only looked up where they are asked for.
"""

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
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


class StepWalk:
    """The statements of one thread or task that both sources have, in order."""

    def __init__(self, record: ProcessRecord, keys: dict[int, int], streams: RunStreams, stream: int) -> None:
        self.record, self.keys = record, keys
        self._streams, self._stream = streams, stream
        self.table = {_LINE_HEAD | site: key for site, key in keys.items() if key != CHANGED}
        self._parts = self._all() if len(streams) == 1 else iter(self._of_stream())
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

    def _all(self) -> Iterator[_StepBlock]:
        """Yield the steps of a process that is one thread, block by block."""
        for words in self.record.rows.blocks.first_words:
            yield _WholeBlock(words, self.table)

    def _of_stream(self) -> list[_StepBlock]:
        """Return the steps of one of several threads and tasks."""
        keys, found = array("I"), array("Q")
        known: dict[int, bool] = {}
        for first, column in self.record.rows.columns(0):
            words = memoryview(column).cast("I")
            heads, frames = words[1::2].tolist(), words[::2].tolist()
            for place, key in enumerate(map(self.table.get, heads)):
                if key is None:
                    continue
                frame = frames[place]
                is_own = known.get(frame)
                if is_own is None:
                    is_own = known[frame] = self._streams.of(frame) == self._stream
                if is_own:
                    keys.append(key)
                    found.append(first + place)
        return [_StepBlock(keys, found)]

    def is_own(self, row: int) -> bool:
        """Whether a row is of this thread or task."""
        return len(self._streams) == 1 or self._streams.of(subject_of(self.record, row)) == self._stream


def first_changed(walk: StepWalk) -> int:
    """Return the first LINE row so far of a statement that only the source of a walk has; 0: none."""
    found = (next(filter(walk.is_own, each(walk.record, rows.LINE, site)), 0) for site in _other_sites(walk))
    first = min(filter(None, found), default=0)
    return first if first < (walk.row or walk.record.last + 1) else 0


def last_skipped(walk: StepWalk) -> int:
    """Return the last such row that was passed over for the step at hand; 0: none."""
    record, end = walk.record, walk.row or walk.record.last + 1
    found = (next(filter(walk.is_own, each_back(record, rows.LINE, site, end)), 0) for site in _other_sites(walk))
    last = max(found, default=0)
    return last if last > walk.last else 0


def _other_sites(walk: StepWalk) -> list[int]:
    """Return the statements that only the source of a walk has."""
    sites = chain.from_iterable(walk.record.sites_of(code.number) for code in walk.record.codes)
    return [site.number for site in sites if walk.keys.get(site.number, CHANGED) == CHANGED]


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
