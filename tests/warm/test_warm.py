"""A warm process is like any other: streams, directory, environment, exit code, signals, and its end with its relay."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests import warm

pytestmark = pytest.mark.real

END_SECONDS = 20


def test_it_has_the_streams_and_the_exit_code_of_its_own() -> None:
    for given, code, said in ((b'{"a": 1}', 0, b'{"a":1}\n'), (b"{", 1, b"")):
        words = warm.python_m("json.tool", "--compact")
        done = subprocess.run(words, input=given, capture_output=True, timeout=END_SECONDS, check=False)
        assert (done.returncode, done.stdout) == (code, said)
        assert bool(done.stderr) == bool(code)


def test_it_has_the_directory_and_the_environment_of_who_starts_it(tmp_path: Path) -> None:
    (tmp_path / "adapters").touch()
    words = warm.server("serve", "--tls-cert", "adapters", "--tls-key", "adapters", "--ws", "0")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=END_SECONDS, check=False)
    assert (done.returncode, b"No such file" in done.stderr) == (1, False), "it is there, but no certificate"
    environment = {**os.environ, "COLUMNS": "200"}
    words = warm.server("serve", "--help")
    done = subprocess.run(words, env=environment, capture_output=True, timeout=END_SECONDS, check=True)
    assert max(map(len, done.stdout.splitlines())) > 100


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_relay_ends_it(number: signal.Signals) -> None:
    with subprocess.Popen(
        warm.server("serve", "--ws", "0"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"dashboard" in process.stderr.readline()
        process.send_signal(number)
        assert process.stdout.read() == b"", "nobody has the pipe any more"
        assert process.wait(END_SECONDS) == (0 if number == signal.SIGTERM else -signal.SIGKILL)
