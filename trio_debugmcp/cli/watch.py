"""`trio-debugmcp watch`: subscribe to resources of any MCP server and print a line for each change."""

import argparse
import re
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import trio

from trio_debugmcp.cli._output import compact, plain, terminal, write_line, write_warning
from trio_debugmcp.cli._servers import add_server_options, choose, is_named_by_option
from trio_debugmcp.cli._target import (
    DEFAULT_TIMEOUT_SECONDS,
    URL,
    Failure,
    add_command,
    add_target_options,
    count,
    run_command,
    seconds,
)

if TYPE_CHECKING:  # `serve` must start without the client
    from trio_debugmcp.client import ConnectionLost, Disconnect, Event, InspectorClient
    from trio_debugmcp.client.events import EventKind

EXAMPLES = """\
examples:
  trio-debugmcp watch --read http://127.0.0.1:8000/mcp debugger://session
  trio-debugmcp watch --header 'Authorization: Bearer TOKEN' ws://127.0.0.1:8765/mcp
  trio-debugmcp watch debugger://session debugger://threads -- trio-debugmcp serve
  trio-debugmcp watch --lists --count 1 --timeout 60 -- my-server
  trio-debugmcp watch --read --format json -- my-server | jq -r .uri
  trio-debugmcp watch --reconnect --read --server github

Without a URI all listed resources are watched, also those that are listed later. Ctrl-C ends it.
A URI that is not listed is named on standard error, and waited for.

exit codes: 0 ok; 2 usage; 1 unexpected, or --count not reached in time; 3 not authorised; 4 unreachable, or the
connection was lost; 5 not found.
"""

URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
LIST_EVENTS: tuple["EventKind", ...] = (
    "toolsChange",
    "resourcesChange",
    "resourceTemplatesChange",
    "promptsChange",
)


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `watch` and its options to the command line."""
    parser = add_command(
        commands, "watch", "subscribe to resources of any MCP server and print their changes", __doc__, EXAMPLES
    )
    parser.add_argument(
        "words", nargs="*", metavar="TARGET [URI]",
        help="an http(s):// or ws(s):// URL, followed by the URIs to watch; or a server command after --, with the "
        "URIs before or after it (default: all listed resources)",
    )  # fmt: skip
    parser.add_argument(
        "--uri", action="append", default=[],
        help="a URI to watch; for a command whose own arguments are URIs (repeatable)",
    )  # fmt: skip
    parser.add_argument("--count", type=count, metavar="N", help="end after N events")
    parser.add_argument(
        "--timeout", type=seconds, metavar="S", help="end after S seconds, with exit code 1 if --count was not reached"
    )
    parser.add_argument("--read", action="store_true", help="read each changed resource and print its contents")
    parser.add_argument(
        "--reconnect", action="store_true",
        help="connect again whenever the connection is lost, until Ctrl-C or --timeout; both are printed as events",
    )  # fmt: skip
    parser.add_argument("--lists", action="store_true", help="also print changes of the lists of tools and the like")
    parser.add_argument(
        "--format", choices=["text", "json"], help="json: one object per line (default: text on a terminal, else json)"
    )
    add_target_options(parser)
    add_server_options(parser)
    parser.set_defaults(run=run, many_words=())


def run(args: argparse.Namespace) -> int:
    """Watch until a signal, the count or the time limit; returns the exit code."""
    return run_command(lambda: _watch_until_signal(args))


def divide(words: list[str]) -> tuple[list[str], list[str]]:
    """Divide the target from the URIs to watch: those after a URL, or before and after a command."""
    if words and URL.match(words[0]):
        return words[:1], words[1:]
    first = next((i for i, word in enumerate(words) if not URI.match(word)), len(words))
    last = len(words) - next((i for i, word in enumerate(reversed(words)) if not URI.match(word)), 0)
    return words[first:last], words[:first] + words[last:]


async def _watch_until_signal(args: argparse.Namespace) -> None:
    patience = args.timeout if args.timeout is not None else float("inf")
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def stop_on_signal() -> None:
                async for _ in signals:
                    nursery.cancel_scope.cancel("a signal asked to stop")

            nursery.start_soon(stop_on_signal)
            with trio.move_on_after(patience) as limit:
                await _watch(args)
            nursery.cancel_scope.cancel("done")
    if limit.cancelled_caught and args.count is not None:
        raise Failure("timeout", f"fewer than {args.count} events within {args.timeout:g} s")


async def _watch(args: argparse.Namespace) -> None:
    from trio_debugmcp.client import (
        Connect,
        Disconnect,
        InspectorClient,
        Reconnect,
        ResourcesChange,
        ResourceUpdated,
    )

    from_file = is_named_by_option(args)
    words, uris = (args.words, args.uri) if args.uri else ([], args.words) if from_file else divide(args.words)
    everything = not uris
    policy = Reconnect(attempts=sys.maxsize) if args.reconnect else None
    target, options = choose(args, words, connect_timeout=DEFAULT_TIMEOUT_SECONDS, reconnect=policy)
    left = args.count
    async with (
        InspectorClient(target, options) as client,
        # Before the subscriptions: what changes between two of them is in the queue.
        client.events("resourceUpdated", "disconnect", "connect", *LIST_EVENTS) as events,
    ):
        if everything:
            everything = _can_watch_everything(client, args)
        for uri in uris or ([resource.uri for resource in client.resources] if everything else []):
            await client.subscribe_to_resource(uri)
        _warn_of_unlisted(client, uris)
        async for event in events:
            if isinstance(event, Disconnect | Connect):
                if isinstance(event, Disconnect) and not args.reconnect:
                    raise _lost(event)
                _print(_life(event), args.format)  # what follows may have gaps: the client reports all as changed
                continue
            if everything and isinstance(event, ResourcesChange):
                for uri in event.added:
                    await client.subscribe_to_resource(uri)
            if isinstance(event, ResourceUpdated) or args.lists:
                _print(await _describe(client, event, args), args.format)
                left = None if left is None else left - 1
            if left is not None and left <= 0:
                return


def _lost(event: "Disconnect") -> "ConnectionLost":
    from trio_debugmcp.client import AuthorizationLost, ConnectionLost

    kind = AuthorizationLost if event.unauthorized else ConnectionLost
    return kind(event.reason, event.exit_code, event.stderr_tail)


def _can_watch_everything(client: "InspectorClient", args: argparse.Namespace) -> bool:
    """Whether there are resources to subscribe to, now or later; without them and without lists nothing would come."""
    if client.supports_resource_subscriptions():
        return True
    if args.lists and any(getattr(part, "list_changed", None) for _, part in client.capabilities or ()):
        return False
    lists = "nor changes of its lists" if args.lists else "; --lists prints changes of its lists"
    raise Failure("not_supported", f"The server does not report changes of resources{' ' if args.lists else ''}{lists}")


def _warn_of_unlisted(client: "InspectorClient", uris: list[str]) -> None:
    for uri in uris:
        if not _is_listed(client, uri):
            write_warning(f"{uri} is not listed now; waiting for it")


def _is_listed(client: "InspectorClient", uri: str) -> bool:
    """Whether a resource is there, as far as the lists tell: servers accept subscriptions to what comes later."""
    from mcp import InvalidUriTemplate, UriTemplate

    if any(resource.uri == uri for resource in client.resources):
        return True
    for template in client.resource_templates:
        with suppress(InvalidUriTemplate):  # then it matches nothing
            if UriTemplate.parse(template.uri_template).match(uri) is not None:
                return True
    return False


async def _describe(client: "InspectorClient", event: "Event", args: argparse.Namespace) -> dict[str, Any]:
    from mcp import MCPError

    from trio_debugmcp.client import ConnectionLost, NotConnected, ResourceUpdated

    fields: dict[str, Any] = plain(event)
    if not isinstance(event, ResourceUpdated):
        return {key: fields[key] for key in ("kind", "seq", "time", "added", "removed", "changed")}
    if args.read:
        try:
            fields["contents"] = plain((await client.read_resource(event.uri)).result)["contents"]
        except MCPError as error:  # the resource may be removed already; the next event reports it
            fields["error"] = {"code": error.code, "message": error.message}
        except (ConnectionLost, NotConnected) as error:
            if not args.reconnect:
                raise
            fields["error"] = {"message": str(error)}  # it is reported as changed once there is a connection again
    return fields


def _life(event: "Event") -> dict[str, Any]:
    """The beginning or the end of a connection."""
    fields: dict[str, Any] = plain(event)
    return {key: fields[key] for key in ("kind", "seq", "time", "reason") if key in fields}


def _print(fields: dict[str, Any], form: str | None) -> None:
    console = terminal()
    if form == "json" or (form is None and console is None):
        write_line(compact(fields))
    elif console is None:
        write_line(_sentence(fields))
    else:
        console.print(_sentence(fields), markup=False, soft_wrap=True)


def _sentence(fields: dict[str, Any]) -> str:
    """One line for a person: time, kind, URI or keys, contents."""
    words = [fields["time"][11:23], fields["kind"]]
    if "uri" in fields:
        words.append(fields["uri"])
    words += [f"{key} {', '.join(fields[key])}" for key in ("added", "removed", "changed") if fields.get(key)]
    if "reason" in fields:
        words.append(fields["reason"])
    if "error" in fields:
        words.append(fields["error"]["message"])
    if "contents" in fields:
        words.append(compact(fields["contents"]))
    return "  ".join(words)
