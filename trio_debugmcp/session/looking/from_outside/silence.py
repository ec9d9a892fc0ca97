"""`Silence`: why a program does not answer, as far as looking at its process has established that. Pure.

    silence = silence_of(77, Waited(1.0, used=0.0), earlier, now)
    silence.words       # "the program does not answer: process 77 is stopped by a signal; SIGCONT continues it"

A cause is named only where it was seen. Otherwise the words say what was seen, and no cause. The errors for questions
about the program that have no answer are here, too: they say what was asked, and what to do.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking.by_probe.live_threads import LiveThread
from trio_debugmcp.session.looking.from_outside.process_sample import GONE, ProcessSample, is_starved
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened

Reason = Literal["stopped", "traced", "starved", "gil", "installing", "unreachable", "ended", "unknown"]

LITTLE = 0.2
"""The share of the time of a question. A program that is ready to run and has had less of a processor is starved."""

_SILENT = "the program does not answer"

_OF_THE_DEBUGGER = ("installing", "unreachable", "ended")
"""Reasons that say all by themselves: there is nothing that could answer."""

_STARVED = "while others use the processors or its own share is limited"
"""A container has a limit, which looks the same: its program is ready to run, and does not."""

_STATES = {"S": "sleeps", "D": "waits for a device", "R": "runs"}
"""What the other letters of the kernel mean: such a process may answer."""


class Waited(Struct, frozen=True):
    """How long a question has had no answer, and how much processor time the process has used since."""

    seconds: float
    used: float | None = None


class Silence(Struct, frozen=True):
    """A reason, and what was seen of the process, whose id is None where it could not be looked at.

    `keeper`: the thread that had the GIL at two looks, and was where it was.
    """

    reason: Reason = "unknown"
    pid: int | None = None
    waited: Waited = Waited(0.0)
    sample: ProcessSample | None = None
    keeper: LiveThread | None = None

    @property
    def words(self) -> str:
        """The reason for the middle of a sentence."""
        cause = self.cause
        if self.reason in _OF_THE_DEBUGGER:
            return cause
        return f"{_SILENT}: {cause}" if cause else _SILENT

    @property
    def is_held(self) -> bool:
        """Whether something else holds the whole process, of which no thread waits for anything."""
        return self.reason in ("stopped", "traced")

    @property
    def cause(self) -> str:
        """The reason after "does not answer:"; empty where nothing was seen."""
        match self.reason:
            case "gil":
                return _keeps(self.keeper)
            case "installing":
                return "the debugger's part is still being installed in the program"
            case "unreachable":
                return f"its connection to the debugger has ended, though process {self.pid} has not"
            case "ended":
                is_zombie = self.sample is not None and self.sample.state == "Z"
                left = f"its parent has not collected process {self.pid} yet"
                return f"the program has ended: {left if is_zombie else f'there is no process {self.pid} any more'}"
            case "stopped":
                return f"process {self.pid} is stopped by a signal; SIGCONT continues it"
            case "traced":
                return f"process {self.pid} is stopped by a tracer, as another debugger is"
            case "starved":
                return f"process {self.pid} is ready to run, but {self._had}, {_STARVED}"
            case "unknown":
                return self._seen

    @property
    def advice(self) -> str:
        """A sentence that says what to do."""
        match self.reason:
            case "stopped":
                return f"Continue it with `kill -CONT {self.pid}`, and ask again."
            case "gil":
                return "If that is a call into C code, it answers once that has ended; debug_restart ends it now."
            case "ended" | "unreachable":
                return "Look at debug_state."
            case _:
                return "Ask again; debug_restart ends it, if it does not recover."

    @property
    def _had(self) -> str:
        return f"has had {self.waited.used or 0:.2f} s of processor time in {self.waited.seconds:.1f} s"

    @property
    def _seen(self) -> str:
        if self.sample is None or self.waited.used is None:
            return ""
        state = "is ready to run" if self.sample.ready else _STATES.get(self.sample.state, "waits")
        return f"process {self.pid} {state}, and {self._had}"


def silence_of(
    pid: int | None,
    waited: Waited,
    earlier: ProcessSample | None,
    now: ProcessSample | None,
    *,
    installing: bool = False,
) -> Silence:
    """Return why a question has had no answer, from two looks at the process, one shortly after the other.

    `installing`: the debugger's part is not in the program yet, as far as is known.
    """
    reason: Reason = "installing" if installing else "unknown"
    if pid is None or earlier is None or now is None:
        return Silence(reason, pid, waited)
    if now.state in (GONE, "Z"):
        reason = "ended"
    elif now.state == "T":
        reason = "stopped"
    elif now.state == "t":
        reason = "traced"
    elif waited.used is not None and waited.used < LITTLE * waited.seconds and is_starved(earlier, now):
        reason = "starved"
    return Silence(reason, pid, waited, now)


def _keeps(keeper: LiveThread | None) -> str:
    # A loop on one line looks the same from outside, if the debugger is busy for a reason of its own meanwhile.
    guess = "which may be a call into C code that keeps it"
    if keeper is None:
        return f"a thread had the GIL at two looks and had not moved, {guess}"
    place = keeper.location
    where = "" if place is None else f", at {place.file}:{place.line} in {place.function_name}"
    return f"thread {keeper.id} {keeper.name} had the GIL at two looks{where}, {guess}"


class Unanswered(Struct, frozen=True):
    """Why a question has no answer: the `kind` of a `ProbeError` and its text, and of a silent program the reason."""

    kind: str
    text: str
    silence: Silence | None = None

    @property
    def is_slow(self) -> bool:
        """Whether there was not enough time for an answer."""
        return self.kind in ("slow", "silent")

    @property
    def reason(self) -> str:
        """The text for the middle of a sentence."""
        return self.text.rstrip(".")


def silent(silence: Silence) -> Unanswered:
    """Return the failure of a question to a program that is silent."""
    return Unanswered("silent", silence.words, silence)


class NoProbeAnswer(Exception):
    """A question to the probe has no answer."""

    def __init__(self, failure: Unanswered) -> None:
        super().__init__(failure.text)
        self.failure = failure


class About(Struct, frozen=True):
    """What a question is about, for the error if it has no answer.

    `words`: at the beginning of a sentence. `details`: of the error for an expression that raises. `timeout`: the code
    of the error for what took too long.
    """

    words: str
    place: FramePlace = FramePlace(0)
    details: Mapping[str, object] = {}
    timeout: str = "TIMEOUT"


def refusal(failure: Unanswered, about: About) -> UsageError | None:
    """Return the error for a question that has no answer; None where the adapter may have one."""
    match failure.kind:
        case "thread":
            return no_thread(failure.text)
        case "task":
            return no_task(failure.text)
        case "raised":
            sentence = f"{about.words} failed: {shortened(failure.text, MAX_MESSAGE_LENGTH)}"
            return UsageError("EVAL_FAILED", sentence, about.details)
        case "collection":
            return no_collection(about.words, failure.text)
        case "class":
            sentence = f"{about.words} is of type {failure.text}, not a class: pass it as `expression`."
            return UsageError("INVALID_PARAMETER", sentence, {"parameter": "type"})
        case "rejected":
            return rejected(failure.text)
        case "ambiguous":
            sentence = f"{failure.text}: pass the one that you mean."
            return UsageError("INVALID_PARAMETER", sentence, {"parameter": "expression"})
        case "atom":
            return UsageError(
                "INVALID_PARAMETER",
                f"{about.words} is of type {failure.text}. Equal values of that type may be one object, which anything "
                "may refer to. Ask about an object that has it.",
                {"parameter": "expression", "type": failure.text},
            )
        case "slow":
            sentence = f"{about.words} took too long, and was given up. Ask for less."
            return UsageError(about.timeout, sentence, {"threadId": about.place.thread_id})
        case "silent" if failure.silence is not None:
            sentence = f"{about.words}: {failure.text}. {failure.silence.advice}"
            return UsageError(about.timeout, sentence, {"threadId": about.place.thread_id})
        case _:
            return None


def no_thread(text: str) -> UsageError:
    """Return the error for a thread that is not there; `text` says which."""
    return UsageError("INVALID_THREAD", f"{text} Ask threads_list for those there are.")


def no_task(text: str) -> UsageError:
    """Return the error for a task that is not there, or that has not such a frame; `text` says which."""
    return UsageError("INVALID_PARAMETER", text, {"parameter": "task"})


def no_task_known(task: str, reason: str, adapter: str) -> UsageError:
    """Return the error for a task where no way leads to tasks."""
    sentence = f"Task {task} cannot be looked into: {reason}. Look at the threads with stacktrace_get."
    return UsageError("NOT_SUPPORTED", sentence, {"adapter": adapter})


def no_collection(words: str, kind: str) -> UsageError:
    """Return the error for a value that has no items to be counted."""
    return UsageError(
        "INVALID_PARAMETER",
        f"{words} is of type {kind}, not a collection whose items can be counted: use object_inspect or evaluate.",
        {"parameter": "expression", "type": kind},
    )


def rejected(why: str) -> UsageError:
    """Return the error for an expression that may run code of the program where none is to be run."""
    return UsageError(
        "SAFE_EVAL_REJECTED",
        f"Not evaluated safely: {why}. Ask for something simpler, for a stored field for example, or use evaluate, "
        "which runs anything.",
    )
