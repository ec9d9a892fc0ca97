"""Configurations of launch.json as this server has them: found below its directories, and resolved with what it knows.

Everything that is read from this machine for it is one answer of the host, without the variables of the environment: so
a recording of it holds no secrets.
"""

import os.path
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.home import home_directory
from trio_debugmcp.launch_json.files import (
    Folder,
    LaunchFile,
    TasksFile,
    VariableContext,
    names_of,
    read_launch_file,
    read_tasks_file,
)
from trio_debugmcp.launch_json.plan import Compound, Instead, Plan, is_compound, resolve, resolve_compound
from trio_debugmcp.launch_json.task_definitions import Task, resolve_task
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.starting.checks import choose_profile
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import shortened

_MOST_BYTES = 4 * 1024 * 1024
"""Of a file that a person has written; more is something else."""


class ConfigurationChoice(Struct, frozen=True):
    """A configuration, and what the caller gives for its variables."""

    name: str
    file: str | None = None
    pid: int | None = None
    inputs: Mapping[str, object] = {}
    instead: Instead = Instead()


class Configured(Struct, frozen=True):
    """What a configuration becomes here: its plan, and the tasks around it."""

    plan: Plan
    before: Task | None = None
    after: Task | None = None


class Project(Struct, frozen=True):
    """A folder with a launch.json, and what is read for it."""

    folder: Folder
    launch: LaunchFile
    tasks: TasksFile


def projects(debugger: Debugger) -> list[Project]:
    """Return what there is below the directories of this server; to be called by the host.

    Raises:
        UsageError: `INVALID_PARAMETER`: a file has a mistake; `PERMISSION_DENIED`.
    """
    found = []
    for folder in _folders(debugger):
        path = f"{folder.path}/.vscode/launch.json"
        text = _read(debugger, path)
        if text is None:
            continue
        places = Places(debugger.workspace.directory)
        tasks_path = f"{folder.path}/.vscode/tasks.json"
        # A mistake in the tasks concerns only configurations that have some.
        tasks = TasksFile(places.file(tasks_path))
        found.append(Project(folder, read_launch_file(text, places.file(path)), tasks))
    return found


def tasks_of(debugger: Debugger, project: Project) -> TasksFile:
    """Return the tasks of a project; to be called by the host."""
    text = _read(debugger, f"{project.folder.path}/.vscode/tasks.json")
    return project.tasks if text is None else read_tasks_file(text, project.tasks.path)


def compound_named(debugger: Debugger, name: str) -> tuple[Compound, Task | None] | None:
    """Return the compound of that name with the task before it; None if a configuration has the name.

    Raises:
        UsageError: as `configured`.
    """
    found: list[tuple[Compound, Task | None]] = []

    def ask() -> Any:
        project, own_name = _project_of(projects(debugger), name, debugger)
        if not is_compound(project.launch, own_name):
            return None
        compound = resolve_compound(project.launch, own_name)
        if not compound.pre_task:
            return msgspec.to_builtins((compound, None))
        check_tasks(debugger, f"The compound '{own_name}' runs the task '{compound.pre_task}'")
        task = resolve_task(tasks_of(debugger, project), compound.pre_task, context_of(debugger, project.folder))
        found.append((compound, task))
        return msgspec.to_builtins((compound, Task(task.label)))

    answer = debugger.host.query(f"compound {name}", ask)
    return found[0] if found else msgspec.convert(answer, tuple[Compound, Task | None] | None)


def configured(debugger: Debugger, wanted: ConfigurationChoice) -> Configured:
    """Return what the configuration of that name becomes.

    Raises:
        UsageError: `INVALID_PARAMETER`, `NOT_SUPPORTED` or `PERMISSION_DENIED`.
    """
    found: list[Configured] = []

    def ask() -> Any:
        file = None if wanted.file is None else _file(debugger, wanted.file)
        found.append(_resolved(debugger, replace(wanted, file=file)))
        public = replace(found[0].plan, env={})
        labels = [each and Task(each.label) for each in (found[0].before, found[0].after)]
        return msgspec.to_builtins(Configured(public, *labels))

    given = msgspec.json.encode({"file": wanted.file, "pid": wanted.pid, "inputs": wanted.inputs}).decode()
    answer = debugger.host.query(f"configuration {wanted.name} with {given}", ask)
    return found[0] if found else msgspec.convert(answer, Configured)


def _resolved(debugger: Debugger, wanted: ConfigurationChoice) -> Configured:
    project, name = _project_of(projects(debugger), wanted.name, debugger)
    context = context_of(debugger, project.folder, file=wanted.file, pid=wanted.pid, inputs=wanted.inputs)
    plan = resolve(project.launch, name, context, wanted.instead)
    return with_tasks(debugger, project, plan, context)


def with_tasks(debugger: Debugger, project: Project, plan: Plan, context: VariableContext) -> Configured:
    """Return a plan with its tasks; to be called by the host.

    Raises:
        UsageError: `PERMISSION_DENIED`: this server runs no tasks; or as `resolve_task`.
    """
    if not plan.pre_task and not plan.post_task and "cargo" not in plan.options:
        return Configured(plan)
    runs = f"the task '{plan.pre_task or plan.post_task}'" if plan.pre_task or plan.post_task else "cargo"
    check_tasks(debugger, f"The configuration '{plan.name}' runs {runs}")
    if not plan.pre_task and not plan.post_task:
        return Configured(plan)
    tasks = tasks_of(debugger, project)
    before, after = (resolve_task(tasks, each, context) if each else None for each in (plan.pre_task, plan.post_task))
    return Configured(plan, before, after)


def check_tasks(debugger: Debugger, what: str) -> None:
    """Check that this server runs tasks.

    Raises:
        UsageError: `PERMISSION_DENIED`.
    """
    roots = debugger.settings.roots
    if roots and not debugger.settings.allow_build:
        raise UsageError(
            "PERMISSION_DENIED",
            f"{what}, which a server that is confined to {roots[0]} does only with --allow-build. Build the program, "
            "and launch that.",
        )


async def profile_of(debugger: Debugger, plan: Plan) -> Profile:
    """Return the adapter for a plan: of the first of its types for which one is installed.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`: there is none, or it is not installed.
    """
    known = [kind for kind in plan.adapters if any(kind in profile.types for profile in debugger.settings.profiles)]
    if not known:
        types = ", ".join(sorted({kind for profile in debugger.settings.profiles for kind in profile.types}))
        raise UsageError(
            "ADAPTER_NOT_FOUND",
            f"The configuration '{plan.name}' is of the type '{plan.type}', for which there is no debug adapter. "
            f"Types: {types}.",
            {"type": plan.type},
        )
    for kind in known[:-1]:
        try:
            return await choose_profile(debugger, None, None, kind)
        except UsageError:  # not installed; the next type's may be
            continue
    return await choose_profile(debugger, None, None, known[-1])


# --- What only this machine knows -------------------------------------------------------------------------------------


def context_of(
    debugger: Debugger,
    folder: Folder,
    *,
    file: str | None = None,
    pid: int | None = None,
    inputs: Mapping[str, object] | None = None,
    assumes: bool = False,
) -> VariableContext:
    """Return what variables stand for here; to be called by the host."""
    return VariableContext(
        folder=folder,
        folders=tuple(_folders(debugger)),
        home=str(home_directory()),
        cwd=debugger.workspace.resolve("."),
        read=lambda path: _read(debugger, path),
        variable=os.environ.get,
        file=file,
        pid=pid,
        inputs=inputs or {},
        platform="osx" if sys.platform == "darwin" else "linux",
        shell=shutil.which("bash") or "/bin/sh",
        assumes=assumes,
    )


def _folders(debugger: Debugger) -> list[Folder]:
    """Return the folders of the workspace: the server's directory, and its roots."""
    paths = dict.fromkeys([debugger.workspace.resolve("."), *debugger.settings.roots])
    return [Folder(path, os.path.basename(path)) for path in paths]


def _project_of(found: Sequence[Project], name: str, debugger: Debugger) -> tuple[Project, str]:
    """Return the project with a configuration, and its name there; `name (folder)` is that of a folder."""
    for project in found:
        for configuration in _names(project):
            if name in (configuration, f"{configuration} ({project.folder.name})"):
                return project, configuration
    if not found:
        raise UsageError(
            "INVALID_PARAMETER",
            f"The configuration '{shortened(name)}' is not found: {nothing_found(debugger)}.",
            {"configuration": name},
        )
    known = ", ".join(dict.fromkeys(name for project in found for name in _names(project))) or "none"
    raise UsageError(
        "INVALID_PARAMETER",
        f"There is no configuration '{shortened(name)}' in {found[0].launch.path}. Configurations: {known}.",
        {"configuration": name},
    )


def nothing_found(debugger: Debugger) -> str:
    """Return that there are no configurations, and where they would be."""
    return f"there is no .vscode/launch.json below {', '.join(folder.path for folder in _folders(debugger))}"


def _names(project: Project) -> list[str]:
    return [*names_of(project.launch.configurations), *names_of(project.launch.compounds)]


def _file(debugger: Debugger, file: str) -> str:
    """Return the absolute path of the file that is meant, which is there."""
    full = debugger.workspace.resolve(file)
    if not Path(full).is_file():
        raise UsageError("INVALID_PATH", f"There is no file '{file}'. Pass `file` as an absolute path.", {"path": full})
    return full


def _read(debugger: Debugger, path: str) -> str | None:
    """Return the text of a file; None if there is none.

    Raises:
        UsageError: `PERMISSION_DENIED`, `INVALID_PARAMETER`: it has an absurd size.
    """
    allowed = debugger.workspace.resolve(path)
    try:
        with Path(allowed).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise UsageError("PERMISSION_DENIED", f"'{path}' cannot be read: {error.strerror}.", {"path": path}) from None
    if len(data) > _MOST_BYTES:
        raise UsageError("INVALID_PARAMETER", f"'{path}' has more than {_MOST_BYTES} bytes.", {"path": path})
    return data.decode("utf-8", errors="replace")
