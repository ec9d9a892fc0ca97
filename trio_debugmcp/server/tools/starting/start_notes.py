"""What is said of a start beside its stop: of a module or a test that is not there, or that is better started so."""

import json
import re
import shlex
from collections.abc import Sequence

from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.dap.profiles.test_runners import TestRun
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.paths import meant_instead
from trio_debugmcp.server.tools.starting.launch_targets import LaunchTarget
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.output.terminal_sequences import plain

_OPTION = re.compile(r"(?:^|\s)--?[A-Za-z][\w-]*(?:[\s=]|$)")


def start_notes(
    debugger: Debugger, target: LaunchTarget, launch: Launch, answer: StopAnswer, *, is_own: bool
) -> list[str]:
    """Return notes on a start that came to this answer; `is_own`: the program runs on this server's own interpreter."""
    if target.run is not None:
        return _none_ran(target.run, answer)
    programs = target.profile.programs
    advice = programs.start_advice(target.program, f"{answer.exception or ''}\n{answer.stderr}")
    notes = [advice] if advice is not None else _missing(debugger, target, launch, answer)
    notes += _one_word(target.args)
    tests = programs.tests_run_by(target.program, target.args, target.options) if launch.stop_at else None
    if tests is not None:
        named = f"test={tests!r}" if tests else "`test`, such as tests/test_a.py::test_b"
        notes.append(f"started so, a test that fails does not stop the program: pass {named}, which does")
    return [*notes, *_lacking(target, launch, answer)] if is_own else notes


def _one_word(args: Sequence[str]) -> list[str]:
    """Return a note on a command line that came as one argument, blanks and all."""
    if len(args) != 1 or len(args[0].split()) < 2 or not _OPTION.search(args[0]):
        return []
    try:
        several = shlex.split(args[0])
    except ValueError:  # a quote without its other half
        several = args[0].split()
    return [f"the program got one argument, with blanks in it; several are args={json.dumps(several)}"]


def _none_ran(run: TestRun, answer: StopAnswer) -> list[str]:
    """Return a note where a runner has ended well, as it had nothing to run."""
    said = plain(f"{answer.stdout}\n{answer.stderr}")
    if answer.state != "Disconnected" or run.ran_none is None or re.search(run.ran_none, said) is None:
        return []
    return [_NONE_RAN]


_NONE_RAN = "no test ran: the runner found none that was meant. A file without a name behind it runs all in it"

_TESTS_FAILED = 1
"""The exit code of pytest and unittest for tests that failed; others are wrong usage, for example."""

_PASSED_OVER = (
    "a test that failed did not stop: with just_my_code=false none does on Python 3.8 to 3.11. Launch it without that"
)


def _missing(debugger: Debugger, target: LaunchTarget, launch: Launch, answer: StopAnswer) -> list[str]:
    """Return a note on the module that was to run and was not found, or on the test, then with similar ones."""
    programs, cwd = target.profile.programs, launch.cwd
    if answer.exit_code and "module" in target.options:
        missing = programs.missing_module(answer.stderr)
        if missing is None or missing != target.options["module"]:
            return []
        meant = meant_instead(debugger, f"{missing.replace('.', '/')}.py", cwd) if cwd is not None else ""
        advice = "check its name, `cwd` and the interpreter"
        return [f"there is no module '{missing}' for the program in {cwd}: {advice}{meant and f'. {meant}'}"]
    test = target.test
    if test is None or answer.state != "Disconnected":
        return []
    if not answer.exit_code:
        return [_NONE_RAN] if re.search(r"^Ran 0 tests in ", answer.stderr, re.MULTILINE) else []
    if not programs.is_test_missing(answer.exit_code, answer.stderr):
        passed_over = target.profile.name == "debugpy" and launch.stop_at and not launch.just_my_code
        return [_PASSED_OVER] if passed_over and answer.exit_code == _TESTS_FAILED else []
    near = debugger.host.query(f"tests near {test} in {cwd}", lambda: programs.near_tests(test, cwd))
    return [f"there is no test '{test}'; there are: {', '.join(near)}"] if near else []


def _lacking(target: LaunchTarget, launch: Launch, answer: StopAnswer) -> list[str]:
    """Return a note on what runs the program, if that lacks a module."""
    said = f"{answer.exception or ''}\n{answer.stderr}"
    if launch.interpreter is None or not target.profile.programs.lacks_module(said):
        return []
    where = f"on which this server runs, as there is no environment above {target.near or launch.cwd}"
    other = 'if the program has another one, pass adapter_options={"python": ["/path/to/python"]}'
    return [f"runs on {launch.interpreter}, {where}: {other}"]
