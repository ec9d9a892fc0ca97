"""The SDK's client, as a connection wants it: callbacks that take their time, and no requests of its own."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client, MCPError, types
from mcp.client._transport import Transport

from trio_debugmcp.client.options import InspectorOptions, Roots
from trio_debugmcp.deadlines import Deadlines


def make_sdk_client(
    transport: Transport,
    options: InspectorOptions,
    deadlines: Deadlines,
    roots: Callable[[], Roots | None],
) -> Client:
    """Make a client that is not entered yet. `deadlines` stand still while the callbacks of `options` answer."""

    def unhurried(answer: Callable[[Any, Any], Awaitable[Any]] | None) -> Any:
        """`answer` with the deadlines of our requests paused: the server waits for it, and it for a person."""

        async def answer_unhurried(context: Any, params: Any) -> Any:
            with deadlines.paused():
                return await answer(context, params)  # type: ignore[misc]

        return None if answer is None else answer_unhurried

    async def list_roots(context: object) -> Any:
        named = roots() or ()
        if callable(named):
            with deadlines.paused():
                named = await named()
        return types.ListRootsResult(roots=list(named))

    return Client(
        transport,
        mode="legacy" if options.mode == "legacy" else "auto",
        client_info=types.Implementation(name=options.client_info.name, version=options.client_info.version),
        sampling_callback=unhurried(options.sampling),
        elicitation_callback=unhurried(options.elicitation),
        list_roots_callback=None if roots() is None else list_roots,
        logging_callback=options.on_log,
        cache=None,  # `read_resource` always asks the server; our own cache never answers a request
    )


OutputCheck = Callable[[str, types.CallToolResult], Awaitable[str | None]]


def take_over_output_check(sdk: Client, is_listed: Callable[[str], bool]) -> OutputCheck:
    """Keep an entered client from validating results of tools, and return how to validate one instead.

    For a tool that it does not know the SDK lists all tools after the call, and if that fails, so does the call, which
    has been carried out.
    """
    validate = sdk.session.validate_tool_result

    async def accept(name: str, result: types.CallToolResult) -> None:
        pass

    async def check(name: str, result: types.CallToolResult) -> str | None:
        if result.is_error or not is_listed(name):
            return None
        try:
            await validate(name, result)
        except RuntimeError as error:  # how it says that the result does not fit
            return str(error)
        except (TypeError, AttributeError, ArithmeticError) as error:  # the validator, for a schema that it cannot use
            return f"Invalid schema for tool {name}: {error}"
        except (MCPError, ValueError):  # it has listed the tools again, which has nothing to do with the result
            return None
        return None

    sdk.session.validate_tool_result = accept  # type: ignore[method-assign]
    return check
