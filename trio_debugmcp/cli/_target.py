"""What `inspect` and `watch` share: how a server is named, and exit codes for each kind of failure.

The SDK and the client are imported inside functions: the command line loads this module for `serve` too.
"""

import argparse
import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any, NoReturn

import trio

from trio_debugmcp.cli._output import write_error

DONE, FAILED, UNREACHABLE, NOT_FOUND = 0, 1, 4, 5
"""Exit codes: ok; usage or unexpected; unreachable or connection lost; a tool's error or not found."""

INTERRUPTED = 130
"""The exit code that a shell reports for a command that Ctrl-C ended."""

DEFAULT_TIMEOUT_SECONDS = 30.0
"""For the connection, and for each request."""

URL = re.compile(r"(https?|wss?)://", re.IGNORECASE)
RESOURCE_NOT_FOUND = -32002
INVALID_PARAMS = -32602


class Failure(Exception):
    """Ends a command with `exit_code` and one line on standard error."""

    def __init__(self, code: str, message: str, exit_code: int = FAILED, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = exit_code
        self.details = details


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
    # argparse exits with 2 by default; the documented exit code of these commands is 1.
    parser.error = partial(_usage_error, parser)  # type: ignore[method-assign]


def client_options(args: argparse.Namespace, **more: Any) -> Any:
    """Make `InspectorOptions` of the command line; a server command gets the shell's environment."""
    from trio_debugmcp.client import InspectorOptions

    headers = dict(_split(header, ":", "--header") for header in args.header)
    env = {**os.environ, **pairs(args.env, "--env")}
    return InspectorOptions(mode=args.era, cwd=args.cwd, headers=headers, env=env, **more)


def pairs(words: Iterable[str], option: str) -> dict[str, str]:
    """Split `K=V` words at the first `=`, into a mapping."""
    return dict(_split(word, "=", option) for word in words)


def one_target(words: list[str]) -> str | list[str]:
    """The target that `words` name: one URL, or the words of a command."""
    if not words:
        raise Failure("usage", "name a server: a URL, or a command after `--`; see --help")
    if URL.match(words[0]):
        if len(words) > 1:
            raise Failure("usage", f"unexpected after the URL: {' '.join(words[1:])}")
        return words[0]
    return words


def run_command(command: Callable[[], Awaitable[None]]) -> int:
    """Run `command` under Trio and turn what it raises into an exit code and one line on stderr."""
    from mcp import MCPError

    from trio_debugmcp.errors import DebugError

    logging.getLogger().addHandler(logging.NullHandler())  # else the SDK's records would appear beside the one line
    ended: list[BaseException] = []
    try:
        trio.run(command)
    except* (Failure, DebugError, MCPError, OSError, KeyboardInterrupt) as group:
        ended.extend(_leaves(group))
    for error in ended:
        if isinstance(error, KeyboardInterrupt):
            return INTERRUPTED
        if isinstance(error, BrokenPipeError):  # the reader of our output, `head` for example, is done
            # Or the interpreter's last flush would fail with the same error, and print it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        failure = _as_failure(error)
        write_error(failure.code, str(failure), **failure.details)
        return failure.exit_code
    return DONE


def _as_failure(error: BaseException) -> Failure:
    from mcp import MCPError

    from trio_debugmcp.client import ConnectFailed, ConnectionLost

    match error:
        case Failure():
            return error
        case ConnectFailed() | ConnectionLost():
            return Failure("unreachable", str(error), UNREACHABLE)
        case MCPError():
            return _refused(error)
        case _:
            return Failure("error", str(error))


def _refused(error: Any) -> Failure:
    missing = error.code == RESOURCE_NOT_FOUND or (
        error.code == INVALID_PARAMS and re.search("not found|unknown", error.message, re.IGNORECASE)
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
    name, found, value = word.partition(separator)
    if not found or not name:
        raise Failure("usage", f"{option} wants NAME{separator}VALUE, not {word!r}")
    return name, value.strip() if separator == ":" else value


def _usage_error(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    write_error("usage", f"{message}; see {parser.prog} --help")
    raise SystemExit(FAILED)
