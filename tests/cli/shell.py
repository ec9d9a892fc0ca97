"""Runs `inspect` and `watch` in this process, against a server that is a process."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp import cli

SERVER = ["--", sys.executable, str(Path(__file__).parent / "tiny_server.py")]


def main(*argv: str) -> int:
    """Run a command and return its exit code."""
    try:
        return cli.main(argv)
    except SystemExit as exit_:
        return int(exit_.code or 0)


class Shell:
    """Runs a command and keeps what it wrote."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.code = 0
        self.out = ""
        self.err = ""

    def __call__(self, *argv: str) -> "Shell":
        self.code = main(*argv)
        self.out, self.err = self._capsys.readouterr()
        return self

    @property
    def result(self) -> Any:
        assert self.code == 0, self.err
        (line,) = self.out.splitlines()
        return json.loads(line)["result"]

    @property
    def error(self) -> dict[str, Any]:
        (line,) = self.err.splitlines()
        error: dict[str, Any] = json.loads(line)["error"]
        return error

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]
