"""Browsers of the Chromium kind on this machine: found, and the arguments with which one is run for a debugger.

    browser_at(None)                    # "/usr/bin/chromium", None if there is none
    browser_at("google-chrome")         # the one that a user names
    browser_arguments(headed=False)     # ["--headless=new", …]

Others are not driven by the debugger. Pages in them, as js-debug and V8 show them, differ from programs of node.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.adapter_values import EventReport
from trio_debugmcp.dap.profiles.javascript.javascript import JavaScriptPrograms, JavaScriptValues, JavaScriptWords
from trio_debugmcp.home import expanded

VARIABLES = ("CHROME_PATH", "CHROME_BIN")
"""Name the browser, as other tools of front ends take them."""

_NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "microsoft-edge-stable", "msedge", "brave-browser"),
)

_APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)

_CACHES = (
    ("~/.cache/puppeteer", "chrome/*/chrome-*/chrome"),
    ("~/.cache/ms-playwright", "chromium-*/chrome-*/chrome"),
    ("~/Library/Caches/ms-playwright", "chromium-*/chrome-*/Chromium.app/Contents/MacOS/Chromium"),
)
"""Where puppeteer and playwright put the browsers that they download."""

_NO_ADDRESS_BAR = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"
"""Without the two pages of the address bar, which take more than half the processor time of a browser's start."""

INSTALL = "apt-get install chromium, or npx playwright install chromium"


def browser_at(wanted: str | None) -> str | None:
    """Return the path of the browser that is wanted, or of the first that is found; None if there is none.

    `wanted`: a path, or a name on PATH.
    """
    if wanted is not None:
        return shutil.which(str(expanded(wanted)) if wanted.startswith("~") else wanted)
    return next(filter(None, map(shutil.which, _candidates())), None)


def places() -> str:
    """Return where a browser is looked for, as a person would say it."""
    variables = ", ".join(f"${name}" for name in VARIABLES)
    return f"{variables}, {', '.join(_NAMES[:4])} and others on PATH, and what puppeteer and playwright have downloaded"


def browser_arguments(*, headed: bool) -> list[str]:
    """Return the arguments of a browser that is run for one page and forgotten."""
    arguments = [] if headed else ["--headless=new", "--disable-gpu", _NO_ADDRESS_BAR]
    return [*arguments, "--disable-dev-shm-usage", *(["--no-sandbox"] if needs_no_sandbox() else [])]


def needs_no_sandbox() -> bool:
    """Whether a browser refuses to start in its sandbox: as root."""
    return os.geteuid() == 0


def _candidates() -> Iterator[str]:
    for name in VARIABLES:
        if os.environ.get(name):
            yield os.environ[name]
    yield from (*_NAMES, *_APPLICATIONS)
    for cache, pattern in _CACHES:
        yield from sorted(map(str, Path(expanded(cache)).glob(pattern)), reverse=True)


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
