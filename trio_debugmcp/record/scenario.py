"""The scenario file: JSON Lines, one object a line, in the order in which things happen. Pure; see docs/scenarios.md.

The first line is the setting and begins with the key `scenario`. Every other line begins with whose it is, `adapter`,
`client` or `expect`, and its value says what it does:

    {"scenario": "A stop is told of 0.3 s later", "begin": "running"}
    {"client": "subscribe", "uris": ["session"]}
    {"at": 1, "adapter": "stop", "reason": "breakpoint"}
    {"at": 1.3, "expect": "updated", "uris": ["session"]}

Decoding is strict: a key or word that does not exist is an error that names the file, the line, and what there is.
"""

from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import PurePath
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

Era = Literal["legacy", "modern"]
Frame = tuple[str, str, int]
Thread = tuple[int, str]

DIRECTORY = "$DIR"
"""Stands for the directory with the setting's files, in any string."""

NUMBER = "$N"
"""A string that is this and nothing else is the number of the repetition, counted from 1."""

AGENT = "agent"
"""The client that is there from the beginning."""

MAX_TIMES = 100_000
"""Repetitions of a line: at one instant they take real time."""

EVERYONE = "everyone"
"""All clients that are connected at the time."""

ROOT = "program"
"""The adapter of the program that was launched; its children have names of their own."""


class BadScenario(ValueError):
    """The file is no scenario; the message says where and why."""


class Setting(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first line. What the adapter shows, how the server is set, and where the story begins.

    `begin`: with no session, or with the program running or paused at its entry; time counts from there, and what
    was notified before is forgotten. `breakpoints`: arguments of `breakpoint_set`, set before the launch.
    `initialized`: whether the adapter says so by itself, right after its answer to `initialize`. `profile`: the name
    of a real adapter, for which the server shall take it.
    """

    scenario: str
    proves: str = ""
    era: Literal["both", "legacy", "modern"] = "both"
    begin: Literal["nothing", "running", "paused"] = "nothing"
    program: str = f"{DIRECTORY}/app.py"
    files: dict[str, str] = {}
    capabilities: dict[str, Any] | None = None
    initialized: bool = True
    profile: str | None = None
    frames: tuple[Frame, ...] = (("main", f"{DIRECTORY}/app.py", 1),)
    threads: tuple[Thread, ...] = ((1, "MainThread"),)
    locals: dict[str, str] = {}
    values: dict[str, str] = {}
    breakpoints: list[dict[str, Any]] = []
    quiet: float | None = None
    max_wait: float | None = None
    linger: float | None = None
    tools: Literal["full", "core"] = "full"

    @property
    def eras(self) -> tuple[Era, ...]:
        """The protocol eras to play it in."""
        return ("legacy", "modern") if self.era == "both" else (self.era,)


class Line(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """When it happens: `at` so many seconds from the beginning, or `after` the line before, or at once."""

    at: float | None = None
    after: float | None = None
    note: str | None = None


# --- The adapter says ----------------------------------------------------------------------------------------


class AdapterLine(Line, frozen=True, kw_only=True, tag_field="adapter"):
    """`who`: which adapter. With `times` it is said again `every` so many seconds, while the next lines go on."""

    who: str = ROOT
    times: Annotated[int, Meta(ge=1, le=MAX_TIMES)] = 1
    every: float = 0.0


class Event(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An event as the protocol has it."""

    event: str
    body: dict[str, Any] = {}


class SayStop(AdapterLine, frozen=True, kw_only=True, tag="stop"):
    """The program stops, and this is what is found there from now on. `hit`: the adapter's breakpoint ids."""

    reason: str = "step"
    thread: int = 1
    hit: list[int] = []
    body: dict[str, Any] = {}
    frames: tuple[Frame, ...] | None = None
    threads: tuple[Thread, ...] | None = None
    locals: dict[str, str] | None = None


class SayEvent(AdapterLine, frozen=True, kw_only=True, tag="event"):
    """Any event."""

    event: str
    body: dict[str, Any] = {}


class SayOutput(AdapterLine, frozen=True, kw_only=True, tag="output"):
    """The program writes."""

    text: str
    stream: str = "stdout"


class SayTrace(AdapterLine, frozen=True, kw_only=True, tag="trace"):
    """A breakpoint with a log message is passed and writes; `id` is ours, such as `tp-1`."""

    id: str
    text: str


class SayExit(AdapterLine, frozen=True, kw_only=True, tag="exit"):
    """The program ends."""

    code: int = 0


class SayCrash(AdapterLine, frozen=True, kw_only=True, tag="crash"):
    """The adapter's connection breaks off."""


class SayRaw(AdapterLine, frozen=True, kw_only=True, tag="raw"):
    """Bytes that need not be the protocol, as text in Latin-1."""

    text: str


class SetAnswer(AdapterLine, frozen=True, kw_only=True, tag="answer"):
    """How a command is answered from now on, or `once`: several of these wait in line. No further key: as usual again.

    `body` instead of the usual one; `refuse` with that text; `never`; `crash` instead of an answer; after `delay`
    seconds; with events `first` (before the delay) and `then` (after the answer).
    """

    command: str
    once: bool = False
    body: Any = None
    refuse: str | None = None
    never: bool = False
    crash: bool = False
    delay: float = 0.0
    first: list[Event] = []
    then: list[Event] = []


class AskChild(AdapterLine, frozen=True, kw_only=True, tag="child"):
    """The adapter announces a child session, whose adapter is called `name`; only answers may be set before."""

    name: str
    request: Literal["launch", "attach"] = "launch"


class AskClient(AdapterLine, frozen=True, kw_only=True, tag="ask"):
    """A reverse request, and whether it must succeed."""

    command: str
    arguments: dict[str, Any] = {}
    success: bool = True


# --- A client does -------------------------------------------------------------------------------------------


class ClientLine(Line, frozen=True, kw_only=True, tag_field="client"):
    """`who`: which client."""

    who: str = AGENT


class Connect(ClientLine, frozen=True, kw_only=True, tag="connect"):
    """A further client comes."""

    era: Era | None = None
    role: Literal["control", "observe"] = "control"


class Subscribe(ClientLine, frozen=True, kw_only=True, tag="subscribe"):
    """It subscribes to resources; `session` is short for `debugger://session`."""

    uris: list[str]


class Unsubscribe(ClientLine, frozen=True, kw_only=True, tag="unsubscribe"):
    """It unsubscribes from resources."""

    uris: list[str]


class Call(ClientLine, frozen=True, kw_only=True, tag="call"):
    """It calls a tool and does not wait; `as` names the call for the lines that follow."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict, name="with")
    name: str | None = field(default=None, name="as")


class LaunchProgram(ClientLine, frozen=True, kw_only=True, tag="launch"):
    """It calls `debug_launch` with the setting's program, not to stop at its entry and not to wait, unless told so."""

    arguments: dict[str, Any] = field(default_factory=dict, name="with")
    name: str | None = field(default=None, name="as")


class Read(ClientLine, frozen=True, kw_only=True, tag="read"):
    """It reads a resource and does not wait."""

    uri: str
    name: str | None = field(default=None, name="as")


class Cancel(ClientLine, frozen=True, kw_only=True, tag="cancel"):
    """It calls off a call; by default its last one."""

    of: str | None = None


class StopReading(ClientLine, frozen=True, kw_only=True, tag="stop_reading"):
    """It takes nothing more from its connection."""


class ReadOn(ClientLine, frozen=True, kw_only=True, tag="read_on"):
    """It reads again."""


class Leave(ClientLine, frozen=True, kw_only=True, tag="leave"):
    """It leaves."""


# --- We expect -----------------------------------------------------------------------------------------------


class ExpectLine(Line, frozen=True, kw_only=True, tag_field="expect"):
    """`who`: of which client it is true."""

    who: str = AGENT


class ExpectResource(ExpectLine, frozen=True, kw_only=True, tag="resource"):
    """What it reads now: `has` these values at dotted paths, `is` exactly this, or is this `text`."""

    uri: str
    has: dict[str, Any] = {}
    whole: Any = field(default=None, name="is")
    text: str | None = None


class ExpectUpdated(ExpectLine, frozen=True, kw_only=True, tag="updated"):
    """It is told now, to the microsecond, that these resources have changed."""

    uris: list[str]


class ExpectListChanged(ExpectLine, frozen=True, kw_only=True, tag="list_changed"):
    """It is told now that the list has changed: after what the lines before say, before what those after say."""


class ExpectNothing(ExpectLine, frozen=True, kw_only=True, tag="nothing"):
    """By then it has been told nothing that no line before expects."""

    until: float
    who: str = EVERYONE


class ExpectAnswer(ExpectLine, frozen=True, kw_only=True, tag="answer"):
    """A call has succeeded: by default the last one. With a time, then and not earlier; else it is waited for."""

    of: str | None = None
    has: dict[str, Any] = {}
    whole: Any = field(default=None, name="is")
    text: str | None = None


class ExpectError(ExpectLine, frozen=True, kw_only=True, tag="error"):
    """A call has failed with that code, and the message `says` that. `NOT_FOUND` is each era's own number."""

    of: str | None = None
    code: str | int | None = None
    says: str = ""


class ExpectList(ExpectLine, frozen=True, kw_only=True, tag="list"):
    """These resources are listed, in any order, and these templates."""

    uris: list[str]
    templates: list[str] | None = None


class ExpectAsked(ExpectLine, frozen=True, kw_only=True, tag="asked"):
    """The adapter has been asked that, last with arguments that have these values, and so often since the beginning."""

    command: str
    has: dict[str, Any] = {}
    times: int | None = None
    who: str = ROOT


ADAPTER_LINES = (
    SayStop,
    SayEvent,
    SayOutput,
    SayTrace,
    SayExit,
    SayCrash,
    SayRaw,
    SetAnswer,
    AskChild,
    AskClient,
)
CLIENT_LINES = (
    Connect,
    Subscribe,
    Unsubscribe,
    Call,
    LaunchProgram,
    Read,
    Cancel,
    StopReading,
    ReadOn,
    Leave,
)
EXPECT_LINES = (
    ExpectResource,
    ExpectUpdated,
    ExpectListChanged,
    ExpectNothing,
    ExpectAnswer,
    ExpectError,
    ExpectList,
    ExpectAsked,
)

WORDS: Mapping[str, Mapping[str, type[Line]]] = {
    speaker: {str(kind.__struct_config__.tag): kind for kind in kinds}
    for speaker, kinds in (("adapter", ADAPTER_LINES), ("client", CLIENT_LINES), ("expect", EXPECT_LINES))
}
"""Whose line it is, what it says, and as what it is decoded."""


class Step(Struct, frozen=True):
    """A line and its number in the file, counted from 1."""

    number: int
    line: Line


class Scenario(Struct, frozen=True):
    """A whole file; `name` is what errors call it."""

    name: str
    setting: Setting
    steps: tuple[Step, ...]


# --- Text to scenario and back -------------------------------------------------------------------------------


def decode_scenario(text: str, name: str = "scenario") -> Scenario:
    """Read a scenario. Empty lines are skipped.

    Raises:
        BadScenario: with the file's name, the line, and what is allowed there.
    """
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not numbered:
        raise BadScenario(f'{name}: it is empty; the first line is the setting: {{"scenario": "what it shows"}}')
    setting = _decode(f"{name}:{numbered[0][0]}", numbered[0][1], first=True)
    _check_files(f"{name}:{numbered[0][0]}", setting)
    steps = tuple(Step(number, _decode(f"{name}:{number}", line, first=False)) for number, line in numbered[1:])
    scenario = Scenario(name, setting, steps)
    _check_names(scenario)
    return scenario


def encode_scenario(scenario: Scenario) -> str:
    """A scenario as text, one line for each step."""
    parts = [scenario.setting, *(step.line for step in scenario.steps)]
    return "".join(f"{msgspec.json.encode(_in_order(part)).decode()}\n" for part in parts)


def full_uri(uri: str) -> str:
    """`session` is short for `debugger://session`."""
    return uri if "://" in uri else f"debugger://{uri}"


def filled(line: Any, **replacements: str | int) -> Any:
    """A line or setting with placeholders (`DIR`, `N`) replaced, wherever a string has them."""

    def fill(value: Any) -> Any:
        match value:
            case str():
                if value == NUMBER and "N" in replacements:
                    return replacements["N"]
                return reduce(lambda text, each: text.replace(f"${each[0]}", str(each[1])), replacements.items(), value)
            case dict():
                return {fill(key): fill(each) for key, each in value.items()}
            case list() | tuple():
                return [fill(each) for each in value]
            case _:
                return value

    kind = type(line)
    tag = kind.__struct_config__.tag_field
    raw = {
        key: getattr(line, name)
        for key, name in zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True)
    }
    whole = fill(msgspec.to_builtins(raw)) | ({tag: kind.__struct_config__.tag} if tag else {})
    return msgspec.convert(whole, kind)


def _decode(where: str, text: str, *, first: bool) -> Any:
    raw = _object(where, text)
    if first or "scenario" in raw:
        if not first or "scenario" not in raw:
            raise BadScenario(f"{where}: the key `scenario` belongs to the first line, the setting, and to no other")
        return _convert(where, raw, Setting, "the setting")
    speakers = [speaker for speaker in WORDS if speaker in raw]
    if len(speakers) != 1:
        found = f"not {' and '.join(speakers)}" if speakers else f"it has {_listed(raw)}"
        raise BadScenario(f"{where}: a line has exactly one of the keys {_listed(WORDS)}; {found}")
    words, word = WORDS[speakers[0]], raw[speakers[0]]
    kind = words.get(word) if isinstance(word, str) else None
    if kind is None:
        raise BadScenario(f"{where}: `{speakers[0]}` is one of {_listed(words)}, not {word!r}")
    line = _convert(where, raw, kind, f'"{speakers[0]}": "{word}"')
    if line.at is not None and line.after is not None:
        raise BadScenario(f"{where}: `at` and `after` exclude each other")
    return line


def _object(where: str, text: str) -> dict[str, Any]:
    try:
        raw = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadScenario(f"{where}: not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise BadScenario(f"{where}: a line is a JSON object")
    return raw


def _convert(where: str, raw: dict[str, Any], kind: type[Any], what: str) -> Any:
    allowed = _keys(kind)
    unknown = [key for key in raw if key not in allowed]
    if unknown:
        raise BadScenario(f"{where}: {what} has no key {_listed(unknown)}; there are {_listed(allowed)}")
    try:
        return msgspec.convert(raw, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadScenario(f"{where}: {what}: {error}") from None


def _keys(kind: type[Any]) -> list[str]:
    tag = kind.__struct_config__.tag_field
    return [*([tag] if tag else []), *kind.__struct_encode_fields__]


def _in_order(part: Any) -> dict[str, Any]:
    """The time first, then whose line it is, then the rest; a note last."""
    raw: dict[str, Any] = msgspec.to_builtins(part)
    tag = type(part).__struct_config__.tag_field
    first = [key for key in ("at", "after", tag) if key in raw]
    rest = [key for key in raw if key not in (*first, "note")]
    return {key: raw[key] for key in [*first, *rest, *(["note"] if "note" in raw else [])]}


def _listed(words: Any) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _check_files(where: str, setting: Setting) -> None:
    for file in setting.files:
        path = PurePath(file)
        if path.is_absolute() or ".." in path.parts or path == PurePath() or "\0" in file:
            raise BadScenario(f"{where}: `files` are paths below {DIRECTORY}, not {file!r}")


def _check_names(scenario: Scenario) -> None:
    """Every client, adapter and call that a line names has been introduced before."""
    clients, adapters = {AGENT}, {ROOT}
    to_come = {step.line.name for step in scenario.steps if isinstance(step.line, AskChild)}
    calls: dict[str, set[str | None]] = {}
    for step in scenario.steps:
        line = step.line
        there = adapters | to_come if isinstance(line, SetAnswer) else adapters
        for what, name, known in _named(line, clients, there, calls):
            if name not in known:
                introduced = _listed(sorted(each for each in known if each is not None)) or "none"
                which = "" if name is None else f" `{name}`"
                raise BadScenario(
                    f"{scenario.name}:{step.number}: there is no {what}{which} yet; there are {introduced}"
                )
        match line:
            case Connect(who=who):
                clients.add(who)
            case AskChild(name=name):
                adapters.add(name)
            case Call(who=who, name=name) | LaunchProgram(who=who, name=name) | Read(who=who, name=name):
                calls.setdefault(who, set()).update({name, None})
            case _:
                pass


def _named(
    line: Line, clients: set[str], adapters: set[str], calls: dict[str, set[str | None]]
) -> Iterator[tuple[str, str | None, Any]]:
    match line:
        case AdapterLine(who=who) | ExpectAsked(who=who):
            yield "adapter", who, adapters
        case Connect():
            return
        case ExpectUpdated(who=who) | ExpectListChanged(who=who) | ExpectNothing(who=who):
            yield "client", who, {*clients, EVERYONE}
        case ClientLine(who=who) | ExpectLine(who=who):
            yield "client", who, clients
        case _:
            return
    match line:
        case Cancel(who=who, of=of) | ExpectAnswer(who=who, of=of) | ExpectError(who=who, of=of):
            yield "call", of, calls.get(who, set())
        case _:
            return
