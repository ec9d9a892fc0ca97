"""`HeldPipe`: a pipe of which a part can be looked at before it is read."""

import trio

from trio_debugmcp.dap.pipe_descriptor import descriptor_of

_CHUNK_BYTES = 64 * 1024

MAX_HELD_BYTES = 1024 * 1024
"""Of what is held; beyond it the first half is dropped, for a process that writes without end."""


class HeldPipe(trio.abc.ReceiveStream):
    """A pipe that holds what was looked at until it is received.

    Attributes:
        held: what was read and not received yet.
    """

    def __init__(self, pipe: trio.abc.ReceiveStream) -> None:
        self.held = bytearray()
        self._pipe = pipe

    def __repr__(self) -> str:
        return f"<HeldPipe {len(self.held)} bytes before {self._pipe!r}>"

    def fileno(self) -> int | None:
        """The descriptor of the pipe; None if it has none."""
        return descriptor_of(self._pipe)

    async def hold_more(self) -> bool:
        """Read more, and hold it; False at the end."""
        data = await self._pipe.receive_some(_CHUNK_BYTES)
        self.held += data
        if len(self.held) > MAX_HELD_BYTES:
            del self.held[: MAX_HELD_BYTES // 2]
        return bool(data)

    def take(self, count: int) -> bytes:
        """Take the first bytes of what is held."""
        taken = bytes(self.held[:count])
        del self.held[:count]
        return taken

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        if not self.held:
            return await self._pipe.receive_some(max_bytes)
        await trio.lowlevel.checkpoint()
        return self.take(max_bytes or len(self.held))

    async def aclose(self) -> None:
        await self._pipe.aclose()
