"""Byte streams that misbehave. Each wraps one end of a connection and spoils what that end sends.

Put one around a `FakeAdapter`'s end with `adapter.wrap`, or around any stream of your own. What is received passes.
"""

import trio

PAUSE_SECONDS = 0.001
"""Between two bytes that trickle: the slowest line that anybody debugs over."""


class Through(trio.abc.Stream):
    """Passes everything on as it is. The base of the others."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._inner = stream

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send, spoiled."""
        await self._inner.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        """As the inner stream says."""
        await self._inner.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """Receive, as it comes."""
        return await self._inner.receive_some(max_bytes)

    async def aclose(self) -> None:
        """Close the inner stream."""
        await self._inner.aclose()


class Cutting(Through):
    """Sends `after` bytes more, or else half of what it is to send next, and breaks the connection off."""

    def __init__(self, stream: trio.abc.Stream, after: int | None = None) -> None:
        super().__init__(stream)
        self._left = after

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send as far as it goes."""
        left = len(data) // 2 if self._left is None else self._left
        if left >= len(data):
            self._left = left - len(data)
            await self._inner.send_all(data)
        else:
            await self._inner.send_all(memoryview(data)[:left])
            await trio.aclose_forcefully(self._inner)


class Stalling(Through):
    """Sends `after` bytes more, or else half of what it is to send next, and then nothing; it stays open."""

    def __init__(self, stream: trio.abc.Stream, after: int | None = None) -> None:
        super().__init__(stream)
        self._left = after

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send as far as it goes, and swallow the rest."""
        left = len(data) // 2 if self._left is None else self._left
        self._left = max(0, left - len(data))
        await self._inner.send_all(memoryview(data)[:left])


class Trickling(Through):
    """Sends byte by byte, with `pause` seconds after each."""

    def __init__(self, stream: trio.abc.Stream, pause: float = PAUSE_SECONDS) -> None:
        super().__init__(stream)
        self._pause = pause

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send slowly."""
        for byte in memoryview(data):
            await self._inner.send_all(bytes([byte]))
            await trio.sleep(self._pause)
