"""Byte streams that misbehave. Each wraps one end of a connection and distorts what that end sends.

    adapter.connection.wrap(Trickling)                          # around a fake adapter's end
    stream = Cutting(stream, after=100)                         # around any stream of yours

What the end receives passes unchanged.
"""

import trio

PAUSE_SECONDS = 0.001
"""Between two bytes that trickle: as slow as a serial line of some kilobytes a second."""


class PassingThrough(trio.abc.Stream):
    """Passes everything on unchanged. The base of the others."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._inner = stream

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._inner.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._inner.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._inner.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._inner.aclose()


class Cutting(PassingThrough):
    """Sends `after` more bytes, or else half of what is sent next, and breaks the connection off."""

    def __init__(self, stream: trio.abc.Stream, after: int | None = None) -> None:
        super().__init__(stream)
        self._left = after

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        left = len(data) // 2 if self._left is None else self._left
        if left >= len(data):
            self._left = left - len(data)
            await self._inner.send_all(data)
        else:
            await self._inner.send_all(memoryview(data)[:left])
            await trio.aclose_forcefully(self._inner)


class Stalling(PassingThrough):
    """Sends `after` more bytes, or else half of what is sent next, and then nothing; the connection stays open."""

    def __init__(self, stream: trio.abc.Stream, after: int | None = None) -> None:
        super().__init__(stream)
        self._left = after

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        left = len(data) // 2 if self._left is None else self._left
        self._left = max(0, left - len(data))
        await self._inner.send_all(memoryview(data)[:left])


class Trickling(PassingThrough):
    """Sends byte by byte, with `pause` seconds after each."""

    def __init__(self, stream: trio.abc.Stream, pause: float = PAUSE_SECONDS) -> None:
        super().__init__(stream)
        self._pause = pause

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        for byte in memoryview(data):
            await self._inner.send_all(bytes([byte]))
            await trio.sleep(self._pause)
