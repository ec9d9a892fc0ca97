"""What a thread waits for in the kernel: its system call, and what a mutex of glibc in its memory says. Pure.

    call = system_call("202 0x7ffe298f8170 0x80 0x2 0x0 0x0 0x0 0x7f83 0x7f83")
    kernel_wait(call, read, tids={25964, 25967}, own=25967)     # KernelWait("mutex", 0x7ffe298f8170, owner=25964)

A futex is only a word in memory; what it belongs to is said by what surrounds it. It is taken for a mutex where all of
its fields may be a mutex's, and its owner is a thread of the process. Other locks keep ids of threads near their words,
too: at a stop the functions in which a thread waits have the last word (`seen_in`). glibc has had these offsets since
2.25.
"""

import platform
import struct
from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

_X86_64 = {
    "read": (0, 17, 19, 295),  # pread64, readv, preadv
    "write": (1, 18, 20, 296),
    "poll": (7, 271),
    "select": (23, 270),
    "pause": (34, 128, 130),  # rt_sigtimedwait, rt_sigsuspend
    "sleep": (35, 230),
    "accept": (43, 288),
    "receive": (45, 47, 299),
    "send": (44, 46, 307),
    "connect": (42,),
    "lock": (72, 73),  # fcntl, flock
    "child": (61, 247),
    "futex": (202,),
    "restart": (219,),
    "epoll": (232, 281, 441),
    "raise": (62, 129, 200, 234, 297),  # kill, rt_sigqueueinfo, tkill, tgkill, rt_tgsigqueueinfo
}
_GENERIC = {  # aarch64 and riscv64
    "read": (63, 65, 67, 69),
    "write": (64, 66, 68, 70),
    "poll": (73,),
    "select": (72,),
    "pause": (133, 137),
    "sleep": (101, 115),
    "accept": (202, 242),
    "receive": (207, 212, 243),
    "send": (206, 211, 269),
    "connect": (203,),
    "lock": (25, 32),
    "child": (95, 260),
    "futex": (98,),
    "restart": (128,),
    "epoll": (22, 441),
    "raise": (129, 130, 131, 138, 240),
}
_MACHINES: Mapping[str, Mapping[str, Sequence[int]]] = {
    "x86_64": _X86_64,
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
}

_WORDS = {
    "poll": ("io", "input or output, in poll"),
    "select": ("io", "input or output, in select"),
    "pause": ("signal", "a signal"),
    "sleep": ("sleep", "some time to pass"),
    "child": ("process", "a process to end"),
    "restart": ("timed", "a time limit, in a call that the debugger has interrupted"),
}
"""Calls without a descriptor: the kind of wait, and what for."""

_ON_DESCRIPTOR = {
    "read": "input on",
    "write": "room for output on",
    "accept": "a connection on",
    "receive": "data on",
    "send": "room for data on",
    "connect": "the connection of",
    "lock": "the lock of the file of",
    "epoll": "an event of",
}

_WAIT, _LOCK_PI, _WAIT_BITSET, _WAIT_REQUEUE, _LOCK_PI2 = 0, 6, 9, 11, 13
_COMMAND = 0x7F
"""Of a futex operation; above it are flags."""

_TID = 0x3FFFFFFF
"""Of the word of a futex that holds its owner: robust mutexes, and those with priority inheritance."""

_CONTENDED = 2
_KINDS = 0x3 | 0x10 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200
"""Bits of the kind of a mutex: its type, robust, priority inheritance and protection, shared, elision."""

_MUTEX = struct.Struct("<IIiIi")  # __lock, __count, __owner, __nusers, __kind
_THREAD = struct.Struct("<QQQ")  # of a thread on x86-64: its own address, `dtv`, its own address
_TID_PLACE = 0x2D0
"""Where glibc keeps the id in it, the futex of who waits for its end."""

Read = Callable[[int, int], bytes]
"""Reads so many bytes at an address of the program; fewer, or none, where there are none."""


class SystemCall(Struct, frozen=True):
    """A system call in which a thread is; `kind` as above, or its number where it is none of these."""

    kind: str
    arguments: tuple[int, ...]

    @property
    def is_timed(self) -> bool:
        """Whether a futex is waited for with a time limit."""
        return self.kind == "restart" or (self.kind == "futex" and self.arguments[3] != 0)


class KernelWait(Struct, frozen=True):
    """What a thread waits for.

    Attributes:
        kind: mutex, join, futex (which may belong to anything), or a kind of `LiveThread`.
        words: what for, where that is all there is to say.
        address: of the futex.
        owner: the thread that has it, or whose end is waited for; `gone`: it is none of the process any more.
        timed: the wait has a time limit.
    """

    kind: str
    words: str = ""
    address: int = 0
    owner: int | None = None
    gone: int | None = None
    timed: bool = False


def system_call(line: str, machine: str = "") -> SystemCall | None:
    """Return the call of a line of `/proc/PID/task/TID/syscall`; None for a thread that waits in none."""
    fields = line.split()
    if len(fields) < 9 or fields[0].startswith("-"):
        return None
    return numbered_call(int(fields[0]), tuple(int(each, 16) for each in fields[1:7]), machine or platform.machine())


def numbered_call(number: int, arguments: tuple[int, ...], machine: str) -> SystemCall | None:
    """Return the call of a number, of the machine's; None for one in which a thread does not wait."""
    numbers = _MACHINES.get(machine, {})
    kind = next((name for name, known in numbers.items() if number in known), f"{number}")
    return None if kind == "raise" else SystemCall(kind, arguments)  # by which a thread that crashes ends itself


def kernel_wait(call: SystemCall, read: Read, tids: Collection[int], own: int, *, glibc: bool) -> KernelWait:
    """Return what a thread with the id `own` waits for in a system call; `tids`: those of its process.

    `glibc`: its locks are those of glibc.
    """
    if call.kind == "futex":
        return _futex(call, read, tids, own) if glibc else KernelWait("futex", address=call.arguments[0])
    if call.kind in _ON_DESCRIPTOR:
        return KernelWait("io", f"{_ON_DESCRIPTOR[call.kind]} descriptor {call.arguments[0]}")
    kind, words = _WORDS.get(call.kind, ("call", f"the kernel, in its call {call.kind}"))
    return KernelWait(kind, words, timed=call.is_timed)


def _futex(call: SystemCall, read: Read, tids: Collection[int], own: int) -> KernelWait:
    address, operation, expected = call.arguments[0], call.arguments[1] & _COMMAND, call.arguments[2] & 0xFFFFFFFF
    held = read(address, _MUTEX.size)
    found = KernelWait("futex", address=address, timed=call.is_timed)
    if len(held) < _MUTEX.size or operation not in (_WAIT, _WAIT_BITSET, _LOCK_PI, _LOCK_PI2, _WAIT_REQUEUE):
        return found
    word, count, owner, users, kind = _MUTEX.unpack(held)
    by_word = operation in (_LOCK_PI, _LOCK_PI2) or (word & _TID == owner and word != expected & _TID)
    is_mutex = kind & ~_KINDS == 0 and 0 < users < 1 << 20 and count < 1 << 20 and owner > 0
    if is_mutex and ((word == expected == _CONTENDED) or (by_word and word & _TID == owner)):
        return _held("mutex", address, owner, tids, timed=call.is_timed)
    is_own_id = word == expected > _CONTENDED and word in tids and word != own
    return KernelWait("join", owner=word, timed=call.is_timed) if is_own_id and _is_thread(address, read) else found


def _is_thread(address: int, read: Read) -> bool:
    """Whether a word is the id in what glibc keeps of a thread; locks may have such a word as well."""
    place = address - _TID_PLACE
    kept = read(place, _THREAD.size)
    return len(kept) == _THREAD.size and _THREAD.unpack(kept)[::2] == (place, place)


def _held(kind: str, address: int, owner: int, tids: Collection[int], *, timed: bool) -> KernelWait:
    lives = owner in tids
    return KernelWait(kind, address=address, owner=owner if lives else None, gone=None if lives else owner, timed=timed)


_BY_FUNCTION = (
    ("pthread_mutex", "mutex"),
    ("pthread_rwlock", "rwlock"),
    ("pthread_cond", "condition"),
    ("sem_wait", "semaphore"),
    ("sem_clockwait", "semaphore"),
    ("sem_timedwait", "semaphore"),
    ("pthread_barrier", "barrier"),
    ("pthread_join", "join"),
    ("clockjoin", "join"),
    ("sync::mutex::futex::Mutex::", "mutex"),  # of Rust
    ("sync::rwlock::futex::RwLock::", "rwlock"),
    ("sync::condvar::futex::Condvar::", "condition"),
    ("thread::park", "park"),
    ("nanosleep", "sleep"),
    ("cxa_guard_acquire", "static"),
    ("__basic_future", "future"),
    ("__atomic_wait", "atomic"),
    ("__platform_wait", "atomic"),
)
"""What a part of the name of a library's function says that a thread waits for; the innermost function decides."""


def kind_by_functions(functions: Sequence[str]) -> str | None:
    """Return what a thread waits for by the library's functions in which it is, the innermost first."""
    return next((kind for name in functions for part, kind in _BY_FUNCTION if part in name), None)


def seen_in(wait: KernelWait, functions: Sequence[str]) -> KernelWait:
    """Return what a thread waits for by the library's functions in which it is as well, the innermost first."""
    kind = kind_by_functions(functions)
    if wait.kind in ("futex", "timed"):
        return replace(wait, kind=kind or wait.kind)
    own = {"mutex": ("pthread_mutex", "lll_lock"), "join": ("pthread_join", "clockjoin")}.get(wait.kind)
    unknown = all(name.strip("?") == "" for name in functions)  # without symbols
    if own is None or unknown or any(part in name for part in own for name in functions):
        return wait
    return KernelWait(kind or "futex", address=wait.address, timed=wait.timed)


def circles(waits: Mapping[int, KernelWait]) -> list[tuple[int, ...]]:
    """Return the threads that wait for each other: of each circle its threads, from the least, in order of waiting."""
    found: set[tuple[int, ...]] = set()
    for first in waits:
        path: list[int] = []
        at: int | None = first
        while at is not None and at not in path:
            path.append(at)
            wait = waits.get(at)
            at = None if wait is None else wait.owner
        if at is not None:
            circle = path[path.index(at) :]
            least = circle.index(min(circle))
            found.add((*circle[least:], *circle[:least]))
    return sorted(found)
