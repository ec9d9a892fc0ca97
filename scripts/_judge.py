"""Compares verdicts at the raise with what then happens, over CPython's own tests. Run by scripts/judge."""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.engine.test_catching import INTERPRETERS  # noqa: E402

SUBJECTS = [
    *("test.test_contextlib", "test.test_contextlib_async", "test.test_iter", "test.test_functools", "test.test_dict"),
    *("test.test_configparser", "test.test_generators", "test.test_json", "test.test_descr", "test.test_coroutines"),
    *("test.test_asyncgen", "test.test_exceptions", "test.test_exception_group", "test.test_except_star"),
    *("test.test_asyncio.test_tasks", "test.test_asyncio.test_locks", "test.test_asyncio.test_taskgroups"),
    *("test.test_asyncio.test_streams", "test.test_asyncio.test_futures", "test.test_asyncio.test_queues"),
    *("test.test_unittest.test_case", "test.test_unittest.testmock.testpatch", "test.test_collections"),
    *("test.test_enum", "test.test_weakref", "test.test_typing", "test.test_argparse", "test.test_io"),
]

MINUTES = 10
"""Time for one test module."""


def judged(python: str, subject: str) -> dict[str, Any] | None:
    """Return the summary of a test module, None if it did not end well."""
    try:
        ran = subprocess.run(
            [python, "-m", "tests.engine.library", subject],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    lines = [line for line in ran.stdout.splitlines() if line.startswith('{"subject"')]
    return json.loads(lines[-1]) if lines else None


def report(python: str, subjects: list[str]) -> int:
    """Print a line for each test module and the sum; return how many verdicts are wrong."""
    sums = {name: Counter[str]() for name in ("verdicts", "outcomes", "reasons")}
    print(f"{python}\n{'raises':>9} {'wrong':>6} {'unknown':>8} {'near µs':>8} {'p99':>6}")
    failed = 0
    for subject in subjects:
        found = judged(python, subject)
        if found is None:
            print(f"{subject}: did not end")
            failed += 1
            continue
        for name, total in sums.items():
            total.update(found[name])
        verdicts = Counter(found["verdicts"])
        wrong = verdicts["wrong"] + verdicts["misplaced"]
        (_, median, most) = found["near"]
        print(f"{verdicts.total():9} {wrong:6} {verdicts['unknown']:8} {median:8.1f} {most:6.1f} {subject}", flush=True)
        print("".join(f"          {each}\n" for each in found["bad"]), end="")
    for name, total in sums.items():
        print(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in total.most_common(12)))
    return failed + sums["verdicts"]["wrong"] + sums["verdicts"]["misplaced"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/judge", description=__doc__)
    parser.add_argument("--python", action="append", help="an interpreter; default: those of pyenv since 3.12")
    parser.add_argument("subjects", metavar="TEST", nargs="*", help="a test module, or an import statement")
    options = parser.parse_args()
    pythons = options.python or list(INTERPRETERS.values())
    wrong = sum(report(python, options.subjects or SUBJECTS) for python in pythons)
    print("no verdict is wrong" if not wrong else f"{wrong} WRONG")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
