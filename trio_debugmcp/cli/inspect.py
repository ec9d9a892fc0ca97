"""`trio-debugmcp inspect`: connect to any MCP server, make one request, print the result."""

import argparse
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from trio_debugmcp.cli._notices import Notices, open_notices
from trio_debugmcp.cli._output import NOT_FOUND, compact, plain, write_line, write_pretty, write_warning
from trio_debugmcp.cli._person import LineTerminal, Person, add_person_options
from trio_debugmcp.cli._servers import add_server_options, choose, has_terminal, is_named_by_option
from trio_debugmcp.cli._target import (
    DEFAULT_TIMEOUT_SECONDS,
    URL,
    Failure,
    add_command,
    add_limits,
    add_target,
    add_target_options,
    pairs,
    run_command,
    said_by,
    seconds,
    tool_failure,
    tool_result,
)
from trio_debugmcp.coercion import json_or_text

if TYPE_CHECKING:  # `serve` must start without the client
    from trio_debugmcp.client import EventStream, InspectorClient

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""As the protocol has them; the SDK, which has them too, is imported only to run."""

CALL_TIMEOUT_SECONDS = 60.0
"""For a tool's answer. Tools have limits of their own, 30 s in many, and answer when these are over."""

EXAMPLES = """\
examples:
  trio-debugmcp inspect -- trio-debugmcp serve
  trio-debugmcp inspect --method tools/list http://127.0.0.1:8000/mcp
  trio-debugmcp inspect --header 'Authorization: Bearer TOKEN' --method ping ws://127.0.0.1:8765/mcp
  trio-debugmcp inspect --method tools/call --tool-name add --tool-arg a=2 b=3 -- my-server
  trio-debugmcp inspect --method resources/read --uri debugger://session --format json -- trio-debugmcp | jq .result
  trio-debugmcp inspect --method resources/read --template 'demo://{name}' --args name=counter -- my-server
  trio-debugmcp inspect --method completion/complete --prompt-name review --args language=py -- my-server

exit codes: 0 ok, 1 unexpected, 2 usage, 3 not authorised, 4 unreachable, 5 tool error or not found. With any but 0,
standard error has one line {"error": {"code", "message"}}.
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `inspect` and its options to the command line."""
    parser = add_command(
        commands, "inspect", "make one request to any MCP server and print the result", __doc__, EXAMPLES
    )
    add_target(parser)
    parser.add_argument(
        "--method", choices=sorted(METHODS), default="initialize", metavar="METHOD",
        help=f"the request: {', '.join(sorted(METHODS))} (default %(default)s, which shows the server)",
    )  # fmt: skip
    _add_parameters(parser)
    more = f"; {CALL_TIMEOUT_SECONDS:g} for tools/call"
    add_limits(parser, "the request", "indented JSON", 'one line {"result": …}', more)
    parser.add_argument(
        "--connect-timeout", type=seconds, metavar="S",
        help="seconds for the server to start and to complete the handshake (default: as --timeout)",
    )  # fmt: skip
    add_person_options(parser)
    add_target_options(parser)
    add_server_options(parser)
    parser.set_defaults(run=run, many_words=("tool_arg", "prompt_args", "metadata"))


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    words: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "metavar": "K=V"}
    group = parser.add_argument_group("parameters of the request")
    group.add_argument("--tool-name", metavar="NAME", help="the tool to call")
    group.add_argument("--tool-arg", **words, help="arguments of the tool, of the types of its schema; others as JSON")
    group.add_argument("--tool-args-json", metavar="JSON", help="all arguments as one object, sent unchanged")
    group.add_argument("--uri", help="the resource to read or to subscribe to")
    group.add_argument("--template", metavar="URI_TEMPLATE", help="a resource template, expanded with --args")
    group.add_argument("--prompt-name", metavar="NAME", help="the prompt to get, or to complete an argument of")
    group.add_argument(
        "--prompt-args", "--args", dest="prompt_args", **words,
        help="arguments of a prompt or a template; completion/complete completes the last, with the others as context",
    )  # fmt: skip
    group.add_argument(
        "--log-level", choices=LOG_LEVELS, metavar="LEVEL",
        help=f"the level that logging/setLevel sets: {', '.join(LOG_LEVELS)}",
    )  # fmt: skip
    group.add_argument(
        "--page", action="store_true", help="one page of a list, as the server sent it: with nextCursor and _meta"
    )
    group.add_argument("--cursor", metavar="CURSOR", help="the page that a nextCursor announced")
    group.add_argument("--metadata", **words, help="_meta of the request")


def run(args: argparse.Namespace) -> int:
    """Make the request and print its result; returns the exit code."""
    return run_command(lambda: _inspect(args))


async def _inspect(args: argparse.Namespace) -> None:
    _check(args)
    if (result := await ask_quickly(args)) is None:
        result = await ask(args)
    if args.format == "json":
        write_line(compact({"result": result}))
    else:
        write_pretty(result)
    if args.method == "tools/call" and result.get("isError"):
        raise tool_failure(args.tool_name, said_by(result))


async def ask_quickly(args: argparse.Namespace) -> Any:
    """Ask without the SDK, if that is enough for the request and the server; else None."""
    from trio_debugmcp.cli import _without_sdk

    words = args.words
    configured = is_named_by_option(args)
    if not words or URL.match(words[0]) or configured or args.metadata:
        return None
    env = {**os.environ, **pairs(args.env, "--env")}
    with suppress(OSError):  # no such command, for example
        if args.method == "tools/call":
            return await _call_quickly(args, env)
        if args.method not in _without_sdk.METHODS or args.verbose or args.root or args.page or args.cursor is not None:
            return None  # the client shows notices, answers the server, and fetches one page
        if args.method == "resources/read" and not args.uri:
            return None  # the templates of RFC 6570 are the SDK's
        params = {"uri": args.uri} if args.uri else {}
        return await _without_sdk.request(
            words, env, args.cwd, era=args.era, method=args.method, params=params, **_limits(args)
        )
    return None


async def _call_quickly(args: argparse.Namespace, env: dict[str, str]) -> Any:
    from trio_debugmcp.cli._without_sdk import CommandAudience, ToolCall, call_tool

    notices, person = _audience(args)
    call = ToolCall(args.tool_name, partial(_tool_arguments, args), CommandAudience(notices, person, args.root))
    return await call_tool(args.words, env, args.cwd, era=args.era, call=call, notices=notices, **_limits(args))


def time_limit(args: argparse.Namespace) -> float:
    """Return how many seconds the request may take."""
    if args.timeout is not None:
        return float(args.timeout)
    return CALL_TIMEOUT_SECONDS if args.method == "tools/call" else DEFAULT_TIMEOUT_SECONDS


def _limits(args: argparse.Namespace) -> dict[str, float]:
    limit = time_limit(args)
    return {"seconds": limit, "connect": limit if args.connect_timeout is None else args.connect_timeout}


def _audience(args: argparse.Namespace) -> tuple[Notices, Person]:
    """Who hears what happens beside the result, and who answers the server."""
    notices = Notices(enabled=args.verbose if args.verbose is not None else sys.stderr.isatty())
    return notices, Person(LineTerminal() if has_terminal() else None, notices.write)


async def ask(args: argparse.Namespace) -> Any:
    """Ask with the client, which explains what goes wrong."""
    from trio_debugmcp.client import InspectorClient

    request = METHODS[args.method]
    notices, person = _audience(args)
    target, options = choose(
        args,
        args.words,
        on_log=notices.on_log,
        **person.options(args.root),
        auto_sync_lists=False,
        connect_timeout=_limits(args)["connect"],
        request_timeout=_limits(args)["seconds"],
        metadata=pairs(args.metadata, "--metadata") or None,
    )
    client = InspectorClient(target, options)
    async with open_notices(client, notices), client, client.events("error") as errors:
        result = await request(client, args)
        for message in _received(errors):  # what was left out of a list, for example, which the result does not show
            write_warning(message)
    return plain(result)


def _received(errors: "EventStream[Any]") -> Iterator[str]:
    with suppress(trio.WouldBlock):
        while True:
            yield str(plain(errors.receive_nowait())["message"])


def _check(args: argparse.Namespace) -> None:
    """Refuse wrong usage that can be recognized without a connection."""
    needed = {
        "tools/call": "tool_name",
        "resources/subscribe": "uri",
        "prompts/get": "prompt_name",
        "logging/setLevel": "log_level",
    }
    if (name := needed.get(args.method)) is not None and not getattr(args, name):
        raise Failure("usage", f"{args.method} needs --{name.replace('_', '-')}")
    if args.method == "resources/read" and bool(args.uri) == bool(args.template):
        raise Failure("usage", "resources/read needs either --uri or --template")
    if args.method == "completion/complete":
        if bool(args.prompt_name) == bool(args.template):
            raise Failure("usage", "completion/complete needs either --prompt-name or --template")
        if not args.prompt_args:
            raise Failure("usage", "completion/complete needs --args NAME=BEGINNING")
    if args.tool_arg and args.tool_args_json:
        raise Failure("usage", "--tool-arg and --tool-args-json exclude each other")
    pairs(args.tool_arg, "--tool-arg")
    pairs(args.prompt_args, "--args")
    for name, methods in _PARAMETERS.items():
        if args.method not in methods and getattr(args, name) not in (None, False, []):
            option = "args" if name == "prompt_args" else name.replace("_", "-")
            raise Failure("usage", f"{args.method} takes no --{option}: that is for --method {' or '.join(methods)}")


async def _initialize(client: "InspectorClient", _: argparse.Namespace) -> Any:
    return {
        "serverInfo": client.server_info,
        "protocolVersion": client.protocol_version,
        "capabilities": client.capabilities,
        "instructions": client.instructions,
    }


async def _tools_call(client: "InspectorClient", args: argparse.Namespace) -> Any:
    tool = next((tool for tool in await client.list_tools() if tool.name == args.tool_name), None)
    # A server may list a tool for some clients only, and answer the others with the reason.
    schema = tool.input_schema if tool is not None else {}
    return tool_result(await client.call_tool(args.tool_name, _tool_arguments(args, schema)))


def _tool_arguments(args: argparse.Namespace, schema: dict[str, Any]) -> dict[str, Any]:
    if args.tool_args_json is not None:
        arguments = _object(args.tool_args_json)
    else:
        properties = schema.get("properties")
        typed = properties if isinstance(properties, dict) else {}
        words = pairs(args.tool_arg, "--tool-arg")
        arguments = {name: value if name in typed else json_or_text(value) for name, value in words.items()}
    try:
        json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        raise Failure("usage", f"the arguments of the tool cannot be sent as JSON: {error}") from error
    return arguments


def _object(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise Failure("usage", f"--tool-args-json is not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise Failure("usage", "--tool-args-json must be an object")
    return arguments


async def _resources_read(client: "InspectorClient", args: argparse.Namespace) -> Any:
    if args.uri:
        return (await client.read_resource(args.uri)).result
    params = pairs(args.prompt_args, "--args")
    if all(template.uri_template != args.template for template in await client.list_resource_templates()):
        raise Failure("template_not_found", f"Template {args.template!r} not found on server.", NOT_FOUND)
    return (await client.read_resource_from_template(args.template, params)).result


async def _resources_subscribe(client: "InspectorClient", args: argparse.Namespace) -> Any:
    await client.subscribe_to_resource(args.uri)
    return {}


async def _prompts_get(client: "InspectorClient", args: argparse.Namespace) -> Any:
    if all(prompt.name != args.prompt_name for prompt in await client.list_prompts()):
        raise Failure("prompt_not_found", f"Prompt {args.prompt_name!r} not found on server.", NOT_FOUND)
    return (await client.get_prompt(args.prompt_name, pairs(args.prompt_args, "--args"))).result


async def _complete(client: "InspectorClient", args: argparse.Namespace) -> Any:
    from mcp.types import PromptReference, ResourceTemplateReference

    by_prompt = PromptReference(name=args.prompt_name) if args.prompt_name else None
    ref = by_prompt or ResourceTemplateReference(uri=args.template)
    *context, (name, value) = pairs(args.prompt_args, "--args").items()
    return {"completion": await client.get_completions(ref, name, value, dict(context) or None)}


async def _set_level(client: "InspectorClient", args: argparse.Namespace) -> Any:
    await client.set_logging_level(args.log_level)
    return {}


async def _ping(client: "InspectorClient", _: argparse.Namespace) -> Any:
    await client.ping()
    return {}


def _list(kind: Any, field: str) -> Callable[["InspectorClient", argparse.Namespace], Awaitable[Any]]:
    async def fetch(client: "InspectorClient", args: argparse.Namespace) -> Any:
        if args.page or args.cursor is not None:
            return await client.list_page(kind, args.cursor)
        return {field: await getattr(client, f"list_{kind}")()}

    return fetch


METHODS: dict[str, Callable[["InspectorClient", argparse.Namespace], Awaitable[Any]]] = {
    "initialize": _initialize,
    "tools/list": _list("tools", "tools"),
    "tools/call": _tools_call,
    "resources/list": _list("resources", "resources"),
    "resources/read": _resources_read,
    "resources/templates/list": _list("resource_templates", "resourceTemplates"),
    "resources/subscribe": _resources_subscribe,
    "prompts/list": _list("prompts", "prompts"),
    "prompts/get": _prompts_get,
    "completion/complete": _complete,
    "logging/setLevel": _set_level,
    "ping": _ping,
}

_LISTS = tuple(method for method in METHODS if method.endswith("/list"))

_PARAMETERS: dict[str, tuple[str, ...]] = {
    "tool_name": ("tools/call",),
    "tool_arg": ("tools/call",),
    "tool_args_json": ("tools/call",),
    "uri": ("resources/read", "resources/subscribe"),
    "template": ("resources/read", "completion/complete"),
    "prompt_name": ("prompts/get", "completion/complete"),
    "prompt_args": ("prompts/get", "resources/read", "completion/complete"),
    "log_level": ("logging/setLevel",),
    "page": _LISTS,
    "cursor": _LISTS,
}
"""Which requests have each parameter; in others it would be left out, which no user would notice."""
