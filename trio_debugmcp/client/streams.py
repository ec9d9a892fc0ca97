"""The parts of the SDK's stream protocols that are the same for every stream of ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage


class Closing(ABC):
    """A stream that is its own context manager: leaving the block closes it."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close it; a second time does nothing."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Reading(Closing):
    """A read stream that only has to say what comes next."""

    @abstractmethod
    async def __anext__(self) -> SessionMessage | Exception:
        """The next message, or what was garbled; StopAsyncIteration at the end."""

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage | Exception:
        """The same for those who do not iterate.

        Raises:
            anyio.EndOfStream: nothing will come any more.
        """
        import anyio

        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None
