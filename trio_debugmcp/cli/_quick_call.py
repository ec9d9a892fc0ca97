"""The quick way to call a tool of a server command: without the SDK, and never twice.

    call = ToolCall(name="add", arguments=typed, person=person, roots=[], notices=notices)
    result = await call_tool(["my-server"], os.environ, None, era="auto", call=call, seconds=30)

Until the call is sent, whatever is out of the ordinary is answered with None, and the client does it all. From then on
the tool may have run, so everything that can come is dealt with here: progress and log messages are shown, the person
is asked what the server asks, and each way to fail has its words. What the SDK alone knows, the models of questions and
of malformed results, is imported when it is needed.
"""

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Literal

import trio
from msgspec import Struct

from trio_debugmcp.cli._exchange import MODERN_VERSION, Exchange, Json, not_supported
from trio_debugmcp.cli._notices import Notices
from trio_debugmcp.cli._output import write_warning
from trio_debugmcp.cli._person import Person
from trio_debugmcp.cli._quick import REQUEST_TIMEOUT, STDERR_LINES, no_handshake
from trio_debugmcp.cli._target import UNREACHABLE, Failure, tool_failure
from trio_debugmcp.coercion import coerce_arguments
from trio_debugmcp.deadlines import Deadlines
from trio_debugmcp.transports.command import Command

CAPABILITIES: Json = {
    "sampling": {},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
}
"""As the client has them: the person is asked, or everything is declined."""

MAX_SECONDS = 600.0
"""For a call with progress, however much of it comes; as in the client."""

MAX_ROUNDS = 10
"""Of questions, each of which the server answers with further ones (2026-07-28); as in the SDK."""

MAX_QUESTIONS = 32
"""That are open at the same time; a person is asked one after the other anyway."""

STATE_ONLY_SECONDS = 0.25
"""Before a round without a question: the server wants to be asked again."""

ODD_SCHEMA = (RecursionError, TypeError, AttributeError, ValueError, ArithmeticError)
"""What a schema that refers to itself, or whose keywords have values of other types, makes the validator raise."""

CANCEL_SECONDS = 0.5
"""To notify the server that its answer is not awaited any more."""

_STRINGS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
}
"""What the usual blocks of content must have. A result with others is shown to the SDK before it counts."""


class ToolCall(Struct, frozen=True):
    """What is called, and who hears of it.

    Attributes:
        name: of the tool.
        arguments: returns the arguments for the tool's schema, empty if the tool is not listed.
        person: answers what the server asks.
        roots: the directories that the server may know.
        notices: shows progress, log messages and standard error.
    """

    name: str
    arguments: Callable[[Json], Json]
    person: Person
    roots: Sequence[str]
    notices: Notices


async def call_tool(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | None,
    *,
    era: Literal["auto", "legacy", "modern"],
    call: ToolCall,
    seconds: float,
) -> Json | None:
    """Start the server, call the tool, stop the server; None if the client should do it, and nothing was called.

    Raises:
        Failure: the call was made, and there is no result that the protocol and the tool's schema permit.
    """
    stderr: deque[str] = deque(maxlen=STDERR_LINES)

    def on_stderr(line: str) -> None:
        stderr.append(line)
        call.notices.write(f"server: {line}")

    command = Command(argv, env, cwd, on_stderr)
    outcome: Json | Failure | None = None
    async with command.open() as pipes, trio.open_nursery() as nursery:
        running = _RunningCall(Exchange(pipes, CAPABILITIES), call, seconds, nursery)
        outcome = await running.run(era)
        nursery.cancel_scope.cancel("the call is over")
    call.notices.clear()
    if running.lost:
        code = f" (exit code {command.exit_code})" if command.exit_code is not None else ""
        said = "".join(f"\n{line}" for line in stderr)
        raise Failure("unreachable", f"{running.lost}{code}{said}", UNREACHABLE)
    if isinstance(outcome, Failure):
        raise no_handshake(seconds, stderr) if outcome.code == "unreachable" else outcome
    return outcome


class _RunningCall:
    """One call on one exchange. Failures are returned: raised here they would come out in groups."""

    def __init__(self, exchange: Exchange, call: ToolCall, seconds: float, nursery: trio.Nursery) -> None:
        self.lost = self._unreadable = ""
        self._exchange = exchange
        self._call = call
        self._seconds = seconds
        self._nursery = nursery
        self._deadlines = Deadlines()
        self._scope: trio.CancelScope | None = None
        self._latest = 0.0
        self._room = trio.Semaphore(MAX_QUESTIONS)
        self._questions: dict[str | int, trio.CancelScope] = {}
        exchange.on_request = self._on_request
        exchange.on_notification = self._on_notification

    async def run(self, era: str) -> Json | Failure | None:
        deadlines, exchange = self._deadlines, self._exchange
        server: Json | None = None
        tools: list[Json] | None = None
        with deadlines.until(deadlines.now() + self._seconds) as limit:
            server = await exchange.handshake(era)
            deadlines.extend(limit, deadlines.now() + self._seconds)
            tools = None if server is None else await exchange.items(server, "tools/list")
        if limit.cancelled_caught:
            if exchange.connected:
                return Failure("error", f"tools/list: no answer within {self._seconds:g} s", rpcCode=REQUEST_TIMEOUT)
            return Failure("unreachable", "no handshake")
        if server is None or tools is None:
            return None
        tool = next((tool for tool in tools if tool["name"] == self._call.name), {})
        try:
            arguments = coerce_arguments(self._call.arguments(tool.get("inputSchema", {})), tool.get("inputSchema", {}))
        except Failure as wrong_use:
            return wrong_use
        exchange.on_garbage = self._on_garbage
        self._latest = deadlines.now() + max(MAX_SECONDS, self._seconds)
        found: Json | Failure | None = None
        with deadlines.until(deadlines.now() + self._seconds) as self._scope:
            found = await self._result(server, tool, {"name": self._call.name, "arguments": arguments})
        if not self._scope.cancelled_caught:
            return found
        with trio.move_on_after(CANCEL_SECONDS):
            cancelled = {"requestId": exchange.last_id, "reason": "no answer in time"}
            await exchange.send({"method": "notifications/cancelled", "params": cancelled})
        return Failure("timeout", f"tools/call: no answer within {self._seconds:g} s")

    async def _result(self, server: Json, tool: Json, params: Json) -> Json | Failure:
        """Call the tool, and again with answers as often as the server asks for some (2026-07-28)."""
        again: Json = {}
        for _ in range(MAX_ROUNDS + 1):
            # There is one call, so one token will do.
            meta = {"_meta": {"progressToken": "call"}}
            answer = await self._exchange.call("tools/call", {**params, **again, **meta})
            if answer is None and self._unreadable:
                return _malformed(self._unreadable)
            if answer is None:
                violated = self._exchange.violated
                self.lost = f"the connection was cut: {violated}" if violated else "the server closed the connection"
                return Failure("unreachable", self.lost)
            if answer.get("error") is not None:  # some servers send null beside a result
                return _refused(self._call.name, answer["error"])
            result = answer.get("result")
            if not isinstance(result, dict):
                return _malformed("it has no result")
            if server["protocolVersion"] != MODERN_VERSION or result.get("resultType") != "input_required":
                return _checked(self._call.name, server["protocolVersion"], tool, result)
            answers = await self._answers(result.get("inputRequests"))
            if isinstance(answers, Failure):
                return answers
            again = {"inputResponses": answers} if answers else {}
            if isinstance(state := result.get("requestState"), str):
                again["requestState"] = state
        return Failure("protocol", f"tools/call: the server asked for more after {MAX_ROUNDS} rounds of answers")

    async def _answers(self, asked: object) -> Json | Failure:
        """The answers to the questions that came instead of a result."""
        if not asked:
            await trio.sleep(STATE_ONLY_SECONDS)
            return {}
        if not isinstance(asked, dict) or not all(isinstance(question, dict) for question in asked.values()):
            return _malformed("its inputRequests are not an object of requests")
        answers: Json = {}
        for key, question in asked.items():
            answer = await self._answer(question)
            if "error" in answer:
                return _refused(self._call.name, answer["error"])
            answers[key] = answer["result"]
        return answers

    # --- What comes meanwhile -----------------------------------------------------------------------------------------

    async def _on_request(self, request: Json) -> None:
        await self._room.acquire()  # a server that asks and never reads is not read any further
        self._nursery.start_soon(self._reply, request)  # a person takes their time; the answer may come without them

    async def _reply(self, request: Json) -> None:
        asked = request["id"]
        with trio.CancelScope() as self._questions[asked]:
            answer = await self._answer(request)
            await self._exchange.send({"id": asked, **answer})
        self._questions.pop(asked, None)  # a server may use an id twice
        self._room.release()

    async def _answer(self, question: Json) -> Json:
        """The result or the error of a request of the server."""
        method, params = question.get("method"), question.get("params")
        with self._deadlines.paused():
            if method == "ping":
                return {"result": {}}
            if method == "roots/list":
                return {"result": {"roots": await self._call.person.named_roots(self._call.roots)}}
            if method not in ("sampling/createMessage", "elicitation/create"):
                return {"error": not_supported(method)}
            return await self._call.person.answer_plain(method, params)

    def _on_notification(self, message: Json) -> None:
        params: Any = message.get("params")
        try:
            match message["method"], params:
                case "notifications/progress", {"progressToken": "call", "progress": progress}:
                    self._progress(progress, params.get("total"), params.get("message"))
                case "notifications/message", {"level": str(level), "data": data}:
                    self._call.notices.log(level, params.get("logger"), data)
                case "notifications/cancelled", {"requestId": asked} if asked in self._questions:
                    self._questions[asked].cancel("the server does not ask any more")
        except TypeError:
            write_warning(f"{message['method']} is not what the protocol says, and was ignored")

    def _on_garbage(self, line: bytes, reason: str) -> bool:
        """Read on, unless it is the answer: nothing else would come."""
        if re.search(rb'"id"\s*:\s*%d\b' % self._exchange.last_id, line) and b'"method"' not in line:
            self._unreadable = reason
            return False
        write_warning(f"The server sent something that is not a message: {reason}")
        return True

    def _progress(self, progress: Any, total: Any, text: Any) -> None:
        numbers = [progress] if total is None else [progress, total]
        if not all(isinstance(number, int | float) and isfinite(number) for number in numbers):
            raise TypeError("not numbers")
        self._call.notices.progress_of(self._call.name, progress, total, None if text is None else str(text))
        if self._scope is not None:
            limit = min(self._deadlines.now() + self._seconds, self._latest)
            self._deadlines.extend(self._scope, limit)


def _refused(name: str, error: Any) -> Failure:
    if not isinstance(error, dict) or not isinstance(error.get("code"), int):
        return _malformed("its error has no code")
    return tool_failure(name, str(error.get("message", "")), refused=True, rpc_code=error["code"])


def _malformed(reason: object) -> Failure:
    return Failure("protocol", f"tools/call: the answer is not what the protocol says: {reason}")


def _checked(name: str, version: str, tool: Json, result: Json) -> Json | Failure:
    """The result if the protocol and the tool's schema permit it, else why not: the tool has run."""
    usual = set(result) <= {"content", "structuredContent", "isError", "_meta", "resultType", "ttlMs", "cacheScope"}
    content = result.get("content")
    structured = result.get("structuredContent", {})
    typed = isinstance(result.get("isError", False), bool) and isinstance(structured, dict)
    if not (usual and typed and isinstance(content, list) and all(map(_is_usual, content))):
        from mcp.types import methods

        try:
            methods.parse_server_result("tools/call", version, result)
        except ValueError as error:
            return _malformed(error)
    schema = tool.get("outputSchema")
    if not isinstance(schema, dict) or result.get("isError"):
        return result
    problem = _output_problem(name, schema, result)
    return result if problem is None else Failure("protocol", problem, result=result)


def _is_usual(block: object) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str) or block["type"] not in _STRINGS:
        return False
    return set(block) == {"type", *_STRINGS[block["type"]]} and all(
        isinstance(block[name], str) for name in _STRINGS[block["type"]]
    )


def _output_problem(name: str, schema: Json, result: Json) -> str | None:
    """What is wrong with the structured content, in the words that the client has for it."""
    if "structuredContent" not in result:
        return f"Tool {name} has an output schema but did not return structured content"
    from jsonschema import SchemaError  # type: ignore[import-untyped]
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        kind = validator_for(schema)
        kind.check_schema(schema)
        # An empty registry: what the schema refers to must be in it, and is never fetched.
        error = best_match(kind(schema, registry=Registry()).iter_errors(result["structuredContent"]))
    except (SchemaError, Unresolvable, *ODD_SCHEMA) as wrong:
        return f"Invalid schema for tool {name}: {wrong}"
    return None if error is None else f"Invalid structured content returned by tool {name}: {error}"
