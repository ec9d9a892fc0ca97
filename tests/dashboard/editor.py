"""An editor on `--dap`, beside the agent: plain and synchronous, as the agent is."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.dashboard.agent import CONTROL_TOKEN, Agent


class Editor:
    """An editor beside the agent: a client of the Debug Adapter Protocol, as plain bytes."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream, self._lines, self._number = stream, stream.makefile("rb"), 0

    def ask(self, command: str, *, answer: str | None = None, **arguments: Any) -> None:
        """Send a request, and read until it is answered, or until that event."""
        self._number += 1
        request = {"seq": self._number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(request).encode()
        self._stream.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        while True:
            message = self._read()
            assert message.get("success", True), message
            if message.get("event", message.get("command")) == (answer or command):
                return

    def _read(self) -> dict[str, Any]:
        length = 0
        while (line := self._lines.readline().strip()) or not length:
            length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self._lines.read(length))
        return message

    def close(self) -> None:
        self._lines.close()


@contextmanager
def editor_beside(agent: Agent, name: str = "Neovim") -> Iterator[Editor]:
    """Attach an editor of that name to the agent's session, for the length of the block."""
    port = int(agent.announced(r"dap: 127\.0\.0\.1:(\d+)"))
    with socket.create_connection(("127.0.0.1", port), timeout=120) as stream:
        editor = Editor(stream)
        editor.ask("initialize", clientID="neovim", clientName=name, adapterID="x")
        editor.ask("attach", answer="initialized", token=CONTROL_TOKEN)
        editor.ask("configurationDone")
        editor.ask("threads")
        yield editor
        editor.close()
