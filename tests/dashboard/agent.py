"""The other client: an agent on standard input and output, as plain JSON lines, so that nothing here needs a loop."""

import json
import os
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests import warm

READY_SECONDS = 300
ANSWER_SECONDS = 300
WAIT_SECONDS = 600
END_SECONDS = 120
"""A server that has lost its last client ends by itself; a test that failed may have left a page to one."""

CONTROL_TOKEN = "control-token-of-the-test"
OBSERVE_TOKEN = "observe-token-of-the-test"


class Agent:
    """A server process with its port, and the client that drives it."""

    def __init__(
        self,
        directory: Path,
        port: int = 0,
        options: Sequence[str] = (),
        name: str = "agent",
        command: Sequence[str] = ("serve",),
    ) -> None:
        self.directory = directory
        self._said = ""
        tokens = ["--token", CONTROL_TOKEN, "--observe-token", OBSERVE_TOKEN]
        self._process = subprocess.Popen(
            warm.server(*command, "--ws", f"127.0.0.1:{port}", *tokens, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=directory,
        )
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._words: queue.Queue[str] = queue.Queue()
        self._results: dict[int, dict[str, Any]] = {}
        self._threads = [
            threading.Thread(target=self._read_answers, daemon=True),
            threading.Thread(target=self._read_words, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._next_id = 1
        self.port = int(self.announced(r"http://127\.0\.0\.1:(\d+)/"))
        self.request(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": name, "version": "1.0"},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def url(self, token: str) -> str:
        """The page, as a person with that token opens it."""
        return f"http://127.0.0.1:{self.port}/#token={token}"

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return its result."""
        return self.answer(self.begin(method, **params))

    def begin(self, method: str, **params: Any) -> int:
        """Send a request, and return its number."""
        number = self._next_id
        self._next_id += 1
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def begin_call(self, tool: str, **arguments: Any) -> int:
        """Call a tool that waits for the program or a person, for longer than any test takes; return its number."""
        return self.begin("tools/call", name=tool, arguments={"timeout": WAIT_SECONDS, **arguments})

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the result of a request, and return it. Results of others are kept, and notifications dropped."""
        while number not in self._results:
            message = self._answers.get(timeout=ANSWER_SECONDS)
            if "id" in message and "method" not in message:
                self._results[message["id"]] = message["result"] if "result" in message else message["error"]
        return self._results.pop(number)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return its structured result."""
        result = self.request("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def cancel(self, number: int) -> None:
        """Cancel a request."""
        self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    def resource(self, uri: str) -> str:
        """Read a resource, and return its text."""
        text: str = self.request("resources/read", uri=uri)["contents"][0]["text"]
        return text

    def tool_calls(self) -> list[dict[str, Any]]:
        """Every client's tool calls, as the timeline has them."""
        events = self.call("timeline_query", types=["toolCalled"], full=True)["events"]
        return [event["payload"] for event in events]

    def disconnect(self) -> None:
        """Close standard input, which ends the server when no other client is connected. May be called twice."""
        if not self._threads:
            return
        self.leave()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._close()

    def freeze(self) -> None:
        """Stop the server, as a machine that falls asleep does: its connections stay open, and silent."""
        os.kill(self.server_process(), signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server run again."""
        os.kill(self.server_process(), signal.SIGCONT)

    def server_process(self) -> int:
        """The process that serves the port: `self._process` only stands in for it (tests/warm)."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        inodes = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(f":{self.port:04X}") and row[3] == "0A"}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):  # the process has ended meanwhile, or is another user's
                if any(_link(f"/proc/{pid}/fd/{number}") in inodes for number in os.listdir(f"/proc/{pid}/fd")):
                    return int(pid)
        raise AssertionError(f"nobody listens on port {self.port}")

    def leave(self) -> None:
        """Close standard input, as a client does that is gone; the server stays while a page is connected."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def kill(self) -> None:
        """Kill the server, so that it cannot say goodbye."""
        self._process.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._close()

    def _close(self) -> None:
        self._process.wait()
        while self._threads:
            self._threads.pop().join()
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(json.loads(line))

    def _read_words(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._words.put(line)

    def announced(self, pattern: str) -> str:
        """Wait until the server has written something to standard error, and return its first group."""
        while (found := re.search(pattern, self._said)) is None:
            try:
                self._said += self._words.get(timeout=READY_SECONDS)
            except queue.Empty:
                raise AssertionError(f"the server did not announce {pattern!r}: {self._said}") from None
        return found[1]


def _link(path: str) -> str:
    """Where a link leads; empty if it is there no more."""
    try:
        return os.readlink(path)
    except OSError:
        return ""
