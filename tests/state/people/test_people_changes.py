"""Who is at the server, and what is between people and agents (state/people). Pure."""

from functools import reduce
from typing import Any

from trio_debugmcp.state.people.party import People, Question, Waiting
from trio_debugmcp.state.people.people_changes import (
    KEPT,
    HandedBack,
    HoldTaken,
    MessageSent,
    MessagesTaken,
    PartyArrived,
    PartyLeft,
    PeopleChange,
    PersonGone,
    PersonJoined,
    QuestionAsked,
    QuestionClosed,
    WaitBegan,
    WaitEnded,
    people_after,
    people_happenings,
)


def people(*changes: PeopleChange, start: People | None = None) -> People:
    return reduce(lambda before, change: people_after(change, before), changes, start or People())


def agent(connection: int = 1, name: str = "agent") -> PartyArrived:
    return PartyArrived(connection=connection, name=name, at=0.0)


def person(connection: int = 2, key: str = "tab") -> PersonJoined:
    return PersonJoined(connection=connection, name="dashboard", key=key, at=0.0)


BOTH = people(agent(), person())
HELD = people(HoldTaken(party="c-2", at=10.0), start=BOTH)


def test_what_makes_no_difference_gives_the_same_value() -> None:
    for change in (
        agent(),
        PartyLeft(connection=9, name="agent", at=1.0),
        HoldTaken(party="c-1", at=1.0),
        HoldTaken(party="c-9", at=1.0),
        HandedBack(party="c-2", at=1.0),
        MessageSent(party="c-2", text="hello", to=("c-2",), at=1.0),
        MessagesTaken(party="c-1", receipt=1, at=1.0),
        QuestionClosed(question_id="q-1", outcome="answered", at=1.0),
        PersonGone(party="c-2", absent_since=1.0, at=2.0),
    ):
        assert people_after(change, BOTH) is BOTH, change
        assert list(people_happenings(BOTH, change, BOTH)) == []


def test_hand_backs_to_an_agent_that_never_asks_are_bounded_and_the_newest_are_kept() -> None:
    said = MessageSent(party="c-2", text="mind the discount", to=("c-1",), at=1.0)
    now = people(said, start=BOTH)
    for number in range(50):
        taken = HoldTaken(party="c-2", at=10.0)
        now = people(taken, HandedBack(party="c-2", text=f"{number}", at=11.0), start=now)
    texts = [each.text for each in now.pending_for("c-1")]
    assert texts == ["mind the discount", *map(str, range(31, 50))]
    assert len(now.messages) == 20


def test_of_two_agents_of_one_name_that_reconnect_each_gets_the_messages_of_one() -> None:
    now = people(agent(1), agent(3), person())
    parties = tuple(each.id for each in now.agents)
    now = people(MessageSent(party=now.persons[0].id, text="use 3 %", to=parties, at=2.0), start=now)
    now = people(
        PartyLeft(connection=1, name="agent", at=3.0), PartyLeft(connection=3, name="agent", at=3.0), start=now
    )
    now = people(agent(4), agent(5), start=now)
    assert [len(now.pending_for(each.id)) for each in now.agents] == [1, 1]


def test_a_key_under_another_name_is_another_person_who_leaves_as_others_do() -> None:
    other = PersonJoined(connection=3, name="dashboard 2", key="tab", at=3.0)
    now = people(other, start=HELD)
    assert [each.name for each in now.persons] == ["dashboard", "dashboard 2"]
    assert now.party_of(3, "dashboard 2") is not None
    now = people(PartyLeft(connection=3, name="dashboard 2", at=4.0), start=now)
    now = people(PartyLeft(connection=2, name="dashboard", at=5.0), start=now)
    assert [each.absent_since for each in now.persons] == [5.0, 4.0]


def test_a_person_on_two_connections_is_absent_when_both_are_lost() -> None:
    both = people(PartyArrived(connection=3, name="dashboard", at=0.0), person(3), start=BOTH)
    assert [(each.id, each.connections) for each in both.persons] == [("c-2", (2, 3))]
    one = people(PartyLeft(connection=2, name="dashboard", at=5.0), start=both)
    assert one.first_absent is None
    none = people(PartyLeft(connection=3, name="dashboard", at=6.0), start=one)
    assert none.first_absent is not None
    assert none.first_absent.absent_since == 6.0


def test_a_person_who_came_back_is_not_forgotten_by_the_end_of_an_older_absence() -> None:
    away = people(PartyLeft(connection=2, name="dashboard", at=5.0), start=HELD)
    back = people(person(3), start=away)
    again = people(PartyLeft(connection=3, name="dashboard", at=8.0), start=back)
    assert people_after(PersonGone(party="c-2", absent_since=5.0, at=20.0), again) is again
    gone = people(PersonGone(party="c-2", absent_since=8.0, at=23.0), start=again)
    assert (gone.hold, gone.persons) == (None, ())
    assert [(each.kind, each.seconds) for each in gone.messages] == [("disconnected", 13.0)]


def test_an_editor_that_cannot_show_a_question_does_not_count_as_one_to_ask() -> None:
    editor = PersonJoined(connection=2, name="editor", key="editor", answers=False, at=0.0)
    assert not people(agent(), editor).can_answer
    assert BOTH.can_answer


def test_only_the_holder_hands_back_and_only_a_take_over_takes() -> None:
    two = people(PartyArrived(connection=3, name="dashboard", at=0.0), person(3, "other tab"), start=HELD)
    assert people_after(HandedBack(party="c-3", at=11.0), two) is two
    assert people_after(HoldTaken(party="c-3", at=11.0), two) is two
    taken = people(HoldTaken(party="c-3", take_over=True, at=11.0), start=two)
    assert taken.hold is not None
    assert (taken.hold.party, taken.hold.since) == ("c-3", 11.0)


def test_a_waiting_call_is_kept_until_it_ends() -> None:
    call = Waiting(7, "c-1", "agent", "debug_step", 11.0)
    waiting = people(WaitBegan(call=call, at=11.0), start=HELD)
    assert waiting.waiting == (call,)
    assert people(WaitEnded(number=7, at=12.0), start=waiting).waiting == ()


def test_a_message_is_taken_once_by_each() -> None:
    two = people(agent(3, "second"), start=BOTH)
    sent = people(MessageSent(party="c-2", text="hello", to=("c-1", "c-3"), at=1.0), start=two)
    first = people(MessagesTaken(party="c-1", receipt=5, at=2.0), start=sent)
    assert people_after(MessagesTaken(party="c-1", receipt=6, at=3.0), first) is first
    assert [(to.party, to.receipt, to.delivered_at) for to in first.messages[0].to] == [
        ("c-1", 5, 2.0),
        ("c-3", None, None),
    ]
    assert [each.text for each in first.pending_for("c-3")] == ["hello"]


def test_what_was_read_and_answered_is_kept_up_to_a_bound_and_what_waits_always() -> None:
    now = people(MessageSent(party="c-2", text="first", to=("c-1",), at=1.0), start=BOTH)
    now = people(agent(3, "second"), start=now)
    for number in range(2 * KEPT):
        now = people(
            MessageSent(party="c-2", text=f"{number}", to=("c-3",), at=1.0),
            MessagesTaken(party="c-3", receipt=number, at=1.0),
            QuestionAsked(question=Question(f"q-{number}", "?", (), None, None, 1.0, 2.0), at=1.0),
            QuestionClosed(question_id=f"q-{number}", outcome="answered", answer="!", at=1.0),
            start=now,
        )
    assert len(now.messages) == KEPT + 1
    assert now.messages[0].text == "first"
    assert len({each.id for each in now.messages}) == len(now.messages)
    assert [each.id for each in now.questions] == [f"q-{number}" for number in range(KEPT, 2 * KEPT)]


def test_a_person_gets_nothing_of_what_it_was_sent_as_an_agent() -> None:
    late = people(PartyArrived(connection=3, name="dashboard", at=0.0), start=BOTH)
    sent = people(MessageSent(party="c-2", text="hello", to=("c-1", "c-3"), at=1.0), start=late)
    joined = people(person(3, "other tab"), start=sent)
    assert [[to.party for to in each.to] for each in joined.messages] == [["c-1"]]


def test_the_events_say_who_and_what() -> None:
    def events(change: PeopleChange, before: People) -> list[tuple[str, dict[str, Any]]]:
        after = people_after(change, before)
        return [(each.type, each.payload) for each in people_happenings(before, change, after)]

    assert events(HoldTaken(party="c-2", at=10.0), BOTH) == [
        ("held", {"client": "dashboard", "party": "c-2", "takenFrom": None})
    ]
    handed = {"client": "dashboard", "reason": "handedBack", "message": "go on", "seconds": 2.5}
    assert events(HandedBack(party="c-2", text="go on", at=12.5), HELD) == [("handedBack", handed)]
    sent = MessageSent(party="c-2", text="x" * 300, to=("c-1",), at=1.0)
    ((kind, payload),) = events(sent, BOTH)
    assert (kind, payload["to"], len(payload["message"])) == (
        "messageSent",
        ["agent"],
        len("x" * 200 + "… (+100 characters)"),
    )
