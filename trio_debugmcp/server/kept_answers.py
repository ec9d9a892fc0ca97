"""`debugger://call/{n}`: the answers of the last calls of agents, as they got them, for people who look at their work.

    answers.keep(7, result)
    answers.payload(call_number("debugger://call/7"))    # its text, and how much of that is left out

They are kept as long as there is room, whichever session they were about.
"""

import re
from collections import OrderedDict

from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.state.payloads import Payload

CALL_TEMPLATE = "debugger://call/{n}"
CALL_TEMPLATE_NAME = "Answer of a Call"
CALL_TEMPLATE_DESCRIPTION = "What a call of an agent was answered, by its number in the timeline, as the agent got it"

MAX_ANSWERS = 1000
"""More calls than an agent makes between two looks of a person."""

MAX_BYTES = 8_000_000
"""Of all of them together, as of the stops that are kept."""

MAX_ANSWER_BYTES = 24_000
"""Of one: it is read in one piece. The answers of tools are shorter, unless a caller asks for more."""

_URI = re.compile(r"debugger://call/([1-9]\d{0,8})")


class AnswerPayload(Payload, frozen=True):
    """The text of an answer; `bytes_left_out`: at its end."""

    call: int
    text: str
    bytes_left_out: int
    is_error: bool


class KeptAnswers:
    """Answers by the numbers of their calls. Of too many, or too large ones, the oldest are dropped."""

    def __init__(self) -> None:
        self._answers: OrderedDict[int, AnswerPayload] = OrderedDict()
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<KeptAnswers: {len(self._answers)} of {self._bytes} bytes>"

    def keep(self, call: int, result: ToolResult) -> None:
        """Keep what a call is answered; it has to be without secrets."""
        whole = result.text.encode()
        text = whole[:MAX_ANSWER_BYTES].decode(errors="ignore")
        left_out = len(whole) - len(text.encode())
        self._answers[call] = AnswerPayload(call, text, left_out, result.is_error)
        self._bytes += len(whole) - left_out
        while len(self._answers) > MAX_ANSWERS or self._bytes > MAX_BYTES:
            _, oldest = self._answers.popitem(last=False)
            self._bytes -= len(oldest.text.encode())

    def payload(self, call: int) -> AnswerPayload | None:
        """Return the answer of a call, or None if it is not kept."""
        return self._answers.get(call)


def call_number(uri: str) -> int | None:
    """Return the number of the call whose answer has that URI."""
    named = _URI.fullmatch(uri)
    return int(named[1]) if named else None


def not_kept(call: int) -> str:
    """Return the sentence about an answer that is not there."""
    kept = f"the last {MAX_ANSWERS} answers to agents, as far as they fit in {MAX_BYTES // 1_000_000} MB"
    return f"The answer of call {call} is not kept. There are {kept}."
