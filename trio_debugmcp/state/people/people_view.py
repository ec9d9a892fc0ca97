"""`debugger://people` as a view of the state: who is here, who holds the programs, what was said and asked.

It can be read without a debug session too: an agent may ask before it starts one.
"""

from trio_debugmcp.state.payloads import Payload, UnixTime, iso_time
from trio_debugmcp.state.people.party import Message, People, Question, Recipient

PEOPLE = "debugger://people"
PEOPLE_NAME = "People"
PEOPLE_DESCRIPTION = "Who is in control, who holds the programs, messages of persons, and open questions of agents"


class ClientPayload(Payload, frozen=True):
    """A client in control: a person at a page or an editor, or an agent."""

    id: str
    name: str | None
    person: bool
    absent_since: str | None


class WaitingPayload(Payload, frozen=True):
    """A call that waits for the end of the hold."""

    client: str | None
    tool: str
    since: str


class HoldPayload(Payload, frozen=True):
    """Who holds the programs."""

    client: str | None
    client_id: str
    since: str


class QuestionPayload(Payload, frozen=True):
    """An open question of an agent."""

    id: str
    question: str
    choices: list[str]
    client: str | None
    asked_at: str
    until: str


class RecipientPayload(Payload, frozen=True):
    """Who gets a message: when it was delivered, or that the agent left before."""

    client: str | None
    client_id: str
    delivered_at: str | None
    left: bool


class MessagePayload(Payload, frozen=True):
    """What a person sent to agents: a message, or what went with a hold's end."""

    id: str
    kind: str
    text: str
    client: str | None
    sent_at: str
    to: list[RecipientPayload]


class PeoplePayload(Payload, frozen=True):
    """The payload of `debugger://people`."""

    clients: list[ClientPayload]
    hold: HoldPayload | None
    waiting: list[WaitingPayload]
    questions: list[QuestionPayload]
    messages: list[MessagePayload]
    revision: int


def people_payload(people: People, revision: int) -> PeoplePayload:
    """The payload of `debugger://people`."""
    hold = people.hold
    return PeoplePayload(
        clients=[
            ClientPayload(party.id, party.name, party.key is not None, _time(party.absent_since))
            for party in people.parties
        ],
        hold=None if hold is None else HoldPayload(hold.name, hold.party, iso_time(hold.since)),
        waiting=[WaitingPayload(wait.name, wait.tool, iso_time(wait.since)) for wait in people.waiting],
        questions=[_question(question) for question in people.questions if question.outcome is None],
        messages=[_message(message) for message in people.messages],
        revision=revision,
    )


def _question(question: Question) -> QuestionPayload:
    times = iso_time(question.asked_at), iso_time(question.until)
    return QuestionPayload(question.id, question.text, list(question.choices), question.name, *times)


def _message(message: Message) -> MessagePayload:
    to = [_recipient(recipient) for recipient in message.to]
    return MessagePayload(message.id, message.kind, message.text, message.by, iso_time(message.sent_at), to)


def _recipient(recipient: Recipient) -> RecipientPayload:
    return RecipientPayload(recipient.name, recipient.party, _time(recipient.delivered_at), recipient.left)


def _time(moment: UnixTime | None) -> str | None:
    return None if moment is None else iso_time(moment)
