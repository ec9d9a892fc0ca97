"""The lines of a scenario file: JSON Lines, one object a line, in the order in which things happen. Pure.

The first line is the setting and has the key `scenario`. Every other line has one of the keys `adapter`, `client` and
`expect`; its value is the word that names what happens:

    {"scenario": "A stop is notified 0.3 s later", "begin": "running"}
    {"client": "subscribe", "uris": ["session"]}
    {"at": 1, "adapter": "stop", "reason": "breakpoint"}
    {"at": 1.3, "expect": "updated", "uris": ["session"]}

docs/scenarios.md describes the format. Decoding is strict (script_text.py): an unknown key or word is an error that
names the file, the line, and the known ones.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

Era = Literal["legacy", "modern"]
Frame = tuple[str, str, int]
Thread = tuple[int, str]

DIRECTORY = "$DIR"
"""Placeholder in any string: the directory with the setting's files."""

NUMBER = "$N"
"""Placeholder for a whole string: the number of the repetition, counted from 1."""

AGENT = "agent"
"""The client that is connected from the beginning."""

MAX_TIMES = 100_000
"""Repetitions of a line. They are bounded because repetitions at one instant take real time."""

EVERYONE = "everyone"
"""Stands for all clients that are connected at the time."""

ROOT = "program"
"""The adapter of the program that was launched; the adapters of its children are named by `AskChild`."""


class BadScenario(ValueError):
    """Raised for a file that is not a scenario; the message says where and why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class Setting(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first line: what is found in the program, the server's options, and the state at the beginning.

    `begin`: with no session, or with the program running or paused at its entry; time counts from there, and earlier
    notifications are dropped. `breakpoints`: arguments of `breakpoint_set`, called before the launch. `initialized`:
    whether the adapter sends that event after its response to `initialize`. `profile`: the name of a real adapter, as
    which the server treats the fake one. `probe`: whether its program answers to the probe, if that profile has one.
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
    probe: bool = False
    frames: tuple[Frame, ...] = (("main", f"{DIRECTORY}/app.py", 1),)
    threads: tuple[Thread, ...] = ((1, "MainThread"),)
    locals: dict[str, str] = {}
    values: dict[str, str] = {}
    breakpoints: list[dict[str, Any]] = []
    quiet: float | None = None
    max_wait: float | None = None
    linger: float | None = None
    patience: float = 1.0
    tools: Literal["full", "core"] = "full"

    @property
    def eras(self) -> tuple[Era, ...]:
        """The protocol eras in which the scenario is played."""
        return ("legacy", "modern") if self.era == "both" else (self.era,)


class ScriptLine(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The time of a line: `at` seconds from the beginning, `after` seconds from the line before, or at once."""

    at: float | None = None
    after: float | None = None
    note: str | None = None


# --- The adapter sends ------------------------------------------------------------------------------------------------


class AdapterLine(ScriptLine, frozen=True, kw_only=True, tag_field="adapter"):
    """`who` names the adapter. With `times` the line is repeated, `every` so many seconds, beside the next lines."""

    who: str = ROOT
    times: Annotated[int, Meta(ge=1, le=MAX_TIMES)] = 1
    every: float = 0.0


class AdapterEvent(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An event of DAP, within another line."""

    event: str
    body: dict[str, Any] = {}


class SendStop(AdapterLine, frozen=True, kw_only=True, tag="stop"):
    """The program stops; `frames`, `threads` and `locals` hold from now on. `hit`: the adapter's breakpoint ids."""

    reason: str = "step"
    thread: int = 1
    hit: list[int] = []
    body: dict[str, Any] = {}
    frames: tuple[Frame, ...] | None = None
    threads: tuple[Thread, ...] | None = None
    locals: dict[str, str] | None = None


class SendEvent(AdapterLine, frozen=True, kw_only=True, tag="event"):
    """The adapter sends any event."""

    event: str
    body: dict[str, Any] = {}


class SendOutput(AdapterLine, frozen=True, kw_only=True, tag="output"):
    """The program writes to a standard stream."""

    text: str
    stream: str = "stdout"


class SendTrace(AdapterLine, frozen=True, kw_only=True, tag="trace"):
    """The program passes a tracepoint, which writes; `id` is the server's, such as `tp-1`."""

    id: str
    text: str


class SendExit(AdapterLine, frozen=True, kw_only=True, tag="exit"):
    """The program exits with that code."""

    code: int = 0


class SendCrash(AdapterLine, frozen=True, kw_only=True, tag="crash"):
    """The adapter's connection breaks off."""


class SendRaw(AdapterLine, frozen=True, kw_only=True, tag="raw"):
    """The adapter sends bytes that need not be DAP, given as text in Latin-1."""

    text: str


class SetAnswer(AdapterLine, frozen=True, kw_only=True, tag="answer"):
    """How a command is answered from now on, or `once` (several of these wait in line). Without further keys: as usual.

    With `body` instead of the usual one; by refusing with the text `refuse`; `never`; with a `crash` instead of a
    response; after `delay` seconds; with events `first` (before the delay) and `then` (after the response).
    """

    command: str
    once: bool = False
    body: Any = None
    refuse: str | None = None
    never: bool = False
    crash: bool = False
    delay: float = 0.0
    first: list[AdapterEvent] = []
    then: list[AdapterEvent] = []


class AskChild(AdapterLine, frozen=True, kw_only=True, tag="child"):
    """The adapter announces a child session, whose adapter gets the `name`; only `answer` lines may use it earlier."""

    name: str
    request: Literal["launch", "attach"] = "launch"


class AskClient(AdapterLine, frozen=True, kw_only=True, tag="ask"):
    """The adapter sends a reverse request, which must succeed or fail as `success` has it."""

    command: str
    arguments: dict[str, Any] = {}
    success: bool = True


# --- A client does ----------------------------------------------------------------------------------------------------


class ClientLine(ScriptLine, frozen=True, kw_only=True, tag_field="client"):
    """`who` names the client that acts."""

    who: str = AGENT


class ConnectClient(ClientLine, frozen=True, kw_only=True, tag="connect"):
    """One client more, under a name that later lines use."""

    era: Era | None = None
    role: Literal["control", "observe"] = "control"


class Subscribe(ClientLine, frozen=True, kw_only=True, tag="subscribe"):
    """The client subscribes to resources; `session` is short for `debugger://session`."""

    uris: list[str]


class Unsubscribe(ClientLine, frozen=True, kw_only=True, tag="unsubscribe"):
    """The client unsubscribes from resources."""

    uris: list[str]


class Call(ClientLine, frozen=True, kw_only=True, tag="call"):
    """The client calls a tool and does not wait; `as` names the call for the lines that follow."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict, name="with")
    name: str | None = field(default=None, name="as")


class LaunchProgram(ClientLine, frozen=True, kw_only=True, tag="launch"):
    """The client launches the setting's program, without a stop at its entry or waiting, unless `with` has them."""

    arguments: dict[str, Any] = field(default_factory=dict, name="with")
    name: str | None = field(default=None, name="as")


class Read(ClientLine, frozen=True, kw_only=True, tag="read"):
    """The client reads a resource and does not wait."""

    uri: str
    name: str | None = field(default=None, name="as")


class CancelCall(ClientLine, frozen=True, kw_only=True, tag="cancel"):
    """The client cancels a call; by default its last one."""

    of: str | None = None


class StopReading(ClientLine, frozen=True, kw_only=True, tag="stop_reading"):
    """The client reads nothing more from its connection."""


class ReadOn(ClientLine, frozen=True, kw_only=True, tag="read_on"):
    """The client reads from its connection again."""


class Leave(ClientLine, frozen=True, kw_only=True, tag="leave"):
    """The client closes its connection."""


# --- Expectations -----------------------------------------------------------------------------------------------------


class ExpectLine(ScriptLine, frozen=True, kw_only=True, tag_field="expect"):
    """`who` names the client for which this is true."""

    who: str = AGENT


class ExpectResource(ExpectLine, frozen=True, kw_only=True, tag="resource"):
    """The resource, read now, `has` these values at dotted paths, `is` exactly this, or is this `text`."""

    uri: str
    has: dict[str, Any] = {}
    whole: Any = field(default=None, name="is")
    text: str | None = None


class ExpectUpdated(ExpectLine, frozen=True, kw_only=True, tag="updated"):
    """The client is notified now, to the microsecond, that these resources have changed."""

    uris: list[str]


class ExpectListChanged(ExpectLine, frozen=True, kw_only=True, tag="list_changed"):
    """The client is notified now that the list has changed: after the notices of earlier lines, before later ones."""


class ExpectNothing(ExpectLine, frozen=True, kw_only=True, tag="nothing"):
    """By then the client has been notified of nothing that no earlier line expects."""

    until: float
    who: str = EVERYONE


class ExpectAnswer(ExpectLine, frozen=True, kw_only=True, tag="answer"):
    """A call has succeeded: by default the last one. With a time, exactly then; otherwise the answer is waited for."""

    of: str | None = None
    has: dict[str, Any] = {}
    whole: Any = field(default=None, name="is")
    text: str | None = None


class ExpectError(ExpectLine, frozen=True, kw_only=True, tag="error"):
    """A call has failed with that code, and its message contains `says`. `NOT_FOUND` is the number of the era."""

    of: str | None = None
    code: str | int | None = None
    says: str = ""


class ExpectList(ExpectLine, frozen=True, kw_only=True, tag="list"):
    """Exactly these resources are listed, in any order, and these templates."""

    uris: list[str]
    templates: list[str] | None = None


class ExpectAsked(ExpectLine, frozen=True, kw_only=True, tag="asked"):
    """The adapter has received that command, so many `times` since the beginning; the last `has` these arguments."""

    command: str
    has: dict[str, Any] = {}
    times: int | None = None
    who: str = ROOT


WORDS: Mapping[str, Mapping[str, type[ScriptLine]]] = {
    key: {str(kind.__struct_config__.tag): kind for kind in base.__subclasses__()}
    for key, base in (("adapter", AdapterLine), ("client", ClientLine), ("expect", ExpectLine))
}
"""By the key of a line and its word: the class as which the line is decoded."""


class Step(Struct, frozen=True):
    """A line of a scenario and its number in the file, counted from 1."""

    number: int
    line: ScriptLine


class Scenario(Struct, frozen=True):
    """A whole scenario file; `name` is how errors refer to it."""

    name: str
    setting: Setting
    steps: tuple[Step, ...]
