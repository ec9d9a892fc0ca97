"""Ports for servers that cannot be asked which one they got."""

import socket
from contextlib import suppress
from pathlib import Path
from random import SystemRandom

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")

FIRST, USUAL_END = 10_000, 32_768


def free_port() -> int:
    """Return a port without a listener.

    It is none of those that the system gives to another test meanwhile, which asks for any port.
    """
    end = int(RANGE.read_text().split()[0]) if RANGE.exists() else USUAL_END
    while True:
        port = SystemRandom().randrange(FIRST, max(end, FIRST + 1000))
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("127.0.0.1", port))
            return port
