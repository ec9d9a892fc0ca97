"""What becomes true on the page a moment later is read until it is so: `expect`, for all that is not a locator's.

    eventually(line.bounding_box, lambda box: box is not None and box["y"] < 422)
    becomes(lambda: page.evaluate("document.documentElement.scrollWidth"), 390)
    box = at_rest(line)

A page draws in frames, makes rows anew, and has its answers from a server: a value that is read once is that of any of
these moments. So nothing of the page is asserted that is read once, unless nothing changes it any more.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from tests.dashboard.profiles import PAGE_SECONDS

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page

T = TypeVar("T")

PAUSE_SECONDS = 0.02


def eventually(read: Callable[[], T], holds: Callable[[T], object]) -> T:
    """Read until what is read holds, and return it.

    A read fails in the midst of a change, of a row that is gone by then: that is one more moment to wait for.

    Raises AssertionError with what was read last when it has not come to hold within `PAGE_SECONDS`.
    """
    from playwright.sync_api import Error

    end = time.monotonic() + PAGE_SECONDS
    while True:
        try:
            value = read()
            if holds(value):
                return value
            last = f"what is read stays {value!r}"
        except Error as error:
            last = f"it cannot be read: {error}"
        if time.monotonic() > end:
            raise AssertionError(last)
        time.sleep(PAUSE_SECONDS)


def becomes(read: Callable[[], T], expected: T) -> None:
    """Read until it is what is expected."""
    try:
        eventually(read, lambda value: value == expected)
    except AssertionError as error:
        raise AssertionError(f"{error}, and should be {expected!r}") from None


def two_frames(page: "Page") -> None:
    """Let the page draw what has happened, and what it does when it has been drawn."""
    page.bring_to_front()  # a tab behind another one draws once in a second
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def hear(page: "Page") -> None:
    """Begin to note what buttons say for a moment, such as that something has been copied."""
    page.evaluate(
        """() => {
          window.heard = [];
          const note = (changes) => window.heard.push(...changes.map(({target}) => target.dataset.said));
          const options = {subtree: true, attributes: true, attributeFilter: ['data-said']};
          new MutationObserver(note).observe(document.body, options);
        }"""
    )


def was_said(page: "Page", word: str) -> None:
    """Wait until a button has said that since `hear`: it says so for less time than a busy machine takes to look."""
    eventually(lambda: page.evaluate("window.heard"), lambda heard: word in heard)


def hold_time(page: "Page") -> None:
    """From now on the page's time passes only by `run_for`: on a busy machine timers would fire while a test acts."""

    def pause() -> bool:
        page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 2)  # which is refused when it has passed by then
        return True

    eventually(pause, bool)


def at_rest(locator: "Locator") -> "FloatRect":
    """Return the box of an element that does not move any more: it is the same two frames later."""

    def read() -> "FloatRect | None":
        before = locator.bounding_box()
        two_frames(locator.page)
        return before if before == locator.bounding_box() else None

    box = eventually(read, lambda box: box is not None)
    assert box is not None
    return box
