"""The program's Python may be another one than the server's: the oldest and the newest that are found, and this one."""

import subprocess

import pytest
import trio

from tests.pythons import Interpreter
from tests.real.conftest import Connect
from tests.real.interpreters import chosen, debug, refusal_of, unsupported
from trio_debugmcp.testing import ToolFailed


@pytest.mark.parametrize("interpreter", chosen(), ids=lambda each: each.label)
async def test_a_program_its_child_and_a_running_process_are_debugged_with(
    interpreter: Interpreter, debugging: Connect
) -> None:
    async with debugging() as client:
        assert (await debug(client, interpreter))[:4] == ["launch", "breakpoint", "step", "child"]


@pytest.mark.parametrize("interpreter", chosen()[-1:], ids=lambda each: each.label)
async def test_an_uncaught_exception_stops_code(interpreter: Interpreter, debugging: Connect) -> None:
    code = "def f(x):\n    return {}[x]\ntry:\n    sorted([1], key=f)\nexcept KeyError:\n    f('k')"
    async with debugging() as client:
        options = {"python": interpreter.path}
        stop = await client.call("debug_launch", code=code, adapter_options=options, stop_at_entry=False)
        assert (stop["exception"], stop["at"]) == ("KeyError: 'k'", "<string>:2 in f")
        assert (await client.call("debug_continue"))["exitCode"] == 1


@pytest.mark.parametrize("interpreter", unsupported()[-1:], ids=lambda each: each.label)
async def test_one_that_debugpy_does_not_support_is_refused_at_once_with_its_own_words(
    interpreter: Interpreter, debugging: Connect
) -> None:
    async with debugging() as client:
        message = await refusal_of(client, interpreter)
    assert message.startswith("The program ended with exit code 1 before the debugger in it had connected: ")
    assert "Error: " in message
    process = await trio.lowlevel.open_process([interpreter.path, "-c", "input()"], stdin=subprocess.PIPE)
    assert process.stdin is not None
    async with process.stdin, debugging() as client:
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_attach", pid=process.pid)
        assert "runs Python {}.{}".format(*interpreter.version) in failed.value.message
        process.kill()
        await process.wait()
