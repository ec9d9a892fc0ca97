"""`debug_launch`, also by a configuration of launch.json, and `debug_configurations`, which lists these."""

import os.path
from pathlib import Path
from typing import Annotated, Any

import msgspec
import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import BROWSER, Profile
from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.keys import Keys
from trio_debugmcp.launch_json.plan import Instead, Plan
from trio_debugmcp.server.answers.stop_answer import StopAnswer, StopData
from trio_debugmcp.server.tools.starting.attaching import DebugAttach, attach
from trio_debugmcp.server.tools.starting.checks import check_options
from trio_debugmcp.server.tools.starting.compounds import Together, launch_compound
from trio_debugmcp.server.tools.starting.configuration_list import list_configurations
from trio_debugmcp.server.tools.starting.configured import ConfigurationChoice, compound_named, configured, profile_of
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch
from trio_debugmcp.server.tools.starting.launching import launch
from trio_debugmcp.server.tools.starting.other_programs import check_free, end_before_tasks
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.before.configured_tasks import ConfiguredTasks
from trio_debugmcp.session.debugger import Debugger

_PAGES = (".html", ".htm")

_OF_LAUNCHES = ("breakpoints", "show", "stdin", "replace")
"""Parameters that mean nothing to a configuration that attaches."""


class LaunchConfigured(DebugLaunch, frozen=True, kw_only=True):
    configuration: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Or the name of a configuration in .vscode/launch.json: see debug_configurations."),
    ] = None
    file: Annotated[str | None, Meta(description="What `${file}` is in the configuration.")] = None
    inputs: Annotated[dict[str, Any], Meta(description="Values of its `${input:…}`.")] = {}
    pid: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="The process that it attaches to, where it asks for one.")
    ] = None


class DebugConfigurations(Params, frozen=True, kw_only=True):
    pass


async def launch_as_wanted(debugger: Debugger, params: LaunchConfigured) -> StopAnswer:
    """Launch what the parameters say, or a configuration that they name."""
    if params.configuration is None:
        given = next((each for each in ("file", "inputs", "pid") if getattr(params, each)), None)
        if given is not None:
            advice = " To debug a file, pass it as `program`." if given == "file" else ""
            raise UsageError(
                "INVALID_PARAMETER", f"`{given}` is for the variables of a `configuration`: pass its name, too.{advice}"
            )
        if _is_page(params):
            from trio_debugmcp.server.tools.starting.launching_pages import launch_page

            return await launch_page(debugger, params)
        return await launch(debugger, params)
    check_free(debugger, params)
    compound = compound_named(debugger, params.configuration)
    if compound is not None:
        return await launch_compound(debugger, params, compound[0], compound[1], launch_one)
    return await launch_one(debugger, params)


def _is_page(params: DebugLaunch) -> bool:
    """Return whether what is to be launched is a page."""
    is_file = params.program is not None and Path(params.program).suffix.lower() in _PAGES
    return params.url is not None or (is_file and params.adapter in (None, BROWSER))


async def launch_one(debugger: Debugger, params: LaunchConfigured, together: Together | None = None) -> StopAnswer:
    """Start what a configuration says, with the tasks around it."""
    deadline = trio.current_time() + params.timeout
    found = configured(debugger, _wanted(debugger, params))
    profile = await profile_of(debugger, found.plan)
    tasks = debugger.tasks.around(found.before, found.after)
    if together is not None:
        together.join(tasks)
    if params.replace:
        await end_before_tasks(debugger, "replaced")
    async with tasks.begun(params.timeout) as notes:
        plan = await _with_cargo(debugger, found.plan, deadline)
        left = max(0.0, deadline - trio.current_time())
        if plan.request == "attach":
            answer = await _attach(debugger, params, plan, profile, tasks, left)
        else:
            answer = await launch(debugger, _launch_of(params, plan, profile, left), tasks)
    return replace(answer, notes=[*_passed_over(params, plan), *plan.notes, *notes, *answer.notes])


def _wanted(debugger: Debugger, params: LaunchConfigured) -> ConfigurationChoice:
    """Return what is to be resolved; a program stands for the file that the configuration means."""
    file = params.file if params.file is not None else params.program
    cwd = None if params.cwd is None else debugger.workspace.resolve(params.cwd)
    args = tuple(params.args) if params.args else None
    instead = Instead(args, cwd, params.env, params.stop_at_entry, params.just_my_code)
    return ConfigurationChoice(params.configuration or "", file, params.pid, params.inputs, instead)


def _launch_of(params: LaunchConfigured, plan: Plan, profile: Profile, seconds: float) -> LaunchConfigured:
    """Return the parameters of a launch that does what a plan says.

    Raises:
        UsageError: `INVALID_PARAMETER`: the plan does not say what to run.
    """
    options = {**plan.options, **params.adapter_options}
    code = options.pop("code", None)
    module = options.pop("module", None)
    record = options.pop("record", False)
    if plan.program is None and code is None and module is None and not profile.target_options & options.keys():
        raise UsageError(
            "INVALID_PARAMETER",
            f"The configuration '{plan.name}' does not say what to run: it has no `program`, and {profile.name} knows "
            "no other way.",
        )
    changes = {
        "configuration": None,
        "file": None,
        "inputs": {},
        "pid": None,
        "test": None,
        "program": plan.program,
        "module": module,
        "args": list(plan.args),
        "cwd": plan.cwd,
        "code": "\n".join(code) if isinstance(code, list) else code,
        "env": dict(plan.env),
        "adapter": profile.name,
        "adapter_options": options,
        "timeout": seconds,
        "stop_at_entry": plan.stop_at_entry,
        "just_my_code": plan.just_my_code,
        "record": params.record or record,
    }
    # Checked, as the caller's own are: what is in a file may have any type.
    return msgspec.convert({**msgspec.structs.asdict(params), **changes}, LaunchConfigured)


def _passed_over(params: LaunchConfigured, plan: Plan) -> list[str]:
    """Return notes on parameters that the configuration is in place of."""
    given = [each for each in ("module", "code", "test") if getattr(params, each) is not None]
    if params.program is not None and (params.file is not None or not (plan.program or "").endswith(params.program)):
        given.insert(0, "program")
    return [f"`{each}` is passed over: the configuration says what runs" for each in given]


def _below(directory: str, path: str) -> str:
    return os.path.normpath(os.path.join(directory, path))


async def _with_cargo(debugger: Debugger, plan: Plan, deadline: float) -> Plan:
    """Build what a configuration of CodeLLDB leaves to cargo, and launch that."""
    if "cargo" not in plan.options:
        return plan
    options = dict(plan.options)
    keys = Keys({"cargo": options.pop("cargo")}, f"The configuration '{plan.name}'")
    cargo = Keys(keys.table("cargo"), f"`cargo` of the configuration '{plan.name}'")
    args = cargo.texts("args")
    command = (
        "cargo",
        *(each for each in args if not each.startswith("--message-format")),
        "--message-format=json-render-diagnostics",
    )
    directory = _below(plan.cwd, cargo.text("cwd") or ".")
    build = BuildPlan(command, directory, directory)
    made = await debugger.builds.build(build, max(0.0, deadline - trio.current_time()))
    notes = ["`env` of `cargo` is passed over"] if cargo.table("env") else []
    return replace(plan, program=made.program, options=options, notes=(*plan.notes, *notes))


async def _attach(
    debugger: Debugger, params: LaunchConfigured, plan: Plan, profile: Profile, tasks: ConfiguredTasks, seconds: float
) -> StopAnswer:
    given = [each for each in _OF_LAUNCHES if getattr(params, each)]
    if given:
        raise UsageError(
            "INVALID_PARAMETER",
            f"The configuration '{plan.name}' attaches to a program, and `{given[0]}` is for launches. Leave it out, "
            "and use the other tools once it is attached.",
        )
    check_options(debugger, profile, {**plan.options, **params.adapter_options})
    own = {"program": plan.program} if plan.program is not None and plan.core_file is None else {}
    options = {**plan.options, **own}
    wanted = {
        "pid": plan.pid,
        "host": plan.host,
        "port": plan.port,
        "core_file": plan.core_file,
        "program": plan.program if plan.core_file is not None else None,
        "adapter": profile.name,
        "adapter_options": {**options, **params.adapter_options},
        "timeout": seconds,
    }
    attached = await attach(debugger, msgspec.convert(wanted, DebugAttach), tasks)
    if isinstance(attached, StopAnswer):  # what a core shows
        return attached
    full = StopData(session_id=attached.session, process_id=attached.pid)
    return StopAnswer(full=full, state=attached.state, session=attached.session, pid=attached.pid)


TOOLS = (
    Tool(
        name="debug_launch",
        title="Launch a program",
        description=(
            "Run a program under the debugger until it stops: at a breakpoint, at an exception that nothing "
            "catches, or at its end; without breakpoints at its first line. Answers with why and where, stack, "
            "locals, source, output, and the values of `show`: expressions evaluated at the stop."
        ),
        params=LaunchConfigured,
        run=launch_as_wanted,
        open_world=True,
        listing="core",
        unlisted=frozenset(
            {
                "adapter",
                "console",
                "path_mappings",
                "just_my_code",
                "configuration",
                "file",
                "inputs",
                "pid",
                "stop_on_uncaught",
                "dev_server",
            }
        ),
    ),
    Tool(
        name="debug_configurations",
        title="Configurations of launch.json",
        description=(
            "The configurations in .vscode/launch.json, with their adapters, what each needs, and why it cannot run. "
            "Start one with debug_launch(configuration=NAME, file=…, inputs={…}, pid=…)."
        ),
        params=DebugConfigurations,
        run=list_configurations,
        read_only=True,
        idempotent=True,
    ),
)
