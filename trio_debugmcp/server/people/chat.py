"""Messages of persons to agents: each is delivered once, in the `notes` of the agent's next answer.

    await send_message(debugger, person, "it is the discount", to=[])
    notes = await take_messages(debugger, agent)     # in the call of the agent, as the last thing before its answer

What waits for an agent that never calls a tool is bounded: then more is refused. Questions go the other way: they are
answered at a page in control, or with the reason why there is no answer.

    found = await ask(debugger, caller, "Is 3 % right?", ["yes", "no"], timeout=60)
    found.answer, found.outcome
    await answer(debugger, person, "q-1", "yes")     # in the call of the page

Several wait side by side; the first answer to each counts.
"""

import json
from collections.abc import Sequence

import trio

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.people.caller import Caller
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.merger import MERGE_SECONDS
from trio_debugmcp.state.model import State
from trio_debugmcp.state.people.party import MAX_PENDING, Message, Outcome, Party, Question
from trio_debugmcp.state.people.people_changes import MessageSent, MessagesTaken, QuestionAsked, QuestionClosed

MAX_TEXT_LENGTH = 2000
"""Characters of a message: some paragraphs."""


async def send_message(debugger: Debugger, person: Party, text: str, to: Sequence[str] = ()) -> Message:
    """Send a text to agents, by their ids; default: to all that are in control.

    Raises:
        UsageError: `INVALID_PARAMETER`: there is no such agent, or too much waits for it already.
    """
    agents = debugger.state.people.agents
    known = ", ".join(f"{agent.id} ({agent.name})" for agent in agents)
    unknown = [each for each in to if each not in {agent.id for agent in agents}]
    if unknown:
        raise UsageError("INVALID_PARAMETER", f"There is no agent '{unknown[0]}'. Agents: {known or 'none'}.")
    if not agents:
        raise UsageError("INVALID_PARAMETER", "No agent is connected that would get the message.")
    wanted = [agent for agent in agents if not to or agent.id in to]
    check_pending(debugger, wanted)
    change = MessageSent(party=person.id, text=text, to=tuple(each.id for each in wanted), at=debugger.clock.now())
    messages = (await debugger.merger.merge(change)).people.messages
    sent = next((message for message in reversed(messages) if message.text == text and message.by == person.name), None)
    if sent is None:
        raise UsageError("INVALID_PARAMETER", "The agent has disconnected meanwhile.")
    return sent


def check_pending(debugger: Debugger, agents: Sequence[Party]) -> None:
    """Refuse to send more to an agent that does not ask for anything.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    for agent in agents:
        if len(debugger.state.people.pending_for(agent.id)) >= MAX_PENDING:
            raise UsageError(
                "INVALID_PARAMETER",
                f"{MAX_PENDING} messages wait for {agent.name} already, which has called no tool since the first of "
                "them. Wait until it does.",
            )


async def take_messages(debugger: Debugger, party: Party) -> list[tuple[float, str]]:
    """Return what waits for an agent, as notes of the answer that is about to be sent; no other answer has them.

    Each with the time at which it was said, by Trio's clock.

    Nothing may be awaited between this and the answer. If the call is cancelled before it, they wait for the next one.
    """
    if not debugger.state.people.pending_for(party.id) or trio.current_effective_deadline() <= trio.current_time():
        return []
    receipt = next(debugger.merger.people_numbers)
    change = MessagesTaken(party=party.id, receipt=receipt, at=debugger.clock.now())
    # Shielded: a cancellation in the middle would leave them marked as delivered. The merger never waits.
    with trio.move_on_after(MERGE_SECONDS, shield=True):
        people = (await debugger.merger.merge(change)).people
        since = trio.current_time() - debugger.clock.now()
        return [
            (message.sent_at + since, note_of(message))
            for message in people.messages
            if any(to.receipt == receipt for to in message.to)
        ]
    return []


def note_of(message: Message) -> str:
    """Return a message as an agent reads it."""
    person, words = f"a person ({message.by or 'unnamed'})", json.dumps(message.text, ensure_ascii=False)
    held = f"held the session for {message.seconds:.0f} s"
    match message.kind:
        case "message":
            return f"{person} says: {words}"
        case "handedBack":
            return f"{person} {held} and hands it back" + (f": {words}" if message.text else "")
        case "disconnected":
            return f"{person} {held}, and has disconnected: it is free again"


MAX_OPEN = 10
"""Questions that are open at a time: with more a person would not know where to begin."""


async def ask(debugger: Debugger, caller: Caller, text: str, choices: Sequence[str], timeout: float) -> Question:
    """Ask the persons in control, and wait for the answer while there are any. Returns the closed question.

    Raises:
        UsageError: `INVALID_PARAMETER`: too many questions are open.
    """
    people = debugger.state.people
    if sum(question.outcome is None for question in people.questions) >= MAX_OPEN:
        raise UsageError(
            "INVALID_PARAMETER", f"{MAX_OPEN} questions are open already. Wait for their answers, or decide yourself."
        )
    now = debugger.clock.now()
    number = f"q-{next(debugger.merger.people_numbers)}"
    question = Question(number, text, tuple(choices), caller.id, caller.name, now, now + timeout)
    outcome: Outcome = "cancelled"
    state = debugger.state
    try:
        await debugger.merger.merge(QuestionAsked(question=question, at=now))
        with trio.move_on_after(timeout):
            # A person whose page reconnects is still there, for as long as the grace lasts.
            await debugger.merger.wait_until(lambda state: _closed(state, number) or not state.people.can_answer)
        outcome = "timedOut" if debugger.state.people.can_answer else "unattended"
    finally:
        # Shielded: the agent may have cancelled the call, or be gone, and then no answer is wanted any more.
        with trio.move_on_after(MERGE_SECONDS, shield=True):
            closing = QuestionClosed(question_id=number, outcome=outcome, at=debugger.clock.now())
            state = await debugger.merger.merge(closing)
    return state.people.question(number) or question


def _closed(state: State, number: str) -> bool:
    question = state.people.question(number)
    return question is not None and question.outcome is not None


async def answer(debugger: Debugger, person: Party, question_id: str, text: str | None) -> None:
    """Answer a question for a person, or dismiss it with None.

    Raises:
        UsageError: `INVALID_PARAMETER`: it is not open, or any more.
    """
    question = debugger.state.people.question(question_id)
    if question is None:
        raise UsageError("INVALID_PARAMETER", f"There is no question '{question_id}'.")
    outcome: Outcome = "dismissed" if text is None else "answered"
    change = QuestionClosed(
        question_id=question_id, outcome=outcome, answer=text, by=person.name, at=debugger.clock.now()
    )
    if question.outcome is None:
        state = await debugger.merger.merge(change)
        found = state.people.question(question_id)
        if found is not None and (found.outcome, found.answer, found.by) == (outcome, text, person.name):
            return
    raise UsageError("INVALID_PARAMETER", f"The question '{question_id}' is not open any more.")
