"""The truth about exceptions, from the events that follow a raise, beside the verdict at the raise.

`Oracle` judges each exception when it is first raised, and follows it through the events of `sys.monitoring`: the frame
whose handler was entered last has caught it; a frame that it has left without arriving in the next one was called by C
code that caught it. Runs on CPython 3.12 and newer, without packages.
"""

import contextlib
import sys
import threading
import time
from typing import Any, Self

from trio_debugmcp.engine.inside.catching import c_calls, propagation, thrown_exception

TOOL = 4

_ENDING = ("WITH_EXCEPT_START", "SEND", "YIELD_VALUE")

CAUGHT, IN_C, ENDED, UNFINISHED = "caught", "caught in C", "ended", "unfinished"


class Episode:
    """One exception on its way, from its first raise to where it stays."""

    def __init__(self, exception: BaseException, code: Any, offset: int, stack: list[int], verdict: Any) -> None:
        self.kind = type(exception)
        self.code = code
        self.line = exception.__traceback__.tb_lineno if exception.__traceback__ else 0
        self.stack = stack  # the ids of the frames, the raising one first
        self.outcome = verdict.outcome
        self.judged = stack.index(id(verdict.frame)) if id(verdict.frame) in stack else -1
        self.judged_code = verdict.frame.f_code
        self.judged_line = verdict.line
        self.how = verdict.how
        self.reason = verdict.reason
        self.runner = verdict.runner
        self.state = UNFINISHED
        self.at = stack[0]
        self.back: tuple[int, int] | None = None
        self.place = -1
        self.place_code = code
        self.place_offset = offset
        self.replaced = False
        self.cold = 0
        self.warm = 0

    def handled(self, frame: Any, code: Any, offset: int) -> None:
        self.state = CAUGHT
        self._be(frame, code, offset)

    def left(self, frame: Any, code: Any, offset: int) -> None:
        outer = frame.f_back
        self._be(frame, code, offset)
        self.back = (id(outer), outer.f_lasti) if outer is not None else None
        self.state = IN_C if outer is not None else ENDED
        if outer is not None:
            self.place += 1
            self.place_code = outer.f_code

    def arrived(self, frame: Any, code: Any, offset: int) -> None:
        self.state = UNFINISHED
        self._be(frame, code, offset)

    def continues(self, frame: Any, offset: int) -> bool:
        """Whether a further raise of the same object is a part of this way."""
        if self.state == IN_C:
            return self.back == (id(frame), frame.f_lasti)
        return self.at == id(frame) and self.place_code is frame.f_code

    def _be(self, frame: Any, code: Any, offset: int) -> None:
        self.at = id(frame)
        self.place = self.stack.index(self.at) if self.at in self.stack else -1
        self.place_code = code
        self.place_offset = offset

    @property
    def verdict(self) -> str:
        """One of right, misplaced, unknown, replaced, unfinished, wrong."""
        if self.state == UNFINISHED:  # StopIteration at the end of a loop: its last event is a raise
            ended = issubclass(self.kind, StopIteration) and self.how == "C code" and self.place == self.judged
            return "right" if ended else "unfinished"
        if self.outcome is thrown_exception.UNKNOWN:
            return "unknown"
        if self.outcome is thrown_exception.UNCAUGHT:
            beyond = self.runner is not None and self.place >= self.judged
            if self.state == ENDED or beyond or (self.runner is not None and self.place < 0):
                return "right"
            return "replaced" if self.replaced else "wrong"
        if self.state == ENDED:
            return "wrong"
        if (self.place, self.state == IN_C) == (self.judged, self.how == "C code"):
            return "right"
        if self.how == "test outcome" and not 0 <= self.place < self.judged:
            return "right"
        if self.replaced:
            return "replaced"
        return "right" if self.reason is not None and self.place <= self.judged else "misplaced"

    def __str__(self) -> str:
        return (
            f"{self.verdict}: {self.kind.__name__} in {self.code.co_qualname} ({self.code.co_filename}:{self.line}): "
            f"judged {self.outcome} {self.how or self.runner or ''} #{self.judged} in {self.judged_code.co_qualname}:"
            f"{self.judged_line} ({self.reason}); is {self.state} #{self.place} in {self.place_code.co_qualname} "
            f"at {self.place_offset} ({self.place_code.co_filename})"
        )


class Oracle:
    """Judges and follows what is raised between `start` and `stop`, in all threads."""

    def __init__(self, timed: bool = False) -> None:
        self.episodes: list[Episode] = []
        self._on_the_way: dict[tuple[int, int], Episode] = {}
        self._timed = timed

    def __enter__(self) -> Self:
        monitoring: Any = vars(sys)["monitoring"]
        events = monitoring.events
        monitoring.use_tool_id(TOOL, "oracle")
        for event, callback in (
            (events.RAISE, self._raised),
            (events.RERAISE, self._raised_again),
            (events.EXCEPTION_HANDLED, self._handled),
            (events.PY_UNWIND, self._left),
        ):
            monitoring.register_callback(TOOL, event, callback)
        monitoring.set_events(TOOL, events.RAISE | events.RERAISE | events.EXCEPTION_HANDLED | events.PY_UNWIND)
        return self

    def __exit__(self, *exc: object) -> None:
        monitoring: Any = vars(sys)["monitoring"]
        monitoring.set_events(TOOL, 0)
        for event in ("RAISE", "RERAISE", "EXCEPTION_HANDLED", "PY_UNWIND"):
            monitoring.register_callback(TOOL, getattr(monitoring.events, event), None)
        monitoring.free_tool_id(TOOL)

    def _raised(self, code: Any, offset: int, exception: BaseException) -> None:
        with contextlib.suppress(RecursionError):
            self._raise(code, offset, exception, sys._getframe(1))

    def _raise(self, code: Any, offset: int, exception: BaseException, frame: Any) -> None:
        key = (threading.get_ident(), id(exception))
        episode = self._on_the_way.get(key)
        trace = exception.__traceback__
        fresh = trace is not None and trace.tb_next is None and trace.tb_frame is frame
        if episode is not None and episode.state == IN_C and episode.continues(frame, offset):
            fresh = False  # the traceback of an import loses its frames
        if fresh:
            self._begin(key, code, offset, exception, frame)
        elif episode is not None:
            if episode.kind is type(exception) and episode.continues(frame, offset):
                episode.arrived(frame, code, offset)
            elif episode.state != CAUGHT or not self._is_inside(frame, episode.at):
                del self._on_the_way[key]

    @staticmethod
    def _is_inside(frame: Any, outer: int) -> bool:
        """Whether a frame was called by the end of a `with` block in another one: it may raise the exception again."""
        while frame is not None and id(frame) != outer:
            frame = frame.f_back
        return frame is not None and c_calls.instruction(frame, frame.f_lasti) in _ENDING

    def _begin(self, key: tuple[int, int], code: Any, offset: int, exception: BaseException, frame: Any) -> None:
        context = exception.__context__
        if context is not None and (key[0], id(context)) in self._on_the_way:
            self._on_the_way[key[0], id(context)].replaced = True
        stack = []
        outer = frame
        while outer is not None:
            stack.append(id(outer))
            outer = outer.f_back
        clock = time.perf_counter_ns
        before = clock()
        propagation.judge(exception, frame, offset)
        middle = clock()
        propagation.judge(exception, frame, offset)
        after = clock()
        episode = Episode(exception, code, offset, stack, propagation.judge(exception, frame, offset, exact=True))
        (episode.cold, episode.warm) = (middle - before, after - middle)
        self.episodes.append(episode)
        self._on_the_way[key] = episode

    def _raised_again(self, code: Any, offset: int, exception: BaseException) -> None:
        key = (threading.get_ident(), id(exception))
        episode = self._on_the_way.get(key)
        if episode is None and isinstance(exception, BaseExceptionGroup):
            episode = self._parted(key, id(sys._getframe(1)))
        if episode is not None and episode.at == id(sys._getframe(1)):
            episode.arrived(sys._getframe(1), code, offset)

    def _handled(self, code: Any, offset: int, exception: BaseException) -> None:
        episode = self._on_the_way.get((threading.get_ident(), id(exception)))
        if episode is not None and self._still(episode, sys._getframe(1), exception):
            episode.handled(sys._getframe(1), code, offset)

    def _parted(self, key: tuple[int, int], frame: int) -> Episode | None:
        """The group that `except*` makes a new one of, for what its clauses have left."""
        for (thread, old), episode in list(self._on_the_way.items()):
            group = issubclass(episode.kind, BaseExceptionGroup)
            if thread == key[0] and group and episode.state == CAUGHT and episode.at == frame:
                self._on_the_way[key] = self._on_the_way.pop((thread, old))
                return episode
        return None

    def _still(self, episode: Episode, frame: Any, exception: BaseException) -> bool:
        """Whether the event belongs to the episode, and not to a later object in the same place."""
        if episode.state == UNFINISHED and episode.at == id(frame) and episode.kind is type(exception):
            return True
        if episode.state != CAUGHT or not self._is_inside(frame, episode.at):
            self._on_the_way.pop((threading.get_ident(), id(exception)), None)
        return False

    def _left(self, code: Any, offset: int, exception: BaseException) -> None:
        episode = self._on_the_way.get((threading.get_ident(), id(exception)))
        if episode is not None and self._still(episode, sys._getframe(1), exception):
            episode.left(sys._getframe(1), code, offset)
