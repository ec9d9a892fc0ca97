"""`full` and `say`: parameters of every tool, which no list shows.

    beside, arguments = apart({"thread_id": 1, "full": True})         # Beside(full=True), {"thread_id": 1}
    call_outcome(answer, meta, full=checked(beside)).result           # what the caller gets

With `full` a tool answers with data instead of words. Programs and pages ask so; `server/answers/answer.py` has both
forms. `say` is a sentence of an agent on why it calls: people see it beside the call.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer, encoded
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.failures import failed_result
from trio_debugmcp.state.payloads import shortened


class CallOutcome(Struct, frozen=True):
    """What came of a call: the answer in words, which is recorded, and as data if the caller wants that.

    `code`: of a failure.
    """

    words: ToolResult
    code: str | None = None
    data: ToolResult | None = None

    @property
    def result(self) -> ToolResult:
        """The data if there are some, else the words: the caller's result."""
        return self.words if self.data is None else self.data


class Beside(Struct, frozen=True):
    """What stands beside the arguments of a call, as it was given."""

    full: object = False
    say: object = None

    @property
    def said(self) -> str | None:
        """The sentence, if it is one."""
        return self.say if isinstance(self.say, str) and self.say.strip() else None


def apart(arguments: Mapping[str, Any]) -> tuple[Beside, dict[str, Any]]:
    """Return what every tool takes, and the other arguments of a call.

    What is recorded of a call, and reported to others, is the same whichever form its answer has.
    """
    names = Beside.__struct_fields__
    given = {name: value for name, value in arguments.items() if name in names}
    return Beside(**given), {name: value for name, value in arguments.items() if name not in names}


def checked(beside: Beside) -> bool:
    """Return whether the caller wants data.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    full, say = beside.full, beside.say
    if not isinstance(full, bool):
        raise UsageError(
            "INVALID_PARAMETER", f"`full` is true or false, not {shortened(repr(full))}.", {"parameter": "full"}
        )
    if not isinstance(say, str | None):
        raise UsageError("INVALID_PARAMETER", f"`say` is a sentence, not {shortened(repr(say))}.", {"parameter": "say"})
    return full


def call_outcome(answer: Answer, meta: dict[str, Any] | None, *, full: bool, most: int) -> CallOutcome:
    """Return what came of a call that has succeeded.

    `meta`: what belongs to the answer and no model sees; `most`: bytes of the words.
    """
    data = _result(answer, meta, most, full=True) if full else None
    return CallOutcome(_result(answer, meta, most), data=data)


def failed_call(error: UsageError) -> CallOutcome:
    """Return what came of a call that has failed, which is the same in both forms."""
    return CallOutcome(failed_result(error), error.code)


def _result(answer: Answer, meta: dict[str, Any] | None, most: int, *, full: bool = False) -> ToolResult:
    text, structured = encoded(answer, full=full, most=most)
    return ToolResult(text=text, structured_content=structured, meta=meta)
