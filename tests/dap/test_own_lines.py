"""The lines of a debugger inside a program are taken out of the program's streams, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st
from trio.testing import memory_stream_one_way_pair

from trio_debugmcp.dap.own_lines import OwnLines, ProgramPipe
from trio_debugmcp.dap.profiles import profile_named


def test_a_line_that_begins_so_is_taken_and_the_others_pass() -> None:
    own = OwnLines(("DEBUGGER: ", "ruby: "))
    assert own.feed(b"a\nDEBUGGER: Connected.\nb\nruby: x\n") == b"a\nb\n"
    assert bytes(own.taken) == b"DEBUGGER: Connected.\nruby: x\n"


def test_what_rubys_debugger_writes_in_a_child_is_its_own_too() -> None:
    rdbg = profile_named("rdbg")
    assert rdbg is not None
    own = OwnLines(rdbg.habits.own_lines)
    assert own.feed(b"a\nDEBUGGER[shop.rb#7]: Disconnected.\nDEBUGGERS\n") == b"a\nDEBUGGERS\n"


def test_what_delve_logs_has_the_time_before_it() -> None:
    delve = profile_named("delve")
    assert delve is not None
    own = OwnLines(delve.habits.own_lines)
    written = b"2026-11-28T23:43:52Z error layer=dap x\n2026-11-28T23:43:52+01:00 error layer=dap y\n"
    others = b"2026-11-28 order 7\n####-##-##T##:##:##\n"
    assert own.feed(written + others) == others
    assert bytes(own.taken) == written


def test_a_prompt_is_passed_on_at_once_and_what_may_become_such_a_line_is_held_until_it_is_known() -> None:
    own = OwnLines(("DEBUGGER: ",))
    assert own.feed(b"name? ") == b"name? "
    assert own.feed(b"DEBUGGER: typed\n") == b"DEBUGGER: typed\n"  # the rest of a line
    assert own.feed(b"DEB") == b""
    assert own.feed(b"T: 7\n") == b"DEBT: 7\n"
    assert own.feed(b"DEBUGGER: Dis") == b""
    assert own.feed(b"connected.\nend") == b"end"
    assert bytes(own.taken) == b"DEBUGGER: Disconnected.\n"


def test_at_the_end_of_the_stream_what_was_held_is_the_programs_unless_it_is_such_a_line() -> None:
    own = OwnLines(("DEBUGGER: ",))
    assert own.feed(b"DEB") == b""
    assert own.feed(b"") == b"DEB"
    assert own.feed(b"DEBUGGER: bye") == b""
    assert (own.feed(b""), bytes(own.taken)) == (b"", b"DEBUGGER: bye")


@given(st.lists(st.sampled_from([b"DEB", b"DEBUGGER: ", b"\n", b"x", b"\r\n", b"UGGER: "])), st.data())
def test_it_does_not_matter_how_the_stream_is_cut(pieces: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(pieces)
    one, other = OwnLines(("DEBUGGER: ",)), OwnLines(("DEBUGGER: ",))
    expected = (one.feed(whole) if whole else b"") + one.feed(b"")
    cut = data.draw(st.integers(0, len(whole)))
    given_so = b"".join(other.feed(part) for part in (whole[:cut], whole[cut:]) if part) + other.feed(b"")
    assert (given_so, other.taken) == (expected, one.taken)


async def test_a_pipe_gives_the_programs_part_and_keeps_the_lines_for_the_adapter() -> None:
    theirs, ours = memory_stream_one_way_pair()
    kept = bytearray()
    pipe = ProgramPipe(ours, ("DEBUGGER: ",), kept.extend)
    await theirs.send_all(b"DEBUGGER: Connected.\n")
    await theirs.send_all(b"item 1\n")
    await theirs.aclose()
    assert [await pipe.receive_some(21), await pipe.receive_some()] == [b"item 1\n", b""]
    assert bytes(kept) == b"DEBUGGER: Connected.\n"
