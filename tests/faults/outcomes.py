"""The outcome of each fault of the kit in each phase: the table that tests check and `scripts/faults` prints."""

from collections.abc import Mapping

from tests.faults.phases import PHASES
from trio_debugmcp.testing.faults import CLIENT_FAULTS, EDITOR_FAULTS, FAULTS

Row = tuple[str, ...]

HARMLESS: Row = ("unharmed",) * len(PHASES)

DEAD: Row = (
    "ADAPTER_FAILED",  # starting
    "ADAPTER_FAILED",  # greeting
    "ADAPTER_GONE †",  # running
    "unharmed †",  # paused: breakpoints are the server's, and are kept for the next session
    "ADAPTER_GONE †",  # stepping
    "ADAPTER_GONE †",  # reading
    "ADAPTER_GONE †",  # evaluating
    "unharmed",  # disconnecting
)

SILENT: Row = (
    "times out",  # the wait ends, and the start can still be ended by debug_disconnect
    "times out",
    "times out",
    "TIMEOUT",
    "times out",
    "TIMEOUT",
    "EVAL_TIMEOUT",
    "unharmed",
)

REFUSED: Row = (
    "LAUNCH_FAILED",
    "LAUNCH_FAILED",
    "ADAPTER_FAILED",
    "unharmed",  # the breakpoint is kept, and its message says why it is not bound
    "ADAPTER_FAILED",
    "ADAPTER_FAILED",
    "EVAL_FAILED",
    "unharmed",
)

NONSENSE: Row = (
    "times out",  # it launches, but nothing stops: this answer has no members that are needed
    "ADAPTER_FAILED",
    "times out",
    "ADAPTER_FAILED",
    "times out",
    "ADAPTER_FAILED",
    "ADAPTER_FAILED",
    "unharmed",
)

NOTHING: Row = (
    "times out",
    "times out",  # without its capabilities no `configurationDone` is sent
    "times out",
    "unharmed",
    "times out",
    "unharmed",
    "unharmed",
    "unharmed",
)

EXITED: Row = (
    "exited",
    "exited",
    "exited †",
    "unharmed †",
    "exited †",
    "unharmed †",
    "unharmed †",
    "unharmed",
)

OUTCOMES: Mapping[str, Row] = {
    "trickles": HARMLESS,
    "comes in lumps": HARMLESS,
    "reorders": HARMLESS,
    "numbers nothing": HARMLESS,
    "answers late": HARMLESS,
    "initializes again": HARMLESS,
    "answers twice": HARMLESS,
    "repeats events": HARMLESS,
    "answers no request": HARMLESS,
    "answers nothing": NOTHING,
    "answers null": NOTHING,
    "answers nonsense": NONSENSE,
    "never answers": SILENT,
    "does and never answers": (*SILENT[:2], "unharmed", SILENT[3], "unharmed", *SILENT[5:]),
    "answers too late": SILENT,
    "goes deaf": SILENT,
    "refuses": REFUSED,
    "refuses wordlessly": REFUSED,
    "body empty": DEAD,
    "no framing": DEAD,
    "no length": DEAD,
    "length no number": DEAD,
    "length huge": DEAD,
    "header endless": DEAD,
    "no JSON": DEAD,
    "no UTF-8": HARMLESS,
    "half a character": HARMLESS,
    "nested endlessly": DEAD,
    "no object": DEAD,
    "no type": DEAD,
    "unknown type": DEAD,
    "wrong types": DEAD,
    "event bodies wrong": HARMLESS,
    "capabilities wrong": HARMLESS,
    "numbers huge": HARMLESS,
    "unknown request": HARMLESS,
    "senseless requests": ("LAUNCH_FAILED", "LAUNCH_FAILED", *HARMLESS[2:]),
    "cut in a message": DEAD,
    "stalls in a message": SILENT,
    "crashes": DEAD,
    "crashes at message 2": (*DEAD[:3], "unharmed", *DEAD[4:6], "unharmed †", "unharmed"),  # answers are message 1
    "complains and exits": DEAD,
    "goes mute": DEAD,
    "program exits": EXITED,
    "only terminated": (*DEAD[:2], *EXITED[2:]),
    "only exited": ("exited", "exited", *(f"{cell} †" for cell in SILENT[2:7]), "unharmed"),
}

Outcomes = Mapping[str, Mapping[str, str]]


def declared() -> Outcomes:
    """By fault and phase."""
    names = [phase.name for phase in PHASES]
    return {fault: dict(zip(names, row, strict=True)) for fault, row in OUTCOMES.items()}


LEGEND = {
    "unharmed": "the call is answered as if nothing were wrong",
    "times out": "the call is answered in time, with `timedOut: true`: no stop yet, or the program is still starting",
    "exited": "the call is answered with the program's exit",
    "a code": "the call fails in time with that code, and with a sentence that says what to do next",
    "†": "the session is over: its reason can be read, its resources are gone, `list_changed` was sent. "
    "Without it the session continues. (A start that fails leaves no session; a disconnect ends it.)",
}


_INTRODUCTION = """\
This page shows what happens to a debug session whose debug adapter misbehaves. Each fault of the kit
(`trio_debugmcp.testing.faults`) is injected in each phase of a session, on a virtual clock, while one client works with
the session and another watches. `scripts/faults` tries all of them and writes this page; `tests/faults` fails when the
page is not true.

In every cell, reading a resource never waits, no task, descriptor or process is left behind, every message is a
sentence for people, and afterwards a program can be launched on the same server."""

_CLIENTS = """\
Clients misbehave too. Whatever a client does wrong, in any phase, another client continues to use the
session, is not delayed, and is notified. Calls that the faulty client began, for example a launch, are ended. A session
that it used continues for `--linger` seconds, in which another client may take it over."""


_EDITORS = """\
The same holds for editors, which join by `serve --dap`. An editor that breaks the protocol loses its connection and
nothing else. Before it has shown a token it learns nothing about the session."""


def document(outcomes: Outcomes) -> str:
    """The matrix in Markdown."""
    phases = [phase.name for phase in PHASES]
    lines = [
        "# Faults",
        "",
        *_INTRODUCTION.splitlines(),
        "",
        "| the client | meanwhile calls | and the adapter is asked |",
        "| --- | --- | --- |",
        *(f"| {phase.name} | `{phase.tool}` | `{phase.command}` |" for phase in PHASES),
        "",
        "| in a cell | it means |",
        "| --- | --- |",
        *(f"| {word} | {meaning} |" for word, meaning in LEGEND.items()),
        "",
        f"| the adapter | {' | '.join(phases)} |",
        f"| --- |{' --- |' * len(phases)}",
        *(
            f"| **{fault.name}**: {fault.description} | {' | '.join(outcomes[fault.name][phase] for phase in phases)} |"
            for fault in FAULTS
        ),
        "",
        *_CLIENTS.splitlines(),
        "",
        "| the client | |",
        "| --- | --- |",
        *(f"| **{fault.name}** | {fault.description} |" for fault in CLIENT_FAULTS),
        "",
        *_EDITORS.splitlines(),
        "",
        "| the editor | |",
        "| --- | --- |",
        *(f"| **{fault.name}** | {fault.description} |" for fault in EDITOR_FAULTS),
        "",
    ]
    return "\n".join(lines)
