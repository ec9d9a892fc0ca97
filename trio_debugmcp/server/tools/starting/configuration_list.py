"""What `debug_configurations` answers: each configuration with its adapter, what it needs, and why it cannot run."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.files import names_of
from trio_debugmcp.launch_json.plan import configuration_named, resolve, resolve_compound
from trio_debugmcp.launch_json.substitution import options_of, used_inputs, uses_file, uses_process
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.tools.starting.configured import (
    Project,
    context_of,
    nothing_found,
    profile_of,
    projects,
    with_tasks,
)
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import truncated


class Configuration(Answer, frozen=True, kw_only=True):
    """A configuration. `request` only where it attaches; `inputs`: what each is without being given, null: nothing."""

    name: str
    adapter: str | None = None
    request: str | None = None
    needs: list[str] = []
    inputs: dict[str, str | None] = {}
    before: str | None = None
    after: str | None = None
    problem: str | None = None


class ConfigurationCompound(Answer, frozen=True, kw_only=True):
    """Configurations that start together."""

    name: str
    configurations: list[str] = []
    problem: str | None = None


class Configurations(Answer, frozen=True, kw_only=True):
    """What can be launched by name."""

    configurations: list[Configuration] = []
    compounds: list[ConfigurationCompound] = []
    omitted: int = 0
    notes: list[str] = []


async def list_configurations(debugger: Debugger, params: Params) -> Configurations:
    """Return the configurations below the directories of this server."""

    async def ask() -> Any:
        found = projects(debugger)
        several = len(found) > 1
        return msgspec.to_builtins(
            Configurations(
                configurations=[
                    await _described(debugger, project, each, f"{each} ({project.folder.name})" if several else each)
                    for project in found
                    for each in names_of(project.launch.configurations)
                ],
                compounds=[
                    _compound(project, each) for project in found for each in names_of(project.launch.compounds)
                ],
                notes=[*filter(None, map(_doubles, found))] if found else [nothing_found(debugger)],
            )
        )

    answer = msgspec.convert(await debugger.host.find_out("configurations", ask), Configurations)
    shown = truncated(answer.configurations, MAX_RESULT_BYTES // 2)
    left_out = len(answer.configurations) - len(shown)
    return msgspec.structs.replace(answer, configurations=shown, omitted=left_out)


async def _described(debugger: Debugger, project: Project, name: str, shown: str) -> Configuration:
    context = context_of(debugger, project.folder, assumes=True)
    found = configuration_named(project.launch, name, context)
    needs = [each for each, uses in (("file", uses_file(found)), ("pid", uses_process(found))) if uses]
    inputs = {used_input: _unless_given(project.launch.inputs.get(used_input)) for used_input in used_inputs(found)}
    described = Configuration(
        name=shown,
        request="attach" if found.get("request") == "attach" else None,
        needs=needs,
        inputs=inputs,
        before=_label(found.get("preLaunchTask")),
        after=_label(found.get("postDebugTask")),
    )
    try:
        plan = resolve(project.launch, name, context)
        profile = await profile_of(debugger, plan)
        described = msgspec.structs.replace(described, adapter=profile.name)
        with_tasks(debugger, project, plan, context)
    except UsageError as error:
        return msgspec.structs.replace(described, problem=error.message)
    return described


def _unless_given(definition: Mapping[str, Any] | None) -> str | None:
    """Return what an input is without being given: its default, or what it has to be given."""
    if definition is None:
        return None
    default = definition.get("default")
    if default is not None:
        return str(default)
    options = options_of(definition)
    return f"one of {', '.join(options.values())}" if options else None


def _doubles(project: Project) -> str:
    """Return a note on names that several have, of which only the first can be started; empty if there are none."""
    counts = Counter([*names_of(project.launch.configurations), *names_of(project.launch.compounds)])
    twice = [f"'{name}'" for name, count in counts.items() if count > 1]
    return f"{project.launch.path} has several called {', '.join(twice)}: the first is started" if twice else ""


def _label(task: object) -> str | None:
    return None if task is None else str(task.get("label", task)) if isinstance(task, dict) else str(task)


def _compound(project: Project, name: str) -> ConfigurationCompound:
    try:
        found = resolve_compound(project.launch, name)
    except UsageError as error:
        return ConfigurationCompound(name=name, problem=error.message)
    return ConfigurationCompound(name=name, configurations=list(found.configurations))
