"""Server commands: exit codes, standard error, what is killed. Real processes: real clock, short bounds."""

import sys
from pathlib import Path

import pytest
import trio
from mcp import StdioServerParameters
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification

from trio_debugmcp.client import (
    ConnectFailed,
    ConnectionLost,
    InspectorClient,
    InspectorOptions,
)
from trio_debugmcp.client.connection.server_process import ServerProcess
from trio_debugmcp.errors import ProtocolViolation

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


@pytest.mark.usefixtures("_unhurried")
async def test_a_crash_is_reported_with_exit_code_and_standard_error(crashing_server: list[str]) -> None:
    with trio.fail_after(120):
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
        (["tools/list"], "there is no program 'tools/list': a server is a URL, or a command with its arguments"),
        (["/"], "'/' cannot be run: Permission denied"),
        ([sys.executable, "-c", "import sys; sys.exit('no licence')"], "no licence"),
        ([sys.executable, "-c", "print('hello, this is not MCP')"], "Connection closed"),
    ],
)
async def test_a_command_that_is_not_a_server_fails_to_connect_with_a_reason(command: list[str], said: str) -> None:
    with trio.fail_after(120):
        with pytest.raises(ConnectFailed, match=said):
            async with InspectorClient(command):
                pytest.fail("connected to nothing")


async def test_an_exit_code_that_our_own_signal_made_hides_no_reason() -> None:
    """A server that closes its output and nothing else has to be stopped."""
    script = "import os, sys; sys.stdin.readline(); os.close(1); os.execvp('sleep', ['sleep', '1000'])"
    with trio.fail_after(120):
        with pytest.raises(ConnectFailed) as failed:
            async with InspectorClient([sys.executable, "-c", script], InspectorOptions(mode="legacy")):
                pytest.fail("connected to nothing")
        assert failed.value.exit_code is None
        assert "exit code" not in str(failed.value)
        with pytest.raises(ConnectFailed, match="no handshake within 1 s") as failed:
            async with InspectorClient(["sleep", "100"], InspectorOptions(connect_timeout=1)):
                pytest.fail("connected to nothing")
        assert "exit code" not in str(failed.value)


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
    connected: list[bool] = []
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:

            async def give_up() -> None:
                while not pids.exists() or len(pids.read_text().split()) < 2:
                    await trio.sleep(0.02)
                nursery.cancel_scope.cancel()

            nursery.start_soon(give_up)
            async with InspectorClient([sys.executable, "-c", script], InspectorOptions(connect_timeout=600)):
                connected.append(True)
        while any(is_running(int(pid)) for pid in pids.read_text().split()):
            await trio.sleep(0.1)  # the kernel takes its time; the bound above limits it
    assert not connected


@pytest.fixture
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that read and end by themselves have the time that they need: on a busy machine more than usual."""
    for name in ("command.FLUSH_SECONDS", "command.EXIT_SECONDS", "command.LAST_STDERR_SECONDS"):
        monkeypatch.setattr(f"trio_debugmcp.transports.{name}", 100)


def command(script: str, stderr: list[str]) -> ServerProcess:
    return ServerProcess(StdioServerParameters(command=sys.executable, args=["-c", script]), stderr.append)


@pytest.mark.usefixtures("_unhurried")
async def test_what_a_server_started_and_left_behind_is_killed() -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(child.pid, file=sys.stderr, flush=True)\n"
        "sys.stdin.read()\n"
    )
    stderr: list[str] = []
    process = command(script, stderr)
    with trio.fail_after(120):
        async with process.open():
            while not stderr:
                await trio.sleep(0.01)
            assert is_running(int(stderr[0]))
        assert process.exit_code == 0, "the server ended by itself"
        while is_running(int(stderr[0])):
            await trio.sleep(0.1)


@pytest.mark.usefixtures("_unhurried")
async def test_a_server_may_write_until_it_ends_and_its_last_lines_are_read() -> None:
    """Its output is more than a pipe holds: it would not get to its end if it were not read any more."""
    script = (
        "import os, sys\n"
        "sys.stdin.read()\n"
        "sys.stdout.write('x' * 1_000_000 + '\\n')\n"
        "sys.stdout.flush()\n"
        "print('the end', file=sys.stderr, flush=True)\n"
        "os._exit(7)\n"
    )
    stderr: list[str] = []
    process = command(script, stderr)
    with trio.fail_after(120):
        async with process.open():
            assert "exit code" not in repr(process)
        assert (process.exit_code, stderr) == (7, ["the end"])
        assert "exit code 7>" in repr(process)


@pytest.mark.usefixtures("_unhurried")
async def test_a_message_that_was_sent_reaches_the_server_before_its_input_is_closed() -> None:
    stderr: list[str] = []
    process = command("import sys; print(len(sys.stdin.read()), file=sys.stderr, flush=True)", stderr)
    notification = JSONRPCNotification(jsonrpc="2.0", method="notifications/x", params={"text": "x" * 300_000})
    with trio.fail_after(120):
        async with process.open() as (_, write):
            await write.send(SessionMessage(notification))
        (received,) = stderr
        assert int(received) > 300_000


async def test_what_is_not_a_message_is_an_error_item_and_the_next_message_is_read() -> None:
    script = (
        "import sys\n"
        "print('stray print')\n"
        'print(\'{"jsonrpc": "2.0", "method": "notifications/x"}\', flush=True)\n'
        "sys.stdin.read()\n"
    )
    with trio.fail_after(120):
        async with command(script, []).open() as (read, _):
            error, message = await read.receive(), await read.receive()
    assert isinstance(error, ProtocolViolation)
    assert error.head == b"stray print"
    assert isinstance(message, SessionMessage)


async def test_a_command_gets_the_directory_and_the_environment_of_the_options(tmp_path: Path) -> None:
    script = "import os, sys; sys.exit(f\"{os.environ['MARK']} {os.path.realpath('.')} {'PATH' in os.environ}\")"
    options = InspectorOptions(env={"MARK": "hello"}, cwd=str(tmp_path))
    with trio.fail_after(120):
        with pytest.raises(ConnectFailed, match=f"hello {tmp_path.resolve()} True"):
            async with InspectorClient([sys.executable, "-c", script], options):
                pytest.fail("connected to nothing")


async def test_a_directory_that_is_not_there_is_not_taken_for_a_missing_program(tmp_path: Path) -> None:
    with trio.fail_after(120):
        with pytest.raises(ConnectFailed, match=f"there is no directory '{tmp_path}/none' to run 'sh' in"):
            async with InspectorClient(["sh"], InspectorOptions(cwd=f"{tmp_path}/none")):
                pytest.fail("connected to nothing")


@pytest.mark.usefixtures("_unhurried")
async def test_what_is_still_written_to_standard_error_after_the_end_is_waited_for_shortly() -> None:
    script = (
        "import subprocess, sys\n"
        "sys.stdin.read()\n"
        "subprocess.Popen(['sh', '-c', 'sleep 0.05; echo late >&2'], start_new_session=True)\n"
    )
    stderr: list[str] = []
    with trio.fail_after(120):
        async with command(script, stderr).open():
            pass
    assert stderr == ["late"]
