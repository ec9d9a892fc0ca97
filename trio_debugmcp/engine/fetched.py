"""The engine for programs that fetch it by one line of Python, and need nothing installed.

    line = fetching_line("127.0.0.1", 5678, token)      # for the user, to put into the program
    await stream.send_all(fetched_code(token))          # to one that shows the token at that address

A Python on which the engine was not tried connects by debugpy instead, which must be installed for it then.
"""

import marshal

from trio_debugmcp.engine import FETCHES, TRIED, carrier

_BEGINS = b"#trio_debugmcp engine#\n"
"""What comes before is not for this caller: the door speaks first, and to debuggers."""

_FETCHED = """
def begin(host, port, token):
    import sys

    if sys.version_info[:2] not in TRIED or sys.implementation.name != "cpython":
        if PIN:
            raise RuntimeError(
                "debugpy does not speak TLS, as this port does: have `trio-debugmcp relay` bring this program in, or "
                "run it with CPython 3.12 or 3.13"
            )
        import debugpy

        if not debugpy.is_client_connected():
            debugpy.connect((host, port), access_token=token)
        return
    own = {"sources": SOURCES, "blobs": "", "home": "", "site": SITE}
    bring_in({**own, "host": host, "port": port, "token": token, "pin": PIN}, "arrive_here")


begin(*address[:2], TOKEN)
"""


_FETCH_WITH_TLS = """
import hashlib, socket, ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
try:
    door = context.wrap_socket(socket.create_connection(({host!r}, {port}), {seconds}))
except ssl.SSLError as error:
    raise ConnectionError('{host}:{port} does not speak TLS: is it the port that debug_listen has opened?') from error
if hashlib.sha256(door.getpeercert(True)).hexdigest() != {pin!r}:
    raise ConnectionError('{host}:{port} has another certificate than that of debug_listen: nothing was sent to it')
address = door.getpeername()
door.sendall({greeting!r})
exec(door.makefile('rb').read().partition({begins!r})[2], {{'address': address}})
"""

_FETCH_SECONDS = 15
"""For each wait of the line with TLS; without a word from the other side it raises an exception then."""


def fetching_line(host: str, port: int, token: str, pin: str = "") -> str:
    """Return the line. It returns when the breakpoints hold in the program, or at once where the engine is already.

    `pin`: the fingerprint of the port's certificate, if it speaks TLS; one that has another is sent nothing.
    """
    greeting = FETCHES + token.encode() + b"\n"
    is_there = "hasattr(sys, 'monitoring') and 'trio_debugmcp' in map(sys.monitoring.get_tool, (3, 4))"
    if pin:
        text = _FETCH_WITH_TLS.format(
            host=host, port=port, pin=pin, greeting=greeting, begins=_BEGINS, seconds=_FETCH_SECONDS
        )
        return f"import sys; {is_there} or exec({text.strip()!r}, {{}})"
    fetch = (
        f"(lambda door: (door.sendall({greeting!r}), exec(door.makefile('rb').read().partition({_BEGINS!r})[2], "
        "{'address': door.getpeername()})))"
    )
    return f"import socket, sys; {is_there} or {fetch}(socket.create_connection(({host!r}, {port})))"


def fetched_code(token: str, pin: str = "") -> bytes:
    """Return what is sent to a program that has shown the token: code that it executes, with the engine in it."""
    calls = _FETCHED.replace("TOKEN", repr(token)).replace("TRIED", repr(TRIED)).replace("PIN", repr(pin))
    site = carrier.BRING_IN + carrier.AT_START
    calls = calls.replace("SITE", repr(site)).replace("SOURCES", repr(marshal.dumps(carrier.sources(), 2)))
    return _BEGINS + (carrier.BRING_IN + calls).encode()


def refusing_code(why: str) -> bytes:
    """Return what is sent to a program that fetches the engine and does not get it: code that says why."""
    return _BEGINS + f"raise ConnectionError({why!r})\n".encode()
