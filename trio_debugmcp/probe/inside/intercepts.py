"""What the threads of an evaluation write and how they leave, intercepted as long as one is under way.

    printed = ThreadOutput(idents)
    printed.open()              # until `close`: `text()` is what threads with these identifiers write
    exits.open(idents)          # `exit` and `quit` in them raise SystemExit, and close nothing
    halts.open(idents)          # `breakpoint()` in them does nothing

Evaluations overlap, so the program's streams and its `exit` are ours from the first one to the end of the last.
"""

import _thread
from typing import Any, Callable, List

from trio_debugmcp.probe.inside import imported

MOST_PRINTED = 20000
"""Characters of what an evaluation printed; the program's own output has all of it."""


class ThreadOutput:
    """What certain threads write to the program's streams, noted on its way there."""

    def __init__(self, idents: List[int]) -> None:
        self._idents = idents
        self._parts: List[str] = []
        self._left = MOST_PRINTED

    def text(self) -> str:
        return "".join(self._parts)

    def note(self, text: Any) -> None:
        if type(text) is str and self._left > 0 and _thread.get_ident() in self._idents:
            self._parts.append(text[: self._left])
            self._left -= len(text)

    def open(self) -> None:
        _streams.open(self)

    def close(self) -> None:
        _streams.close(self)


class _Streams:
    """The program's streams, whose `write` is ours from the first evaluation under way to the end of the last one.

    Evaluations overlap and end in any order: were each to put its own in place of the one it found, the second to end
    would put back the first one's, which has ended.
    """

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._open: List[ThreadOutput] = []
        self._undo: List[Callable[[], None]] = []

    def open(self, printed: ThreadOutput) -> None:
        with self._lock:
            if not self._open:
                for stream in (imported.now("sys").stdout, imported.now("sys").stderr):
                    try:
                        self._note(stream)
                    except Exception:  # a stream of the program's that has no attributes to set
                        continue
            self._open = [*self._open, printed]

    def close(self, printed: ThreadOutput) -> None:
        with self._lock:
            self._open = [each for each in self._open if each is not printed]
            while self._undo and not self._open:
                self._undo.pop()()

    def _note(self, stream: Any) -> None:
        attributes, write = vars(stream), stream.write
        own = attributes.get("write")

        def noting(text: Any) -> Any:
            for each in self._open:
                each.note(text)
            return write(text)

        def undo() -> None:
            if attributes.get("write") is noting:
                if own is None:
                    del stream.write
                else:
                    stream.write = own

        stream.write = noting
        self._undo.append(undo)


_streams = _Streams()


class _Exits:
    """While something is evaluated: `exit` and `quit` in its threads raise SystemExit, and close nothing."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._open: List[List[int]] = []
        self._original: Any = None

    def open(self, idents: List[int]) -> None:
        with self._lock:
            quitter: Any = type(getattr(imported.now("builtins"), "exit", None))
            if not self._open and quitter.__module__ == "_sitebuiltins":
                self._original = original = quitter.__call__

                def leave(itself: Any, code: Any = None) -> Any:
                    if any(_thread.get_ident() in each for each in self._open):
                        raise SystemExit(code)
                    return original(itself, code)

                quitter.__call__ = leave
            self._open.append(idents)

    def close(self, idents: List[int]) -> None:
        with self._lock:
            self._open = [each for each in self._open if each is not idents]
            if not self._open and self._original is not None:
                imported.now("_sitebuiltins").Quitter.__call__ = self._original
                self._original = None


exits = _Exits()


class _Halts:
    """While something is evaluated: `breakpoint()` in its threads does nothing; pydevd would step to the next line."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._open: List[List[int]] = []
        self._original: Any = None
        self._ours: Any = None

    def open(self, idents: List[int]) -> None:
        with self._lock:
            current = imported.now("sys").breakpointhook
            if current is not self._ours:  # the program may have set it while another evaluation lasts
                self._original = original = current

                def halt(*args: Any, **named: Any) -> Any:
                    if any(_thread.get_ident() in each for each in self._open):
                        return None
                    return original(*args, **named)

                imported.now("sys").breakpointhook = self._ours = halt
            self._open.append(idents)

    def close(self, idents: List[int]) -> None:
        with self._lock:
            self._open = [each for each in self._open if each is not idents]
            if not self._open and self._ours is not None:
                if imported.now("sys").breakpointhook is self._ours:  # else the evaluated code has set its own
                    imported.now("sys").breakpointhook = self._original
                self._ours = self._original = None


halts = _Halts()
