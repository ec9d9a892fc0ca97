"""The exception at a stop, or the one that ended a program, with all that is behind it: causes, groups, notes, frames.

    found = await session.looking.exception(ContextBounds(inner=5))
    found.exception.inner[0].way      # "cause"

The probe has all of it in one answer. Other adapters tell as much as their `exceptionInfo` has: inner exceptions, and
a stack as text. Of a program that has ended only what it has printed is known.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import ExceptionDetails, ExceptionInfoBody
from trio_debugmcp.dap.profiles.exception_advice import exception_advice
from trio_debugmcp.dap.profiles.language import LanguagePrograms
from trio_debugmcp.dap.profiles.printed_exceptions import Crash
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.probe.answers import ProbeExceptionContext as Raised
from trio_debugmcp.probe.answers import RaisedException, RaisedFrame
from trio_debugmcp.session.looking.by_adapter.adapter_variables import expand, scope_variables
from trio_debugmcp.session.looking.by_probe.own_questions import EXAMINATION_SECONDS, looked_at
from trio_debugmcp.session.looking.by_probe.withheld import unknown_value
from trio_debugmcp.session.looking.from_outside.silence import Unanswered
from trio_debugmcp.session.looking.variables import probe_variable
from trio_debugmcp.session.looking.ways import Seen, Ways, without_code_first
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, ExceptionInfo, Variable, shortened

log = logging.getLogger(__name__)

MAX_LOCALS = 200
"""Of a frame, where an adapter is asked; the probe has a bound of its own. What is left out is counted."""

_QUOTED = ': \n"""\n'
"""After the type of an exception whose message is what another process has printed."""


class ContextBounds(Struct, frozen=True):
    """How much is asked for: exceptions behind the one at hand, frames of each, and of how many of these the locals."""

    inner: int = 5
    frames: int = 10
    locals: int = 1


class PassedFrame(Struct, frozen=True):
    """A frame that an exception has passed. `raised`: it was raised here; `stopped`: the program is stopped here."""

    name: str
    file: str | None
    line: int | None
    is_user_code: bool = True
    raised: bool = False
    stopped: bool = False
    text: str | None = None
    """The source line, where the program has printed it; else it is read from the file."""
    locals: tuple[Variable, ...] = ()
    locals_total: int = 0


class ExceptionTree(Struct, frozen=True):
    """An exception, its frames from where it was raised on, and what is directly behind it.

    Attributes:
        way: from the one before it: `cause`, `context`, `suppressed`, `member` or `inner`.
        same: it stands elsewhere in the tree, with what is behind it.
        members: how many exceptions a group has.
        trace: lines of a stack that are known only as text.
    """

    exception: str
    way: str | None = None
    same: bool = False
    notes: tuple[str, ...] = ()
    notes_total: int = 0
    members: int = 0
    frames: tuple[PassedFrame, ...] = ()
    total: int = 0
    trace: tuple[str, ...] = ()
    inner: tuple["ExceptionTree", ...] = ()


class ExceptionContext(Struct, frozen=True):
    """An exception with what is behind it; `omitted`: how many of these were left out; `remarks`: what is not as usual.

    `uncounted`: there are more than that. `hidden`: how many frames of which packages are left out of its own.
    """

    exception: ExceptionTree
    omitted: int = 0
    uncounted: bool = False
    remarks: tuple[str, ...] = ()
    hidden: Mapping[str, int] = {}


_ADVICE = (
    "Use debug_continue: the program stops where an exception is raised that nothing catches; "
    "breakpoint_set_exception stops at caught ones, too."
)

# --- At a stop --------------------------------------------------------------------------------------------------------


async def exception_context(ways: Ways, bounds: ContextBounds) -> ExceptionContext:
    """Return the exception at the stop that holds now.

    Raises:
        UsageError: `NO_EXCEPTION`: it is a stop of another kind.
        DebugError: the adapter did not answer.
    """
    snapshot = ways.snapshot
    stop = snapshot.stop
    if stop is None or stop.exception is None:
        at = None if stop is None or stop.location is None else stop.location.file
        advice = exception_advice(ways.requests.profile, ways.requests.capabilities, [at]) or _ADVICE
        raise UsageError("NO_EXCEPTION", f"The program is not stopped at an exception. {advice}")
    asked = {"thread": stop.thread_id, "inner": bounds.inner, "frames": bounds.frames, "locals": bounds.locals}
    ask = partial(ways.probe.ask, "exception", Raised, types=True, **asked)
    found = await ways.probed_alone(lambda: without_code_first(ask, lambda found: found.withheld))
    if not isinstance(found, Seen):
        return _from_probe(ways, bounds, *found)
    if not ways.has_probe:
        return await _from_adapter(ways, snapshot, stop.exception, bounds)
    log.info("the probe about an exception: %s", found.failure.text)
    told = await _from_adapter(ways, snapshot, stop.exception, replace(bounds, inner=0))
    return replace(told, remarks=(*told.remarks, f"what is behind it is not known: {found.failure.text}"))


def _from_probe(ways: Ways, bounds: ContextBounds, found: Raised, failure: Unanswered | None) -> ExceptionContext:
    remarks: tuple[str, ...] = ()
    if failure is not None:
        log.info("the texts of exceptions: %s", failure.text)
        remarks = ("texts are shown as the arguments of the exceptions: their __str__ took too long",)
    tree = _probed(found.exception, ways.profile.expressions.is_path, failure)
    tree = _unquoted(tree, ways.profile.programs, bounds)
    return ExceptionContext(tree, found.omitted, found.uncounted, remarks, found.hidden)


def _unquoted(tree: ExceptionTree, programs: LanguagePrograms, bounds: ContextBounds) -> ExceptionTree:
    """Show an exception of another process, of which only the traceback has come here in quotes, as what it is."""
    is_quoted = not tree.frames and _QUOTED in tree.exception
    crash = programs.printed_in(tree.exception).crash if is_quoted else None
    if crash is not None:
        return replace(_printed(crash, bounds), way=tree.way)
    return replace(tree, inner=tuple(_unquoted(each, programs, bounds) for each in tree.inner))


def _probed(found: RaisedException, is_path: Callable[[str], bool], failure: Unanswered | None) -> ExceptionTree:
    return ExceptionTree(
        exception=f"{found.type}: {found.text}" if found.text else found.type,
        way=found.way,
        same=found.same,
        notes=found.notes,
        notes_total=found.notes_total,
        members=found.members,
        frames=tuple(_probed_frame(frame, is_path, failure) for frame in found.frames),
        total=found.total,
        inner=tuple(_probed(exception, is_path, failure) for exception in found.inner),
    )


def _probed_frame(found: RaisedFrame, is_path: Callable[[str], bool], failure: Unanswered | None) -> PassedFrame:
    unknown = unknown_value(found.locals, failure)
    return PassedFrame(
        name=found.function,
        file=found.file,
        line=found.line,
        is_user_code=not found.library,
        raised=found.raised,
        stopped=found.top,
        locals=tuple(probe_variable(local, is_path, unknown) for local in found.locals),
        locals_total=found.locals_total,
    )


async def _from_adapter(ways: Ways, snapshot: Snapshot, info: ExceptionInfo, bounds: ContextBounds) -> ExceptionContext:
    """Return the stack with locals, and the inner exceptions as far as the adapter tells them."""
    requests = ways.requests
    thread_id = 0 if snapshot.stop is None else snapshot.stop.thread_id
    passed, total = await ways.frames.fetch(snapshot, thread_id, 0, bounds.frames)
    shown, unread = [], []
    for index, frame in enumerate(passed):
        place = frame.location
        found = PassedFrame(frame.name, place.file, place.line, frame.is_user_code)
        if index < bounds.locals:
            try:
                scope = await scope_variables(requests, frame, "locals")
                variables = await expand(requests, scope[:MAX_LOCALS], depth=1, limit=MAX_VALUE_LENGTH)
                found = replace(found, locals=tuple(variables), locals_total=len(scope))
            except AdapterRefused as refusal:  # of one variable, perhaps: the exception is known all the same
                unread.append(f"the variables of {frame.name} are not shown: {shortened(str(refusal))}")
        shown.append(found)
    inner, omitted = await _inner(ways, thread_id, passed[0].id if passed else None, bounds)
    text = f"{info.type}: {info.message}" if info.message else info.type
    tree = ExceptionTree(text, frames=tuple(shown), total=total, inner=inner)
    remarks = () if snapshot.stop is None else snapshot.stop.remarks
    return ExceptionContext(tree, omitted, remarks=(*remarks, *unread))


async def _inner(
    ways: Ways, thread_id: int, frame_id: int | None, bounds: ContextBounds
) -> tuple[tuple[ExceptionTree, ...], int]:
    """Return the inner exceptions that the adapter names, and how many are left out."""
    requests = ways.requests
    behind = requests.profile.thrown.behind()
    if behind is not None:
        return bounded([_printed(crash, bounds) for crash in await looked_at(requests, behind, frame_id)], bounds)
    if ways.has_probe or not requests.capabilities.supports_exception_info_request:
        return (), 0
    where = {"threadId": thread_id}
    body = await requests.request_or_empty("exceptionInfo", where, ExceptionInfoBody, seconds=EXAMINATION_SECONDS)
    known = [
        _of_details(details) for details in (body.details.inner_exception or () if body.details is not None else ())
    ]
    return bounded(known, bounds)


def _of_details(details: ExceptionDetails) -> ExceptionTree:
    kind = details.full_type_name or details.type_name or "exception"
    lines = tuple(line.strip() for line in (details.stack_trace or "").splitlines() if line.strip())
    return ExceptionTree(
        exception=f"{kind}: {details.message}" if details.message else kind,
        way="inner",
        trace=lines,
        total=len(lines),
        inner=tuple(_of_details(inner) for inner in details.inner_exception or ()),
    )


# --- After the end ----------------------------------------------------------------------------------------------------


def printed_context(crash: Crash, bounds: ContextBounds) -> ExceptionContext:
    """Return the exception that a program has printed at its end."""
    inner, omitted = bounded([_printed(inner_crash, bounds) for inner_crash in crash.inner], bounds)
    return ExceptionContext(replace(_printed(crash, bounds), inner=inner), omitted)


def _printed(crash: Crash, bounds: ContextBounds) -> ExceptionTree:
    shown = tuple(
        PassedFrame(
            frame.function,
            frame.file or None,
            frame.line if frame.file else None,
            not frame.is_library,
            raised=index == 0,
            text=frame.text,
        )
        for index, frame in enumerate(crash.frames[: bounds.frames])
    )
    return ExceptionTree(
        exception=crash.exception,
        way=crash.way,
        notes=crash.notes,
        notes_total=len(crash.notes),
        members=crash.members,
        frames=shown,
        total=len(crash.frames),
        inner=tuple(_printed(inner_crash, bounds) for inner_crash in crash.inner),
    )


def bounded(trees: Sequence[ExceptionTree], bounds: ContextBounds) -> tuple[tuple[ExceptionTree, ...], int]:
    """Return as many exceptions as are asked for, what is nearest first, and the number of the others."""
    level: list[tuple[int, ...]] = [(index,) for index in range(len(trees))]
    order: list[tuple[int, ...]] = []
    while level:
        order += level
        level = [(*path, index) for path in level for index in range(len(_at(trees, path).inner))]
    kept = frozenset(order[: bounds.inner])
    return _kept(trees, kept, ()), len(order) - len(kept)


def _at(trees: Sequence[ExceptionTree], path: tuple[int, ...]) -> ExceptionTree:
    found = trees[path[0]]
    for index in path[1:]:
        found = found.inner[index]
    return found


def _kept(
    trees: Sequence[ExceptionTree], kept: frozenset[tuple[int, ...]], above: tuple[int, ...]
) -> tuple[ExceptionTree, ...]:
    return tuple(
        replace(tree, inner=_kept(tree.inner, kept, (*above, index)))
        for index, tree in enumerate(trees)
        if (*above, index) in kept
    )
