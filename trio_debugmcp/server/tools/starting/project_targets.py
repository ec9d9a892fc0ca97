"""A launch of a project, by its directory or its file: what that runs, in place of what the call says."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles.project_programs import FILES, project_program
from trio_debugmcp.dap.profiles.projects.project_program import NoProgram, ProjectProgram
from trio_debugmcp.dap.profiles.test_runners import TestRun
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.starting.checks import program_facts
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch
from trio_debugmcp.session.debugger import Debugger

_CONFIGURED = "CMakeLists.txt"
"""The file that its own adapter runs: to configure a project is a program of its own."""

_CONFIGURES = f"the project is configured, as its {_CONFIGURED} says"


class ProjectTarget(Struct, frozen=True):
    """What is launched of a project, where if it says so, and a note on what was chosen; `run`: how it is built."""

    params: DebugLaunch
    directory: str | None
    note: str
    run: TestRun | None = None


def of_project(debugger: Debugger, params: DebugLaunch, cwd: str) -> ProjectTarget | None:
    """Return what a project runs; None if a call names none, or one that an adapter knows itself, as of Go.

    Raises:
        UsageError: `INVALID_PATH`: it names no program, or several; or `PERMISSION_DENIED`.
    """
    if params.program is None:
        return None
    path = debugger.workspace.resolve(str(Path(cwd, params.program)))
    wanted = _wanted_file(debugger, path, params.adapter)
    if wanted is not None:
        return ProjectTarget(replace(params, program=wanted), None, _CONFIGURES) if wanted != path else None
    found = _asked(debugger, path, cwd)
    if found is None or _is_known(debugger, path):
        return None
    if "problem" in found:
        raise UsageError("INVALID_PATH", str(found["problem"]), {"path": path})
    meant = msgspec.convert(found, ProjectProgram)
    program = meant.program if meant.command is None else _installed(debugger, meant.command, path)
    code = meant.code if program is None else None
    own = replace(params, program=program, module=meant.module, code=code, args=[*meant.args, *params.args])
    if meant.program == path and meant.build is None:
        return ProjectTarget(own, meant.directory, f"'{path}' {meant.why}")
    started = f"-m {meant.module}" if meant.module else program or "its function, as it is not installed"
    started = meant.build.program or started if meant.build else started
    run = TestRun(program or "", directory=meant.directory or "", build=meant.build) if meant.build else None
    return ProjectTarget(own, meant.directory, f"'{path}' names a project; started {started}: {meant.why}", run)


def _asked(debugger: Debugger, path: str, cwd: str) -> dict[str, Any] | None:
    def ask() -> dict[str, Any] | None:
        try:
            found = project_program(path, cwd)
        except NoProgram as error:
            return {"problem": str(error)}
        return None if found is None else dict(msgspec.to_builtins(found))

    try:
        answer: dict[str, Any] | None = debugger.host.query(f"what the project {path} runs in {cwd}", ask)
    except UsageError:  # a recording from before this was asked
        return None
    return answer


def _wanted_file(debugger: Debugger, path: str, adapter: str | None) -> str | None:
    """Return the project's file, if the call names the adapter that runs it itself."""
    profiles = debugger.settings.profiles
    named = [profile.detect.files for profile in profiles if adapter is not None and profile.is_called(adapter)]
    if not any(_CONFIGURED in files for files in named):
        return None
    file = path if Path(path).name == _CONFIGURED else str(Path(path, _CONFIGURED))
    return file if _is_file(debugger, file) else None


def _is_file(debugger: Debugger, path: str) -> bool:
    try:
        found: bool = debugger.host.query(f"project's file {path}", Path(path).is_file)
    except UsageError:  # a recording from before this was asked
        return False
    return found


def _is_known(debugger: Debugger, path: str) -> bool:
    """Whether an adapter takes the directory; node's would only find its `main`."""
    facts = program_facts(debugger, path)
    detects = [profile.detect for profile in debugger.settings.profiles]
    return any(detect.fits_directory(facts) for detect in detects if set(detect.files).isdisjoint(FILES))


def _installed(debugger: Debugger, command: str, path: str) -> str | None:
    directory = path if debugger.host.query(f"directory {path}", Path(path).is_dir) else str(Path(path).parent)
    profiles = debugger.settings.profiles
    found: str | None = debugger.host.query(
        f"command {command} for {directory}",
        lambda: next(filter(None, (profile.programs.find_command(command, directory) for profile in profiles)), None),
    )
    return found
