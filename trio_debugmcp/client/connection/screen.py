"""What a server sends, before the SDK gets it: one malformed item must not cost its list, nor a list its calls.

The SDK validates a list as a whole, and refuses all of it for one bad item. Here the bad ones are left out and
reported. Notifications that are malformed are left out, too; the SDK would log each with its traceback.

    screen = Screen(lambda: sdk.protocol_version, report=print)
    screen.sent(message)
    screen.received(item, response)     # `item` may have another result than `response` from here on
    if screen.admits(notification): ...
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse, methods

from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.light_client.protocol import LISTS

FIELDS = {method: field for method, (_, field, _) in LISTS.items()}
"""The requests whose results are lists, and the field that holds the items."""

MAX_NAMED = 5
"""Items that a report names; of more it says how many they are."""

_BEFORE_HANDSHAKE = "2025-11-25"
"""The revision that counts before one is negotiated, as in the SDK."""


class Screen:
    """See the module's docstring.

    Attributes:
        tools: the names of all tools that were listed.
    """

    def __init__(self, version: Callable[[], str | None], report: Callable[[ProtocolViolation], None]) -> None:
        self.tools: set[str] = set()
        self._version = version
        self._report = report
        self._listing: dict[str | int, str] = {}
        """The method of each list request that is not answered yet, by its id."""

    def __repr__(self) -> str:
        return f"<Screen: {len(self.tools)} tools, {len(self._listing)} lists under way>"

    def sent(self, message: Mapping[str, Any]) -> None:
        """Note a request whose result will be a list."""
        if message.get("method") in FIELDS:
            self._listing[message["id"]] = message["method"]
        elif message.get("method") == "notifications/cancelled":
            self._listing.pop((message.get("params") or {}).get("requestId", ""), None)

    def received(self, item: SessionMessage, message: Mapping[str, Any]) -> None:
        """Leave out of `item`, if it is the answer to a list request, what is malformed."""
        method = self._listing.pop(message.get("id", ""), None)
        if method is not None and isinstance(item.message, JSONRPCResponse):
            item.message.result = self._without_malformed(method, item.message.result)

    def admits(self, notification: Mapping[str, Any]) -> bool:
        """Whether the SDK should get a notification."""
        method = notification["method"]
        try:
            methods.parse_server_notification(method, self._version() or _BEFORE_HANDSHAKE, notification.get("params"))
        except KeyError:
            return True  # unknown, perhaps of an extension: the SDK knows what to do
        except ValueError as error:
            violation = f"{method} is not what the protocol says, and was ignored: {_brief(error)}"
            self._report(ProtocolViolation(violation))
            return False
        return True

    def _without_malformed(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        version, field = self._version() or _BEFORE_HANDSHAKE, FIELDS[method]
        items = result.get(field)
        if not isinstance(items, list):
            return result  # nothing of it can be used; the SDK says so
        problems = {i: _problem(method, version, {**result, field: [item]}) for i, item in enumerate(items)}
        bad = {i: problem for i, problem in problems.items() if problem is not None}
        good = [item for i, item in enumerate(items) if i not in bad]
        if bad and _problem(method, version, {**result, field: []}) is None:  # else it is not the items' fault
            self._report(ProtocolViolation(_described(method, field, items, bad)))
            result = {**result, field: good}
        if field == "tools":
            self.tools.update(item["name"] for item in good)
        return result


def _described(method: str, field: str, items: Sequence[Any], bad: Mapping[int, str]) -> str:
    named = [f"{field}[{i}]{_name(items[i])}: {problem}" for i, problem in bad.items()][:MAX_NAMED]
    more = [f"and {len(bad) - len(named)} more"] if len(bad) > len(named) else []
    count = f"{len(bad)} of {len(items)} items"
    return f"{method}: {count} left out, because they are not what the protocol says: {'; '.join(named + more)}"


def _name(item: object) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return f" {name!r}" if isinstance(name, str) else ""


def _problem(method: str, version: str, result: dict[str, Any]) -> str | None:
    try:
        methods.parse_server_result(method, version, result)
    except ValueError as error:
        return _brief(error)
    except KeyError:  # not of this revision
        return None
    return None


def _brief(error: ValueError) -> str:
    """The first of pydantic's complaints, in one line."""
    details = getattr(error, "errors", None)
    if details is None:
        return str(error)
    first = details(include_url=False, include_input=False)[0]
    return f"{first['msg']} (at {'.'.join(map(str, first['loc'][1:]))})"
