"""The tasks of tasks.json, resolved to command lines."""

import os.path
import re
import shlex
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.files import TasksFile, VariableContext, label_of
from trio_debugmcp.launch_json.keys import Keys
from trio_debugmcp.launch_json.substitution import ConfigurationVariables

_DETECTED = re.compile(r"npm: (?P<script>\S+)|tsc: (?P<option>build|watch) - (?P<config>\S+)")
"""Tasks that the editor finds without a tasks.json, by the names that it gives them."""

_WATCHING = r"Watching for file changes\."
_QUOTED = re.compile(r"""(['"]).*\1""", re.DOTALL)


class TaskCommand(Struct, frozen=True):
    """What a task runs. `env`: added to the server's."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str | None] = {}


class Task(Struct, frozen=True):
    """One task, and the tasks that it depends on.

    Attributes:
        command: None: it only stands for those it depends on.
        background: it stays when it is ready, which a line with the pattern `ready` shows; None: nothing does.
        listens_at: host and port where a task that stays listens when it is ready, whatever it writes.
    """

    label: str
    command: TaskCommand | None = None
    needs: tuple["Task", ...] = ()
    order: Literal["parallel", "sequence"] = "parallel"
    background: bool = False
    ready: str | None = None
    listens_at: tuple[str, int] | None = None


def resolve_task(file: TasksFile, reference: Any, context: VariableContext) -> Task:
    """Return the task that a configuration or another task names.

    Raises:
        UsageError: `INVALID_PARAMETER`: there is no such task, or it depends on itself; `NOT_SUPPORTED`: only an
            extension of the editor can run it.
    """
    return _resolved(file, reference, context, ())


def label_of_task(task: Mapping[str, Any]) -> str:
    """Return what a task is called; one without a label has the name that its type gives it."""
    label = label_of(task)
    match task:
        case _ if label is not None:
            return label
        case {"type": "npm", "script": str(script)}:
            path = task.get("path")
            return f"npm: {script}" + (f" - {path.strip('/')}" if isinstance(path, str) and path.strip("/") else "")
        case {"type": "typescript", "tsconfig": str(config)}:
            return f"tsc: {task.get('option', 'build')} - {config}"
        case _:
            return str(task.get("command", task.get("type", "task")))


def _resolved(file: TasksFile, reference: Any, context: VariableContext, above: tuple[str, ...]) -> Task:
    task = _find(file, reference)
    label = label_of_task(task)
    what = f"The task '{label}' of {file.path}"
    if label in above:
        circle = " → ".join([*above[above.index(label) :], label])
        raise UsageError("INVALID_PARAMETER", f"{what} depends on itself: {circle}.", {"task": label})
    common, own = _laid_over(file.common, context), _laid_over(task, context)
    laid_over = {**common, **own}
    general, options = _object(common, "options"), _object(own, "options")
    options = {**general, **options, "env": {**_object(general, "env"), **_object(options, "env")}}
    is_shell = laid_over.get("type", "process") == "shell"
    variables = ConfigurationVariables(context, what, file.inputs, shell=is_shell)
    passed_over = ("label", "taskName", "detail", "presentation", "group", "runOptions", "problemMatcher", "dependsOn")
    kept = {key: value for key, value in laid_over.items() if key not in passed_over}
    keys = Keys(variables.replaced({**kept, "options": options}), what)
    depends = laid_over.get("dependsOn")
    others = depends if isinstance(depends, list) else [] if depends is None else [depends]
    command = _command(keys, what, context)
    if command is None and not others:
        raise UsageError("INVALID_PARAMETER", f"{what} has neither a `command` nor `dependsOn`.", {"task": label})
    return Task(
        label,
        command,
        tuple(_resolved(file, other, context, (*above, label)) for other in others),
        "sequence" if keys.text("dependsOrder") == "sequence" else "parallel",
        background=keys.flag("isBackground") or False,
        ready=_ready(laid_over.get("problemMatcher"), what),
    )


def _find(file: TasksFile, reference: Any) -> Mapping[str, Any]:
    """Return the task of a name, or with all the keys of an object, or one that the editor would find by itself."""
    if isinstance(reference, dict):
        keys = {key: value for key, value in reference.items() if key not in ("group", "problemMatcher")}
        fits = [task for task in file.tasks if keys.items() <= {**file.common, **task}.items()] if _plain(keys) else []
        return fits[0] if fits else reference
    name = str(reference)
    if name == "${defaultBuildTask}":
        builds = [task for task in file.tasks if _is_default_build(task)]
        if builds:
            return builds[0]
    task = next((task for task in file.tasks if label_of_task(task) == name), None)
    if task is not None:
        return task
    detected = _DETECTED.fullmatch(name)
    if detected is not None and detected["script"]:
        return {"type": "npm", "script": detected["script"]}
    if detected is not None:
        watches = {"isBackground": True, "problemMatcher": "$tsc-watch"} if detected["option"] == "watch" else {}
        return {"type": "typescript", "tsconfig": detected["config"], "option": detected["option"], **watches}
    names = ", ".join(label_of_task(task) for task in file.tasks) or "none"
    raise UsageError("INVALID_PARAMETER", f"There is no task '{name}' in {file.path}. Tasks: {names}.", {"task": name})


def _plain(keys: Mapping[str, Any]) -> bool:
    return all(isinstance(key, str | int | bool) for key in keys.values())


def _is_default_build(task: Mapping[str, Any]) -> bool:
    group = task.get("group")
    return isinstance(group, dict) and group.get("kind") == "build" and group.get("isDefault") is True


def _laid_over(task: Mapping[str, Any], context: VariableContext) -> dict[str, Any]:
    section = task.get(context.platform)
    laid_over = {**task, **section} if isinstance(section, dict) else dict(task)
    return {key: value for key, value in laid_over.items() if key not in ("linux", "osx", "windows")}


def _object(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


# --- Command lines ----------------------------------------------------------------------------------------------------


def _command(keys: Keys, what: str, context: VariableContext) -> TaskCommand | None:
    options = Keys(keys.table("options"), what)
    cwd = os.path.normpath(os.path.join(context.folder.path, options.text("cwd") or "."))
    env = options.environment("env")
    type_ = keys.text("type") or "process"
    match type_:
        case "npm":
            cwd = os.path.normpath(os.path.join(cwd, keys.text("path") or "."))
            return TaskCommand(("npm", "run", keys.text("script") or ""), cwd, env)
        case "typescript":
            watch = ("--watch",) if keys.text("option") == "watch" else ()
            return TaskCommand(("npx", "tsc", "-p", keys.text("tsconfig") or "tsconfig.json", *watch), cwd, env)
        case "cargo" | "go" if "command" in keys:
            return TaskCommand((type_, keys.text("command") or "", *keys.texts("args")), cwd, env)
        case "shell" | "process" | "cppbuild":
            pass
        case _:
            raise UsageError(
                "NOT_SUPPORTED",
                f"{what} is of the type '{type_}', which an extension of the editor runs. Make it a `shell` task.",
                {"type": type_},
            )
    if "command" not in keys:
        return None
    command, args = keys.take("command"), keys.take("args") or []
    if not isinstance(args, list):
        raise keys.wrong("args", "a list of strings", args)
    if type_ != "shell":
        return TaskCommand(tuple(_word(word, keys) for word in (command, *args)), cwd, env)
    shell = Keys(options.table("shell"), what)
    interpreter = shell.text("executable") or context.shell
    line = " ".join(_shell_word(word, keys, alone=not args) for word in (command, *args))
    return TaskCommand((interpreter, *(shell.texts("args") or ("-c",)), line), cwd, env)


def _word(value: Any, keys: Keys) -> str:
    match value:
        case {"value": str(text)} | str(text):
            return text
        case int() | float():
            return str(value)
        case _:
            raise keys.wrong("command", "a string, and `args` a list of strings", value)


def _shell_word(value: Any, keys: Keys, *, alone: bool) -> str:
    """Quote a word as the editor does: as the file says, else only if there is space in it."""
    text = _word(value, keys)
    match value:
        case {"quoting": "escape"}:
            return re.sub(r"([\s\"'\\$&|;<>()])", r"\\\1", text)
        case {"quoting": "strong"}:
            return shlex.quote(text)
        case {"quoting": "weak"}:
            return '"' + text.replace('"', '\\"') + '"'
    as_it_is = alone or not re.search(r"\s", text) or _QUOTED.fullmatch(text)
    return text if as_it_is else shlex.quote(text)


# --- Tasks that stay --------------------------------------------------------------------------------------------------


def _ready(matcher: Any, what: str) -> str | None:
    """Return the pattern of a line that says that a task in the background is ready; None: nothing says it."""
    for one_matcher in matcher if isinstance(matcher, list) else [matcher]:
        if isinstance(one_matcher, str) and one_matcher.startswith("$tsc-watch"):
            return _WATCHING
        background = one_matcher.get("background") if isinstance(one_matcher, dict) else None
        ends = background.get("endsPattern") if isinstance(background, dict) else None
        pattern = ends.get("regexp") if isinstance(ends, dict) else ends
        if isinstance(pattern, str):
            try:
                re.compile(pattern)
            except re.error as error:
                raise UsageError(
                    "INVALID_PARAMETER", f"{what}: the endsPattern '{pattern}' is not a pattern: {error}."
                ) from None
            return pattern
        if isinstance(one_matcher, dict) and str(one_matcher.get("base", "")).startswith("$tsc-watch"):
            return _WATCHING
    return None
