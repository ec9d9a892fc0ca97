"""What is said of exceptions at which the program was not stopped."""

from trio_debugmcp.session.stops.raised import passed_over


def test_exceptions_that_were_passed_over_are_counted_by_type_the_most_frequent_first() -> None:
    assert passed_over({}) is None
    assert passed_over({"Sold": 1}) == "passed over 1 exception that no breakpoint asks for: Sold 1"
    kinds = {"A": 1, "B": 299, "C": 3, "D": 3, "E": 2, "F": 1, "of other types": 4}
    said = "passed over 313 exceptions that no breakpoint asks for: B 299, of other types 4, C 3, D 3, E 2, others 2"
    assert passed_over(kinds) == said
