"""Summaries of collections of a paused program: by the probe, or of the children that an adapter knows.

    summary = await summarized(requests, probe, snapshot, FramePlace(1, 0), VariablesQuestion(path="prices", count=5))
    summary.count, summary.numeric["mean"]

Nothing is said of a value that is not a collection, but what it is.
"""

import logging
import re
from collections import Counter
from collections.abc import Sequence

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import Number, ProbeError, Summary
from trio_debugmcp.probe.inside.values.collection_summary import even
from trio_debugmcp.session.looking import frames, paused_program
from trio_debugmcp.session.looking.composites import children
from trio_debugmcp.session.looking.probed_variables import no_frame, refuse, without_code_first
from trio_debugmcp.session.looking.program_probe import ProgramProbe, VariablesQuestion
from trio_debugmcp.session.looking.trees import ADAPTER_SECONDS, FramePlace
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import shortened

log = logging.getLogger(__name__)

_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?")

_NULLS = frozenset({"null", "nil", "None", "undefined", "nullptr", "NaN", "nan"})


async def summarized(
    requests: Requests, probe: ProgramProbe, snapshot: Snapshot, place: FramePlace, question: VariablesQuestion
) -> Summary:
    """Return what the collection holds that an expression stands for.

    Raises:
        UsageError: `INVALID_PARAMETER`: it is not a collection. `INVALID_FRAME`, `EVAL_FAILED`, `EVAL_TIMEOUT` or
            `TIMEOUT`.
    """
    found = await _by_probe(requests, probe, place, question) if requests.profile.has_probe else None
    return found or await _by_adapter(requests, snapshot, place, question)


async def _by_probe(
    requests: Requests, probe: ProgramProbe, place: FramePlace, question: VariablesQuestion
) -> Summary | None:
    path = question.path or ""
    try:
        found, failure = await without_code_first(
            lambda question, seconds: probe.summarize(place.thread_id, place.index, question, seconds=seconds),
            question,
            lambda found: found.withheld,
            again=requests.profile.expressions.is_path(path),
        )
    except ProbeError as error:
        if error.kind == "collection":
            raise _no_collection(path, str(error)) from None
        if error.kind == "frame":
            raise await no_frame(probe, place.thread_id, place.index) from None  # noqa: ASYNC120 (it is replaced)
        refuse(error, place.thread_id, path)
        return None
    if failure is None:
        return found
    log.info("summarizing: %s", failure)
    return replace(found, notes=(*found.notes, "a repr of the program's took too long: the items are without"))


def _no_collection(path: str, kind: str) -> UsageError:
    return UsageError(
        "INVALID_PARAMETER",
        f"`{shortened(path)}` is of type {kind}, not a collection whose items can be counted: use object_inspect or "
        "evaluate.",
        {"parameter": "expression", "type": kind},
    )


# --- By the adapter ---------------------------------------------------------------------------------------------------


async def _by_adapter(
    requests: Requests, snapshot: Snapshot, place: FramePlace, question: VariablesQuestion
) -> Summary:
    frame = await frames.find_frame(requests, snapshot, place.thread_id, place.index)
    path = question.path or ""
    seconds = requests.patience.seconds(ADAPTER_SECONDS)
    value = await paused_program.evaluate(requests, frame, path, seconds)
    found: list[DapVariable] | None = None
    with trio.move_on_after(seconds):
        found = await children(requests, value.reference, value.type)
    if found is None:
        raise UsageError(
            "TIMEOUT",
            f"{requests.profile.name} did not list `{shortened(path)}` within {seconds:g} s. Look at a part of "
            "it with variables_get.",
            {"adapter": requests.profile.name},
        )
    if not value.reference:
        raise _no_collection(path, value.type or shortened(value.value))
    items = requests.profile.values.items_of(value.value, found)
    return summary_of(value.type or "?", items, question.count, requests.profile.habits.unlisted_in(value.value))


def summary_of(kind: str, found: Sequence[DapVariable], most: int, unlisted: int = 0) -> Summary:
    """Return the summary of the children that an adapter has listed; so many more are `unlisted`."""
    total = len(found)
    sample = [found[each] for each in even(total)]
    types = Counter(each.type or "?" for each in sample)
    nulls = sum(each.value in _NULLS for each in sample)
    shown = [_text(each) for each in found[:most]]
    return Summary(
        count=total + unlisted,
        kind=kind,
        element_types=dict(sorted(types.items(), key=lambda each: (-each[1], each[0]))[:10]),
        null_count=nulls,
        numeric=_numeric([float(each.value) for each in sample if _NUMBER.fullmatch(each.value)]),
        first=tuple(shown),
        last=() if unlisted else tuple(_text(each) for each in found[max(most, total - most) :]),
        sampled=len(sample) if len(sample) < total + unlisted else 0,
    )


def _text(variable: DapVariable) -> str:
    value = shortened(variable.value)
    return value if re.fullmatch(r"\[?\d+\]?", variable.name) else f"{variable.name}: {value}"


def _numeric(numbers: list[float]) -> dict[str, Number]:
    if not numbers:
        return {}
    found = {"min": min(numbers), "max": max(numbers), "mean": sum(sorted(numbers)) / len(numbers)}
    return {name: int(each) if each.is_integer() else each for name, each in found.items() if abs(each) < 1e300}
