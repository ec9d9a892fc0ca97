"""`ProgramProbe`: questions to the probe inside a session's program, which answers while it runs, waits or is blocked.

    threads = await probe.threads()             # every thread: its place, and what it waits for
    tasks = await probe.tasks(0, 200)           # asyncio's tasks, Trio's nursery tree

The probe is put into the program with the first question. Where it cannot answer (another language, a thread that
keeps the GIL, an interpreter it does not know) a `ProbeError` says so, and the caller falls back on the adapter.
"""

import logging
from collections.abc import Sequence
from itertools import count

import msgspec
import trio

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.dap.profiles import PathMapping
from trio_debugmcp.errors import AdapterRefused, ProtocolViolation, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.probe import answers, bootstrap
from trio_debugmcp.probe.answers import (
    Body,
    EvaluationOutcome,
    Frames,
    Modules,
    ProbeError,
    ProbeReply,
    ProbeStacks,
    ProbeStop,
    ProbeThread,
    ProbeThreads,
    ProbeVariables,
    RecordingAnswer,
    Summary,
    Tasks,
    Tree,
)
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH

log = logging.getLogger(__name__)

PROBE_SECONDS = 1.0
"""For an answer of the probe. It takes milliseconds, unless something keeps the GIL; then it would wait for ever."""

MAX_THREADS = 10_000
"""In one answer. Only who has seen all threads can say that none of them runs."""

MAX_SIZE = 2_000_000
"""Characters of an answer about all threads: 1,000 stacks of 20 frames, equal ones of which are merged afterwards."""

INSTALL_SECONDS = 10.0
"""For the program to open its connection for records, while fifty of them may start."""


class VariablesQuestion(msgspec.Struct, frozen=True):
    """Which variables, and how much of each.

    Attributes:
        path: of the value whose inside is asked about; without it the scope counts.
        names: only variables with one of these names, or paths.
        limit: characters of a value.
        size: characters of the answer, about.
        code: whether code of the program may be run, within bounds.
    """

    scope: str = "locals"
    path: str | None = None
    start: int = 0
    count: int = 100
    depth: int = 1
    filter: str | None = None
    names: tuple[str, ...] | None = None
    limit: int = MAX_VALUE_LENGTH
    size: int | None = None
    code: bool = True


class ProgramProbe:
    """The probe inside the program of one session.

    Attributes:
        left: what the program recorded at its end for who will ask, as replies to questions, by their numbers.
    """

    def __init__(self, requests: Requests, mappings: Sequence[PathMapping] = ()) -> None:
        self.left: dict[str, str] = {}
        self._requests = requests
        self._numbers = count(1)
        self._mappings = mappings

    def __repr__(self) -> str:
        return f"<ProgramProbe of {self._requests.session_id}>"

    @property
    def patience(self) -> Patience:
        """How long the program is waited for."""
        return self._requests.patience

    async def threads(self) -> ProbeReply[ProbeThreads]:
        """Ask where every thread is, and what it waits for.

        Raises:
            ProbeError: the probe did not answer, and why; so for all questions.
            AdapterGone: the program's debugger has disconnected.
        """
        return await self.ask("threads", ProbeThreads, count=MAX_THREADS, size=MAX_SIZE)

    async def frames(
        self, thread_id: int | None, start: int, most: int, *, locals_: bool = False
    ) -> ProbeReply[Frames]:
        """Ask for a part of a thread's stack; without an id of the stopped thread, or the main one."""
        return await self.ask("frames", Frames, thread=thread_id, start=start, count=most, locals=locals_)

    async def stacks(self, frames: int, *, locals_: bool = False) -> ProbeReply[ProbeStacks]:
        """Ask for the stacks of all threads, at most `frames` frames of each."""
        size = None if locals_ else MAX_SIZE  # with locals, equal stacks are not merged
        return await self.ask("stacks", ProbeStacks, count=MAX_THREADS, frames=frames, locals=locals_, size=size)

    async def stop(
        self, thread_id: int | None, frames: int, locals_: int, *, seconds: float = PROBE_SECONDS
    ) -> ProbeReply[ProbeStop]:
        """Ask for all that a stop shows. No code of the program is run: what that would tell is `withheld`."""
        return await self.ask(
            "stop",
            ProbeStop,
            within=seconds,
            thread=thread_id,
            frames=frames,
            locals=locals_,
            threads=MAX_THREADS,
            first=True,
            code=False,
            types=True,
        )

    async def locals(self, thread_id: int | None, locals_: int) -> ProbeReply[ProbeStop]:
        """Ask for the locals of the top frame alone. Code of the program is run, within bounds."""
        return await self.ask("stop", ProbeStop, thread=thread_id, frames=0, locals=locals_, threads=0, types=True)

    async def variables(
        self, thread_id: int, frame: int, question: VariablesQuestion, *, seconds: float = PROBE_SECONDS
    ) -> ProbeReply[ProbeVariables]:
        """Ask for the variables of a frame's scope, or for what is inside the value that a path leads to."""
        asked = msgspec.structs.asdict(question)
        return await self.ask(
            "variables", ProbeVariables, within=seconds, thread=thread_id, frame=frame, types=True, **asked
        )

    async def inspect(
        self, thread_id: int, frame: int, question: VariablesQuestion, *, seconds: float = PROBE_SECONDS
    ) -> ProbeReply[Tree]:
        """Ask for the value that a path leads to as a tree: `depth` levels, and `count` children of each object."""
        asked = {each: getattr(question, each) for each in ("path", "depth", "count", "limit", "size", "code")}
        return await self.ask("inspect", Tree, within=seconds, thread=thread_id, frame=frame, types=True, **asked)

    async def summarize(
        self, thread_id: int, frame: int, question: VariablesQuestion, *, seconds: float = PROBE_SECONDS
    ) -> ProbeReply[Summary]:
        """Ask what the collection holds that a path leads to, with `count` of its first and of its last items."""
        asked = {each: getattr(question, each) for each in ("path", "count", "limit", "code")}
        return await self.ask("summarize", Summary, within=seconds, thread=thread_id, frame=frame, **asked)

    async def tasks(self, start: int, most: int) -> ProbeReply[Tasks]:
        """Ask for the tasks of asyncio and Trio."""
        return await self.ask("tasks", Tasks, start=start, count=most)

    async def modules(self, start: int, most: int, word: str | None) -> ProbeReply[Modules]:
        """Ask for the modules that the program has imported: those with this word in their name or file."""
        return await self.ask("modules", Modules, start=start, count=most, filter=word)

    def next_number(self) -> int:
        """Return the number of a new evaluation."""
        return next(self._numbers)

    async def start(self, number: int, source: str) -> EvaluationOutcome:
        """Begin to evaluate code of the user in the main module, in a thread of the debugger's."""
        return (await self.ask("start", EvaluationOutcome, number=number, source=bootstrap.source_text(source))).answer

    async def outcome(
        self, number: int, *, within: float = PROBE_SECONDS, interrupt: bool = False, withdraw: bool | None = None
    ) -> EvaluationOutcome:
        """Ask how an evaluation ended, or whether it has; it answers so once. `interrupt`: KeyboardInterrupt first.

        `withdraw`: one that has not begun, as its thread evaluates another one, is taken back.
        """
        question = "interrupt" if interrupt else "outcome"
        asked = {"number": number, "withdraw": withdraw}
        return (await self.ask(question, EvaluationOutcome, within=within, **asked)).answer

    async def record(self, key: str) -> None:
        """Have the program record the hits of its breakpoints over a connection that begins with this key."""
        await self.ask("record", RecordingAnswer, within=INSTALL_SECONDS, key=key)

    async def ask(
        self, question: str, kind: type[Body], *, within: float = PROBE_SECONDS, **parameters: object
    ) -> ProbeReply[Body]:
        """Ask any question, and decode its answer; parameters that are None are left out.

        `within`: on a machine that has time for the program; the patience counts, in the program as well.
        """
        if not self._requests.profile.has_probe:
            raise ProbeError("absent", f"{self._requests.profile.name} has no probe")
        expression = bootstrap.call_expression(question, patience=self._factor_in_program, **parameters)
        try:
            with trio.fail_after(self.patience.seconds(within)):
                answer = await self._evaluate(expression)
                if not answer:  # the probe is not in the program yet, or the program has replaced itself
                    await self._evaluate(bootstrap.install_expression())
                    answer = await self._evaluate(expression)
        except trio.TooSlowError:
            raise ProbeError("slow", "the program does not let the probe run: C code may keep the GIL") from None
        except (AdapterRefused, ProtocolViolation, UsageError) as error:
            log.info("the probe: %s", error)
            # The command is ours: to a user who has asked for threads, "evaluate: …" says nothing.
            raise ProbeError("invalid", error.reason if isinstance(error, AdapterRefused) else str(error)) from None
        return answers.decode(answer, kind, self._local if self._mappings else None)

    @property
    def _factor_in_program(self) -> float | None:
        """How much longer than usual answers may take there; left out where it is no longer."""
        return self.patience.factor if self.patience.factor != 1 else None

    def _local(self, file: str) -> str:
        """The path on this machine of a file of the program; in other answers the program's debugger has put it in."""
        for each in self._mappings:
            if file.startswith(each.remote.rstrip("/") + "/"):
                return each.local.rstrip("/") + file[len(each.remote.rstrip("/")) :]
        return file

    async def _evaluate(self, expression: str) -> str:
        arguments = {"expression": expression, "context": bootstrap.CONTEXT}
        return (await self._requests.request("evaluate", arguments, EvaluateBody)).result


_KINDS = {
    "asyncio": "the events of its asyncio loop",
    "trio": "the events of its Trio run",
    "worker": "work: it is idle",
    "exit": "the other threads to end",
    "io": "input or output",
    "process": "a process",
    **{kind: f"a {kind}" for kind in ("lock", "queue", "condition", "barrier", "semaphore", "future", "signal")},
    "event": "an event",
    "join": "a thread to end",
}
"""What is waited for, by kind, where no expression of the program is known."""


def waits_for(thread: ProbeThread) -> str | None:
    """Return what a thread waits for, and who holds it as far as that is known; None if it does not wait."""
    waits = thread.waits
    if waits is None:
        return None
    what = waits.what or _KINDS.get(waits.kind, waits.kind)
    if waits.holder is None:
        return what
    sure = "" if waits.holder.sure else "probably "
    return f"{what}, {sure}held by thread {waits.holder.thread} {waits.holder.name}".rstrip()


def waiting_line(thread: ProbeThread) -> str:
    """Return one line that says where a thread is and what it waits for."""
    waits = waits_for(thread)
    line = f"thread {thread.id} {thread.name} "
    line += (
        f"waits for {waits}" if waits is not None else "waits" if thread.state == "waiting" else f"is {thread.state}"
    )
    if thread.at is not None:
        place = thread.at.from_ or thread.at
        line += f", at {place.file}:{place.line} in {place.qualname or place.function}"
    return line
