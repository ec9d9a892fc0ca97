"""What a program that has ended printed of its exceptions."""

import pytest

from trio_debugmcp.server.answers.failures.printed import is_of_type


@pytest.mark.parametrize(
    ("printed", "name", "same"),
    [
        ("ValueError: bad", "ValueError", True),
        ("ValueError", "ValueError", True),
        ("shop.Closed: at night", "Closed", True),
        ("shop.Closed: at night", "shop.Closed", True),
        ("std::runtime_error: bad", "std::runtime_error", True),
        ("SIGSEGV", "SIGSEGV", True),
        ("NotClosed: at night", "Closed", False),
        ("ValueErrors: bad", "ValueError", False),
        ("OSError: see shop.Closed", "Closed", False),
    ],
)
def test_an_exception_is_known_by_its_type_with_its_module_or_without(printed: str, name: str, same: bool) -> None:
    assert is_of_type(printed, name) is same
