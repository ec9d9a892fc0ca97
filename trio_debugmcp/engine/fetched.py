"""The engine for programs that fetch it by one line of Python, and need nothing installed.

    line = fetching_line("127.0.0.1", 5678, token)      # for the user, to put into the program
    await stream.send_all(fetched_code(token))          # to one that shows the token at that address

A Python on which the engine was not tried connects by debugpy instead, which must be installed for it then.
"""

import marshal

from trio_debugmcp.engine import TRIED, carrier

FETCHES = b"trio_debugmcp engine "
"""How a connection begins that fetches the engine; the token follows, then a line break."""

_BEGINS = b"#trio_debugmcp engine#\n"
"""What comes before is not for this caller: the door speaks first, and to debuggers."""

_FETCHED = """
def begin(host, port, token):
    import sys

    if sys.version_info[:2] not in TRIED or sys.implementation.name != "cpython":
        import debugpy

        if not debugpy.is_client_connected():
            debugpy.connect((host, port), access_token=token)
        return
    own = {"sources": SOURCES, "blobs": "", "home": "", "site": SITE}
    bring_in({**own, "host": host, "port": port, "token": token}, "arrive_here")


begin(*address[:2], TOKEN)
"""


def fetching_line(host: str, port: int, token: str) -> str:
    """Return the line. It returns when the breakpoints hold in the program, or at once where the engine is already."""
    greeting = FETCHES + token.encode() + b"\n"
    is_there = "hasattr(sys, 'monitoring') and 'trio_debugmcp' in map(sys.monitoring.get_tool, (3, 4))"
    fetch = (
        f"(lambda door: (door.sendall({greeting!r}), exec(door.makefile('rb').read().partition({_BEGINS!r})[2], "
        "{'address': door.getpeername()})))"
    )
    return f"import socket, sys; {is_there} or {fetch}(socket.create_connection(({host!r}, {port})))"


def fetched_code(token: str) -> bytes:
    """Return what is sent to a program that has shown the token: code that it executes, with the engine in it."""
    calls = _FETCHED.replace("TOKEN", repr(token)).replace("TRIED", repr(TRIED))
    site = carrier.BRING_IN + carrier.AT_START
    calls = calls.replace("SITE", repr(site)).replace("SOURCES", repr(marshal.dumps(carrier.sources(), 2)))
    return _BEGINS + (carrier.BRING_IN + calls).encode()
