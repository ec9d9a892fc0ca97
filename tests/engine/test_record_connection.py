"""The connection for records, where signal handlers raise while one is sent."""

import json
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.engine.test_catching import INTERPRETERS, ROOT
from trio_debugmcp.dap import door_tls

pytestmark = pytest.mark.real

WRITES = """\
import _socket
import json
import signal
import sys

from trio_debugmcp.engine.inside.probe_host import EngineServices
from trio_debugmcp.probe.inside import record_connection
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramDebugger, RecordPeer

PORT, PIN, COUNT, SIZE = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

class Late(Exception):
    pass

def late(*_):
    raise Late

class Debugger(EngineServices, ProgramDebugger):
    def __init__(self):
        pass

    def record_peer(self):
        return RecordPeer(_socket.AF_INET, ("127.0.0.1", PORT), "token", PIN)

    def tell_at_stops(self, written):
        pass

attached.attach(Debugger())
signal.signal(signal.SIGALRM, late)
line = record_connection.open_line("7")
before, interrupted = [], 0
for number in range(COUNT):
    record = (json.dumps([number, "x" * SIZE]) + "\\n").encode()
    try:
        try:
            written = line.written
            signal.setitimer(signal.ITIMER_REAL, 0.00002 * (number + 1))
            line.write(record)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Late:
        interrupted += 1
    if line.written > written:
        before.append(number)
line.close()
print(json.dumps([before, interrupted]))
"""

COUNT = 60
SIZE = 100_000
"""Several records of TLS."""


@pytest.mark.parametrize("version", INTERPRETERS)
@pytest.mark.parametrize("has_tls", [False, True], ids=["plain", "TLS"])
def test_each_record_is_sent_once_and_whole_whatever_signal_handlers_raise_meanwhile(
    has_tls: bool, version: str, tmp_path: Path
) -> None:
    certificate, key, pin = tmp_path / "cert.pem", tmp_path / "key.pem", ""
    if has_tls:
        door_tls._make(certificate, key)
        pin = door_tls.given_tls(str(certificate), str(key)).pin
    with socket.create_server(("127.0.0.1", 0)) as door:
        argv = [INTERPRETERS[version], "-c", WRITES, str(door.getsockname()[1]), pin, str(COUNT), str(SIZE)]
        with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
            door.settimeout(60)
            peer, _ = door.accept()
            peer.settimeout(60)
            if has_tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate, key)
                context.num_tickets = 0  # where such are unread at the close, the end of what was sent is lost
                peer = context.wrap_socket(peer, server_side=True, suppress_ragged_eofs=True)
            with peer:
                assert peer.recv(4096) == b"trio_debugmcp records token 7\n"
                peer.sendall(b"\0")
                stream = b"".join(iter(lambda: peer.recv(1 << 20), b""))
            assert writer.stdout is not None
            written, interrupted = json.loads(writer.stdout.read())
    assert [json.loads(line)[0] for line in stream.splitlines()] == written
    assert interrupted > 0
