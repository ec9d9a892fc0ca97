"""What a thread waits for in the kernel, from its system call and the memory of its process."""

import struct

import pytest

from trio_debugmcp.dap.profiles.native.kernel_calls import (
    KernelWait,
    circles,
    kernel_wait,
    kind_by_functions,
    seen_in,
    system_call,
)

TELLER, CLERK, GONE = 4711, 4712, 4700
TIDS = {TELLER, CLERK}
AT = 0x1000


def futex(operation: int = 0x80, expected: int = 2, timeout: int = 0, at: int = AT) -> str:
    return f"202 {at:#x} {operation:#x} {expected:#x} {timeout:#x} 0x0 0x0 0x7ffd 0x7f00"


def mutex(word: int = 2, owner: int = CLERK, users: int = 1, kind: int = 0, count: int = 0) -> bytes:
    return struct.pack("<IIiIi", word, count, owner, users, kind)


def wait(line: str, memory: bytes, base: int = AT, *, glibc: bool = True) -> KernelWait:
    """What the teller waits for in such a call, if this memory begins at `base`, and nothing is elsewhere."""

    def read(address: int, size: int) -> bytes:
        begin = address - base
        return memory[begin : begin + size] if begin >= 0 else b""

    call = system_call(line, "x86_64")
    assert call is not None
    return kernel_wait(call, read, TIDS, TELLER, glibc=glibc)


@pytest.mark.parametrize(
    "line",
    ["running", "", "-1 0x7ffd 0x7f00", "202"],
)
def test_a_thread_that_runs_or_was_stopped_outside_of_the_kernel_waits_for_nothing(line: str) -> None:
    assert system_call(line, "x86_64") is None


@pytest.mark.parametrize(
    ("operation", "memory", "expected"),
    [
        (0x80, mutex(), 2),
        (0x80, mutex(kind=1, count=2), 2),  # recursive, acquired twice
        (0x80, mutex(0x80000000 | CLERK, kind=0x10), 0x80000000 | CLERK),  # robust
        (0x86, mutex(0x80000000 | CLERK, kind=0x20), 0),  # with priority inheritance
        (0x8D, mutex(0x80000000 | CLERK, kind=0x20), 0),
    ],
)
def test_a_mutex_names_the_thread_that_has_it(operation: int, memory: bytes, expected: int) -> None:
    assert wait(futex(operation, expected), memory) == KernelWait("mutex", address=AT, owner=CLERK)


def test_a_mutex_that_the_thread_has_itself_and_one_whose_owner_is_gone_differ() -> None:
    assert wait(futex(), mutex(owner=TELLER)).owner == TELLER
    assert wait(futex(), mutex(owner=GONE)) == KernelWait("mutex", address=AT, gone=GONE)


@pytest.mark.parametrize(
    "memory",
    [
        mutex(owner=0),  # a word that is 2, as of Rust, or of malloc
        mutex(kind=0x7F000000),
        mutex(users=0),
        mutex(users=1 << 30),
        mutex(word=1),  # free, or being given up
        b"\2\0\0\0",  # the end of what is mapped
        b"",
    ],
)
def test_a_word_whose_surroundings_are_not_those_of_a_mutex_is_a_futex_without_an_owner(memory: bytes) -> None:
    assert wait(futex(), memory) == KernelWait("futex", address=AT)


def test_without_glibc_no_memory_is_taken_for_its_locks() -> None:
    assert wait(futex(), mutex(), glibc=False) == KernelWait("futex", address=AT)


def thread_of(tid: int, place: int = AT) -> bytes:
    """What glibc keeps of a thread, up to its id."""
    return struct.pack("<QQQ", place, 0, place).ljust(0x2D0, b"\0") + struct.pack("<IIiIi", tid, 0, 0, 0, 0)


def test_the_id_in_what_glibc_keeps_of_a_thread_is_the_end_of_that_thread() -> None:
    at = AT + 0x2D0
    assert wait(futex(0x109, CLERK, at=at), thread_of(CLERK)) == KernelWait("join", owner=CLERK)
    assert wait(futex(0x109, GONE, at=at), thread_of(GONE)).kind == "futex"
    assert wait(futex(0x109, TELLER, at=at), thread_of(TELLER)).kind == "futex"
    assert wait(futex(0x109, CLERK, at=at), thread_of(CLERK, 0x2000)).kind == "futex"  # a lock that has its owner's id


def test_an_id_of_a_thread_behind_another_futex_does_not_make_that_held_by_it() -> None:
    memory = struct.pack("<IIIIIIiI8x", 0, 0, 2, 2, 0, 0, CLERK, 0)
    assert [wait(futex(at=AT + offset), memory).owner for offset in (8, 12)] == [None, None]


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        (["futex_wait", "___pthread_mutex_lock", "std::mutex::lock"], KernelWait("mutex", address=AT, owner=CLERK)),
        (["__lll_lock_wait", "???"], KernelWait("mutex", address=AT, owner=CLERK)),
        (["???", "???"], KernelWait("mutex", address=AT, owner=CLERK)),
        (["syscall", "std::sys::sync::mutex::futex::Mutex::lock_contended"], KernelWait("mutex", address=AT)),
        (["syscall", "my_lock"], KernelWait("futex", address=AT)),
    ],
)
def test_a_mutex_of_glibc_is_one_only_in_functions_of_glibc(functions: list[str], expected: KernelWait) -> None:
    assert seen_in(KernelWait("mutex", address=AT, owner=CLERK), functions) == expected


def test_functions_say_what_a_futex_is_and_leave_other_waits_as_they_are() -> None:
    assert seen_in(KernelWait("futex", address=AT), ["___pthread_cond_wait"]).kind == "condition"
    assert seen_in(KernelWait("timed", "words"), ["clock_nanosleep"]).kind == "sleep"
    assert seen_in(KernelWait("futex", address=AT), ["nothing"]) == KernelWait("futex", address=AT)
    join = KernelWait("join", owner=CLERK)
    assert (seen_in(join, ["pthread_join"]), seen_in(join, ["my_lock"]).owner) == (join, None)
    assert seen_in(KernelWait("io", "input on descriptor 3"), ["read"]).words == "input on descriptor 3"


def test_a_wait_with_a_time_limit_says_so() -> None:
    assert wait(futex(timeout=0x7FFD), mutex()) == KernelWait("mutex", address=AT, owner=CLERK, timed=True)


@pytest.mark.parametrize(
    ("line", "kind", "words"),
    [
        ("0 0x3 0x0 0x1 0x0 0x0 0x0 0x0 0x0", "io", "input on descriptor 3"),
        ("43 0x4 0x0 0x1 0x0 0x0 0x0 0x0 0x0", "io", "a connection on descriptor 4"),
        ("73 0x3 0x2 0x0 0x0 0x0 0x0 0x0 0x0", "io", "the lock of the file of descriptor 3"),
        ("230 0x0 0x0 0x1 0x0 0x0 0x0 0x0 0x0", "sleep", "some time to pass"),
        ("61 0x0 0x0 0x1 0x0 0x0 0x0 0x0 0x0", "process", "a process to end"),
        ("74 0x3 0x0 0x1 0x0 0x0 0x0 0x0 0x0", "call", "the kernel, in its call 74"),
    ],
)
def test_another_call_says_what_it_waits_for(line: str, kind: str, words: str) -> None:
    assert wait(line, b"") == KernelWait(kind, words)


def test_a_machine_whose_numbers_are_not_known_has_calls_without_a_meaning() -> None:
    call = system_call(futex(), "s390x")
    assert call is not None
    assert call.kind == "202"


def test_functions_of_libraries_say_what_a_futex_belongs_to() -> None:
    names = ["futex_wait", "__pthread_cond_wait_common", "___pthread_cond_wait"]
    assert kind_by_functions(names) == "condition"
    assert kind_by_functions(["syscall", "std::sys::sync::mutex::futex::Mutex::lock_contended"]) == "mutex"
    assert kind_by_functions(["futex_wait"]) is None


def held_by(owner: int | None) -> KernelWait:
    return KernelWait("mutex", owner=owner)


def test_threads_that_wait_for_each_other_are_a_circle_and_those_that_wait_for_them_are_not() -> None:
    waits = {3: held_by(2), 2: held_by(3), 1: held_by(3), 5: held_by(5), 6: held_by(7), 8: held_by(None)}
    assert circles(waits) == [(2, 3), (5,)]
    assert circles({4: held_by(2), 2: held_by(3), 3: held_by(4)}) == [(2, 3, 4)]
    assert circles({}) == []
