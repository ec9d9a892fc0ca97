"""The errors for questions about the program that have no answer: they say what was asked, and what to do. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking.from_outside.silence import Unanswered
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened


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
