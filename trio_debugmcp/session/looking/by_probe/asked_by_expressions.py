"""`AskedByExpressions`: the probe beside pydevd, which is put into the program with the first question.

That may take its time: where many programs begin at once each has little of a processor.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import trio

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.errors import DebugError
from trio_debugmcp.probe import bootstrap
from trio_debugmcp.session.requests import Requests

INSTALL_SECONDS = 5.0
"""For the probe to be put into the program, beside the time for its answer: while fifty programs begin, on a busy
machine. It takes a tenth of a second of processor time."""


class AskedByExpressions:
    """Questions as expressions that pydevd evaluates.

    Args:
        may_be_busy: whether the program may answer if it is given time.

    Attributes:
        state: of the probe in the program, as far as is known here.
    """

    def __init__(self, requests: Requests, may_be_busy: Callable[[], bool]) -> None:
        self.state: Literal["absent", "installing", "installed"] = "absent"
        self._requests = requests
        self._may_be_busy = may_be_busy

    def __repr__(self) -> str:
        return f"<AskedByExpressions in {self._requests.session_id} {self.state}>"

    async def ask(self, question: str, parameters: Mapping[str, object], within: float, *, patient: bool) -> str:
        """Return the answer, as JSON. `patient`: the first one may take longer.

        Raises:
            trio.TooSlowError: there is none in time.
            DebugError: the debugger refuses, or has disconnected.
        """
        expression = bootstrap.call_expression(question, **parameters)
        answer = await self._first(expression, within, patient=patient)
        if not answer:  # the probe is not in the program yet, or the program has replaced itself
            await self._install()
            answer = await self._evaluate(expression, within)
        self.state = "installed"
        return answer

    async def _first(self, expression: str, within: float, *, patient: bool) -> str:
        """Ask for the first time; empty without the probe."""
        try:
            return await self._evaluate(expression, within)
        except trio.TooSlowError:
            if not patient or self.state == "installed" or not self._may_be_busy():
                raise
        return await self._evaluate(expression, within=INSTALL_SECONDS)

    async def _install(self) -> None:
        self.state = "installing"
        try:
            result = await self._evaluate(bootstrap.install_expression(), within=INSTALL_SECONDS)
            if result == bootstrap.SOURCES_NEEDED:
                await self._evaluate(bootstrap.install_expression(with_sources=True), within=INSTALL_SECONDS)
        except DebugError:
            self.state = "absent"
            raise

    async def _evaluate(self, expression: str, within: float) -> str:
        arguments = {"expression": expression, "context": bootstrap.CONTEXT}
        with trio.fail_after(self._requests.patience.seconds(within)):
            return (await self._requests.request("evaluate", arguments, EvaluateBody)).result
