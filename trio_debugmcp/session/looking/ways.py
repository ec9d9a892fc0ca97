"""`Ways`: the ways to what is known of one program, and the rule that chooses between them.

    page = await ways.choose(ask_probe, ask_adapter, About("`order.items`"))

The probe is asked first: it answers while the program is stopped, runs or waits. What follows from a question that it
does not answer depends on the kind of the failure. Where the question is wrong, as there is no such thread or the
expression raises, the client gets an error. Where the program is silent, the error says so. Where there is no probe,
or it has no answer of use, the adapter is asked instead.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone, UsageError, no_session
from trio_debugmcp.probe.answers import Body, Frames
from trio_debugmcp.session.looking.by_adapter.unmade_variables import UnmadeVariables
from trio_debugmcp.session.looking.by_probe.program_probe import PROBE_SECONDS, ProgramProbe
from trio_debugmcp.session.looking.frames import ProgramFrames
from trio_debugmcp.session.looking.from_outside.outside import Outside
from trio_debugmcp.session.looking.from_outside.program_process import AGAIN_SECONDS, Looks
from trio_debugmcp.session.looking.from_outside.py_spy import CannotLook
from trio_debugmcp.session.looking.from_outside.silence import (
    About,
    NoProbeAnswer,
    Silence,
    Unanswered,
    no_task_known,
    refusal,
    silent,
)
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import Snapshot

log = logging.getLogger(__name__)

LOOK_AFTER_SECONDS = 0.3
"""From a question to a look from outside: the probe takes milliseconds, and an answer is promised within a second."""

WITHOUT_CODE_SECONDS = 5.0
"""For an answer without code of the program. It takes milliseconds, but such code of an earlier question may run."""

T = TypeVar("T")

Ask = Callable[..., Awaitable[Body]]
"""A question to the probe, which takes `within` and further parameters."""


class Seen(Struct, frozen=True):
    """Why the probe has not answered, and what was seen from outside in place of that."""

    failure: Unanswered
    outside: Outside | None = None


class Ways:
    """The ways to what is known of one session's program."""

    def __init__(self, requests: Requests, probe: ProgramProbe, frames: ProgramFrames, unmade: UnmadeVariables) -> None:
        self.requests = requests
        self.frames = frames
        self.unmade = unmade
        self.probe = probe
        self.profile = requests.profile
        self.has_probe = requests.profile.has_probe

    def __repr__(self) -> str:
        return f"<Ways of {self.requests.session_id}>"

    @property
    def snapshot(self) -> Snapshot:
        """What is true of the session now.

        Raises:
            UsageError: `NO_SESSION`: it has ended.
        """
        snapshot = self.requests.snapshot
        if snapshot is None:
            raise no_session()
        return snapshot

    async def probed(self, by_probe: Callable[[], Awaitable[T]], about: About) -> T | Unanswered:
        """Return what the probe answers; or why it does not, where something else may.

        Raises:
            UsageError: the question is wrong, or the program is silent: see `refusal`.
        """
        try:
            return await by_probe()
        except NoProbeAnswer as error:
            failure = error.failure
        if failure.kind == "frame":
            raise await self._no_frame(about.place)
        failure = await self.probe.process.explained(failure)
        refused = refusal(failure, about)
        if refused is not None:
            raise refused
        if about.place.task is not None:
            raise no_task_known(about.place.task, failure.reason, self.profile.name)
        if failure.kind != "none":
            log.info("%s: %s", about.words, failure.text)
        return failure

    async def choose(
        self, by_probe: Callable[[], Awaitable[T]], by_adapter: Callable[[], Awaitable[T]], about: About
    ) -> T:
        """Return what the probe answers, or else what the adapter does. Raises as `probed`, and as `by_adapter`."""
        found = await self.probed(by_probe, about)
        return await by_adapter() if isinstance(found, Unanswered) else found

    async def probed_alone(self, ask: Callable[[], Awaitable[T]], *, looks: bool = True) -> T | Seen:
        """Return what the probe answers, or why it does not. `looks`: the reason may take a look at the threads."""
        try:
            return await ask()
        except NoProbeAnswer as error:
            return Seen(await self.probe.process.explained(error.failure, looks=looks))

    async def probed_or_seen(self, ask: Callable[[], Awaitable[T]]) -> T | Seen:
        """Return what the probe answers, or what py-spy sees of a program that is silent.

        The look begins before it is known that there will be no answer: one is promised within a second.
        """
        process, answers, looks = self.probe.process, list[T](), Looks(self.probe.process)
        failure: Unanswered | None = None
        async with trio.open_nursery() as nursery:

            async def look() -> None:
                await trio.sleep(self.requests.patience.seconds(LOOK_AFTER_SECONDS))
                await looks.take()
                while looks.may_show_more and failure is None:
                    await trio.sleep(self.requests.patience.seconds(AGAIN_SECONDS))
                    await looks.take()
                if looks.keeper is not None:
                    nursery.cancel_scope.cancel(reason="the GIL is kept")

            nursery.start_soon(look)
            try:
                answers.append(await ask())
            except NoProbeAnswer as error:
                failure = error.failure
            except AdapterGone as gone:
                failure = process.parted(gone)
            if failure is None or failure.kind != "silent":
                nursery.cancel_scope.cancel(reason="the probe has answered")
        if answers:
            return answers[0]
        seen = looks.seen
        explained = await process.explained(failure or silent(Silence()), looks.keeper, looks=seen is None)
        if explained.kind == "silent" and isinstance(seen, CannotLook):
            explained = replace(explained, text=f"{explained.text}; {seen}")
        return Seen(explained, seen if isinstance(seen, Outside) else None)

    async def _no_frame(self, place: FramePlace) -> UsageError:
        """Return the error for a frame that is not there, with those that are."""
        found = await self.probe.attempt("frames", Frames, thread=place.thread_id, start=0, count=1)
        total = 0 if isinstance(found, Unanswered) else found.total
        there = f"frames go from 0 to {total - 1}" if total else "it runs no Python code"
        sentence = f"There is no frame {place.index} in thread {place.thread_id}: {there}."
        return UsageError("INVALID_FRAME", sentence, {"total": total})


async def without_code_first(
    ask: Ask[Body], lacks: Callable[[Body], bool], *, again: bool = True
) -> tuple[Body, Unanswered | None]:
    """Ask without running code of the program, so that there is an answer in any case; then, if it `lacks` some, with.

    Without `again` it is only asked once, with code: what calls something is not evaluated twice. Returns the best
    answer, and why the second question had none.

    Raises:
        NoProbeAnswer: the first question had no answer.
    """
    # Longer than it takes: it may wait for an earlier question, whose code of the program is slow.
    first = await ask(code=not again, within=WITHOUT_CODE_SECONDS)
    if not again or not lacks(first):
        return first, None
    try:
        return await ask(code=True, within=PROBE_SECONDS), None
    except NoProbeAnswer as error:
        return first, error.failure
