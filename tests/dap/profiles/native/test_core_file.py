"""Core files: threads with their system calls, memory, and the executable; whatever else a file says."""

import struct
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.dap.profiles.native.core_file import read_core

MAIN, WORKER = 4711, 4712

HELD = struct.pack("<IIiIi", 2, 0, MAIN, 1, 0)
"""A mutex of glibc."""


def note(kind: int, content: bytes) -> bytes:
    return struct.pack("<III", 5, len(content), kind) + b"CORE\0\0\0\0" + content + b"\0" * (-len(content) % 4)


def status(tid: int, call: int, *arguments: int) -> bytes:
    """What the kernel writes of a thread."""
    registers = [0] * 27
    registers[15] = call & (1 << 64) - 1
    for place, value in zip((14, 13, 12, 7, 9, 8), arguments, strict=False):
        registers[place] = value
    return note(1, struct.pack("<32xi76x", tid) + struct.pack("<27Q", *registers) + b"\0" * 8)


def core_of(*notes: bytes, kind: int = 4, machine: int = 62) -> bytes:
    """A core file with these notes, and with a mutex in its memory at 0x7000."""
    noted = b"".join(notes)
    begin = 64 + 2 * 56
    head = (
        b"\x7fELF\x02\x01\x01"
        + b"\0" * 9
        + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    )
    segments = struct.pack("<IIQQQQQQ", 4, 0, begin, 0, 0, len(noted), 0, 4)
    segments += struct.pack("<IIQQQQQQ", 1, 6, begin + len(noted), 0x7000, 0, len(HELD), 4096, 1)
    return head + segments + noted + HELD


MAPPED = note(
    0x46494C45,
    struct.pack("<QQQQQQQQ", 2, 4096, 0x400000, 0x401000, 0, 0x7F0000, 0x7F1000, 0) + b"/app/shop\0/lib/libc.so.6\0",
)
TOLD = note(6, struct.pack("<QQQQQQ", 25, 1, 3, 0x400040, 0, 0))


def test_threads_have_the_calls_in_which_they_waited_and_the_executable_is_where_its_headers_are() -> None:
    core = read_core(BytesIO(core_of(status(MAIN, -1), status(WORKER, 202, 0x7000, 0x80, 2), TOLD, MAPPED)))
    assert core is not None
    main, worker = core.threads
    assert (main.tid, main.call, worker.tid) == (MAIN, None, WORKER)
    assert worker.call is not None
    assert (worker.call.kind, worker.call.arguments) == ("futex", (0x7000, 0x80, 2, 0, 0, 0))
    assert (core.program, core.mapped) == ("/app/shop", ("/app/shop", "/lib/libc.so.6"))


def test_a_thread_that_sends_itself_the_signal_waits_for_nothing() -> None:
    core = read_core(BytesIO(core_of(status(MAIN, 234, MAIN, MAIN, 6))))
    assert core is not None
    assert [each.call for each in core.threads] == [None]


def test_memory_is_read_where_the_file_has_it() -> None:
    core = read_core(BytesIO(core_of(status(MAIN, -1))))
    assert core is not None
    assert [core.read(0x7000 + skipped, 8) for skipped in (0, 4, 16, 20)] == [HELD[:8], HELD[4:12], HELD[16:], b""]
    assert core.read(0x6FFF, 4) == b""


@pytest.mark.parametrize(("number", "machine"), [(183, "aarch64"), (243, "riscv64")])
def test_of_other_machines_the_threads_and_the_executable_are_known_and_not_the_calls(
    number: int, machine: str
) -> None:
    core = read_core(BytesIO(core_of(status(MAIN, -1), status(WORKER, 202), TOLD, MAPPED, machine=number)))
    assert core is not None
    assert [(each.tid, each.call) for each in core.threads] == [(MAIN, None), (WORKER, None)]
    assert (core.program, core.machine, core.has_calls) == ("/app/shop", machine, False)


@pytest.mark.parametrize("changed", [{"kind": 2}, {"machine": 40}])
def test_of_an_executable_and_of_another_machine_nothing_is_known(changed: dict[str, int]) -> None:
    assert read_core(BytesIO(core_of(status(MAIN, -1), **changed))) is None
    assert read_core(BytesIO(b"MDMP")) is None


@given(st.data())
def test_no_damage_makes_it_fail(data: st.DataObject) -> None:
    whole = bytearray(core_of(status(MAIN, -1), status(WORKER, 202, 0x7000, 0x80, 2), TOLD, MAPPED))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(4, len(whole) - 1))] = data.draw(st.integers(0, 255))
    core = read_core(BytesIO(bytes(whole[: data.draw(st.integers(0, len(whole)))])))
    if core is not None:
        core.read(0x7000, 20)
