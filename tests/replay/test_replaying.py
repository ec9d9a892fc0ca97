"""A replay repeats the recorded resources, notifications and answers; on a virtual clock, without a debugger."""

import logging
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any

import msgspec
import pytest
import trio
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.recording.scene import (
    RECORDINGS,
    URIS,
    Watched,
    as_before,
    notified_then,
    options_for,
    same_answer,
    watch,
    without_times,
)
from trio_debugmcp.recording.format import (
    AdapterEntry,
    ClientEndEntry,
    EndEntry,
    HangUpEntry,
    McpEntry,
    NotARecording,
    QueryEntry,
    Recording,
    SessionEndEntry,
    SessionEntry,
    parse_recording,
    read_recording,
)
from trio_debugmcp.replay.recorded_clients import staying_clients
from trio_debugmcp.replay.replaying import Replay
from trio_debugmcp.testing import DebugClient, ToolFailed, open_server
from trio_debugmcp.testing.connect import Era
from trio_debugmcp.testing.debug_client import LIST_CHANGED

SESSION, STACK, TIMELINE = "debugger://session", "debugger://stack", "debugger://timeline"

TILL = "/src/till.py"


@pytest.fixture(scope="module")
def recording() -> Recording:
    """A real debugpy session: see make.py."""
    return read_recording(RECORDINGS / "till.jsonl")


@pytest.fixture(scope="module")
def watched(recording: Recording) -> Watched:
    return watch(recording)


@asynccontextmanager
async def replaying(
    recording: Recording, *, speed: float = 1.0, drive: bool = False
) -> AsyncIterator[tuple[DebugClient, Replay]]:
    """A client of a replay."""
    replay = Replay(recording, speed=speed, drive=drive)
    async with open_server(options_for(recording.header, replay)) as server, server.connect("legacy") as client:
        yield client, replay


async def until_over(replay: Replay) -> None:
    with trio.fail_after(120):
        while not replay.over:
            await trio.sleep(0.1)


async def until_called(client: DebugClient, tool: str) -> None:
    """Until the recorded client has called a tool, and was answered."""
    with trio.fail_after(120):
        called: list[str] = []
        while tool not in called:
            await trio.sleep(0.05)
            timeline = await client.call("timeline_query", types=["toolCalled"], full=True)
            called = [event["payload"]["tool"] for event in timeline["events"]]


def calls(recording: Recording) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The recorded tool calls: name, arguments, and the answer."""
    messages = [(each.dir, msgspec.json.decode(each.msg)) for each in recording.entries if isinstance(each, McpEntry)]
    answers = {message["id"]: message for way, message in messages if way == "out" and "id" in message}
    return [
        (message["params"]["name"], message["params"]["arguments"], answers[message["id"]]["result"])
        for way, message in messages
        if way == "in" and message["method"] == "tools/call"
    ]


# --- The same again ---------------------------------------------------------------------------------------------------


def test_two_replays_give_byte_identical_payloads_and_identical_notification_times(
    recording: Recording, watched: Watched
) -> None:
    assert watch(recording).seen == watched.seen
    assert len(watched.seen) > 30
    assert {what for _, what, _ in watched.seen} == {*URIS, LIST_CHANGED}


def test_recorded_clients_get_the_recorded_answers_except_for_times(
    watched: Watched,
) -> None:
    assert len(watched.answers) > 60
    for answer in watched.answers:
        assert same_answer(answer.method, answer.now, answer.then)


def test_notifications_are_sent_at_their_recorded_times(recording: Recording, watched: Watched) -> None:
    """But for the time that the server took then: a virtual clock stands still while it works."""
    now = [(at, what) for at, what, _ in watched.seen if what != LIST_CHANGED]
    then = notified_then(recording)
    assert len(now) == len(then)
    for uri in URIS:
        times = [at for at, what in now if what == uri], [at for at, what in then if what == uri]
        assert all(abs(one - other) < 0.1 for one, other in zip(*times, strict=True)), (uri, times)


def test_at_speed_0_the_tools_give_the_same_answers(recording: Recording) -> None:
    answers = [each for each in watch(recording, speed=0).answers if each.method == "tools/call"]
    assert len(answers) == len(calls(recording))
    for answer in answers:
        assert without_times(answer.now) == without_times(answer.then)


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_child_sessions_and_several_clients_are_replayed_in_their_order(speed: float) -> None:
    family = read_recording(RECORDINGS / "family.jsonl")
    assert sum(isinstance(each, SessionEntry) for each in family.entries) > 3
    answers = watch(family, speed=speed).answers
    assert {each.client for each in answers} == {"c-1", "c-2"}
    for answer in answers:
        assert same_answer(answer.method, answer.now, answer.then)


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_two_programs_at_once_are_replayed_each_with_its_own(speed: float) -> None:
    pair = read_recording(RECORDINGS / "pair.jsonl")
    watched = watch(pair, speed=speed)
    for answer in watched.answers:
        assert same_answer(answer.method, answer.now, answer.then)
    calls = [each.now["result"]["structuredContent"] for each in watched.answers if each.method == "tools/call"]
    assert [each.get("session") for each in calls] == ["s-1", "s-2", "s-2", "s-1", "s-2", None, None, None]
    read = {"s-1": "annann", "s-2": "benben"}
    assert calls[4]["stdout"] == f"{read['s-2']}\n"
    assert calls[6]["show"] == {"doubled": f"'{read['s-1']}'"}


@pytest.fixture(scope="module")
def clerks() -> Recording:
    """Several threads; left at an exception, at which the server asks for the other threads a little later."""
    return read_recording(RECORDINGS / "clerks.jsonl")


@pytest.fixture(scope="module", params=[0.0, 1.0])
def clerks_watched(clerks: Recording, request: pytest.FixtureRequest) -> tuple[float, Watched]:
    return request.param, watch(clerks, speed=request.param)


def test_a_replay_at_any_speed_ends_in_the_recorded_state_with_the_places_of_all_threads(
    clerks_watched: tuple[float, Watched],
) -> None:
    _, watched = clerks_watched
    read = [each for each in watched.answers if each.method == "resources/read"]
    recorded = {each.then["result"]["contents"][0]["uri"]: each.then["result"]["contents"][0]["text"] for each in read}
    assert recorded.keys() == set(URIS)
    assert {uri: as_before(msgspec.json.decode(text)) for uri, text in watched.end.items()} == {
        uri: as_before(msgspec.json.decode(text)) for uri, text in recorded.items()
    }
    threads = msgspec.json.decode(watched.end["debugger://threads"])["threads"]
    assert [each["name"] for each in threads] == ["MainThread", "clerk-0", "clerk-1"]
    assert all(each["location"]["file"] == "/src/clerks.py" for each in threads)


def test_two_replays_of_several_threads_are_byte_identical_at_any_speed(
    clerks: Recording, clerks_watched: tuple[float, Watched]
) -> None:
    speed, first = clerks_watched
    again = watch(clerks, speed=speed)
    assert (again.seen, again.end) == (first.seen, first.end)


@pytest.mark.parametrize("speed", [0.0, 1.0])
async def test_the_session_outlives_the_agent_whose_end_was_that_of_the_recorded_server(
    speed: float, clerks: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(clerks, speed=speed) as (client, replay):
        await client.call("debug_state")
        await until_over(replay)
        await trio.sleep(1000)
        assert (await client.call("debug_state"))["reason"] == "Exception"


def test_only_clients_that_disconnect_as_the_server_ends_stay_connected(clerks: Recording) -> None:
    *before, client_end = clerks.entries[: index_of(clerks, ClientEndEntry) + 1]
    t = client_end.t

    def staying(*entries: Any) -> set[str]:
        return staying_clients([*before, client_end, *entries])

    asked = msgspec.structs.replace(next(each for each in before if isinstance(each, McpEntry)), t=t + 0.1)
    session_end, end = SessionEndEntry(t=t + 5, session="s-1"), EndEntry(t=t + 5.1, reason="the server ended")
    assert staying(session_end, end) == {"c-1"}
    assert staying() == staying(session_end) == set()
    assert staying(session_end, msgspec.structs.replace(end, complete=False)) == set()
    assert (
        staying(session_end, msgspec.structs.replace(end, t=t + 60)) == set()
    )  # the server continued without a session
    assert staying(asked, session_end, end) == set()  # another client remained
    assert staying(msgspec.structs.replace(session_end, t=t + 120), msgspec.structs.replace(end, t=t + 120)) == set()
    assert staying_clients([*before, msgspec.structs.replace(session_end, t=t - 1), client_end, end]) == set()
    assert staying_clients(()) == set()


def index_of(recording: Recording, kind: type) -> int:
    return next(index for index, each in enumerate(recording.entries) if isinstance(each, kind))


def test_at_speed_2_the_recording_takes_half_the_time(recording: Recording, autojump_clock: MockClock) -> None:
    async def play() -> float:
        async with replaying(recording, speed=2) as (client, replay):
            await client.uris()
            start = trio.current_time()
            await until_over(replay)
            return trio.current_time() - start

    assert trio.run(play, clock=MockClock(autojump_threshold=0)) == pytest.approx(recording.length / 2, abs=0.2)


def test_every_event_of_the_timeline_has_its_recorded_time(watched: Watched) -> None:
    """But for the time that the server took then, as for notifications."""
    (now, then) = [
        [datetime.fromisoformat(event["timestamp"]) for event in timeline["events"]]
        for timeline in last_timelines(watched)
    ]
    assert len(now) > 10
    assert (then[-1] - then[0]).total_seconds() > 5
    assert all(abs((one - other).total_seconds()) < 0.1 for one, other in zip(now, then, strict=True)), (now, then)


def last_timelines(watched: Watched) -> list[Any]:
    """What the recorded client read of the timeline last: in the replay, and in the recording."""
    contents = [
        [answer["result"]["contents"][0] for answer in (each.now, each.then)]
        for each in watched.answers
        if each.method == "resources/read" and "result" in each.now and "result" in each.then
    ]
    read = [[msgspec.json.decode(each["text"]) for each in pair] for pair in contents if pair[0]["uri"] == TIMELINE]
    return read[-1]


async def test_without_a_speed_the_recording_takes_its_own_time(
    recording: Recording, autojump_clock: MockClock
) -> None:
    replay = Replay(recording)
    async with open_server(options_for(recording.header, replay)) as server, server.connect() as client:
        await client.uris()
        start = trio.current_time()
        await until_over(replay)
        assert trio.current_time() - start == pytest.approx(recording.length, abs=0.2)


@pytest.mark.parametrize(("seconds", "answer"), [(4.5, "before"), (4.8, "after"), (6.0, "after")])
async def test_a_query_gets_the_answer_of_its_moment_or_that_of_a_moment_later(
    seconds: float, answer: str, recording: Recording, autojump_clock: MockClock
) -> None:
    entries = (QueryEntry(t=1.0, question="q", answer="before"), QueryEntry(t=5.0, question="q", answer="after"))
    replay = Replay(msgspec.structs.replace(recording, entries=entries), drive=True)
    await replay.run(never_called)
    await trio.sleep(seconds)
    assert replay.host.query("q", lambda: "of this machine") == answer
    assert await replay.host.find_out("q", asked_again) == answer


async def test_an_adapter_that_hung_up_before_any_message_is_replayed_as_missing(
    recording: Recording, autojump_clock: MockClock
) -> None:
    session = next(each for each in recording.entries if isinstance(each, SessionEntry))
    queries = tuple(each for each in recording.entries if isinstance(each, QueryEntry))
    entries = (*queries, session, HangUpEntry(t=1.0, session=session.session))
    async with replaying(msgspec.structs.replace(recording, entries=entries), drive=True) as (client, _):
        with pytest.raises(ToolFailed, match="there is no further debug session in it"):
            await client.call("debug_launch", program=TILL)


async def asked_again() -> str:
    raise AssertionError("the recording has the answer")


async def never_called(*_: Any) -> None:
    raise AssertionError("no recorded client connects when the caller drives")


# --- Watching ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_recording_starts_when_a_client_makes_a_request(
    era: Era, recording: Recording, autojump_clock: MockClock
) -> None:
    replay = Replay(recording)
    async with open_server(options_for(recording.header, replay)) as server:
        await trio.sleep(1000)
        async with server.connect(era) as client, client.subscribed(SESSION):
            notice = await client.wait_notice(LIST_CHANGED, seconds=60)
            assert notice.at < 1000 + recording.length
            assert (await client.read(SESSION))["state"] == "Starting"


async def test_for_a_client_that_only_listens_the_recording_starts_a_second_after_the_handshake(
    recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording) as (client, _):
        notice = await client.wait_notice(LIST_CHANGED, seconds=60)
        assert notice.at > 1


async def test_a_watching_client_leaves_no_trace_in_the_timeline(
    recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording) as (client, replay):
        async with client.subscribed(TIMELINE):
            while not replay.over:
                await client.call("debug_state")
                await trio.sleep(0.1)
        timeline = await client.call("timeline_query", count=1000, full=True)
    tools = [event["payload"]["tool"] for event in timeline["events"] if event["type"] == "toolCalled"]
    assert tools == [name for name, _, _ in calls(recording)]
    assert sum(event["type"] == "clientJoined" for event in timeline["events"]) == 1  # the recorded one


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("debug_continue", {}),
        ("debug_launch", {"program": TILL}),
        ("breakpoint_set", {"file": TILL, "line": 1}),
        ("debug_disconnect", {}),
        ("process_write_input", {"data": "x"}),
    ],
)
async def test_a_watching_client_cannot_move_the_program(
    tool: str, arguments: dict[str, Any], recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording) as (client, _):
        with pytest.raises(ToolFailed, match=r"the recording moves the program.*--drive") as failed:
            await client.call(tool, **arguments)
        assert failed.value.code == "NOT_SUPPORTED"


async def test_a_watching_client_gets_recorded_answers_and_an_error_for_other_questions(
    recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording) as (client, _):
        await until_called(client, "evaluate")
        assert (await client.call("evaluate", expression="amount + 1"))["value"] == "3"
        with pytest.raises(ToolFailed, match=r"The recording does not hold the value of `amount \+ 2`: ") as failed:
            await client.call("evaluate", expression="amount + 2")
        assert failed.value.code == "NOT_SUPPORTED"


@pytest.mark.parametrize("drive", [False, True])
async def test_an_error_in_a_replay_names_what_the_recording_lacks(
    drive: bool, clerks: Recording, autojump_clock: MockClock
) -> None:
    questions: list[tuple[str, dict[str, Any], str]] = [
        ("evaluate", {"expression": "done\n + 5"}, "the value of `done + 5`"),
        ("variables_get", {"scope": "globals"}, "these variables"),
        ("variables_get", {"path": "clerks[0]"}, "the value of `clerks[0]`"),
        ("variables_get", {"thread_id": 2}, "the stack of this thread" if drive else "these variables"),
        ("tasks_list", {}, "the tasks of this program"),
    ]
    async with replaying(clerks, speed=0, drive=drive) as (client, replay):
        if drive:
            for name, arguments, _ in calls(clerks)[:3]:
                await client.call(name, **arguments)
        else:
            await client.call("debug_state")
            await until_over(replay)
        for name, arguments, what in questions:
            with pytest.raises(ToolFailed) as failed:
                await client.call(name, **arguments)
            assert str(failed.value) == (
                f"NOT_SUPPORTED: The recording does not hold {what}: the recorded session did not ask for it here. "
                "timeline_query lists the calls that the recorded clients made."
            )


async def test_recorded_snapshots_are_there_to_be_compared_and_no_others_are_taken(
    clerks: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(clerks, speed=0) as (client, replay):
        await until_over(replay)
        assert len((await client.call("snapshot_list"))["snapshots"]) == 2
        assert (await client.read("debugger://snapshots"))["snapshots"][1]["label"] == "stepped"
        found = await client.call("snapshot_diff", before="snap-1", after="stepped")
        assert found["unchanged"] > 0
        with pytest.raises(ToolFailed, match="NOT_SUPPORTED: This is a replay"):
            await client.call("snapshot_create")
    async with replaying(clerks, speed=0, drive=True) as (client, _):
        for name, arguments, _ in calls(clerks)[:3]:
            await client.call(name, **arguments)
        with pytest.raises(ToolFailed, match="The recording does not hold these variables"):
            await client.call("snapshot_create", depth=1)
        assert (await client.call("snapshot_create"))["id"] == "snap-1"
        assert (await client.call("snapshot_diff", before="snap-1", after="snap-1"))["unchanged"] > 0


async def test_a_watching_client_is_not_advised_to_launch_and_a_driving_one_is(
    recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording) as (client, replay):
        for over in (False, True):
            with pytest.raises(ToolFailed, match=r"at this moment of the recording.*--drive") as failed:
                await client.call("evaluate", expression="1")
            assert failed.value.code == "NO_SESSION"
            with pytest.raises(MCPError, match="no debug session at this moment of the recording"):
                await client.read(SESSION)
            if not over:
                await until_over(replay)
    async with replaying(recording, drive=True) as (client, _):
        with pytest.raises(ToolFailed, match="start one with the tool debug_launch"):
            await client.call("evaluate", expression="1")


async def test_sources_are_read_from_the_recording_and_never_from_this_machine(
    recording: Recording, autojump_clock: MockClock
) -> None:
    sources = [each for each in recording.entries if isinstance(each, QueryEntry) and each.question == f"source {TILL}"]
    without = tuple(each for each in recording.entries if each not in sources)
    async with replaying(msgspec.structs.replace(recording, entries=without)) as (client, _):
        await until_called(client, "debug_launch")
        with pytest.raises(ToolFailed, match=f"has no answer to: source {TILL}"):
            await client.call("source_get", file=TILL)
    async with replaying(recording) as (client, _):
        await until_called(client, "debug_launch")
        assert (await client.read_text(f"debugger://source/{TILL}")).startswith("import sys\n")
        assert (await client.call("source_get", file=TILL))["lines"][0] == "1 import sys"
        with pytest.raises(ToolFailed, match="is not referenced"):
            await client.call("source_get", file="/etc/passwd")


async def test_the_server_continues_after_the_recording_is_over(
    recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording, speed=0) as (client, replay):
        await client.call("debug_state")
        await until_over(replay)
        await trio.sleep(1000)
        state = await client.call("debug_state")
    assert state["exitCode"] == 3


# --- Driving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.0, 1.0])
async def test_a_driving_client_gets_the_recorded_answers(
    speed: float, recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording, speed=speed, drive=True) as (client, _):
        for name, arguments, then in calls(recording):
            now = await client.call(name, **arguments)
            assert without_times(now) == without_times(then["structuredContent"]), name
            await trio.sleep(100)  # however long the client thinks


async def test_a_recording_of_an_earlier_version_that_asked_less_of_its_machine_is_replayed(
    recording: Recording, autojump_clock: MockClock
) -> None:
    later = [
        each for each in recording.entries if isinstance(each, QueryEntry) and each.question.startswith("what runs ")
    ]
    assert later
    earlier = msgspec.structs.replace(recording, entries=tuple(each for each in recording.entries if each not in later))
    async with replaying(earlier, drive=True) as (client, _):
        for name, arguments, then in calls(recording):
            now = await client.call(name, **arguments)
            assert now.get("at") == then["structuredContent"].get("at"), name


async def test_a_driving_client_that_makes_another_move_learns_the_recorded_one(
    recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording, drive=True) as (client, _):
        for name, arguments, _ in calls(recording)[:3]:
            await client.call(name, **arguments)
        with pytest.raises(
            ToolFailed, match="does not hold debug_step: the recorded session continues with debug_continue here"
        ):
            await client.call("debug_step")
        assert (await client.call("debug_state"))["state"] == "Paused"
        assert (await client.call("debug_continue"))["reason"] == "Breakpoint"


async def test_a_driving_client_can_launch_only_the_recorded_program(
    recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording, drive=True) as (client, _):
        with pytest.raises(ToolFailed, match=r"has no answer to: file /src/other\.py") as failed:
            await client.call("debug_launch", program="other.py")
        assert failed.value.code == "NOT_SUPPORTED"


async def test_a_driving_client_may_disconnect_at_any_time(recording: Recording, autojump_clock: MockClock) -> None:
    async with replaying(recording, drive=True) as (client, _):
        for name, arguments, _ in calls(recording)[:3]:
            await client.call(name, **arguments)
        assert await client.call("debug_disconnect") == {"ended": True}


# --- Damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
async def test_a_torn_recording_is_played_to_its_end(share: float, autojump_clock: MockClock) -> None:
    data = (RECORDINGS / "till.jsonl").read_bytes()
    torn = parse_recording(data[: int(len(data) * share)])
    assert torn.torn
    reports: list[str] = []
    replay = Replay(torn, report=reports.append)
    async with open_server(options_for(torn.header, replay)) as server, server.connect() as client:
        await client.call("debug_state")
        await until_over(replay)
        assert (await client.call("debug_state"))["state"] in ("Paused", "Running", "Starting")
    assert reports == [f"the recording is over, after {torn.length:.1f} s. It was torn off there."]


async def test_a_call_that_is_open_at_the_recordings_end_delays_no_client_and_warns_of_nothing(
    recording: Recording, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    asked = max(
        index
        for index, each in enumerate(recording.entries)
        if isinstance(each, AdapterEntry) and each.dir == "out" and b'"continue"' in bytes(each.msg)
    )
    torn = msgspec.structs.replace(recording, entries=recording.entries[: asked + 1], torn=True)
    async with replaying(torn, speed=0) as (client, replay):
        await client.call("debug_state")
        await until_over(replay)
        end = trio.current_time()
    assert trio.current_time() - end < 0.5
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(("more", "torn"), [(b"", ""), (b'{"edge":"output"', " It was torn off there.")])
async def test_the_report_at_the_end_says_whether_the_recording_is_torn(
    more: bytes, torn: str, autojump_clock: MockClock
) -> None:
    read = parse_recording((RECORDINGS / "till.jsonl").read_bytes() + more)
    reports: list[str] = []
    replay = Replay(read, speed=0, report=reports.append)
    async with open_server(options_for(read.header, replay)) as server, server.connect() as client:
        await client.call("debug_state")
        await until_over(replay)
    assert reports == [f"the recording is over, after {read.length:.1f} s.{torn}"]


async def test_an_answer_that_was_too_large_for_the_recording_is_refused_with_that_reason(
    recording: Recording, autojump_clock: MockClock
) -> None:
    asked = [
        msgspec.json.decode(each.msg)["seq"]
        for each in recording.entries
        if isinstance(each, AdapterEntry) and each.dir == "out" and b"amount + 1" in bytes(each.msg)
    ]
    assert len(asked) == 1

    def cut(entry: Any) -> Any:
        if not isinstance(entry, AdapterEntry) or entry.dir == "out":
            return entry
        message = msgspec.json.decode(entry.msg)
        if message.get("request_seq") in asked:
            message.pop("body")
            return msgspec.structs.replace(entry, msg=msgspec.Raw(msgspec.json.encode(message)), cut=5_000_000)
        return entry

    large = msgspec.structs.replace(recording, entries=tuple(cut(each) for each in recording.entries))
    async with replaying(large, drive=True) as (client, _):
        for name, arguments, _ in calls(recording):
            if name == "evaluate":
                with pytest.raises(ToolFailed, match="its 5000000 bytes were too many for the recording"):
                    await client.call(name, **arguments)
                return
            await client.call(name, **arguments)


def damaged(seed: int) -> list[bytes]:
    """The lines of a recording, some of them lost, doubled, moved, or with a wrong member."""
    chance = random.Random(seed)
    lines = (RECORDINGS / "till.jsonl").read_bytes().splitlines()
    for _ in range(chance.randint(1, 12)):
        number, other = chance.randrange(1, len(lines)), chance.randrange(1, len(lines))
        match chance.randrange(4):
            case 0:
                del lines[number : number + chance.choice([1, 5, 40])]
            case 1:
                lines.insert(other, lines[number])
            case 2:
                lines[number], lines[other] = lines[other], lines[number]
            case _:
                entry = msgspec.json.decode(lines[number])
                if message := entry.get("msg"):
                    message[chance.choice(list(message))] = chance.choice([None, 0, "x", [], {}, -5])
                lines[number] = msgspec.json.encode(entry)
    return lines


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_recording_is_played_or_refused(seed: int) -> None:
    with suppress(NotARecording):
        watch(parse_recording(b"\n".join(damaged(seed))), speed=0)


async def test_stops_of_a_replay_are_kept_as_they_were_also_after_its_end(
    recording: Recording, autojump_clock: MockClock
) -> None:
    async with replaying(recording) as (client, replay):
        seen: dict[int, Any] = {}
        while not replay.over:
            await trio.sleep(0.1)
            with suppress(MCPError, ToolFailed):
                stack = await client.read(STACK)
                number = (await client.call("stop_get"))["stop"]
                if not stack["stale"] and (await client.call("stop_get"))["stop"] == number:
                    seen[number] = stack
        assert len(seen) > 3
        last = (await client.call("stop_get"))["last"]
        for number in range(1, last + 1):
            kept = (await client.call("stop_get", stop=number, full=True))["stop"]
            assert [each["file"] for each in kept["sources"]] == [TILL]
            text = await client.call("stop_get", stop=number, source=TILL)
            assert "amount += price" in text["text"]
            if number in seen:
                same = ("frames", "locals", "scopes", "capturedAt", "changed", "comparedWith")
                assert {each: kept[each] for each in same} == {each: seen[number][each] for each in same}
        amounts = (await client.call("stop_get", variable="amount", full=True))["points"]
        assert {each["stop"] for each in amounts} <= set(range(1, last + 1))
        assert len(amounts) > 2
