"""A server that is a command: its pipes as a pair of message streams, its exit code, its standard error.

The SDK's own stdio transport reports neither the exit code nor what was written to standard error, which is just what a
person needs to know when a server ends.

    process = ServerProcess(StdioServerParameters(command="my-server"), on_stderr=print)
    async with process.open() as (read, write):
        ...
    process.exit_code
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import trio
from mcp import StdioServerParameters, types
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.command import Command
from trio_debugmcp.transports.jsonrpc import unreadable_response
from trio_debugmcp.transports.line_pipes import ReceivedLines
from trio_debugmcp.transports.streams import ClosingStream, MessageReader


class _Incoming(MessageReader):
    """The server's stdout as the SDK's read stream."""

    def __init__(self, lines: ReceivedLines) -> None:
        self._lines = lines

    async def __anext__(self) -> SessionMessage | Exception:
        line = await anext(self._lines)
        try:
            return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError as error:
            violation = ProtocolViolation(f"not a JSON-RPC message: {type(error).__name__}", line[:200])
            return unreadable_response(line) or violation

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


class _Outgoing(ClosingStream):
    """The server's stdin as the SDK's write stream."""

    def __init__(self, frames: trio.MemorySendChannel[bytes]) -> None:
        self._frames = frames

    async def send(self, item: SessionMessage, /) -> None:
        frame = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            await self._frames.send(frame)
        except trio.BrokenResourceError:
            raise anyio.BrokenResourceError from None
        except trio.ClosedResourceError:
            raise anyio.ClosedResourceError from None

    async def aclose(self) -> None:
        self._frames.close()
        await trio.lowlevel.checkpoint()


class ServerProcess:
    """A server command, started and stopped by `open()`.

    Args:
        parameters: command, arguments, environment, working directory.
        on_stderr: called with each line of standard error, without its newline.
    """

    def __init__(self, parameters: StdioServerParameters, on_stderr: Callable[[str], None]) -> None:
        env = get_default_environment() | (parameters.env or {})
        self._command = Command([parameters.command, *parameters.args], env, parameters.cwd, on_stderr)

    def __repr__(self) -> str:
        return f"<ServerProcess: {self._command!r}>"

    @property
    def exit_code(self) -> int | None:
        """How the server has ended by itself; None while it runs, and if it had to be stopped."""
        return self._command.exit_code

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        """Start the process, yield its pipes as a pair of message streams, and stop it on leaving.

        Raises:
            OSError: the command cannot be run.
        """
        async with self._command.open() as pipes:
            yield _Incoming(pipes.lines), _Outgoing(pipes.frames)
