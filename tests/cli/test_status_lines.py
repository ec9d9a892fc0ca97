"""Tests of lines with a status: colours and progress are for terminals."""

import io
import sys

import pytest

from trio_debugmcp.cli._status_lines import looking, status_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make the standard streams of a test those of a terminal; in the test, as pytest has its own before."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


def test_a_status_has_a_colour_on_a_terminal_and_the_columns_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    at_terminal(monkeypatch)
    assert status_line("ok", "python: 3.13") == "\x1b[32mok\x1b[0m      python: 3.13"
    assert status_line("failed", "x", "do y") == "\x1b[31mfailed\x1b[0m  x\n        → do y"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "")])
def test_a_user_or_a_terminal_that_wants_no_colours_gets_none(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    at_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    assert status_line("missing", "py-spy") == "missing py-spy"


def test_what_is_looked_for_is_shown_until_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    with looking("debugging a program"):
        assert terminal.getvalue() == "debugging a program …"
    assert terminal.getvalue().endswith("\r\x1b[K")
    with looking("more", quiet=True):
        assert "more" not in terminal.getvalue()


def test_a_pipe_gets_neither(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with looking("debugging a program"):
        sys.stdout.write(status_line("ok", "python"))
    assert capsys.readouterr() == ("ok      python", "")
