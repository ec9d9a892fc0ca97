"""The tiers of tests: which marker a test needs, and what a test without one may not do.

A test without a marker runs in memory, and belongs to `scripts/test --quick`. `real` starts a process or opens a
connection; `nightly` takes longer than a change should wait for, and says why. A test that starts a process without
saying so fails, as it would make the quick tier slow and its results depend on the machine.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).parent

REAL_FOLDERS = tuple(f"{HERE / name}/" for name in ("dashboard", "languages", "real"))
"""All tests in these are `real`."""

NOT_IN_MEMORY = frozenset(
    {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.bind", "socket.connect"}
)
"""Audit events of what only `real` tests do."""

_refused: list[str] | None = None
"""What the running test has tried; None: it may."""


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark the tests of folders, and refuse a marker without its reason."""
    for item in items:
        if str(item.path).startswith(REAL_FOLDERS):
            item.add_marker(pytest.mark.real)
        for marker in item.iter_markers("nightly"):
            if not (len(marker.args) == 1 and isinstance(marker.args[0], str) and marker.args[0]):
                raise pytest.UsageError(f"{item.nodeid}: `nightly` needs its reason, as a text")


@contextmanager
def guarded(item: pytest.Item) -> Iterator[None]:
    """Fail a test that is not marked `real` if it starts a process or opens a connection in this block."""
    global _refused  # noqa: PLW0603
    before = _refused
    refused: list[str] | None = None if item.get_closest_marker("real") else []
    _refused = refused
    try:
        yield
    finally:
        _refused = before
    if refused:  # whatever became of the exception
        pytest.fail(f"not marked `real`, but: {', '.join(refused)}", pytrace=False)


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if _refused is not None and event in NOT_IN_MEMORY:
        _refused.append(f"{event} {arguments}")
        raise RuntimeError(f"{event}: a test that does this must be marked `real`")


sys.addaudithook(_audit)
