"""What a hunt came to, in words and as data."""

from msgspec import Struct

from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.recorded.run_difference import RunDifference
from trio_debugmcp.session.hunting.hunt_plan import TryConditions, TryOutcome
from trio_debugmcp.session.hunting.hunting import HuntFound
from trio_debugmcp.session.hunting.try_choice import CALM, OTHER_HASH, OTHER_SEED, OTHER_TURNS, SAME, RepeatedTries
from trio_debugmcp.state.payloads import signal_name

_SHOWN_CHARACTERS = 1500
"""Of what a try wrote: the end, where errors are."""


class KeptTry(Struct, frozen=True, rename="camel"):
    """A try as data; `run`: its record."""

    run: str | None
    number: int
    exit_code: int | None
    seconds: float
    hash_seed: int
    seed: int
    switch_interval: float | None
    turns: int | None
    worker: str


class HuntData(AnswerData, frozen=True, kw_only=True):
    """What a hunt came to, as data."""

    tries: int
    failed: KeptTry | None
    passed: KeptTry | None
    comparison: object = None


class HuntAnswer(Answer, frozen=True, kw_only=True):
    """`tries`: all that were made. `failed`, `passed`: a try of each kind, with its run if it is recorded.

    With an expression, `failed` is one of which it holds, `passed` another. `same`, `good`, `bad`, `because`: where
    they part, as run_compare says it. `output`: the last that the failed one wrote.
    """

    full: HuntData | None = None
    tries: int
    failed: str | None = None
    passed: str | None = None
    same: int | None = None
    good: str | None = None
    bad: str | None = None
    because: list[str] = []
    output: str | None = None
    notes: list[str] = []


class ShownTry(Struct, frozen=True):
    """A try that an answer shows, and the run that its record is kept as."""

    outcome: TryOutcome
    run: str | None


def hunt_answer(
    tries: int, failed: ShownTry | None, passed: ShownTry | None, parting: RunDifference | None, notes: list[str]
) -> HuntAnswer:
    """Return what a hunt came to as an answer."""
    notes = [*notes, *([] if parting is None else parting.notes)]
    full = None if parting is None else parting.full
    return HuntAnswer(
        full=HuntData(
            tries=tries,
            failed=None if failed is None else _data(failed),
            passed=None if passed is None else _data(passed),
            comparison=None if full is None else full.comparison,
            notes=notes,
        ),
        tries=tries,
        failed=None if failed is None else _line(failed),
        passed=None if passed is None else _line(passed),
        same=None if parting is None else parting.same,
        good=None if parting is None else parting.good,
        bad=None if parting is None else parting.bad,
        because=[] if parting is None else parting.because,
        output=None if failed is None else _output(failed.outcome),
        notes=notes,
    )


def _data(shown: ShownTry) -> KeptTry:
    outcome, conditions = shown.outcome, shown.outcome.conditions
    return KeptTry(
        shown.run, conditions.number, outcome.exit_code, outcome.seconds, conditions.hash_seed, conditions.seed,
        conditions.interval, conditions.turns, outcome.worker,
    )  # fmt: skip


def _line(shown: ShownTry) -> str:
    """Return `run-3: exit code 1 after 0.2 s, try 12 (hash seed 12, random seed 12)`."""
    outcome = shown.outcome
    where = f" on {outcome.worker}" if outcome.worker else ""
    conditions = outcome.conditions
    name = shown.run or "not recorded"
    return (
        f"{name}: {ended(outcome)} after {outcome.seconds:.2g} s, try {conditions.number}{where} ({conditions.named()})"
    )


def ended(outcome: TryOutcome) -> str:
    """Return how a try ended."""
    signal = signal_name(outcome.exit_code)
    if outcome.exit_code is None:
        return "did not end, and was killed"
    return f"ended by {signal}" if isinstance(signal, str) else f"exit code {outcome.exit_code}"


def _output(outcome: TryOutcome) -> str | None:
    """Return the end of what a try wrote: on standard error, else on standard output, where pytest writes."""
    text = outcome.stderr.strip() or outcome.stdout.strip()
    cut = len(text) - _SHOWN_CHARACTERS
    return f"… {text[-_SHOWN_CHARACTERS:]}" if cut > 0 else text or None


def repeats_notes(found: HuntFound, what: str) -> list[str]:
    """Return what the conditions of a try came to when they were repeated, and which of them decide, if one does.

    `what`: what the tries that fit did: `failed`.
    """
    repeated = {each.kind: each for each in found.repeated if each.made}
    if not repeated or found.hit is None:
        return []
    counts = ", ".join(f"{each.fitted} of {each.made} with {each.kind}" for each in repeated.values())
    outcome = found.kept or found.hit
    if not outcome.are_set:
        same = f"tried again, {repeated[SAME].fitted} of {repeated[SAME].made} {what}"
        why = "as the interpreter does not import sitecustomize (option -I, -E or -S)"
        return [f"{same}; seeds and the switching of threads were not set, {why}"]
    return [f"tried again, {counts} {what}{_decides(repeated, outcome.conditions)}"]


def _decides(repeated: dict[str, RepeatedTries], conditions: TryConditions) -> str:
    """Return which condition decides: the one that was changed alone, and none was as wanted then."""
    if all(each.fitted == each.made for each in repeated.values()):
        return ": none of these decides alone, as far as so few tries show"
    if repeated[SAME].fitted < repeated[SAME].made:
        return ": it is not the seeds that decide, but threads, time, or what is outside of the program"
    last = list(repeated.values())[-1]
    if last.fitted:
        return f": {last.kind} does not prevent it, and did in {last.made - last.fitted} of {last.made}"
    hash_seed = f'debug_launch(env={{"PYTHONHASHSEED": "{conditions.hash_seed}"}}) repeats it'
    return {
        OTHER_HASH: f": the hash seed decides, which orders sets; {hash_seed}",
        OTHER_SEED: ": the random seed decides, of `random`, NumPy, pytest-randomly or Trio's scheduler; if it is of "
        f"`random`, random.seed({conditions.seed}) at the beginning repeats it",
        CALM: ": when threads are switched decides, so it is a race between threads",
        OTHER_TURNS: ": the order decides in which asyncio tasks that are ready take their turns",
    }[last.kind]
