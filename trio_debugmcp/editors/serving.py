"""`Service`: serves the requests of one editor, beside each other or in their order. Taking one never waits.

So what a person does next is read while an adapter is silent: `pause`, `cancel` and `disconnect` wait for no request.

    service = Service(channel, rounds, REQUESTS, nursery)
    service.take(request, editor)
    service.cancel(5)                    # the request of that `seq`, if it is not answered yet
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from typing import Any

import trio
from msgspec import Struct

from trio_debugmcp.dap.codec import decode_body
from trio_debugmcp.dap.messages import Request
from trio_debugmcp.editors.channel import MAX_MESSAGE_BYTES, EditorChannel
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.refusals import refusal_of
from trio_debugmcp.editors.rounds import Rounds
from trio_debugmcp.errors import DebugError, ProtocolViolation
from trio_debugmcp.session.program_at_hand import chosen

MAX_REQUESTS = 32
"""Requests of one editor that are served at a time. Editors have a handful; what comes beside waits."""

MAX_WAITING = 1000
"""Requests of one editor that have no answer yet, each a task; those beyond are refused."""

MAX_WAITING_BYTES = 2 * MAX_MESSAGE_BYTES
"""Of the arguments of these: the largest message, and what comes behind it."""


class Served(Struct, frozen=True):
    """How a request is served.

    `in_order`: after those that came before. `moves`: events wait until it is answered, as they are its effects.
    `early`: it is answered when it has begun, as its effect may be long in coming; then a failure is output.
    `urgent`: it waits for no other request: a person ends with it what hangs.
    """

    arguments: type[Any]
    serve: Callable[[Editor, Any], Awaitable[dict[str, Any] | None]]
    in_order: bool = False
    moves: bool = False
    early: bool = False
    urgent: bool = False


class _Task:
    """A request that has no answer yet. Its editor may cancel it."""

    def __init__(self, request: Request, editor: Editor) -> None:
        self.request, self.editor = request, editor
        self.scope = trio.CancelScope()
        self.answered = False


class Service:
    """The requests of one editor that has joined, served as `served` says.

    Attributes:
        configured: it has sent its breakpoints.
        asked_threads: it knows what threads there are.
    """

    def __init__(
        self, channel: EditorChannel, rounds: Rounds, served: Mapping[str, Served], nursery: trio.Nursery
    ) -> None:
        self._channel = channel
        self._rounds = rounds
        self._served = served
        self.configured, self.asked_threads = trio.Event(), trio.Event()
        self._nursery = nursery
        self._tasks: dict[_Task, None] = {}
        self._bytes = 0
        self._room = trio.Semaphore(MAX_REQUESTS)
        self._in_order: deque[_Task] = deque()
        self._is_serving_in_order = False

    def __repr__(self) -> str:
        return f"<Service: {len(self._tasks)} requests>"

    def take(self, request: Request, editor: Editor) -> None:
        """Serve a request as soon as its turn has come."""
        served = self._served.get(request.command)
        if served is None and request.command != "configurationDone":
            self._channel.refuse(request, f"`{request.command}` is not served here.")
            return
        size = len(request.arguments)
        if len(self._tasks) >= MAX_WAITING or self._bytes + size > MAX_WAITING_BYTES:
            self._channel.refuse(request, "Too many requests of this editor wait for their answers.")
            return
        task = _Task(request, editor)
        self._tasks[task] = None
        self._bytes += size
        if served is not None and not served.in_order:
            self._nursery.start_soon(self._serve, task, served)
            return
        self._in_order.append(task)
        if not self._is_serving_in_order:
            self._is_serving_in_order = True
            self._nursery.start_soon(self._serve_in_order)

    def cancel(self, number: int) -> None:
        """Cancel the request of that `seq`, if it has no answer yet."""
        for task in self._tasks:
            if task.request.seq == number and not task.answered:
                task.scope.cancel(reason="the editor has cancelled it")

    # --- Turns -----------------------------------------------------------------------------------------------

    async def _serve_in_order(self) -> None:
        while self._in_order:
            task = self._in_order.popleft()
            await self._serve(task, self._served.get(task.request.command))
        self._is_serving_in_order = False

    async def _serve(self, task: _Task, served: Served | None) -> None:
        at_once = served is None or served.in_order or served.urgent
        try:
            with task.scope:
                async with nullcontext() if at_once else self._room:
                    await self._carry_out(task, served)
            if task.scope.cancelled_caught and not task.answered:
                self._refuse(task, "The request was cancelled.", word="cancelled")
        finally:
            del self._tasks[task]
            self._bytes -= len(task.request.arguments)

    async def _carry_out(self, task: _Task, served: Served | None) -> None:
        if served is None:  # `configurationDone`
            self._respond(task)
            self.configured.set()
            return
        try:
            arguments = decode_body(task.request.arguments, served.arguments)
        except ProtocolViolation as violation:
            self._refuse(task, f"The arguments do not fit: {violation.reason}.")
            return
        if served.moves or served.early:
            self._rounds.hurry(task.editor)
        if served.early:
            await self._carry_out_early(task, served, arguments)
            return
        with task.editor.moves.one() if served.moves else nullcontext(), chosen(task.editor.session_id):
            try:
                body = await served.serve(task.editor, arguments)
            except Exception as error:  # noqa: BLE001 - also a bug of ours: it costs this request, and no other
                refusal = refusal_of(error)
                self._refuse(task, task.editor.plain(refusal.sentence), word=refusal.word, show=refusal.show)
            else:
                self._respond(task, body)
                self._report_past(task.editor)
        if task.request.command == "threads":
            self.asked_threads.set()

    async def _carry_out_early(self, task: _Task, served: Served, arguments: Any) -> None:
        editor = task.editor
        try:
            editor.check_control(f"`{task.request.command}`")
            editor.session()
        except DebugError as error:
            refusal = refusal_of(error)
            self._refuse(task, refusal.sentence, word=refusal.word)
            return
        self._respond(task)
        try:
            await served.serve(editor, arguments)
        except Exception as error:  # noqa: BLE001 - as above
            editor.note(refusal_of(error).sentence)

    def _report_past(self, editor: Editor) -> None:
        """Report to which recorded moment a request has led."""
        events, editor.past_events = editor.past_events, []
        for name, body in events:
            self._channel.event(name, body)

    # --- Answers ---------------------------------------------------------------------------------------------

    def _respond(self, task: _Task, body: object = None) -> None:
        task.answered = True
        self._channel.respond(task.request, body)

    def _refuse(self, task: _Task, sentence: str, *, word: str | None = None, show: bool = False) -> None:
        task.answered = True
        self._channel.refuse(task.request, sentence, word=word, show=show)
