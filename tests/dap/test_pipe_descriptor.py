"""The descriptor behind a program's pipe."""

import os

import trio
from trio.testing import memory_stream_one_way_pair

from trio_debugmcp.dap.held_pipe import HeldPipe
from trio_debugmcp.dap.own_lines import ProgramPipe
from trio_debugmcp.dap.pipe_descriptor import descriptor_of


async def test_the_descriptor_of_a_pipe_is_known_through_all_that_is_put_around_it() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    async with trio.lowlevel.FdStream(reading) as pipe:
        assert descriptor_of(ProgramPipe(HeldPipe(pipe), ("DEBUGGER: ",), bytearray().extend)) == reading


async def test_a_stream_in_memory_has_none_whatever_is_put_around_it() -> None:
    _, ours = memory_stream_one_way_pair()
    assert descriptor_of(ours) is None
    assert descriptor_of(ProgramPipe(HeldPipe(ours), ("DEBUGGER: ",), bytearray().extend)) is None
