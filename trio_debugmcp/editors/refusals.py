"""How an editor is refused: DAP's word, and a sentence for the person."""

import json
import logging

from msgspec import ValidationError

from trio_debugmcp.errors import AdapterRefused, DebugError, UsageError
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.failures import usage_error

log = logging.getLogger(__name__)

_WORDS = {"NOT_PAUSED": "notStopped", "CANCELLED": "cancelled"}
"""DAP's words for failures, by our codes."""


class EditorRefusal(DebugError):
    """A request that is refused. `word`: DAP's for it; `show`: it is to be shown to the person."""

    def __init__(self, sentence: str, *, word: str | None = None, show: bool = False) -> None:
        super().__init__(sentence)
        self.sentence, self.word, self.show = sentence, word, show


def held_by(who: str) -> EditorRefusal:
    """Return the refusal of what moves or changes the program while a client holds it."""
    return EditorRefusal(f"{who} holds the session. Nothing is moved or changed until it is handed back.", show=True)


def refusal_of(error: Exception) -> EditorRefusal:
    """Return any failure in the words for an editor. One that is a bug of ours is logged."""
    match error:
        case EditorRefusal():
            return error
        case AdapterRefused(reason=reason):  # in the words of the adapter, which editors of its language know
            return EditorRefusal(reason)
        case ValidationError():
            return EditorRefusal(f"The arguments do not fit: {error}.")
    if not isinstance(error, DebugError | OSError):
        log.error("a request of an editor", exc_info=error)
        return EditorRefusal(f"A bug in the debugger: {type(error).__name__}: {error}.")
    found = usage_error(error)
    return EditorRefusal(found.message, word=_WORDS.get(found.code))


def check(result: ToolResult) -> None:
    """Raise the failure of a tool, if it has failed.

    Raises:
        UsageError: with its code.
    """
    if result.is_error:
        failure = json.loads(result.text)["error"]
        raise UsageError(failure["code"], failure["message"], failure.get("details"))
