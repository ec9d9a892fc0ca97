"""How fuzzed code runs: in virtual time, in bounds, and without a word of complaint."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import trio
from hypothesis import settings
from trio.testing import MockClock

PATIENCE = 10_000.0
"""Virtual seconds. The longest wait that a tool accepts is 3600; what takes longer hangs."""


def run(main: Callable[[], Awaitable[None]]) -> None:
    """On a clock that jumps, in bounded virtual time; an error in the log is an error."""

    async def bounded() -> None:
        with trio.fail_after(PATIENCE):
            await main()

    with no_error_logged():
        trio.run(bounded, clock=MockClock(autojump_threshold=0))


class _Complaints(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def no_error_logged() -> Iterator[None]:
    """What we catch and log because it is a bug of ours is a bug of ours."""
    complaints = _Complaints()
    logging.getLogger().addHandler(complaints)
    logging.disable(logging.WARNING)  # of which there are many, for good reasons
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        logging.getLogger().removeHandler(complaints)
    for record in complaints.records:
        raise AssertionError(f"{record.name}: {record.getMessage()}") from (record.exc_info or (None, None))[1]


def _current() -> settings:
    profile = settings.default
    if profile is None:
        raise AssertionError("tests/conftest.py loads one")
    return profile


whole_server = settings(max_examples=_current().max_examples // 4)
"""Each example starts and ends a server, in some ten milliseconds."""
