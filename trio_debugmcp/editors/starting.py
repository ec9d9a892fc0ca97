"""What an editor's `launch` starts: its configuration, as VS Code has it, becomes the arguments of `debug_launch`.

The editor has replaced the variables. What the type says of its keys is read as in a launch.json on this machine.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.context import Folder
from trio_debugmcp.launch_json.files import LaunchFile
from trio_debugmcp.launch_json.plan import Plan, resolve
from trio_debugmcp.server.tools.configured import context_of, profile_of
from trio_debugmcp.session.debugger import Debugger

OURS = ("token", "wait", "sessionId", "newSession", "replace", "host", "port", "connect", "debugServer", "adapter")
"""Keys that are for the door: how it is reached, who comes, and what is to become of other sessions."""

OUR_TYPE = "trio-debugmcp"
"""Programs of this type are debugged by the adapter for their file, or by `adapter`."""

LAUNCH_SECONDS = 60.0
"""For a program to be started, an adapter to be woken, and what is built before."""


async def launch_arguments(debugger: Debugger, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with which `debug_launch` starts what a configuration says.

    Raises:
        UsageError: `INVALID_PARAMETER`, `NOT_SUPPORTED` or `ADAPTER_NOT_FOUND`.
    """
    if configuration.get("noDebug"):
        raise UsageError("NOT_SUPPORTED", "This server only runs programs to debug them: start it with debugging.")
    kept = {name: each for name, each in configuration.items() if name not in OURS and not name.startswith("__")}
    kind = kept.get("type")
    known = {each for profile in debugger.settings.profiles for each in profile.types}
    common = {
        "replace": bool(configuration.get("replace")),
        "new_session": bool(configuration.get("newSession")),
        "wait": False,
        "timeout": LAUNCH_SECONDS,
    }
    plan = _plan(debugger, {**kept, "request": "launch"})
    _check_tasks(plan)
    adapter = configuration.get("adapter")
    if adapter is None and kind in known and kind != OUR_TYPE:
        adapter = (await profile_of(debugger, plan)).name
    options = dict(plan.options)
    module, code = options.pop("module", None), options.pop("code", None)
    return {
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
