"""Questions of agents to persons: answered at a page in control, or with the reason why there is no answer.

    found = await ask(debugger, caller, "Is 3 % right?", ["yes", "no"], timeout=60)
    found.answer, found.outcome
    await answer(debugger, person, "q-1", "yes")     # in the call of the page

Several wait side by side; the first answer to each counts.
"""

from collections.abc import Sequence

import trio

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.people.caller import Caller
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.merger import MERGE_SECONDS
from trio_debugmcp.state.model import State
from trio_debugmcp.state.people.party import Outcome, Party, Question
from trio_debugmcp.state.people.people_changes import QuestionAsked, QuestionClosed

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
