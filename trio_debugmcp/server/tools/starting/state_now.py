"""`debug_state`: where the program is, how it has ended, or what could be launched again."""

from msgspec.structs import replace

from trio_debugmcp.errors import no_session
from trio_debugmcp.server.answers.ended_by import ChildrenOf
from trio_debugmcp.server.answers.failures.asserted import with_operands
from trio_debugmcp.server.answers.failures.printed import last_crash, survived_notes
from trio_debugmcp.server.answers.moment import moment_of
from trio_debugmcp.server.answers.session_lines import with_sessions
from trio_debugmcp.server.answers.stop import ended_answer, paused_answer, running_answer, with_crash
from trio_debugmcp.server.answers.stop_answer import StopAnswer, StopData
from trio_debugmcp.server.tools.answering import with_threads, with_waiting_threads
from trio_debugmcp.server.tools.tool import Params, SessionId
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.project_file import KeptLaunch
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import shortened

_TARGETS = ("test", "module", "program", "configuration", "code")


class DebugState(Params, frozen=True, kw_only=True):
    session_id: SessionId = None


async def state_now(debugger: Debugger, params: DebugState) -> StopAnswer:
    """Answer where the program is, or how it ended."""
    last = debugger.programs.at_hand.ended()
    if last is not None:
        return with_sessions(debugger, _ended(debugger, last))
    if params.session_id is None and debugger.state.focused is None:
        return StopAnswer(full=StopData(), state="Disconnected", notes=kept_note(debugger))
    session = debugger.session(params.session_id)
    snapshot = session.snapshot
    if snapshot is None:
        raise no_session()
    if snapshot.phase == "Paused":
        if debugger.runs.runs:  # of what was recorded: nothing of that is imported before
            from trio_debugmcp.server.tools.runs.past_steps import back_in_present

            back_in_present(debugger, snapshot)
        moment = moment_of(snapshot, debugger.console.next_seq)
        answer = replace(paused_answer(debugger, snapshot), moment=moment)
        answer = await with_operands(debugger, answer, snapshot)
        if answer.reason == "Pause" and session.looking.threads.are_native:
            answer = await with_waiting_threads(debugger, answer, session)
    else:
        answer = await with_threads(debugger, running_answer(debugger, snapshot), session.id)
    return with_sessions(debugger, answer)


def _ended(debugger: Debugger, last: Snapshot) -> StopAnswer:
    """Answer how the last session has ended; if its program failed, with the exception that ended it."""
    answer = replace(ended_answer(debugger, last), session=last.id)
    children = ChildrenOf(debugger, last)
    notes = [*answer.notes, *survived_notes(debugger, last, children), *children.notes()]
    answer = replace(answer, notes=notes)
    crash = last_crash(debugger, last)
    return answer if crash is None else with_crash(debugger, answer, *crash)


def kept_note(debugger: Debugger) -> list[str]:
    """Return a note on what the server before this one has left, while this one has started nothing."""
    kept = debugger.earlier.found()
    if kept is None or kept.launch is None or debugger.last_start is not None:
        return []
    count = len(kept.breakpoints)
    breakpoints = f"{count} breakpoint{'' if count == 1 else 's'}"
    what = f"{_what(kept.launch)} again, with {breakpoints}"
    return [f"this server has started anew: debug_restart launches {what}, as the server before it did"]


def _what(launch: KeptLaunch) -> str:
    name = next((name for name in _TARGETS if launch.arguments.get(name)), "program")
    return f"{name} `{shortened(str(launch.arguments.get(name, '?')), 80)}`"
