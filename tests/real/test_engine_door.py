"""What is said to the engine by one that knows the token: each request is answered, and the program lives."""

import json
import random
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import pytest

from tests.pythons import Interpreter
from tests.real.interpreters import oldest_first
from tests.real.test_engine import NEW
from trio_debugmcp.engine.carrier import made_carrier

pytestmark = pytest.mark.parametrize("python", oldest_first(NEW))

TEST_SECONDS = 300

HOST = "127.0.0.1"

PROGRAM = """\
import threading

def total(count):
    found = {"a": [1, 2, count]}
    return found

thread = threading.Thread(target=lambda: [total(1).clear() for _ in range(30)])
thread.start()
thread.join()
total(3)
print("ended")
"""

HELD_AT = 10

COMMANDS = [
    *("initialize", "launch", "attach", "setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints", "pause"),
    *("gotoTargets", "goto", "stepInTargets", "evaluate", "setExpression", "trioDebugmcp/ask", "threads", "stackTrace"),
    *(
        "exceptionInfo",
        "source",
        "modules",
        "completions",
        "scopes",
        "variables",
        "setVariable",
        "recordEnd",
        "pydevdSystemInfo",
    ),
    *("nothing", "__class__"),
]
"""Those that do not let it run."""

NAMES = [
    *(
        "threadId",
        "frameId",
        "variablesReference",
        "breakpoints",
        "source",
        "path",
        "line",
        "condition",
        "logMessage",
        "filters",
    ),
    *(
        "exceptionOptions",
        "expression",
        "context",
        "format",
        "names",
        "start",
        "count",
        "name",
        "value",
        "targetId",
        "text",
        "column",
    ),
    *(
        "startFrame",
        "levels",
        "question",
        "parameters",
        "rules",
        "pathMappings",
        "sourceReference",
        "hex",
        "filter",
        "breakMode",
    ),
    *("atStops",),
]

PLAIN: list[Any] = [None, True, -1, 0, 1, 2**70, 1.5, "", "x\ud800\0", "found"]

NO_REQUESTS = [
    *(b"null", b"[]", b"5", b'"text"', b"{", b"\xff\xfe", b"", b"[" * 100_000, b'{"type":"request"}', b'{"seq":1}'),
    *(b'{"type":"request","command":5,"seq":1}', b'{"type":"request","command":"threads","seq":1e999}'),
    *(b'{"type":"nonsense","seq":4}', b'{"type":"request","command":"threads","seq":1,"arguments":[1]}'),
]


class Door:
    """The debugger's end of the connection."""

    def __init__(self, connection: socket.socket, stream: BufferedReader) -> None:
        connection.settimeout(TEST_SECONDS)
        self._connection, self._stream = connection, stream
        self._sent = 10

    def write(self, data: bytes) -> None:
        self._connection.sendall(data)

    def send(self, body: bytes) -> None:
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def read(self) -> Any:
        head = self._stream.readline()
        assert self._stream.readline() == b"\r\n"
        return json.loads(self._stream.read(int(head.partition(b": ")[2])))

    def read_until(self, kind: str, name: object, value: object) -> Any:
        while (message := self.read())["type"] != kind or message[name] != value:
            pass
        return message

    def ask(self, command: str, arguments: object) -> Any:
        self._sent += 1
        request = {"seq": self._sent, "type": "request", "command": command, "arguments": arguments}
        self.send(json.dumps(request).encode())
        return self.read_until("response", "request_seq", self._sent)

    def is_closed(self) -> bool:
        try:
            while self._stream.read(1):
                pass
        except ConnectionResetError:
            pass
        return True


@contextmanager
def dialed_in(python: Interpreter, folder: Path) -> Iterator[tuple[subprocess.Popen[str], Door]]:
    """A program whose engine has dialed in, and waits for what is said to it."""
    file = folder / "program.py"
    file.write_text(PROGRAM)
    with socket.create_server((HOST, 0)) as server, made_carrier(HOST, server.getsockname()[1], "token") as carrier:
        environment = {"PYTHONPATH": carrier.python_path(None)}
        pipe = subprocess.PIPE
        argv = [python.path, str(file)]
        with subprocess.Popen(argv, env=environment, stdout=pipe, stderr=subprocess.STDOUT, text=True) as program:
            try:
                server.settimeout(TEST_SECONDS)
                connection, _ = server.accept()
                with connection, connection.makefile("rb") as stream:
                    door = Door(connection, stream)
                    assert door.read()["body"]["clientAccessToken"] == "token"
                    yield program, door
            finally:
                program.kill()


def stopped(door: Door, folder: Path) -> int:
    """Have the program run to a breakpoint; return the number of its thread."""
    door.ask("initialize", {})
    door.ask("launch", {})
    place = {"source": {"path": str(folder / "program.py")}, "breakpoints": [{"line": HELD_AT}]}
    assert door.ask("setBreakpoints", place)["success"]
    assert door.ask("configurationDone", None)["success"]
    thread: int = door.read_until("event", "event", "stopped")["body"]["threadId"]
    return thread


def ended(door: Door, program: "subprocess.Popen[str]", folder: Path, thread: int) -> str:
    """Let the program run to its end; return what it has printed."""
    for command in ("setFunctionBreakpoints", "setExceptionBreakpoints"):
        door.ask(command, {"breakpoints": [], "filters": []})
    door.ask("setBreakpoints", {"source": {"path": str(folder / "program.py")}, "breakpoints": []})
    assert door.ask("continue", {"threadId": thread})["success"]
    return program.communicate(timeout=TEST_SECONDS)[0]


def any_value(rng: random.Random, depth: int = 0) -> Any:
    match rng.randrange(len(PLAIN) + (4 if depth < 3 else 0)) - len(PLAIN):
        case 0 | 1:
            return [any_value(rng, depth + 1) for _ in range(rng.randrange(4))]
        case 2 | 3:
            return {rng.choice(NAMES): any_value(rng, depth + 1) for _ in range(rng.randrange(5))}
        case below:
            return PLAIN[below]


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_a_request_has_for_arguments_it_is_answered_and_the_program_runs_on(
    python: Interpreter, seed: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    with dialed_in(python, tmp_path) as (program, door):
        thread = stopped(door, tmp_path)
        for _ in range(300):
            arguments = {rng.choice(NAMES): any_value(rng) for _ in range(rng.randrange(6))}
            answer = door.ask(rng.choice(COMMANDS), rng.choice([arguments, arguments, arguments, any_value(rng)]))
            assert answer["success"] or answer["message"]
        assert door.ask("stackTrace", {"threadId": thread})["success"]
        assert ended(door, program, tmp_path, thread) == "ended\n"
        assert program.returncode == 0


def test_what_is_not_a_request_is_refused_and_the_program_runs_on(python: Interpreter, tmp_path: Path) -> None:
    with dialed_in(python, tmp_path) as (program, door):
        thread = stopped(door, tmp_path)
        for body in NO_REQUESTS:
            door.send(body)
            answer = door.read_until("response", "success", False)
            assert "is to be" in answer["message"] or "are to be" in answer["message"], answer
        assert ended(door, program, tmp_path, thread) == "ended\n"
        assert program.returncode == 0


@pytest.mark.parametrize("at", ["the start", "a stop"])
@pytest.mark.parametrize(
    "data",
    [b"Content-Length: -5\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: 9999999999\r\n\r\n{", b"\n" * 9999],
)
def test_what_has_no_length_ends_the_connection_and_the_program_runs_on(
    python: Interpreter, at: str, data: bytes, tmp_path: Path
) -> None:
    with dialed_in(python, tmp_path) as (program, door):
        if at == "a stop":
            stopped(door, tmp_path)
        door.write(data)
        assert door.is_closed()
        assert program.communicate(timeout=TEST_SECONDS)[0] == "ended\n"
        assert program.returncode == 0


def test_the_numbers_inside_of_a_list_are_hexadecimal_where_an_editor_wants_them_so(
    python: Interpreter, tmp_path: Path
) -> None:
    with dialed_in(python, tmp_path) as (program, door):
        thread = stopped(door, tmp_path)
        frame = door.ask("stackTrace", {"threadId": thread})["body"]["stackFrames"][0]["id"]
        wanted = {"frameId": frame, "format": {"hex": True}}
        shown = door.ask("evaluate", {**wanted, "expression": "[10, {'k': (255, True)}]"})["body"]
        assert shown["result"] == "[0xa, {'k': (0xff, True)}]"
        inside = {"variablesReference": shown["variablesReference"], "format": {"hex": True}}
        values = [each["value"] for each in door.ask("variables", inside)["body"]["variables"]]
        assert values[:2] == ["0xa", "{'k': (0xff, True)}"]
        assigned = {"expression": "found", "value": "[16]"}
        assert door.ask("setExpression", {**wanted, **assigned})["body"]["value"] == "[0x10]"
        assert ended(door, program, tmp_path, thread) == "ended\n"
