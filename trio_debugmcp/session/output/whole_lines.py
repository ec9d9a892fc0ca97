r"""`WholeLines`: the output of many processes in one console, line by line, and whose each line is. Pure.

    lines = WholeLines()
    lines.take("stdout", "loss ", Writer("s-3", "rank 0"))      # "": its line is not finished
    lines.take("stdout", "0.5\n", Writer("s-3", "rank 0"))      # "[rank 0] loss 0.5\n"
    lines.rest()                                                # what is unfinished, for who reads now

A read in the midst of a line shows its beginning; the rest of it follows there, or is a line of its own where another
process has written meanwhile.
"""

from typing import Literal

from msgspec import Struct

Stream = Literal["stdout", "stderr", "console", "tracepoint"]

MAX_UNFINISHED_LENGTH = 4096
"""Characters of a line that are kept until it is finished: there may be a thousand processes."""


class Writer(Struct, frozen=True):
    """A process that writes: its session's id, and how it is called, if it has a label."""

    id: str
    name: str | None = None


class WholeLines:
    """Lines that are not finished yet, of each process and stream."""

    def __init__(self) -> None:
        self._left: dict[tuple[str, Stream], str] = {}
        self._names: dict[str, str | None] = {}
        self._open: dict[Stream, str] = {}

    def __repr__(self) -> str:
        return f"<WholeLines: {len(self._left)} unfinished>"

    def take(self, stream: Stream, text: str, writer: Writer) -> str:
        """Add text, and return what is to be shown of it now: whole lines, or a part that has become too long."""
        self._names[writer.id] = writer.name
        whole, end, left = (self._left.pop((writer.id, stream), "") + text).rpartition("\n")
        if len(left) > MAX_UNFINISHED_LENGTH:
            end, left = end + left, ""
        if left:
            self._left[writer.id, stream] = left
        return self._shown(stream, whole + end, writer.id)

    def rest(self) -> list[tuple[Stream, str]]:
        """Return the streams and texts of what is unfinished."""
        found = [(stream, self._shown(stream, text, id_)) for (id_, stream), text in self._left.items()]
        self._left.clear()
        self._names.clear()
        return found

    def _shown(self, stream: Stream, text: str, id_: str) -> str:
        """Return text as it follows what was shown last of a stream, which may be the beginning of a line."""
        if not text:
            return ""
        begun = self._open.pop(stream, None)
        if not text.endswith("\n"):
            self._open[stream] = id_
        if begun == id_:
            head, end, lines = text.partition("\n")
            return head + end + _called(lines, self._names[id_])
        return ("\n" if begun is not None else "") + _called(text, self._names[id_])


def _called(text: str, name: str | None) -> str:
    if not text or name is None:
        return text
    mark = f"[{name}] "  # not where only the cursor returns, as a progress bar's does
    return mark + text[:-1].replace("\n", f"\n{mark}") + text[-1]
