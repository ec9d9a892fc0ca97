r"""Bytes to lines, for MCP on standard streams and for the standard error of a server.

    splitter = LineSplitter(max_line_bytes=1024)
    splitter.feed(b"one\ntw")  # [b"one"]
    splitter.feed(b"o\r\n")  # [b"two\r"]

A line that is too long is reported, and does not end the stream.
"""

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Length of one line. Requests to a debugger are short, but process_write_input may carry a file."""

HEAD_BYTES = 4096
"""Of a line that is too long: its id and method stand there, unless it begins with the long part."""


class LineSplitter:
    """Splits bytes into lines; a line over the bound is reported once, as None, and skipped to its end.

    `head` is how the last such line begins: its sender may wait for an answer to the id that stands there.
    """

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._buffer = bytearray()
        self._skipping = False
        self._max_line_bytes = max_line_bytes
        self.head = b""

    def feed(self, data: bytes | bytearray) -> list[bytes | None]:
        r"""Add `data` and return the lines that are complete now, without `\n`; blank ones are left out."""
        lines: list[bytes | None] = []
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._buffer += piece
            if self._skipping:
                self._skipping = False
            elif len(self._buffer) > self._max_line_bytes:
                self.head = bytes(self._buffer[:HEAD_BYTES])
                lines.append(None)
            elif self._buffer.strip():
                lines.append(bytes(self._buffer))
            self._buffer.clear()
        self._buffer += rest
        if len(self._buffer) > self._max_line_bytes:
            if not self._skipping:
                self.head = bytes(self._buffer[:HEAD_BYTES])
                lines.append(None)
            self._skipping = True
            self._buffer.clear()
        return lines
