"""A connection to a server command, which is started for it and stopped after it.

    result = await over_command(["my-server"], os.environ, None, print, lambda pipes: ask(pipes, **request))

What the work raises is raised when the server has ended, and not in a group.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from trio_debugmcp.errors import DebugError
from trio_debugmcp.light_client.protocol import RequestFailed
from trio_debugmcp.transports.command import Command
from trio_debugmcp.transports.line_pipes import Pipes

T = TypeVar("T")

STDERR_LINES = 20
"""Of a server that does not complete the handshake, or ends, in the error message."""


async def over_command(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | None,
    on_stderr: Callable[[str], None],
    work: Callable[[Pipes], Awaitable[T]],
) -> T:
    """Start the server, do `work` over its pipes, stop the server.

    Raises:
        RequestFailed: as `work` raised it; of a server that is not there, with what it wrote to standard error.
        OSError: the command cannot be run.
        DebugError: what else `work` raises.
    """
    stderr: deque[str] = deque(maxlen=STDERR_LINES)

    def hear(line: str) -> None:
        stderr.append(line)
        on_stderr(line)

    command = Command(argv, env, cwd, hear)
    async with command.open() as pipes:
        try:
            return await work(pipes)
        except DebugError as error:
            failure = error  # raised when the server has ended, whose exit code then is known; and not in a group
    if isinstance(failure, RequestFailed) and failure.kind in ("no handshake", "lost"):
        has_code = failure.kind == "lost" and command.exit_code is not None
        code = f" (exit code {command.exit_code})" if has_code else ""
        last_lines = "".join(f"\n{line}" for line in stderr)
        raise RequestFailed(failure.kind, f"{failure}{code}{last_lines}", failure.method)
    raise failure
