"""Profiles of the browser: one that tests use one after another, each as if it were new, and one for a single test.

A new profile takes a third of the processor time of a test that only opens the page. So a module shares one,
and the process that draws its tabs; a test's tabs are its own. What the profile keeps is taken from it after each test.
What cannot be taken from it is refused: a clock that is stopped, and scripts that are put into every page.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Frame, Page

PAGE_SECONDS = 120
"""Far above the second in which the page shows a change: only what hangs takes so long, on a busy machine too."""

SHARED_RENDERER = "--renderer-process-limit=1"
"""Tabs of one profile are drawn by one process, which lives as long as one of them."""

STAYS = ("add_init_script", "expose_binding", "expose_function")
"""What cannot be taken back, of a profile; where a tab has it as well, it leaves marks in the profile."""

CLOCK = ("fast_forward", "install", "pause_at", "resume", "run_for", "set_fixed_time", "set_system_time")


@contextmanager
def fresh_profile(chromium: "Browser") -> "Iterator[BrowserContext]":
    """A profile in which nothing is stored, as its clock is that of all its tabs: a test may leave that stopped."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    context.set_default_timeout(PAGE_SECONDS * 1000)
    yield context
    context.close()


class SharedProfile:
    """A profile for one test after another: `context` is as new behind each `clear`."""

    def __init__(self, context: "BrowserContext") -> None:
        self.context = context
        self._first = context.new_page()  # keeps the process that draws; CDP is spoken with it
        self._session = context.new_cdp_session(self._first)
        self._origins: set[str] = set()
        context.on("page", self._watch)
        _refuse(context, STAYS)
        _refuse(context.clock, CLOCK)

    def clear(self) -> None:
        """Close the tabs, and take away what they have stored and what they were allowed."""
        for page in self.context.pages:
            if page != self._first:
                page.close()
        for origin in self._origins:
            self._session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self._origins.clear()
        self.context.clear_cookies()
        self.context.clear_permissions()
        self.context.unroute_all()
        self.context.set_offline(False)
        self.context.set_geolocation(None)
        self.context.set_extra_http_headers({})

    def _watch(self, page: "Page") -> None:
        page.on("framenavigated", self._remember)
        _refuse(page, STAYS)

    def _remember(self, frame: "Frame") -> None:
        parts = urlsplit(frame.url)
        if parts.netloc:
            self._origins.add(f"{parts.scheme}://{parts.netloc}")


def _refuse(kept: object, names: Sequence[str]) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("this would stay for the tests that follow: use the fixture `own_profile`")

    for name in names:
        setattr(kept, name, refuse)
