"""Bytes that no debug adapter should send: broken framing, broken JSON, and JSON that is not a DAP message. Pure."""

import json
from typing import Any

from trio_debugmcp.dap.codec import encode_frame

NOT_AT_ALL = b"Traceback (most recent call last):\n  File 'adapter', line 1\nModuleNotFoundError: No module named 'x'\n"
"""What an adapter prints that fails to start."""

NO_LENGTH = b"Content-Type: application/vscode-jsonrpc\r\n\r\n{}"
LENGTH_NO_NUMBER = b"Content-Length: many\r\n\r\n{}"
LENGTH_HUGE = b"Content-Length: 99999999999999\r\n\r\n{}"
HEADER_ENDLESS = b"X-Padding: " + b"x" * 10_000
BODY_EMPTY = b"Content-Length: 0\r\n\r\n"

NO_JSON = encode_frame(b"{seq: 1, type: 'event'}")
NO_UTF_8 = encode_frame(b'{"seq": 1, "type": "event", "event": "output", "body": {"output": "\xff\xfe caf\xe9"}}')
HALF_A_CHARACTER = encode_frame(rb'{"seq": 1, "type": "event", "event": "output", "body": {"output": "\ud83d"}}')
NESTED = encode_frame(b'{"seq": 1, "type": "event", "event": "odd", "body": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def framed(message: Any) -> bytes:
    """Frame a message, however odd."""
    return encode_frame(json.dumps(message).encode())


NO_OBJECT = framed([{"seq": 1, "type": "event", "event": "output"}])
NO_TYPE = framed({"seq": 1, "event": "output"})
UNKNOWN_TYPE = framed({"seq": 1, "type": "hello"})
WRONG_TYPES = framed({"seq": "1", "type": "response", "request_seq": "1", "success": "yes"})


def event(name: str, body: Any = None) -> bytes:
    """Frame an event with any body."""
    return framed({"seq": 1, "type": "event", "event": name, "body": body})


BODIES_WRONG = (
    b"".join(
        event(name, body)
        for name in ("thread", "module", "breakpoint", "output", "capabilities", "process", "unheardOf")
        for body in ([1, 2], "text", 7, {"reason": 1, "threadId": "one", "output": [], "module": None})
    )
    + event("stopped", {"reason": 1})
    + event("exited", {"exitCode": "none"})
)
"""Known events with the wrong bodies, and an unknown one."""

CAPABILITIES_WRONG = event("capabilities", {"capabilities": {"supportsStepBack": "perhaps"}})

NUMBERS_HUGE = b"".join(
    (
        event("thread", {"reason": "started", "threadId": 2**80}),
        event("process", {"name": "app", "systemProcessId": 2**80}),
        event("module", {"reason": "new", "module": {"id": 2**80, "name": "m"}}),
    )
)
"""Numbers too large for a machine word."""

RESPONSE_TO_NO_REQUEST = framed(
    {"seq": 1, "type": "response", "request_seq": 424242, "success": True, "command": "threads"}
)
UNKNOWN_REQUEST = framed({"seq": 1, "type": "request", "command": "makeCoffee", "arguments": {"sugar": True}})
_ARGUMENTS: tuple[Any, ...] = (None, [], {"args": "ls"}, {"args": [], "cwd": "/"}, {"request": 1})
SENSELESS_REQUESTS = b"".join(
    framed({"seq": 1, "type": "request", "command": command, "arguments": arguments})
    for command in ("runInTerminal", "startDebugging")
    for arguments in _ARGUMENTS
)
