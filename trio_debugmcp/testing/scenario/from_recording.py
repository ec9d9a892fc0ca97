"""Makes a scenario from a recording: messages become lines, and what clients received becomes expectations. Pure.

    scenario = retime(scenario_of(Path("bug.jsonl").read_bytes(), "The bug"))

The times are the recorded ones until `retime` makes them exact. Programs are not started again: what they wrote becomes
`output` events of the adapter. Paths below the program's directory become `$DIR`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from trio_debugmcp.probe import bootstrap
from trio_debugmcp.recording.format import FORMAT
from trio_debugmcp.testing.scenario.ends import JsonEntry, is_request, with_ends
from trio_debugmcp.testing.scenario.script_lines import (
    AGENT,
    DIRECTORY,
    ROOT,
    AskChild,
    BadScenario,
    Call,
    CancelCall,
    ConnectClient,
    Era,
    ExpectAnswer,
    ExpectError,
    ExpectListChanged,
    ExpectUpdated,
    Leave,
    Read,
    Scenario,
    ScriptLine,
    SendCrash,
    SendEvent,
    SendOutput,
    SendRaw,
    SetAnswer,
    Setting,
    Step,
    Subscribe,
    Unsubscribe,
)

JUST_BEFORE_SECONDS = 0.05
"""From a cause to the request that the server makes because of it, on a machine that is not overloaded."""

_FACTS = ("id", "state", "reason", "pauseReason", "threadId", "activeThreadId", "exitCode", "timedOut", "stale", "line")
_MORE_FACTS = ("functionName", "verified", "hitCount", "value", "count", "code", "at", "exception")
_PARTS = ("session", "stop", "breakpoint", "location", "currentLocation")
_LISTS = ("breakpoints", "threads", "frames", "children")
"""The members of a payload that become expectations: facts about the program, not what differs from run to run."""


def scenario_of(recording: bytes, title: str) -> Scenario:
    """Convert the content of a recording's file. A torn last line, of a server that was killed, is left out.

    Raises:
        BadScenario: the content is not that of a recording.
    """
    header, entries = _parse(recording)
    try:
        home = _home(entries)
        entries = [_at_home(entry, home) for entry in entries]
        below = (home or "").removeprefix(f"{header.get('directory')}/")
        conversion = _Conversion(list(with_ends(entries)), (f"{DIRECTORY}/", f"{below}/"))
        lines = sorted(conversion.lines(), key=lambda line: line.at or 0.0)
        setting = _setting(header, entries, title)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise BadScenario(f"an entry is not as in a recording: {type(error).__name__}: {error}") from error
    return Scenario(title, setting, tuple(Step(number, line) for number, line in enumerate(lines, 2)))


def _parse(recording: bytes) -> tuple[JsonEntry, list[JsonEntry]]:
    parts = [line for line in recording.split(b"\n") if line.strip()]
    parsed: list[JsonEntry] = []
    for number, part in enumerate(parts, 1):
        try:
            parsed.append(msgspec.json.decode(part, type=dict[str, Any]))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            if number == 1 or number < len(parts):
                raise BadScenario(f"line {number} is not of a recording: {error}") from None
    if not parsed or parsed[0].get("format") != FORMAT:
        raise BadScenario("its first line is not the header of a recording")
    return parsed[0], parsed[1:]


def _home(entries: Iterable[JsonEntry]) -> str | None:
    """Return the directory of the first program, if it has one."""
    target = next((entry["target"] for entry in entries if entry.get("edge") == "session" and entry.get("target")), "")
    home = str(PurePosixPath(target).parent)
    return home if home.startswith("/") and home != "/" else None


def _at_home(value: Any, home: str | None) -> Any:
    if home is None:
        return value
    path = re.compile(rf"(?:(?<=debugger://source/)|(?<![\w./-])){re.escape(home)}(?![\w.-])")

    def move(value: Any) -> Any:
        match value:
            case str():
                return path.sub(lambda _: DIRECTORY, value)
            case dict():
                return {key: move(member) for key, member in value.items()}
            case list():
                return [move(item) for item in value]
            case _:
                return value

    return move(value)


def _setting(header: JsonEntry, entries: list[JsonEntry], title: str) -> Setting:
    program = next((e["target"] for e in entries if e.get("edge") == "session" and e.get("target")), None)
    looks = {e["question"]: e.get("answer") for e in entries if e.get("edge") == "look"}
    sources = {name.removeprefix("source "): text for name, text in looks.items() if name.startswith("source ")}
    inside = {name.removeprefix(f"{DIRECTORY}/"): text for name, text in sources.items() if name.startswith(DIRECTORY)}
    files = {name: text for name, text in inside.items() if isinstance(text, str)}
    if program is not None and program.startswith(DIRECTORY):
        files.setdefault(program.removeprefix(f"{DIRECTORY}/"), "")
    return Setting(
        scenario=title,
        era=next((_era(e["era"]) for e in entries if e.get("edge") == "client"), "both"),
        program=program if program is not None and program.startswith(DIRECTORY) else Setting("").program,
        files=files,
        initialized=False,
        profile=next((e["adapter"] for e in entries if e.get("edge") == "session"), None),
        probe=any(_asks_probe(e.get("msg") or {}) for e in entries if e.get("edge") == "adapter"),
        quiet=header.get("debounce"),
        max_wait=header.get("maxWait"),
        linger=header.get("linger"),
        patience=header.get("patience", 1.0),
        tools=header.get("tools", "full"),
    )


def _asks_probe(message: JsonEntry) -> bool:
    if message.get("command") == bootstrap.ASK:
        return True
    if message.get("event") == "stopped" and "answer" in message.get("body", ()):
        return True
    expression = (message.get("arguments") or {}).get("expression") if message.get("command") == "evaluate" else None
    return expression is not None and bootstrap.asked_in(expression) is not None


def _era(word: str) -> Era:
    return "modern" if word == "modern" else "legacy"


class _Conversion:
    """Converts the entries in order. An `answer` line is put before the line that caused the server's request.

    `prefixes`: of files in answers, which those of a scenario do not have.
    """

    def __init__(self, entries: list[JsonEntry], prefixes: Sequence[str]) -> None:
        self._entries = entries
        self._prefixes = prefixes
        self._children = {e["session"] for e in entries if e.get("edge") == "session" and e.get("start") == "child"}
        self._clients: dict[str, str] = {}
        self._requests: dict[tuple[str, object], JsonEntry] = {}
        self._calls: dict[tuple[str, object], str] = {}
        self._streams: dict[tuple[str, object], list[str]] = {}

    def lines(self) -> list[ScriptLine]:
        answers, lines = self._answers(), list[ScriptLine]()
        for entry in self._entries:
            lines += self._line(entry)
            if is_request(entry):
                index = _cause_of(lines, entry["t"])
                cause = lines[index].at if index < len(lines) else entry["t"]
                lines.insert(index, replace(answers[entry["session"], entry["msg"]["seq"]], at=cause))
        return lines

    def _line(self, entry: JsonEntry) -> Iterator[ScriptLine]:
        at = entry.get("t", 0.0)
        match entry:
            case {"edge": "session", "start": "child", "session": session}:
                yield AskChild(at=at, name=session, request=self._start_of(session))
            case {"edge": "adapter", "dir": "in", "msg": {"type": "event", "event": event} as message}:
                yield SendEvent(at=at, who=self._adapter(entry), event=event, body=message.get("body") or {})
            case {"edge": "garbage", "text": text}:
                yield SendRaw(at=at, who=self._adapter(entry), text=text)
            case {"edge": "hangUp"}:
                yield SendCrash(at=at, who=self._adapter(entry))
            case {"edge": "output", "text": str() as text, "stream": stream}:
                yield SendOutput(at=at, who=self._adapter(entry), text=text, stream=stream)
            case {"edge": "client", "client": client}:
                yield from self._arrival(at, client, entry)
            case {"edge": "clientEnd", "client": client}:
                yield Leave(at=at, who=self._clients[client])
            case {"edge": "mcp", "dir": "in", "client": client, "msg": message}:
                yield from self._from_client(at, client, message)
            case {"edge": "mcp", "dir": "out", "client": client, "msg": message}:
                yield from self._to_client(at, client, message)
            case _:
                return

    # --- Adapters -----------------------------------------------------------------------------------------------------

    def _adapter(self, entry: JsonEntry) -> str:
        return str(entry["session"]) if entry["session"] in self._children else ROOT

    def _start_of(self, session: str) -> Literal["launch", "attach"]:
        commands = [e["msg"]["command"] for e in self._entries if is_request(e) and e["session"] == session]
        return "attach" if "attach" in commands else "launch"

    def _answers(self) -> dict[tuple[str, int], SetAnswer]:
        """Map session and number of each request to the line of its answer, which has no time yet."""
        answered = {
            (e["session"], e["msg"].get("request_seq")): e
            for e in self._entries
            if e.get("edge") == "adapter" and e["dir"] == "in" and e["msg"].get("type") == "response"
        }
        requests = {(e["session"], e["msg"]["seq"]): e for e in self._entries if is_request(e)}
        return {key: _answer(self._adapter(entry), entry, answered.get(key)) for key, entry in requests.items()}

    # --- Clients ------------------------------------------------------------------------------------------------------

    def _arrival(self, at: float, client: str, entry: JsonEntry) -> Iterator[ScriptLine]:
        self._clients[client] = client if self._clients else AGENT
        if self._clients[client] != AGENT:
            yield ConnectClient(at=at, who=client, era=_era(entry["era"]), role=entry["role"])

    def _from_client(self, at: float, client: str, message: JsonEntry) -> Iterator[ScriptLine]:
        who, number = self._clients[client], message.get("id")
        params = message.get("params") or {}
        match message.get("method"):
            case "resources/subscribe":
                yield Subscribe(at=at, who=who, uris=[params["uri"]])
            case "resources/unsubscribe":
                yield Unsubscribe(at=at, who=who, uris=[params["uri"]])
            case "subscriptions/listen":
                uris = list((params.get("notifications") or {}).get("resourceSubscriptions") or ())
                self._streams[client, number] = uris
                if uris:
                    yield Subscribe(at=at, who=who, uris=uris)
            case "notifications/cancelled" if (client, params.get("requestId")) in self._streams:
                uris = self._streams.pop((client, params["requestId"]))
                if uris:
                    yield Unsubscribe(at=at, who=who, uris=uris)
            case "notifications/cancelled" if (client, params.get("requestId")) in self._calls:
                yield CancelCall(at=at, who=who, of=self._calls[client, params["requestId"]])
            case "tools/call":
                name = self._calls[client, number] = str(number)
                arguments = _arguments(params["name"], params.get("arguments") or {})
                yield Call(at=at, who=who, tool=params["name"], arguments=arguments, name=name)
            case "resources/read":
                name = self._calls[client, number] = str(number)
                yield Read(at=at, who=who, uri=params["uri"], name=name)
            case _:
                return

    def _to_client(self, at: float, client: str, message: JsonEntry) -> Iterator[ScriptLine]:
        who = self._clients[client]
        match message:
            case {"method": "notifications/resources/updated", "params": {"uri": uri}}:
                yield ExpectUpdated(at=at, who=who, uris=[uri])
            case {"method": "notifications/resources/list_changed"}:
                yield ExpectListChanged(at=at, who=who)
            case {"id": number, "error": {"code": code}} if (client, number) in self._calls:
                yield ExpectError(at=at, who=who, of=self._calls.pop((client, number)), code=_code(code))
            case {"id": number, "result": result} if (client, number) in self._calls:
                name = self._calls.pop((client, number))
                if result.get("isError"):
                    failure = _json(result["content"][0].get("text"))
                    yield ExpectError(at=at, who=who, of=name, code=failure.get("error", {}).get("code"))
                else:
                    facts = dict(_facts(_payload(result)))
                    for prefix in self._prefixes:  # a scenario's server is in the directory of the program
                        facts |= {"at": facts["at"].removeprefix(prefix)} if "at" in facts else {}
                    yield ExpectAnswer(at=at, who=who, of=name, has=facts)
            case _:
                return


def _cause_of(lines: list[ScriptLine], asked_at: float) -> int:
    """Return the index at which the answer belongs: before the first recent line that may have caused the request."""
    causes = [(index, line.at or 0.0) for index, line in enumerate(lines) if _may_cause_requests(line)]
    just_before = [index for index, at in causes if at >= asked_at - JUST_BEFORE_SECONDS]
    return just_before[0] if just_before else causes[-1][0] if causes else len(lines)


def _may_cause_requests(line: ScriptLine) -> bool:
    match line:
        case Call() | AskChild() | Leave():
            return True
        case Read(uri=uri):
            return uri.startswith("debugger://source/")
        case SendEvent(event=event):
            return event in ("initialized", "stopped", "exited", "terminated")
        case _:
            return False


def _answer(who: str, request: JsonEntry, response: JsonEntry | None) -> SetAnswer:
    command = request["msg"]["command"]
    if response is None:
        return SetAnswer(who=who, command=command, once=True, never=True)
    message, delay = response["msg"], round(response["t"] - request["t"], 6)
    if not message.get("success", True):
        return SetAnswer(who=who, command=command, once=True, delay=delay, refuse=message.get("message") or "no")
    return SetAnswer(who=who, command=command, once=True, delay=delay, body=message.get("body") or {})


def _arguments(tool: str, arguments: JsonEntry) -> JsonEntry:
    if tool not in ("debug_launch", "debug_attach"):
        return arguments
    elsewhere = not str(arguments.get("cwd", DIRECTORY)).startswith(DIRECTORY)
    return {key: value for key, value in arguments.items() if key != "cwd" or not elsewhere}


def _code(code: int) -> str | int:
    return "NOT_FOUND" if code in (-32002, -32602) else code


def _payload(result: JsonEntry) -> Any:
    if "structuredContent" in result:
        return result["structuredContent"]
    contents = result.get("contents") or [{}]
    return _json(contents[0].get("text")) if contents[0].get("mimeType") == "application/json" else {}


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return {}


def _facts(payload: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(payload, dict):
        return
    for key, value in payload.items():
        if key in (*_FACTS, *_MORE_FACTS) and not isinstance(value, dict | list):
            yield f"{path}{key}", value
        elif key in _PARTS:
            yield from _facts(value, f"{path}{key}.")
        elif key in _LISTS and isinstance(value, list):
            yield f"{path}{key}.#", len(value)
