"""What `inspect` asks a server command without the SDK: most of the time of a request would be the SDK's import.

    result = await request(["my-server"], os.environ, None, era="auto", method="ping", params={}, seconds=30, connect=9)
    result = await call_tool(["my-server"], os.environ, None, era="auto", call=call, seconds=30, connect=9)

Each is None if `InspectorClient` should do it instead: the light client explains nothing that is out of the ordinary.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from trio_debugmcp.cli._notices import Notices
from trio_debugmcp.cli._output import UNREACHABLE, write_warning
from trio_debugmcp.cli._person import Person
from trio_debugmcp.cli._target import Failure, tool_failure
from trio_debugmcp.light_client.protocol import REQUEST_TIMEOUT, EraMode, Json, RequestFailed
from trio_debugmcp.light_client.repeatable import METHODS, ask
from trio_debugmcp.light_client.server_command import over_command
from trio_debugmcp.light_client.tool_call import ToolCall
from trio_debugmcp.light_client.tool_call import call_tool as call_over_pipes

__all__ = ["METHODS", "CommandAudience", "ToolCall", "call_tool", "request"]


class CommandAudience:
    """The person at the terminal, as the audience of a call: hears on standard error, and is asked there."""

    def __init__(self, notices: Notices, person: Person, roots: Sequence[str]) -> None:
        self.notices = notices
        self._person = person
        self._roots = roots

    def progress(self, name: str, progress: float, total: float | None, message: str | None) -> None:
        self.notices.progress_of(name, progress, total, message)

    def log(self, level: str, logger: object, data: object) -> None:
        self.notices.log(level, logger, data)

    def warn(self, text: str) -> None:
        write_warning(text)

    async def roots(self) -> list[dict[str, str]]:
        return await self._person.named_roots(self._roots)

    async def answer(self, method: str, params: Any) -> Json:
        return await self._person.answer_plain(method, params)


async def request(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | None,
    *,
    era: EraMode,
    method: str,
    params: Json,
    seconds: float,
    connect: float,
) -> Json | None:
    """Start the server, make one request, stop the server.

    Raises:
        Failure: there was no answer in time.
        OSError: the command cannot be run.
    """
    try:
        return await over_command(
            argv,
            env,
            cwd,
            lambda _line: None,
            lambda pipes: ask(pipes, era=era, method=method, params=params, seconds=seconds, connect=connect),
        )
    except RequestFailed as failure:
        raise _as_failure(failure, "") from failure


async def call_tool(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | None,
    *,
    era: EraMode,
    call: ToolCall,
    notices: Notices,
    seconds: float,
    connect: float,
) -> Json | None:
    """Start the server, call the tool, stop the server; None if nothing was called.

    Raises:
        Failure: the call was made, and there is no result that the protocol and the tool's schema permit.
        OSError: the command cannot be run.
    """
    try:
        return await over_command(
            argv,
            env,
            cwd,
            lambda line: notices.write(f"server: {line}"),
            lambda pipes: call_over_pipes(pipes, call, era=era, seconds=seconds, connect=connect),
        )
    except RequestFailed as failure:
        raise _as_failure(failure, call.name) from failure
    finally:
        notices.clear()


def _as_failure(failure: RequestFailed, tool: str) -> Failure:
    message = str(failure)
    match failure.kind:
        case "no handshake" | "lost":
            return Failure("unreachable", message, UNREACHABLE)
        case "timeout" if failure.method == "tools/call":
            return Failure("timeout", message)
        case "timeout":
            return Failure("error", message, rpcCode=REQUEST_TIMEOUT)
        case "refused":
            return tool_failure(tool, message, refused=True, rpc_code=failure.code)
        case "protocol":
            return Failure("protocol", message, result=failure.result)
