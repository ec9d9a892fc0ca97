"""`PrintedOutput`: what the program prints, for a debugger that does not have its streams: one that came in late.

The streams stay what they are; only what is written to `sys.stdout` and `sys.stderr` by their methods is reported, too.
What goes by their descriptors is not.
"""

import _thread
import sys
from itertools import takewhile
from typing import Any, Callable

_CATEGORIES = {"stdout": "stdout", "stderr": "stderr"}

_MOST_WAITING = 100
"""Texts that wait to be reported before a thread that prints waits, too."""

_LONGEST_WAIT = 0.1
"""In seconds: who is reporting may be held, by what comes in between."""

_modules_of_program = sys.modules


class PrintedOutput:
    """Reports what is printed, from `begin` to `end`. `report` takes the category and the text."""

    def __init__(self, report: Callable[[str, str], None]) -> None:
        self._report = report
        self._watched: list[tuple[Any, Any]] = []
        self._waiting: list[tuple[str, str]] = []
        self._turn: Any = _thread.RLock()  # it says whether the calling thread has it

    def begin(self) -> None:
        """Watch the streams that there are now; those that take no attribute stay as they are."""
        names = vars(_modules_of_program["sys"])
        for name, category in _CATEGORIES.items():
            stream: Any = names.get(name)
            write = getattr(stream, "write", None)
            if write is None:
                continue
            watching = self._watching(write, category)
            try:
                stream.write = watching
            except Exception:
                continue
            self._watched.append((stream, watching))

    def _watching(self, write: Any, category: str) -> Any:
        def write_and_report(text: Any) -> Any:
            written = write(text)
            if type(text) is str:
                self._pass_on(category, text)
            return written

        return write_and_report

    def _pass_on(self, category: str, text: str) -> None:
        """Report a text, or leave it to who is reporting: handlers of signals and destructors come in between.

        Threads that print faster than one can report are held up, else that one would never come to an end. What waits
        is reported together.
        """
        self._waiting.append((category, text))
        while self._waiting and self._take_turn():
            try:
                while self._waiting:
                    self._report(*self._taken())
            finally:
                self._turn.release()

    def _taken(self) -> tuple[str, str]:
        """Take the texts that wait, as far as they are of one stream."""
        waiting = [*self._waiting]
        category = waiting[0][0]
        texts = [text for _, text in takewhile(lambda each: each[0] == category, waiting)]
        del self._waiting[: len(texts)]
        return category, "".join(texts)

    def _take_turn(self) -> bool:
        if self._turn._is_owned():
            return False
        taken: bool = self._turn.acquire(True, _LONGEST_WAIT if len(self._waiting) > _MOST_WAITING else 0)
        return taken

    def end(self) -> None:
        """Leave the streams as they were."""
        watched, self._watched = self._watched, []
        for stream, watching in watched:
            if vars(stream).get("write") is watching:
                del stream.write
