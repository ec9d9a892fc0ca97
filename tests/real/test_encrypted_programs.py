"""Programs that dial in over TLS: nothing is in the clear, and who has come to the wrong port gets an error.

A witness stands at 127.0.0.2 between the program and the server, and keeps all that passes.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio

from tests.pythons import Interpreter
from tests.real.conftest import TEST_SECONDS, Connect, hits, text_of
from tests.real.interpreters import oldest_first
from tests.real.test_engine import NEW
from tests.server.scene import failure
from trio_debugmcp.dap import door_tls

if TYPE_CHECKING:
    import subprocess

pytestmark = [pytest.mark.real, pytest.mark.parametrize("python", oldest_first(NEW)[-1:])]

WORK = """
import os
import subprocess
import sys

def work(treasure):
    squared = treasure * treasure
    return squared

if "fork" in sys.argv and os.fork():
    os.wait()
elif "fork" in sys.argv:
    for number in range(20):
        work(number)
    os._exit(0)
if "spawn" in sys.argv:
    subprocess.run([sys.executable, __file__], check=True)
print(work(3), flush=True)
"""

LINE = 1 + WORK.splitlines().index("    return squared")


class Witness:
    """Passes bytes on between who comes to 127.0.0.2 and the server, and keeps them."""

    def __init__(self, target: str) -> None:
        self.host, _, port = target.rpartition(":")
        self.port = int(port)
        self.seen = bytearray()

    async def serve(self, stream: trio.SocketStream) -> None:
        there = await trio.open_tcp_stream(self.host, self.port)
        async with stream, there, trio.open_nursery() as nursery:
            nursery.start_soon(self.carry, stream, there)
            nursery.start_soon(self.carry, there, stream)

    async def carry(self, source: trio.SocketStream, target: trio.SocketStream) -> None:
        try:
            async for data in source:
                self.seen += data
                await target.send_all(data)
            await target.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            await trio.aclose_forcefully(target)


@asynccontextmanager
async def open_witness(target: str) -> AsyncIterator[tuple[Witness, str]]:
    """A witness of what passes to that address, and the address to pass by."""
    async with trio.open_nursery() as nursery:
        witness = Witness(target)
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.2")
        await nursery.start(trio.serve_listeners, witness.serve, [listener])
        yield witness, f"127.0.0.2:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


def by_way_of(line: str, address: str, place: str) -> str:
    """The line with another place to dial in at."""
    (host, _, port), (other, _, number) = address.rpartition(":"), place.rpartition(":")
    return line.replace(f"{host!r}, {port})", f"{other!r}, {number})").replace(
        f"'{host}', {port}", f"'{other}', {number}"
    )


async def run(python: Interpreter, directory: Path, line: str, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a worker with that line at its head to its end."""
    (directory / "worker.py").write_text(line + WORK)
    words = [python.path, "-X", "frozen_modules=off", str(directory / "worker.py"), *arguments]
    return await trio.run_process(words, capture_stdout=True, capture_stderr=True, check=False, env=dict(os.environ))


async def test_a_program_and_its_children_are_debugged_over_tls_and_nothing_is_in_the_clear(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        door = await client.call("debug_listen", tls=True)
        assert door["pin"] in door["python"]
        assert "notes" in door
        async with open_witness(door["address"]) as (witness, place):
            line = by_way_of(door["python"], door["address"], place)
            assert place.rpartition(":")[2] in line
            (tmp_path / "worker.py").write_text(line + WORK)
            await client.call(
                "breakpoint_set", file=str(tmp_path / "worker.py"), line=LINE, log_message="treasure {treasure}"
            )
            ended = await run(python, tmp_path, line, "fork", "spawn")
            assert (ended.returncode, ended.stdout) == (0, b"9\n9\n"), ended.stderr.decode()
            while (await client.call("debug_state", session_id=door["session"], full=True))["listening"]["connected"]:  # noqa: ASYNC110 (of the server)
                await trio.sleep(0.05)
        assert await hits(client) == {"tp-1": 22}, "of a fork, of a new interpreter, and its own"
        log = text_of(await client.call("process_read_output", stream="tracepoint"), "log")
        assert log.split("\n")[-2:-1] == ["treasure 3"]
        for word in (door["token"], "treasure", "Content-Length", "trio_debugmcp", "pydevd"):
            assert word.encode() not in witness.seen
        assert len(witness.seen) > 100_000, "the engine came this way"


async def test_at_a_port_with_another_certificate_the_line_raises_and_the_token_is_not_sent(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        door = await client.call("debug_listen", tls=True)
        line = door["python"].replace(door["pin"], "0" * 64)
        ended = await run(python, tmp_path, line)
        assert b"has another certificate than that of debug_listen: nothing was sent to it" in ended.stderr
        assert (await client.call("debug_state", session_id=door["session"], full=True))["listening"] == {
            "address": door["address"],
            "connected": 0,
            "dialedIn": 0,
        }


async def test_with_and_without_tls_at_the_wrong_port_the_line_raises_and_says_why(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    lines = []
    for tls in (False, True):
        async with debugging() as client:
            door = await client.call("debug_listen", tls=tls)
            lines.append((door["python"], door["address"]))
            async with debugging() as other:
                there = await other.call("debug_listen", tls=not tls)
                line = by_way_of(door["python"], door["address"], there["address"])
                with trio.fail_after(TEST_SECONDS):
                    ended = await run(python, tmp_path, line)
                why = b"does not speak TLS: is it the port" if tls else b"it does not speak TLS, and this port does"
                assert why in ended.stderr
                assert ended.returncode == 1


async def test_a_certificate_of_the_user_is_pinned_and_one_that_cannot_be_read_is_refused(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    door_tls._make(certificate, key)
    async with debugging() as client:
        for wrong in ({"tls_cert": str(certificate)}, {"tls_cert": str(tmp_path / "none"), "tls_key": str(key)}):
            assert (await failure(client, "debug_listen", **wrong)).code in ("INVALID_PARAMETER", "INVALID_PATH")
        swapped = await failure(client, "debug_listen", tls_cert=str(key), tls_key=str(certificate))
        assert swapped.message.startswith("There is no TLS: ")
        door = await client.call("debug_listen", tls_cert=str(certificate), tls_key=str(key))
        assert door["pin"] == door_tls.given_tls(str(certificate), str(key)).pin
        ended = await run(python, tmp_path, door["python"])
        assert (ended.returncode, ended.stdout) == (0, b"9\n"), ended.stderr.decode()
