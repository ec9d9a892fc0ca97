"""A debugging session to record, and a client that watches its replay."""

import json
import re
from math import inf
from pathlib import Path
from typing import Any

import trio
from mcp.shared.exceptions import MCPError
from msgspec import Struct
from trio.testing import MockClock

from trio_debugmcp.app import Options
from trio_debugmcp.patience import Patience
from trio_debugmcp.recording.format import Header, McpEntry, Recording
from trio_debugmcp.replay.recorded_clients import ReplayedAnswer
from trio_debugmcp.replay.replaying import Replay
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, open_server
from trio_debugmcp.testing.debug_client import LIST_CHANGED, Notice

RECORDINGS = Path(__file__).parent.parent / "data" / "recordings"

URIS = [
    f"debugger://{name}" for name in ["session", "breakpoints", "threads", "stack", "output", "modules", "timeline"]
]

PAIR_URIS = [f"debugger://sessions/s-{number}/{name}" for number in (1, 2) for name in ("session", "stack", "output")]

SECRET = "open-sesame-5521"

PAUSE_SECONDS = 1.2
"""For all notifications of a stop to have come."""


async def read_along(client: DebugClient) -> None:
    """Read each resource when it is notified, until cancelled."""
    read = 0
    while True:
        what = (await notice(client, read)).what
        read += 1
        if what != LIST_CHANGED:
            await read_or_not(client, what)


async def notice(client: DebugClient, number: int) -> Notice:
    """A client's notice by its number; it may be yet to come."""
    return await client.wait_notices(lambda notices: notices[number:], seconds=inf)


async def read_or_not(client: DebugClient, uri: str) -> str:
    """The text of a resource, or why there is none."""
    try:
        return await client.read_text(uri)
    except MCPError as error:
        return str(error)


async def debug_the_till(client: DebugClient, till: str, line: int) -> None:
    """A launch, a breakpoint, steps, evaluation, output, an exception, and the end."""
    await client.call("breakpoint_set", file=till, line=line)
    await client.call("breakpoint_set_exception", exception_type="ValueError")
    await client.call("debug_launch", program=till, stop_at_entry=True, env={"API_TOKEN": SECRET, "COLOUR": "blue"})
    await trio.sleep(PAUSE_SECONDS)
    await client.call("debug_continue")
    await trio.sleep(PAUSE_SECONDS)
    await client.call("debug_step", count=2)
    await client.call("evaluate", expression="amount + 1")
    await client.call("variables_get")
    await trio.sleep(PAUSE_SECONDS)
    await client.call("breakpoint_remove", id="bp-1")
    await client.call("debug_continue")
    await client.call("exception_get_context")
    await trio.sleep(PAUSE_SECONDS)
    await client.call("debug_continue")
    await trio.sleep(PAUSE_SECONDS)


async def debug_the_clerks(client: DebugClient, program: str) -> None:
    """A breakpoint, steps, and exceptions, at which the other threads are asked for one by one; then all that is."""
    await client.call("breakpoint_set", file=program, line=19)
    await client.call("breakpoint_set_exception", exception_type="ValueError")
    await client.call("debug_launch", program=program, stop_at_entry=False)
    await client.call("snapshot_create")
    await client.call("debug_step")
    await client.call("snapshot_create", label="stepped")
    await client.call("breakpoint_remove", id="bp-1")
    await client.call("debug_continue")
    await trio.sleep(PAUSE_SECONDS)
    await client.call("debug_step")
    await client.call("debug_continue")
    await trio.sleep(PAUSE_SECONDS)
    for uri in URIS:
        await client.read(uri)


# --- Watching a replay ------------------------------------------------------------------------------------------------


class Watched(Struct, frozen=True):
    """What a client of a replay saw: what was notified when, and what it then read; and what the recorded clients got.

    At one instant, the order of notifications is not promised; here they are sorted. `end`: what it read at the end.
    """

    seen: list[tuple[float, str, str]]
    answers: list[ReplayedAnswer]
    end: dict[str, str]


def options_for(header: Header, replay: Replay) -> Options:
    """As the command `replay` makes them."""
    settings = Settings(directory=header.directory, roots=tuple(header.roots), patience=Patience(header.patience))
    return Options(settings=settings, quiet=header.debounce, max_wait=header.max_wait).replayed(replay)


def watch(recording: Recording, *, speed: float = 1.0) -> Watched:
    """Play a recording on a virtual clock to a client that reads each resource whenever it is notified."""
    return trio.run(_watch, recording, speed, clock=MockClock(autojump_threshold=0))


async def _watch(recording: Recording, speed: float) -> Watched:
    replay = Replay(recording, speed=speed)
    seen: list[tuple[float, str, str]] = []
    async with (
        open_server(options_for(recording.header, replay)) as server,
        server.connect() as client,
        client.subscribed(*URIS),
        trio.open_nursery() as nursery,
    ):
        start = trio.current_time()

        async def look() -> None:
            while True:
                told = await notice(client, len(seen))
                text = "" if told.what == LIST_CHANGED else await read_or_not(client, told.what)
                seen.append((round(told.at - start, 6), told.what, text))

        nursery.start_soon(look)
        while not replay.over:
            await trio.sleep(0.1)
        end = {uri: await read_or_not(client, uri) for uri in URIS}
        await trio.sleep(10)
        nursery.cancel_scope.cancel()
    return Watched(sorted(seen), replay.answers, end)


def notified_then(recording: Recording) -> list[tuple[float, str]]:
    """When the recorded client was notified of what, since it had subscribed to the last resource."""
    messages = [(each.t, json.loads(bytes(each.msg))) for each in recording.entries if isinstance(each, McpEntry)]
    updates = [
        (t, message["params"]["uri"]) for t, message in messages if str(message.get("method")).endswith("/updated")
    ]
    return sorted(updates)


_TIMES = re.compile(r'(\\?"(?:timestamp|time|capturedAt|attachedAt)\\?":\\?)"[^"]*"|(\\?"milliseconds\\?":)[\d.]+')


_ADDED = re.compile(
    r'\\"statement\\":null,|,\\"stopsAt\\":\[[^\]]*\]|"stopsAt":\[[^\]]*\],'
    r'|,\\"engine\\":\\"\w+\\"|"engine":"\w+",|(?<=debug_attach)\. s-\d+ has ended[^"]*'
)
"""What earlier versions had not: keys, in a text within a message and in a payload; how a session has ended."""


def without_times(message: Any) -> str:
    """A message with every wall-clock time and every duration taken out."""
    return _TIMES.sub(r"\1\2-", json.dumps(message, sort_keys=True, separators=(",", ":")))


def as_before(message: Any) -> str:
    """A message without times, and without the keys that earlier versions had not."""
    return _ADDED.sub("", without_times(message))


def same_answer(method: str, now: Any, then: Any) -> bool:
    """Whether two answers are the same but for times.

    Of a list of tools, later versions may change all but names; of themselves they may say more than earlier ones.
    """
    if method == "tools/list":
        return _tools(then) <= _tools(now)
    if method in {"initialize", "server/discover"}:
        return _says_all(now["result"], then["result"])
    return as_before(now) == as_before(then)


def _says_all(now: Any, then: Any) -> bool:
    """Whether all that was declared then is declared now; the instructions and what may change are of each version."""
    if isinstance(then, dict):
        free = {"instructions", "listChanged"}
        return all(name in free or (name in now and _says_all(now[name], then[name])) for name in then)
    return bool(now == then)


def _tools(message: Any) -> set[str]:
    return {tool["name"] for tool in message["result"]["tools"]}
