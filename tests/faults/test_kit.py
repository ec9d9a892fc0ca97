"""The fault kit does what it says."""

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.faults.phases import healthy
from tests.server.scene import running
from trio_debugmcp.dap.codec import FrameDecoder
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.testing.faults import garbage
from trio_debugmcp.testing.faults.faulty_messages import answers, events, late, never, reordered, twice
from trio_debugmcp.testing.faults.faulty_streams import Cutting, Stalling, Trickling


async def received(stream: trio.abc.ReceiveStream) -> bytes:
    """What has come by now, and a mark at the end of the stream."""
    data = b""
    with trio.move_on_after(1):
        while piece := await stream.receive_some():
            data += piece
        data += b"|"
    return data


async def test_a_cutting_stream_sends_the_given_number_of_bytes_and_breaks_off(autojump_clock: MockClock) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    cutting = Cutting(theirs, after=5)
    await cutting.send_all(b"abc")
    await cutting.send_all(b"defg")
    assert await received(ours) == b"abcde|"
    with pytest.raises(trio.ClosedResourceError):
        await cutting.send_all(b"h")


async def test_a_cutting_stream_without_a_number_sends_half_of_the_next_message(autojump_clock: MockClock) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    await Cutting(theirs).send_all(b"abcd")
    assert await received(ours) == b"ab|"


async def test_a_stalling_stream_sends_the_given_number_of_bytes_and_stays_open(autojump_clock: MockClock) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    stalling = Stalling(theirs, after=5)
    for data in (b"abc", b"defg", b"hij"):
        await stalling.send_all(data)
    assert await received(ours) == b"abcde"


async def test_a_trickling_stream_sends_byte_by_byte_with_pauses(autojump_clock: MockClock) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    await Trickling(theirs, pause=2).send_all(b"abc")
    assert trio.current_time() == 6
    assert await ours.receive_some() == b"abc"


@pytest.mark.parametrize(
    ("twist", "said"),
    [
        (twice(events), [("stopped", 0.0), ("stopped", 0.0), ("next", 0.0)]),
        (twice(answers("next")), [("stopped", 0.0), ("next", 0.0), ("next", 0.0)]),
        (twice(answers("other")), [("stopped", 0.0), ("next", 0.0)]),
        (late(events, 2), [("stopped", 2.0), ("next", 2.0)]),
        (never(answers()), [("stopped", 0.0)]),
        (reordered, [("stopped", 0.0), ("next", 0.05)]),
    ],
)
async def test_a_twist_sends_messages_twice_late_or_never(
    twist: object, said: list[tuple[str, float]], autojump_clock: MockClock
) -> None:
    heard: list[tuple[str, float]] = []

    async def say(message: dict[str, object]) -> None:
        await trio.lowlevel.checkpoint()
        heard.append((str(message.get("event") or message.get("command")), trio.current_time()))

    assert callable(twist)
    await twist({"type": "event", "event": "stopped"}, say)
    await twist({"type": "response", "command": "next"}, say)
    assert heard == said


async def test_twists_are_nested(autojump_clock: MockClock) -> None:
    adapter = healthy()
    async with running("legacy", adapter) as (client, _):
        adapter.connection.twist(twice(events))
        adapter.connection.twist(late(events, 3))
        start = trio.current_time()
        await client.call("debug_pause")
        assert trio.current_time() == start + 3


@pytest.mark.parametrize("name", ["NOT_AT_ALL", "NO_LENGTH", "LENGTH_NO_NUMBER", "LENGTH_HUGE", "HEADER_ENDLESS"])
def test_garbage_without_framing_does_not_decode(name: str) -> None:
    with pytest.raises(ProtocolViolation):
        FrameDecoder().feed(getattr(garbage, name))


@pytest.mark.parametrize("name", ["NO_JSON", "NO_UTF_8", "NESTED", "NO_OBJECT", "UNKNOWN_TYPE", "BODIES_WRONG"])
def test_garbage_in_frames_decodes_to_bodies(name: str) -> None:
    decoder = FrameDecoder()
    assert decoder.feed(getattr(garbage, name))
    decoder.finish()
