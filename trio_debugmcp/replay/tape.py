"""`Tape`: the messages of one recorded debug adapter, to be sent again to a client that behaves much like the recorded.

Theory of operation
-------------------
Requests that move the program (`launch`, `continue`, `next`, …) and the client's answers to reverse requests are
*moves*. The recording is cut at them: what the adapter sent between two moves is due at its recorded delay after the
first of them, and at the latest when the client makes the second. So the tape waits for the client wherever the real
adapter did, and in between a client may ask more, less, or in another order than the recorded one.

A session with children has a tape for each connection, cut together by `tapes`: what one adapter sent after a move on
another connection waits for that move.

All other requests are questions, and get the recorded answer to the same question at the same place. A place begins
with a move or a `stopped` event; a question about where the program is stopped never gets the answer of another place.

    tape = tapes(messages)["s-1"]
    reply = tape.take({"type": "request", "seq": 5, "command": "next", "arguments": {"threadId": 1}})
    [due.delay for due in reply.due]        # when to send what follows

Pure: the tape returns delays, and recorded_adapter.py waits for them.
"""

from collections.abc import Iterable, Mapping
from math import inf

from msgspec import Struct

from trio_debugmcp.errors import not_recorded
from trio_debugmcp.replay.recorded_questions import DELAYED, DapMessage, Questions, TapedMessage, words_for

MOVES = frozenset(
    {
        "initialize", "launch", "attach", "configurationDone", "continue", "next", "stepIn", "stepOut", "stepBack",
        "reverseContinue", "goto", "pause", "restart", "restartFrame", "terminate", "disconnect",
    }
)  # fmt: skip
"""Requests that start something, after which the adapter may send anything."""


_TOOLS = {
    "initialize": "debug_launch",
    "configurationDone": "debug_launch",
    "launch": "debug_launch",
    "attach": "debug_attach",
    "continue": "debug_continue",
    "next": "debug_step",
    "stepIn": "debug_step (into)",
    "stepOut": "debug_step (out)",
    "stepBack": "debug_step (back)",
    "pause": "debug_pause",
    "restart": "debug_restart",
    "terminate": "debug_disconnect",
    "disconnect": "debug_disconnect",
}
"""By move: the tool that makes it."""


class MoveId(Struct, frozen=True):
    """The number of a move among those of its connection, counted from 1."""

    connection: str
    number: int


class Due(Struct, frozen=True):
    """A message that the adapter sends in `delay` seconds; if it is None, the adapter hangs up.

    If `after` is set, the delay starts when that move is made, which may be later. `t`: its time in the recording.
    """

    delay: float
    message: DapMessage | None
    after: MoveId | None = None
    t: float = 0.0


class RecordedReply(Struct, frozen=True):
    """What follows on a client's message. With `move`, all that was due before is due now, and is sent first."""

    due: tuple[Due, ...] = ()
    move: MoveId | None = None


class _Move(Struct):
    """A recorded move and what the adapter sent from there to the next one."""

    name: str | None
    id: MoveId
    t: float
    seq: int | None
    lines: list["_Line"]


class _Line(Struct):
    """A message of the adapter, and the latest move before it on any connection."""

    taped: TapedMessage
    after: _Move


class _RecordedScript:
    """What the adapter of one connection sent after each move of its client.

    Attributes:
        moves: the recorded moves; number 0 is the beginning of the connection.
        ended_at: when the adapter closed the connection.
    """

    def __init__(self, connection: str) -> None:
        self.connection = connection
        self.moves = [_Move(None, MoveId(connection, 0), 0.0, None, [])]
        self.ended_at = inf
        self._seqs: dict[int, int] = {}

    def add_move(self, taped: TapedMessage) -> _Move:
        """Add a move of the client, which is a request or an answer."""
        name = None if taped.message.get("type") == "response" else taped.message["command"]
        move = _Move(name, MoveId(self.connection, len(self.moves)), taped.t, taped.message.get("seq"), [])
        self.moves.append(move)
        return move

    def add_line(self, taped: TapedMessage, latest: _Move) -> None:
        """Add a message of the adapter; `latest`: the move before it on any connection."""
        self.moves[-1].lines.append(_Line(taped, latest))

    def has_seq(self, move: _Move, seq: int) -> None:
        """Note which `seq` the client's request has now."""
        if move.seq is not None:
            self._seqs[move.seq] = seq

    def after(self, move: _Move) -> tuple[Due, ...]:
        """Return what the adapter sent between a move and the next one."""
        script = []
        latest = move
        for line in move.lines:
            # A move on another connection counts if it is the later one: a child's adapter may have caused the message.
            latest = line.after if line.after.t > move.t else move
            script.append(Due(line.taped.t - latest.t, self._addressed(line.taped.message), latest.id, line.taped.t))
        following = move.id.number + 1
        until = self.moves[following].t if following < len(self.moves) else inf
        if self.ended_at < until:  # the adapter hung up before the next move
            script.append(Due(max(0.0, self.ended_at - latest.t), None, latest.id, self.ended_at))
        return tuple(script)

    def _addressed(self, message: DapMessage) -> DapMessage:
        """Give the response to a move the `seq` that the client's request has now."""
        request_seq = message.get("request_seq")
        if message.get("type") != "response" or request_seq not in self._seqs:
            return message
        return {**message, "request_seq": self._seqs[request_seq]}


class Tape:
    """One adapter connection. Made by `tapes`.

    Pass it the client's messages with `take`, and report with `sent` what was sent.
    """

    def __init__(self, connection: str) -> None:
        self._script = _RecordedScript(connection)
        self._moves = self._script.moves
        self._questions = Questions()
        self._next = 1
        self._place = 0
        self._recorded_place = 0

    def __repr__(self) -> str:
        return f"<Tape {self._script.connection!r} at move {self._next - 1} of {len(self._moves) - 1}>"

    @property
    def over(self) -> bool:
        """Whether the client has made every recorded move."""
        return self._next == len(self._moves)

    @property
    def moves(self) -> Mapping[MoveId, float]:
        """The recorded moves, and when they were made."""
        return {move.id: move.t for move in self._moves[1:]}

    def opening(self) -> tuple[Due, ...]:
        """Return what the adapter sends before the client's first message."""
        return self._script.after(self._moves[0])

    def take(self, message: DapMessage) -> RecordedReply:
        """Take a message of the client; returns what follows on it."""
        if message["type"] == "response":
            return self._move(None, message) if self._coming is None and not self.over else RecordedReply()
        command = message["command"]
        if command in MOVES:
            return self._take_move(command, message)
        question = self._questions.find(command, message.get("arguments") or {}, self._place)
        if question is None:
            return RecordedReply((Due(0.0, _refusal(message, not_recorded(words_for(message)))),))
        question.used = True
        if question.answer is None:
            return RecordedReply()
        answer = {**question.answer.message, "request_seq": message["seq"]}
        return RecordedReply((Due(question.answer.t - question.t, answer, t=question.answer.t),))

    def expects_question(self, before: float) -> bool:
        """Whether the server has yet to ask here what it asked by itself, after a pause, before that time."""
        return self._questions.has_unasked(DELAYED, self._place, before)

    def sent(self, message: DapMessage) -> None:
        """Report that a message of the adapter was sent."""
        if message.get("event") == "stopped":
            self._place += 1

    # --- The recording ------------------------------------------------------------------------------------------------

    def record(self, taped: TapedMessage, latest: _Move) -> _Move:
        """Add the next recorded message; returns the latest move of the session, which was `latest` so far."""
        message = taped.message
        kind, command = message.get("type"), message.get("command", "")
        if taped.by == "client":
            if kind == "response" or command in MOVES:
                self._recorded_place += 1
                return self._script.add_move(taped)
            self._questions.record(self._recorded_place, taped)
        elif kind != "response" or not self._questions.record_answer(taped):
            self._recorded_place += message.get("event") == "stopped"
            self._script.add_line(taped, latest)
        return latest

    def hang_up(self, t: float) -> None:
        """Add that the adapter closed this connection at that time of the recording."""
        self._script.ended_at = t

    # --- Moves --------------------------------------------------------------------------------------------------------

    @property
    def _coming(self) -> str | None:
        """The name of the next recorded move; None if it is an answer to a reverse request, or if none is left."""
        return None if self.over else self._moves[self._next].name

    def _take_move(self, command: str, message: DapMessage) -> RecordedReply:
        ahead = [index for index in range(self._next, len(self._moves)) if self._moves[index].name == command]
        if command == "disconnect" and ahead:
            self._skip_to(ahead[-1])
        elif ahead and _may_be_skipped(self._moves[self._next : ahead[0]]):
            self._skip_to(ahead[0])
        if self._coming == command:
            return self._move(command, message)
        if command == "disconnect":
            return RecordedReply((Due(0.0, _success(message)), Due(0.0, None)), self._moves[-1].id)
        if (
            self.over and self._script.ended_at < inf
        ):  # the server did not come to it before the adapter closed the connection
            return RecordedReply((Due(0.0, None),))
        return RecordedReply((Due(0.0, _refusal(message, not_recorded(_tool(command), self._next_words()))),))

    def _next_words(self) -> str:
        if self.over:
            return "the recorded session is over"
        if self._coming is None:
            return "the recorded session waits for an answer"
        return f"the recorded session continues with {_tool(self._coming)}"

    def _skip_to(self, index: int) -> None:
        for move in self._moves[self._next : index]:
            self._place += 1 + sum(line.taped.message.get("event") == "stopped" for line in move.lines)
        self._next = index

    def _move(self, name: str | None, message: DapMessage) -> RecordedReply:
        move = self._moves[self._next]
        self._next += 1
        self._place += 1
        if name is not None:
            self._script.has_seq(move, message["seq"])
        return RecordedReply(self._script.after(move), move.id)


def tapes(messages: Iterable[tuple[str, TapedMessage]], ended_at: Mapping[str, float] | None = None) -> dict[str, Tape]:
    """Make the tapes of a session's connections, by name.

    Args:
        messages: all messages on the connections in order, each with the connection's name.
        ended_at: when adapters hung up, if they did.
    """
    made: dict[str, Tape] = {}
    latest = _Move(None, MoveId("", 0), 0.0, None, [])
    for connection, line in messages:
        if connection not in made:
            made[connection] = Tape(connection)
        latest = made[connection].record(line, latest)
    for connection, t in (ended_at or {}).items():
        made[connection].hang_up(t)
    return made


def _may_be_skipped(moves: Iterable[_Move]) -> bool:
    """Whether a client may leave out these moves: answers, and the end of its configuration."""
    return all(move.name in (None, "configurationDone") for move in moves)


def _tool(move: str) -> str:
    return _TOOLS.get(move, move)


def _success(request: DapMessage) -> DapMessage:
    command = request["command"]
    return {"seq": 0, "type": "response", "request_seq": request["seq"], "command": command, "success": True}


def _refusal(request: DapMessage, why: str) -> DapMessage:
    return {**_success(request), "success": False, "message": why}
