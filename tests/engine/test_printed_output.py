"""What a program prints is reported to a debugger that came in late, whatever prints meanwhile in the same thread."""

import io
import sys

import pytest

from trio_debugmcp.engine.inside.printed_output import PrintedOutput


class Stream(io.StringIO):
    """One that takes attributes, as those of programs do."""


def test_what_a_signal_handler_prints_while_a_text_is_reported_is_reported_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream, reported = Stream(), []
    monkeypatch.setattr(sys, "stdout", stream)

    def report(category: str, text: str) -> None:
        if text == "work":
            stream.write("handler")
        if text == "late":
            raise InterruptedError
        reported.append((category, text))

    printed = PrintedOutput(report)
    printed.begin()
    stream.write("work")
    with pytest.raises(InterruptedError):
        stream.write("late")
    stream.write("more")
    printed.end()
    stream.write("unseen")
    assert reported == [("stdout", "work"), ("stdout", "handler"), ("stdout", "more")]
    assert stream.getvalue() == "workhandlerlatemoreunseen"
