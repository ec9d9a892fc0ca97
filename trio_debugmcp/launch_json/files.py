"""`LaunchFile` and `TasksFile`: what the two files hold, checked in so far as all of it depends on it.

`VariableContext`: what an editor knows when it resolves a configuration of them, and the seam to this machine's files.

A mistake inside one configuration or task concerns only that one, and is found when it is resolved.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.jsonc import parse

Input = Mapping[str, Any]
"""A definition below `inputs`: `id`, `type`, `default` and others."""


class LaunchFile(Struct, frozen=True):
    """The configurations and compounds of a launch.json, and its inputs by their ids."""

    path: str
    configurations: tuple[Mapping[str, Any], ...] = ()
    compounds: tuple[Mapping[str, Any], ...] = ()
    inputs: Mapping[str, Input] = {}


class TasksFile(Struct, frozen=True):
    """A tasks.json; `common` is what it says of all tasks."""

    path: str
    tasks: tuple[Mapping[str, Any], ...] = ()
    inputs: Mapping[str, Input] = {}
    common: Mapping[str, Any] = {}


class Folder(Struct, frozen=True):
    """A folder of the workspace: where its `.vscode` is, and what `${workspaceFolder:name}` calls it."""

    path: str
    name: str


class VariableContext(Struct, frozen=True):
    """What variables stand for.

    Attributes:
        folder: whose launch.json it is; `folders`: all of the workspace.
        home: the user's home directory.
        cwd: the directory of this server.
        read: returns the text of a file, None if there is none.
        variable: returns a variable of the environment, None if it is not set.
        file: the file that would be open in the editor; absolute.
        pid: the process that would be picked.
        inputs: the values of `${input:…}`.
        platform: whose section of a configuration is laid over it.
        shell: what runs the command lines of tasks.
        assumes: what is not given is assumed, to see whether there is anything else that is wrong.
    """

    folder: Folder
    folders: tuple[Folder, ...]
    home: str
    cwd: str
    read: Callable[[str], str | None]
    variable: Callable[[str], str | None]
    file: str | None = None
    pid: int | None = None
    inputs: Mapping[str, object] = {}
    platform: Literal["linux", "osx"] = "linux"
    shell: str = "/bin/sh"
    assumes: bool = False


def read_launch_file(text: str, path: str) -> LaunchFile:
    """Return the launch.json with this text; `path` names it in errors.

    Raises:
        UsageError: `INVALID_PARAMETER`: it is not JSON with comments, with line and column; or it has another shape.
    """
    content = _object(parse(text, path), path)
    configurations = _objects(content, "configurations", path)
    return LaunchFile(path, configurations, _objects(content, "compounds", path), _inputs(content, path))


def read_tasks_file(text: str, path: str) -> TasksFile:
    """Return the tasks.json with this text; `path` names it in errors.

    Raises:
        UsageError: as `read_launch_file`.
    """
    content = _object(parse(text, path), path)
    common = {name: content[name] for name in ("type", "options", "linux", "osx") if name in content}
    return TasksFile(path, _objects(content, "tasks", path), _inputs(content, path), common)


def label_of(task: Mapping[str, Any]) -> str | None:
    """Return what a task is called: its label, or what it was called in older files."""
    label = task.get("label", task.get("taskName"))
    return label if isinstance(label, str) else None


def names_of(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of configurations or compounds; one without a name cannot be selected."""
    return [item["name"] for item in items if isinstance(item.get("name"), str)]


def _object(content: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise UsageError("INVALID_PARAMETER", f"{path} must hold an object: {{…}}.", {"file": path})
    return content


def _objects(content: Mapping[str, Any], key: str, path: str) -> tuple[Mapping[str, Any], ...]:
    items = content.get(key, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise UsageError("INVALID_PARAMETER", f"{path}: `{key}` must be a list of objects.", {"file": path})
    return tuple(items)


def _inputs(content: Mapping[str, Any], path: str) -> dict[str, Input]:
    items = _objects(content, "inputs", path)
    return {item["id"]: item for item in items if isinstance(item.get("id"), str)}
