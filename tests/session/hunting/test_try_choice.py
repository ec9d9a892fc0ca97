"""Which tries a hunt makes: until one is as wanted, that one in a record, and what its conditions decide."""

from collections.abc import Callable

from msgspec.structs import replace

from trio_debugmcp.dap.profiles.starts import RunRecording
from trio_debugmcp.session.hunting.hunt_plan import CALM_SECONDS, HuntPlan, TryConditions, TryOutcome
from trio_debugmcp.session.hunting.try_choice import CALM, OTHER_HASH, OTHER_SEED, OTHER_TURNS, SAME, TryChoice

PLAN = HuntPlan(command=("python", "shop.py"), cwd="/", recording=RunRecording("/"), times=100)


def hunted(
    fails: Callable[[TryConditions], bool],
    plan: HuntPlan = PLAN,
    recorded_seconds: float = 1.0,
) -> TryChoice:
    """Make all tries, one after the other, of a program of which this is known."""
    choice = TryChoice(plan)
    while (conditions := choice.next()) is not None:
        directory = f"/try-{conditions.number}" if conditions.records else None
        has_failed = fails(conditions)
        code = 1 if has_failed else 0
        choice.came(
            TryOutcome(
                conditions,
                code,
                recorded_seconds if conditions.records else 1.0,
                "",
                "",
                directory=directory,
                fits=has_failed,
            )
        )
        if choice.is_over:
            break
    return choice


def repeats(choice: TryChoice) -> dict[str, tuple[int, int]]:
    return {kind: (each.fitted, each.made) for kind, each in choice.repeated.items() if each.made}


def test_what_the_hash_seed_decides_fails_again_with_it_and_passes_with_others() -> None:
    choice = hunted(lambda conditions: conditions.hash_seed == 17)
    assert choice.kept is not None
    assert choice.other is not None
    assert (choice.kept.conditions.hash_seed, choice.kept.conditions.seed) == (17, 17)
    assert repeats(choice) == {SAME: (3, 3), OTHER_HASH: (0, 3)}
    assert choice.other.conditions.seed == 17, "the one to compare with differs in nothing else"


def test_what_the_random_seed_decides_fails_with_every_hash_seed() -> None:
    choice = hunted(lambda conditions: conditions.seed == 20)
    assert repeats(choice) == {SAME: (3, 3), OTHER_HASH: (3, 3), OTHER_SEED: (0, 3)}
    assert choice.other is not None
    assert choice.other.conditions.hash_seed == 20


def test_what_the_order_of_tasks_decides_fails_with_all_other_seeds() -> None:
    choice = hunted(lambda conditions: conditions.turns == 9, replace(PLAN, shakes=True))
    assert repeats(choice) == {SAME: (3, 3), OTHER_HASH: (3, 3), OTHER_SEED: (3, 3), OTHER_TURNS: (0, 3)}


def test_a_race_that_slowness_makes_certain_passes_when_threads_are_seldom_switched() -> None:
    choice = hunted(lambda conditions: conditions.records and conditions.interval != CALM_SECONDS)
    alike = (3, 3)
    assert repeats(choice) == {SAME: alike, OTHER_HASH: alike, OTHER_SEED: alike, CALM: (0, 3)}
    assert choice.other is not None, "there is one to compare with"


def test_what_no_seed_decides_passes_under_the_same_conditions() -> None:
    choice = hunted(lambda conditions: conditions.number % 20 == 0)
    assert choice.kept is not None
    assert choice.other is not None
    assert repeats(choice)[SAME] == (0, 1)
    assert choice.other.conditions.hash_seed == choice.kept.conditions.hash_seed


def test_what_always_fails_is_repeated_a_few_times_and_no_more() -> None:
    choice = hunted(lambda _: True)
    assert (choice.made, choice.fitted, choice.other) == (13, 13, None)


def test_what_never_fails_is_tried_as_often_as_was_asked_for() -> None:
    choice = hunted(lambda _: False)
    assert (choice.made, choice.hit) == (100, None)
    assert choice.other is not None, "one that passed is kept"


def test_a_failure_that_hides_from_the_recorder_is_given_up_after_as_many_tries_again() -> None:
    choice = hunted(lambda conditions: not conditions.records and conditions.number > 10)
    assert choice.hit is not None
    assert (choice.kept, choice.caught_in) == (None, 100)


def test_recorded_tries_get_half_of_the_time_however_slow_they_are() -> None:
    made: list[bool] = []

    def fails(conditions: TryConditions) -> bool:
        made.append(conditions.records)
        return False

    hunted(fails, recorded_seconds=9.0)
    assert 8 <= sum(made) <= 12, "of 100"


def test_without_a_recorder_the_conditions_are_found_all_the_same() -> None:
    plan = replace(PLAN, recording=None)
    choice = hunted(lambda conditions: conditions.hash_seed == 5, plan)
    assert (repeats(choice), choice.kept) == ({SAME: (3, 3), OTHER_HASH: (0, 3)}, None)
    assert choice.is_over


def test_no_try_is_handed_out_twice_while_others_are_under_way() -> None:
    choice = TryChoice(replace(PLAN, times=5))
    numbers = [conditions.number for _ in range(8) if (conditions := choice.next()) is not None]
    assert numbers == [1, 2, 3, 4, 5]
    assert not choice.is_over
