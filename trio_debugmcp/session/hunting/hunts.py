"""`Hunts`: the hunts of one server, one at a time, as they would take the processors from each other.

    with hunts.begun() as number:
        found = await hunts.run(number, HuntRequest(plan, WantedEnd("fails")), report, seconds=120)

What they find is kept by the store of runs.
"""

import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Literal

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.hunting.cluster_tries import ClusterRequest, open_cluster
from trio_debugmcp.session.hunting.hunt_plan import HuntPlan, TryJudge, TryOutcome
from trio_debugmcp.session.hunting.hunting import HuntFound, Report, hunt, never
from trio_debugmcp.session.hunting.local_tries import LocalTries, TryEngine
from trio_debugmcp.session.run_store import RunStore

EngineName = Literal["local", "dask", "ray"]


class HuntRequest(Struct, frozen=True):
    """A hunt as it is asked for.

    Attributes:
        address: of a cluster that is there; None: one is made for it.
        gives_up: whether a try shows that there is nothing to hunt.
    """

    plan: HuntPlan
    end: TryJudge
    engine: EngineName = "local"
    address: str | None = None
    gives_up: Callable[[TryOutcome], bool] = never


class Hunts:
    """The hunts of one server."""

    def __init__(self, watchdog: Watchdog, runs: RunStore) -> None:
        self._watchdog, self._runs = watchdog, runs
        self._numbers = count(1)
        self._under_way: int | None = None

    def __repr__(self) -> str:
        return f"<Hunts under_way={self._under_way}>"

    @contextmanager
    def begun(self) -> Iterator[int]:
        """Begin a hunt, and return its number.

        Raises:
            UsageError: `INVALID_PARAMETER`: another one is under way.
        """
        if self._under_way is not None:
            sentence = f"hunt-{self._under_way} is under way, and one hunt takes all processors. Wait until it is over."
            raise UsageError("INVALID_PARAMETER", sentence)
        self._under_way = next(self._numbers)
        try:
            yield self._under_way
        finally:
            self._under_way = None

    async def run(self, number: int, request: HuntRequest, report: Report, seconds: float) -> HuntFound:
        """Hunt; cancelling ends all that was started. The records of what is found stand in directories of their own.

        Raises:
            UsageError: `NOT_SUPPORTED`: the engine is not installed; `LAUNCH_FAILED`, `TIMEOUT` or `INVALID_PARAMETER`.
        """
        deadline = trio.current_time() + seconds
        home = Path(self._runs.made_elsewhere(), f"hunt-{number}")
        home.mkdir(0o700)
        try:
            async with self._engine(request, home) as engine:
                left = max(0.0, deadline - trio.current_time())
                found = await hunt(request.plan, request.end, engine, home, report, left, request.gives_up)
            kept, other = (
                _moved(each, f"{home}-{name}") for name, each in (("kept", found.kept), ("other", found.other))
            )
            return replace(found, kept=kept, other=other)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(lambda: shutil.rmtree(home, ignore_errors=True))

    def _engine(self, request: HuntRequest, home: Path) -> AbstractAsyncContextManager[TryEngine]:
        if request.engine == "local":
            return _local(self._watchdog, request.plan.parallel)
        pythons = (request.plan.command[0], sys.executable)
        cluster = ClusterRequest(request.engine, request.address, request.plan.parallel, pythons)
        return open_cluster(cluster, home, self._watchdog)


@asynccontextmanager
async def _local(watchdog: Watchdog, slots: int) -> AsyncIterator[TryEngine]:
    yield LocalTries(watchdog, slots)


def _moved(outcome: TryOutcome | None, directory: str) -> TryOutcome | None:
    if outcome is None or outcome.directory is None:
        return outcome
    Path(outcome.directory).rename(directory)
    return replace(outcome, directory=directory)
