"""Recorded sessions of real debug adapters, and a debugger whose only adapter is one of them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from msgspec import Struct

from trio_debugmcp.app import Options
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.profiles import Attach, Launch, Profile, Runtime
from trio_debugmcp.dap.sockets import SocketAddress
from trio_debugmcp.replay.playhead import Playhead
from trio_debugmcp.replay.recorded_adapter import ReplayedSession
from trio_debugmcp.replay.recorded_questions import TapedMessage
from trio_debugmcp.replay.tape import tapes
from trio_debugmcp.session.settings import Settings

FOLDER = Path(__file__).parent.parent / "data" / "traces"
NAMES = sorted(file.stem for file in FOLDER.glob("*.jsonl"))

PARENT = "parent"
MOVES = {"launch", "attach", "continue", "next", "stepIn", "stepOut", "disconnect"}
HANGS_UP = {"rdbg"}
"""Recordings that end because the adapter closes its socket; the other adapters wait until the client does."""
RECORDED_SOURCES = '"/src/'
"""Beginning of the paths of debugged programs in all recordings."""


class Trace:
    """A recorded session; `lines` are its messages with their connections. Its sources are empty files in `home`."""

    def __init__(self, name: str, home: Path) -> None:
        self.name = name
        self.lines: list[tuple[str, TapedMessage]] = []
        text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").replace(RECORDED_SOURCES, f'"{home}/')
        for row in map(json.loads, text.splitlines()):
            said = TapedMessage(row["t"], "client" if row["dir"] == "c2a" else "adapter", row["msg"])
            self.lines.append((row.get("conn", PARENT), said))
            if said.message.get("event") == "debugpyAttach":
                self.lines.append((PARENT, TapedMessage(said.t, "adapter", _start_debugging(said.message["body"]))))

    def asked(self, command: str) -> Iterator[Mapping[str, Any]]:
        """The arguments of each request with that command."""
        for _, said in self.lines:
            if said.by == "client" and said.message.get("command") == command and said.message["type"] == "request":
                yield said.message.get("arguments") or {}

    def last_word(self) -> float:
        """The time of the adapter's last message."""
        return max(said.t for _, said in self.lines if said.by == "adapter")

    def heard(self, event: str) -> list[Mapping[str, Any]]:
        """The body of each event of that name."""
        return [said.message.get("body") or {} for _, said in self.lines if said.message.get("event") == event]


def _start_debugging(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """What debugpy sends a client that serves `startDebugging`, as ours does and the recorded one did not."""
    arguments = {"request": "attach", "configuration": configuration}
    return {"seq": 1_000_000, "type": "request", "command": "startDebugging", "arguments": arguments}


class Place(Struct, frozen=True):
    """Where a program has stopped."""

    file: str | None
    line: int
    function: str


class Move(Struct):
    """A request of the recorded client, and the reason if the adapter refused it."""

    connection: str
    command: str
    refusal: str | None = None


class Stop(Struct):
    """A stop, and its place if the recorded client requested the stack."""

    connection: str
    thread: int | None
    place: Place | None = None


def story(trace: Trace) -> list[Move | Stop]:
    """List what the user did and saw: moves and stops, in order."""
    seen: list[Move | Stop] = []
    asked: dict[tuple[str, int], Move | Stop] = {}
    for connection, said in trace.lines:
        match said.by, said.message:
            case "client", {"type": "request", "command": str(command), "seq": int(seq)} if command in MOVES:
                seen.append(Move(connection, command))
                asked[connection, seq] = seen[-1]
            case "client", {"type": "request", "command": "stackTrace", "seq": int(seq), "arguments": arguments}:
                stop = next((each for each in reversed(seen) if each.connection == connection), None)
                if isinstance(stop, Stop) and stop.thread in (None, arguments["threadId"]):
                    asked[connection, seq] = stop
            case "adapter", {"type": "event", "event": "stopped", "body": body}:
                seen.append(Stop(connection, body.get("threadId")))
            case "adapter", {"type": "response", "request_seq": seq} if (connection, seq) in asked:
                _learn(asked.pop((connection, seq)), said.message)
            case _:
                pass
    return seen


def _learn(about: Move | Stop, answer: Mapping[str, Any]) -> None:
    if isinstance(about, Move):
        about.refusal = None if answer["success"] else answer.get("message") or ""
    elif answer["success"] and (frames := (answer.get("body") or {}).get("stackFrames")):
        about.place = Place((frames[0].get("source") or {}).get("path"), frames[0]["line"], frames[0]["name"])


def without_terminals(messages: Iterable[tuple[str, TapedMessage]]) -> Iterator[tuple[str, TapedMessage]]:
    """Leave out `runInTerminal`, as if the adapter had started the program: for a client that must start nothing."""
    return (message for message in messages if message[1].message.get("command") != "runInTerminal")


class TraceProfile(Profile):
    """The profile of a recorded adapter."""

    name: str = "recorded"
    language: str = "any"
    install_hint: str = "nothing to install"

    def __init__(self, trace: Trace) -> None:
        ended_at = {PARENT: trace.last_word()} if trace.name in HANGS_UP else {}
        made = tapes(without_terminals(trace.lines), ended_at)
        moves = {move: t for tape in made.values() for move, t in tape.moves.items()}
        self.connections = [name for name in made if name != PARENT]
        self._playhead = Playhead(1.0, moves, following=True)
        self._sessions = {name: ReplayedSession(tape, [], self._playhead) for name, tape in made.items()}
        self._children = iter(self.connections)

    def locate(self) -> str | None:
        return "recorded"

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        return {"program": launch.program}

    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        return {"processId": attach.pid}

    def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return self._open(PARENT)

    def open_attached(self, attach: Attach, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return self._open(PARENT)

    def serves_child(self, configuration: Mapping[str, Any]) -> bool:
        return True

    def open_child(
        self, configuration: Mapping[str, Any], runtime: Runtime, parent: SocketAddress | None
    ) -> AbstractAsyncContextManager[Adapter]:
        return self._open(next(self._children))

    def _open(self, connection: str) -> AbstractAsyncContextManager[Adapter]:
        self._playhead.begin()
        return self._sessions[connection].open(self._playhead.make)


def options(trace: Trace) -> tuple[Options, TraceProfile]:
    """Options of a server whose only adapter is the recorded one."""
    profile = TraceProfile(trace)
    return Options(settings=Settings(directory="/", profiles=(profile,))), profile
