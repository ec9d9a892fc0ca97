"""The requests of the debugger: how they are answered, and by which function each.

    table = RequestTable(connection)
    table.add(threads=list_threads)
    table.serve(message)

A request is answered once: by what its function returns, or by that function itself, then or later.
"""

from typing import Any, Callable

from trio_debugmcp.engine.inside.door_connection import NO_MESSAGE, DoorConnection
from trio_debugmcp.engine.inside.interruptions import is_foreign

LATER = object()
"""Returned by what answers a request itself, now or later."""


class RequestRefusedError(Exception):
    """A request that is refused, and why."""


class EngineRequest:
    """One request, which is answered once."""

    def __init__(self, connection: DoorConnection, message: dict[str, Any]) -> None:
        self.command: str = message["command"]
        self.arguments: dict[str, Any] = message.get("arguments") or {}
        self._number = message.get("seq")
        self._connection = connection
        self._sent: list[bool] = []

    def respond(self, body: Any = None, *, with_next: bool = False) -> None:
        """Answer with a body, if it has no answer yet; `with_next` as of `DoorConnection.send`."""
        self._answer({"success": True}, body, with_next=with_next)

    def refuse(self, reason: str) -> None:
        self._answer({"success": False, "message": reason}, None)

    def _answer(self, outcome: dict[str, Any], body: Any, *, with_next: bool = False) -> None:
        if self._sent:
            return
        answer = {"type": "response", "request_seq": self._number, "command": self.command, **outcome}
        whole = answer if body is None else {**answer, "body": body}
        self._connection.send(whole, with_next=with_next, sent=self._sent)


class RequestTable:
    """What serves each command."""

    def __init__(self, connection: DoorConnection) -> None:
        self._connection = connection
        self._served: dict[str, Callable[[EngineRequest], Any]] = {}

    def add(self, **served: Callable[[EngineRequest], Any]) -> None:
        """Have commands served by functions that return the body of the response, or `LATER`."""
        self._served.update(served)

    def serve(self, message: Any) -> None:
        """Serve a message of the debugger, a dict or `NO_MESSAGE`. Never raises."""
        if message is not NO_MESSAGE and message.get("type") in ("response", "event"):
            return
        problem = _problem(message)
        if problem:
            self._refuse(message, problem)
            return
        request = EngineRequest(self._connection, message)
        try:
            serve = self._served.get(request.command)
            if serve is None:
                request.refuse(f"the engine has no request {request.command!r}")
                return
            body = serve(request)
            if body is not LATER:
                request.respond(body)
        except RequestRefusedError as error:
            request.refuse(str(error))
        except BaseException as error:
            if is_foreign(error) and isinstance(error, KeyboardInterrupt):
                raise
            request.refuse(f"the engine failed: {type(error).__name__}: {error}")

    def _refuse(self, message: Any, problem: str) -> None:
        number, command = (0, "") if message is NO_MESSAGE else (message.get("seq"), message.get("command"))
        answer = {"type": "response", "request_seq": number if type(number) is int else 0, "success": False}
        self._connection.send({**answer, "command": command if type(command) is str else "", "message": problem})


def _problem(message: Any) -> str:
    """Return why a message cannot be served; an empty text if it can."""
    if message is NO_MESSAGE:
        return "a message is to be an object in JSON"
    if message.get("type") != "request":
        return "the `type` of a message is to be `request`"
    if type(message.get("seq")) is not int:
        return "the `seq` of a request is to be an integer"
    if type(message.get("command")) is not str:
        return "the `command` of a request is to be a text"
    if type(message.get("arguments") or {}) is not dict:
        return "the `arguments` of a request are to be an object"
    return ""
