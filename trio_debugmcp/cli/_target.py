"""What `inspect` and `watch` share: how a server is named, and what a failure means to a shell."""

from __future__ import annotations

import logging
import os
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import trio

from trio_debugmcp.cli._output import write_error

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Iterable, Iterator

DONE, FAILED, UNREACHABLE, NOT_FOUND = 0, 1, 4, 5
"""Exit codes: all well; usage or unexpected; unreachable or gone; a tool's error, or not found."""

INTERRUPTED = 130
"""As a shell reports a command that Ctrl-C ended."""

DEFAULT_TIMEOUT = 30.0
"""Seconds for the connection, and for each request."""

URL = re.compile(r"(https?|wss?)://", re.IGNORECASE)
RESOURCE_NOT_FOUND = -32002
INVALID_PARAMS = -32602


class Failure(Exception):
    """A command ends with `exit_code` and one line on stderr."""

    def __init__(self, code: str, message: str, exit_code: int = FAILED, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = exit_code
        self.details = details


def add_target_options(parser: argparse.ArgumentParser) -> None:
    """How to reach the server, and usage errors that end with 1."""
    group = parser.add_argument_group("connection")
    group.add_argument("--header", action="append", default=[], metavar="'NAME: VALUE'", help="for a URL; repeatable")
    group.add_argument("--env", action="append", default=[], metavar="K=V", help="for a command; repeatable")
    group.add_argument("--cwd", metavar="DIR", help="for a command; the current directory by default")
    group.add_argument(
        "--era",
        choices=["auto", "legacy", "modern"],
        default="auto",
        help="protocol era; auto asks the server (default)",
    )
    # argparse ends with 2 on its own; for these commands 1 is usage, and 2 is free for a shell to mean
    # something else by.
    parser.error = partial(_usage_error, parser)  # type: ignore[method-assign]


def client_options(args: argparse.Namespace, **more: Any) -> Any:
    """Make `InspectorOptions` of the command line; a server command sees the shell's environment."""
    from trio_debugmcp.client import InspectorOptions

    headers = dict(_split(header, ":", "--header") for header in args.header)
    env = {**os.environ, **pairs(args.env, "--env")}
    return InspectorOptions(mode=args.era, cwd=args.cwd, headers=headers, env=env, **more)


def pairs(words: Iterable[str], option: str) -> dict[str, str]:
    """`K=V` words as a mapping; only the first `=` divides."""
    return dict(_split(word, "=", option) for word in words)


def one_target(words: list[str]) -> str | list[str]:
    """Take a URL by itself, or the words of a command."""
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

    logging.getLogger().addHandler(logging.NullHandler())  # the SDK's log is not the promised line
    ended: list[BaseException] = []
    try:
        trio.run(command)
    except* (Failure, DebugError, MCPError, OSError, KeyboardInterrupt) as group:
        ended.extend(_leaves(group))
    for error in ended:
        if isinstance(error, KeyboardInterrupt):
            return INTERRUPTED
        if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
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
