"""The tools between people and agents: an agent asks, a person holds, hands back, tells and answers."""

from typing import Annotated

from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.people import chat, hold
from trio_debugmcp.server.people.presence import GRACE_SECONDS, Presence, current_caller
from trio_debugmcp.server.tools.tool import MAX_SECONDS, Params, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import iso_time
from trio_debugmcp.state.people.party import Party

Words = Annotated[str, Meta(min_length=1, max_length=chat.MAX_TEXT_LENGTH)]


class AskPerson(Params, frozen=True, kw_only=True):
    question: Annotated[Words, Meta(description="What you want to know.")]
    choices: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=200)]],
        Meta(max_length=10, description="Answers to choose from; the person may write another one."),
    ] = []
    timeout: Annotated[float, Meta(ge=0, le=MAX_SECONDS, description="How many seconds to wait for the answer.")] = 60.0


class PersonJoin(Params, frozen=True, kw_only=True):
    key: Annotated[
        str, Meta(min_length=8, max_length=100, description="What this client calls itself each time it connects.")
    ]


class SessionHold(Params, frozen=True, kw_only=True):
    take_over: Annotated[bool, Meta(description="Also from another person who holds it.")] = False


class SessionHandBack(Params, frozen=True, kw_only=True):
    message: Annotated[str, Meta(max_length=chat.MAX_TEXT_LENGTH, description="What the agents read with it.")] = ""


class AgentMessage(Params, frozen=True, kw_only=True):
    text: Annotated[Words, Meta(description="What the agents read.")]
    to: Annotated[list[str], Meta(max_length=100, description="Ids of agents; default: all that are in control.")] = []


class PersonAnswer(Params, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="The question's id.")]
    answer: Annotated[Words | None, Meta(description="The answer; none dismisses the question.")] = None


class AskPersonAnswer(Answer, frozen=True, kw_only=True):
    """The person's answer and name, or why there is none."""

    answer: str | None = None
    by: str | None = None
    unanswered: str | None = None


class Joined(Answer, frozen=True, kw_only=True):
    """The id of this client's person, and for how long it may be away without losing what it holds."""

    client: str
    grace_seconds: float


class Held(Answer, frozen=True, kw_only=True):
    """Since when the session is held."""

    since: str


class HandBackAnswer(Answer, frozen=True, kw_only=True):
    """For how long it was held."""

    seconds: float


class Sent(Answer, frozen=True, kw_only=True):
    """The message's id, and to how many agents it goes with their next answers."""

    id: str
    agents: int


class Answered(Answer, frozen=True, kw_only=True):
    """The question that is closed."""

    id: str


_UNANSWERED = {
    "dismissed": "dismissed: the person does not want to answer this; decide yourself",
    "timedOut": "no answer came in time: continue without one, or ask again with a longer timeout",
    "unattended": "no person is there: no page in control is open. Ask in your chat, or decide yourself",
}


async def _ask(debugger: Debugger, params: AskPerson) -> AskPersonAnswer:
    asked = await chat.ask(debugger, current_caller(debugger), params.question, params.choices, timeout=params.timeout)
    if asked.outcome == "answered":
        return AskPersonAnswer(answer=asked.answer, by=asked.by)
    return AskPersonAnswer(by=asked.by, unanswered=_UNANSWERED.get(asked.outcome or "", asked.outcome))


async def _join(debugger: Debugger, params: PersonJoin) -> Joined:
    who = current_caller(debugger)
    person = None
    if isinstance(who.client, Client) and who.client.in_timeline:
        person = await Presence(debugger, who.client).joined(who.name, params.key)
    if person is None:
        raise UsageError("INVALID_PARAMETER", "No person can join here: this is a replay, which is watched.")
    return Joined(client=person.id, grace_seconds=GRACE_SECONDS)


async def _hold(debugger: Debugger, params: SessionHold) -> Held:
    taken = await hold.take_hold(debugger, _person(debugger), take_over=params.take_over)
    who = current_caller(debugger)
    if isinstance(who.client, Client):
        for snapshot in debugger.programs.living():
            if snapshot.owner is None:  # without one it would end soon, while it is held
                who.client.take_control({"session_id": snapshot.id})
    return Held(since=iso_time(taken.since))


async def _hand_back(debugger: Debugger, params: SessionHandBack) -> HandBackAnswer:
    return HandBackAnswer(seconds=round(await hold.hand_back(debugger, _person(debugger), params.message.strip()), 3))


async def _message(debugger: Debugger, params: AgentMessage) -> Sent:
    sent = await chat.send_message(debugger, _person(debugger), params.text, params.to)
    return Sent(id=sent.id, agents=len(sent.to))


async def _answer(debugger: Debugger, params: PersonAnswer) -> Answered:
    await chat.answer(debugger, _person(debugger), params.id, params.answer)
    return Answered(id=params.id)


def _person(debugger: Debugger) -> Party:
    """Return the person who calls.

    Raises:
        UsageError: `INVALID_PARAMETER`: an agent calls.
    """
    party = current_caller(debugger).party
    if party is None or party.key is None:
        raise UsageError(
            "INVALID_PARAMETER", "Only a person does this, by a client that has called person_join. Use ask_person."
        )
    return party


TOOLS = (
    Tool(
        name="ask_person",
        title="Ask the person",
        description="Ask the person at the dashboard, and wait for the answer; without one, says why.",
        params=AskPerson,
        run=_ask,
        open_world=True,
        acts_on="people",
    ),
    Tool(
        name="person_join",
        title="Join as a person",
        description="Say that a person sits at this client, which may then hold, tell and answer.",
        params=PersonJoin,
        run=_join,
        idempotent=True,
        listing="none",
        noted=False,
        acts_on="people",
    ),
    Tool(
        name="session_hold",
        title="Hold the session",
        description="Let the calls of all others that move or change the program wait until the hand back.",
        params=SessionHold,
        run=_hold,
        idempotent=True,
        listing="none",
        acts_on="people",
    ),
    Tool(
        name="session_hand_back",
        title="Hand the session back",
        description="End the hold; agents learn of it in their next answers.",
        params=SessionHandBack,
        run=_hand_back,
        listing="none",
        acts_on="people",
    ),
    Tool(
        name="agent_message",
        title="Tell the agents",
        description="Send a text to agents, in the notes of the next answer to each.",
        params=AgentMessage,
        run=_message,
        listing="none",
        acts_on="people",
    ),
    Tool(
        name="person_answer",
        title="Answer a question",
        description="Answer or dismiss a question of an agent.",
        params=PersonAnswer,
        run=_answer,
        listing="none",
        acts_on="people",
    ),
)
