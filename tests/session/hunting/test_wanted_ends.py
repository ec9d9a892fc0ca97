"""What a hunt is after: how a run ends, or what a variable was in its record."""

import pytest

from tests.runs.recorded_programs import python, run_recorded
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.hunting.hunt_plan import TryConditions, TryOutcome
from trio_debugmcp.session.hunting.wanted_ends import WantedEnd


def ended(exit_code: int | None = 0, stderr: str = "", directory: str | None = None) -> TryOutcome:
    return TryOutcome(TryConditions(1, 1, 1), exit_code, 0.5, "42 items\n", stderr, directory=directory)


async def test_an_expression_is_judged_over_how_the_run_ended() -> None:
    assert await WantedEnd("exit_code == 3").fits(ended(3))
    assert not await WantedEnd("exit_code == 3").fits(ended(4))
    assert await WantedEnd("'timeout' in stderr and exit_code != 0").fits(ended(1, "a timeout\n"))
    assert await WantedEnd("'42' in stdout and seconds < 1").fits(ended())
    assert await WantedEnd("exit_code is None").fits(ended(None))
    assert await WantedEnd("fails").fits(ended(None)), "what does not end has failed"
    assert await WantedEnd("passes").fits(ended(0))


@pytest.mark.real
async def test_an_expression_over_a_variable_holds_if_it_held_at_a_write() -> None:
    ran = run_recorded("total = 0\nfor n in range(5):\n    total += n\ntotal = 0\n", python(3, 13))
    outcome = ended(directory=str(ran.folder / "run"))
    for text, holds in (("total > 9", True), ("total > 10", False), ("n == 4", True), ("3 < total < 7", True)):
        end = WantedEnd(text)
        assert (end.is_of_record, await end.fits(outcome)) == (True, holds), text
    unknown = WantedEnd("totl > 9")
    assert not await unknown.fits(outcome)
    assert unknown.never_known is not None
    assert "`totl` was never written" in unknown.never_known


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a > b", "it names a, b"),
        ("total > 3 and exit_code == 1", "it names exit_code, total"),
        ("f(x)", "cannot be judged over recorded values"),
        ("x >", "is not an expression"),
        ("failed()", "cannot be judged"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match="`until` is 'fails', 'passes', or an expression") as caught:
        WantedEnd(text)
    assert (caught.value.code, reason in caught.value.message) == ("INVALID_CONDITION", True)
