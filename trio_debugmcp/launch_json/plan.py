"""`Plan`: what a configuration becomes, exactly: a launch or an attach, and the tasks around it."""

import os.path
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.env_file import parse_env_file
from trio_debugmcp.launch_json.files import LaunchFile, VariableContext, names_of
from trio_debugmcp.launch_json.keys import Keys
from trio_debugmcp.launch_json.substitution import ConfigurationVariables
from trio_debugmcp.launch_json.types import BROWSERS, drop_of_no_adapter, translate

_SECTIONS = ("linux", "osx", "windows")
_PASSED_OVER = ("presentation", "serverReadyAction", "internalConsoleOptions")
"""Keys whose variables are not needed, and may be an editor's."""

_ARGUMENTS = ("args", "arguments", "argsString")
"""What types call the arguments of a program."""

_OWN_INTERPRETER = ("python", "${command:python.interpreterPath}"), ("pythonPath", "${command:python.interpreterPath}")
"""The interpreter that is selected in the editor: without the key, the server finds the project's by itself."""


class Plan(Struct, frozen=True):
    """What is to be started. Paths are absolute.

    Attributes:
        name: the configuration's.
        env: variables; None for one that the server has and the program does not get.
        type: the configuration's own; `adapters`: the types by which its adapter is found, the preferred first.
        options: the adapter's own keys.
        pre_task: what `preLaunchTask` says; `post_task`: what `postDebugTask` does.
        notes: what was passed over, or is otherwise than in an editor.
    """

    name: str
    type: str
    request: Literal["launch", "attach"]
    adapters: tuple[str, ...]
    cwd: str
    program: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] = {}
    stop_at_entry: bool | None = None
    just_my_code: bool | None = None
    pid: int | None = None
    core_file: str | None = None
    host: str | None = None
    port: int | None = None
    options: Mapping[str, Any] = {}
    pre_task: Any = None
    post_task: Any = None
    notes: tuple[str, ...] = ()


class Compound(Struct, frozen=True):
    """Several configurations that start together. `stop_all`: when one of them is ended, all are."""

    name: str
    configurations: tuple[str, ...]
    stop_all: bool = False
    pre_task: Any = None


class Instead(Struct, frozen=True):
    """What the caller passes in place of what a configuration says; None: nothing. `env` is added to its own."""

    args: tuple[str, ...] | None = None
    cwd: str | None = None
    env: Mapping[str, str | None] = {}
    stop_at_entry: bool | None = None
    just_my_code: bool | None = None


# --- Compounds --------------------------------------------------------------------------------------------------------


def is_compound(file: LaunchFile, name: str) -> bool:
    """Return whether that is the name of a compound, and not of a configuration."""
    return name not in names_of(file.configurations) and name in names_of(file.compounds)


def resolve_compound(file: LaunchFile, name: str) -> Compound:
    """Return the compound of that name, whose configurations are there.

    Raises:
        UsageError: `INVALID_PARAMETER`: it names none, or one that is not there.
    """
    compound = next(compound for compound in file.compounds if compound.get("name") == name)
    what = f"The compound '{name}' of {file.path}"
    keys = Keys(compound, what)
    listed = keys.take("configurations")
    if not isinstance(listed, list) or not listed:
        raise UsageError("INVALID_PARAMETER", f"{what} must name its `configurations`.")
    names = [str(entry.get("name")) if isinstance(entry, dict) else str(entry) for entry in listed]
    configurations = names_of(file.configurations)
    for configuration in names:
        if configuration not in configurations:
            there = ", ".join(configurations) or "none"
            raise UsageError(
                "INVALID_PARAMETER", f"{what} names '{configuration}', which is not there. Configurations: {there}."
            )
    return Compound(name, tuple(names), keys.flag("stopAll") or False, keys.take("preLaunchTask"))


# --- Configurations ---------------------------------------------------------------------------------------------------


def configuration_named(file: LaunchFile, name: str, context: VariableContext) -> Mapping[str, Any]:
    """Return the configuration of that name, with this system's section laid over it.

    Raises:
        UsageError: `INVALID_PARAMETER`: there is none.
    """
    configuration = next(
        (configuration for configuration in file.configurations if configuration.get("name") == name), None
    )
    if configuration is None:
        names = ", ".join([*names_of(file.configurations), *names_of(file.compounds)]) or "none"
        raise UsageError(
            "INVALID_PARAMETER",
            f"There is no configuration '{name}' in {file.path}. Configurations: {names}.",
            {"configuration": name},
        )
    section = configuration.get(context.platform)
    laid_over = {**configuration, **section} if isinstance(section, dict) else configuration
    return {key: value for key, value in laid_over.items() if key not in _SECTIONS}


def resolve(file: LaunchFile, name: str, context: VariableContext, instead: Instead | None = None) -> Plan:
    """Return what the configuration of that name starts.

    Raises:
        UsageError: `INVALID_PARAMETER`, or `NOT_SUPPORTED`: it needs something that cannot be had.
    """
    instead = instead or Instead()
    configuration = configuration_named(file, name, context)
    what = f"The configuration '{name}' of {file.path}"
    type_, request = _kind(configuration, what)
    replaced = _ARGUMENTS if instead.args is not None else ()
    kept = {key: value for key, value in configuration.items() if key not in (*_PASSED_OVER, *replaced)}
    for key, default in _OWN_INTERPRETER:
        if kept.get(key) == default:
            del kept[key]
    keys = Keys(ConfigurationVariables(context, what, file.inputs).replaced(kept), what)
    adapters = translate(keys, type_, request, context.folder.path)
    return _plan(keys, name, type_, adapters, context, instead)


def _plan(
    keys: Keys, name: str, type_: str, adapters: tuple[str, ...], context: VariableContext, instead: Instead
) -> Plan:
    request: Literal["launch", "attach"] = "attach" if keys.take("request") == "attach" else "launch"
    cwd = instead.cwd or os.path.normpath(os.path.join(context.folder.path, keys.text("cwd") or "."))
    program = keys.text("program")
    program = None if program is None else os.path.normpath(os.path.join(cwd, program))
    plan = Plan(
        name=name,
        type=type_,
        request=request,
        adapters=adapters,
        cwd=cwd,
        program=program,
        args=keys.texts("args") if instead.args is None else instead.args,
        env={**_environment(keys, type_, context), **instead.env},
        stop_at_entry=_either(instead.stop_at_entry, keys.flag("stopOnEntry")),
        just_my_code=_either(instead.just_my_code, keys.flag("justMyCode")),
        pre_task=keys.take("preLaunchTask"),
        post_task=keys.take("postDebugTask"),
    )
    if request == "attach":
        pid, port, core = keys.number("processId"), keys.number("port"), keys.text("coreFile")
        picked = context.pid if pid is None and port is None and core is None else pid
        core = None if core is None else os.path.normpath(os.path.join(cwd, core))
        plan = replace(plan, pid=picked, host=keys.text("host"), port=port, core_file=core)
    drop_of_no_adapter(keys)
    return replace(plan, options=keys.left, notes=tuple(keys.notes))


def _kind(configuration: Mapping[str, Any], what: str) -> tuple[str, str]:
    """Return the type and the request of a configuration."""
    type_, request = configuration.get("type"), configuration.get("request")
    if not isinstance(type_, str) or not type_:
        raise UsageError("INVALID_PARAMETER", f"{what} has no `type`, which says what debugs it.")
    if type_ in BROWSERS:
        raise UsageError(
            "NOT_SUPPORTED",
            f"{what} is of the type '{type_}', which debugs a page in a browser. This server debugs programs; pass a "
            "configuration that runs one.",
            {"type": type_},
        )
    if request not in ("launch", "attach"):
        raise UsageError("INVALID_PARAMETER", f'{what}: `request` must be "launch" or "attach".')
    return type_, str(request)


def _environment(keys: Keys, type_: str, context: VariableContext) -> dict[str, str | None]:
    """Return the variables of the files and of `env`, which come last; None for one that is to be absent."""
    named, variables = keys.take("envFile"), dict[str, str]()
    if named is None and type_ in ("python", "debugpy"):
        files, is_default = [".env"], True  # as the extension for Python has it
    else:
        files, is_default = list(named) if isinstance(named, list) else [named or ""], False
    for file in files:
        if not isinstance(file, str):
            raise keys.wrong("envFile", "the path of a file", file)
        if not file:
            continue
        path = os.path.normpath(os.path.join(context.folder.path, file))
        text = context.read(path)
        if text is None:
            keys.notes += [] if is_default else [f"there is no envFile '{path}'"]
            continue
        more, broken = parse_env_file(text, context.variable, variables)
        variables.update(more)
        lines = ", ".join(map(str, broken))
        keys.notes += [f"line {lines} of '{path}' is not NAME=value and was passed over"] if broken else []
    return {**variables, **keys.environment("env")}


def _either(first: bool | None, second: bool | None) -> bool | None:
    return second if first is None else first
