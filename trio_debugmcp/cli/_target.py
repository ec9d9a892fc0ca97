"""What `inspect` and `watch` share: how their arguments are read, how a server is named, and how they end.

The SDK and the client are imported inside functions: the command line loads this module for `serve` too.
"""

import argparse
import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from math import inf, nan
from typing import Any, NoReturn
from urllib.parse import urlsplit

import trio

from trio_debugmcp.cli._output import (
    DONE,
    FAILED,
    INTERRUPTED,
    NOT_AUTHORIZED,
    NOT_FOUND,
    UNREACHABLE,
    USAGE,
    write_error,
)
from trio_debugmcp.errors import DebugError

DEFAULT_TIMEOUT_SECONDS = 30.0
"""For the connection, and for each request."""

URL = re.compile(r"(https?|wss?)://", re.IGNORECASE)
RESOURCE_NOT_FOUND = -32002
INVALID_PARAMS = -32602


class Failure(DebugError):
    """Ends a command with `exit_code` and one line on standard error."""

    def __init__(self, code: str, message: str, exit_code: int = FAILED, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = USAGE if code == "usage" else exit_code
        self.details = details


def tool_failure(name: str, said: str, *, refused: bool = False, rpc_code: int | None = None) -> Failure:
    """Return how a tool call failed: with a code of its own if the server says that it does not know the tool.

    Servers may have tools that they do not list for everybody, so only their answer tells; it has no code of its own.
    """
    tool = rf"\\?['\"`]?{re.escape(name)}\b\\?['\"`]?"
    missing = "not found|is not found|is unknown|does not exist"
    unknown = rf"\b(unknown|no|no such) tool:? {tool}|\btool:? {tool} ({missing})"
    if re.search(unknown, said, re.IGNORECASE):
        return Failure("tool_not_found", f"Tool {name!r} not found on server.", NOT_FOUND, rpcCode=rpc_code)
    message = said if refused else f"Tool {name!r} reported an error"
    return Failure("tool_is_error", message, NOT_FOUND, rpcCode=rpc_code)


def tool_result(invocation: Any) -> Any:
    """Return the result of a tool call.

    Raises:
        Failure: there is none, or it is not what the protocol or the tool's schema permits.
    """
    if invocation.fault == "refused":
        raise tool_failure(invocation.tool_name, invocation.error or "", refused=True, rpc_code=invocation.error_code)
    if invocation.fault is not None:  # not the tool's: it may have run
        raise Failure(invocation.fault, invocation.error or "", result=invocation.result)
    return invocation.result


def said_by(result: Mapping[str, Any]) -> str:
    """Return the text of a tool's answer, which is in JSON types."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def add_command(
    commands: Any, name: str, summary: str, description: str | None, examples: str
) -> argparse.ArgumentParser:
    """Add a command whose help shows its examples as they are written, so that they can be copied."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_limits(parser: argparse.ArgumentParser, counted: str, text: str, json: str, more: str = "") -> None:
    """Add the time limit of what is `counted`, and the format of results with what its values mean.

    `more`: which other defaults there are; the time limit is then None where none was given.
    """
    parser.add_argument(
        "--timeout", type=seconds, default=None if more else DEFAULT_TIMEOUT_SECONDS, metavar="S",
        help=f"seconds for the connection, and for {counted} (default {DEFAULT_TIMEOUT_SECONDS:g}{more})",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help=f"text: {text}; json: {json} (default text)"
    )


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the words that name the server."""
    parser.add_argument(
        "words", nargs="*", metavar="TARGET", help="an http(s):// or ws(s):// URL, or a server command after --"
    )


def add_target_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to reach the server, and make usage errors end with 1."""
    group = parser.add_argument_group("connection")
    many: dict[str, Any] = {"action": "append", "default": []}
    group.add_argument("--header", **many, metavar="'NAME: VALUE'", help="HTTP header for a URL (repeatable)")
    group.add_argument("--env", **many, metavar="K=V", help="environment variable for a command (repeatable)")
    group.add_argument("--cwd", metavar="DIR", help="working directory of a command (default: the current one)")
    group.add_argument(
        "--era", choices=["auto", "legacy", "modern"], default="auto",
        help="protocol era; auto takes the newest that the server has (default %(default)s)",
    )  # fmt: skip
    parser.error = partial(_usage_error, parser)  # type: ignore[method-assign]
    parser.set_defaults(parse=partial(_parse, parser))


def count(text: str) -> int:
    """Read a number of things from the command line: 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"wants a whole number from 1, not {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """Read a time limit from the command line: more than 0."""
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not 0 < value < inf:
        raise argparse.ArgumentTypeError(f"wants a number of seconds above 0, not {text!r}")
    return value


def client_options(args: argparse.Namespace, **more: Any) -> Any:
    """Make `InspectorOptions` of the command line; a server command gets the shell's environment."""
    from trio_debugmcp.client import InspectorOptions

    headers = dict(_split(header, ":", "--header") for header in args.header)
    env = {**os.environ, **pairs(args.env, "--env")}
    return InspectorOptions(mode=args.era, cwd=args.cwd, headers=headers, env=env, **more)


def pairs(words: Iterable[str], option: str) -> dict[str, str]:
    """Split `K=V` words at the first `=`, into a mapping."""
    return dict(_split(word, "=", option) for word in words)


def _parse(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Read the arguments of a command: a target and options in any order, then perhaps `--` and a server command."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parsed, unknown = parser.parse_known_intermixed_args(arguments[:at])
    if unknown:
        parser.error(f"unrecognized: {' '.join(unknown)}; the options of a server command stand after --")
    parsed.words += [*_swallowed(parsed), *arguments[at + 1 :]]
    if parsed.words and (unused := _unused_option(parsed, is_url=URL.match(parsed.words[0]) is not None)):
        parser.error(unused)
    return parsed


def _unused_option(parsed: argparse.Namespace, *, is_url: bool) -> str | None:
    """Return which option has no effect with a URL or a command; None if all have one."""
    if parsed.kept or parsed.server is not None or parsed.config is not None:
        return None  # what the entry is, and which variables stand in it, is not known yet
    of_url = {"--header": parsed.header, "--client-id": parsed.client_id, "--scope": parsed.scope}
    of_url |= {"--auth": parsed.auth != "auto", "--transport": parsed.transport != "auto"}
    of_command = {"--env": parsed.env, "--cwd": parsed.cwd}
    server, other, options = ("a URL", "a command", of_command) if is_url else ("a command", "a URL", of_url)
    for option in (option for option, value in options.items() if value):
        return f"{option} is for {other}, and the server is {server}"
    return "--input is for a server of an mcp.json, named by --server or --config" if parsed.input else None


def _swallowed(parsed: argparse.Namespace) -> list[str]:
    """Take out of the options with several words a URL and what follows it: `--tool-arg a=1 http://…`."""
    positional: list[str] = []
    for name in parsed.many_words:
        words = getattr(parsed, name)
        at = next((i for i, word in enumerate(words) if URL.match(word)), len(words))
        positional += words[at:]
        del words[at:]
    return positional


def one_target(words: list[str]) -> str | list[str]:
    """The target that `words` name: one URL, or the words of a command."""
    if not words:
        raise Failure("usage", "name a server: a URL, or a command after `--`; see --help")
    if URL.match(words[0]):
        if len(words) > 1:
            raise Failure("usage", f"unexpected after the URL: {' '.join(words[1:])}; see --help")
        try:
            urlsplit(words[0])
        except ValueError as error:
            raise Failure("usage", f"{words[0]!r} is not a URL: {error}") from error
        return words[0]
    return words


def run_command(command: Callable[[], Awaitable[None]]) -> int:
    """Run `command` under Trio and turn what it raises into an exit code and one line on stderr."""
    logging.getLogger().addHandler(logging.NullHandler())  # else the SDK's records would appear beside the one line
    ended: list[BaseException] = []
    try:
        trio.run(command)
    except* (Failure, DebugError, OSError, KeyboardInterrupt, *_sdk_errors()) as group:  # type: ignore[misc]
        ended.extend(_leaves(group))
    for error in ended:
        if isinstance(error, KeyboardInterrupt):
            return INTERRUPTED
        if isinstance(error, BrokenPipeError):  # the reader of our output, `head` for example, is done
            # Or the interpreter's last flush would fail with the same error, and print it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        failure = as_failure(error)
        write_error(failure.code, str(failure), **failure.details)
        return failure.exit_code
    return DONE


def _sdk_errors() -> tuple[type[Exception], ...]:
    """The SDK's error, if the command has loaded the SDK."""
    return (sys.modules["mcp"].MCPError,) if "mcp" in sys.modules else ()


def as_failure(error: BaseException) -> Failure:
    """What an error means to the person at the command line."""
    if isinstance(error, Failure):
        return error
    from mcp import MCPError

    from trio_debugmcp.client import AuthorizationLost, ConnectFailed, ConnectionLost, NotAuthorized

    match error:
        case NotAuthorized() | AuthorizationLost():
            return Failure("unauthorized", str(error), NOT_AUTHORIZED)
        case ConnectFailed() | ConnectionLost():
            return Failure("unreachable", str(error), UNREACHABLE)
        case MCPError():
            return _refused(error)
        case _:
            return Failure("error", str(error))


def _refused(error: Any) -> Failure:
    # Since 2026-07-28 invalid parameters, with the URI as data; servers of before have only their words.
    names_it = isinstance(error.data, dict) and "uri" in error.data
    missing = error.code == RESOURCE_NOT_FOUND or (
        error.code == INVALID_PARAMS and (names_it or re.search("not found|unknown", error.message, re.IGNORECASE))
    )
    if missing:
        return Failure("not_found", error.message, NOT_FOUND, rpcCode=error.code, data=error.data)
    return Failure("error", error.message, rpcCode=error.code, data=error.data)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    else:
        yield error


def _split(word: str, separator: str, option: str) -> tuple[str, str]:
    name, divider, value = word.partition(separator)
    if not divider or not name:
        raise Failure("usage", f"{option} wants NAME{separator}VALUE, not {word!r}")
    return name, value.strip() if separator == ":" else value


def _usage_error(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    write_error("usage", f"{message}; see {parser.prog} --help")
    raise SystemExit(USAGE)
