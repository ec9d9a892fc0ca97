"""The scenario file: JSON Lines, one object a line, in the order in which things happen. Pure; see docs/scenarios.md.

The first line is the setting and begins with the key `scenario`. Every other line begins with whose it is, `adapter`,
`client` or `expect`, and its value says what it does:

    {"scenario": "A stop is told of 0.3 s later", "begin": "running"}
    {"client": "subscribe", "uris": ["session"]}
    {"at": 1, "adapter": "stop", "reason": "breakpoint"}
    {"at": 1.3, "expect": "updated", "uris": ["session"]}

Decoding is strict (`scenario_text.py`): a key or word that does not exist is an error that names the file, the line,
and what there is.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

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


# --- The adapter says -------------------------------------------------------------------------------------------------


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


# --- A client does ----------------------------------------------------------------------------------------------------


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


# --- We expect --------------------------------------------------------------------------------------------------------


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
