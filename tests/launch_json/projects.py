"""Projects as an editor finds them: their `.vscode` and what it refers to, below tests/data/launch_json."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from trio_debugmcp.launch_json.files import (
    Folder,
    LaunchFile,
    TasksFile,
    VariableContext,
    names_of,
    read_launch_file,
    read_tasks_file,
)
from trio_debugmcp.launch_json.plan import Plan

PROJECTS = Path(__file__).parent.parent / "data" / "launch_json"

ENVIRONMENT = {"HOME": "/home/ann", "USER": "ann", "SERVICE_PORT": "8000"}


def context(
    project: str, *, file: str | None = None, folders: tuple[str, ...] = ("other",), **others: Any
) -> VariableContext:
    """What an editor would know that has this project open at /src, beside other folders."""
    folder = Folder(f"/src/{project}", project)
    found = VariableContext(
        folder=folder,
        folders=(folder, *(Folder(f"/src/{each}", each) for each in folders)),
        home="/home/ann",
        cwd="/srv",
        read=read,
        variable=ENVIRONMENT.get,
        file=None if file is None else f"{folder.path}/{file}",
    )
    return replace(found, **others)


def read(path: str) -> str | None:
    found = PROJECTS / Path(path).relative_to("/src")
    return found.read_text() if found.is_file() else None


def launch_file(project: str) -> LaunchFile:
    return read_launch_file((PROJECTS / project / ".vscode/launch.json").read_text(), ".vscode/launch.json")


def tasks_file(project: str) -> TasksFile:
    return read_tasks_file((PROJECTS / project / ".vscode/tasks.json").read_text(), ".vscode/tasks.json")


def names(project: str) -> list[str]:
    return names_of(launch_file(project).configurations)


def shown(value: msgspec.Struct) -> dict[str, Any]:
    """A plan or a task without its defaults and its name."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(type(value))}
    items = msgspec.structs.asdict(value).items()
    found = {name: each for name, each in items if each != defaults[name] and each not in ({}, ())}
    if isinstance(value, Plan):
        del found["name"]
    return found
