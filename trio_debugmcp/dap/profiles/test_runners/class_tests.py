"""Tests of Java, Ruby and PHP that are named without their file: by class and method, one of these, or a title.

    tests_named("test_sums", "/src/till")     # ["/src/till/test/shelf_test.rb::test_sums"]

The project that a directory is in says the language; its files of tests are looked through.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap.profiles.test_examples import JAVA, PHP, RUBY, example_in
from trio_debugmcp.dap.profiles.test_runners import junit, phpunit, ruby_runners
from trio_debugmcp.dap.profiles.test_runners.named_test import blocks_around, found_tests, no_test, source_of

_MAX_FILES = 500
"""Files of tests that are looked through."""

_MAX_DIRECTORIES = 2000

_OF_OTHERS = ("node_modules", "vendor", "target", "build", "bin", "out", "coverage")

_OF_PYTHON = re.compile(r"test.*\.py|.*_test\.py")

_CLASS = re.compile(r"\bclass\s+(?P<name>\w+)")


class _ClassTest(Struct, frozen=True):
    """A test, or a class with all of its tests: its names from the outermost, and what it is called in its file."""

    full: tuple[str, ...]
    own: str


def _of_java(file: Path, text: str) -> Iterator[_ClassTest]:
    package = junit.PACKAGE.search(text)
    within = tuple(package[1].split(".")) if package is not None else ()
    tests = list(found_tests(text, junit.TEST))
    for found in tests:
        names = (file.stem, *junit.classes_of(found, text))
        yield _ClassTest((*within, *names, found["name"]), ".".join([*names, found["name"]]))
    if tests:
        yield _ClassTest((*within, file.stem), "")


def _of_ruby(file: Path, text: str) -> Iterator[_ClassTest]:
    methods = list(ruby_runners.METHOD.finditer(text))
    names = [found["name"] for found in methods]
    for found in methods:
        classes = ruby_runners.CLASS.findall(text, 0, found.start())
        within = classes[-1] if classes else ""
        is_only = names.count(found["name"]) == 1
        yield _ClassTest(
            (*within.split("::"), found["name"]), found["name"] if is_only else f"{within}#{found['name']}"
        )
    yield from (_ClassTest((title["name"],), title["name"]) for title in ruby_runners.TITLED.finditer(text))
    yield from (_ClassTest(tuple(name.split("::")), "") for name in ruby_runners.CLASS.findall(text))


def _of_php(file: Path, text: str) -> Iterator[_ClassTest]:
    for found in found_tests(text, phpunit.METHOD):
        if phpunit.is_test(found):
            within = (blocks_around(text, found.start("name"), _CLASS) or [file.stem])[-1]
            yield _ClassTest((within, found["name"]), f"{within}::{found['name']}")
    yield _ClassTest((file.stem,), "")


_LANGUAGES: Mapping[str, tuple[re.Pattern[str], Callable[[Path, str], Iterator[_ClassTest]]]] = {
    JAVA: (re.compile(r"(?:.*/)?tests?/.*\.java|.*Test\w*\.java|.*IT\.java"), _of_java),
    RUBY: (re.compile(r".*_(?:test|spec)\.rb|(?:.*/)?test_[^/]*\.rb"), _of_ruby),
    PHP: (re.compile(r".*Test\.php"), _of_php),
}
"""By how their tests are named in a file: which files have tests, and which tests a file has."""


def tests_named(test: str, directory: str) -> list[str]:
    """Return the tests of this name with their files.

    Raises:
        NoSuchTest: there is none, and the project is of this language alone; the message has those that are like it.
    """
    language = _LANGUAGES.get(example_in([directory]))
    if language is None:
        return []
    pattern, tests_of = language
    home = Path(directory)
    looked = list(islice(_walk(home), _MAX_DIRECTORIES))
    files = [Path(folder, name) for folder, names in looked for name in names]
    chosen = [file for file in files if pattern.fullmatch(file.relative_to(home).as_posix())]
    tests = {file: list(tests_of(file, source_of(file))) for file in chosen[:_MAX_FILES]}
    wanted = [word for word in re.split(r"::|[.#$\\]", test.removesuffix("()")) if word]
    fits = [
        f"{file}::{each.own}" if each.own else str(file)
        for file, known in tests.items()
        for each in known
        if _fits(each, test, wanted)
    ]
    is_whole = len(looked) < _MAX_DIRECTORIES and len(chosen) <= _MAX_FILES
    if not fits and chosen and is_whole and not any(_OF_PYTHON.fullmatch(file.name) for file in files):
        raise no_test(test, (each.full[-1] for known in tests.values() for each in known if each.own), directory)
    return list(dict.fromkeys(fits))


def _fits(each: _ClassTest, test: str, wanted: Sequence[str]) -> bool:
    return each.full == (test,) or (bool(wanted) and list(each.full[-len(wanted) :]) == wanted)


def _walk(home: Path) -> Iterator[tuple[str, list[str]]]:
    for folder, folders, names in os.walk(home):
        folders[:] = sorted(each for each in folders if each not in _OF_OTHERS and not each.startswith("."))
        yield folder, sorted(names)
