"""Evaluation by an adapter while the program runs, in no frame: in a page, for example, whose button is clicked so.

    found = await evaluate_running(requests, merger, "document.querySelector('#buy').click()", seconds=5)

What is evaluated may itself run into a breakpoint. Then it has no value before the program resumes, and the answer says
that the program has stopped.
"""

import trio

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import Evaluation, evaluation
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened


async def evaluate_running(requests: Requests, merger: Merger, expression: str, seconds: float) -> Evaluation | None:
    """Evaluate an expression in no frame; None: the program has stopped in it, so that it has no value yet.

    No patience is added to `seconds`, as a client may have given them.

    Raises:
        UsageError: `EVAL_FAILED` with the program's own error, or `EVAL_TIMEOUT`.
    """
    answers: list[EvaluateBody | UsageError] = []
    with trio.move_on_after(seconds) as limit:
        async with trio.open_nursery() as nursery:

            async def ask() -> None:
                try:
                    answers.append(await _asked(requests, expression, seconds))
                except UsageError as error:
                    answers.append(error)
                nursery.cancel_scope.cancel(reason="it is answered")

            nursery.start_soon(ask)
            await merger.wait_until(lambda _: requests.snapshot is None or requests.snapshot.phase == "Paused")
            nursery.cancel_scope.cancel(reason="it has stopped in the evaluation")
    match answers:
        case [UsageError() as error]:
            raise error
        case [EvaluateBody() as body]:
            return evaluation(body, None)
        case _ if not limit.cancelled_caught:
            return None
    raise UsageError(
        "EVAL_TIMEOUT",
        f"`{shortened(expression)}` did not finish within {seconds:.3g} s: the program is busy, or it waits for "
        "something. It may still finish. Raise `timeout` to wait longer, or use debug_pause to see what runs.",
    )


async def _asked(requests: Requests, expression: str, seconds: float) -> EvaluateBody:
    arguments = {"expression": expression, "context": requests.profile.dialect.running_context}
    try:
        return await requests.request("evaluate", arguments, EvaluateBody, seconds=seconds + 1)
    except AdapterRefused as refusal:
        words = requests.profile.words
        lines = refusal.reason.strip().splitlines() or [""]
        error = words.plain_error(lines[words.telling_line("\n".join(lines))])
        raise UsageError(
            "EVAL_FAILED", f"`{shortened(expression)}` failed: {shortened(error, MAX_MESSAGE_LENGTH)}"
        ) from None
