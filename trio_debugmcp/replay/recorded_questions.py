"""`Questions`: what a recorded debug adapter was asked, and the choice of an answer to what it is asked now. Pure.

A question is asked at a place (tape.py). One about where the program is stopped never gets the answer of another place.
"""

import ast
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from trio_debugmcp.probe import bootstrap
from trio_debugmcp.state.payloads import shortened

DapMessage = Mapping[str, Any]

LASTING = frozenset(
    {
        "threads", "setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints", "setDataBreakpoints",
        "modules", "loadedSources", "source", "breakpointLocations",
    }
)  # fmt: skip
"""Questions that may get the answer of another place; the nearest one is taken."""

MAX_EXPRESSION_LENGTH = 80
"""Characters of an expression in a refusal, whose whole sentence must not be cut."""

_WORDS = {
    "stackTrace": "the stack of this thread",
    "scopes": "these variables",
    "variables": "these variables",
    "setVariable": "this change",
    "setExpression": "this change",
    "exceptionInfo": "the details of this exception",
    "source": "the text of this source",
    "completions": "completions of this text",
    "setBreakpoints": "these breakpoints",
    "setFunctionBreakpoints": "these breakpoints",
    "setExceptionBreakpoints": "these breakpoints",
    "setDataBreakpoints": "these breakpoints",
    "dataBreakpointInfo": "these breakpoints",
    "breakpointLocations": "the lines at which a breakpoint can be set",
}

_PROBE_WORDS = {
    "variables": "these variables",
    "capture": "these variables",
    "stop": "these variables",
    "frames": "the stack of this thread",
    "stacks": "the stacks of these threads",
    "threads": "these threads",
    "tasks": "the tasks of this program",
}

DELAYED = "stackTrace"
"""The question that the server asks by itself, some time after a stop: where the other threads are."""

_SUBJECTS: Mapping[str, str] = {
    "stackTrace": "threadId",
    "exceptionInfo": "threadId",
    "scopes": "frameId",
    "variables": "variablesReference",
    "setVariable": "variablesReference",
    "evaluate": "expression",
    "source": "sourceReference",
    "completions": "text",
}
"""By command: the argument that must be equal for a question to be the same."""


class TapedMessage(Struct, frozen=True):
    """A message of a recorded session; `t` in seconds from any origin."""

    t: float
    by: Literal["client", "adapter"]
    message: DapMessage


class RecordedQuestion(Struct):
    """A recorded question, with its answer if it was answered."""

    place: int
    command: str
    arguments: DapMessage
    t: float
    answer: TapedMessage | None = None
    used: bool = False


class Questions:
    """The recorded questions of one connection, and the choice of an answer."""

    def __init__(self) -> None:
        self._all: list[RecordedQuestion] = []
        self._open: dict[int, RecordedQuestion] = {}

    def record(self, place: int, request: TapedMessage) -> None:
        """Add a question that was asked at that place."""
        arguments = request.message.get("arguments")
        if not isinstance(arguments, dict):  # a recording is a file that may say anything
            arguments = {}
        question = RecordedQuestion(place, request.message.get("command", ""), arguments, request.t)
        self._all.append(question)
        self._open[request.message["seq"]] = question

    def record_answer(self, answer: TapedMessage) -> bool:
        """Add a recorded response; returns whether it answers a question."""
        question = self._open.pop(answer.message["request_seq"], None)
        if question is not None:
            question.answer = answer
        return question is not None

    def has_unasked(self, command: str, place: int, before: float) -> bool:
        """Whether a question with that command was asked at that place before that time, and is not yet asked again."""
        return any(
            question.place == place and question.command == command and question.t < before and not question.used
            for question in self._all
        )

    def find(self, command: str, arguments: DapMessage, place: int) -> RecordedQuestion | None:
        """Find the best match: from this place rather than another, and equal rather than with the same subject."""
        subject = _subject(command, arguments)
        candidates = [
            question
            for question in self._all
            if question.command == command
            and (question.place == place or command in LASTING)
            and (question.arguments == arguments or _subject(command, question.arguments) == subject)
        ]

        def distance(question: RecordedQuestion) -> tuple[bool, int, bool, bool]:
            # Places that are yet to come are last: their answers know of things that have not happened.
            return question.place > place, abs(question.place - place), question.arguments != arguments, question.used

        return min(candidates, key=distance, default=None)


def _subject(command: str, arguments: DapMessage) -> object:
    if command == "setBreakpoints":
        source = arguments.get("source") or {}
        lines = [breakpoint.get("line") for breakpoint in arguments.get("breakpoints") or ()]
        return source.get("path"), source.get("sourceReference"), lines
    if command == "evaluate" and (probe_question := bootstrap.asked_in(str(arguments.get("expression")))) is not None:
        return probe_question
    if command == bootstrap.ASK:
        return bootstrap.asked_by(arguments)
    name = _SUBJECTS.get(command)
    return None if name is None else arguments.get(name)


def words_for(request: DapMessage) -> str:
    """Return in the user's words what a question asks for."""
    command, arguments = request["command"], request.get("arguments") or {}
    if command not in ("evaluate", bootstrap.ASK):
        return _WORDS.get(command, "what was asked for")
    text = str(arguments.get("expression"))
    question = bootstrap.asked_by(arguments) if command == bootstrap.ASK else bootstrap.asked_in(text)
    if question is None or question[0] == "evaluate":
        return _value_of(text if question is None else _text_of(str(question[1])))
    about = msgspec.json.decode(question[1]) if question[1] else {}
    named = about.get("path") or about.get("expression")
    return _value_of(named) if named else _PROBE_WORDS.get(question[0], "what was asked for")


def _text_of(literal: str) -> str:
    """Return the expression that is put to the probe as a literal."""
    try:
        return str(ast.literal_eval(literal))
    except (ValueError, SyntaxError):
        return literal


def _value_of(expression: str) -> str:
    return f"the value of `{shortened(' '.join(expression.split()), MAX_EXPRESSION_LENGTH)}`"
