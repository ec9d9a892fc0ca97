"""How sessions start and end with real debugpy, and the lists of resources at these edges."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.ports import free_port
from tests.real.conftest import GDB, Connect, at, program, where
from trio_debugmcp.testing import ToolFailed

SESSION, BREAKPOINTS, THREADS = "debugger://session", "debugger://breakpoints", "debugger://threads"


async def test_a_program_begins_before_debugpy_has_read_the_metadata_of_every_installed_package(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            program=program("steps.py"),
            env={"DEBUGPY_LOG_DIR": str(tmp_path)},
            adapter_options={"engine": "pydevd"},
        )
        assert (stop["reason"], where(stop).line) == ("Entry", 1)
        (log,) = tmp_path.glob("debugpy.server-*.log")
        text = log.read_text()
        await client.call("debug_disconnect")
    assert "Initial environment:" in text, "before it connects"
    assert "Pre-launch environment:" not in text


async def test_attaching_by_port_and_disconnecting_leaves_the_program_running(debugging: Connect) -> None:
    port = free_port()
    target = subprocess.Popen(
        [sys.executable, "-m", "debugpy", "--listen", f"127.0.0.1:{port}", program("busy.py")],
        env={**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
    )
    try:
        async with debugging() as client:
            attached: dict[str, Any] = {}
            while not attached:
                try:
                    attached = await client.call("debug_attach", port=port)
                except ToolFailed:
                    await trio.sleep(0.1)
            assert attached["state"] == "Running"
            assert (await client.read(SESSION))["launchMode"] == "Attach"
            await client.call("breakpoint_set", **at("busy.py", "# in loop"))
            assert (await client.call("debug_wait"))["reason"] == "Breakpoint"
            ended = await client.call("debug_disconnect")
            assert ended == {"detached": True}
        assert target.poll() is None
    finally:
        target.kill()
        target.wait()


async def test_attaching_by_pid_works_where_tracing_is_allowed_and_says_what_is_missing_elsewhere(
    debugging: Connect,
) -> None:
    target = subprocess.Popen([sys.executable, program("busy.py")])
    yama = Path("/proc/sys/kernel/yama/ptrace_scope")
    traceable = os.geteuid() == 0 or not yama.exists() or yama.read_text().strip() == "0"
    try:
        async with debugging() as client:
            if GDB and traceable:
                attached = await client.call("debug_attach", pid=target.pid)
                assert attached["pid"] == target.pid
                assert (await client.call("debug_pause"))["reason"] == "Pause"
                await client.call("debug_disconnect")
            else:
                with pytest.raises(ToolFailed, match=r"gdb|trace") as failed:
                    await client.call("debug_attach", pid=target.pid, timeout=5)
                assert failed.value.code in {"ATTACH_FAILED", "TIMEOUT"}
            assert target.poll() is None
    finally:
        target.kill()
        target.wait()


async def test_a_launched_program_can_be_detached_from(debugging: Connect, tmp_path: Path) -> None:
    witness = tmp_path / "lived.txt"
    short = tmp_path / "short.py"
    short.write_text(f"import time\ntime.sleep(0.5)\nopen({str(witness)!r}, 'w').write('yes')\n")
    async with debugging() as client:
        await client.call("debug_launch", program=str(short))
        ended = await client.call("debug_disconnect", terminate=False)
        assert ended == {"detached": True}
        assert (await client.call("debug_state"))["state"] == "Disconnected"
        while not witness.exists() or not witness.read_text():
            await trio.sleep(0.05)
        assert witness.read_text() == "yes"


@pytest.mark.parametrize(
    ("python", "why"),
    [
        (["/bin/sh", "-c", "echo no such library >&2; exit 127"], "exit code 127 .* no such library"),
        (["/bin/false"], "exit code 1 "),
        (["/no/such/python"], "No such file"),
    ],
)
async def test_an_interpreter_that_does_not_run_fails_the_launch_at_once_with_its_words(
    python: list[str], why: str, debugging: Connect
) -> None:
    async with debugging() as client:
        with pytest.raises(ToolFailed, match=why) as failed:
            await client.call("debug_launch", program=program("busy.py"), adapter_options={"python": python})
        assert failed.value.code == "LAUNCH_FAILED"
