r"""`OwnLines`: the lines that a debugger inside a program writes into the program's standard streams, taken out.

    own = OwnLines(("DEBUGGER: ",))
    own.feed(b"DEBUGGER: Connected.\nitem 1\n")       # b"item 1\n"; own.taken has the other line

Only the beginning of a line is held back, and only as long as it may be one of these; a prompt without a line end is
passed on at once. In a beginning, `#` stands for a digit.
"""

import re
from collections.abc import Callable, Sequence
from string import digits

import trio

from trio_debugmcp.dap.pipe_descriptor import descriptor_of

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


class OwnLines:
    """The lines of one stream that begin with one of some texts. Pure.

    Attributes:
        taken: the lines that were taken out since it was last cleared.
    """

    def __init__(self, beginnings: Sequence[str]) -> None:
        self.taken = bytearray()
        self._beginnings = [beginning.encode() for beginning in beginnings]
        self._held = b""
        self._within = False  # in a line of the program's, whose rest is passed on as it comes

    def feed(self, data: bytes) -> bytes:
        """Return what of the data, and of what was held back, is the program's; at the end of the stream the rest."""
        if not data:
            return self._rest()
        lines = _LINE.findall(self._held + data)
        self._held, passed = b"", bytearray()
        for line in lines:
            complete = line.endswith(b"\n")
            if self._within:
                passed += line
                self._within = not complete
            elif self._is_own(line):
                if complete:
                    self.taken += line
                else:
                    self._held = line
            elif not complete and any(_agree(line, beginning) for beginning in self._beginnings):
                self._held = line
            else:
                passed += line
                self._within = not complete
        return bytes(passed)

    def _rest(self) -> bytes:
        held, self._held = self._held, b""
        if self._is_own(held):
            self.taken += held
            return b""
        return held

    def _is_own(self, line: bytes) -> bool:
        return any(_agree(line, beginning) for beginning in self._beginnings if len(line) >= len(beginning))


def _agree(line: bytes, beginning: bytes) -> bool:
    """Whether a line is as a beginning says, as far as both go."""
    return all(
        is_ == said or (said == ord("#") and chr(is_) in digits) for is_, said in zip(line, beginning, strict=False)
    )


class ProgramPipe(trio.abc.ReceiveStream):
    """A pipe of the program without such lines; they are given to `keep`."""

    def __init__(
        self, pipe: trio.abc.ReceiveStream, beginnings: Sequence[str], keep: Callable[[bytearray], None]
    ) -> None:
        self._pipe = pipe
        self._lines = OwnLines(beginnings)
        self._keep = keep

    def __repr__(self) -> str:
        return f"<ProgramPipe of {self._pipe!r}>"

    def fileno(self) -> int | None:
        """The descriptor of the pipe; None if it has none."""
        return descriptor_of(self._pipe)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        while True:
            data = bytes(await self._pipe.receive_some(max_bytes))
            passed = self._lines.feed(data)
            if self._lines.taken:
                self._keep(self._lines.taken)
                self._lines.taken.clear()
            if passed or not data:
                return passed

    async def aclose(self) -> None:
        await self._pipe.aclose()
