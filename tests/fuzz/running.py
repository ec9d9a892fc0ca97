"""Runs fuzzed code in virtual time, within bounds, and fails if an error is logged."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import trio
from hypothesis import settings
from trio.testing import MockClock

TEST_SECONDS = 10_000.0
"""Virtual seconds for one input. The longest wait that a tool accepts is 3600; a longer one hangs."""


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Run on a mock clock, for `TEST_SECONDS` at most; an error in the log fails the test."""

    async def bounded() -> None:
        with trio.fail_after(TEST_SECONDS):
            await main()

    with no_error_logged():
        trio.run(bounded, clock=MockClock(autojump_threshold=0))


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def no_error_logged() -> Iterator[None]:
    """Fail if an error is logged: errors that are caught and logged are defects, too."""
    errors = _Errors()
    logging.getLogger().addHandler(errors)
    logging.disable(logging.WARNING)  # there are many, about invalid inputs
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        logging.getLogger().removeHandler(errors)
    for record in errors.records:
        raise AssertionError(f"{record.name}: {record.getMessage()}") from (record.exc_info or (None, None))[1]


def share(divisor: int) -> settings:
    """Return settings that divide how many inputs the profile wants, for tests that take long for each."""
    profile = settings.default
    if profile is None:
        raise AssertionError("tests/conftest.py loads one")
    return settings(max_examples=profile.max_examples // divisor)


whole_server = share(4)
"""For examples that start and end a server, which takes some ten milliseconds."""
