"""A hunt: tries in parallel until one fits, that one caught in a record, and another one to compare it with.

    found = await hunt(plan, end, engine, Path("/tmp/runs/hunt-1"), report)
    found.kept.directory, found.other.directory     # two records that run_compare takes

Tries that are over leave nothing but these.
"""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.engine import carrier
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.probe import packing
from trio_debugmcp.session.hunting.hunt_plan import HuntPlan, TryConditions, TryJudge, TryOutcome
from trio_debugmcp.session.hunting.local_tries import TryEngine
from trio_debugmcp.session.hunting.try_choice import RepeatedTries, TryChoice

Report = Callable[[TryChoice], Awaitable[None]]
"""Called after each try."""

_AT_START = """
given = PARAMETERS
hide(given)
set_conditions(given)
if given["record"] is not None:
    bring_in(given, "arrive_to_record")
del given, hide, bring_in, set_conditions
import sitecustomize  # the program's own; without one Python takes the error as its answer
"""

_CONDITIONS = Path(__file__).parent / "program_conditions.py"


def never(outcome: TryOutcome) -> bool:
    """No try shows that there is nothing to hunt."""
    return False


class HuntFound(Struct, frozen=True):
    """What a hunt has come to.

    Attributes:
        made, fitted: how many tries there were, and how many of them are as wanted; `recorded`, `recorded_fitted`: of
            those that were recorded.
        searched: how many were made until the first of these.
        hit, kept, other: the first as wanted; one that is recorded, and one that is otherwise and recorded.
        repeated: what the conditions of that one came to when they were repeated.
        caught_in: tries that were made to catch one in a record.
        timed_out: the time was over before all tries were made.
        never_known: why what is wanted could not be judged, if it never could.
        last: the last try that was otherwise, recorded or not.
        problems: what is to be known of where they ran.
    """

    made: int
    fitted: int
    recorded: int
    recorded_fitted: int
    searched: int
    hit: TryOutcome | None
    kept: TryOutcome | None
    other: TryOutcome | None
    repeated: list[RepeatedTries]
    caught_in: int = 0
    timed_out: bool = False
    never_known: str | None = None
    last: TryOutcome | None = None
    problems: list[str] = []


class _Hunt:
    """One hunt under way."""

    def __init__(
        self,
        plan: HuntPlan,
        end: TryJudge,
        engine: TryEngine,
        home: Path,
        report: Report,
        gives_up: Callable[[TryOutcome], bool],
    ) -> None:
        self.choice = TryChoice(plan)
        self.last: TryOutcome | None = None
        self.failure: DebugError | None = None
        self.searched = 0
        self._plan, self._end, self._engine, self._home, self._report = plan, end, engine, home, report
        self._gives_up = gives_up
        self._code = carrier.kept_code(home)
        self._start = start_text()
        self._came, self._coming = trio.open_memory_channel[TryOutcome | DebugError](0)

    async def run(self) -> None:
        """Make the tries, as many at once as there are slots."""
        under_way = 0
        async with trio.open_nursery() as tries:
            while True:
                while under_way < self._engine.slots and (conditions := self.choice.next()) is not None:
                    tries.start_soon(self._try, conditions)
                    under_way += 1
                if not under_way or self.choice.is_over:
                    break
                outcome = await self._coming.receive()
                under_way -= 1
                if isinstance(outcome, DebugError):
                    self.failure = outcome
                    break
                await self._take(outcome)
                if self._gives_up(outcome):
                    break
            tries.cancel_scope.cancel(reason="the hunt is over")

    async def _take(self, outcome: TryOutcome) -> None:
        if self.choice.hit is None:
            self.searched += 1
        before = (self.choice.kept, self.choice.other)
        self.choice.came(outcome)
        self.last = self.last if outcome.fits else outcome
        for each in {*before, outcome} - {None, self.choice.kept, self.choice.other}:
            if each is not None and each.directory is not None:
                await _removed(Path(each.directory).parent)
        await self._report(self.choice)

    async def _try(self, conditions: TryConditions) -> None:
        try:
            came: TryOutcome | DebugError = await self._tried(conditions)
        except DebugError as error:
            came = error
        except OSError as error:  # the disk is full, or the program has removed the files
            reason = f"{error.strerror or error}: {error.filename}"
            came = UsageError("LAUNCH_FAILED", f"The files of a try are not there: {reason}. Call debug_hunt again.")
        await self._came.send(came)

    async def _tried(self, conditions: TryConditions) -> TryOutcome:
        directory = self._home / f"try-{conditions.number}"
        directory.mkdir(0o700)
        wanted = self._plan.wanted(conditions)
        wanted["given"] |= self._code
        answer = await self._engine.run({**wanted, "start": self._start}, str(directory))
        run = directory / "run"
        is_recorded = conditions.records and any(run.glob("p-*"))
        outcome = TryOutcome(
            conditions=conditions,
            exit_code=answer["exitCode"],
            seconds=answer["seconds"],
            stdout=answer["stdout"],
            stderr=answer["stderr"],
            left_out=answer["leftOut"],
            directory=str(run) if is_recorded else None,
            worker=answer.get("worker", ""),
            are_set=answer["areSet"],
        )
        fits = await self._end.fits(outcome)
        if not is_recorded:
            await _removed(directory)
        return replace(outcome, fits=fits)


async def _removed(directory: Path) -> None:
    await trio.to_thread.run_sync(lambda: shutil.rmtree(directory, ignore_errors=True))


def start_text() -> str:
    """Return what each try executes first, without its parameters."""
    return packing.stripped(_CONDITIONS.read_text(encoding="utf-8")) + carrier.BRING_IN + _AT_START


async def hunt(
    plan: HuntPlan,
    end: TryJudge,
    engine: TryEngine,
    home: Path,
    report: Report,
    seconds: float,
    gives_up: Callable[[TryOutcome], bool] = never,
) -> HuntFound:
    """Hunt until it is over, or the time is. `gives_up`: whether a try shows that there is nothing to hunt.

    Resource handling: when this returns or is cancelled, no process of a try is left. In `home` are then the records
    of `kept` and `other`; the caller removes it.

    Raises:
        UsageError: `LAUNCH_FAILED` or `TIMEOUT`: a try cannot be run.
    """
    made = _Hunt(plan, end, engine, home, report, gives_up)
    with trio.move_on_after(seconds) as scope:
        await made.run()
    if made.failure is not None:
        raise made.failure
    choice = made.choice
    return HuntFound(
        made=choice.made,
        fitted=choice.fitted,
        recorded=choice.recorded,
        recorded_fitted=choice.recorded_fitted,
        searched=made.searched,
        hit=choice.hit,
        kept=choice.kept,
        other=choice.other,
        repeated=list(choice.repeated.values()),
        caught_in=choice.caught_in,
        timed_out=scope.cancelled_caught,
        never_known=end.never_known,
        last=made.last,
        problems=list(engine.problems),
    )
