"""Test files of public packages and of CPython under `debug_launch`: the results are those of a plain run, no test that
passes stops, and one that is broken on purpose stops at its failure.

The packages are installed at pinned versions into a virtual environment that is kept (`--cache`); their test files are
of the archives on PyPI, or where these have none of Debian's copy of upstream's. What a plain run fails is left out,
and said.
"""

import hashlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trio
from _real_environments import INSTALL_SECONDS, installed, parser, pythons, version

from trio_debugmcp.testing import connect_stdio

RUN_SECONDS = 900

FEWEST = 20
"""Tests of a suite: fewer were not found, or could not be imported."""

MOST_SHOWN = 10
"""Results of one run that differ; more are counted."""

OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly"]

REQUIREMENTS = ["pytest==8.3.5", "pygments==2.18.0", "hypothesis==6.131.0", "cloudpickle==3.1.1"]
REQUIREMENTS += ["blockbuster==1.5.24", "trustme==1.2.1", "psutil==7.0.0", "trio==0.30.0", "pytest-mock==3.14.0"]
REQUIREMENTS += [
    "ephemeral-port-reserve==1.1.4",
    "pytest-timeout==2.3.1",
    "cryptography==44.0.2",
    "exceptiongroup==1.2.2",
]


class Suite(NamedTuple):
    """Tests of a package. `broken`: the test file of which an assertion is turned round.

    `archive`, `sha256`: where its sources are, if those on PyPI have no tests.
    """

    name: str
    version: str
    tests: Sequence[str]
    broken: str
    archive: str | None = None
    sha256: str = ""


SUITES = [
    Suite(
        "networkx",
        "3.4.2",
        ["networkx/classes/tests", "networkx/utils/tests", "networkx/algorithms/tests/test_cycles.py"],
        "networkx/classes/tests/test_filters.py",
    ),
    Suite("jinja2", "3.1.6", ["tests"], "tests/test_utils.py"),
    Suite("click", "8.1.8", ["tests"], "tests/test_context.py"),
    Suite("more-itertools", "10.5.0", ["tests"], "tests/test_recipes.py"),
    Suite("attrs", "24.2.0", ["tests"], "tests/test_filters.py"),
    Suite(
        "anyio",
        "4.9.0",
        [f"tests/test_{name}.py" for name in ("synchronization", "taskgroups", "from_thread", "to_thread", "lowlevel")],
        "tests/test_to_thread.py",
    ),
    Suite(
        "werkzeug",
        "3.1.3",
        [*(f"tests/test_{name}.py" for name in ("datastructures", "http", "local", "routing", "urls", "wrappers"))],
        "tests/test_urls.py",
    ),
    Suite(
        "rich",
        "13.9.4",
        ["tests"],
        "tests/test_ratio.py",
        "http://deb.debian.org/debian/pool/main/r/rich/rich_13.9.4.orig.tar.xz",
        "5ba60e86750b4520ea44d7adedf3a554ab16112dbfa3c90f506760f8e6411632",
    ),
]

LIBRARY = [
    f"test.test_{name}" for name in ("iter", "contextlib", "functools", "descr", "generators", "coroutines", "dict")
]

_ASSERTION = re.compile(r"(\s+)(?:assert (.*[^\\,(\[{])|self\.assertEqual(\(.*\)))$")


def sources(suite: Suite, cache: Path) -> Path:
    """Return the folder with the test files of a package."""
    folder = cache / "sources" / f"{suite.name}-{suite.version}"
    if folder.exists():
        return folder
    with tempfile.TemporaryDirectory() as place:
        if suite.archive is not None:
            download(suite, Path(place))
        else:
            wanted = f"{suite.name}=={suite.version}"
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", wanted]
            subprocess.run(command, cwd=place, check=True, timeout=INSTALL_SECONDS, stderr=subprocess.PIPE)
        for archive in Path(place).glob("*.tar.*"):
            with tarfile.open(archive) as packed:
                packed.extractall(place, filter="data")
        folder.parent.mkdir(parents=True, exist_ok=True)
        (unpacked,) = (each for each in Path(place).iterdir() if each.is_dir())
        shutil.move(unpacked, folder)
    return folder


def download(suite: Suite, place: Path) -> None:
    """Put the archive with the sources of a suite into a folder.

    Raises:
        RuntimeError: it is not the one that was pinned.
    """
    url = str(suite.archive)
    with urllib.request.urlopen(url, timeout=INSTALL_SECONDS) as answer:
        data = answer.read()
    if hashlib.sha256(data).hexdigest() != suite.sha256:
        raise RuntimeError(f"{url} is not the archive that was pinned")
    (place / url.rpartition("/")[2]).write_bytes(data)


def outcomes(report: Path) -> dict[str, str]:
    """Return what became of each test: passed, skipped (or expected to fail), failure, error."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = [part.tag for part in case if part.tag in ("failure", "error", "skipped")]
        found[f"{case.get('classname')}.{case.get('name')}"] = kinds[0] if kinds else "passed"
    return found


async def debugged(python: str, root: Path, **target: Any) -> tuple[list[str], dict[str, Any]]:
    """Run to the end; return the stops, and the last answer."""
    stops = []
    with trio.fail_after(RUN_SECONDS):
        async with connect_stdio() as client:
            client.timeout = RUN_SECONDS
            options = {"python": [python]}
            answer = await client.call(
                "debug_launch", cwd=str(root), adapter_options=options, stop_at_entry=False, **target
            )
            while answer["state"] == "Paused":
                stops.append(f"{answer.get('exception')} at {answer.get('at')} {answer.get('stack') or ''}")
                answer = await client.call("debug_continue")
    return stops, answer


async def judged(suite: Suite, python: str, root: Path) -> list[str]:
    """Run a suite with and without the debugger; return what is wrong."""
    with tempfile.TemporaryDirectory() as place:
        plain, ours = Path(place, "plain.xml"), Path(place, "debugged.xml")
        command = [python, "-m", "pytest", *OPTIONS, *suite.tests, "--junitxml", str(plain)]
        await trio.run_process(command, cwd=root, check=False, capture_stdout=True, capture_stderr=True)
        expected = outcomes(plain)
        failing = [name for name, what in expected.items() if what in ("failure", "error")]
        left_out = ["-k", " and ".join(f"not {name.rpartition('.')[2].partition('[')[0]}" for name in failing)]
        arguments = [*OPTIONS, *suite.tests[1:], "--junitxml", str(ours), *(left_out if failing else [])]
        stops, answer = await debugged(python, root, test=suite.tests[0], args=arguments)
        wrong = [f"stopped in a test that passes: {stop}" for stop in stops]
        if not ours.exists():
            return [*wrong, f"did not end well: {answer}"]
        seen = outcomes(ours)
        wrong += [
            f"{name}: {expected.get(name)} became {what}" for name, what in seen.items() if expected.get(name) != what
        ]
        if len(seen) - len(failing) < FEWEST:
            wrong.append(f"only {len(seen)} tests ran")
        print(f"  {len(seen)} tests, {len(failing)} left out as they fail without us", flush=True)
    return wrong


def break_one(file: Path) -> int:
    """Turn an assertion of a test file round; return its line."""
    lines = file.read_text().splitlines()
    for number, line in enumerate(lines):
        found = _ASSERTION.match(line)
        if found is None:
            continue
        (indent, asserted, equal) = found.groups()
        lines[number] = f"{indent}assert not ({asserted})" if asserted else f"{indent}self.assertNotEqual{equal}"
        text = "\n".join(lines)
        try:
            compile(text, str(file), "exec")
        except SyntaxError:
            lines[number] = line
            continue
        file.write_text(text + "\n")
        return number + 1
    raise RuntimeError(f"{file} has no assertion on one line")


async def judged_broken(suite: Suite, python: str, root: Path) -> list[str]:
    """Break a test; return what is wrong with the first stop."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / root.name
        shutil.copytree(root, copy, symlinks=True)
        line = break_one(copy / suite.broken)
        stops, _ = await debugged(python, copy, test=suite.broken, args=OPTIONS)
        place_of_it = f"{suite.broken}:{line} "
        return [] if stops and place_of_it in f"{stops[0]} " else [f"no stop at {place_of_it}: {stops}"]


async def judged_library(module: str, python: str, times: int) -> list[str]:
    """Run a test module of CPython several times; return what is wrong."""
    name = module.removeprefix("test.")
    with tempfile.TemporaryDirectory() as place:
        plain, ours = Path(place, "plain.xml"), Path(place, "debugged.xml")
        command = [python, "-m", "test", "--junit-xml", str(plain), name]
        ended = await trio.run_process(command, cwd=place, check=False, capture_stdout=True, capture_stderr=True)
        expected = outcomes(plain)
        wrong = [] if len(expected) >= FEWEST else [f"only {len(expected)} tests ran"]
        for _ in range(times):
            ours.unlink(missing_ok=True)
            stops, answer = await debugged(python, Path(place), module="test", args=["--junit-xml", str(ours), name])
            wrong += [f"stopped: {stop}" for stop in stops]
            seen = outcomes(ours) if ours.exists() else {}
            differs = sorted(name for name in {*expected, *seen} if expected.get(name) != seen.get(name))
            wrong += [f"{name}: {expected.get(name)} became {seen.get(name)}" for name in differs[:MOST_SHOWN]]
            if differs[MOST_SHOWN:] or answer.get("exitCode") != ended.returncode:
                wrong.append(f"{len(differs)} results differ, exit code {ended.returncode}; the end: {answer}")
    print(f"  {times} times {len(expected)} tests; plainly it ends with {ended.returncode}", flush=True)
    return wrong


async def main() -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background ignores it
    words = parser("real-suites", __doc__)
    words.add_argument("--times", type=int, default=10, help="runs of each module of CPython; default: 10")
    names = [suite.name for suite in SUITES]
    words.add_argument(
        "subjects", metavar="SUBJECT", nargs="*", help=f"{', '.join(names)}, or a module as test.test_iter"
    )
    options = words.parse_args()
    unknown = [each for each in options.subjects if each not in names and not each.startswith("test.")]
    if unknown:
        words.error(
            f"no such suite: {', '.join(unknown)}. There are {', '.join(names)}, and CPython's as test.test_iter."
        )
    subjects = options.subjects or [*names, *LIBRARY]
    failed = 0
    wanted = [*REQUIREMENTS, *(f"{suite.name}=={suite.version}" for suite in SUITES)]
    for python in pythons(options):
        own = installed(python, options.cache / version(python), wanted) if {*subjects} & {*names} else python
        for subject in subjects:
            print(f"{subject} on {version(python)}", flush=True)
            if subject in names:
                suite = SUITES[names.index(subject)]
                root = sources(suite, options.cache)
                wrong = [*await judged(suite, own, root), *await judged_broken(suite, own, root)]
            else:
                wrong = await judged_library(subject, python, options.times)
            print("".join(f"  WRONG: {each}\n" for each in wrong), end="", flush=True)
            failed += len(wrong)
    print("no test that passes stops, and every result is the same" if not failed else f"{failed} WRONG")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(trio.run(main))
