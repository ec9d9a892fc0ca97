"""What an editor's `launch` starts: its configuration, as VS Code has it, becomes the arguments of `debug_launch`.

The editor has replaced the variables. What the type says of its keys is read as in a launch.json on this machine.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.files import Folder, LaunchFile
from trio_debugmcp.launch_json.plan import Plan, resolve
from trio_debugmcp.launch_json.substitution import first_variable
from trio_debugmcp.server.tools.starting.checks import choose_profile
from trio_debugmcp.server.tools.starting.configured import context_of, profile_of
from trio_debugmcp.session.debugger import Debugger

OURS = ("token", "wait", "sessionId", "newSession", "replace", "host", "port", "connect", "debugServer", "adapter")
"""Keys that are for the door: how it is reached, who comes, and what is to become of other sessions."""

OUR_TYPE = "trio-debugmcp"
"""Programs of this type are debugged by the adapter for their file, or by `adapter`."""

_TERMINALS = ("integratedTerminal", "externalTerminal")

NO_TERMINAL = (
    "The program has no terminal, whatever `console` says: what it writes is shown here, and the agent or a person at "
    "the dashboard writes its input."
)

LAUNCH_SECONDS = 60.0
"""For a program to be started, an adapter to be woken, and what is built before."""


class Start(Struct, frozen=True):
    """The arguments with which `debug_launch` starts what a configuration says, and what its person is to know."""

    arguments: dict[str, Any]
    note: str | None = None


async def start_of(debugger: Debugger, configuration: Mapping[str, Any]) -> Start:
    """Return how `debug_launch` starts what a configuration says.

    Raises:
        UsageError: `INVALID_PARAMETER`, `NOT_SUPPORTED` or `ADAPTER_NOT_FOUND`.
    """
    if configuration.get("noDebug"):
        raise UsageError("NOT_SUPPORTED", "This server only runs programs to debug them: start it with debugging.")
    kept = {name: value for name, value in configuration.items() if name not in OURS and not name.startswith("__")}
    _check_variables(kept)
    known = {type_ for profile in debugger.settings.profiles for type_ in profile.types}
    common = {
        "replace": bool(configuration.get("replace")),
        "new_session": bool(configuration.get("newSession")),
        "wait": False,
        "timeout": debugger.patience.seconds(LAUNCH_SECONDS),
    }
    plan = _plan(debugger, {**kept, "request": "launch"})
    _check_tasks(plan)
    adapter, note = configuration.get("adapter"), None
    if adapter is None and not known.isdisjoint(plan.adapters):
        adapter = (await profile_of(debugger, plan)).name
    elif adapter is None and plan.type != OUR_TYPE:
        note = await _unknown_type(debugger, plan, known)
    options = dict(plan.options)
    module, code = options.pop("module", None), options.pop("code", None)
    arguments = {
        **common,
        "program": plan.program,
        "module": module,
        "code": "\n".join(code) if isinstance(code, list) else code,
        "args": list(plan.args),
        "cwd": plan.cwd,
        "env": dict(plan.env),
        "adapter": adapter,
        "adapter_options": options,
        "stop_at_entry": bool(plan.stop_at_entry),
        "just_my_code": plan.just_my_code,
    }
    if kept.get("console") in _TERMINALS:
        note = " ".join(filter(None, (note, NO_TERMINAL)))
    return Start(arguments, note)


async def _unknown_type(debugger: Debugger, plan: Plan, known: Iterable[str]) -> str:
    """Return that the program's file decides what debugs it, as the type of the configuration is not known.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`: the file does not decide it either.
    """
    unknown = (
        f"the type '{plan.type}' of the configuration is not known; there are {', '.join(sorted(known)) or 'none'}"
    )
    try:
        profile = await choose_profile(debugger, None, plan.program)
    except UsageError as error:
        raise UsageError(error.code, f"{error} And {unknown}.", error.details) from None
    what = "The program" if plan.program is None else plan.program.rpartition("/")[2]
    return f"{what} is debugged by {profile.name}: {unknown}."


def _check_variables(configuration: Mapping[str, Any]) -> None:
    """Refuse a variable that is left: what it stands for is on the editor's side.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    for key, value in configuration.items():
        variable = first_variable(value)
        if variable is not None:
            raise UsageError(
                "INVALID_PARAMETER",
                f"`{key}` has the variable {variable}, which your editor should have replaced: only the editor knows "
                "what it stands for. Write its value there.",
                {"variable": variable},
            )


def _plan(debugger: Debugger, configuration: Mapping[str, Any]) -> Plan:
    name = str(configuration.get("name") or "launch")
    kind = str(configuration.get("type") or OUR_TYPE)
    file = LaunchFile("the editor", ({**configuration, "name": name, "type": kind},))
    directory = debugger.workspace.resolve(".")
    found: list[Plan] = []

    def ask() -> Any:
        context = context_of(debugger, Folder(directory, directory.rpartition("/")[2]))
        found.append(resolve(file, name, context))
        return msgspec.to_builtins(msgspec.structs.replace(found[0], env={}))

    answer = debugger.host.query(f"an editor's configuration {name}", ask)
    return found[0] if found else msgspec.convert(answer, Plan)


def _check_tasks(plan: Plan) -> None:
    if "cargo" in plan.options:
        raise UsageError("NOT_SUPPORTED", "Build with cargo first, and name the `program`: an editor starts no builds.")
