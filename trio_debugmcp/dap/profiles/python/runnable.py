"""`PythonPrograms`: what of Python can be run, and by which interpreter."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from trio_debugmcp.dap.profiles.language import FoundTest, LanguagePrograms, NoSuchTest
from trio_debugmcp.dap.profiles.printed_exceptions import PrintedExceptions
from trio_debugmcp.dap.profiles.python import finding_tests, notebooks, test_runner
from trio_debugmcp.dap.profiles.python.engines import OPTION as ENGINE
from trio_debugmcp.dap.profiles.python.interpreters import interpreter_for, is_script
from trio_debugmcp.dap.profiles.python.notebooks import is_notebook, runner_code
from trio_debugmcp.dap.profiles.python.startup import MAIN_EXPRESSION, STARTUP_EXPRESSION
from trio_debugmcp.dap.profiles.python.tracebacks import printed_in
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.errors import CannotRun

_NO_MODULE = re.compile(
    r"^.*[/\\][^/\\:\n]+: "
    r"(?:Error while finding module specification for '(.+?)' \(ModuleNotFoundError|No module named (\S+)$)",
    re.MULTILINE,
)
"""What `python -m` prints of a module that it cannot find."""


_LACKS_MODULE = re.compile(
    r"^(?:ModuleNotFoundError|ImportError): No module named|: No module named \S+$|^there is no pytest for ",
    re.MULTILINE,
)

_GEVENT = re.compile(r"\bgevent\b")

_PATCHED_BY_EVENTLET = re.compile(r"\beventlet\b.*\bmonkey_patch\(", re.DOTALL)

_NO_EVENTLET = (
    "eventlet.monkey_patch() replaces locks that pydevd waits on, so that the program would fail only when debugged. "
    "Debug it with CPython 3.12 or newer (adapter_options.python), or, if no thread is patched, pass "
    "adapter_options={'engine': 'pydevd'}"
)

_READ_BYTES = 100_000
"""Of the main script, in which the word is looked for: it patches in its first lines."""

_TEXTS = frozenset({"module", "code", "python", "pythonPath", "pythonArgs"})
"""Options whose value is a text, or a list of them."""


class PythonPrograms(LanguagePrograms):
    """Files, the scripts of installed commands, and tests."""

    code_file: ClassVar[str | None] = "<string>"

    def given_code(self, options: Mapping[str, Any]) -> str | None:
        code = options.get("code")
        return code if code is None or isinstance(code, str) else "\n".join(map(str, code))

    def first_expression(self, options: Mapping[str, Any]) -> str | None:
        # A test's runner stays apart from the main module, which the runner of pytest or unittest is.
        return MAIN_EXPRESSION if "code" in options and "rules" not in options else STARTUP_EXPRESSION

    def option_problem(self, name: str, value: object) -> str | None:
        words = [value] if isinstance(value, str) else value
        is_text = isinstance(words, list) and all(isinstance(word, str) for word in words)
        return "must be a string or a list of strings" if name in _TEXTS and not is_text else None

    def find_command(self, name: str, directory: str) -> str | None:
        script = Path(interpreter_for(directory)).parent / name
        return str(script) if script.is_file() and is_script(str(script)) else None

    def test_options(self, test: str) -> Mapping[str, Any] | None:
        # The frame that calls the runner is not the user's, and would be the outermost of each stop.
        return {"code": test_runner.runner_code(test), "rules": [{"path": "<string>", "include": False}, *GENERATED]}

    def test_problem(self, test: str) -> str | None:
        return test_runner.test_problem(test)

    def missing_module(self, errors: str) -> str | None:
        found = _NO_MODULE.search(errors)
        return found and next(filter(None, found.groups()))

    def lacks_module(self, said: str) -> bool:
        return _LACKS_MODULE.search(said) is not None

    def tests_run_by(self, program: str, args: Sequence[str], options: Mapping[str, Any]) -> str | None:
        if "code" in options:
            return None
        return test_runner.tests_run_by(str(options.get("module", Path(program).name)), args)

    def is_test_missing(self, exit_code: int, errors: str) -> bool:
        return test_runner.is_missing(exit_code, errors)

    def find_test(self, test: str, places: Sequence[str], directory: str | None) -> FoundTest:
        try:
            return finding_tests.find_test(test, places, directory)
        except OSError as error:  # the name is too long for a path
            raise NoSuchTest(f"This cannot be the name of a test: {error.strerror}.") from None

    def near_tests(self, test: str, directory: str) -> list[str]:
        return test_runner.near_tests(test, directory)

    def interpreter(self, program: str, directory: str, options: Mapping[str, Any]) -> str | None:
        chosen = _chosen(options)
        runs_file = not {"module", "code"} & options.keys()
        return chosen[0] if chosen else interpreter_for(program if runs_file else directory)

    def printed_in(self, stderr: str) -> PrintedExceptions:
        return printed_in(stderr)

    def is_own(self, interpreter: str) -> bool:
        return interpreter == sys.executable


def _chosen(options: Mapping[str, Any]) -> list[str]:
    chosen = options.get("python", options.get("pythonPath"))
    return [chosen] if isinstance(chosen, str) else [str(word) for word in chosen or ()]


GENERATED = (
    {"path": "<runner>", "include": False},
    {"path": "<frozen *", "include": False},
    {"path": "<*>", "include": True},
)
"""For pydevd: code that the program generates (`exec`, templates, class decorators) is its own, though of no file."""

UNFROZEN = ("-X", "frozen_modules=off")
"""For pydevd, which gets no lines of frozen modules. Interpreters before 3.11 have none, and ignore the option."""


def interpreter_command(interpreter: str | None, options: Mapping[str, Any]) -> list[str]:
    """Return the command of the interpreter: `python` in the options, or `pythonPath`, else the one that was found."""
    command = _chosen(options) or [interpreter or sys.executable]
    return [*command, *(str(argument) for argument in options.get("pythonArgs", ()))]


def target_words(launch: Launch) -> list[str]:
    """Return what the interpreter runs: a module, code or a file, and its arguments."""
    if "module" in launch.options:
        return ["-m", str(launch.options["module"]), *launch.args]
    code = PythonPrograms().given_code(launch.options)
    if code is not None:
        return ["-c", code, *launch.args]
    if is_notebook(launch.program):
        return ["-c", runner_code(), launch.program, *launch.args]
    return [launch.program, *launch.args]


def names_gevent(launch: Launch) -> bool:
    """Return whether the program's own text, or what it is started with, has the word gevent."""
    return _names(launch, _GEVENT)


def refuse_pydevd(launch: Launch, command: Sequence[str]) -> None:
    """Refuse what pydevd cannot debug, with this command of an interpreter, unless it is asked for by name.

    Raises:
        CannotRun: the program is a notebook, or has eventlet replace the locks that pydevd waits on.
    """
    notebooks.refuse_pydevd(launch.program, command)
    if launch.options.get(ENGINE) != "pydevd" and _names(launch, _PATCHED_BY_EVENTLET):
        raise CannotRun(" ".join(command), _NO_EVENTLET)


def _names(launch: Launch, word: re.Pattern[str]) -> bool:
    words = [*launch.args, str(launch.options.get("module", "")), PythonPrograms().given_code(launch.options) or ""]
    if any(word.search(each) for each in words):
        return True
    try:
        with Path(launch.program).open("rb") as file:
            return word.search(file.read(_READ_BYTES).decode(errors="replace")) is not None
    except (OSError, ValueError):
        return False
