"""Places to go to and calls to step into, as the adapter offers them, found by what a client calls them.

    target = await step_in_target(requests, frame, "total")
    await session.execution.step("in", thread_id, target=target.id)

Targets hold for one stop: they are always asked for again.
"""

from collections.abc import Sequence

from trio_debugmcp.dap.messages import DapTarget, TargetsBody
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened

_MAX_NAMED = 15
"""Targets that an error names: more than a line of source has."""


async def goto_target(requests: Requests, file: str, line: int, wanted: str | None) -> DapTarget:
    """Return the target on a line; where there are several, the wanted one, by its label or its id.

    Raises:
        UsageError: `INVALID_PARAMETER`: there is none, or it is one of several.
    """
    arguments = {"source": {"path": file, "name": file.rpartition("/")[2]}, "line": line}
    reason = "no code is there"
    found: list[DapTarget] = []
    try:
        found = (await requests.request("gotoTargets", arguments, TargetsBody)).targets or []
    except AdapterRefused as refusal:
        reason = shortened(refusal.reason.strip().rstrip("."), MAX_MESSAGE_LENGTH)
    if not found:
        raise UsageError(
            "INVALID_PARAMETER",
            f"Cannot go to line {line} of {file}: {reason}. Pass a line with code of the function that is stopped.",
            {"file": file, "line": line},
        )
    if len(found) == 1 and wanted is None:
        return found[0]
    return _chosen(found, wanted)


async def step_in_target(requests: Requests, frame: StackFrame, wanted: str) -> DapTarget:
    """Return the call of the line that is about to run which has that name or id.

    Raises:
        UsageError: `NOT_SUPPORTED`; `INVALID_PARAMETER`: there is none, or it is one of several.
    """
    requests.need(
        "supportsStepInTargetsRequest", "step into one of several calls", "Leave out `target`, and step again."
    )
    try:
        found = (await requests.request("stepInTargets", {"frameId": frame.id}, TargetsBody)).targets or []
    except AdapterRefused as refusal:
        reason = shortened(refusal.reason.strip().rstrip("."), MAX_MESSAGE_LENGTH)
        raise UsageError(
            "INVALID_PARAMETER", f"What can be stepped into is not known: {reason}. Leave out `target`."
        ) from None
    return _chosen(found, wanted)


def _chosen(found: Sequence[DapTarget], wanted: str | None) -> DapTarget:
    """Return the target with that label or id, or else the one call of that name."""
    chosen = [target for target in found if wanted in (target.label, str(target.id))]
    chosen = chosen or [target for target in found if wanted in _names(target.label)]
    if len(chosen) == 1:
        return chosen[0]
    if not found:
        raise UsageError("INVALID_PARAMETER", "This line has no call that can be stepped into. Leave out `target`.")
    shown = [_named(target) for target in (chosen or found)]
    listed = "; ".join(shown[:_MAX_NAMED]) + (f"; {len(shown) - _MAX_NAMED} more" * (len(shown) > _MAX_NAMED))
    what = "Several targets are" if chosen or wanted is None else f"The target `{shortened(wanted)}` is not"
    raise UsageError(
        "INVALID_PARAMETER",
        f"{what} here. Pass one of these as `target`, by its name or its number: {listed}.",
        {"targets": shown},
    )


def _names(label: str) -> tuple[str, str]:
    """Return the names by which a call is known: of `basket.put(1)` these are `basket.put` and `put`."""
    called = label.partition("(")[0].strip()
    return called, called.rpartition(".")[2]


def _named(target: DapTarget) -> str:
    place = f" column {target.column}" if target.column is not None else ""
    label = target.label.partition("\n")[0]  # debugpy's of a class is its whole text
    return f"{target.id} {label}{place}"
