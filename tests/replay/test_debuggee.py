"""The programs of a replay."""

import tracemalloc

import trio

from trio_debugmcp.replay.debuggee import ReplayedProgram


async def test_input_of_a_replayed_program_is_taken_at_once_and_not_kept() -> None:
    program = ReplayedProgram(4711)
    tracemalloc.start()
    try:
        with trio.fail_after(120):
            for number in range(1000):
                await program.stdin.send_all(bytes([number % 256]) * 4096)
            await program.stdin.aclose()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000
