"""`OutputTail`: what a program writes, for one reader that follows along, from a place of its own.

    tail = OutputTail(console)
    tail.skip_to_last(64_000)
    for stream, text in tail.news(): ...    # each time that something may have been written

Unlike `Console.entries` it makes no entry final: how output is divided for others does not depend on who follows.
"""

from collections import defaultdict
from collections.abc import Iterator

from trio_debugmcp.masking.stream_mask import StreamMasker
from trio_debugmcp.session.output.console import Console


class OutputTail:
    """A place in the output of one program."""

    def __init__(self, console: Console, *, show_secrets: bool = False) -> None:
        self._console = console
        self._show_secrets = show_secrets
        self._maskers: defaultdict[str, StreamMasker] = defaultdict(StreamMasker)
        self._seq = 1
        self._offset = 0

    def __repr__(self) -> str:
        return f"<OutputTail at {self._seq}+{self._offset}>"

    def skip_to_last(self, characters: int) -> int:
        """Skip what is before the last so many characters; return how many were skipped."""
        entries = self._console.unsealed(self._seq)
        total = sum(len(entry.text) for entry in entries)
        skipped = 0
        for entry in entries:
            if total - skipped <= characters:
                break
            self._seq, self._offset = entry.seq + 1, 0
            skipped += len(entry.text)
        return skipped

    def news(self) -> Iterator[tuple[str, str]]:
        """Yield what was written since the last time, with its stream."""
        for entry in self._console.unsealed(self._seq):
            start = self._offset if entry.seq == self._seq else 0
            text = entry.text[start:]
            self._seq, self._offset = entry.seq, len(entry.text)
            if text:
                clean = text if self._show_secrets else self._maskers[entry.stream].feed([text])[0]
                yield entry.stream, clean
