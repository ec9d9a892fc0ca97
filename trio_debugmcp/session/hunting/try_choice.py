"""`TryChoice`: which try of a hunt is made next. Pure.

    choice = TryChoice(plan)
    while (conditions := choice.next()) is not None:
        choice.came(outcome)                        # of one of those that were handed out
    choice.kept, choice.other                       # a recorded one that fits, and one that does not

A race may hide from a recorder, and what cannot be recorded again may never come back. So until the first that fits,
half of the time goes into plain tries and half into recorded ones. Then the conditions of that one are repeated: until
it is caught in a record, and to see whether they alone decide.
"""

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.session.hunting.hunt_plan import CALM_SECONDS, HuntPlan, TryConditions, TryOutcome, again

REPEATS = 3
"""Tries of one kind beside one that fits. By chance three are alike once in a thousand, if one of ten fits."""

SAME, OTHER_HASH, OTHER_SEED = "the same conditions", "another hash seed", "another random seed"

OTHER_TURNS, CALM = "another order of tasks", f"threads switched every {CALM_SECONDS:g} s"

_CHANGED = {OTHER_HASH: "hash_seed", OTHER_SEED: "seed", OTHER_TURNS: "turns"}
"""What is another one in tries of a kind."""


class RepeatedTries(Struct, frozen=True):
    """How often a try came to the same under conditions of one kind."""

    kind: str
    made: int = 0
    fitted: int = 0
    handed_out: int = 0


class TryChoice:
    """The tries of one hunt.

    Attributes:
        made, fitted: how many came back, and how many of them fit; `recorded`, `recorded_fitted`: of those recorded.
        hit: the first that fits; `kept`: one that fits and is recorded; `other`: one that does not and is recorded.
        caught_in: how many tries were made to catch one in a record, after the first that fits.
    """

    def __init__(self, plan: HuntPlan) -> None:
        self.plan = plan
        self.made = self.fitted = self.recorded = self.recorded_fitted = self.caught_in = 0
        self.hit: TryOutcome | None = None
        self.kept: TryOutcome | None = None
        self.other: TryOutcome | None = None
        self._kinds = (SAME, OTHER_HASH, OTHER_SEED, *([OTHER_TURNS] if plan.shakes else []), CALM)
        self.repeated = {kind: RepeatedTries(kind) for kind in self._kinds}
        self._kind_of: dict[int, str] = {}
        self._handed_out = self._searched = 0
        self._times: dict[bool, list[float]] = {False: [], True: []}
        self._counts = {False: 0, True: 0}
        self._other_rank = len(self._kinds) + 1

    def __repr__(self) -> str:
        return f"<TryChoice {self.made} made, {self.fitted} fit>"

    @property
    def records(self) -> bool:
        """Whether runs can be recorded at all."""
        return self.plan.recording is not None

    @property
    def is_over(self) -> bool:
        """Whether all is known that a hunt is after, so that tries under way are not waited for."""
        if self.hit is None or (self.records and self.kept is None):
            return False
        return self._kind_at_hand() is None

    def next(self) -> TryConditions | None:
        """Return the next try; None: there is none, or none until those that were handed out have come."""
        if self.hit is None:
            return self._fresh() if self._searched < self.plan.times else None
        if self.records and self.kept is None:
            return self._catching() if self.caught_in < self.plan.times else None
        kind = self._kind_at_hand()
        found = None if kind is None else self.repeated[kind]
        if found is None or found.handed_out >= REPEATS:
            return None
        self.repeated[found.kind] = replace(found, handed_out=found.handed_out + 1)
        return self._again(self.kept or self.hit, found.kind)

    def came(self, outcome: TryOutcome) -> None:
        """Take note of what came of a try."""
        self.made += 1
        self.fitted += outcome.fits
        conditions = outcome.conditions
        self.recorded += conditions.records
        self.recorded_fitted += conditions.records and outcome.fits
        self._times[conditions.records].append(outcome.seconds)
        kind = self._kind_of.pop(conditions.number, None)
        if kind is not None:
            found = self.repeated[kind]
            self.repeated[kind] = replace(found, made=found.made + 1, fitted=found.fitted + outcome.fits)
        rank = self._kinds.index(kind) if kind is not None else len(self._kinds)
        if outcome.fits:
            self.hit = self.hit or outcome
            if outcome.directory is not None and self.kept is None:
                self.kept = outcome
        elif outcome.directory is not None and rank <= min(self._other_rank, len(self._kinds)):
            self.other, self._other_rank = outcome, rank

    # --- Which one ----------------------------------------------------------------------------------------------------

    def _kind_at_hand(self) -> str | None:
        """Return the conditions that are to be repeated now; None: it is known what they do."""
        for kind in self._kinds:
            found = self.repeated[kind]
            differs = found.made > found.fitted
            if found.made < REPEATS and not (kind == SAME and differs):
                return kind
            if differs:
                return None
        return None

    def _fresh(self) -> TryConditions:
        self._searched += 1
        conditions = self.plan.fresh(self._number())
        records = self.records and (self.plan.records_all or self._cost(True) <= self._cost(False))
        self._counts[records] += 1
        return replace(conditions, records=records)

    def _cost(self, records: bool) -> float:
        """Return the seconds that tries of a kind take, those under way too."""
        times = self._times[records]
        return self._counts[records] * (sum(times) / len(times) if times else 1.0)

    def _catching(self) -> TryConditions:
        """Return the next try to catch one that fits in a record: as the first, then in turn with others."""
        hit = self.hit
        if hit is None:
            raise AssertionError("there is nothing to catch yet")
        self.caught_in += 1
        if self.caught_in > REPEATS and self.caught_in % 2:
            return replace(self.plan.fresh(self._number()), records=True)
        return self._again(hit, SAME)

    def _again(self, outcome: TryOutcome, kind: str) -> TryConditions:
        number = self._number()
        if self.kept is not None or not self.records:
            self._kind_of[number] = kind
        changed = _CHANGED.get(kind)
        other = {"interval": CALM_SECONDS} if kind == CALM else {}
        if changed is not None:
            other = {changed: self.plan.first + number + (1 << 20)}
        return replace(again(outcome.conditions, number, **other), records=self.records)

    def _number(self) -> int:
        self._handed_out += 1
        return self._handed_out
