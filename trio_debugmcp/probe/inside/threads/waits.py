"""What a thread waits for in C: a lock, a queue, another thread, input, time, events.

    wait_of(thread)   # Wait(kind="queue", what="jobs.get", detail="0 items", …), or None if it runs

It is inferred from the innermost frame: the current instruction calls something that is known to wait. The frames of
the standard library (and of Trio) around it say what for: `waiter.acquire` in `Condition.wait` in `Queue.get` is a
queue.
"""

import _thread
from typing import Any, Callable, List, Optional, Tuple

from trio_debugmcp.probe.inside import imported
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import bytecode, library_waits, shared_locks, with_blocks
from trio_debugmcp.probe.inside.threads.bytecode import Known
from trio_debugmcp.probe.inside.values import atoms, facts

LOCK = type(_thread.allocate_lock())
RLOCK = _thread.RLock

_FUNCTION = type(lambda: None)

_MOST_CLIMBED = 40
"""Frames of libraries that are climbed from the innermost one."""


class Wait:
    """What a thread waits for.

    Attributes:
        what: the expression in the code of the user, as `jobs.get`; as far as it is known.
        target: the lock or the thread that it waits for.
        bounded: whether the call has arguments, of which one may be a timeout.
        offset: of the instruction in the thread's innermost frame at which it waits.
    """

    __slots__ = ("bounded", "detail", "kind", "offset", "target", "what")

    def __init__(self, kind: str, what: str, detail: str = "", target: Any = None, bounded: bool = False) -> None:
        self.kind = kind
        self.what = what
        self.detail = detail
        self.target = target
        self.bounded = bounded
        self.offset = -1


_FUNCTIONS = {
    ("time", "sleep"): "sleep",
    ("builtins", "input"): "input",
    ("select", "select"): "io",
    ("signal", "pause"): "signal",
    **{("fcntl", name): "file" for name in ("flock", "lockf")},
    ("signal", "sigwait"): "signal",
    **{("posix", name): "process" for name in ("wait", "wait3", "wait4", "waitid", "waitpid", "system")},
    **{("posix", name): "io" for name in ("read", "readv", "write", "writev")},
    ("_socket", "getaddrinfo"): "io",
    ("_thread", "_shutdown"): "exit",  # from Python 3.13 on the end of the main thread waits in C
}
"""Functions that wait, by module and name."""

_METHODS = {
    "_thread.lock": ("lock", "acquire acquire_lock __enter__"),
    "_thread.RLock": ("lock", "acquire __enter__"),
    "_thread._ThreadHandle": ("join", "join"),
    "_queue.SimpleQueue": ("queue", "get"),
    "_multiprocessing.SemLock": ("lock", "acquire __enter__"),
    "select.epoll": ("io", "poll"),
    "select.poll": ("io", "poll"),
    "select.kqueue": ("io", "control"),
    "_socket.socket": ("io", "accept _accept connect recv recv_into recvfrom recvmsg send sendall sendto"),
    "_ssl._SSLSocket": ("io", "read write do_handshake shutdown"),
    "_io.TextIOWrapper": ("io", "read readline readlines write"),
    "_io.BufferedReader": ("io", "read read1 readline readlines peek readinto"),
    "_io.FileIO": ("io", "read readall readinto readline write"),
}
"""Methods that wait, by the type of which they are."""


def wait_of(thread: ProgramThread) -> Optional[Wait]:
    """Return what a thread waits for, or None: it is stopped, or runs, or is in C code that is not known to wait.

    Raises:
        Exception: the bytecode is of a version that is not known.
    """
    if thread.stopped is not None:
        return None
    offset = thread.top.f_lasti
    primitive = _primitive(thread.top)
    if primitive is not None and primitive[0] == "lock" and attached.is_own(thread.top):
        return None  # a lock of the debugger's own: the program runs once that is done
    wait = _climb(thread.top, *primitive) if primitive is not None else None
    if wait is not None:
        wait.offset = offset
    return wait if wait is not None and lasts(wait, thread) else None


def lasts(wait: Wait, thread: ProgramThread) -> bool:
    """Whether a thread is still where it was seen to wait, and has not got the lock by now that it wanted.

    Threads run while they are looked at. One that has an RLock never waits for it: its call is about to return.
    """
    return thread.top.f_lasti == wait.offset and (wait.target is None or owner_of(wait.target) != thread.ident)


def call_of(thread: ProgramThread) -> str:
    """Return the expression of the C function that a thread is in, or an empty string.

    That function may compute or wait: `cursor.execute` of a database driver does either. Stepping the thread has to
    wait for its end.
    """
    if attached.is_own(thread.top) or not bytecode.may_call(thread.top):
        return ""
    try:
        return _callee(bytecode.in_use(thread.top), calls=True)[0]
    except Exception:  # bytecode of a version that is not known
        return ""


def _primitive(frame: Any) -> Optional[Tuple[str, Known, bool]]:
    """Kind and expression of what a frame calls now, if that is known to wait, and whether with arguments."""
    if not bytecode.may_call(frame):
        return None
    operation = _operation(frame)
    manager = with_blocks.entering(frame)
    if manager is not None:
        kind = _method_kind(manager.value, "__enter__")
        return (kind, Known(manager.text, manager.value, manager.value), False) if kind else None
    stack = bytecode.in_use(frame)
    if operation == "FOR_ITER":  # for line in sys.stdin
        kind = _method_kind(stack[-1].value, "readline") if stack else None
        return (kind, stack[-1], False) if kind else None
    if "CALL" not in operation and operation != "PRECALL":
        return None
    return _called(stack) or _called(bytecode.in_use(frame, far=True), arguments=False)


def _called(stack: List[Known], arguments: bool = True) -> Optional[Tuple[str, Known, bool]]:
    """Find on the stack, from its top, what is known to wait."""
    for index in range(len(stack) - 1, -1, -1):
        known = stack[index]
        kind = _kind(known)
        if kind in ("sleep", "input") and arguments:
            given = [each.text for each in stack[index + 1 :] if each.text]
            return kind, Known(f"{known.text}({', '.join(given)})", known.value, known.owner), True
        if kind is not None:
            return kind, known, _may_end(stack[index + 1 :])
    return None


def _kind(known: Known) -> Optional[str]:
    if known.value is facts.MISSING:
        return None
    if type(known.value) is type(len) or _stands_in(known.value):
        name = known.value.__name__
        kind = _FUNCTIONS.get((_module(known.value), name))
        if kind is not None:
            return kind
        bound: Any = getattr(
            known.value, "__self__", None
        )  # a lock of multiprocessing has the methods of another object
        if bound is not known.owner and _method_kind(bound, name):
            return _method_kind(bound, name)
    return _method_kind(known.owner, known.last) if known.owner is not facts.MISSING else None


def _stands_in(value: Any) -> bool:
    """Whether a value is what the debugger has put in place of a function in C; its attributes are that function's."""
    call = type.__dict__["__dict__"].__get__(type(value)).get("__call__")
    return type(call) is _FUNCTION and call.__code__.co_filename.startswith("<trio_debugmcp")


def _module(function: Any) -> str:
    module = function.__module__
    return {"nt": "posix"}.get(module, module) if type(module) is str else ""


def _method_kind(owner: Any, name: str) -> Optional[str]:
    for base in facts.mro(type(owner)):
        kind, names = _METHODS.get(atoms.qualified_name(base), ("", ""))
        if name in names.split():
            return kind
    return None


# --- Around it --------------------------------------------------------------------------------------------------------


_IDLE = ("asyncio", "trio", "worker", "exit")
"""What is not waited for by an expression of the user."""

_IDLE_AROUND = {
    "asyncio": ("selectors", "asyncio.windows"),
    "trio": ("trio._core._io",),
    "worker": ("queue", "threading", "multiprocessing.queues"),
}
"""Modules of the frame inside one that is idle. With others the loop or the worker runs something that waits."""

_LIBRARIES = frozenset(
    (
        "anyio asyncio concurrent contextlib logging multiprocessing outcome pydevd queue select selectors socket "
        "socketserver ssl subprocess threading trio "
    ).split()
)
"""Whose frames are climbed."""


def _climb(frame: Any, kind: str, known: Known, bounded: bool) -> Wait:
    """Look at the frames of libraries around the innermost one: the outermost that is known says what is waited for."""
    target = _lock_called(known) if kind == "lock" else None
    detail, inner, top = "", "", frame
    for _ in range(_MOST_CLIMBED):
        module = str(frame.f_globals.get("__name__", ""))
        own = attached.is_own(frame)  # around the function of a thread
        if not own and module.partition(".")[0] not in _LIBRARIES:
            break
        rule = None if own else _rule(module, frame)
        if rule is not None and _fits(rule[0], inner):
            kind = rule[0]
            detail, of_library = rule[1](frame)
            if kind != "worker":  # an idle one waits for its turn to read, which one that was killed has for ever
                target = of_library
        if frame.f_back is None or kind in _IDLE:
            return Wait(kind, "", detail, target, bounded)
        frame, inner = frame.f_back, inner if own else module
    text = _without_method(known, kind)
    if frame is not top:
        text, bounded = _expression(frame)
    # What a library calls it says nothing to the user: the name of an argument, for example.
    return Wait(kind, "" if attached.debugger().is_library(frame) else text, detail, target, bounded)


def _lock_called(known: Known) -> Any:
    """Return the lock whose method is called, also where the method has got a name of its own."""
    is_in_c = type(known.value) is type(len)
    return known.value.__self__ if known.owner is facts.MISSING and is_in_c else known.owner


def _expression(frame: Any) -> Tuple[str, bool]:
    try:
        manager = with_blocks.entering(frame)
        if manager is not None:
            return manager.text, False
        if _operation(frame) == "FOR_ITER":
            return next((each.text for each in bytecode.in_use(frame)[-1:]), ""), False
        stack = bytecode.in_use(frame)
        index = bytecode.callee_index(frame, stack)
        if index is not None and stack[index].text and callable(stack[index].value):  # else an argument may be taken
            return _without_method(stack[index], "lock"), _may_end(stack[index + 1 :])
        near = _callee(stack)
        return near if near[0] else _callee(bytecode.in_use(frame, far=True))
    except Exception:  # too long a function
        return "", False


def _may_end(arguments: List[Known]) -> bool:
    """Whether one of the arguments of a call may be a timeout: not None, True or -1, nor the names of the others."""
    values = [each.value for each in arguments if type(each.value) is not tuple]
    return any(
        value is not None and value is not True and not (type(value) in (int, float) and value < 0) for value in values
    )


def _operation(frame: Any) -> str:
    return str(bytecode.instructions(frame.f_code)[bytecode.position(frame)].opname)


def _fits(kind: str, inner: str) -> bool:
    if kind == "worker" and not inner:  # it waits in C itself
        return True
    return inner.startswith(_IDLE_AROUND.get(kind, ""))


def _without_method(known: Known, kind: str) -> str:
    method = f".{known.last}"
    if kind == "lock" and method in (".acquire", ".__enter__", ".acquire_lock"):
        return known.text[: -len(method)]
    return known.text


def callee(stack: List[Known]) -> str:
    """Return the expression of what a call on top of a stack calls, or of the value there; empty if not known."""
    text = _callee(stack, calls=True)[0]
    return text or (stack[-1].text if stack else "")


def _callee(stack: List[Known], calls: bool = False) -> Tuple[str, bool]:
    """The expression that a frame calls, and whether the stack has arguments behind it."""
    last = ""
    for index in range(len(stack) - 1, -1, -1):
        known = stack[index]
        if not known.text or known.value is facts.MISSING:
            continue
        if callable(known.value) and (calls or known.owner is not facts.MISSING):
            return _without_method(known, "" if calls else "lock"), _may_end(stack[index + 1 :])
        last = last or (known.text if callable(known.value) else "")  # not what is passed to it
    return ("" if calls else last), False


def _rule(module: str, frame: Any) -> Optional[Tuple[str, Callable[[Any], Tuple[str, Any]]]]:
    name = frame.f_code.co_name
    found = library_waits.AROUND.get((module, name)) if (module, name) in library_waits.AROUND else None
    owner = library_waits.own(frame) if found is None or module == "threading" else None
    for base in facts.mro(type(owner)) if owner is not None else ():
        specific = library_waits.AROUND.get((f"{module}.{facts.type_name(base)}", name))
        if specific is not None:
            return specific
    if found is not None and module == "threading" and name == "join" and not _is_of_threading(owner, "Thread"):
        return None
    return found


def owner_of(lock: Any) -> Optional[int]:
    """Return the ident of the thread that has an RLock, which only its repr shows; 0 if it is free."""
    if type(lock) is RLOCK:
        _, _, rest = repr(lock).partition("owner=")
        digits = rest.partition(" ")[0]
        return int(digits) if digits.isdigit() else None
    owner = facts.attribute(lock, "_owner") if facts.type_name(type(lock)) == "_RLock" else None
    return owner if type(owner) is int else None


def lock_of(manager: Any) -> Any:
    """Return the lock behind an object that is used as one: a Condition has one, a lock is one."""
    if type(manager) in (LOCK, RLOCK):
        return manager
    if _is_of_threading(manager, "Condition"):
        return facts.attribute(manager, "_lock")
    return shared_locks.semaphore_of(manager)


def _is_of_threading(value: Any, name: str) -> bool:
    """Whether a value is of a class of `threading`, which the program need not have imported."""
    threading = imported.first_seen("threading")
    return threading is not None and issubclass(type(value), getattr(threading, name))
