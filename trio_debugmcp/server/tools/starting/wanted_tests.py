"""The test that a launch names: found, and named as its runner has it."""

from typing import Any

import msgspec

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.dap.profiles.language import FoundTest, NoSuchTest
from trio_debugmcp.dap.profiles.test_runners import TestRun, is_own_program, may_be_alone, test_run, with_file
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.paths import is_away_from_roots, starts_of_paths
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import shortened


def wanted_test(debugger: Debugger, profile: Profile, test: str, cwd: str | None) -> FoundTest:
    """Return a test, and where it is run: in `cwd`, or where the tests of its project are.

    Raises:
        UsageError: `INVALID_PARAMETER`, `INVALID_PATH` or `PERMISSION_DENIED`.
    """
    problem = profile.programs.test_problem(test)
    if problem is not None:
        raise UsageError("INVALID_PARAMETER", f"'{shortened(test)}' {problem}.")
    starts = [debugger.workspace.resolve(start) for start in starts_of_paths(debugger)]
    starts = [*starts[1:], starts[0]] if is_away_from_roots(debugger) else starts
    places = [*([] if cwd is None else [cwd]), *starts]

    def ask() -> dict[str, Any]:
        try:
            found: dict[str, Any] = msgspec.to_builtins(profile.programs.find_test(test, places, cwd))
        except NoSuchTest as error:
            return {"problem": str(error)}
        return found

    try:
        answer = debugger.host.query(f"the test {test} in {' '.join(places)}, run in {cwd or 'its project'}", ask)
    except UsageError:  # a recording from before this was asked
        return FoundTest(test, places[0])
    if "problem" in answer:
        raise UsageError("INVALID_PATH", str(answer["problem"]), {"test": shortened(test)})
    found = msgspec.convert(answer, FoundTest)
    if found.file is not None:
        debugger.workspace.resolve(found.file)  # which may be outside the roots
    return found


def own_test_run(debugger: Debugger, test: str, cwd: str) -> TestRun | None:
    """Return what runs a test of a language whose tests are programs of their own; None for others.

    Raises:
        UsageError: `INVALID_PATH`, or `PERMISSION_DENIED`.
    """
    places = [cwd, *(debugger.workspace.resolve(start) for start in starts_of_paths(debugger))]

    def ask() -> dict[str, Any]:
        try:
            named = with_file(test, cwd)
            run: dict[str, Any] = msgspec.to_builtins(test_run(named, places)) if is_own_program(named) else {}
        except NoSuchTest as error:
            return {"problem": str(error)}
        return run

    if not (is_own_program(test) or may_be_alone(test)):
        return None
    try:
        answer = debugger.host.query(f"what runs the test {test} in {' '.join(places)}", ask)
    except UsageError:
        if is_own_program(test):
            raise
        return None  # a recording from before this was asked
    if "problem" in answer:
        raise UsageError("INVALID_PATH", str(answer["problem"]), {"test": shortened(test)})
    if not answer:
        return None
    run = msgspec.convert(answer, TestRun)
    debugger.workspace.resolve(run.program)  # which may be outside the roots
    return run
