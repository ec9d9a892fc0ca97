"""The output of many processes in one console: lines stay whole, and each says whose it is."""

from collections.abc import Set as AbstractSet

from trio.testing import MockClock

from trio_debugmcp.clock import Clock
from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.output.whole_lines import MAX_UNFINISHED_LENGTH, WholeLines, Writer

ZERO, ONE, OTHER = Writer("s-2", "rank 0"), Writer("s-3", "rank 1"), Writer("s-4")


class Silent:
    def resources_updated(self, *uris: AbstractSet[str]) -> None: ...

    def list_changed(self) -> None: ...


def test_a_line_is_shown_when_it_is_whole_and_says_whose_it_is() -> None:
    lines = WholeLines()
    assert lines.take("stdout", "lo", ZERO) == ""
    assert lines.take("stdout", "epoch 1\nep", ONE) == "[rank 1] epoch 1\n"
    assert lines.take("stderr", "a\nb\n", ZERO) == "[rank 0] a\n[rank 0] b\n"
    assert lines.take("stdout", "ss 0.5\n", ZERO) == "[rank 0] loss 0.5\n"
    assert lines.take("stderr", "10%\r20%\n", ZERO) == "[rank 0] 10%\r20%\n"
    assert lines.take("stdout", "plain\n", OTHER) == "plain\n"
    assert lines.rest() == [("stdout", "[rank 1] ep")]
    assert lines.rest() == []
    assert repr(lines) == "<WholeLines: 0 unfinished>"


def test_a_line_without_an_end_is_not_kept_for_ever() -> None:
    lines = WholeLines()
    assert lines.take("stdout", "x" * MAX_UNFINISHED_LENGTH, ZERO) == ""
    assert lines.take("stdout", "y", ZERO) == f"[rank 0] {'x' * MAX_UNFINISHED_LENGTH}y"
    assert lines.rest() == []


def test_what_follows_a_beginning_that_was_shown_ends_that_line() -> None:
    lines = WholeLines()
    assert lines.take("stdout", "9", ZERO) == ""
    assert lines.rest() == [("stdout", "[rank 0] 9")]
    assert lines.take("stdout", "\n10\n", ZERO) == "\n[rank 0] 10\n"
    lines.take("stdout", "11", ZERO)
    assert lines.rest() == [("stdout", "[rank 0] 11")]
    assert lines.take("stderr", "of another stream\n", ONE) == "[rank 1] of another stream\n"
    assert lines.take("stdout", "16\n", ONE) == "\n[rank 1] 16\n", "a line of its own"
    assert lines.take("stdout", "th\n", ZERO) == "[rank 0] th\n"


async def test_what_is_unfinished_is_there_for_who_reads_and_each_process_has_its_own_line(
    autojump_clock: MockClock,
) -> None:
    console = Console(Clock(), Merger(Silent(), Timeline(Clock())))
    console.append("stdout", "name? ", ZERO)
    console.append("stdout", "loss ", ONE)
    console.append("stdout", "done\n", OTHER)
    assert [entry.text for entry in console.entries()] == ["done\n", "[rank 0] name? ", "\n[rank 1] loss "]
    console.append("stdout", "0.5\n", ONE)
    assert [entry.text for entry in console.entries(since_seq=4)] == ["0.5\n"]
