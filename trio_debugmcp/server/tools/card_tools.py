"""The tools that the card in a chat calls: where the program is now, and the buttons. `server/card.py` lists them."""

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer, AnswerData, data_of
from trio_debugmcp.server.answers.moment import Moment
from trio_debugmcp.server.answers.stop import with_output
from trio_debugmcp.server.answers.stop_answer import StopAnswer, StopData
from trio_debugmcp.server.tools.moving.pausing import DebugPause, pause
from trio_debugmcp.server.tools.moving.run_control import DebugContinue, DebugStep, resume, step
from trio_debugmcp.server.tools.starting.state_now import DebugState, state_now
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import READER, Debugger
from trio_debugmcp.session.program_at_hand import chosen

RUN_SECONDS = 20.0
"""For the next stop: less than the time after which hosts give up a call. The card then looks from time to time."""

ShownStop = Annotated[str, Meta(description="The stop that the card shows, from `_meta` of the answer.")]


class CardState(Params, frozen=True, kw_only=True):
    stop: Annotated[ShownStop | None, Meta(description="The stop that the card shows.")] = None


class CardRun(Params, frozen=True, kw_only=True):
    action: Annotated[Literal["continue", "over", "in", "out", "pause"], Meta(description="The button.")]
    stop: Annotated[ShownStop | None, Meta(description="The stop that the card shows.")] = None


class CardData(AnswerData, frozen=True, kw_only=True):
    """Whether the program is still where the card shows it; if not, where it is `now`, and which stop that is."""

    current: bool = False
    now: StopData | None = None
    moment: str | None = None


class CardAnswer(Answer, frozen=True, kw_only=True):
    """Whether the program is still where the card shows it; if not, where it is now, with the output since."""

    full: CardData | None = None
    current: bool = False
    now: StopAnswer | None = None


async def _state(debugger: Debugger, params: CardState) -> CardAnswer:
    shown = Moment.parsed(params.stop or "")
    if shown is not None and shown.is_now(debugger.state):
        return CardAnswer(full=CardData(current=True), current=True)
    session_id = _session(debugger, shown)
    with chosen(session_id):
        now = await state_now(debugger, DebugState(session_id=session_id))
        program = debugger.programs.at_hand.program()
        if shown is None or program is None or not (shown.session in program.sessions and shown.was(debugger.state)):
            return _moved_on(now)  # of another program, whose output it would be
        # Not as news of this client: a chat may have several cards, and each shows what came since its own stop.
        return _moved_on(with_output(now, debugger.console.entries(shown.next_seq), {}))


def _moved_on(now: StopAnswer) -> CardAnswer:
    return CardAnswer(full=CardData(now=data_of(now), moment=now.moment), now=replace(now, full=None))


async def _run(debugger: Debugger, params: CardRun) -> StopAnswer:
    shown = Moment.parsed(params.stop or "")
    session_id = _session(debugger, shown)
    with chosen(session_id):
        if params.action == "pause":
            return await pause(debugger, DebugPause(session_id=session_id))
        if shown is None or not shown.is_now(debugger.state):
            raise UsageError(
                "NOT_PAUSED",
                "The program is not at this stop any more, so nothing was done. Look where it is now.",
            )
        debugger.console.mark_read(shown.next_seq, READER.get())  # the card has shown what came before
        if params.action == "continue":
            return await resume(debugger, DebugContinue(session_id=session_id, timeout=RUN_SECONDS))
        return await step(debugger, DebugStep(mode=params.action, session_id=session_id, timeout=RUN_SECONDS))


def _session(debugger: Debugger, shown: Moment | None) -> str | None:
    """Return the session of a stop while it is there; else the one in focus is meant."""
    return None if shown is None or shown.snapshot(debugger.state) is None else shown.session


TOOLS = (
    Tool(
        name="card_state",
        title="Where the program is, for a card",
        description="Whether the program is still at the stop that a card in the chat shows, and where it is if not.",
        params=CardState,
        run=_state,
        read_only=True,
        idempotent=True,
        listing="none",
        noted=False,
        by_person=True,
    ),
    Tool(
        name="card_run",
        title="A button of a card",
        description="What a person presses on a card in the chat. Nothing is done if the program has moved on since.",
        params=CardRun,
        run=_run,
        listing="none",
        by_person=True,
    ),
)
