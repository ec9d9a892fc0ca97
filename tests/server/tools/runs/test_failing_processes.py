"""The process of a run that raised an exception is found, where another one only got it from a library."""

import pytest

from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.runs.why import WhyAnswer
from trio_debugmcp.server.tools.runs.failing_processes import FailureSearch
from trio_debugmcp.state.payloads import ExceptionInfo

PASSED_ON = WhyAnswer(
    "ValueError('too large')",
    [BecauseLine("#20", "/src/pool.py", 13, "main", "pool.map(scale, [5])")],
    failed="ValueError('too large')",
    is_passed_on=True,
)
RAISED = WhyAnswer("ValueError('too large')", [], failed="ValueError('too large')")
ANOTHER = WhyAnswer("KeyError('k')", [], failed="KeyError('k')")
WAITS = WhyAnswer("job = jobs.get()", [])


def settled(stopped: ExceptionInfo | None, *answers: WhyAnswer) -> tuple[int, str]:
    """Return the number of the process that is settled on, 0 for none, and what is said of the first one."""
    search = FailureSearch(stopped)
    for search.process, answer in enumerate(answers, 1):
        if search.settles(answer):
            return search.process, search.elsewhere
    return 0, search.elsewhere


def test_the_process_that_raised_what_another_one_got_is_the_one() -> None:
    said = "process 1 got this exception at #20, line 13 in main: why(process=1) is about that"
    assert settled(None, PASSED_ON, WAITS, ANOTHER, RAISED) == (4, said)


@pytest.mark.parametrize("others", [(), (WAITS,), (ANOTHER,), (PASSED_ON,)])
def test_where_no_other_process_raised_it_the_first_one_stays(others: tuple[WhyAnswer, ...]) -> None:
    assert settled(None, PASSED_ON, *others) == (0, "")


def test_a_process_that_raised_it_itself_is_not_compared() -> None:
    assert settled(None, RAISED, ANOTHER) == (1, "")
    assert settled(None, WAITS, RAISED) == (1, ""), "at a stop that is no exception"


def test_at_a_stop_with_an_exception_of_a_library_it_is_the_process_that_raised_that() -> None:
    stopped = ExceptionInfo("ValueError", "too large", "unhandled")
    assert settled(stopped, WAITS, ANOTHER, RAISED)[0] == 3
    assert settled(stopped, WAITS, ANOTHER)[0] == 0
    assert settled(ExceptionInfo("concurrent.ValueError", "too small", "unhandled"), WAITS, RAISED)[0] == 0
