"""What the probe answers, as structs.

    stop = decode(body.result, ProbeStop)
    stop.answer.frames[0].line

The text comes from the debugged program, which may have changed anything in its own process. So it is decoded within
bounds, fields that are not known are ignored, and what does not fit is a ProbeError, never a crash.

Long because it is a vocabulary: a struct for each answer and its parts, and little code.
"""

from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec

MOST_BYTES = 4_000_000
"""Of an answer. The probe's own bound is far below; what is longer is not from it."""

Amount = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""How many or how deep; no other number is taken for one, as answers count and indent with it."""


class ProbeError(Exception):
    """The probe did not answer, or not as it should.

    Attributes:
        kind: `absent` (install it), `invalid` (the answer could not be read), `thread`, `task`, `frame`, `evaluation`
            or `exception` (it does not exist), `slow` (it took too long), `raised` (an expression raised), `refused`
            (no connection for records).
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ProbeAnswer(msgspec.Struct, frozen=True, rename="camel"):
    """Answers have camelCase keys as the payloads of clients do; a key without news is absent."""


class ProbePlace(ProbeAnswer, frozen=True):
    """A line of code."""

    file: str
    line: int
    function: str
    qualname: str | None = None
    """Name with class, where the function's is not that already."""
    module: str = ""
    library: bool = False


class ProbeThreadPlace(ProbePlace, frozen=True):
    """The innermost place of a thread."""

    index: Amount = 0
    from_: ProbePlace | None = msgspec.field(default=None, name="from")
    """The innermost place in the user's code, where `self` is in a library."""


class ProbeVariable(ProbeAnswer, frozen=True):
    """A name and its value, as text."""

    name: str
    value: str
    type: str | None = None
    """Only where the value does not show it."""
    path: str | None = None
    """Expression that leads to it, where the name is not one; empty where there is none."""
    size: Amount = 0
    """Number of children, truly."""
    digest: str | None = None
    """Of the whole value, where the text shows a part: another one, if the value is another."""
    withheld: bool = False
    """Whether the value lacks what only code of the program knows, which was not to be run."""
    name_withheld: bool = False
    """The same of its name, the key of a dict."""
    children: tuple["ProbeVariable", ...] = ()
    same: str | None = None
    """In a tree, in place of value and children: the path where this very object is shown; of a variable of a frame
    with a long value: another one that is the same object."""
    cycle: str | None = None
    """The same, of an object that this one is inside of."""


class ProbeFrame(ProbePlace, frozen=True):
    """A frame in the order of `stackTrace`."""

    index: Amount = 0
    id: int | None = None
    """Of DAP, while its thread is stopped: good for `evaluate`, `scopes` and `setVariable`."""
    source: int = 0
    """Of DAP: the number of its source, where no file has it. Only in an answer to `stop`."""
    locals: tuple[ProbeVariable, ...] = ()
    locals_total: Amount = 0


class LockHolder(ProbeAnswer, frozen=True):
    """The thread that has what another one waits for."""

    thread: int
    name: str = ""
    sure: bool = False
    """Whether Python knows it. Of plain locks it is inferred from the code: say "probably"."""
    at: ProbePlace | None = None
    """Where the frame is now that took it, as far as that is known."""


class ThreadWait(ProbeAnswer, frozen=True):
    """What a thread waits for."""

    kind: str
    what: str | None = None
    """The expression in the user's code: `self.lock`, `jobs.get`, `time.sleep(1000)`."""
    detail: str | None = None
    holder: LockHolder | None = None


class ProbeThread(ProbeAnswer, frozen=True):
    """A thread of the program."""

    id: int
    name: str
    state: str
    """`stopped`, `waiting` (in C; it cannot be stepped), `running`, or `unknown`: there was no time to find out."""
    daemon: bool = False
    at: ProbeThreadPlace | None = None
    waits: ThreadWait | None = None
    calls: str | None = None
    """The C function that it is in while `running`, as far as it is known. It may compute or wait."""


class Deadlock(ProbeAnswer, frozen=True):
    """Threads of which each waits for what the next one has, and the last for what the first has.

    `sure`: Python says who has what. `timed`: one of them may have a timeout. `loose`: a lock was acquired by a call,
    and another thread may release it. `ends`: what may end it besides: signals, a timer.
    """

    threads: tuple[int, ...]
    sure: bool = False
    timed: bool = False
    loose: bool = False
    ends: tuple[str, ...] = ()


class ProbeThreads(ProbeAnswer, frozen=True):
    """The answer to `threads`: every thread, and which block each other."""

    threads: tuple[ProbeThread, ...]
    total: Amount
    deadlocks: tuple[Deadlock, ...] = ()


class Frames(ProbeAnswer, frozen=True):
    """The answer to `frames`: a part of one stack, with locals where asked. `state`: of the task whose it is.

    `hidden`: how many frames of which packages are left out of the stack.
    """

    thread: int
    frames: tuple[ProbeFrame, ...]
    total: Amount
    hidden: dict[str, Amount] = {}
    state: str | None = None


class ProbeStack(ProbeThread, frozen=True):
    """A thread with its frames, from the top."""

    frames: tuple[ProbeFrame, ...] = ()
    total: Amount = 0
    hidden: dict[str, Amount] = {}


class ProcessMarks(ProbeAnswer, frozen=True):
    """What tells a process from its siblings. `own`: variables of the environment that it has set itself.

    `machine`: the same as ours where process ids mean the same to both.
    """

    variables: dict[str, str] = {}
    own: tuple[str, ...] = ()
    name: str | None = None
    host: str | None = None
    machine: str | None = None


class ProcessorUse(ProbeAnswer, frozen=True):
    """The seconds of processor time that a process has used, and when that was, by a clock of its own."""

    processor: float
    at: float


class SharedTaker(ProbeAnswer, frozen=True):
    """A thread that has taken a lock, and where it is; `by_call`: of `acquire`."""

    thread: int
    at: ProbePlace
    by_call: bool = False


class SharedWaiter(ProbeAnswer, frozen=True):
    """A thread that waits for a lock, perhaps only for some time."""

    thread: int
    timed: bool = False


class SharedLock(ProbeAnswer, frozen=True):
    """A lock in memory that processes share, as one of them sees it.

    Attributes:
        id: the same in all processes of a machine.
        count: how often this process has acquired it more than released it.
        single: only one can have it; others are semaphores, which may be signals.
    """

    id: str
    count: int = 0
    single: bool = True
    takers: tuple[SharedTaker, ...] = ()
    waiters: tuple[SharedWaiter, ...] = ()


class BlockedThread(ProbeAnswer, frozen=True):
    """A thread that the kernel has blocked without a timeout.

    Attributes:
        in_: `read` or `write` of a pipe or socket, the `end` of a process, the lock of a `file`, a `lock` in memory
            that processes share, or another `thread` of its process.
        of: the pipe or socket, the id of the process, or the lock of the file and its path.
        runs: how often it has run: the same at two looks if it was blocked all the time between.
    """

    thread: int
    in_: Literal["read", "write", "end", "file", "lock", "thread"] = msgspec.field(name="in")
    of: str
    runs: Amount


class BlockedProcess(ProbeAnswer, frozen=True):
    """The threads of a process that are blocked; `others`: how many are not, or are not known to be."""

    pid: Amount
    threads: tuple[BlockedThread, ...] = ()
    others: Amount = 0


class PipeEnds(ProbeAnswer, frozen=True):
    """The processes that have an end of a pipe."""

    readers: tuple[Amount, ...] = ()
    writers: tuple[Amount, ...] = ()


class PipeHolders(ProbeAnswer, frozen=True):
    """The answer to `holders`. `is_whole`: no other process can have an end of these pipes."""

    pipes: dict[str, PipeEnds]
    is_whole: bool = False


class ProbeStacks(ProbeAnswer, frozen=True):
    """The answer to `stacks`: every thread with its frames, the number of threads, and which block each other.

    `marks`, `used`, `shared`, `blocked`: of the process, where asked. `shared` is None where it can have no such locks,
    `blocked` where the kernel does not say it. `shared_omitted`: how many more locks there may be.
    """

    stacks: tuple[ProbeStack, ...]
    total: Amount
    deadlocks: tuple[Deadlock, ...] = ()
    marks: ProcessMarks | None = None
    used: ProcessorUse | None = None
    shared: tuple[SharedLock, ...] | None = None
    shared_omitted: Amount = 0
    blocked: BlockedProcess | None = None


class ProbeStop(ProbeAnswer, frozen=True):
    """The answer to `stop`: all that a stop shows."""

    thread: int
    frames: tuple[ProbeFrame, ...]
    total: Amount
    hidden: dict[str, Amount] = {}
    threads: tuple[ProbeThread, ...] = ()
    threads_total: Amount = 0
    locals: tuple[ProbeVariable, ...] = ()
    locals_total: Amount = 0
    globals: tuple[ProbeVariable, ...] = ()
    """Those that the statement at hand reads."""
    returned: tuple[ProbeVariable, ...] = ()
    """What functions returned to the top frame in the last step."""
    handling: str | None = None
    """The exception that the top frame is handling: type and message."""
    raised: ProbePlace | None = None
    """Where the exception of the stop was raised, if it has left that frame: in a library, or it was raised again."""


class ProbeVariables(ProbeAnswer, frozen=True):
    """The answer to `variables`: a scope, or with a path a value and its children."""

    variables: tuple[ProbeVariable, ...]
    total: Amount
    name: str | None = None
    value: str | None = None
    type: str | None = None
    size: Amount = 0
    withheld: bool = False


class RaisedFrame(ProbePlace, frozen=True):
    """A frame that an exception has passed, or one that has called these."""

    raised: bool = False
    """Whether the exception was raised here."""
    top: bool = False
    """Whether this is the frame in which the program is stopped: the first of its stack."""
    locals: tuple[ProbeVariable, ...] = ()
    locals_total: Amount = 0


class RaisedException(ProbeAnswer, frozen=True):
    """An exception, its frames from where it was raised on, and what is directly behind it."""

    type: str
    text: str = ""
    way: str | None = None
    """From the one before it: `cause`, `context`, `suppressed` (by `from`) or `member` (of a group)."""
    same: bool = False
    """Whether it stands elsewhere in the answer, with what is behind it."""
    notes: tuple[str, ...] = ()
    notes_total: Amount = 0
    members: Amount = 0
    frames: tuple[RaisedFrame, ...] = ()
    total: Amount = 0
    inner: tuple["RaisedException", ...] = ()


class ProbeExceptionContext(ProbeAnswer, frozen=True):
    """The answer to `exception`: the exception at a stop, and how many of those behind it were left out."""

    exception: RaisedException
    omitted: Amount = 0
    uncounted: bool = False
    """Whether there are more than were counted."""
    hidden: dict[str, Amount] = {}
    """How many frames of which packages are left out of those of the exception itself."""
    withheld: bool = False


class ValueDescription(ProbeAnswer, frozen=True):
    """The answer to `describe`: one value with its type and true length."""

    name: str
    value: str
    type: str
    module: str = ""
    length: int | None = None
    size: Amount = 0


class ProbeTask(ProbeAnswer, frozen=True):
    """A task of asyncio or of Trio."""

    library: str
    id: int
    name: str
    state: str
    """`running`, `ready` (to run) or `waiting`."""
    chain: tuple[ProbeFrame, ...] = ()
    """From its coroutine to the innermost one that it awaits, which has the index 0."""
    chain_omitted: Amount = 0
    thread: int | None = None
    waits: str | None = None
    blocked_in: ThreadWait | None = None
    """What the thread of a running task waits for, and with it all tasks of its loop."""
    awaited_by: tuple[str, ...] = ()
    depth: Amount = 0
    """Of Trio: in the tree of nurseries. A task comes before its children."""
    parent: int | None = None
    nursery: int = 0
    nurseries: Amount = 0


class Tasks(ProbeAnswer, frozen=True):
    """The answer to `tasks`: those of asyncio, then the tree of Trio's."""

    tasks: tuple[ProbeTask, ...]
    total: Amount
    notes: tuple[str, ...] = ()


class ProbeModule(ProbeAnswer, frozen=True):
    """A module that the program has imported."""

    name: str
    file: str | None = None
    version: str | None = None
    library: bool = False


class Modules(ProbeAnswer, frozen=True):
    """The answer to `modules`: a page of them, and how many there are."""

    modules: tuple[ProbeModule, ...]
    total: Amount


class Unpaused(ProbeAnswer, frozen=True):
    """The answer to `unpause`: whether the pause is taken back; not if a thread has stopped meanwhile."""

    taken: bool


class EvaluationOutcome(ProbeAnswer, frozen=True):
    """The answer to `start`, `outcome` and `interrupt`: how an evaluation ended, if it has.

    `value` of one in the main module; in a frame pydevd answers with it, unless that would be an object's address.
    """

    done: bool
    has_value: bool = False
    """Whether the code ends with an expression."""
    value: str = ""
    type: str | None = None
    child_count: int | None = None
    length: int | None = None
    unit: str = ""
    """What `length` counts: items of a collection, characters or bytes of a text."""
    printed: str = ""
    error: str | None = None
    trace: str = ""
    exit: str | None = None
    """What the code wanted to end the program with."""
    withdrawn: bool = False
    """Whether it was taken back before it began."""
    others_ran: bool = False
    """Whether other threads of a stopped program ran meanwhile: it may have waited for one of them."""
    others_passed: bool = False
    """Whether another thread came to a breakpoint meanwhile, and did not stop there."""
    raised_later: bool = False
    """Whether a signal handler of the program has raised the error, which the program is to have as well."""
    elsewhere: bool = False
    """Whether another thread has evaluated it, as its own is stuck in an earlier one."""


class AwaitedAnswer(ProbeAnswer, frozen=True):
    """The answer to `awaited`: what an evaluation waits for, if it waits for anything that is known.

    `turned_away`: threads that came to a breakpoint meanwhile, and wait there for its end.
    """

    waits: ThreadWait | None = None
    turned_away: tuple[ProbeThread, ...] = ()


class RecordingAnswer(ProbeAnswer, frozen=True):
    """The answer to `record`: whether hits of breakpoints are recorded."""

    recording: bool


class Interrupted(ProbeAnswer, frozen=True):
    """The answer to `over`: how many conditions of observed places were interrupted."""

    interrupted: Amount


Body = TypeVar("Body", bound=ProbeAnswer)


class _Failure(msgspec.Struct, frozen=True):
    kind: str = "invalid"
    message: str = ""


class _Reply(msgspec.Struct, Generic[Body], frozen=True):
    answer: Body | None = None
    error: _Failure | None = None
    cut: bool = False
    ms: float = 0.0


class ProbeReply(msgspec.Struct, Generic[Body], frozen=True):
    """An answer and what it cost."""

    answer: Body
    cut: bool
    """Whether the probe's bound of time or size ended it early; its totals are true all the same."""
    ms: float


def decode(text: str | bytes, kind: type[Body], local: Callable[[str], str] | None = None) -> ProbeReply[Body]:
    """Return the answer in the result of `evaluate(call_expression(...))`, or to `ASK`; `local` translates its paths.

    Raises:
        ProbeError: there is none, or it says what went wrong.
    """
    if not text:
        raise ProbeError("absent", "The probe is not in the program.")
    if len(text) > MOST_BYTES:
        raise ProbeError("invalid", f"The answer has {len(text)} characters.")
    try:
        reply: _Reply[Body] = msgspec.json.decode(text, type=_Reply[kind])  # type: ignore[valid-type]
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProbeError("invalid", f"The answer cannot be read: {error}") from None
    if reply.error is not None:
        raise ProbeError(reply.error.kind, reply.error.message)
    if reply.answer is None:
        raise ProbeError("invalid", "The answer is empty.")
    return ProbeReply(reply.answer if local is None else _translated(reply.answer, local), reply.cut, reply.ms)


def _translated(part: Any, local: Callable[[str], str]) -> Any:
    """A part of an answer with `local` applied to the file of every place."""
    if isinstance(part, tuple):
        return tuple(_translated(each, local) for each in part)
    if not isinstance(part, ProbeAnswer):
        return part
    parts = {name: _translated(getattr(part, name), local) for name in part.__struct_fields__}
    if type(parts.get("file")) is str:
        parts["file"] = local(parts["file"])
    return type(part)(**parts)
