"""Checks of what runs inside the program, on every interpreter: plain functions and asserts, in the Python of 3.8.

Run by `python -m tests.probe.checks values`, and on each interpreter by test_inside.py.
"""

from typing import Any


def about_a_bound(check: Any) -> Any:
    """Give a check the usual times, as what happens at their end is its subject; others have far longer."""
    check.is_about_a_bound = True
    return check
