"""Pages in a browser, as js-debug and V8 show them: what differs from programs of node."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.adapter_words import EventReport
from trio_debugmcp.dap.profiles.javascript.javascript import JavaScriptPrograms, JavaScriptValues, JavaScriptWords

_NETWORK_EVENTS = ("requestWillBeSent", "responseReceived", "loadingFailed")
"""Events of the browser about what a page loads, which js-debug passes on where it is asked for them."""

_MAX_OPEN = 1000
"""Requests of a page that have no answer yet and are kept, to name them if they fail; the oldest go."""

_URL_LENGTH = 300

_MAX_FAILED = 5
"""Files that a page lacks and that are named when it has loaded."""

_IDLE = """
location.href === 'about:blank' || document.readyState !== 'complete' ? '' : [
  location.href,
  ...performance.getEntriesByType('resource')
    .filter(entry => entry.responseStatus >= 400 && !entry.name.endsWith('/favicon.ico'))
    .map(entry => `${entry.name}: ${entry.responseStatus}`)
].join(' | ')
"""
"""Where a page is that has loaded, and which of its files did not; before that nothing."""

_LOADED = "has loaded, and waits: evaluate works in it while it runs, also to click, and debug_wait waits for a stop"
_NOT_LOADED = "the browser shows an error in place of the page: it did not load"


class PageWords(JavaScriptWords):
    """js-debug's texts about a page, and what it is asked to report besides."""

    idle_when: ClassVar[str | None] = _IDLE

    def idle_notes(self, where: str) -> list[str]:
        url, *failed = where.strip("'\"").split(" | ")
        if url.startswith("chrome-error:"):
            return [_NOT_LOADED]
        told = [f"did not load: {failure}" for failure in failed[:_MAX_FAILED]]
        told += [f"and {len(failed) - _MAX_FAILED} more did not load"] if len(failed) > _MAX_FAILED else []
        return [f"{url} {_LOADED}", *told]

    def standing_request(self) -> tuple[str, dict[str, Any]] | None:
        return "enableNetworking", {"mirrorEvents": list(_NETWORK_EVENTS)}

    def event_report(self) -> EventReport | None:
        return FailedRequests()


class FailedRequests(EventReport):
    """Requests of a page that fail, which only the browser's console tells: `GET http://…/api: 404 Not Found`."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}

    def text_of(self, event: str, body: object) -> str | None:
        match body:
            case {"event": str(kind), "data": {"requestId": str(id_)} as data} if event == "networkEvent":
                return self._text_of(kind, id_, data)
            case _:
                return None

    def _text_of(self, kind: str, id_: str, data: Mapping[Any, Any]) -> str | None:
        match kind, data:
            case "requestWillBeSent", {"request": {"url": str(url)}} if url.endswith("/favicon.ico"):
                return None  # browsers ask for it on their own
            case "requestWillBeSent", {"request": {"method": str(method), "url": str(url)}}:
                self._open[id_] = f"{method} {url[:_URL_LENGTH]}"
                if len(self._open) > _MAX_OPEN:
                    del self._open[next(iter(self._open))]
                return None
            case "responseReceived", {"response": {"status": int(status)} as response}:
                wanted = self._open.pop(id_, None)
                is_told = wanted is not None and status >= 400
                return f"{wanted}: {status} {response.get('statusText', '')}".rstrip() + "\n" if is_told else None
            case "loadingFailed", {"errorText": str(error)}:
                wanted = self._open.pop(id_, None)
                is_told = wanted is not None and data.get("canceled") is not True
                why = data.get("blockedReason") or (data.get("corsErrorStatus") or {}).get("corsError") or error
                return f"{wanted}: {why}\n" if is_told else None
            case _:
                return None


class PageValues(JavaScriptValues):
    """Values as V8 describes them, without the window that `this` is."""

    def locals_of(self, variables: Sequence[DapVariable]) -> list[DapVariable]:
        own = super().locals_of(variables)
        return [variable for variable in own if variable.name != "this" or not variable.value.startswith("Window")]


class PagePrograms(JavaScriptPrograms):
    """Pages as programs: which options they take, and no advice to build them."""

    def option_problem(self, name: str, value: object) -> str | None:
        is_page = isinstance(value, str) and value.startswith(("http://", "https://"))
        return "is to begin with http:// or https://" if name == "url" and not is_page else None

    def start_advice(self, program: str, said: str) -> str | None:
        return None
