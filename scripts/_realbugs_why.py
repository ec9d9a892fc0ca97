"""Asks recorded runs for the cause of bugs of public projects: `scripts/realbugs --why`.

Each bug is a commit that mended it: its parent is checked out with the test that the commit brought. A rule that knows
nothing of the bug asks `why()`, why the nearest line outside of the test ran, why its value, and where the run parts
from that of the mended code. Counted are calls and bytes until an answer has a line of the fix, or of its function.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trio
from _bench import Rpc, open_rpc
from _economy import compact
from _real_environments import CACHE, INSTALL_SECONDS, installed, pythons, version

PLAY_SECONDS = 300

REQUIREMENTS = ["pytest==8.3.5", "pygments==2.18.0", "markupsafe==3.0.2", "pyyaml==6.0.2", "markdown-it-py==3.0.0"]
REQUIREMENTS += ["hypothesis==6.131.0"]


class RealBug(NamedTuple):
    """A bug: the repository, the commit that mended it, the folder with its tests, and the one that failed before."""

    name: str
    repository: str
    fix: str
    tests: str
    test: str


BUGS = [
    RealBug(
        "sqlparse",
        "andialbrecht/sqlparse",
        "5ca50a2ee9b39e9efeea33e01f132d628144fb69",
        "tests",
        "tests/test_split.py::test_split_begin_transaction",
    ),
    RealBug(
        "jinja",
        "pallets/jinja",
        "66587ce989e5a478e0bb165371fa2b9d42b7040f",
        "tests",
        "tests/test_regression.py::test_load_parameter_when_set_in_all_if_branches",
    ),
    RealBug(
        "click",
        "pallets/click",
        "762c97eef7c1b3779678992f26a553a2a8c80793",
        "tests",
        "tests/test_basic.py::test_choice_argument_optional_metavar",
    ),
    RealBug(
        "networkx",
        "networkx/networkx",
        "139259c6c5479b35ddde9318203ae715b25a3192",
        "networkx/algorithms/isomorphism/tests",
        "networkx/algorithms/isomorphism/tests/test_ismags.py::TestSubgraphIsomorphism::test_edgeless_subgraph_with_edge_match",
    ),
    RealBug(
        "rich",
        "Textualize/rich",
        "a8c3b8700bc05222b8e6ca855c618f30a8c8eac8",
        "tests",
        "tests/test_segment.py::test_split_cells_mixed",
    ),
    RealBug(
        "attrs",
        "python-attrs/attrs",
        "e048efcb395443608d184a149c0adbca166cb833",
        "tests",
        "tests/test_hooks.py::TestTransformHook::test_hook_reorder_fields_before_order_check",
    ),
]


class Asked(NamedTuple):
    """One call: its name, the bytes of question and answer, its seconds, and what of the fix the answer has."""

    tool: str
    size: int
    seconds: float
    found: str


def git(place: Path, *words: str) -> str:
    command = ["git", "-C", str(place), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS).stdout


def changed(bug: RealBug, root: Path) -> dict[str, tuple[set[int], set[int]]]:
    """Return the lines that the fix changed in each file, and those of the functions around them, as they were."""
    text = git(root, "diff", "-U0", f"{bug.fix}~1", bug.fix, "--", "*.py", f":(exclude){bug.tests}")
    found: dict[str, tuple[set[int], set[int]]] = {}
    file = ""
    for line in text.splitlines():
        if line.startswith("--- a/"):
            file = line[6:]
        elif (hunk := re.match(r"@@ -(\d+)(?:,(\d+))? ", line)) and file:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines = set(range(first, first + max(count, 2)))  # what is only added: between two lines
            own, around = found.setdefault(file, (set(), set()))
            own |= lines
            for node in ast.walk(ast.parse((root / file).read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                    whole = range(node.lineno, node.end_lineno + 1)
                    around |= set(whole) if first in whole else set()
    return found


def named(answer: str, changes: dict[str, tuple[set[int], set[int]]]) -> str:
    """Return what of the fix an answer has: a line, the function, or nothing."""
    places = {(file, int(line)) for file, line in re.findall(r"([\w./-]+\.py):(\d+)", answer)}
    kinds = set()
    for file, line in places:
        for path, (own, around) in changes.items():
            if path.endswith(file) or file.endswith(path):
                kinds |= {"line"} if line in own else {"function"} if line in around else set()
    return "line" if "line" in kinds else "function" if kinds else ""


def next_line(because: Sequence[str], test: str) -> str | None:
    """Return the number of the nearest line outside of the test that is a condition, or has the result of a call."""
    for line in reversed(because):
        number, _, rest = line.partition(" ")
        parts = rest.split(" | ")
        is_outside = test not in parts[0] and len(parts) > 1
        if is_outside and (parts[1].startswith(("if ", "elif ", "while ")) or "(" in parts[1]):
            return number
    return None


async def asked(rpc: Rpc, bug: RealBug, python: str, root: Path, *, show: bool) -> list[Asked]:
    calls: list[Asked] = []
    changes = changed(bug, root)

    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        before = time.perf_counter()
        answer: dict[str, Any] = (await rpc.call(tool, **arguments))["structuredContent"]
        text = compact(answer)
        size = len((tool + compact(arguments) + text).encode())
        found = named(text, changes) if tool != "debug_launch" else ""
        calls.append(Asked(tool, size, time.perf_counter() - before, found))
        if show:
            print(f"  > {tool}{compact(arguments)}\n  < {text}")
        return answer

    launch = {
        "test": bug.test,
        "record": True,
        "replace": True,
        "adapter_options": {"python": [python]},
        "env": {"PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])},
    }
    await call("debug_launch", **launch)
    because = (await call("why"))["because"]
    at = next_line(because, bug.test.partition("::")[0].rpartition("/")[2])
    if at is not None:
        await call("why", at=at, what="run")
        await call("why", at=at)
    git(root, "checkout", "-q", bug.fix)
    await call("debug_launch", **launch)
    await call("run_compare", good="run-2", bad="run-1")
    await rpc.call("debug_disconnect")
    return calls


def plain(bug: RealBug, python: str, root: Path) -> tuple[int, int]:
    """Return the bytes of what `pytest -l` prints, and of the files that the fix changed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])}
    command = [python, "-m", "pytest", "-q", "-l", "-p", "no:cacheprovider", bug.test]
    ran = subprocess.run(command, check=False, cwd=root, env=environment, capture_output=True, timeout=PLAY_SECONDS)
    return len(ran.stdout), sum((root / file).stat().st_size for file in changed(bug, root))


async def main() -> None:
    words = argparse.ArgumentParser(prog="scripts/realbugs --why", description=__doc__)
    words.add_argument("--answers", action="store_true", help="print each call with its answer")
    words.add_argument("--python", action="append", help="CPython 3.12 or 3.13; default: the newest of pyenv")
    words.add_argument("--git", default="https://github.com/{}", help="where the repositories are: {} is OWNER/NAME")
    words.add_argument("names", metavar="NAME", nargs="*", help=", ".join(bug.name for bug in BUGS))
    options = words.parse_args()
    python = installed(pythons(options)[0], CACHE / f"bugs-{version(pythons(options)[0])}", REQUIREMENTS)
    print("| bug | found by (calls / bytes) | each answer: bytes, seconds | pytest -l | files |\n|---|---|---|---|---|")
    for bug in [bug for bug in BUGS if not options.names or bug.name in options.names]:
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory, bug.name)
            git(Path(directory), "clone", "-q", "--no-checkout", options.git.format(bug.repository), bug.name)
            git(root, "checkout", "-q", f"{bug.fix}~1")
            git(root, "checkout", "-q", bug.fix, "--", bug.tests)
            printed, read = plain(bug, python, root)
            server = ["sh", "-c", 'cd "$0" && exec "$@"', str(root), sys.executable, "-m", "trio_debugmcp", "serve"]
            with trio.fail_after(PLAY_SECONDS):
                async with open_rpc(server) as rpc:
                    calls = await asked(rpc, bug, python, root, show=options.answers)
        by = []
        for kind in ("line", "function"):
            first = next((place for place, one in enumerate(calls) if one.found == kind), None)
            if first is not None:
                by.append(f"{kind} by {calls[first].tool}: {first + 1} / {sum(c.size for c in calls[: first + 1]):,}")
        each = ", ".join(f"{one.tool} {one.size:,} {one.seconds:.1f}" for one in calls)
        print(f"| {bug.name} | {'; '.join(by) or 'not found'} | {each} | {printed:,} | {read:,} |", flush=True)


if __name__ == "__main__":
    trio.run(main)
