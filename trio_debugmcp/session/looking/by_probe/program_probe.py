"""`ProgramProbe`: questions to the probe inside a session's program, which answers while it runs, waits or is blocked.

    threads = await probe.ask("threads", ProbeThreads, count=100)       # where every thread is, and what it waits for

Everything that is asked of it goes through here: as a request to our engine, which has it in itself, or in expressions
that pydevd evaluates.
"""

import logging
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.direct_stream import PROGRAM_LOST
from trio_debugmcp.dap.profiles.starts import PathMapping
from trio_debugmcp.errors import AdapterRefused, DebugError, ProtocolViolation, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.probe import answers, bootstrap
from trio_debugmcp.probe.answers import Body, ProbeError, RecordingAnswer
from trio_debugmcp.session.looking.by_probe.asked_by_expressions import AskedByExpressions
from trio_debugmcp.session.looking.from_outside.program_process import ProgramProcess
from trio_debugmcp.session.looking.from_outside.silence import (
    NoProbeAnswer,
    Reason,
    Silence,
    Unanswered,
    Waited,
    silent,
)
from trio_debugmcp.session.requests import Requests

log = logging.getLogger(__name__)

PROBE_SECONDS = 1.0
"""For an answer of the probe. It takes milliseconds, unless something keeps the GIL; then it would wait for ever."""

RECORD_SECONDS = 10.0
"""For the program to open its connection for records, while fifty of them may start."""

MAX_THREADS = 10_000
"""In one answer. Only who has seen all threads can say that none of them runs."""

MAX_SIZE = 2_000_000
"""Characters of an answer about all threads: 1,000 stacks of 20 frames, equal ones of which are merged afterwards."""


class ProgramProbe:
    """The probe inside the program of one session.

    Attributes:
        process: the program's process, which is looked at when the probe does not answer.
        expressions: the way to it beside pydevd, where the first question puts it into the program.
        left: what the program recorded at its end for who will ask, as replies to questions, by their numbers.
    """

    def __init__(self, requests: Requests, process: ProgramProcess, mappings: Sequence[PathMapping] = ()) -> None:
        self.process = process
        self.left: dict[str, str] = {}
        self._requests = requests
        self._numbers = count(1)
        self._mappings = mappings
        self.expressions = AskedByExpressions(requests, process.may_be_busy)

    def __repr__(self) -> str:
        return f"<ProgramProbe of {self._requests.session_id}>"

    @property
    def patience(self) -> Patience:
        """How long the program is waited for."""
        return self._requests.patience

    def next_number(self) -> int:
        """Return the number of a new evaluation."""
        return next(self._numbers)

    async def ask(self, question: str, kind: type[Body], **parameters: Any) -> Body:
        """Ask a question as `attempt` does, and return its answer.

        Raises:
            NoProbeAnswer: there is none, and why.
            AdapterGone: the program's debugger has disconnected.
        """
        found = await self.attempt(question, kind, **parameters)
        if isinstance(found, Unanswered):
            raise NoProbeAnswer(found)
        return found

    async def attempt(
        self,
        question: str,
        kind: type[Body],
        *,
        within: float = PROBE_SECONDS,
        patient: bool = True,
        at_stops: bool = False,
        **parameters: object,
    ) -> Body | Unanswered:
        """Ask a question, and return its answer, or why there is none; parameters that are None are left out.

        `within`: on a machine that has time for the program; the patience counts, in the program as well. `patient`: a
        program that has not answered any question yet has longer for its answer. `at_stops`: our engine is to answer
        it at each later stop without being asked, of the thread that has stopped (`read`).

        Raises:
            AdapterGone: the program's debugger has disconnected.
        """
        if not self._requests.profile.has_probe:
            return Unanswered("none", f"{self._requests.profile.name} has nothing within the program that answers this")
        parameters = {"patience": self._factor_in_program, **parameters}
        began, used = trio.current_time(), self.process.used()
        try:
            answer = await self._answer(question, parameters, within, patient=patient, at_stops=at_stops)
            return self._decoded(answer, kind)
        except trio.TooSlowError:
            return self._silence(trio.current_time() - began, used)
        except (AdapterRefused, ProtocolViolation, UsageError) as error:
            log.info("the probe: %s", error)
            if isinstance(error, AdapterRefused) and error.reason == PROGRAM_LOST:
                return Unanswered("gone", PROGRAM_LOST)
            # The command is ours: to a user who has asked for threads, "evaluate: …" says nothing.
            return Unanswered("invalid", error.reason if isinstance(error, AdapterRefused) else str(error))
        except ProbeError as error:
            return Unanswered(error.kind, str(error))

    def read(self, answer: bytes, kind: type[Body]) -> Body | None:
        """Return what the program has answered without being asked; None if that cannot be read, or says why not."""
        try:
            return self._decoded(answer, kind)
        except ProbeError as error:
            log.info("the probe: %s", error)
            return None

    def _decoded(self, answer: bytes | str, kind: type[Body]) -> Body:
        return answers.decode(answer, kind, self._local if self._mappings else None).answer

    async def quietly(self, question: str, kind: type[Body], **parameters: Any) -> Body | None:
        """Ask what is only a courtesy; None without an answer, also where the debugger has disconnected."""
        try:
            found = await self.attempt(question, kind, **parameters)
        except DebugError as error:
            log.info("%s: %s", question, error)
            return None
        if isinstance(found, Unanswered):
            log.info("%s: %s", question, found.text)
            return None
        return found

    async def record(self, key: str) -> Unanswered | None:
        """Have the program record the hits of its breakpoints over a connection that begins with this key.

        Returns why it does not, if so.
        """
        found = await self.attempt("record", RecordingAnswer, within=RECORD_SECONDS, key=key)
        return found if isinstance(found, Unanswered) else None

    def left_answer(self, number: int, kind: type[Body]) -> Body | None:
        """Return what a program that has ended has left as the answer to a question, if it has."""
        try:
            return answers.decode(self.left.pop(str(number), ""), kind).answer
        except ProbeError:
            return None

    async def _answer(
        self, question: str, parameters: Mapping[str, object], within: float, *, patient: bool, at_stops: bool
    ) -> bytes | str:
        if not self._requests.capabilities.engine_requests:
            return await self.expressions.ask(question, parameters, within, patient=patient)
        wanted = {name: value for name, value in parameters.items() if value is not None}
        with trio.fail_after(self.patience.seconds(within)):
            arguments = {"question": question, "parameters": wanted, **({"atStops": True} if at_stops else {})}
            return bytes(await self._requests.request(bootstrap.ASK, arguments, msgspec.Raw))

    def _silence(self, seconds: float, before: float | None) -> Unanswered:
        now = self.process.used()
        used = None if now is None or before is None else now - before
        reason: Reason = "installing" if self.expressions.state == "installing" else "unknown"
        return silent(Silence(reason, self.process.pid, Waited(seconds, used)))

    @property
    def _factor_in_program(self) -> float | None:
        """How much longer than usual answers may take there; left out where it is no longer."""
        return self.patience.factor if self.patience.factor != 1 else None

    def _local(self, file: str) -> str:
        """The path on this machine of a file of the program; in other answers the program's debugger has put it in."""
        for mapping in self._mappings:
            if file.startswith(mapping.remote.rstrip("/") + "/"):
                return mapping.local.rstrip("/") + file[len(mapping.remote.rstrip("/")) :]
        return file
