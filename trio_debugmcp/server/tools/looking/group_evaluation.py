"""An expression evaluated in each process of a group: the values as classes, nan and what is rare first."""

from msgspec import Struct

from trio_debugmcp.server.answers.fleet.fleet_classes import without_common_host
from trio_debugmcp.server.answers.fleet.group_answers import GroupValues, ValueIn, group_values
from trio_debugmcp.server.answers.values import rendered, shortened_value
from trio_debugmcp.server.tools.group_choice import chosen_group, on_each
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.user_evaluation import Evaluated
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.payloads import shortened

MOST_TURNS = 3
"""Times its own time that an evaluation in all of a group may take: a thousand may be silent."""

_MOST_PRINTED = 200
"""Characters of what an evaluation wrote in one process."""


class GroupQuestion(Struct, frozen=True):
    """What is to be evaluated where; `limit`: characters of a value; `seconds`: for each process."""

    group: str
    expression: str
    frame_index: int | None
    seconds: float
    limit: int


async def evaluate_in_group(debugger: Debugger, question: GroupQuestion) -> GroupValues:
    """Evaluate in each process: where it is stopped, or in the main module of one that runs.

    Raises:
        UsageError: `NO_SESSION`, or `INVALID_PARAMETER`: the group means no process.
    """
    chosen = await chosen_group(debugger, question.group)

    async def evaluate(session: DebugSession) -> ValueIn:
        found = await _evaluated(debugger, session, question)
        return _value_in(session, found, question.limit)

    found, failures = await on_each(chosen.sessions, evaluate, MOST_TURNS * question.seconds)
    processes = without_common_host(chosen.processes)
    values = {
        each.id: found[each.id] if each.id in found else ValueIn(each.id, each.labels, error=failures[each.id])
        for each in processes
    }
    return group_values(question.expression, processes, values, chosen.notes)


async def _evaluated(debugger: Debugger, session: DebugSession, question: GroupQuestion) -> Evaluated:
    evaluation, expression, seconds = session.looking.evaluation, question.expression, question.seconds
    if session.looking.answers_running and not question.frame_index:
        return await evaluation.in_main(expression, seconds, limit=question.limit)
    _, snapshot = debugger.paused(session.id)
    place = session.looking.place(None, question.frame_index)
    frame = await session.looking.frame(place.thread_id, place.index, snapshot)
    try:
        return await evaluation.in_frame(frame, expression, seconds, limit=question.limit)
    finally:
        session.refresh_locals()  # also after a failure: what ran until then may have changed some


def _value_in(session: DebugSession, found: Evaluated, limit: int) -> ValueIn:
    told = found.evaluation
    snapshot = session.snapshot
    labels = {} if snapshot is None else snapshot.origin.labels
    printed = shortened(found.printed, _MOST_PRINTED) if found.printed else ""
    if not told.value and told.type is None:
        return ValueIn(session.id, labels, printed=printed)
    value = told.value if told.is_fitted else shortened_value(told.value, limit, told.length, told.unit)
    shown = rendered(value, told.type, python=session.looking.is_python)
    return ValueIn(session.id, labels, shown, told.type, printed)
