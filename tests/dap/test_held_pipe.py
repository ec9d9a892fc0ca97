"""A pipe of which a part is looked at before it is read."""

import pytest
import trio
from trio.testing import memory_stream_one_way_pair

from trio_debugmcp.dap import held_pipe
from trio_debugmcp.dap.held_pipe import HeldPipe


async def test_what_was_held_is_received_before_what_follows() -> None:
    theirs, ours = memory_stream_one_way_pair()
    pipe = HeldPipe(ours)
    await theirs.send_all(b"listening at 7\nhello")
    assert await pipe.hold_more()
    assert pipe.take(15) == b"listening at 7\n"
    await theirs.send_all(b" world")
    assert [bytes(await pipe.receive_some(3)), bytes(await pipe.receive_some())] == [b"hel", b"lo"]
    assert bytes(await pipe.receive_some()) == b" world"
    assert repr(pipe).startswith("<HeldPipe 0 bytes before ")


async def test_the_end_of_the_pipe_is_reported_while_it_is_held_and_when_it_is_received() -> None:
    theirs, ours = memory_stream_one_way_pair()
    pipe = HeldPipe(ours)
    await theirs.send_all(b"x")
    await theirs.aclose()
    assert [await pipe.hold_more(), await pipe.hold_more()] == [True, False]
    assert [bytes(await pipe.receive_some()), bytes(await pipe.receive_some())] == [b"x", b""]
    await pipe.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await pipe.receive_some()


async def test_what_is_held_is_bounded_and_its_end_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_pipe, "MAX_HELD_BYTES", 8)
    theirs, ours = memory_stream_one_way_pair()
    pipe = HeldPipe(ours)
    await theirs.send_all(b"12345678")
    await pipe.hold_more()
    assert bytes(pipe.held) == b"12345678"
    await theirs.send_all(b"9")
    await pipe.hold_more()
    assert bytes(pipe.held) == b"56789"
