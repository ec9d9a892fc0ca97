"""What a hunt runs, under which conditions each try is made, and what came of it. Pure.

    plan = HuntPlan(command=("python", "-m", "pytest"), cwd="/src", times=50, parallel=2)
    plan.fresh(17)                                   # hash seed 17, random seed 17, an interval of its own

Seeds of one hunt are not those of the next.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles.starts import RunRecording

INTERVALS = (None, 0.00001, 0.0005, 0.000001)
"""Seconds after which threads are switched, in turn; None: those of the interpreter, 0.005."""


CALM_SECONDS = 2.0
"""An interval so long that short work of a thread is done in one turn, recorded and on a busy machine, too."""


class TryConditions(Struct, frozen=True):
    """What a try is made under, as far as it can be said.

    Attributes:
        number: of the try, from 1.
        hash_seed: the order of sets, and of what is hashed by its text.
        seed: of `random`, and of what else draws at random.
        turns: seed of the order in which ready tasks take their turns; None: they take them as always.
        interval: seconds after which threads are switched; None: the interpreter's own.
        records: the run is recorded.
    """

    number: int
    hash_seed: int
    seed: int
    interval: float | None = None
    turns: int | None = None
    records: bool = False

    def named(self) -> str:
        """Return the conditions in words."""
        interval = "" if self.interval is None else f", threads switched every {self.interval * 1000:g} ms"
        turns = "" if self.turns is None else f", order of tasks {self.turns}"
        return f"hash seed {self.hash_seed}, random seed {self.seed}{turns}{interval}"


class TryOutcome(Struct, frozen=True):
    """What came of a try.

    Attributes:
        exit_code: of the program; negative: the signal that ended it; None: it had not ended when its time was over.
        left_out: bytes of its output that are not kept.
        directory: where its record is, if it was recorded and there is one.
        worker: what ran it, of a cluster.
        are_set: the program was run under its conditions; with the interpreter's option -I it is not.
        fits: it is as the hunt wants it.
    """

    conditions: TryConditions
    exit_code: int | None
    seconds: float
    stdout: str
    stderr: str
    left_out: int = 0
    directory: str | None = None
    worker: str = ""
    are_set: bool = True
    fits: bool = False

    @property
    def fails(self) -> bool:
        """Whether the program failed: with another exit code than 0, or by not ending."""
        return self.exit_code != 0


class HuntPlan(Struct, frozen=True):
    """What is run, and how often.

    Attributes:
        env: variables that are added; None: taken away.
        recording: how runs are recorded; None: they are not.
        records_all: each is, as what is wanted is judged over the record.
        times: tries until the first that fits.
        parallel: at most so many at once.
        try_seconds: after which a try is ended.
        first: the number before the first seed, another one for each hunt.
        shakes: tasks that are ready take turns at random.
    """

    command: tuple[str, ...]
    cwd: str
    env: Mapping[str, str | None] = {}
    stdin: str | None = None
    recording: RunRecording | None = None
    records_all: bool = False
    times: int = 50
    parallel: int = 1
    try_seconds: float = 30.0
    first: int = 0
    shakes: bool = False

    def fresh(self, number: int) -> TryConditions:
        """Return the conditions of a try that repeats no other."""
        seed = self.first + number
        interval = INTERVALS[(number - 1) % len(INTERVALS)]
        return TryConditions(number, seed, seed, interval, seed if self.shakes else None)

    def wanted(self, conditions: TryConditions) -> dict[str, Any]:
        """Return what a keeper of a try has to know, but for its directory and the code that is brought in."""
        recording = self.recording if conditions.records else None
        return {
            "command": list(self.command),
            "cwd": self.cwd,
            "env": {
                "PYTHONUNBUFFERED": "1",
                **self.env,
                "PYTHONHASHSEED": str(conditions.hash_seed % (1 << 32)),
            },
            "stdin": self.stdin,
            "seconds": self.try_seconds,
            "given": {
                "seed": conditions.seed,
                "switchInterval": conditions.interval,
                "turns": conditions.turns,
                "record": None if recording is None else recording.arguments(),
            },
        }


def again(conditions: TryConditions, number: int, **other: Any) -> TryConditions:
    """Return the same conditions for another try, which is recorded; but for those that are `other`."""
    return replace(conditions, number=number, records=True, **other)


class TryJudge(Protocol):
    """What a hunt asks of a `WantedEnd`, which reads records.

    Attributes:
        never_known: why no try could be judged, if so far none could.
    """

    never_known: str | None

    async def fits(self, outcome: TryOutcome) -> bool:
        """Return whether a try came to what is wanted."""
        ...
