"""What the probe answers about the trace of a function, as structs; see `inside.tracing.call_tracer`."""

from typing import Any

from trio_debugmcp.probe.answers import ProbeAnswer, ProbePlace


class Begun(ProbeAnswer, frozen=True):
    """The answer to `trace`: calls are looked for."""


class TracedLine(ProbeAnswer, frozen=True, array_like=True):
    """One execution of a line: its number, the variables it changed, and what happened in it.

    A change is a path and what is there now, None where it was taken away. A note is a list that begins with its kind:
    `call` (name, arguments, how it ended, value, values that it yielded), `more` (calls), `raised`, `yielded` (the last
    value, how many), `waited` (times, seconds).
    """

    number: int
    changes: tuple[tuple[str, str | None], ...] = ()
    notes: tuple[tuple[Any, ...], ...] = ()


class TracedCall(ProbeAnswer, frozen=True):
    """One call: how it began, its first lines, its last ones, and how often each ran between these."""

    place: ProbePlace
    arguments: tuple[tuple[str, str], ...] = ()
    caller: ProbePlace | None = None
    head: tuple[TracedLine, ...] = ()
    tail: tuple[TracedLine, ...] = ()
    between: tuple[tuple[int, int], ...] = ()
    count: int = 0
    unwatched: int = 0
    """Lines at which variables were not compared, as that had taken too long."""
    outcome: tuple[str, str] | None = None
    """`returned` or `raised`, and what; None for a call that has not ended."""


class TraceState(ProbeAnswer, frozen=True):
    """The answer to `traced`: how far a trace is; with `take` the calls as well."""

    looked: int = 0
    """How often the function's first line was reached."""
    under_way: int = 0
    """In how many of these the call had begun before the trace."""
    begun: int = 0
    open: int = 0
    ended: bool = False
    failure: str = ""
    calls: tuple[TracedCall, ...] = ()
