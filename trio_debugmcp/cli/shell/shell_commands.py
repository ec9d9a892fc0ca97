"""The commands of the shell: what a line means, and what it does on a connected client.

    shell = Commands(client, Display(as_json=False))
    await shell.run("call add a=2 b=3")

Results are written to standard output, failures are raised.
"""

import json
import re
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trio_debugmcp.cli._output import NOT_FOUND, plain
from trio_debugmcp.cli._target import Failure, said_by, tool_failure, tool_result
from trio_debugmcp.cli.shell.display import Display
from trio_debugmcp.coercion import json_or_text

if TYPE_CHECKING:  # `serve` must start without the client
    from trio_debugmcp.client import InspectorClient

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

HELP = {
    "info": ("info", "the server, its capabilities and instructions"),
    "tools": ("tools [TEXT]", "list the tools, or those with TEXT in their name or description"),
    "resources": ("resources [TEXT]", "list the resources and the templates"),
    "prompts": ("prompts [TEXT]", "list the prompts"),
    "show": ("show NAME", "all that the server says of a tool, a prompt, a resource or a template"),
    "call": ("call TOOL [K=V…|JSON]", "call a tool"),
    "read": ("read URI | TEMPLATE K=V…", "read a resource"),
    "prompt": ("prompt NAME [K=V…]", "get a prompt"),
    "ping": ("ping", "check that the server answers"),
    "log": ("log LEVEL", "ask for log messages of LEVEL and above"),
    "subscribe": ("subscribe URI…", "report changes of these resources from now on"),
    "unsubscribe": ("unsubscribe [URI…]", "stop that; without a URI for all"),
    "subscriptions": ("subscriptions", "list what is subscribed"),
    "watch": ("watch URI [COUNT]", "show a resource now and after each change, until Ctrl-C or COUNT changes"),
    "messages": ("messages [COUNT]", "the last messages on the wire"),
    "help": ("help", "this list"),
    "quit": ("quit", "end the shell, as Ctrl-D does"),
}
"""Each command: how it is written, and what it does. The method of the same name, with an underscore, does it."""

DEFAULT_MESSAGES = 10
"""Shown by `messages`: a request or two with their answers and notifications."""


class Quit(Exception):
    """Raised by `quit` and at the end of input."""


class Commands:
    """Runs lines on `client` and shows their results: a method for each command, hence so many."""

    def __init__(self, client: "InspectorClient", display: Display) -> None:
        self._client = client
        self._display = display

    async def run(self, line: str) -> None:
        """Run one line; an empty one and a comment (`#`) do nothing.

        Raises:
            Failure: the line cannot be run, or the server refused; MCPError and the client's errors too.
            Quit: the person wants to leave.
        """
        try:
            name, *words = split(line) or [""]
        except ValueError as error:
            raise Failure("usage", f"{error}: quotes and braces must be closed") from error
        if not name or name.startswith("#"):
            return
        if name not in HELP:
            raise Failure("usage", f"There is no command {name!r}; help lists them")
        command: Callable[[Sequence[str]], Awaitable[None]] = getattr(self, f"_{name}")
        await command(words)

    # --- What the server has ------------------------------------------------------------------------------------------

    async def _info(self, words: Sequence[str]) -> None:
        client = self._client
        self._display.value(
            {
                "server": client.server_info,
                "protocolVersion": client.protocol_version,
                "capabilities": client.capabilities,
                "instructions": client.instructions,
                "status": client.status,
            }
        )

    async def _tools(self, words: Sequence[str]) -> None:
        self._display.items([(tool.name, tool.description) for tool in await self._client.list_tools()], words)

    async def _resources(self, words: Sequence[str]) -> None:
        listed = [
            (resource.uri, resource.description or resource.name) for resource in await self._client.list_resources()
        ]
        listed += [
            (template.uri_template, template.description or template.name)
            for template in await self._client.list_resource_templates()
        ]
        self._display.items(listed, words)

    async def _prompts(self, words: Sequence[str]) -> None:
        self._display.items([(prompt.name, prompt.description) for prompt in await self._client.list_prompts()], words)

    async def _show(self, words: Sequence[str]) -> None:
        (name,) = _exactly(words, "NAME")
        client = self._client
        kinds = {
            "name": (*client.tools, *client.prompts),
            "uri": client.resources,
            "uri_template": client.resource_templates,
        }
        items = [item for key, listed in kinds.items() for item in listed if getattr(item, key) == name]
        if not items:
            raise Failure("not_found", f"{name!r} is neither a tool nor a prompt, resource or template", NOT_FOUND)
        for item in items:
            self._display.value(item)

    # --- Requests -----------------------------------------------------------------------------------------------------

    async def _call(self, words: Sequence[str]) -> None:
        name, *rest = _at_least_one(words, "TOOL")
        # One that is not listed is called too: a server may list it for some clients only, and answer with the reason.
        tool = next((tool for tool in self._client.tools if tool.name == name), None)
        properties = (tool.input_schema.get("properties") or {}) if tool is not None else {}
        result = tool_result(await self._client.call_tool(name, arguments(rest, properties)))
        self._display.content(result, result.content)
        if result.is_error:
            raise tool_failure(name, said_by(plain(result)))

    async def _read(self, words: Sequence[str]) -> None:
        uri, *rest = _at_least_one(words, "URI")
        if rest or any(template.uri_template == uri for template in self._client.resource_templates):
            parameters = {name: str(value) for name, value in arguments(rest, None).items()}
            result = (await self._client.read_resource_from_template(uri, parameters)).result
        else:
            result = (await self._client.read_resource(uri)).result
        self._display.content(result, result.contents)

    async def _prompt(self, words: Sequence[str]) -> None:
        name, *rest = _at_least_one(words, "NAME")
        result = (await self._client.get_prompt(name, arguments(rest, None))).result
        self._display.content(result, [message.content for message in result.messages])

    async def _ping(self, words: Sequence[str]) -> None:
        await self._client.ping()
        self._display.note("the server answers")

    async def _log(self, words: Sequence[str]) -> None:
        (level,) = _exactly(words, "LEVEL")
        if level not in LOG_LEVELS:
            raise Failure("usage", f"LEVEL is one of {', '.join(LOG_LEVELS)}")
        protocol_level: Any = level
        await self._client.set_logging_level(protocol_level)

    # --- Changes ------------------------------------------------------------------------------------------------------

    async def _subscribe(self, words: Sequence[str]) -> None:
        for uri in _at_least_one(words, "URI"):
            await self._client.subscribe_to_resource(uri)

    async def _unsubscribe(self, words: Sequence[str]) -> None:
        for uri in words or self._client.get_subscribed_resources():
            await self._client.unsubscribe_from_resource(uri)

    async def _subscriptions(self, words: Sequence[str]) -> None:
        self._display.items([(uri, None) for uri in self._client.get_subscribed_resources()], words)

    async def _watch(self, words: Sequence[str]) -> None:
        uri, *rest = _at_least_one(words, "URI")
        left = _count(rest, None)
        async with self._client.subscribed(uri) as updates:
            await self._read([uri])
            async for _ in updates:
                if left == 0:
                    return
                left = None if left is None else left - 1
                await self._read([uri])
                if left == 0:
                    return

    async def _messages(self, words: Sequence[str]) -> None:
        count = _count(words, DEFAULT_MESSAGES)
        for entry in self._client.messages[-(count or DEFAULT_MESSAGES) :]:
            self._display.line(entry)

    async def _help(self, words: Sequence[str]) -> None:
        widest = max(len(usage) for usage, _ in HELP.values())
        for usage, about in HELP.values():
            self._display.note(f"{usage:<{widest}}  {about}")

    async def _quit(self, words: Sequence[str]) -> None:
        raise Quit


_JSON_VALUE = re.compile(r"""(?<!\S)[^\s=\[{'"]+=(?=[\[{])""")
"""The name before a value that may be JSON."""


def split(line: str) -> list[str]:
    """The words of a line. JSON is taken as it stands: a list or an object behind `NAME=`, or a whole last word."""
    words: list[str] = []
    begin = 0
    for name in _JSON_VALUE.finditer(line):
        head = line[begin : name.start()]
        if name.start() < begin or " {" in head:
            continue
        try:
            before = _plain_words(head)  # fails within quotes
            _, end = json.JSONDecoder().raw_decode(line, name.end())
        except ValueError:
            continue
        if not line[end : end + 1].strip():
            words += [*before, line[name.start() : end]]
            begin = end
    return words + _plain_words(line[begin:])


def _plain_words(line: str) -> list[str]:
    """The words between quotes and blanks; from the first one that starts with `{` the rest is one word."""
    head, brace, json_text = line.partition(" {")
    lexer = shlex.shlex(head, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return [*lexer, *([f"{{{json_text.strip()}"] if brace else [])]


def arguments(words: Sequence[str], properties: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read `K=V` words, or one JSON object.

    Args:
        words: of the command line.
        properties: of the schema: values of other names are read as JSON if they are JSON. None to keep all as text.
    """
    if len(words) == 1 and words[0].startswith("{"):
        try:
            arguments = json.loads(words[0])
        except ValueError as error:
            raise Failure("usage", f"Not JSON: {error}") from error
        return dict(arguments)
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Failure("usage", f"An argument is NAME=VALUE, or all are one JSON object; not {word!r}")
        values[name] = value if properties is None or name in properties else json_or_text(value)
    return values


def _exactly(words: Sequence[str], name: str) -> Sequence[str]:
    if len(words) != 1:
        raise Failure("usage", f"One {name} is needed; help lists the commands")
    return words


def _at_least_one(words: Sequence[str], name: str) -> Sequence[str]:
    if not words:
        raise Failure("usage", f"{name} is missing; help lists the commands")
    return words


def _count(words: Sequence[str], default: int | None) -> int | None:
    if not words:
        return default
    if len(words) > 1 or not words[0].isdecimal() or int(words[0]) < 1:
        raise Failure("usage", f"COUNT is a whole number from 1, not {' '.join(words)!r}")
    return int(words[0])
