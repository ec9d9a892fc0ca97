"""The threads of a process of this machine that a debugger traces, from /proc."""

import ctypes
import os
import struct
import sys

import pytest
from msgspec.structs import replace

from trio_debugmcp.session.looking.machine_code import kernel_threads as looking
from trio_debugmcp.session.looking.machine_code.kernel_threads import kernel_threads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is read from /proc")

TELLER, CLERK = 101, 102


def test_of_a_process_that_nothing_traces_nothing_is_said_as_it_may_be_another_with_the_id_of_a_core_file() -> None:
    assert kernel_threads(os.getpid()) is None


def test_of_a_process_that_is_not_there_nothing_is_said() -> None:
    assert kernel_threads(0) is None


def mutex_of(owner: int) -> ctypes.Array[ctypes.c_char]:
    """A mutex of glibc in the memory of this process, for which a thread waits."""
    return ctypes.create_string_buffer(struct.pack("<IIiIi", 2, 0, owner, 1, 0))


@pytest.mark.parametrize(("switches", "expected"), [(["7", "7"], ((TELLER, CLERK),)), (["7", "8"], ())])
def test_threads_wait_for_each_other_only_if_each_of_them_has_waited_from_the_first_look_to_the_last(
    monkeypatch: pytest.MonkeyPatch, switches: list[str], expected: tuple[tuple[int, ...], ...]
) -> None:
    held: dict[int, ctypes.Array[ctypes.c_char]] = {TELLER: mutex_of(CLERK), CLERK: mutex_of(TELLER)}
    turns = {TELLER: ["3", "3"], CLERK: [*switches]}

    def look(place: str) -> object:
        tid = int(place.rpartition("/")[2])
        call = f"202 {ctypes.addressof(held[tid]):#x} 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f00"
        thread = looking.ThreadLook(tid, tid, "worker", call, (), traced=True)
        return replace(thread, switches=(turns[tid].pop(0), "0"))

    monkeypatch.setattr(looking, "_tasks", lambda _: ([f"/{tid}" for tid in held], len(held)))
    monkeypatch.setattr(looking, "_look", look)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    found = kernel_threads(os.getpid())
    assert found is not None
    assert [thread.wait and thread.wait.owner for thread in found.threads] == [CLERK, TELLER]
    assert found.circles == expected
