"""Finds bugs that were put into real projects, as an agent that has a failing test would: `scripts/realbugs`.

The sources are downloaded by pip, at pinned versions. Of each project one line is changed, so that one of its own tests
fails; every play begins with that test, and has shown the facts of the bug after at most five calls and 6 KB.
"""

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trio
from _bench import open_rpc
from _economy import Call, Spent, counted, play

MAX_CALLS = 5
MAX_BYTES = 6_000

DOWNLOAD_SECONDS = 120
PLAY_SECONDS = 120


class Project(NamedTuple):
    """A project, the line that is changed, the test that fails then, and the calls after the first one."""

    name: str
    version: str
    file: str
    line: str
    seeded: str
    test: str
    calls: Sequence[Call]
    facts: Sequence[str]
    arguments: Sequence[str] = ()


def again(*breakpoints: dict[str, Any]) -> Call:
    """The same test again, with breakpoints; which test it is, and with which arguments, `found` adds."""
    return "debug_launch", {"replace": True, "breakpoints": list(breakpoints)}


END: Call = ("debug_disconnect", {})

PROJECTS = [
    Project(
        "more-itertools",
        "10.5.0",
        "more_itertools/more.py",
        "self._cache.extendleft(reversed(items))",
        "self._cache.extendleft(items)",
        "tests/test_more.py::PeekableTests::test_multi_prepend",
        [
            again({"file": "more_itertools/more.py", "statement": "self._cache.extendleft(items)"}),
            ("debug_step", {"show": ["it._cache"]}),
            END,
        ],
        ["actual': '[0, 1, 21, 20, 12, 11, 10,", "'items': '(10, 11, 12)'", "it._cache: deque([12, 11, 10])"],
    ),
    Project(
        "boltons",
        "24.1.0",
        "boltons/cacheutils.py",
        "self._anchor = anchor = oldanchor[NEXT]",
        "self._anchor = anchor = oldanchor[PREV]",
        "tests/test_cacheutils.py::test_lri",
        [again({"file": "boltons/cacheutils.py", "statement": "return evicted"}), END],
        ["assert 'j' in LRI", "'evicted': \"'j'\""],
        ["--noconftest"],  # its plugin is not for the pytest of today
    ),
    Project(
        "toolz",
        "1.0.0",
        "toolz/dicttoolz.py",
        "            d = dtemp = factory()",
        "            dtemp = factory()",
        "toolz/tests/test_dicttoolz.py::TestDict::test_update_in",
        [END],
        ["'int' object is not iterable", "update_in", "'d': '50'"],
    ),
]


def unpacked(project: Project, directory: Path) -> Path:
    """Download a project and change its line; return its folder."""
    wanted = f"{project.name}=={project.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", wanted]
    subprocess.run(command, cwd=directory, check=True, timeout=DOWNLOAD_SECONDS, stderr=subprocess.PIPE)
    (archive,) = directory.glob(f"{project.name.replace('-', '[-_]')}-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    root = directory / archive.name.removesuffix(".tar.gz")
    source = root / project.file
    text = source.read_text()
    if text.count(project.line) != 1:
        raise RuntimeError(f"{wanted}: {project.file} has {text.count(project.line)} lines `{project.line}`")
    source.write_text(text.replace(project.line, project.seeded))
    return root


async def found(project: Project, directory: Path, *, show: bool) -> list[Spent]:
    root = await trio.to_thread.run_sync(unpacked, project, directory)
    server = ["sh", "-c", 'cd "$0" && exec "$@"', str(root), sys.executable, "-m", "trio_debugmcp", "serve"]
    test: dict[str, Any] = {"test": project.test}
    if project.arguments:
        test["args"] = list(project.arguments)
    calls: list[Call] = [("debug_launch", test)]
    for tool, arguments in project.calls:
        calls.append((tool, {**test, **arguments} if tool == "debug_launch" else arguments))
    with trio.fail_after(PLAY_SECONDS):
        async with open_rpc(server) as rpc:
            return await play(rpc, calls, project.facts, show=show)


async def main() -> None:
    print("| project | bug found: calls / bytes |\n|---|---|")
    problems = []
    for project in PROJECTS:
        with tempfile.TemporaryDirectory() as directory:
            spent = await found(project, Path(directory), show="--answers" in sys.argv[1:])
        print(f"| {project.name} {project.version}, `{project.file}` | {counted(spent)} |")
        if len(spent) > MAX_CALLS or sum(each.asked + each.answered for each in spent) > MAX_BYTES:
            problems.append(f"{project.name}: more than {MAX_CALLS} calls or {MAX_BYTES:,} bytes")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    trio.run(main)
