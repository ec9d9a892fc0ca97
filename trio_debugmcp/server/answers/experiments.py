"""What runs that were observed have found, as answers: a stop, with the hits of each experiment, or the last value."""

from collections.abc import Sequence
from typing import Any, ClassVar

from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.said_before import without_repeats
from trio_debugmcp.server.answers.stop_answer import ShownValue, StopAnswer, StopData
from trio_debugmcp.server.answers.values import shown_value
from trio_debugmcp.session.breakpoints.observations import Hit, ObservedPlace, Run
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.state.payloads import Payload, json_size

_HITS_BYTES = 18_000
"""JSON bytes of the hits of all experiments; a stop with its locals takes up to about 12 KB."""


class ExperimentPayload(Payload, frozen=True):
    """What one experiment has found. `status`: complete, partial, notHit or failed; `hits`: the first of `hitCount`.

    `passes`: how often the program came by, where a condition decides; `failures`: how often that failed.
    """

    file: str | None
    line: int | None
    function: str | None
    status: str
    hit_count: int
    passes: int
    failures: int
    hits: list[list[ShownValue]]
    error: str | None


class BatchData(StopData, frozen=True, kw_only=True):
    """Why a batch has `ended`, what its experiments have found, and where the program is, as after any move."""

    same: ClassVar[tuple[str, ...]] = (*StopData.same, "ended")

    ended: str = ""
    experiments: list[ExperimentPayload] = []


class UntilData(StopData, frozen=True, kw_only=True):
    """Whether the expression `holds`, how often a run has looked, its last value, and where the program is."""

    same: ClassVar[tuple[str, ...]] = (*StopData.same, "holds", "looks", "failures", "value", "error")

    holds: bool = False
    looks: int | None = None
    failures: int = 0
    value: str | None = None
    error: str | None = None


class ExperimentAnswer(Answer, frozen=True, kw_only=True):
    """What one experiment has found. `status`: complete, partial, notHit or failed; `omitted`: hits that are not shown.

    `passes`: how often the program came by, where a condition decides; `failures`: how often that failed.
    """

    at: str
    status: str
    hit_count: int = 0
    passes: int = 0
    failures: int = 0
    hits: list[dict[str, str]] = []
    omitted: int = 0
    error: str | None = None


class BatchStop(StopAnswer, frozen=True, kw_only=True):
    """Why a batch has `ended` (complete, maxTotalHits, timeout, stopped, exited), and where the program is."""

    full: BatchData | None = None
    ended: str
    experiments: list[ExperimentAnswer] = []


class UntilStop(StopAnswer, frozen=True, kw_only=True):
    """How often a run has looked, be it never; where the expression did not hold, its last value, and its failures."""

    full: UntilData | None = None
    holds: bool = False
    looks: int | None = None
    failures: int = 0
    value: str | None = None
    error: str | None = None


def batch_answer(
    debugger: Debugger, stop: StopAnswer, run: Run, outcome: Outcome | None, held: Sequence[str]
) -> BatchStop:
    """Answer what a run has found, in how much room there is: each experiment has its share, and what others leave."""
    places = Places(debugger.workspace.directory)
    python = all(each.looking.is_python for each in debugger.living_sessions())
    shown: dict[int, tuple[list[list[ShownValue]], list[dict[str, str]]]] = {}
    room, left = _HITS_BYTES, len(run.places)
    for place in sorted(run.places, key=lambda each: len(each.hits)):
        shown[id(place)] = _fitting(place, room // left, python=python)
        room, left = room - json_size(shown[id(place)][1]), left - 1
    notes = [f"held meanwhile: {', '.join(held)}"] if held else []
    notes += [f"experiment {number}: {place.moved}" for number, place in enumerate(run.places, 1) if place.moved]
    notes += _uncounted(debugger, held)
    if run.interrupted:
        many = run.interrupted > 1
        notes.append(
            f"{run.interrupted} evaluation{'s' if many else ''} of {'conditions' if many else 'the condition'} had not "
            f"ended, and {'were' if many else 'was'} interrupted"
        )
    notes += _doubts(debugger, run)
    found = [_experiment(place, shown[id(place)][0]) for place in run.places]
    full = BatchData(**_data_fields(stop), experiments=found)
    return BatchStop(
        **{**_fields(stop), "notes": [*stop.notes, *notes], "full": full},
        ended=_ended(run, outcome),
        experiments=[
            _experiment_words(places, place, each, shown[id(place)][1])
            for place, each in zip(run.places, found, strict=True)
        ],
    )


def _uncounted(debugger: Debugger, held: Sequence[str]) -> list[str]:
    """Return a note on hit conditions that do not know of the hits of this run: only a Python program counts those."""
    if all(session.requests.capabilities.hit_records is not None for session in debugger.living_sessions()):
        return []
    found = [
        breakpoint.id
        for breakpoint in debugger.state.breakpoints
        if breakpoint.id in held and breakpoint.spec.hit_condition is not None
    ]
    return [f"passes meanwhile did not count for the hit conditions of: {', '.join(found)}"] if found else []


def until_answer(debugger: Debugger, stop: StopAnswer, run: Run, problem: str | None) -> UntilStop:
    """Answer how a run until an expression holds has ended; `problem`: why it may never have come to its place."""
    (place,) = run.places
    first = not place.hits and place.passes == place.failures == 1
    notes = [place.moved] if place.moved else []
    notes += [f"stopped there, as the first look failed: {place.error}"] if first else []
    if not place.passes:
        notes.append("never reached" if problem is None else f"never reached: {problem}")
    if run.interrupted:
        notes.append("its last evaluation had not ended, and was interrupted")
    notes += _doubts(debugger, run)
    return UntilStop(
        **{**_fields(stop), "notes": [*stop.notes, *notes], "full": UntilData(**_data_fields(stop))},
        holds=bool(place.hits),
        looks=place.passes,
        failures=place.failures,
        value=None if place.hits else place.value,
        error=place.error if place.failures and not first else None,
    )


def _doubts(debugger: Debugger, run: Run) -> list[str]:
    """Return notes on what may have been seen otherwise than it looks."""
    notes = []
    sessions = sorted({session for place in run.places for session in place.sessions})
    if len(sessions) > 1:
        notes.append(f"several processes came here, whose hits are in one list: {', '.join(sessions)}")
    if any(breakpoint.spec.watch is not None and breakpoint.enabled for breakpoint in debugger.state.breakpoints):
        # lldb steps over a breakpoint behind a write, and reports a stop at both as one at the line.
        notes.append(
            "a data breakpoint is set: a change at an observed place did not stop it, and a pass right behind a write "
            "may be missing. Disable it to be sure"
        )
    return notes


def _fields(stop: StopAnswer) -> dict[str, Any]:
    return {name: getattr(stop, name) for name in StopAnswer.__struct_fields__}


def _data_fields(stop: StopAnswer) -> dict[str, Any]:
    full = stop.full or StopData()
    return {name: getattr(full, name) for name in StopData.__struct_fields__}


def _ended(run: Run, outcome: Outcome | None) -> str:
    if all(place.is_complete for place in run.places):
        return "complete"
    if run.hits >= run.most_hits:
        return "maxTotalHits"
    if outcome is None:
        return "timeout"
    return "exited" if outcome.ended is not None else "stopped"


def _experiment(place: ObservedPlace, hits: list[list[ShownValue]]) -> ExperimentPayload:
    now = place.run_place
    bindings = () if now is None else now.bindings
    line = next((binding.line for binding in bindings if binding.verified and binding.line), place.line)
    failed = bool(place.failures) and place.failures == place.passes
    status = "complete" if place.is_complete else "partial" if place.hits else "failed" if failed else "notHit"
    error = f"the condition failed: {place.error}" if place.failures else None
    if error is None and not place.passes and not any(binding.verified for binding in bindings):
        error = next((binding.message for binding in bindings if binding.message), None)
    return ExperimentPayload(
        file=place.file,
        line=line,
        function=place.function,
        status=status,
        hit_count=len(place.hits),
        passes=place.passes if place.condition is not None else 0,
        failures=place.failures,
        hits=hits,
        error=error,
    )


def _experiment_words(
    places: Places, place: ObservedPlace, shown: ExperimentPayload, hits: list[dict[str, str]]
) -> ExperimentAnswer:
    return ExperimentAnswer(
        at=places.line(shown.file or "", shown.line),
        status=shown.status,
        hit_count=shown.hit_count,
        passes=shown.passes,
        failures=shown.failures,
        hits=hits,
        omitted=shown.hit_count - len(hits) if place.capture else 0,
        error=shown.error,
    )


def _fitting(place: ObservedPlace, room: int, *, python: bool) -> tuple[list[list[ShownValue]], list[dict[str, str]]]:
    """Return as many of the hits as there is room for, at least one, as data and in words.

    A long value that the hit before had is said once.
    """
    found: list[list[ShownValue]] = []
    words: list[dict[str, str]] = []
    before: dict[str, str] = {}
    for hit in place.hits if place.capture else ():
        values = _values(place, hit)
        named = {value.expression: shown_value(value, python=python) for value in values}
        shown, before = without_repeats(named, before), named
        room -= json_size(shown) + 1
        if found and room < 0:
            break
        found.append(values)
        words.append(shown)
    return found, words


def _values(place: ObservedPlace, hit: Hit) -> list[ShownValue]:
    if len(hit.values) < len(place.capture):  # of a record that could not be read
        return [ShownValue(each, None, None, "not known") for each in place.capture]
    return [_value(name, *value) for name, value in zip(place.capture, hit.values, strict=True)]


def _value(expression: str, value: str, kind: str | None) -> ShownValue:
    """Return what was captured; an error has its place there, in angle brackets, as in the words."""
    if kind is None and value.startswith("<error: ") and value.endswith(">"):
        return ShownValue(expression, None, None, value[1:-1])
    return ShownValue(expression, value, kind, None)
