"""Other Pythons than this one as the debugged one: which there are, and what has to work with each."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.pythons import Interpreter, found
from tests.real.conftest import GDB, PROGRAMS, hits, text_of, where
from trio_debugmcp.engine import TRIED
from trio_debugmcp.testing import DebugClient, ToolFailed

OLDEST = (3, 8)
"""The oldest that debugpy 1.8 debugs."""

PROGRAM = """
import subprocess
import sys
import time


def work(number):
    done = number * 2
    return done


if len(sys.argv) > 1:
    work(int(sys.argv[1]))
else:
    work(1)
    subprocess.run([sys.executable, __file__, "2"], check=True)
    print("attach", flush=True)
    while True:
        time.sleep(0.01)  # for the debugger to attach
"""
"""For any Python 3."""


def oldest_first(versions: dict[str, Interpreter]) -> list[Any]:
    """Parameters of a test of the engine: the oldest of some Pythons at every change, the others nightly."""
    later = pytest.mark.nightly("newer Pythons, on one of which all that runs with both engines runs at every change")
    return [
        pytest.param(python, id=name, marks=later if at else ()) for at, (name, python) in enumerate(versions.items())
    ]


def chosen() -> list[Interpreter]:
    """The oldest and the newest that debugpy supports, and the running one; `scripts/interpreters` tries all."""
    supported = [each for each in found() if each.version >= OLDEST]
    here = next(each for each in supported if each.path == sys.executable)
    return sorted({supported[0], here, supported[-1]}, key=lambda each: each.version)


def unsupported() -> list[Interpreter]:
    return [each for each in found() if each.version < OLDEST]


async def debug(client: DebugClient, interpreter: Interpreter) -> list[str]:
    """Launch, stop, step, stop in a child, attach by process id; return what was done, or raise."""
    done = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(PROGRAM)
        await _launch(client, interpreter, file)
        done += ["launch", "breakpoint", "step", "child"]
        await _trace(client, interpreter, file)
        done.append("tracepoints")
        if GDB:
            await _attach(client, interpreter, file)
            done.append("attach by pid")
    return done


async def refusal_of(client: DebugClient, interpreter: Interpreter) -> str:
    """Launch with a Python that debugpy does not support; return the message."""
    with pytest.raises(ToolFailed) as failed:
        await client.call("debug_launch", program=str(PROGRAMS / "steps.py"), adapter_options=_with(interpreter))
    assert failed.value.code == "LAUNCH_FAILED"
    message: str = failed.value.message
    return message


async def _launch(client: DebugClient, interpreter: Interpreter, file: Path) -> None:
    await client.call("breakpoint_set", file=str(file), line=_line("done = "))
    launched = await client.call(
        "debug_launch", program=str(file), adapter_options=_with(interpreter), stop_at_entry=False
    )
    await _check_stop(client, launched, "1")
    session = await client.read("debugger://session")
    assert session["runtimeVersion"].startswith("CPython {}.{}.".format(*interpreter.version)), session
    assert session["engine"] == ("own" if interpreter.version in TRIED else "pydevd"), session
    stepped = await client.call("debug_step")
    assert where(stepped).line == _line("return done")
    await _check_stop(client, await client.call("debug_continue"), "2")
    assert (await client.read("debugger://session"))["parentSessionId"] is not None
    await client.call("debug_disconnect")


async def _trace(client: DebugClient, interpreter: Interpreter, file: Path) -> None:
    """Log in the program and in its child, up to the moment where they are killed; each hit is counted."""
    await client.call("breakpoint_remove", id="*")
    message = "{number!r:>3} {[number for _ in 'ab']} {nope}"
    await client.call("breakpoint_set", file=str(file), line=_line("return done"), log_message=message)
    await client.call("breakpoint_set", file=str(file), line=_line("time.sleep"), hit_condition="== 3")
    stop = await client.call("debug_launch", program=str(file), adapter_options=_with(interpreter), stop_at_entry=False)
    assert (stop["reason"], where(stop).line) == ("Breakpoint", _line("time.sleep")), stop
    log = text_of(await client.call("process_read_output", stream="tracepoint"), "log")
    error = "<error: NameError: name 'nope' is not defined>\n"
    assert log == f"  1 [1, 1] {error}  2 [2, 2] {error}", log
    counts = list((await hits(client)).values())
    assert counts == [2, 3], counts
    await client.call("breakpoint_remove", id="*")
    await client.call("debug_disconnect")


async def _attach(client: DebugClient, interpreter: Interpreter, file: Path) -> None:
    process = await trio.lowlevel.open_process(
        [interpreter.path, str(file)], stderr=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        while b"attach" not in await process.stdout.receive_some():
            pass
        await client.call("breakpoint_set", file=str(file), line=_line("time.sleep"))
        await client.call("debug_attach", pid=process.pid)
        stop = await client.call("debug_wait")
        assert (stop["reason"], where(stop).line) == ("Breakpoint", _line("time.sleep")), stop
        await client.call("debug_disconnect")
        await trio.sleep(0.2)
        assert process.poll() is None, "it lives on"
    finally:
        process.kill()
        with trio.move_on_after(5, shield=True):
            await process.wait()


async def _check_stop(client: DebugClient, stop: dict[str, Any], number: str) -> None:
    assert (stop["reason"], where(stop).line) == ("Breakpoint", _line("done = ")), stop
    assert (await client.call("variables_get", filter="number"))["variables"] == {"number": number}


def _with(interpreter: Interpreter) -> dict[str, str]:
    return {"python": interpreter.path}


def _line(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)
