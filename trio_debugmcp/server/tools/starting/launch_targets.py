"""What a launch runs: a program, a module, code or a test, with the adapter that debugs it, and where it is run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.dap.profiles.projects.installed_commands import find_command, instead_of
from trio_debugmcp.dap.profiles.python.notebooks import home_of, is_notebook, problem_of
from trio_debugmcp.dap.profiles.test_runners import TestRun
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.paths import existing_file, meant_instead
from trio_debugmcp.server.tools.starting.building import build_plan
from trio_debugmcp.server.tools.starting.checks import check_options, check_program, choose_profile
from trio_debugmcp.server.tools.starting.command_lines import as_meant
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch
from trio_debugmcp.server.tools.starting.project_targets import of_project
from trio_debugmcp.server.tools.starting.wanted_tests import own_test_run, wanted_test
from trio_debugmcp.session.breakpoints.session_modes import LEAVES_CODE
from trio_debugmcp.session.debugger import Debugger

UNCAUGHT, LEAVES_TEST = "unhandled", "userUnhandled"
"""Modes in which an exception stops the program: nothing catches it; it leaves the code of the user's."""


class LaunchTarget(Struct, frozen=True):
    """What a launch runs, and the options of its adapter that say so.

    `cwd`: where it runs if the call does not say. `near`: a file or directory whose environment runs it.
    `run`: of a test that is a program of its own. `notes`: what was chosen for the caller.
    """

    profile: Profile
    program: str
    args: tuple[str, ...]
    options: Mapping[str, Any]
    stop_at: tuple[str, ...] = ()
    test: str | None = None
    cwd: str | None = None
    near: str | None = None
    run: TestRun | None = None
    notes: tuple[str, ...] = ()


async def target_of(debugger: Debugger, params: DebugLaunch, cwd: str) -> LaunchTarget:
    """Return what a launch runs.

    Raises:
        UsageError: `INVALID_PARAMETER`, `INVALID_PATH`, `ADAPTER_NOT_FOUND`, `NOT_SUPPORTED` or `PERMISSION_DENIED`.
    """
    named = [name for name in ("program", "module", "code", "test") if getattr(params, name) is not None]
    by_options = _target_options(debugger, params)
    if len(named or by_options) != 1:
        raise UsageError("INVALID_PARAMETER", "Pass one of `program`, `module`, `code` and `test`: what to run.")
    stop_at = (UNCAUGHT,) if params.stop_on_uncaught else ()
    project = of_project(debugger, params, cwd)
    if project is None:
        meant = as_meant(debugger, params, cwd)
        project = of_project(debugger, meant, cwd) if meant.program != params.program else None  # `node .`
        if project is None:
            return await _target(debugger, meant, stop_at, cwd)
    target = await _target(debugger, project.params, stop_at, cwd, project.run)
    return replace(target, cwd=project.directory or target.cwd, notes=(project.note,))


async def _target(
    debugger: Debugger, params: DebugLaunch, stop_at: tuple[str, ...], cwd: str, run: TestRun | None = None
) -> LaunchTarget:
    by_options = _target_options(debugger, params)
    run = own_test_run(debugger, params.test, cwd) if params.test is not None else run
    if run is not None:
        options = {**run.options, **params.adapter_options}
        own = (*run.args, *(run.breaks if params.stop_on_uncaught else ()))
        params = replace(params, program=run.program, args=[*own, *params.args], adapter_options=options)
    if params.program is None or by_options:
        return await _by_options(debugger, params, stop_at, cwd)
    program = _program(debugger, params.program, cwd)
    profile = await choose_profile(debugger, params.adapter, program)
    check_options(debugger, profile, params.adapter_options)
    plan = None if run is None else run.build
    builds = build_plan(debugger, profile, program, params.adapter_options, plan) is not None
    check_program(debugger, profile, program, params.adapter_options, builds=builds)
    _check_notebook(debugger, program)
    home = home_of(program) if run is None else run.directory
    args, options = tuple(params.args), params.adapter_options
    return LaunchTarget(profile, program, args, options, stop_at, cwd=home, near=program, run=run)


def _check_notebook(debugger: Debugger, program: str) -> None:
    if is_notebook(program):
        problem = debugger.host.query(f"problem of {program}", lambda: problem_of(Path(program)))
        if problem is not None:
            raise UsageError("INVALID_PATH", f"'{program}' {problem}.", {"path": program})


def _target_options(debugger: Debugger, params: DebugLaunch) -> list[str]:
    """Return the options of adapters among those of a launch that say what is run."""
    profiles = debugger.settings.profiles
    return [name for name in params.adapter_options if any(name in profile.target_options for profile in profiles)]


async def _by_options(debugger: Debugger, params: DebugLaunch, stop_at: tuple[str, ...], cwd: str) -> LaunchTarget:
    """Return the target of a launch that runs no file of its own, but a module, code or a test."""
    wanted = {*_target_options(debugger, params)}
    fits = (profile.name for profile in debugger.settings.profiles if wanted and wanted <= profile.target_options)
    profile = await choose_profile(debugger, params.adapter or next(fits, None), None)
    own: Mapping[str, Any] | None = {}
    name, test, home, near = params.program or "", None, None, cwd
    if params.module is not None:
        own, name = {"module": params.module}, params.module
    elif params.code is not None:
        own, name = {"code": params.code}, "<code>"
        stop_at = (*stop_at, LEAVES_CODE) if stop_at else ()
    elif params.test is not None:
        found = wanted_test(debugger, profile, params.test, cwd if params.cwd is not None else None)
        own, name, test = profile.programs.test_options(found.test), found.test, found.test
        home, near = found.directory, found.file or found.directory
        stop_at = (*stop_at, LEAVES_TEST) if stop_at else ()
    if own is None or not own.keys() <= profile.code_options:
        what = next(each for each in ("module", "code", "test") if getattr(params, each) is not None)
        raise UsageError(
            "NOT_SUPPORTED",
            f"{profile.name} has no `{what}` to launch. Pass a `program`, or another `adapter`.",
            {"adapter": profile.name, "capability": what},
        )
    options = {**params.adapter_options, **own}
    check_options(debugger, profile, options)
    return LaunchTarget(profile, name, tuple(params.args), options, stop_at, test, home, near)


def _program(debugger: Debugger, program: str, cwd: str) -> str:
    found = existing_file(debugger, program, cwd)
    if found is None and "/" not in program and Path(program).suffix == "":
        profiles = debugger.settings.profiles
        found = debugger.host.query(
            f"command {program} for {cwd}",
            lambda: next(filter(None, (profile.programs.find_command(program, cwd) for profile in profiles)), None),
        )
        found = found or _installed(debugger, program, cwd)
    if found is not None:
        return debugger.workspace.resolve(found)  # the server may be confined from a command
    for path in dict.fromkeys([str(Path(cwd, program)), program]):
        full = debugger.workspace.resolve(path)
        if debugger.host.query(f"directory {full}", Path(full).is_dir):
            return full
    meant = meant_instead(debugger, program, cwd)
    if Path(program).suffix == "" and not debugger.host.query(f"path {full}", Path(full).exists):
        raise UsageError(
            "INVALID_PATH",
            f"There is no file '{program}' in {cwd}. {meant or _instead_of(debugger, program)}",
            {"path": program},
        )
    if meant:
        raise UsageError("INVALID_PATH", f"The program '{full}' does not exist. {meant}", {"path": program})
    return full


def _installed(debugger: Debugger, command: str, cwd: str) -> str | None:
    try:
        found: str | None = debugger.host.query(
            f"installed command {command} for {cwd}", lambda: find_command(command, cwd)
        )
    except UsageError:  # a recording from before this was asked
        return None
    return found


def _instead_of(debugger: Debugger, command: str) -> str:
    try:
        return str(debugger.host.query(f"what to launch for {command}", lambda: instead_of(command)))
    except UsageError:  # a recording from before this was asked
        return ""
