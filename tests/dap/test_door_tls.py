"""TLS at the door for programs: who speaks it comes in, who does not is let run on, and no caller holds it up."""

import re
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

from tests.dap.test_dial_in import NOBODY, Pydevd, is_closed
from trio_debugmcp.dap import door_tls
from trio_debugmcp.dap.door_tls import DoorTls, given_tls, made_tls
from trio_debugmcp.dap.listener import Door
from trio_debugmcp.engine import FETCHES
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.probe.inside.tls_cipher import CipherError, TlsCipher

if TYPE_CHECKING:
    from trio_debugmcp.dap.incoming_connection import IncomingConnection


class Scene:
    """A door with TLS, who came in, and what was said about who did not."""

    def __init__(self, nursery: trio.Nursery, tls: DoorTls) -> None:
        self.nursery = nursery
        self.callers: list[IncomingConnection] = []
        self.refusals: list[str] = []
        self.opened: list[trio.abc.Stream] = []
        self.door = Door(nursery, self.callers.append, lambda _, why: self.refusals.append(why), tls=tls)

    def admit(self) -> trio.abc.Stream:
        """The other end of a connection to the door, in memory."""
        ours, theirs = memory_stream_pair()
        self.nursery.start_soon(self.door.admit, ours)
        return theirs

    def admit_socket(self) -> trio.SocketStream:
        """The same, as a socket."""
        ours, theirs = socket.socketpair()
        self.nursery.start_soon(self.door.admit, trio.SocketStream(trio.socket.from_stdlib_socket(ours)))
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(theirs))
        self.opened.append(stream)
        return stream


@asynccontextmanager
async def open_scene() -> AsyncIterator[Scene]:
    with trio.fail_after(1000):
        async with trio.open_nursery() as nursery:
            scene = Scene(nursery, made_tls())
            yield scene
            for stream in scene.opened:
                await stream.aclose()
            nursery.cancel_scope.cancel()


def trusting() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def test_a_debugger_that_speaks_tls_is_admitted_by_its_token(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        for token in (scene.door.token, "yesterday"):
            pydevd = Pydevd(trio.SSLStream(scene.admit(), trusting(), https_compatible=True), token, NOBODY)
            scene.nursery.start_soon(pydevd.run)
            await wait_all_tasks_blocked()
        assert [caller.pid for caller in scene.callers] == [NOBODY]
        assert scene.refusals == ["it does not know the token"]
        assert pydevd.was_released


async def test_a_debugger_without_tls_is_let_run_on_though_it_waits_to_be_spoken_to(
    autojump_clock: MockClock,
) -> None:
    async with open_scene() as scene:
        pydevd = Pydevd(scene.admit_socket(), scene.door.token)
        with trio.fail_after(door_tls.FIRST_WORD_SECONDS + 5):
            await pydevd.run()
        assert pydevd.commands == ["attach", "configurationDone", "disconnect"], "it is not asked for the token"
        assert "it does not speak TLS" in scene.refusals[0]


async def test_a_program_that_fetches_the_engine_without_tls_gets_an_error_that_says_so(
    autojump_clock: MockClock,
) -> None:
    async with open_scene() as scene:
        program = scene.admit_socket()
        await program.send_all(FETCHES + b"yesterday\n")
        _, _, code = b"".join([bytes(data) async for data in program]).partition(b"engine#\n")
        with pytest.raises(ConnectionError, match="it does not speak TLS, and this port does"):
            exec(code, {})


async def test_a_stranger_that_stops_in_the_midst_of_its_handshake_is_disconnected(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        strangers = scene.admit_socket(), scene.admit()
        for stranger in strangers:
            await stranger.send_all(b"\x16\x03\x01")
        with trio.fail_after(60):
            for stranger in strangers:
                assert await is_closed(stranger)
        nonsense = scene.admit()
        await nonsense.send_all(b"GET / HTTP/1.1\r\n\r\n")
        await wait_all_tasks_blocked()
        assert (scene.callers, scene.door.at_the_door) == ([], 0)


@pytest.mark.real
@pytest.mark.parametrize("without", [None, "cryptography"])
def test_a_certificate_is_made_for_the_port_and_no_key_is_left(
    without: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if without is not None:
        monkeypatch.setitem(sys.modules, without, None)
    first, second = made_tls(), made_tls()
    assert first.pin != second.pin
    assert repr(first) == f"<DoorTls {first.pin}>"
    assert list(tmp_path.iterdir()) == []


def test_without_anything_that_makes_a_certificate_the_error_has_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotRun, match=r"make one with `openssl req -x509 .* -keyout key.pem -out cert.pem`"):
        made_tls()


def test_files_without_a_certificate_and_its_key_are_refused(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    door_tls._make(certificate, key)
    assert len(given_tls(str(certificate), str(key)).pin) == 64
    for pair in ((key, certificate), (tmp_path / "absent", key)):
        with pytest.raises(CannotRun, match="pass a certificate and its key, as PEM"):
            given_tls(str(pair[0]), str(pair[1]))
    with pytest.raises(CannotRun, match=re.escape(f"{tmp_path}/absent: No such file")):
        given_tls(str(tmp_path / "absent"), str(key))


class Peer:
    """The other side of TLS, in memory."""

    def __init__(self) -> None:
        self.tls = made_tls()
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.side = self.tls.context.wrap_bio(self.incoming, self.outgoing, server_side=True)

    def shake_hands(self, cipher: TlsCipher) -> None:
        received, done = b"", False
        while not done:
            done, sent = cipher.step(received)
            self.incoming.write(sent)
            with suppress(ssl.SSLWantReadError):
                self.side.do_handshake()
            received = self.outgoing.read()


needs_sha2 = pytest.mark.skipif(sys.version_info < (3, 12), reason="the engine is for 3.12 and newer")


def test_what_the_engines_side_of_tls_seals_the_other_side_opens_and_back_in_any_pieces() -> None:
    cipher, peer = TlsCipher(), Peer()
    peer.shake_hands(cipher)
    text = b"x" * 100_000
    sealed = cipher.sealed(text)
    assert text[:100] not in sealed
    peer.incoming.write(sealed)
    assert b"".join(iter(lambda: peer.side.read(1 << 20) if peer.incoming.pending else b"", b"")) == text
    peer.side.write(text)
    sent = peer.outgoing.read()
    pieces = [sent[start : start + 1000] for start in range(0, len(sent), 1000)]
    assert b"".join(map(cipher.opened, pieces)) == text
    with pytest.raises(CipherError):
        cipher.opened(b"\x17\x03\x03\x00\x05wrong")


@needs_sha2
def test_the_engines_side_of_tls_knows_the_certificate_by_its_fingerprint() -> None:
    cipher, peer = TlsCipher(), Peer()
    peer.shake_hands(cipher)
    assert cipher.fingerprint() == peer.tls.pin
