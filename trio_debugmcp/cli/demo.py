"""`trio-debugmcp demo`: debug the bundled sample program through a real MCP client, and show the conversation."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from trio_debugmcp.cli._numbers import number_between
from trio_debugmcp.cli._patience import add_patience_option
from trio_debugmcp.patience import Patience

WIDTH = 110
"""Columns of the printed conversation."""

MAX_LINES = 4
"""Lines shown of one payload."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `demo` and its options to the command line."""
    parser = commands.add_parser(
        "demo",
        help="debug the bundled sample program and show every call, notification and resource",
        description="Starts this server as an MCP host would, connects the MCP SDK's client to it, and finds the bug "
        "in the bundled sample program, printing the conversation as it happens.",
    )
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="the dashboard's port (default: a free one)")
    parser.add_argument(
        "--pace",
        type=number_between(0, 3600, "seconds"),
        default=2.0 if sys.stdout.isatty() else 0.0,
        metavar="SECONDS",
        help="wait so long after each paragraph, to look at the dashboard (default 2 in a terminal, else 0)",
    )
    add_patience_option(parser, "the program")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; 0 if the bug was found."""
    import trio

    return 0 if trio.run(_demo, arguments.port, arguments.pace, arguments.patience) else 1


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError("a port between 0 and 65535")
    return int(text)


async def _demo(port: int, pace: float, patience: Patience) -> bool:

    from trio_debugmcp import samples

    sample = Path(samples.__file__).with_name("shop.py")
    line = 1 + sample.read_text().splitlines().index("    amount = total(cart)")
    # A copy: where this package is installed the sample is a file of a library, and frames of it count as such.
    with tempfile.TemporaryDirectory(prefix="trio_debugmcp-demo-") as directory:
        shop = shutil.copy(sample, directory)
        async with _open_client(port, patience) as client:
            return await _session(client, shop, line, pace)


async def _session(client: "_DemoClient", shop: str, line: int, pace: float) -> bool:
    """Debug the program, in words for the person who watches; return whether the bug was found."""
    import trio

    _say("The server prints the URL of the dashboard: open it, and watch there what happens here.")
    await trio.sleep(pace)
    _say("Bob buys a coffee for 3, and pays 13. Why? First, a breakpoint where his cart is added up:")
    await client.call("breakpoint_set", file=shop, line=line, condition="customer == 'Bob'")
    await client.call("debug_launch", program=shop, stop_at_entry=False)
    _say("The session is a set of resources now, and it can be subscribed to:")
    await client.list_resources()
    await client.subscribe("debugger://session")
    stop = await client.read("debugger://session")
    _say(f"Paused in {stop['currentLocation']['functionName']}, line {stop['currentLocation']['line']}. Bob's cart:")
    await trio.sleep(pace)
    cart = await client.call("evaluate", expression="cart")
    _say("There is tea and cake in it, which Ada bought. Where does fill_cart get the cart from?")
    await trio.sleep(pace)
    defaults = await client.call("evaluate", expression="fill_cart.__defaults__[0] is cart")
    _say("One step further, and the subscription reports the change:")
    await trio.sleep(pace)
    await client.call("debug_step")
    await client.wait_notification()
    await client.read("debugger://session")
    await trio.sleep(pace)
    end = await client.call("debug_continue")
    bug_found = defaults["value"] == "True" and "tea" in cart["value"] and end["reason"] == "Exited"
    if bug_found:
        _say("Found: `def fill_cart(items, cart=[])` makes one list, once, and every customer shares it.")
    return bug_found


class _DemoClient:
    """The SDK's client, which prints every call, answer and notification."""

    def __init__(self, sdk: Any, patience: Patience) -> None:
        import trio

        self._sdk = sdk
        self._patience = patience
        self._notified = trio.Event()

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        _show("→", f"tools/call {tool} {json.dumps(arguments)}")
        result = await self._sdk.call_tool(tool, arguments)
        text: str = result.content[0].text
        _show("←", _short(json.loads(text)))
        answer: dict[str, Any] = json.loads(text)
        return answer

    async def read(self, uri: str) -> dict[str, Any]:
        _show("→", f"resources/read {uri}")
        payload: dict[str, Any] = json.loads((await self._sdk.read_resource(uri)).contents[0].text)
        _show("←", _short(payload))
        return payload

    async def list_resources(self) -> None:
        _show("→", "resources/list")
        _show("←", ", ".join(resource.uri for resource in (await self._sdk.list_resources()).resources))

    async def subscribe(self, uri: str) -> None:
        import mcp_types as types

        _show("→", f"resources/subscribe {uri}")
        request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
        await self._sdk.session.send_request(request, types.EmptyResult)

    async def on_message(self, message: object) -> None:
        import mcp_types as types

        match message:
            case types.ResourceUpdatedNotification(params=params):
                _show("⚡", f"notifications/resources/updated {params.uri}")
                self._notified.set()
            case types.ResourceListChangedNotification():
                _show("⚡", "notifications/resources/list_changed")
            case _:
                pass

    async def wait_notification(self) -> None:
        import trio

        with trio.move_on_after(self._patience.seconds(5)):
            await self._notified.wait()


@asynccontextmanager
async def _open_client(port: int, patience: Patience) -> AsyncIterator[_DemoClient]:
    from mcp import Client, StdioServerParameters

    from trio_debugmcp.own_command import own_command

    client: _DemoClient | None = None

    async def on_message(message: object) -> None:
        if client is not None:
            await client.on_message(message)

    python, *words = own_command("serve", "--no-state", "--ws", str(port), f"--patience={patience.factor:g}")
    server = StdioServerParameters(command=python, args=words, env=dict(os.environ))
    async with Client(server, mode="legacy", message_handler=on_message) as sdk:
        client = _DemoClient(sdk, patience)
        yield client


def _say(words: str) -> None:
    print(f"\n{words}", flush=True)


def _show(arrow: str, what: str) -> None:
    print(f"  {arrow} {what}", flush=True)


def _short(payload: object) -> str:
    """Return a payload in a few lines, without nulls, empty lists and directories."""
    text = json.dumps(_pruned(payload), ensure_ascii=False)
    lines = textwrap.wrap(text, WIDTH, subsequent_indent="      ")
    return "\n".join([*lines[:MAX_LINES], *(["      …"] if len(lines) > MAX_LINES else [])])


def _pruned(payload: object) -> object:
    match payload:
        case dict():
            return {key: _pruned(value) for key, value in payload.items() if value not in (None, [], {}, False, 0)}
        case list():
            return [_pruned(value) for value in payload]
        case str() if payload.startswith("/"):
            return payload.rpartition("/")[2]
        case _:
            return payload
