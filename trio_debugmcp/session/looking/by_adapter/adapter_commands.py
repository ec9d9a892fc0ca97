"""Commands of a debugger that evaluate an expression in a frame, and run no code of the program for it.

    commands = requests.profile.repl.safe_commands(expression)
    value, kind = await by_commands(requests, frame, expression, commands, seconds=5)

Some debuggers evaluate in the frame that is selected at their prompt, so it is selected together with the command.
"""

import logging
from collections.abc import Sequence
from functools import partial

import trio

from trio_debugmcp.dap.messages import EvaluateBody, ScopesBody
from trio_debugmcp.dap.profiles.native.safe_commands import SafeRepl
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import evaluate_text
from trio_debugmcp.session.looking.from_outside.silence import rejected
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened

log = logging.getLogger(__name__)

COMMAND_CONTEXT = "repl"
"""The context of DAP in which debuggers take commands."""


async def command_answer(
    requests: Requests, frame: StackFrame, command: str, expression: str, seconds: float
) -> EvaluateBody:
    """Return what the adapter answers to a command in a frame. Raises as `evaluate_text`."""
    repl, ask = requests.profile.repl, partial(evaluate_text, requests, frame, command, expression, seconds)
    if not isinstance(repl, SafeRepl) or not repl.in_selected:
        return await ask(context=COMMAND_CONTEXT)
    written, body, failure = trio.Event(), EvaluateBody(), None

    async def select() -> None:
        try:
            await requests.request("scopes", {"frameId": frame.id}, ScopesBody, sent=written.set)
        except DebugError as error:  # the command has the same reason, and says it
            log.info("selecting a frame: %s", error)
        written.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(select)
        await written.wait()  # no longer: what is asked meanwhile may select another frame
        try:
            body = await ask(context=COMMAND_CONTEXT)
        except DebugError as error:
            failure = error
    if failure is not None:
        raise failure
    return body


async def by_commands(
    requests: Requests, frame: StackFrame, expression: str, commands: Sequence[str], seconds: float
) -> tuple[str, str | None]:
    """Return value and type in the answer of the first command that works.

    Raises:
        UsageError: `SAFE_EVAL_REJECTED`, `EVAL_FAILED` or `EVAL_TIMEOUT`: none works; with the reason of the last.
    """
    repl = requests.profile.repl
    reason = ""
    for command in commands:
        try:
            body = await command_answer(requests, frame, command, expression, seconds)
            return repl.safe_answer(body.result)
        except ValueError as error:
            reason = str(error)
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
            reason = str(error)
        if repl.needs_call(reason):
            raise rejected(f"`{shortened(expression)}` would call a function of the program")
    first = shortened(reason.partition("\n")[0], MAX_MESSAGE_LENGTH)
    raise UsageError("EVAL_FAILED", first if " failed: " in first else f"`{shortened(expression)}` failed: {first}")
