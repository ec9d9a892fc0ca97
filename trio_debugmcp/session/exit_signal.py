"""The signal that ended a program, asked for where the adapter does not report it: gdb's exit code is 0 then."""

import logging
import signal

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.requests import Requests

log = logging.getLogger(__name__)

_SECONDS = 1.0
"""For the answer; a session that has ended must not wait for an adapter that is about to go."""


def true_exit_code(reported: int | None, own: int | None) -> int | None:
    """Return the exit code of a program, from the adapter's report and from its own process, as far as that is ours."""
    if reported is None:
        return own
    # lldb reports 11 for SIGSEGV, which its process has as -11; a program may also exit with 11.
    return own if own is not None and own < 0 and reported == -own else reported


async def learn_exit_signal(requests: Requests, ending: Ending, last_signal: str | None) -> None:
    """Make the exit code of a program that a signal has ended negative, as the system does.

    `last_signal`: the one that it last stopped at, if it did not stop since for something else.
    """
    if ending.exit_code and last_signal and not ending.killed:
        number = signal.Signals.__members__.get(last_signal)
        # CodeLLDB reports 11 for SIGSEGV, whose process is not ours, and for a program that exits with 11.
        if ending.exit_code == number:
            ending.exit_code = -ending.exit_code
        return
    question = requests.profile.words.exit_signal
    if question is None or ending.exit_code != 0 or ending.killed or not requests.connected:
        return
    try:
        arguments = {"expression": question, "context": requests.profile.dialect.evaluate_context}
        value = (await requests.request("evaluate", arguments, EvaluateBody, seconds=_SECONDS)).result
    except DebugError as error:
        log.info("what ended the program: %s", error)
        return
    if value.isdigit():  # `void` if none has
        ending.exit_code = -int(value)
