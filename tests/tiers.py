"""The tiers of tests: which marker a test needs, what a test without one may not do, and which run with both engines.

A test without a marker runs in memory, and belongs to `scripts/test --quick`. `real` starts a process or opens a
connection; `nightly` takes longer than a change should wait for, and says why. A test that starts a process without
saying so fails, as it would make the quick tier slow and its results depend on the machine. `both_engines` is set here:
these debug programs in Python on the Python of the tests, and `scripts/test` runs them on another one again.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.pythons import Interpreter

HERE = Path(__file__).parent

LANGUAGES, PROGRAMS = f"{HERE / 'languages'}/", f"{HERE / 'real'}/"

REAL_FOLDERS = (f"{HERE / 'dashboard'}/", LANGUAGES, PROGRAMS)
"""All tests in these are `real`."""

ONCE = frozenset(
    f"{HERE / 'real' / name}.py"
    for name in (
        *("test_readme", "test_sizes", "test_stdio_wire", "test_record", "test_update_notifications"),
        *("test_masking", "test_planted_secrets", "test_launch_json"),
        *("test_hunts", "test_recorded_programs", "test_run_answers"),
    )
)
"""Of `real`, what is the same with each engine, as the server does it: commands, the sizes of lists, the transport,
recordings of sessions, notifications, secrets, configurations. And recorded runs: their tests choose a Python that has
the engine which records."""

ELSEWHERE = frozenset({f"{HERE / 'editors' / 'test_real_requests.py'}"})
"""Files of other folders whose tests all debug Python."""

SEVERAL_LANGUAGES = f"{HERE / 'languages' / 'test_several_languages.py'}"

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
        if _debugs_python(item):
            item.add_marker(pytest.mark.both_engines)
        for marker in item.iter_markers("nightly"):
            if not (len(marker.args) == 1 and isinstance(marker.args[0], str) and marker.args[0]):
                raise pytest.UsageError(f"{item.nodeid}: `nightly` needs its reason, as a text")


def _debugs_python(item: pytest.Item) -> bool:
    """Whether the test debugs programs on the Python that runs it, and not on one of its own choice."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    path = str(item.path)
    if path.startswith(PROGRAMS):
        return path not in ONCE and not any(isinstance(each, Interpreter) for each in parameters.values())
    if path in ELSEWHERE or path == SEVERAL_LANGUAGES:
        return True
    return path.startswith(LANGUAGES) and parameters.get("adapter") == "debugpy"


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
