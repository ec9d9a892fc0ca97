"""A warm process behaves like a cold one: streams, directory, environment, exit code and signals."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests import warm

pytestmark = pytest.mark.real

END_SECONDS = 90


def test_standard_streams_and_the_exit_code_are_those_of_the_process() -> None:
    for given, code, said in ((b'{"a": 1}', 0, b'{"a":1}\n'), (b"{", 1, b"")):
        words = warm.python_m("json.tool", "--compact")
        done = subprocess.run(words, input=given, capture_output=True, timeout=END_SECONDS, check=False)
        assert (done.returncode, done.stdout) == (code, said)
        assert bool(done.stderr) == bool(code)


def test_directory_and_environment_are_those_of_its_starter(tmp_path: Path) -> None:
    (tmp_path / "adapters").touch()
    words = warm.server("serve", "--tls-cert", "adapters", "--tls-key", "adapters", "--ws", "0")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=END_SECONDS, check=False)
    assert (done.returncode, b"No such file" in done.stderr) == (1, False), "the file exists, but is not a certificate"
    environment = {**os.environ, "COLUMNS": "200"}
    words = warm.server("serve", "--help")
    done = subprocess.run(words, env=environment, capture_output=True, timeout=END_SECONDS, check=True)
    assert max(map(len, done.stdout.splitlines())) > 100


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_relay_ends_the_server(number: signal.Signals) -> None:
    with subprocess.Popen(
        warm.server("serve", "--ws", "0"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"dashboard" in process.stderr.readline()
        process.send_signal(number)
        assert process.stdout.read() == b"", "no process holds the pipe any more"
        assert process.wait(END_SECONDS) == (0 if number == signal.SIGTERM else -signal.SIGKILL)


def test_the_server_behind_a_relay_is_named_as_long_as_it_runs() -> None:
    with subprocess.Popen(
        warm.server("serve", "--ws", "0"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert b"dashboard" in process.stderr.readline()
        server = warm.behind(process.pid)
        assert server != process.pid
        os.kill(server, signal.SIGTERM)
        assert process.wait(END_SECONDS) == 0
        assert warm.behind(process.pid) == process.pid
