"""What is said beside the tries of a hunt: what was found, what decides, and what to do next. Pure."""

from msgspec import Struct

from trio_debugmcp.server.answers.recorded.hunt_answers import ShownTry, repeats_notes
from trio_debugmcp.session.hunting.hunting import HuntFound

_DONE = {"fails": "failed", "passes": "passed"}

_MOST_TIMES = 10_000


class HuntAsked(Struct, frozen=True):
    """How a hunt was asked for; `problem`: why its tries could not be recorded."""

    until: str
    times: int
    timeout: float
    shake: bool = False
    problem: str | None = None

    @property
    def word(self) -> str:
        """What the tries did that it is after."""
        return _DONE.get(self.until, f"came to `{self.until}`")


def hunt_notes(asked: HuntAsked, found: HuntFound, wanted: ShownTry | None, other: ShownTry | None) -> list[str]:
    """Return what is to be known; `wanted`, `other`: the try that is as wanted, and one that is not."""
    notes = [f"not recorded: {asked.problem}"] if asked.problem is not None else []
    notes += found.problems
    if found.timed_out:
        notes.append(_time_was_over(asked, found))
    if found.hit is None:
        return [*notes, *_of_none(asked, found, other)]
    run = None if wanted is None else wanted.run
    notes += _of_found(asked, found)
    if asked.problem is None and run is None:
        notes.append(
            f"it was not caught in a record, in {found.caught_in} more tries: recording changes when things happen"
        )
    plain = found.made - found.recorded
    if asked.problem is None and plain and found.fitted == found.recorded_fitted == found.recorded:
        notes.append(
            f"all {found.recorded} recorded tries {asked.word}, and none of {plain} others: that recording is slow "
            "decides"
        )
    return [*notes, _next(asked, found, run, other)]


def _time_was_over(asked: HuntAsked, found: HuntFound) -> str:
    if not found.made:
        return f"the time was over, {asked.timeout:g} s, before the first try was: pass a longer timeout"
    took = "" if found.last is None else f", the last of {found.last.seconds:.2g} s"
    return f"the time was over, {asked.timeout:g} s, after {_tries(found.made)}{took}: pass a longer timeout"


def _of_none(asked: HuntAsked, found: HuntFound, other: ShownTry | None) -> list[str]:
    """Return what is said where no try was as wanted."""
    if found.never_known:
        return [f"`until` could not be judged in any of {_tries(found.made)}: {found.never_known}"]
    if not found.made:
        return []
    tried = "hash seed, random seed and how often threads are switched" + (", order of tasks" if asked.shake else "")
    said = f"not found: none of {_tries(found.made)} {asked.word}, each with its own {tried}"
    if asked.until == "passes" and other is not None and other.run is not None:
        return [said, f"next: it fails always, so why(run='{other.run}') says what led to it"]
    more = min(_MOST_TIMES, 10 * max(asked.times, found.made))
    ways = [f"times={more}, as what happens once in n tries takes three times n"] if more > asked.times else []
    ways += [] if asked.shake else ["shake=true, where asyncio tasks may take other turns"]
    elsewhere = "; if it is so only elsewhere, look for what differs there: files, `env`, `args`, other programs, load"
    return [said, f"next: {', or '.join(ways)}{elsewhere}" if ways else f"next: {elsewhere[2:]}"]


def _of_found(asked: HuntAsked, found: HuntFound) -> list[str]:
    """Return what is said where a try was as wanted."""
    if found.fitted == found.made:
        rare = {"fails": "it fails always, which is not rare", "passes": "nothing has failed"}
        said = f"all {found.made} tries {asked.word}" if found.made > 1 else f"the only try {asked.word}"
        return [f"{said}: {rare.get(asked.until, 'there is none to compare with')}"]
    first = found.hit.conditions.number if found.hit is not None else 0
    said = f"found: {found.fitted} of {_tries(found.made)} {asked.word}, the first to end was try {first}"
    return [said, *repeats_notes(found, asked.word)]


def _next(asked: HuntAsked, found: HuntFound, run: str | None, other: ShownTry | None) -> str:
    if run is None:
        return "next: `output` has what it printed; debug_launch runs it with a breakpoint where it goes wrong"
    if asked.until == "fails":
        return f"next: why(run='{run}') says what led to it"
    if asked.until != "passes":
        return f"next: why(run='{run}', expression=…) says where a value comes from"
    if other is not None and other.run is not None:
        return f"next: why(run='{other.run}') says what led to the failure of the others"
    return "next: what fails elsewhere finds other things there: files, `env`, `args`, other programs, load"


def _tries(made: int) -> str:
    return "1 try" if made == 1 else f"{made} tries"
