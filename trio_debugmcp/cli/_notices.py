"""What happens beside a result, on standard error: progress, log messages, the server's own standard error.

    async with open_notices(client, Notices(enabled=True)), client: ...

Results are on standard output only. On a terminal the progress of running requests is one line that is drawn again.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import trio

from trio_debugmcp.cli._output import compact, visible

if TYPE_CHECKING:  # `serve` must start without the client
    from trio_debugmcp.client import EventStream, InspectorClient, Progress

BAR_CELLS = 24
LINE_CELLS = 100
"""Of the line with the progress: a line that wraps cannot be drawn again in its place."""

CLEAR = "\r\x1b[K"


class Notices:
    """Writes notices, and below them, on a terminal, the line of progress.

    Args:
        enabled: whether anything is written.
        draws: whether the line of progress may be drawn again, if there is a terminal.
    """

    def __init__(self, *, enabled: bool, draws: bool = True) -> None:
        self._enabled = enabled
        self._terminal = draws and sys.stderr.isatty()
        self._bar = ""

    def write(self, text: str) -> None:
        """Write a line, or several; control characters are shown as escapes."""
        if self._enabled:
            sys.stderr.write(f"{CLEAR if self._bar else ''}{visible(text)}\n{self._bar}")
            sys.stderr.flush()

    async def on_log(self, params: Any) -> None:
        """The client's callback for log messages."""
        self.log(params.level, params.logger, params.data)

    def log(self, level: str, logger: object, data: object) -> None:
        """Show a log message of the server."""
        text = data if isinstance(data, str) else compact(data)
        self.write(f"[{level}{f' {logger}' if logger else ''}] {text}")

    def progress(self, event: "Progress") -> None:
        """Show what an event of the client says."""
        self.progress_of(event.name or event.method or "request", event.progress, event.total, event.message)

    def progress_of(self, name: str, progress: float, total: float | None, message: str | None) -> None:
        """Show how far a request is."""
        text = progress_line(name, progress, total, message)
        if not self._terminal:
            self.write(text)
        elif self._enabled:
            self._bar = visible(text)[:LINE_CELLS]
            sys.stderr.write(f"{CLEAR}{self._bar}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line of progress."""
        if self._bar:
            self._bar = ""
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


@asynccontextmanager
async def open_notices(client: "InspectorClient", notices: Notices) -> AsyncGenerator[None, None]:
    """Show what `client` reports, from before it connects until it has disconnected."""
    async with client.events("progress", "stderrLog") as events, trio.open_nursery() as nursery:
        nursery.start_soon(_show, events, notices)
        try:
            yield
        finally:
            nursery.cancel_scope.cancel("the command is done")
            for event in _left(events):
                _show_one(event, notices)
            notices.clear()


def progress_line(name: str, progress: float, total: float | None, message: str | None) -> str:
    """One line: name, a bar if the end is known, numbers, message."""
    words = [name]
    if total is not None and total > 0:
        done = round(BAR_CELLS * min(max(progress / total, 0), 1))
        words.append(f"[{'#' * done}{'.' * (BAR_CELLS - done)}] {progress:g}/{total:g}")
    else:
        words.append(f"{progress:g}")
    return " ".join([*words, *([message] if message else [])])


async def _show(events: "EventStream[Any]", notices: Notices) -> None:
    async for event in events:
        _show_one(event, notices)


def _show_one(event: Any, notices: Notices) -> None:
    if event.kind == "progress":
        notices.progress(event)
    elif event.kind == "stderrLog":
        notices.write(f"server: {event.line}")


def _left(events: "EventStream[Any]") -> list[Any]:
    events_left = []
    try:
        while True:
            events_left.append(events.receive_nowait())
    except (trio.WouldBlock, trio.EndOfChannel):
        return events_left
