"""What is to be known beside the tries of a hunt: what was found, what was tried, and what to do next."""

import pytest
from msgspec.structs import replace

from trio_debugmcp.server.answers.recorded.hunt_answers import ShownTry
from trio_debugmcp.server.answers.recorded.hunt_notes import HuntAsked, hunt_notes
from trio_debugmcp.session.hunting.hunt_plan import TryConditions, TryOutcome
from trio_debugmcp.session.hunting.hunting import HuntFound
from trio_debugmcp.session.hunting.try_choice import CALM, OTHER_HASH, OTHER_SEED, SAME, RepeatedTries

NONE_FITTED = HuntFound(
    made=30, fitted=0, recorded=15, recorded_fitted=0, searched=0, hit=None, kept=None, other=None, repeated=[]
)

FAILED = TryOutcome(TryConditions(5, 5, 5, records=True), 1, 0.2, "", "", directory="/run", fits=True)

PASSED = replace(FAILED, exit_code=0, fits=False)

SOME = replace(NONE_FITTED, made=20, fitted=7, recorded=15, recorded_fitted=6, hit=FAILED, kept=FAILED)


def notes(
    until: str, found: HuntFound, wanted: str | None, other: str | None = None, *, shake: bool = False
) -> list[str]:
    return hunt_notes(
        HuntAsked(until, 30, 120.0, shake),
        found,
        None if wanted is None else ShownTry(FAILED, wanted),
        None if other is None else ShownTry(PASSED, other),
    )


@pytest.mark.parametrize("shakes", [False, True])
def test_a_hunt_without_a_find_says_what_was_tried_and_advises_what_was_not(shakes: bool) -> None:
    said, advice = notes("fails", NONE_FITTED, None, "run-1", shake=shakes)
    assert said.startswith("not found: none of 30 tries failed, each with its own hash seed, random seed and ")
    assert advice.startswith("next: times=300, as what happens once in n tries takes three times n")
    assert ("order of tasks" in said, "shake=true" in advice) == (shakes, not shakes)


def test_what_never_passes_is_asked_why() -> None:
    said, advice = notes("passes", NONE_FITTED, None, "run-8")
    assert said.startswith("not found: none of 30 tries passed")
    assert advice == "next: it fails always, so why(run='run-8') says what led to it"


def test_what_could_not_be_judged_is_not_called_not_found() -> None:
    found = replace(NONE_FITTED, never_known="`a.b` was never written")
    assert notes("a.b > 3", found, None) == ["`until` could not be judged in any of 30 tries: `a.b` was never written"]


def test_a_find_says_how_rare_it_is_and_the_next_question() -> None:
    said, advice = notes("fails", SOME, "run-2", "run-1")
    assert said == "found: 7 of 20 tries failed, the first to end was try 5"
    assert advice == "next: why(run='run-2') says what led to it"
    said, advice = notes("passes", SOME, "run-2", "run-1")
    assert advice == "next: why(run='run-1') says what led to the failure of the others"


def test_what_always_fails_is_not_called_rare() -> None:
    said, advice = notes("fails", replace(SOME, fitted=20), "run-2")
    assert said == "all 20 tries failed: it fails always, which is not rare"
    assert advice == "next: why(run='run-2') says what led to it"


def test_a_find_that_is_in_no_record_says_so() -> None:
    _, missed, advice = notes("fails", replace(SOME, caught_in=30), None)
    assert missed.startswith("it was not caught in a record, in 30 more tries")
    assert advice.startswith("next: `output` has what it printed")


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (3, ": none of these decides alone, as far as so few tries show"),
        (1, f": {OTHER_SEED} does not prevent it, and did in 2 of 3"),
        (0, ": the random seed decides"),
    ],
)
def test_what_repeated_conditions_show_is_said_even_if_it_is_little(seeds: int, words: str) -> None:
    kinds = [RepeatedTries(SAME, 3, 3), RepeatedTries(OTHER_HASH, 3, 3), RepeatedTries(OTHER_SEED, 3, seeds)]
    kinds += [RepeatedTries(CALM, 3, 3)] if seeds == 3 else []
    (tried,) = [note for note in notes("fails", replace(SOME, repeated=kinds), "run-2") if "tried again" in note]
    assert words in tried


def test_a_time_that_was_over_says_after_how_many_tries() -> None:
    said = notes("fails", replace(NONE_FITTED, timed_out=True, last=PASSED), None)[0]
    assert said == "the time was over, 120 s, after 30 tries, the last of 0.2 s: pass a longer timeout"
    (said,) = notes("fails", replace(NONE_FITTED, timed_out=True, made=0), None)
    assert said == "the time was over, 120 s, before the first try was: pass a longer timeout"
