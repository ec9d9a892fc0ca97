"""One call of a tool, never made twice.

    call = ToolCall("add", arguments=lambda schema: {"a": 2}, audience=audience)
    result = await call_tool(pipes, call, era="auto", seconds=30)

Until the call is sent, whatever is out of the ordinary is None, and the full client may do it all. From then on the
tool may have run, so everything that can come is dealt with here: progress and log messages, what the server asks a
person, cancellation, and each way to fail.
"""

import re
from collections.abc import Callable
from math import isfinite
from typing import Any, Protocol

import trio
from msgspec import Struct

from trio_debugmcp.coercion import coerce_arguments
from trio_debugmcp.deadlines import Deadlines
from trio_debugmcp.errors import DebugError
from trio_debugmcp.light_client.exchange import Exchange
from trio_debugmcp.light_client.negotiation import is_modern, list_items, negotiate
from trio_debugmcp.light_client.protocol import (
    MAX_REQUEST_SECONDS,
    EraMode,
    Json,
    RequestFailed,
    malformed,
    no_handshake,
    not_supported,
    timed_out,
)
from trio_debugmcp.light_client.tool_result import checked
from trio_debugmcp.transports.line_pipes import Pipes

CAPABILITIES: Json = {
    "sampling": {},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
}
"""As the full client has them: the person is asked, or everything is declined."""

MAX_ROUNDS = 10
"""Of questions, each of which the server answers with further ones (2026-07-28); as in the SDK."""

MAX_QUESTIONS = 32
"""That are open at the same time; a person is asked one after the other anyway."""

STATE_ONLY_SECONDS = 0.25
"""Before a round without a question: the server wants to be asked again."""

CANCEL_SECONDS = 0.5
"""To notify the server that its answer is not awaited any more."""


class Audience(Protocol):
    """Who hears what happens beside the result, and answers what the server asks."""

    def progress(self, name: str, progress: float, total: float | None, message: str | None) -> None:
        """Show how far the tool is."""

    def log(self, level: str, logger: object, data: object) -> None:
        """Show a log message of the server."""

    def warn(self, text: str) -> None:
        """Show that something of the server is not what the protocol says."""

    async def roots(self) -> list[dict[str, str]]:
        """The directories that the server may know."""

    async def answer(self, method: str, params: Any) -> Json:
        """The `result` or the `error` of `sampling/createMessage` or `elicitation/create`."""


class ToolCall(Struct, frozen=True):
    """What is called, and who hears of it.

    Attributes:
        name: of the tool.
        arguments: returns the arguments for the tool's schema, empty if the tool is not listed.
        audience: hears of the call.
    """

    name: str
    arguments: Callable[[Json], Json]
    audience: Audience


async def call_tool(
    pipes: Pipes, call: ToolCall, *, era: EraMode, seconds: float, connect: float | None = None
) -> Json | None:
    """Begin a connection, within `connect` seconds, and call the tool.

    None: the full client should do it, and nothing was called.

    Raises:
        RequestFailed: there is no result that the protocol and the tool's schema permit.
        DebugError: what `call.arguments` raises.
    """
    outcome: Json | DebugError | None = None
    async with trio.open_nursery() as nursery:
        try:
            outcome = await _RunningCall(Exchange(pipes), call, seconds, nursery).run(
                era, seconds if connect is None else connect
            )
        except DebugError as error:
            outcome = error  # raised outside of the nursery, which would wrap it in a group
        nursery.cancel_scope.cancel("the call is over")
    if isinstance(outcome, DebugError):
        raise outcome
    return outcome


class _RunningCall:
    """One call on one exchange."""

    def __init__(self, exchange: Exchange, call: ToolCall, seconds: float, nursery: trio.Nursery) -> None:
        self._exchange = exchange
        self._call = call
        self._seconds = seconds
        self._nursery = nursery
        self._unreadable = ""
        self._deadlines = Deadlines()
        self._limit: trio.CancelScope | None = None
        self._latest = 0.0
        self._room = trio.Semaphore(MAX_QUESTIONS)
        self._questions: dict[str | int, trio.CancelScope] = {}
        exchange.on_request = self._on_request
        exchange.on_notification = self._on_notification

    async def run(self, era: EraMode, connect: float) -> Json | None:
        deadlines, exchange, seconds = self._deadlines, self._exchange, self._seconds
        server: Json | None = None
        tools: list[Json] | None = None
        with deadlines.until(deadlines.now() + connect) as limit:
            server = await negotiate(exchange, era, CAPABILITIES)
            deadlines.extend(limit, deadlines.now() + seconds)
            tools = None if server is None else await list_items(exchange, server, "tools/list")
        if limit.cancelled_caught:
            raise no_handshake("tools/call", connect) if server is None else timed_out("tools/list", seconds)
        if server is None or tools is None:
            return None
        tool = next((tool for tool in tools if tool["name"] == self._call.name), {})
        schema = tool.get("inputSchema", {})
        arguments = coerce_arguments(self._call.arguments(schema), schema)
        exchange.on_garbage = self._on_garbage
        self._latest = deadlines.now() + max(MAX_REQUEST_SECONDS, seconds)
        result: Json | None = None
        with deadlines.until(deadlines.now() + seconds) as self._limit:
            result = await self._result(server, tool, {"name": self._call.name, "arguments": arguments})
        if not self._limit.cancelled_caught:
            return result
        with trio.move_on_after(CANCEL_SECONDS):
            cancelled = {"requestId": exchange.last_id, "reason": "no answer in time"}
            await exchange.send({"method": "notifications/cancelled", "params": cancelled})
        raise timed_out("tools/call", seconds)

    async def _result(self, server: Json, tool: Json, params: Json) -> Json:
        """Call the tool, and again with answers as often as the server asks for some (2026-07-28)."""
        again: Json = {}
        for _ in range(MAX_ROUNDS + 1):
            # There is one call, so one token will do.
            result = await self._sent({**params, **again, "_meta": {"progressToken": "call"}})
            if not is_modern(server) or result.get("resultType") != "input_required":
                return checked(self._call.name, server["protocolVersion"], tool, result)
            answers = await self._answers(result.get("inputRequests"))
            again = {"inputResponses": answers} if answers else {}
            if isinstance(state := result.get("requestState"), str):
                again["requestState"] = state
        message = f"tools/call: the server asked for more after {MAX_ROUNDS} rounds of answers"
        raise RequestFailed("protocol", message, "tools/call")

    async def _sent(self, params: Json) -> Json:
        """The result of the call, with these parameters."""
        answer = await self._exchange.call("tools/call", params)
        if answer is None and self._unreadable:
            raise malformed("tools/call", self._unreadable)
        if answer is None:
            violated = self._exchange.violated
            reason = f"the connection was cut: {violated}" if violated else "the server closed the connection"
            raise RequestFailed("lost", reason, "tools/call")
        if answer.get("error") is not None:  # some servers send null beside a result
            raise _refused(answer["error"])
        result = answer.get("result")
        if not isinstance(result, dict):
            raise malformed("tools/call", "it has no result")
        return result

    async def _answers(self, questions: object) -> Json:
        """The answers to the questions that came instead of a result."""
        if not questions:
            await trio.sleep(STATE_ONLY_SECONDS)
            return {}
        if not isinstance(questions, dict) or not all(isinstance(question, dict) for question in questions.values()):
            raise malformed("tools/call", "its inputRequests are not an object of requests")
        answers: Json = {}
        for key, question in questions.items():
            answer = await self._answer(question)
            if "error" in answer:
                raise _refused(answer["error"])
            answers[key] = answer["result"]
        return answers

    # --- What comes meanwhile -----------------------------------------------------------------------------------------

    async def _on_request(self, request: Json) -> None:
        await self._room.acquire()  # a server that asks and never reads is not read any further
        self._nursery.start_soon(self._reply, request)  # a person takes their time; the answer may come without them

    async def _reply(self, request: Json) -> None:
        request_id = request["id"]
        with trio.CancelScope() as self._questions[request_id]:
            answer = await self._answer(request)
            await self._exchange.send({"id": request_id, **answer})
        self._questions.pop(request_id, None)  # a server may use an id twice
        self._room.release()

    async def _answer(self, question: Json) -> Json:
        """The result or the error of a request of the server."""
        method, params = question.get("method"), question.get("params")
        with self._deadlines.paused():
            match method:
                case "ping":
                    return {"result": {}}
                case "roots/list":
                    return {"result": {"roots": await self._call.audience.roots()}}
                case "sampling/createMessage" | "elicitation/create":
                    return await self._call.audience.answer(method, params)
                case _:
                    return {"error": not_supported(method)}

    def _on_notification(self, message: Json) -> None:
        params: Any = message.get("params")
        try:
            match message["method"], params:
                case "notifications/progress", {"progressToken": "call", "progress": progress}:
                    self._progress(progress, params.get("total"), params.get("message"))
                case "notifications/message", {"level": str(level), "data": data}:
                    self._call.audience.log(level, params.get("logger"), data)
                case "notifications/cancelled", {"requestId": request_id} if request_id in self._questions:
                    self._questions[request_id].cancel("the server does not ask any more")
        except TypeError:
            self._call.audience.warn(f"{message['method']} is not what the protocol says, and was ignored")

    def _on_garbage(self, line: bytes, reason: str) -> bool:
        """Read on, unless it is the answer: nothing else would come."""
        if re.search(rb'"id"\s*:\s*%d\b' % self._exchange.last_id, line) and b'"method"' not in line:
            self._unreadable = reason
            return False
        self._call.audience.warn(f"The server sent something that is not a message: {reason}")
        return True

    def _progress(self, progress: Any, total: Any, text: Any) -> None:
        numbers = [progress] if total is None else [progress, total]
        if not all(isinstance(number, int | float) and isfinite(number) for number in numbers):
            raise TypeError("not numbers")
        self._call.audience.progress(self._call.name, progress, total, None if text is None else str(text))
        if self._limit is not None:
            limit = min(self._deadlines.now() + self._seconds, self._latest)
            self._deadlines.extend(self._limit, limit)


def _refused(error: Any) -> RequestFailed:
    if not isinstance(error, dict) or not isinstance(error.get("code"), int):
        return malformed("tools/call", "its error has no code")
    return RequestFailed("refused", str(error.get("message", "")), "tools/call", code=error["code"])
