"""Tests of Ruby: minitest and test-unit, whose files are run themselves, and RSpec."""

import re
import shutil
from pathlib import Path

from msgspec.structs import replace

from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.named_test import NamedTest, TestRun, at_line, nearest, no_test, source_of

_PROJECT = ("Gemfile", "Rakefile")

METHOD = re.compile(r"^[^\S\n]*+def\s+(?P<name>test_\w+[?!]?)", re.MULTILINE)

CLASS = re.compile(r"^[^\S\n]*+class\s+([\w:]+)", re.MULTILINE)

TITLED = re.compile(r"^[^\S\n]*+(?:test|it|specify)\s*\(?\s*(?P<quote>[\"'])(?P<name>.*?)(?P=quote)", re.MULTILINE)
"""Of Rails' tests and minitest's specs."""

_SPEC = re.compile(
    r"^(?P<indent>[^\S\n]*+)(?:RSpec\.)?(?:(?P<shared>its|it_(?:should_)?behaves?_like|include_\w+)|"
    r"[fx]?(?:describe|context|feature|it|specify|example|scenario)|pending|skip)\b"
    r"(?:[ (]++(?:(?P<quote>[\"'])(?P<name>(?:(?!(?P=quote)|\\|#\{).)*+)(?P=quote)|(?P<module>[A-Z][\w:]*+))"
    r"(?P<known>\)?(?:, [a-z:][^\"'\n]*+)?(?: do\b.*| ?\{.*)?$)?)?",
    re.MULTILINE,
)
"""A group or an example of RSpec; `known`: nothing else belongs to its description. Or what makes some."""

_FAILURES = ("Minitest::Assertion", "Test::Unit::AssertionFailedError")

RAISED_IN_RUBY = r"(?m)^(?: +\d+\) Error:\n.*:|Error: .*:)\n *(?P<kind>[A-Z][\w:]*): "
"""As minitest writes it, and as test-unit does."""

RAISED_IN_RSPEC = r"(?m)^ {5}Failure/Error: .*\n(?:(?! {5}Failure/Error: | {2}\d+\) ).*\n)*? {5}(?P<kind>[A-Z][\w:]*):$"


def ruby_run(test: NamedTest) -> TestRun:
    """Return how tests of a file are run.

    Raises:
        NoSuchTest: the file has no such test, or RSpec is not installed.
    """
    file = test.path
    project = nearest(file, _PROJECT)
    tests = next((folder for folder in file.parents if folder.name in _TESTS), None)
    home = project.parent if project is not None else file.parent if tests is None else tests.parent
    if file.stem.endswith("_spec") or "spec" in file.relative_to(home).parts[:-1]:
        return _rspec(test, home)
    load = [str(home / name) for name in ("lib", "test") if (home / name).is_dir()]
    env = {"RUBYLIB": ":".join(load)} if load else {}
    none = r"(?m)^0 (?:runs|tests), "
    return TestRun(
        test.file, _selected(test), str(home), env, ran_none=none, fails_with=_FAILURES, raised=RAISED_IN_RUBY
    )


_TESTS = ("test", "tests", "spec")


def _selected(test: NamedTest) -> tuple[str, ...]:
    """Return the options that select a test, as `Class#method`, as a method, or by the title that it has."""
    text = source_of(test.path)
    methods = [found["name"] for found in METHOD.finditer(text)]
    titles = [found["name"] for found in TITLED.finditer(text)]
    name = test.name
    if test.line is not None:
        found = at_line(text, test.line, METHOD if methods else TITLED)
        name = found["name"]
        classes = CLASS.findall(text, 0, found.start())
        if methods.count(name) > 1 and classes:
            name = f"{classes[-1]}#{name}"
    if not name:
        return ()
    method = name.rpartition("#")[2]
    if method in methods:
        return ("-n", name)
    if method in titles:  # its method is `test_0001_adds up`, or `test_adds_up`
        return ("-n", f"/{re.escape(method).replace(re.escape(' '), '[ _]')}/")
    raise no_test(name, [*methods, *titles], test.file)


def _rspec(test: NamedTest, home: Path) -> TestRun:
    own = home / "bin" / "rspec"
    program = str(own) if own.is_file() else shutil.which("rspec")
    if program is None:
        raise NoSuchTest(f"'{test.file}' is a test of RSpec, which is not installed: gem install rspec.")
    if test.name:
        _check_described(test)
    place = f"{test.file}:{test.line}" if test.line is not None else test.file
    chosen = ("-e", test.name) if test.name else ()
    run = TestRun(program, (place, *chosen), str(home), ran_none=r"(?m)^0 examples, ", raised=RAISED_IN_RSPEC)
    return replace(run, fails_with=("RSpec::Expectations::ExpectationNotMetError",))


def _check_described(test: NamedTest) -> None:
    """Refuse a name that is in no description, of its groups and its own; RSpec would run nothing.

    A group is in another whose line is indented less, as Ruby is written.

    Raises:
        NoSuchTest: no example is described so, and none gets its description as the program runs.
    """
    around: list[tuple[int, str]] = []
    whole: dict[str, str] = {}
    for found in _SPEC.finditer(source_of(test.path)):
        title = found["name"] or found["module"]
        if not title or found["known"] is None or found["shared"]:
            return
        indent = len(found["indent"])
        around = [each for each in around if each[0] < indent]
        before = around[-1][1] if around else ""
        described = f"{before}{'' if not before or title.startswith(('#', '.', '::')) else ' '}{title}"
        around.append((indent, described))
        whole[described] = title
    if not any(test.name in described or test.name.endswith(title) for described, title in whole.items()):
        raise no_test(test.name, whole.values(), test.file)
