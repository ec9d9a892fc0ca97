"""Adapters that listen on a socket: how they are reached, whose their streams are, and what is reported if they fail.

The adapters are small Python programs, with real processes and sockets.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from tests.faults.leftovers import descriptors
from tests.ports import free_port
from trio_debugmcp.dap import adapter as adapters
from trio_debugmcp.dap.adapter import ListeningAdapter, open_listening_adapter
from trio_debugmcp.dap.process import Watchdog, environment
from trio_debugmcp.dap.sockets import TcpAddress, UnixAddress
from trio_debugmcp.errors import AdapterGone, CannotRun
from trio_debugmcp.patience import Patience

ANNOUNCED = ListeningAdapter(announced=re.compile(rb"listening at (\d+)\n"))

pytestmark = pytest.mark.real

LISTENER = """
import os, socket, sys
def say(text, to=sys.stdout):
    to.write(text)
    to.flush()
listener = socket.socket({family})
listener.bind({address})
{before}
listener.listen()
say(f"listening at {{listener.getsockname()[1]}}\\n")
stream, _ = listener.accept()
stream.sendall(b"hello from " + os.getcwd().encode())
{after}
while stream.recv(1): pass
"""


def listener(family: str = "", address: str = '("127.0.0.1", 0)', before: str = "", after: str = "") -> list[str]:
    return [sys.executable, "-c", LISTENER.format(family=family, address=address, before=before, after=after)]


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    watchdog = Watchdog()
    yield watchdog
    watchdog.close()


async def test_an_adapter_is_reached_at_the_port_that_it_announces(watchdog: Watchdog, tmp_path: Path) -> None:
    before = "say('starting\\n'); say('a warning\\n', sys.stderr)"
    with trio.fail_after(120):
        async with open_listening_adapter(listener(before=before), ANNOUNCED, watchdog, cwd=str(tmp_path)) as adapter:
            assert await adapter.stream.receive_some() == f"hello from {tmp_path}".encode()
            assert isinstance(adapter.address, TcpAddress)
            assert (adapter.process, adapter.is_program) == (None, False)
            while "a warning" not in adapter.stderr_tail:
                await trio.sleep(0.01)
        assert "starting\nlistening at" in adapter.stderr_tail


async def test_an_announcement_may_come_in_pieces_and_on_standard_error(watchdog: Watchdog) -> None:
    argv = listener(before="say('listening', sys.stderr); import time; time.sleep(0.1)")
    argv[-1] = argv[-1].replace('say(f"listening', 'say(f"').replace('\\n")', '\\n", sys.stderr)')
    with trio.fail_after(120):
        async with open_listening_adapter(argv, ANNOUNCED, watchdog) as adapter:
            assert (await adapter.stream.receive_some()).startswith(b"hello")


@pytest.mark.parametrize("kind", ["given port", "unix socket"])
async def test_an_adapter_that_is_given_where_to_listen_is_tried_until_it_does(
    watchdog: Watchdog, tmp_path: Path, kind: str
) -> None:
    address: TcpAddress | UnixAddress
    if kind == "given port":
        address = TcpAddress("127.0.0.1", free_port())
        argv = listener(address=f'("127.0.0.1", {address.port})', before="import time; time.sleep(0.2)")
    else:
        path = str(tmp_path / "s")
        argv, address = listener(family="socket.AF_UNIX", address=repr(path)), UnixAddress(path)
    with trio.fail_after(120):
        async with open_listening_adapter(argv, ListeningAdapter(address=address), watchdog) as adapter:
            assert (await adapter.stream.receive_some()).startswith(b"hello")
            assert adapter.address == address


async def test_the_streams_of_its_process_are_the_programs_after_the_announcement(watchdog: Watchdog) -> None:
    argv = listener(
        before="say('of the adapter\\n')",
        after="say('adapter: connected\\nitem\\n'); say('oops\\n', sys.stderr); say(sys.stdin.readline()); os._exit(7)",
    )
    listening = ListeningAdapter(announced=ANNOUNCED.announced, part="program", own_lines=("adapter: ",))
    with trio.fail_after(120):
        async with open_listening_adapter(argv, listening, watchdog) as adapter:
            program = adapter.process
            assert program is not None
            assert adapter.is_program
            assert program.pid == adapter.pid
            assert program.stdin is not None
            assert program.stdout is not None
            assert program.stderr is not None
            await program.stdin.send_all(b"typed\n")
            said = b"".join([bytes(each) async for each in program.stdout])
            assert (said, await program.stderr.receive_some()) == (b"item\ntyped\n", b"oops\n")
            assert await program.wait() == 7
        assert adapter.stderr_tail.startswith("of the adapter\nlistening at")
        assert adapter.stderr_tail.endswith("adapter: connected")


@pytest.mark.parametrize(
    ("script", "reason", "said"),
    [
        ("import sys; sys.exit('no such module')", "it ended with exit code 1 before it listened", "no such module"),
        ("print('listening at nothing')", "it ended with exit code 0 before it listened", "listening at nothing"),
        # A child that keeps the pipes open does not delay the report.
        (
            "import subprocess, sys; subprocess.Popen(['sleep', '60']); sys.exit(3)",
            "it ended with exit code 3 before it listened",
            "",
        ),
    ],
)
async def test_one_that_ends_before_it_listens_is_reported_with_its_last_words(
    watchdog: Watchdog, script: str, reason: str, said: str
) -> None:
    with trio.fail_after(120), pytest.raises(AdapterGone, match=reason) as gone:
        async with open_listening_adapter([sys.executable, "-c", script], ANNOUNCED, watchdog):
            pass
    assert gone.value.stderr_tail == said


async def test_one_that_stays_silent_is_given_up_and_leaves_nothing_behind(
    watchdog: Watchdog, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = [sys.executable, "-c", "import time; print('wait', flush=True); time.sleep(60)"]
    with trio.fail_after(120):
        async with open_listening_adapter(listener(), ANNOUNCED, watchdog):
            pass
        monkeypatch.setattr(adapters, "LISTEN_SECONDS", 0.3)
        before = descriptors()
        with pytest.raises(AdapterGone, match=r"^it did not listen for a connection within 0\.3 s$"):
            async with open_listening_adapter(argv, ANNOUNCED, watchdog):
                pass
        assert descriptors() <= before


async def test_one_that_cannot_be_run_is_reported_so(watchdog: Watchdog) -> None:
    with pytest.raises(CannotRun, match="No such file"):
        async with open_listening_adapter(["/nowhere/dlv"], ANNOUNCED, watchdog):
            pass


async def test_its_process_does_not_wait_for_the_end_of_its_input_to_be_ended() -> None:
    # Its input is not DAP: that it was closed says nothing to it.
    watchdog = Watchdog(Patience(1000))  # which would wait for minutes
    async with open_listening_adapter(listener(), ANNOUNCED, watchdog, env=environment({})):
        began = trio.current_time()
    assert trio.current_time() - began < 120
    watchdog.close()
