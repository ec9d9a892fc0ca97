"""`ProgramProcess`: the process of a session's program, looked at from outside when the program does not answer.

    failure = await process.explained(failure)      # with the reason, if one can be established
    seen = await process.look()                     # its threads, as py-spy sees them

Only processes of this machine are looked at.
"""

import trio
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.by_probe.live_threads import LiveStack
from trio_debugmcp.session.looking.from_outside.outside import Outside, keeper_of, stacks_of
from trio_debugmcp.session.looking.from_outside.process_sample import GONE
from trio_debugmcp.session.looking.from_outside.py_spy import CannotLook
from trio_debugmcp.session.looking.from_outside.silence import Silence, Unanswered, silence_of
from trio_debugmcp.session.requests import Requests

SAMPLE_SECONDS = 0.1
"""Between two looks at a process: long enough for a thread that is ready to run to have had a turn."""

AGAIN_SECONDS = 0.2
"""From one look at its threads to the next: what has moved on by then only had no turn yet, as on a busy machine."""

_STILL = (GONE, "Z", "T", "t")
"""States of a process that does nothing, whatever time it is given."""

_MAY_KEEP = ("unknown", "installing", "starved")
"""Reasons that looks at its threads may make more exact: a call that computes with the GIL may be starved as well."""

LOOK_SECONDS = 2.0
"""For all looks at its threads together, beside a question that has had no answer for a second already."""


class ProgramProcess:
    """The process of one session's program.

    Attributes:
        is_here: its id is one of this machine.
        kept_gil: a look has shown that a thread kept the GIL.
    """

    def __init__(self, requests: Requests, host: Host, *, is_here: bool) -> None:
        self.is_here = is_here
        self.kept_gil = False
        self._requests = requests
        self._host = host

    def __repr__(self) -> str:
        return f"<ProgramProcess {self.pid} of {self._requests.session_id}>"

    @property
    def pid(self) -> int | None:
        """Its id; None where it is not known, or may be one of another machine."""
        snapshot = self._requests.snapshot
        return snapshot.origin.process_id if snapshot is not None and self.is_here else None

    def used(self) -> float | None:
        """Return how many seconds of processor time it has used so far; None where that is not known."""
        pid = self.pid
        return None if pid is None else self._host.processor_seconds(pid)

    def may_be_busy(self) -> bool:
        """Return whether it may answer if it is given time: it is ready to run, or nothing is known of it."""
        if self.kept_gil:  # it runs, but not so that it answers
            return False
        pid = self.pid
        sample = None if pid is None else self._host.sample(pid)
        return sample is None or (sample.state not in _STILL and sample.ready > 0)

    async def look(self) -> Outside | CannotLook | None:
        """Return its threads as py-spy sees them; None where the process cannot be found."""
        pid, snapshot = self.pid, self._requests.snapshot
        if pid is None or snapshot is None:
            return None
        names = [thread.name for thread in snapshot.threads.threads]
        ids = {
            thread.name: thread.id
            for thread in snapshot.threads.threads
            if thread.name and names.count(thread.name) == 1
        }
        try:
            written = await self._host.look_into(pid, self._requests.patience)
            return replace(stacks_of(written, ids), sample=self._host.sample(pid))
        except CannotLook as error:
            return error

    # --- Why it does not answer ------------------------------------------------------------------------------

    async def why_silent(self) -> str:
        """Return what is seen of a process that does not answer, in words; empty where nothing is."""
        pid = self.pid
        return "" if pid is None else (await self._sampled(pid, Silence())).cause

    async def explained(
        self, failure: Unanswered, keeper: LiveStack | None = None, *, looks: bool = True
    ) -> Unanswered:
        """Return a failure with the reason of a silence.

        `keeper`: of the GIL, where that was seen already. `looks`: whether it is looked for.
        """
        pid, silence = self.pid, failure.silence
        if failure.kind != "silent" or silence is None or pid is None:
            return failure
        if keeper is None:
            silence = await self._sampled(pid, silence)
            keeper = await self._keeper() if looks and silence.reason in _MAY_KEEP else None
        if keeper is not None:
            silence = replace(silence, reason="gil", keeper=keeper.thread)
        return Unanswered(failure.kind, silence.words, silence)

    async def _sampled(self, pid: int, silence: Silence) -> Silence:
        earlier = now = self._host.sample(pid)
        if earlier is not None and earlier.state not in _STILL:
            await trio.sleep(SAMPLE_SECONDS)
            now = self._host.sample(pid)
        return silence_of(pid, silence.waited, earlier, now, installing=silence.reason == "installing")

    async def _keeper(self) -> LiveStack | None:
        """Return the thread that keeps the GIL and has not moved from one look to the next."""
        looks = Looks(self)
        with trio.move_on_after(self._requests.patience.seconds(LOOK_SECONDS)):
            await looks.take()
            while looks.may_show_more:
                await trio.sleep(self._requests.patience.seconds(AGAIN_SECONDS))
                await looks.take()
        return looks.keeper

    def parted(self, gone: AdapterGone) -> Unanswered:
        """Return why a program does not answer whose connection has ended."""
        pid = self.pid
        sample = None if pid is None else self._host.sample(pid)
        if sample is None:
            return Unanswered("gone", gone.reason)
        silence = Silence("ended" if sample.state in (GONE, "Z") else "unreachable", pid, sample=sample)
        return Unanswered("gone", silence.words, silence)


class Looks:
    """Looks at the threads of a process, one after the other.

    Attributes:
        seen: by the last look.
        keeper: the thread that keeps the GIL, once that has shown.
    """

    def __init__(self, process: ProgramProcess) -> None:
        self.seen: Outside | CannotLook | None = None
        self.keeper: LiveStack | None = None
        self._process = process
        self._first: Outside | None = None

    def __repr__(self) -> str:
        return f"<Looks at {self._process}>"

    @property
    def may_show_more(self) -> bool:
        """Whether a thread has the GIL of which a further look shows if it keeps it."""
        return isinstance(self.seen, Outside) and self.seen.holder is not None and self.keeper is None

    async def take(self) -> None:
        """Look once more, and compare with the first look at which the same thread had the GIL."""
        self.seen = now = await self._process.look()
        if not isinstance(now, Outside):
            return
        if self._first is None or self._first.holder != now.holder:
            self._first = now
        else:
            self.keeper = keeper_of(self._first, now)
            self._process.kept_gil = self.keeper is not None
