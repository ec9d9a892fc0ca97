"""Plays a recorded session as its user: repeats every move with our tools, and checks every stop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from tests.server.scene import SESSION, STACK, THREADS
from tests.traces.trace import PARENT, Move, Place, Stop, Trace, options, story
from trio_debugmcp.state.breakpoint_payloads import breakpoint_payload
from trio_debugmcp.testing import DebugClient, ToolFailed, open_server
from trio_debugmcp.testing.connect import Server

LONGEST_SECONDS = 3600.0
"""Virtual time for one test; no recording takes a minute."""

SETTLED_SECONDS = 30.0
"""Virtual time after a move until all its messages have come; the slowest adapter compiles for two seconds."""

STEP_MODES = {"next": "over", "stepIn": "in", "stepOut": "out"}


class Playing:
    """A recording that is being played."""

    def __init__(self, trace: Trace, home: Path, server: Server, client: DebugClient, connections: list[str]) -> None:
        self.trace = trace
        self.server = server
        self.client = client
        self.sessions = {name: f"s-{number}" for number, name in enumerate([PARENT, *connections], 1)}
        self.failures: list[ToolFailed] = []
        self._program = home / "program"
        self._program.touch()

    async def act(self, seen: Move | Stop) -> None:
        """Repeat a move, or check a stop."""
        if isinstance(seen, Stop):
            await check_stop(self.client, self.sessions[seen.connection], seen)
            return
        failure = None
        try:
            await self.move(seen)
        except ToolFailed as error:
            self.failures.append(failure := error)
            if seen.refusal is None:
                raise
        # Our server disconnects even if the adapter refuses.
        if seen.refusal is not None and seen.command != "disconnect":
            assert failure is not None
            assert seen.refusal in failure.message
        await trio.sleep(SETTLED_SECONDS)

    async def move(self, move: Move) -> None:
        """Call the tool for this move."""
        session = self.sessions[move.connection]
        over = (await self.client.call("debug_state"))["state"] == "Disconnected"
        match move.command:
            case "launch" | "attach" | "disconnect" if move.connection != PARENT:
                pass  # our server starts and ends its child sessions itself
            case "launch":
                await self.client.call(
                    "debug_launch",
                    program=str(self._program),
                    adapter="recorded",
                    stop_at_entry=False,
                    stop_on_uncaught=False,
                    wait=False,
                    timeout=100,
                )
            case "attach":
                await self.client.call("debug_attach", pid=1, timeout=100)
            case "disconnect":
                await self.client.call("debug_disconnect")
            case "continue" if not over:
                await self.client.call("debug_continue", session_id=session, wait=False)
            case command if not over:
                mode = STEP_MODES[command]
                await self.client.call("debug_step", session_id=session, mode=mode, wait=False)


async def check_stop(client: DebugClient, session_id: str, stop: Stop) -> None:
    """Check that tools, resources and the recording agree on where the program is."""
    answer = await client.call("debug_state", session_id=session_id)
    assert answer["state"] == "Paused"
    assert answer["reason"]
    if stop.place is not None:
        assert answer["at"] == shown(stop.place)
    session = await client.read(SESSION)
    if session["sessionId"] != session_id:
        return
    assert session["pauseReason"] == answer["reason"]
    if stop.place is not None:
        assert place(session["currentLocation"]) == stop.place
    stack, threads = await client.read(STACK), await client.read(THREADS)
    assert stack["stale"] is False
    assert stack["threadId"] == session["activeThreadId"]
    if stop.place is not None:
        assert place(stack["frames"][0]["location"]) == stop.place
    assert [each["id"] for each in threads["threads"] if each["isCurrent"]] == [session["activeThreadId"]]


def shown(place: Place) -> str:
    """The place as tools show it, of a server in the root directory, where all are absolute."""
    return f"{place.file or ''}:{place.line} in {place.function}"


def place(location: dict[str, Any]) -> Place:
    return Place(location["file"], location["line"], location["functionName"])


@asynccontextmanager
async def playing(name: str, home: Path) -> AsyncIterator[Playing]:
    """Open a server with the recorded adapter and a client, and set the recorded breakpoints."""
    trace = Trace(name, home)
    settings, profile = options(trace)
    with trio.fail_after(LONGEST_SECONDS):
        async with open_server(settings) as server, server.connect() as client:
            await _set_breakpoints(trace, client, home)
            yield Playing(trace, home, server, client, profile.connections)


async def play_all(playing: Playing) -> None:
    """Play the recording to its end, and wait until everything has settled."""
    for seen in story(playing.trace):
        await playing.act(seen)
    await trio.sleep(SETTLED_SECONDS)


async def play_stops(playing: Playing, most: int | None = None) -> list[dict[str, Any]]:
    """Play the recording, or so many stops of it, and return what the resource of the session has at each stop."""
    sessions: list[dict[str, Any]] = []
    for seen in story(playing.trace):
        await playing.act(seen)
        if isinstance(seen, Stop):
            sessions.append(await playing.client.read(SESSION))
            assert sessions[-1]["sessionId"] == playing.sessions[seen.connection]
            if len(sessions) == most:
                break
    return sessions


async def check_end(playing: Playing) -> dict[str, Any]:
    """Check that the session has ended and nothing of it is left; return how it ended."""
    state = await playing.client.call("debug_state")
    assert state["state"] == "Disconnected"
    assert await playing.client.uris() == []
    kept = playing.server.app.debugger.state.breakpoints
    assert {breakpoint_payload(each).state for each in kept} <= {"Pending"}
    assert len((await playing.client.call("breakpoint_list"))["breakpoints"]) == len(kept)
    return state


async def _set_breakpoints(trace: Trace, client: DebugClient, home: Path) -> None:
    """Set the breakpoints that the recorded client sent first, for each file."""
    done = set()
    for arguments in trace.asked("setBreakpoints"):
        path = Path(arguments["source"].get("path") or "")
        if path not in done and path.is_relative_to(home):
            done.add(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            for each in arguments.get("breakpoints") or ():
                await client.call("breakpoint_set", file=str(path), line=each["line"])
