"""An adapter whose own process is the program (rdbg, cmake): its streams are the program's, and so is its end."""

from trio.testing import MockClock

from tests.server.scene import failure, launch
from trio_debugmcp.replay.debuggee import ReplayedProgram
from trio_debugmcp.testing import FakeAdapter, connect


def with_process() -> tuple[FakeAdapter, ReplayedProgram]:
    adapter, program = FakeAdapter(), ReplayedProgram(17)
    adapter.connection.process = program
    return adapter, program


async def test_what_its_process_writes_is_the_programs_output(autojump_clock: MockClock) -> None:
    adapter, program = with_process()
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        program.write("stdout", "item 1\n")
        program.write("stderr", "oops\n")
        await adapter.stop()
        stop = await client.call("debug_wait")
        assert (stop["stdout"], stop["stderr"]) == ("item 1\n", "oops\n")
        assert await client.call("process_write_input", data="typed\n") == {"bytesWritten": 6}
        begun = await client.call("process_write_input", data="be")
        assert begun["notes"] == ["no newline at the end of `data`: a program that reads a line still waits for it"]


async def test_when_it_closes_its_connection_the_program_has_ended_with_the_code_of_its_process(
    autojump_clock: MockClock,
) -> None:
    adapter, program = with_process()
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        await adapter.crash()
        program.write("stdout", "the last words\n")
        for stream in ("stdout", "stderr"):
            program.write(stream, None)
        program.exit(7)
        over = await client.call("debug_wait")
        assert (over["state"], over["reason"], over["exitCode"]) == ("Disconnected", "Exited", 7)
        assert over["stdout"] == "the last words\n"


async def test_a_process_that_lives_on_after_the_connection_was_lost_is_a_failure_of_the_adapter(
    autojump_clock: MockClock,
) -> None:
    adapter, _ = with_process()
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        await adapter.crash()
        assert (await failure(client, "debug_wait")).code == "ADAPTER_GONE"
