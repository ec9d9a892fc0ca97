"""What Tab proposes: commands, names, arguments, and values that the schema or the server knows.

    found = await proposals("call add a=", client)

What the server completes is asked of it while a person types, hence the short time limit.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import trio
from msgspec import Struct

from trio_debugmcp.cli.shell.shell_commands import HELP, LOG_LEVELS

if TYPE_CHECKING:  # `serve` must start without the client
    from trio_debugmcp.client import InspectorClient

WAIT_SECONDS = 2.0
"""For the server to complete a value: a person who types does not wait longer."""


class Proposal(Struct, frozen=True):
    """A word that may stand in place of the last `replaces` characters before the cursor."""

    text: str
    replaces: int
    about: str = ""


async def proposals(before: str, client: "InspectorClient") -> list[Proposal]:
    """The words that fit at the end of `before`, the text before the cursor."""
    *words, last = before.lstrip().split(" ")
    words = [word for word in words if word]
    if not words:
        return _matching(last, [(name, about) for name, (_, about) in HELP.items()])
    command, rest = words[0], words[1:]
    if not rest:
        return _matching(last, _names(command, client))
    if command not in ("call", "read", "prompt") or last.startswith("{"):
        return _matching(last, _names(command, client)) if command in ("subscribe", "unsubscribe") else []
    name, equals, value = last.partition("=")
    arguments = dict(word.split("=", 1) for word in rest[1:] if "=" in word)
    if not equals:
        return _matching(
            last, [item for item in _parameters(command, rest[0], client) if item[0][:-1] not in arguments]
        )
    return _matching(value, [(text, "") for text in await _values(command, rest[0], name, value, arguments, client)])


def _matching(begun: str, items: Iterable[tuple[str, str | None]]) -> list[Proposal]:
    matches = [(text, about) for text, about in items if text.lower().startswith(begun.lower())]
    return [Proposal(text, len(begun), (about or "").partition("\n")[0]) for text, about in matches]


def _names(command: str, client: "InspectorClient") -> list[tuple[str, str | None]]:
    """What may follow a command."""
    tools = [(tool.name, tool.description) for tool in client.tools]
    prompts = [(prompt.name, prompt.description) for prompt in client.prompts]
    resources = [(resource.uri, resource.name) for resource in client.resources]
    templates = [
        (resource_template.uri_template, resource_template.name) for resource_template in client.resource_templates
    ]
    names_of: dict[str, Sequence[tuple[str, str | None]]] = {
        "call": tools,
        "prompt": prompts,
        "read": [*resources, *templates],
        "show": [*tools, *prompts, *resources, *templates],
        "subscribe": resources,
        "watch": resources,
        "unsubscribe": [(uri, "") for uri in client.get_subscribed_resources()],
        "log": [(level, "") for level in LOG_LEVELS],
    }
    return list(names_of.get(command, ()))


def _parameters(command: str, name: str, client: "InspectorClient") -> list[tuple[str, str | None]]:
    """The arguments of a tool, a prompt or a template, each with its `=`."""
    if command == "call":
        return [
            (f"{key}=", parameter.get("description") or parameter.get("type"))
            for key, parameter in _schema(name, client).items()
        ]
    if command == "prompt":
        prompt = next((prompt for prompt in client.prompts if prompt.name == name), None)
        return [(f"{argument.name}=", argument.description) for argument in (prompt.arguments or [] if prompt else [])]
    from mcp import InvalidUriTemplate, UriTemplate

    try:
        return [(f"{variable}=", "") for variable in UriTemplate.parse(name).variable_names]
    except InvalidUriTemplate:
        return []


def _schema(tool_name: str, client: "InspectorClient") -> Mapping[str, Any]:
    tool = next((tool for tool in client.tools if tool.name == tool_name), None)
    return (tool.input_schema.get("properties") or {}) if tool is not None else {}


async def _values(
    command: str, name: str, argument: str, begun: str, arguments: Mapping[str, str], client: "InspectorClient"
) -> Sequence[str]:
    """Values of an argument: of the schema for a tool, of the server's choosing for a prompt or a template."""
    if command == "call":
        schema = _schema(name, client).get(argument) or {}
        if schema.get("type") == "boolean":
            return ("true", "false")
        values = schema.get("enum") or [schema[key] for key in ("const", "default") if key in schema]
        return [str(value) for value in values]
    from mcp import MCPError
    from mcp.types import PromptReference, ResourceTemplateReference

    from trio_debugmcp.errors import DebugError

    ref = PromptReference(name=name) if command == "prompt" else ResourceTemplateReference(uri=name)
    with trio.move_on_after(WAIT_SECONDS):
        try:
            return (await client.get_completions(ref, argument, begun, dict(arguments))).values
        except (MCPError, DebugError):
            return ()  # nothing to propose; the command itself will report what is wrong
    return ()
