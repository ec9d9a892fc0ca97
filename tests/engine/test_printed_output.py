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


class TakenTurn:
    """The turn, which another thread has; how long it was waited for."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def _is_owned(self) -> bool:
        return False

    def acquire(self, blocking: bool, timeout: float) -> bool:
        self.waits.append(timeout)
        return not blocking


def test_threads_that_print_faster_than_one_can_report_are_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, turn = Stream(), TakenTurn()
    monkeypatch.setattr(sys, "stdout", stream)
    printed = PrintedOutput(lambda *_: None)
    monkeypatch.setattr(printed, "_turn", turn)
    printed.begin()
    for _ in range(101):
        stream.write("work")
    assert [wait > 0 for wait in turn.waits] == [*[False] * 100, True]


def test_what_is_printed_while_a_text_is_reported_is_reported_together_stream_by_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streams, reported = [Stream(), Stream()], []
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])

    def report(category: str, text: str) -> None:
        reported.append((category, text))
        if text == "work":
            for stream, word in zip([*streams[:1] * 50, streams[1], streams[0]], "a" * 50 + "ba", strict=True):
                stream.write(word)

    printed = PrintedOutput(report)
    printed.begin()
    streams[0].write("work")
    printed.end()
    assert reported == [("stdout", "work"), ("stdout", "a" * 50), ("stderr", "b"), ("stdout", "a")]
