"""Setting a variable of a paused program. What it is afterwards is read from the program, whatever the adapter says.

    shown = await assign(requests, probe, snapshot, Target("basket.owner", thread_id=1, frame_index=0), "'eva'")
    shown.value     # 'eva', unless the program's setter made something else of it

A Python program does it by the probe, which knows whose variable a name is: DAP's `setExpression` of pydevd would set a
global in the frame's locals, where the program does not look.
"""

from msgspec import Struct

from trio_debugmcp.dap.messages import Nothing
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.probe.answers import ProbeError
from trio_debugmcp.session.looking import frames
from trio_debugmcp.session.looking.containers import container
from trio_debugmcp.session.looking.program_probe import ProgramProbe, VariablesQuestion
from trio_debugmcp.session.looking.user_evaluation import assign_in_frame, evaluate_in_frame
from trio_debugmcp.session.looking.variables import failed_value
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.exception_filter import MAX_MESSAGE_LENGTH
from trio_debugmcp.state.model import Snapshot, StackFrame
from trio_debugmcp.state.payloads import Variable, shortened

SECONDS = 5.0
"""For the value and for its assignment, as for an evaluation: both may run code of the program."""

READ_SECONDS = 2.0
"""For reading it back. The change is made by then, so that a slow `__repr__` must not make it look failed."""


class AssignmentTarget(Struct, frozen=True):
    """A variable, by its path in a frame."""

    path: str
    thread_id: int
    frame_index: int


async def assign(
    requests: Requests, probe: ProgramProbe, snapshot: Snapshot, target: AssignmentTarget, value: str
) -> Variable:
    """Set a variable to the value of an expression, and return what it is afterwards.

    Raises:
        UsageError: `INVALID_FRAME`, `EVAL_FAILED`, `EVAL_TIMEOUT`, or `NOT_SUPPORTED` with what the adapter lacks.
    """
    frame = await frames.find_frame(requests, snapshot, target.thread_id, target.frame_index)
    place = (target.thread_id, target.frame_index)
    if not await assign_in_frame(requests, probe, frame, place, target.path, value, requests.patience.seconds(SECONDS)):
        await _by_adapter(requests, frame, target.path, value)
    return await _read_back(requests, probe, frame, target)


async def _read_back(requests: Requests, probe: ProgramProbe, frame: StackFrame, target: AssignmentTarget) -> Variable:
    try:
        question = VariablesQuestion(path=target.path, count=0)
        found = (await probe.variables(target.thread_id, target.frame_index, question)).answer
    except ProbeError as error:
        if error.kind == "slow":
            return Variable(target.path, failed_value(error), None, target.path, None)
    else:
        return Variable(target.path, found.value or "", found.type, target.path, found.size)
    try:
        seen = (
            await evaluate_in_frame(requests, probe, frame, target.path, requests.patience.seconds(READ_SECONDS))
        ).evaluation
    except UsageError as error:
        text = f"<set, but not shown: {shortened(error.message, MAX_MESSAGE_LENGTH)}>"
        return Variable(target.path, text, None, target.path, None)
    return Variable(target.path, shortened(seen.value), seen.type, target.path, seen.child_count)


# --- By the adapter ---------------------------------------------------------------------------------------------------


async def _by_adapter(requests: Requests, frame: StackFrame, path: str, value: str) -> None:
    capabilities = requests.capabilities
    try:
        if capabilities.supports_set_expression:
            arguments = {"expression": path, "value": value, "frameId": frame.id}
            await requests.request("setExpression", arguments, Nothing, seconds=SECONDS)
        elif capabilities.supports_set_variable:
            place = await container(requests, frame, path)
            if place is None:
                raise _no_variable(path)
            arguments = {"variablesReference": place[0], "name": place[1], "value": value}
            await requests.request("setVariable", arguments, Nothing, seconds=SECONDS)
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
