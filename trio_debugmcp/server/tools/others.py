"""What other clients have done meanwhile: a person at the dashboard, for example."""

from collections import Counter
from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary

from trio_debugmcp.session.debugger import Debugger

_MAX_NAMED = 5


class OtherClients:
    """Knows up to which event of the timeline each client has had notes."""

    def __init__(self) -> None:
        self._noted: WeakKeyDictionary[Hashable, int] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"<OtherClients of {len(self._noted)}>"

    def notes(
        self, debugger: Debugger, reader: Hashable, client: str | None, controls: Callable[[str], bool]
    ) -> list[str]:
        """Return a note on the calls of others that changed something since the last answer to this client.

        `controls`: whether a tool can change something. A client is another one if its name is.
        """
        if reader is None:
            return []
        last = self._noted.get(reader)
        self._noted[reader] = debugger.timeline.last_id
        if last is None:
            return []
        calls: Counter[str] = Counter()
        for event in debugger.timeline.after(last):
            if event.type != "toolCalled" or event.payload["error"] is not None:
                continue
            who, tool = event.payload["client"], event.payload["tool"]
            if who != client and controls(tool):
                calls[f"{who} called {tool}"] += 1
        named = [f"{call} {number} times" if number > 1 else call for call, number in calls.items()]
        others = len(named) - _MAX_NAMED
        return [*named[:_MAX_NAMED], *([f"{others} other calls: see timeline_query"] if others > 0 else [])]
