"""Tests as they are named to this server: `FILE::NAME`, `FILE:LINE`, `FILE`; where that is, and how one is run.

    parsed("test/sum.test.mjs::adds up")     # NamedTest(file="test/sum.test.mjs", name="adds up")
    parsed("src/lib.rs:31")                  # NamedTest(file="src/lib.rs", line=31)

A name that begins with a letter may have any characters behind it, as titles of tests in JavaScript do.
"""

import difflib
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.searched_files import text_of


class TestRun(Struct, frozen=True):
    """What a runner starts for a test.

    Attributes:
        program: what is launched; with a `build`, the source file that its program is made of.
        args: its arguments.
        directory: where it runs.
        env: variables that it gets, unless the user has set them.
        options: options of the adapter.
        build: how the program is built, if not as other programs of its language are.
        breaks: further arguments, with which the program stops itself where a test fails.
        ran_none: a pattern of what the runner writes where no test was of that name, or ran.
        fails_with: types of exceptions that are raised where a test fails.
        raised: a pattern of what the runner writes of any other that has ended a test, with its type as `kind`.
        fails_below: tests run in processes that the program starts, and it raises and catches many exceptions itself.
    """

    program: str
    args: tuple[str, ...] = ()
    directory: str = ""
    env: Mapping[str, str] = {}
    options: Mapping[str, Any] = {}
    build: BuildPlan | None = None
    breaks: tuple[str, ...] = ()
    ran_none: str | None = None
    fails_with: tuple[str, ...] = ()
    raised: str | None = None
    fails_below: bool = False


_STRINGS_AND_COMMENTS = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|\\.|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`""", re.DOTALL
)
"""A backslash is taken with what is behind it: so of many quotes that nothing closes only the first is read on."""

_BRACES = re.compile(r"""[{}]|\\.|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)'""", re.DOTALL)
"""Of single quotes one character only: in Rust they begin a lifetime as well."""

_MOST_NESTED = 50
"""Blocks around one that is named with them all; people write none deeper."""

_MAX_BYTES = 4 * 1024 * 1024
"""Of a source file that is read: larger ones were not written by people."""

_MAX_NAMED = 8

_MAX_SIBLINGS = 1000
"""Files of a directory of which one may have been meant."""

_SUFFIXES = r"rs|go|rb|t|php|java|zig|kt|scala|cc|cpp|cxx|c\+\+|c|[cm]?[jt]s|[jt]sx"

_IN_FILE = re.compile(
    rf"(?P<file>(?:(?!::).)+?\.(?:{_SUFFIXES}))(?:::(?P<name>[^\x00-\x1f]+)|:(?P<line>[1-9]\d{{0,8}}))?", re.DOTALL
)

_IN_PACKAGE = re.compile(
    r"(?P<file>(?!Test)\.{0,2}/?[\w./-]*)(?<!\.py)"
    r"::(?P<name>(?:Test|Benchmark|Example|Fuzz)(?![a-z])(?:(?!::)[^\x00-\x1f])*)"
)
"""Of Go, by the directory of the package; its tests have no `::` in their names, as those in classes of Python have."""


ANNOTATION = r"@[\w.]+(?:\s*\([^)]*(?:\)|\Z))?+\s*+"
"""One of Java, Kotlin or Scala, with what is behind it: a pattern that has taken it does not give it back."""


class NamedTest(Struct, frozen=True):
    """A test as a call names it.

    `file`: its file, or the directory of its package; absolute once it is `located`. No name and no line: all of it.
    """

    file: str
    name: str = ""
    line: int | None = None
    suffix: str = ""

    @property
    def path(self) -> Path:
        return Path(self.file)


def parsed(test: str) -> NamedTest | None:
    """Return what a test is named by; None if not by a file of a language of these, or a package of Go."""
    found = _IN_FILE.fullmatch(test)
    if found is not None:
        line = None if found["line"] is None else int(found["line"])
        return NamedTest(found["file"], found["name"] or "", line, os.path.splitext(found["file"])[1])
    found = _IN_PACKAGE.fullmatch(test)
    return None if found is None else NamedTest(found["file"] or ".", found["name"], suffix=".go")


def located(test: NamedTest, places: Sequence[str]) -> NamedTest:
    """Return the test with the path of its file.

    Raises:
        NoSuchTest: it is in none of these directories.
    """
    for place in places:
        path = Path(os.path.abspath(Path(place, test.file)))
        if path.is_file() or (path.is_dir() and test.suffix == ".go"):
            return replace(test, file=str(path))
    near = _near_files(Path(places[0], test.file))
    like = f"; there are: {', '.join(near)}" if near else ""
    raise NoSuchTest(f"There is no file '{test.file}' in {places[0]}{like}. Pass its path, from there or absolute.")


def _near_files(path: Path) -> list[str]:
    """Return the names of files beside one that is not there whose names are like its."""
    try:
        names = [each.name for each in islice(path.parent.iterdir(), _MAX_SIBLINGS)]
    except OSError:
        return []
    return difflib.get_close_matches(path.name, [each for each in names if each.endswith(path.suffix)], n=_MAX_NAMED)


def nearest(file: Path, names: Iterable[str]) -> Path | None:
    """Return the file of one of these names that is nearest above a file, in its directory first."""
    wanted = tuple(names)
    for folder in file.parents:
        for name in wanted:
            if (folder / name).exists():
                return folder / name
    return None


def source_of(file: Path) -> str:
    """Return the text of a source file; what is not text in it is replaced.

    Raises:
        NoSuchTest: it cannot be read.
    """
    try:
        return text_of(file, _MAX_BYTES)
    except OSError as error:
        raise NoSuchTest(f"'{file}' cannot be read: {error.strerror}.") from None


def found_tests(text: str, test: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the tests of a text, by a pattern with a group `name`.

    A pattern may also match, without the name, what only looks like the beginning of a test: so no text is read
    again for each of many such beginnings.
    """
    return [found for found in test.finditer(text) if found["name"] is not None]


def at_line(text: str, line: int, test: re.Pattern[str]) -> re.Match[str]:
    """Return the test that a line is in: the last that `test` finds above it, by its group `name`.

    Raises:
        NoSuchTest: none begins above it.
    """
    last, number, counted = None, 1, 0
    for found in found_tests(text, test):
        number += text.count("\n", counted, found.start("name"))
        counted = found.start("name")
        if number > line:
            break
        last = found
    if last is None:
        raise NoSuchTest(f"No test begins at line {line} or above it.")
    return last


class _Block(Struct, frozen=True):
    """A block in braces; `parent`: the number of the one around it."""

    name: str
    opens: int
    parent: int | None


def blocks_around(text: str, place: int, block: re.Pattern[str]) -> list[str]:
    """Return the names of the blocks in braces that a place is in, the outermost first.

    `block` finds what begins one, by its group `name`: a module of Rust, a class of Java, a suite of JavaScript.
    Nothing in a comment does. A brace is that of the last which has begun before it.
    """
    blocks, closing = _blocks(text, block)
    number: int | None = bisect_left(blocks, place, key=lambda each: each.opens) - 1
    names: list[str] = []
    while number is not None and number >= 0:
        if closing.get(number, len(text)) >= place:
            names.insert(0, blocks[number].name)
        number = blocks[number].parent
    return names


def block_above(text: str, place: int, block: re.Pattern[str]) -> str | None:
    """Return the name of the last block that has begun before a place, with braces or without."""
    begun = _begun(text, block)
    number = bisect_right(begun, place, key=lambda each: each[0])
    return begun[number - 1][1] if number else None


@lru_cache(maxsize=4)
def _blocks(text: str, block: re.Pattern[str]) -> tuple[list[_Block], dict[int, int]]:
    """Return the blocks of a text in their order, and where those of them end which do."""
    blocks: list[_Block] = []
    closing: dict[int, int] = {}
    scopes: list[int | None] = []
    named: list[int] = []
    begun, waiting = iter(_begun(text, block)), None
    following = next(begun, None)
    for brace in _BRACES.finditer(_without_comments(text)):
        if len(brace[0]) > 1:
            continue
        while following is not None and following[0] <= brace.start():
            waiting, following = following[1], next(begun, None)
        if brace[0] == "}":
            closed = scopes.pop() if scopes else None
            if closed is not None:
                closing[named.pop()] = brace.start()
        elif waiting is None or len(named) >= _MOST_NESTED:
            scopes.append(None)
        else:
            blocks.append(_Block(waiting, brace.start(), named[-1] if named else None))
            named.append(len(blocks) - 1)
            scopes.append(named[-1])
        waiting = None
    return blocks, closing


@lru_cache(maxsize=4)
def _begun(text: str, block: re.Pattern[str]) -> list[tuple[int, str]]:
    """Return what begins a block: where its name ends, and the name."""
    return [(found.end("name"), found["name"]) for found in block.finditer(_without_comments(text))]


@lru_cache(maxsize=4)
def _without_comments(text: str) -> str:
    """Return a text of the same length with blanks for its comments."""
    return _STRINGS_AND_COMMENTS.sub(_without_comment, text)


def _without_comment(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0]) if found[0].startswith("/") else found[0]


def no_test(name: str, names: Iterable[str], where: str) -> NoSuchTest:
    """Return the error for a test that is not there, with those whose names are like it."""
    known = list(dict.fromkeys(names))
    near = difflib.get_close_matches(name, known, n=_MAX_NAMED, cutoff=0.5) or known[:_MAX_NAMED]
    more = f", and {len(known) - len(near)} more" if len(known) > len(near) else ""
    there = f"; there are: {', '.join(near)}{more}" if known else ": no test was found there"
    return NoSuchTest(f"There is no test '{name}' in {where}{there}.")
