"""Setting a variable of a paused program by its adapter, in the way that this one can."""

from trio_debugmcp.dap.messages import Nothing
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_variables import container
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened


async def assign_by_adapter(requests: Requests, frame: StackFrame, path: str, value: str, seconds: float) -> None:
    """Set a variable, by its path or in what it is inside of.

    Raises:
        UsageError: `EVAL_FAILED`, or `NOT_SUPPORTED` with what the adapter lacks.
    """
    capabilities = requests.capabilities
    try:
        if capabilities.supports_set_expression:
            arguments = {"expression": path, "value": value, "frameId": frame.id}
            await requests.request("setExpression", arguments, Nothing, seconds=seconds)
        elif capabilities.supports_set_variable:
            place = await container(requests, frame, path)
            if place is None:
                raise _no_variable(path)
            arguments = {"variablesReference": place[0], "name": place[1], "value": value}
            await requests.request("setVariable", arguments, Nothing, seconds=seconds)
        else:
            raise UsageError(
                "NOT_SUPPORTED",
                f"{requests.profile.name} can set no variables: it has neither supportsSetExpression nor "
                "supportsSetVariable. Use evaluate with an assignment in the program's language.",
                {"adapter": requests.profile.name, "capability": "supportsSetExpression"},
            )
    except AdapterRefused as refusal:
        reason = shortened(refusal.reason.strip(), MAX_MESSAGE_LENGTH)
        raise UsageError("EVAL_FAILED", f"`{shortened(f'{path} = {value}')}` failed: {reason}") from None


def _no_variable(path: str) -> UsageError:
    return UsageError(
        "EVAL_FAILED",
        f"There is no variable `{shortened(path)}` to set here. See variables_get for those there are.",
        {"path": path},
    )
