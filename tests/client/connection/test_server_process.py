"""Server commands: exit codes, standard error, what is killed. Real processes: real clock, short bounds."""

import sys
from pathlib import Path

import pytest
import trio

from trio_debugmcp.client import (
    ConnectFailed,
    ConnectionLost,
    InspectorClient,
    InspectorOptions,
)

pytestmark = pytest.mark.real

CRASHING_SERVER = """
import os, sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("crashing")

@server.tool()
def crash() -> None:
    "End at once."
    print("Traceback: all is lost", file=sys.stderr, flush=True)
    os._exit(3)

server.run("stdio")
"""


@pytest.fixture
def crashing_server(tmp_path: Path) -> list[str]:
    script = tmp_path / "server.py"
    script.write_text(CRASHING_SERVER)
    return [sys.executable, str(script)]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_crash_is_reported_with_exit_code_and_standard_error(crashing_server: list[str]) -> None:
    with trio.fail_after(60):
        async with InspectorClient(crashing_server) as client:
            ended = client.wait_for("disconnect")
            with pytest.raises(ConnectionLost, match="all is lost") as lost:
                await client.call_tool("crash")
            assert lost.value.exit_code == 3
            assert (await ended).exit_code == 3
            assert "all is lost" in (await ended).stderr_tail
            assert client.status == "error"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-command-anywhere"], "no-such-command-anywhere"),
        ([sys.executable, "-c", "import sys; sys.exit('no licence')"], "no licence"),
        ([sys.executable, "-c", "print('hello, this is not MCP')"], "Connection closed"),
    ],
)
async def test_a_command_that_is_not_a_server_fails_to_connect_with_a_reason(command: list[str], said: str) -> None:
    with trio.fail_after(60):
        with pytest.raises(ConnectFailed, match=said):
            async with InspectorClient(command):
                pytest.fail("connected to nothing")


async def test_a_server_that_ignores_the_end_of_its_input_is_terminated_with_what_it_started(
    tmp_path: Path,
) -> None:
    pids = tmp_path / "pids"
    script = (
        "import os, signal, subprocess, sys, time\n"
        f"child = subprocess.Popen(['sleep', '1000'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "while True: time.sleep(1)\n"
    )
    with trio.fail_after(60):
        with pytest.raises(ConnectFailed, match="no handshake within 1 s"):
            async with InspectorClient([sys.executable, "-c", script], InspectorOptions(connect_timeout=1)):
                pytest.fail("connected to nothing")
        while any(is_running(int(pid)) for pid in pids.read_text().split()):
            await trio.sleep(0.1)  # the kernel takes its time; the bound above limits it
