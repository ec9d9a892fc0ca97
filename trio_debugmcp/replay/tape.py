"""`Tape`: what one debug adapter said in a recorded session, to be said again to a client that asks much the same.

Theory of operation
-------------------
Requests that move the program on (`launch`, `continue`, `next`, …) and the client's answers to reverse requests are
*moves*. The recording is cut at them: what the adapter said between two moves is due at its recorded delay after the
first of them, and at the latest when the client makes the second. So the tape waits for the client wherever the real
adapter did, and a client may ask more, less, or in another order than the recorded one in between.

A session with children has a tape for each connection, cut together by `tapes`: what one adapter said after a move on
another connection waits for that move.

All other requests are questions, and are answered as recorded: to the same question, asked at the same place. A place
begins with a move or a `stopped` event; what depends on where the program is stopped is never answered from another.

Pure: delays are given, and `stage.py` lets them pass.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any, Literal

from msgspec import Struct

from trio_debugmcp.state.payloads import shortened

DapMessage = Mapping[str, Any]

MOVES = frozenset(
    {
        "initialize", "launch", "attach", "configurationDone", "continue", "next", "stepIn", "stepOut", "stepBack",
        "reverseContinue", "goto", "pause", "restart", "restartFrame", "terminate", "disconnect",
    }
)  # fmt: skip
"""Requests that begin something, after which the adapter may say anything."""

LASTING = frozenset(
    {
        "threads", "setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints", "setDataBreakpoints",
        "modules", "loadedSources", "source", "breakpointLocations",
    }
)  # fmt: skip
"""Questions whose answer at one place is good enough at another; the nearest is taken."""

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
"""The argument without which a question is not the same question."""


class Said(Struct, frozen=True):
    """A message of a recorded session; `t` in seconds from any origin."""

    t: float
    by: Literal["client", "adapter"]
    message: DapMessage


class MoveId(Struct, frozen=True):
    """The number of a move among those of its connection, counted from 1."""

    connection: str
    number: int


class Due(Struct, frozen=True):
    """A message that the adapter says `delay` seconds from now; with None in its place it hangs up.

    If `after` is set, the delay begins when that move is made, which may be yet to come. `t`: when it was said in the
    recording.
    """

    delay: float
    message: DapMessage | None
    after: MoveId | None = None
    t: float = 0.0


class Reply(Struct, frozen=True):
    """What follows on a client's message. With `move`, all that was due before is due now, and comes first."""

    due: tuple[Due, ...] = ()
    move: MoveId | None = None


class _Question(Struct):
    """A recorded question, with its answer if there ever was one."""

    place: int
    command: str
    arguments: DapMessage
    t: float
    answer: Said | None = None
    used: bool = False


class _Move(Struct):
    """A recorded move and what the adapter said from there to the next one."""

    name: str | None
    id: MoveId
    t: float
    seq: int | None
    lines: list["_Line"]


class _Line(Struct):
    """What the adapter said, and the latest move before it on any connection."""

    said: Said
    after: _Move


class Tape:
    """One adapter connection. Feed it the client's messages with `take`, and tell it with `sent` what was said.

    Made by `tapes`.
    """

    def __init__(self, connection: str) -> None:
        self._moves = [_Move(None, MoveId(connection, 0), 0.0, None, [])]
        self._questions: list[_Question] = []
        self._next = 1
        self._place = 0
        self._seqs: dict[int, int] = {}
        self._ended_at: float | None = None
        self._recorded_place = 0
        self._open_questions: dict[int, _Question] = {}

    @property
    def over(self) -> bool:
        """Whether the client has made every recorded move."""
        return self._next == len(self._moves)

    @property
    def moves(self) -> Mapping[MoveId, float]:
        """The recorded moves, and when they were made."""
        return {move.id: move.t for move in self._moves[1:]}

    def opening(self) -> tuple[Due, ...]:
        """What the adapter says before it is spoken to."""
        return self._script(self._moves[0])

    def take(self, message: DapMessage) -> Reply:
        """A message of the client."""
        if message["type"] == "response":
            return self._move(None, message) if self._coming is None and not self.over else Reply()
        command = message["command"]
        if command in MOVES:
            return self._take_move(command, message)
        question = self._find(command, message.get("arguments") or {})
        if question is None:
            return Reply((Due(0.0, _refusal(message, f"the recording has no answer to {_shown(message)} here")),))
        question.used = True
        if question.answer is None:
            return Reply()
        answer = {**question.answer.message, "request_seq": message["seq"]}
        return Reply((Due(question.answer.t - question.t, answer, t=question.answer.t),))

    def sent(self, message: DapMessage) -> None:
        """The adapter has said this."""
        if message.get("event") == "stopped":
            self._place += 1

    # --- The recording ------------------------------------------------------------------------------------------------

    def record(self, said: Said, latest: _Move) -> _Move:
        """Add what was said next; returns the latest move of the session, which was `latest` so far."""
        message = said.message
        kind, command = message.get("type"), message.get("command", "")
        if said.by == "client":
            if kind == "response" or command in MOVES:
                self._recorded_place += 1
                number = MoveId(self._moves[0].id.connection, len(self._moves))
                name = None if kind == "response" else command
                self._moves.append(_Move(name, number, said.t, message.get("seq"), []))
                return self._moves[-1]
            question = _Question(self._recorded_place, command, message.get("arguments") or {}, said.t)
            self._questions.append(question)
            self._open_questions[message["seq"]] = question
        elif kind == "response" and (asked := self._open_questions.pop(message["request_seq"], None)) is not None:
            asked.answer = said
        else:
            self._recorded_place += message.get("event") == "stopped"
            self._moves[-1].lines.append(_Line(said, latest))
        return latest

    def hang_up(self, t: float) -> None:
        """The adapter closed this connection at that time of the recording."""
        self._ended_at = t

    # --- Moves --------------------------------------------------------------------------------------------------------

    @property
    def _coming(self) -> str | None:
        """The next recorded move; None for an answer to a reverse request, or when none is left."""
        return None if self.over else self._moves[self._next].name

    def _take_move(self, command: str, message: DapMessage) -> Reply:
        ahead = [index for index in range(self._next, len(self._moves)) if self._moves[index].name == command]
        if command == "disconnect" and ahead:
            self._skip_to(ahead[-1])
        elif ahead and self._may_skip(ahead[0]):
            self._skip_to(ahead[0])
        if self._coming == command:
            return self._move(command, message)
        if command == "disconnect":
            return Reply((Due(0.0, _success(message)), Due(0.0, None)), self._moves[-1].id)
        goes_on = f"goes on with {self._coming}" if self._coming else "is over" if self.over else "waits for an answer"
        return Reply((Due(0.0, _refusal(message, f"the recording has no {command} here: it {goes_on}")),))

    def _may_skip(self, index: int) -> bool:
        """A client that answers nothing, or has no configuration to conclude, gets on all the same."""
        return all(move.name in (None, "configurationDone") for move in self._moves[self._next : index])

    def _skip_to(self, index: int) -> None:
        for move in self._moves[self._next : index]:
            self._place += 1 + sum(line.said.message.get("event") == "stopped" for line in move.lines)
        self._next = index

    def _move(self, name: str | None, message: DapMessage) -> Reply:
        move = self._moves[self._next]
        self._next += 1
        self._place += 1
        if name is not None and move.seq is not None:
            self._seqs[move.seq] = message["seq"]
        return Reply(self._script(move), move.id)

    def _script(self, move: _Move) -> tuple[Due, ...]:
        script = []
        latest = move
        for line in move.lines:
            latest = line.after if line.after.t > move.t else move
            script.append(Due(line.said.t - latest.t, self._addressed(line.said.message), latest.id, line.said.t))
        if self._ended_at is not None and self._ends_after(move):
            script.append(Due(max(0.0, self._ended_at - latest.t), None, latest.id, self._ended_at))
        return tuple(script)

    def _ends_after(self, move: _Move) -> bool:
        """Whether the adapter hung up before the move that was recorded next."""
        following = move.id.number + 1
        until = self._moves[following].t if following < len(self._moves) else inf
        return self._ended_at is not None and self._ended_at < until

    def _addressed(self, message: DapMessage) -> DapMessage:
        """An answer to a move bears the number that the move has today."""
        asked = message.get("request_seq")
        if message.get("type") != "response" or asked not in self._seqs:
            return message
        return {**message, "request_seq": self._seqs[asked]}

    # --- Questions ----------------------------------------------------------------------------------------------------

    def _find(self, command: str, arguments: DapMessage) -> _Question | None:
        """The best recorded match: here rather than elsewhere, the very same words rather than the same question."""
        subject = _subject(command, arguments)
        asked = [
            each
            for each in self._questions
            if each.command == command
            and (each.place == self._place or command in LASTING)
            and (each.arguments == arguments or _subject(command, each.arguments) == subject)
        ]

        def distance(each: _Question) -> tuple[bool, int, bool, bool]:
            later = each.place > self._place
            return later, abs(each.place - self._place), each.arguments != arguments, each.used

        return min(asked, key=distance, default=None)


def tapes(said: Iterable[tuple[str, Said]], ended_at: Mapping[str, float] | None = None) -> dict[str, Tape]:
    """The tapes of a session's connections, by name, from all that was said on them, in order.

    Args:
        said: the connection's name and the message.
        ended_at: when adapters hung up, as far as it was recorded.
    """
    made: dict[str, Tape] = {}
    latest = _Move(None, MoveId("", 0), 0.0, None, [])
    for connection, line in said:
        if connection not in made:
            made[connection] = Tape(connection)
        latest = made[connection].record(line, latest)
    for connection, t in (ended_at or {}).items():
        made[connection].hang_up(t)
    return made


def without_terminals(said: Iterable[tuple[str, Said]]) -> Iterator[tuple[str, Said]]:
    """The same session as if the adapter had started the program by itself: for a client that must start nothing."""
    return (each for each in said if each[1].message.get("command") != "runInTerminal")


def _subject(command: str, arguments: DapMessage) -> object:
    if command == "setBreakpoints":
        source = arguments.get("source") or {}
        lines = [each.get("line") for each in arguments.get("breakpoints") or ()]
        return source.get("path"), source.get("sourceReference"), lines
    name = _SUBJECTS.get(command)
    return None if name is None else arguments.get(name)


def _shown(request: DapMessage) -> str:
    """A question, as far as a person would say it."""
    command, arguments = request["command"], request.get("arguments") or {}
    subject = arguments.get(_SUBJECTS.get(command, ""))
    return f"{command} '{shortened(subject)}'" if isinstance(subject, str) else f"this {command}"


def _success(request: DapMessage) -> DapMessage:
    command = request["command"]
    return {"seq": 0, "type": "response", "request_seq": request["seq"], "command": command, "success": True}


def _refusal(request: DapMessage, why: str) -> DapMessage:
    return {**_success(request), "success": False, "message": why}
