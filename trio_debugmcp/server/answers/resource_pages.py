"""Resources in pages: each read has as many items of a payload's lists as 32 KB hold, and names the next page.

    page_named("debugger://threads?start=160")           # ("debugger://threads", 160)
    page_of("debugger://threads", text)                  # {"threads": […], "threadsLeftOut": 40, "next": "…?start=160"}

An item's number counts through all lists of a payload, in their order. All that is not a list stands on each page.
"""

import re
from typing import Any

import msgspec

from trio_debugmcp.server.answers.last_bounds import bounded, shorter_texts, size_of
from trio_debugmcp.state.payloads import to_json

MAX_RESOURCE_BYTES = 32768
"""JSON bytes of a read, as of an answer: a model reads it, too."""

_HEAD_BYTES = MAX_RESOURCE_BYTES * 3 // 4
"""All that is not a list has at most this much, so that each page has items."""

_WORDS_BYTES = 1024
"""Room for what is said of the items that are left out."""

_PAGE = re.compile(r"(?P<uri>debugger://(?!source/)[^?]+)\?start=(?P<start>\d{1,9})")


class NoSuchPage(Exception):
    """A page begins behind the last item; the argument is how many items there are."""


def page_named(uri: str) -> tuple[str, int]:
    """Return the resource of which a URI names a page, and the number of the page's first item."""
    named = _PAGE.fullmatch(uri)
    return (uri, 0) if named is None else (named["uri"], int(named["start"]))


def page_of(uri: str, text: str, start: int = 0) -> str:
    """Return the page of a resource's JSON that begins with an item; a text that is small enough as it is.

    Raises NoSuchPage if there is no such item.
    """
    if not start and (len(text) * 4 <= MAX_RESOURCE_BYTES or len(text.encode()) <= MAX_RESOURCE_BYTES):
        return text
    payload: dict[str, Any] = shorter_texts(msgspec.json.decode(text))
    if not start and size_of(payload) <= MAX_RESOURCE_BYTES:
        return to_json(payload)
    lists = {name: items for name, items in payload.items() if isinstance(items, list)}
    total = sum(map(len, lists.values()))
    if start and start >= total:
        raise NoSuchPage(total)
    head = {name: [] if name in lists else value for name, value in payload.items()}
    head = bounded(head, _HEAD_BYTES)
    room = MAX_RESOURCE_BYTES - size_of(head) - _WORDS_BYTES
    kept, shown = _filled(lists, start, room)
    left_out = _left_out(lists, kept, start)
    words = {"next": f"{uri}?start={start + shown}"} if start + shown < total else {}
    return to_json({**head, **kept, **left_out, **words})


def _filled(lists: dict[str, list[Any]], start: int, room: int) -> tuple[dict[str, list[Any]], int]:
    """Return the items from a number on that find room, by list, and how many they are: one at least."""
    kept: dict[str, list[Any]] = {name: [] for name in lists}
    numbered = ((name, item) for name, items in lists.items() for item in items)
    shown = used = 0
    for number, (name, item) in enumerate(numbered):
        if number < start:
            continue
        size = size_of(item) + 1
        if shown and used + size > room:
            break
        kept[name].append(item if size <= room else bounded(item, room))
        shown, used = shown + 1, used + size
    return kept, shown


def _left_out(lists: dict[str, list[Any]], kept: dict[str, list[Any]], start: int) -> dict[str, int]:
    """Return how many items of each list follow those on the page."""
    found, first = {}, 0
    for name, items in lists.items():
        before = min(len(items), max(0, start - first))
        if more := len(items) - before - len(kept[name]):
            found[f"{name}LeftOut"] = more
        first += len(items)
    return found
