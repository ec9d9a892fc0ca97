"""What is said of exceptions at which the program was not stopped, and which of them fail a test."""

import pytest

from trio_debugmcp.dap.profiles.golang import GoThrown
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.session.stops.raised import names_of, passed_over
from trio_debugmcp.session.stops.raised import test_failure as failure_at
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import Location

FAIL, GOPANIC = "testing.(*common).Fail", "runtime.gopanic"


def test_exceptions_that_were_passed_over_are_counted_by_type_the_most_frequent_first() -> None:
    assert passed_over({}) is None
    assert passed_over({"Sold": 1}) == "passed over 1 exception that no breakpoint asks for: Sold 1"
    kinds = {"A": 1, "B": 299, "C": 3, "D": 3, "E": 2, "F": 1, "of other types": 4}
    said = "passed over 313 exceptions that no breakpoint asks for: B 299, of other types 4, C 3, D 3, E 2, others 2"
    assert passed_over(kinds) == said


@pytest.mark.parametrize(
    ("stack", "counts"),
    [
        ([FAIL, "testing.(*common).Fatalf", "shop.TestSum"], True),
        ([FAIL, FAIL, "testing.tRunner"], False),  # of the test that it is a part of
        ([FAIL, "testing.tRunner.func1.1", GOPANIC, "shop.Push", "shop.TestPush"], False),
        ([FAIL, "testing.(*common).Errorf", "shop.TestGuarded.func1", GOPANIC, "shop.TestGuarded"], True),
        ([FAIL, "testing.(*common).Errorf", "suite.failOnPanic", "suite.Run.func1", GOPANIC, "shop.TestIn"], True),
    ],
)
def test_a_test_of_go_that_panics_is_left_to_the_panic_which_says_what_it_is(stack: list[str], counts: bool) -> None:
    frames = tuple(
        StackFrame(
            number, name, Location("/shop/shop.go", number, None, name, None), name.startswith("shop."), label=name
        )
        for number, name in enumerate(stack, 1)
    )
    raised = failure_at(GoThrown(), Findings(1, (), frames))
    assert raised is not None
    assert (raised.counts, raised.info.type) == (counts, "test failure")
    assert failure_at(GoThrown(), Findings(1, (), frames[1:][-1:])) is None


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("ValueError", {"ValueError"}),
        ("shop.Till$Bad", {"shop.Till$Bad", "shop.Till.Bad", "Till$Bad", "Till.Bad", "Bad"}),
        ("Shop::OutOfStock", {"Shop::OutOfStock", "OutOfStock"}),
        ("Shop\\OutOfStock", {"Shop\\OutOfStock", "OutOfStock"}),
        ("builtins.KeyError", {"builtins.KeyError", "KeyError"}),
    ],
)
def test_a_type_is_known_by_its_name_with_and_without_what_it_is_in(kind: str, names: set[str]) -> None:
    assert set(names_of(kind)) == names
