"""What can change among the people at the server, and which events of the timeline it makes. Pure.

    people = people_after(PartyArrived(connection=1, name="dashboard", at=now), People())
    people = people_after(PersonJoined(connection=1, name="dashboard", key="tab", at=now), people)
    people = people_after(HoldTaken(party="c-1", at=now), people)

Not in state/changes.py and state/timeline_events.py, as nothing here is about a program.
"""

from collections.abc import Callable, Iterator
from functools import singledispatch
from typing import Literal

from msgspec.structs import replace

from trio_debugmcp.state.changes import MAX_TEXT_LENGTH, Change, Happening
from trio_debugmcp.state.payloads import UnixTime, shortened
from trio_debugmcp.state.people import party
from trio_debugmcp.state.people.party import Hold, Message, Party, People

PeopleEvent = Literal["held", "handedBack", "messageSent", "asked", "answered"]

KEPT = 20
"""Messages that all have got, and questions that are answered, which are still shown: a screen of them."""


class PeopleChange(Change, frozen=True, kw_only=True):
    """The base of the changes in this module. `at`: when."""

    at: UnixTime


class PartyArrived(PeopleChange, frozen=True, kw_only=True):
    """A client in control has introduced itself on a connection."""

    connection: int
    name: str | None


class PartyLeft(PeopleChange, frozen=True, kw_only=True):
    """That client has disconnected."""

    connection: int
    name: str | None


class PersonJoined(PeopleChange, frozen=True, kw_only=True):
    """A client has reported that a person sits at it, or that it is the one that was here before, by its key."""

    connection: int
    name: str | None
    key: str
    answers: bool = True


class PersonGone(PeopleChange, frozen=True, kw_only=True):
    """A person's client did not come back, who was absent since then."""

    party: str
    absent_since: UnixTime


class HoldTaken(PeopleChange, frozen=True, kw_only=True):
    """A person holds the programs. If another one does, only to `take_over`."""

    party: str
    take_over: bool = False


class HandedBack(PeopleChange, frozen=True, kw_only=True):
    """The person who holds them does no longer, and may say something to the agents."""

    party: str
    text: str = ""


class WaitBegan(PeopleChange, frozen=True, kw_only=True):
    """A call waits for the end of the hold."""

    call: party.Waiting


class WaitEnded(PeopleChange, frozen=True, kw_only=True):
    """The call with that number waits no longer."""

    number: int


class MessageSent(PeopleChange, frozen=True, kw_only=True):
    """A person tells agents something."""

    party: str
    text: str
    to: tuple[str, ...]


class MessagesTaken(PeopleChange, frozen=True, kw_only=True):
    """All that waits for an agent goes into one answer, whose number the `receipt` is."""

    party: str
    receipt: int


class QuestionAsked(PeopleChange, frozen=True, kw_only=True):
    """An agent asks the persons in control."""

    question: party.Question


class QuestionClosed(PeopleChange, frozen=True, kw_only=True):
    """A question has its answer, or gets none any more."""

    question_id: str
    outcome: party.Outcome
    answer: str | None = None
    by: str | None = None


@singledispatch
def people_after(change: PeopleChange, people: People) -> People:
    """The people after a change; the same object if it made no difference.

    Raises:
        TypeError: there is no reduction for this kind of change.
    """
    raise TypeError(f"no reduction for {type(change).__name__}")


# --- Who is here ------------------------------------------------------------------------------------------------------


@people_after.register
def _(change: PartyArrived, people: People) -> People:
    if people.party_of(change.connection, change.name) is not None:
        return people
    party = Party(f"c-{people.arrived + 1}", change.name, (change.connection,))
    people = replace(people, parties=(*people.parties, party), arrived=people.arrived + 1)
    # An agent that connects again, under its name, gets what was for one that has left: of several, the first.
    gone = (to for message in people.messages for to in message.to if to.left and to.name == party.name)
    before = next((to.party for to in gone), None)
    return _with_recipients(
        people, lambda to: to.left and to.party == before, lambda to: replace(to, party=party.id, left=False)
    )


@people_after.register
def _(change: PartyLeft, people: People) -> People:
    party = people.party_of(change.connection, change.name)
    if party is None:
        return people
    connections = tuple(connection for connection in party.connections if connection != change.connection)
    if party.key is not None:
        absent_since = None if connections else change.at
        return _with_party(people, replace(party, connections=connections, absent_since=absent_since))
    people = replace(people, parties=tuple(other for other in people.parties if other.id != party.id))
    return _with_recipients(people, lambda to: to.party == party.id and to.pending, lambda to: replace(to, left=True))


@people_after.register
def _(change: PersonJoined, people: People) -> People:
    # Its arrival is recorded by another task, which may be later.
    people = people_after(PartyArrived(connection=change.connection, name=change.name, at=change.at), people)
    arrived = people.party_of(change.connection, change.name)
    if arrived is None:
        raise AssertionError("a party that has arrived is here")
    known = next((person for person in people.persons if (person.key, person.name) == (change.key, change.name)), None)
    if known is None:
        people = _with_party(people, replace(arrived, key=change.key, answers=change.answers))
    elif known.id != arrived.id:
        people = replace(people, parties=tuple(other for other in people.parties if other.id != arrived.id))
        connections = (*known.connections, change.connection)
        people = _with_party(people, replace(known, connections=connections, absent_since=None))
    # Until now it passed for an agent: what was sent to all agents is not for it.
    messages = tuple(
        replace(message, to=tuple(to for to in message.to if to.party != arrived.id)) for message in people.messages
    )
    return replace(people, messages=tuple(message for message in messages if message.to))


@people_after.register
def _(change: PersonGone, people: People) -> People:
    party = people.party(change.party)
    if party is None or party.absent_since != change.absent_since:
        return people
    if people.hold is not None and people.hold.party == party.id:
        people = _released(people, change.at, "disconnected")
    return replace(people, parties=tuple(other for other in people.parties if other.id != party.id))


# --- Hold -------------------------------------------------------------------------------------------------------------


@people_after.register
def _(change: HoldTaken, people: People) -> People:
    party, hold = people.party(change.party), people.hold
    if party is None or party.key is None or (hold is not None and hold.party == party.id):
        return people
    if hold is not None and not change.take_over:
        return people
    return replace(people, hold=Hold(party.id, party.name, change.at))


@people_after.register
def _(change: HandedBack, people: People) -> People:
    if people.hold is None or people.hold.party != change.party:
        return people
    return _released(people, change.at, "handedBack", change.text)


@people_after.register
def _(change: WaitBegan, people: People) -> People:
    return replace(people, waiting=(*people.waiting, change.call))


@people_after.register
def _(change: WaitEnded, people: People) -> People:
    return replace(people, waiting=tuple(wait for wait in people.waiting if wait.number != change.number))


def _released(people: People, at: UnixTime, kind: Literal["handedBack", "disconnected"], text: str = "") -> People:
    hold = people.hold
    if hold is None:
        return people
    to = tuple(party.Recipient(agent.id, agent.name) for agent in people.agents)
    people = replace(people, hold=None, messages=_with_room(people))
    return _with_message(
        people, Message("", kind, text, hold.name, at, to, seconds=max(0.0, round(at - hold.since, 3)))
    )


def _with_room(people: People) -> tuple[Message, ...]:
    """The messages, with room for one more to each agent: the oldest hand back makes it, as what was said stays."""
    messages = people.messages
    for agent in people.agents:
        waiting = people.pending_for(agent.id)
        oldest = next((message for message in waiting if message.kind != "message"), None)
        if len(waiting) >= party.MAX_PENDING and oldest is not None:
            messages = tuple(
                _without(message, agent.id) if message.id == oldest.id else message for message in messages
            )
    return tuple(message for message in messages if message.to)


def _without(message: Message, party: str) -> Message:
    return replace(message, to=tuple(to for to in message.to if to.party != party))


# --- Messages ---------------------------------------------------------------------------------------------------------


@people_after.register
def _(change: MessageSent, people: People) -> People:
    sender = people.party(change.party)
    to = tuple(party.Recipient(agent.id, agent.name) for agent in people.agents if agent.id in change.to)
    if sender is None or not to:
        return people
    return _with_message(people, Message("", "message", change.text, sender.name, change.at, to))


@people_after.register
def _(change: MessagesTaken, people: People) -> People:
    return _with_recipients(
        people,
        lambda to: to.party == change.party and to.pending,
        lambda to: replace(to, delivered_at=change.at, receipt=change.receipt),
    )


def _with_message(people: People, message: Message) -> People:
    said = people.said + 1
    pending = [any(to.pending for to in earlier.to) for earlier in people.messages]
    old = [earlier for earlier, waits in zip(people.messages, pending, strict=True) if not waits][-(KEPT - 1) :]
    kept = tuple(earlier for earlier, waits in zip(people.messages, pending, strict=True) if waits or earlier in old)
    if not message.to:  # no agent is here; that it was handed back is in the timeline
        return replace(people, messages=kept)
    return replace(people, messages=(*kept, replace(message, id=f"m-{said}")), said=said)


def _with_recipients(
    people: People, wanted: Callable[[party.Recipient], bool], changed: Callable[[party.Recipient], party.Recipient]
) -> People:
    """The people with those recipients of messages changed."""
    messages = tuple(
        replace(message, to=tuple(changed(to) if wanted(to) else to for to in message.to))
        if any(wanted(to) for to in message.to)
        else message
        for message in people.messages
    )
    return people if messages == people.messages else replace(people, messages=messages)


# --- Questions --------------------------------------------------------------------------------------------------------


@people_after.register
def _(change: QuestionAsked, people: People) -> People:
    return replace(people, questions=(*people.questions, change.question))


@people_after.register
def _(change: QuestionClosed, people: People) -> People:
    question = people.question(change.question_id)
    if question is None or question.outcome is not None:
        return people
    closed = replace(question, outcome=change.outcome, answer=change.answer, by=change.by)
    others = [question for question in people.questions if question.id != closed.id]
    old = [other for other in others if other.outcome is not None][-(KEPT - 1) :]
    return replace(people, questions=(*(other for other in others if other.outcome is None or other in old), closed))


def _with_party(people: People, party: Party) -> People:
    return replace(people, parties=tuple(party if other.id == party.id else other for other in people.parties))


# --- Events -----------------------------------------------------------------------------------------------------------


def people_happenings(old: People, change: PeopleChange, new: People) -> Iterator[Happening]:
    """The events of a change, in order; none of one that made no difference."""
    if new.hold is not None and new.hold is not old.hold:
        yield _event("held", client=new.hold.name, party=new.hold.party, takenFrom=old.hold and old.hold.party)
    elif old.hold is not None and new.hold is None:
        reason = "disconnected" if isinstance(change, PersonGone) else "handedBack"
        text = _short(change.text) if isinstance(change, HandedBack) and change.text else None
        seconds = round(change.at - old.hold.since, 3)
        yield _event("handedBack", client=old.hold.name, reason=reason, message=text, seconds=seconds)
    if isinstance(change, MessageSent) and new.said != old.said:
        sent = new.messages[-1]
        yield _event("messageSent", client=sent.by, id=sent.id, message=_short(sent.text), to=[*map(_name, sent.to)])
    if isinstance(change, QuestionAsked):
        asked = change.question
        choices = [_short(choice) for choice in asked.choices]
        yield _event("asked", client=asked.name, id=asked.id, question=_short(asked.text), choices=choices)
    if isinstance(change, QuestionClosed) and new is not old:
        answer = None if change.answer is None else _short(change.answer)
        yield _event("answered", client=change.by, id=change.question_id, outcome=change.outcome, answer=answer)


def _event(kind: PeopleEvent, **payload: object) -> Happening:
    return Happening(kind, payload)


def _name(to: party.Recipient) -> str | None:
    return to.name


def _short(text: str) -> str:
    return shortened(text, MAX_TEXT_LENGTH)
