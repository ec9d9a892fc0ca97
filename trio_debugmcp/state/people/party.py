"""Who is at the server, and what people and agents have said to each other: one part of the state, a value.

A *party* is a client in control: an agent, or a person at a page or an editor. One person may *hold* the debugged
programs: then the calls of all others that would move or change them wait. Persons send messages, which wait for each
agent's next answer; agents ask questions, which wait for a person.

What changes it is in people_changes.py, what clients read of it in people_view.py.
"""

from typing import Literal

from msgspec import Struct

from trio_debugmcp.state.payloads import UnixTime

MessageKind = Literal["message", "handedBack", "disconnected"]
Outcome = Literal["answered", "dismissed", "timedOut", "cancelled", "unattended"]
"""How a question has ended. `unattended`: no person in control is connected any more."""


MAX_PENDING = 20
"""Messages that wait for one agent. It has had none of them, so it would not have the next one either."""


class Party(Struct, frozen=True):
    """A client in control, by the connection on which it has introduced itself, and its name.

    Attributes:
        key: of a person, what its client calls itself each time it connects; None for an agent.
        connections: where it is connected: none while a person's page reconnects.
        absent_since: when the last of them was lost.
        answers: it can show a person what agents ask.
    """

    id: str
    name: str | None
    connections: tuple[int, ...]
    key: str | None = None
    absent_since: UnixTime | None = None
    answers: bool = True


class Waiting(Struct, frozen=True):
    """A call that waits for the end of a hold. `number` is its own; `party` is None of a client that is not known."""

    number: int
    party: str | None
    name: str | None
    tool: str
    since: UnixTime


class Hold(Struct, frozen=True):
    """Who holds the programs, and since when."""

    party: str
    name: str | None
    since: UnixTime


class Recipient(Struct, frozen=True):
    """An agent to which a message goes. `receipt`: the number of the answer that carried it; `left`: it never will."""

    party: str
    name: str | None
    delivered_at: UnixTime | None = None
    receipt: int | None = None
    left: bool = False

    @property
    def pending(self) -> bool:
        """Whether the message still waits for an answer to this agent."""
        return self.delivered_at is None and not self.left


class Message(Struct, frozen=True):
    """What a person has sent to agents: in words, or by handing back what it held for `seconds`."""

    id: str
    kind: MessageKind
    text: str
    by: str | None
    sent_at: UnixTime
    to: tuple[Recipient, ...]
    seconds: float = 0.0


class Question(Struct, frozen=True):
    """What an agent asks a person. `outcome` is None while it is open; `by` is who answered or dismissed it."""

    id: str
    text: str
    choices: tuple[str, ...]
    party: str | None
    name: str | None
    asked_at: UnixTime
    until: UnixTime
    outcome: Outcome | None = None
    answer: str | None = None
    by: str | None = None


class People(Struct, frozen=True):
    """The parties, and what is between them. `arrived` and `said` count, so that no id is used twice."""

    parties: tuple[Party, ...] = ()
    hold: Hold | None = None
    waiting: tuple[Waiting, ...] = ()
    messages: tuple[Message, ...] = ()
    questions: tuple[Question, ...] = ()
    arrived: int = 0
    said: int = 0

    def party_of(self, connection: int | None, name: str | None) -> Party | None:
        """The party that speaks on a connection, on which several may speak, by its name."""
        return next((party for party in self.parties if connection in party.connections and party.name == name), None)

    def party(self, party_id: str) -> Party | None:
        """The party with that id, if it is here."""
        return next((party for party in self.parties if party.id == party_id), None)

    @property
    def agents(self) -> tuple[Party, ...]:
        """The parties that are not persons."""
        return tuple(party for party in self.parties if party.key is None)

    @property
    def persons(self) -> tuple[Party, ...]:
        """The persons, also those whose clients are just reconnecting."""
        return tuple(party for party in self.parties if party.key is not None)

    @property
    def can_answer(self) -> bool:
        """Whether there is a person who sees what agents ask."""
        return any(person.answers for person in self.persons)

    @property
    def first_absent(self) -> Party | None:
        """The person who has been absent for longest."""
        absent = [party for party in self.parties if party.absent_since is not None]
        return min(absent, key=lambda party: party.absent_since or 0.0, default=None)

    def question(self, question_id: str) -> Question | None:
        """The question with that id, if it was not forgotten yet."""
        return next((question for question in self.questions if question.id == question_id), None)

    def pending_for(self, party_id: str) -> tuple[Message, ...]:
        """The messages that wait for the next answer to an agent."""
        return tuple(
            message for message in self.messages if any(to.party == party_id and to.pending for to in message.to)
        )
