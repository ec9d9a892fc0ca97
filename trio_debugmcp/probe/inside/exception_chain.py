"""The exception at a stop, with all that is behind it: causes with the way, groups as trees, notes, tracebacks.

    answer_json(thread, ChainBounds(inner=5, frames=10, locals_=1), budget, renderer)
    # {"exception": {"type": "SoldOut", "text": "no bread", "frames": [...], "causes": [...]}, "omitted": 2}

An exception's links are read as the interpreter has them, whatever a class has put in their place. Its `__str__` is
code of the program: it is run within bounds, and without it the arguments are shown.
"""

import builtins
from typing import Any, Dict, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached, template_frames
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread, VisibleFrame, is_library
from trio_debugmcp.probe.inside.values import atoms, facts
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_COUNTED = 1000
"""Exceptions behind one that are walked to count what is left out."""

MOST_FRAMES = 20000
"""Entries of a traceback that are walked: those of a recursion that ran wild are fewer."""

MOST_NOTES = 10
"""Notes of an exception that are shown; the others are counted."""

MOST_TEXT = 1000
"""Characters of a message, and of a note."""

MOST_QUOTED = 8000
"""Characters of a message that is the traceback of another process: at its end is what was raised, and where."""

_EXCEPTION: Any = vars(BaseException)
_TRACEBACK = _EXCEPTION["__traceback__"].__get__
_CAUSE = _EXCEPTION["__cause__"].__get__
_CONTEXT = _EXCEPTION["__context__"].__get__
_SUPPRESSED = _EXCEPTION["__suppress_context__"].__get__


class ChainBounds:
    """How much is shown: exceptions behind the one at hand, frames of each, and of how many of these the locals."""

    __slots__ = ("frames", "inner", "locals")

    def __init__(self, inner: int = 5, frames: int = 10, locals_: int = 1) -> None:
        self.inner = inner
        self.frames = frames
        self.locals = locals_


class ExceptionLink:
    """An exception behind another one. `way`: cause, context, suppressed or member."""

    __slots__ = ("of", "value", "way")

    def __init__(self, way: str, value: Any, of: Any) -> None:
        self.way = way
        self.value = value
        self.of = of


def is_handled_in(frame: Any, error: Any) -> bool:
    """Whether it is this very frame that handles an exception which is being handled: its traceback begins there."""
    trace = _TRACEBACK(error)
    return trace is not None and trace.tb_frame is frame


def line(error: Any, renderer: Renderer) -> str:
    """Return `KeyError: 'a'`, type and message of an exception."""
    message = renderer.message(error, MOST_TEXT)
    name = facts.type_name(type(error))
    return f"{name}: {message}" if message else name


def answer_json(thread: ProgramThread, bounds: ChainBounds, budget: Budget, renderer: Renderer) -> Optional[Json]:
    """Return the exception at which a thread is stopped; None if it is not at one."""
    value, trace = attached.debugger().exception(thread)
    if value is None:
        return None
    telling = _ChainAnswer(thread, bounds, budget, renderer)
    answer: Json = {"exception": telling.tell(value, trace)}
    telling.add_locals()
    if telling.hidden:
        answer["hidden"] = telling.hidden
    if telling.omitted:
        answer["omitted"] = telling.omitted
    if telling.uncounted:
        answer["uncounted"] = True
    if renderer.withheld_any:
        answer["withheld"] = True
    return answer


def left_place(thread: ProgramThread, budget: Budget, renderer: Renderer) -> Optional[Json]:
    """Return where an exception was raised that has left that frame.

    That is a frame of the program, whose handler raised it again, or one of a library. That a library has raised an
    AssertionError says nothing more: its function compares for the test that has called it.
    """
    value, trace = attached.debugger().exception(thread)
    if value is None:
        return None
    telling = _ChainAnswer(thread, ChainBounds(0, 0, 0), budget, renderer)
    library: Optional[Json] = None
    for frame, line_ in reversed(list(entries_of(trace))):
        if telling.shows(frame):
            break
        place = None if attached.is_own(frame) else telling.place(frame, line_)
        if place is not None and not place.get("library"):
            return place
        library = library or place
    return None if issubclass(type(value), AssertionError) else library


class _ChainAnswer:
    """One answer: how much of it is used up, and what is in it already."""

    def __init__(self, thread: ProgramThread, bounds: ChainBounds, budget: Budget, renderer: Renderer) -> None:
        self.omitted = 0
        self.uncounted = False
        self.hidden: Dict[str, int] = {}
        self._thread = thread
        self._bounds = bounds
        self._budget = budget
        self._renderer = renderer
        self._stack = list(attached.debugger().frames(thread))
        self._visible = {id(each.frame): each for each in self._stack}
        self._with_locals: Dict[int, Tuple[Json, Any]] = {}

    def tell(self, value: Any, trace: Any) -> Json:
        """Return the exception at hand, and what is behind it: first what is nearest."""
        root = self._one(value)
        self._add_frames(root, trace, self._callers(trace), is_root=True)
        entries: Dict[int, Json] = {id(value): root}
        kept = [value]  # an id stays that of its object only as long as there is one
        shown = 0
        for link in walk(value):
            kept.append(link.value)
            if len(kept) > MOST_COUNTED:
                self.uncounted = True
                break
            if shown >= self._bounds.inner or self._budget.spent() or id(link.of) not in entries:
                self.omitted += 1
                continue
            shown += 1
            known = entries.get(id(link.value))
            if known is not None:
                entry = self._reference(known)
            else:
                entry = entries[id(link.value)] = self._one(link.value)
                self._add_frames(entry, _TRACEBACK(link.value), [])
            entry["way"] = link.way
            entries[id(link.of)].setdefault("inner", []).append(entry)
        return root

    def shows(self, frame: Any) -> bool:
        """Whether the stack at the stop has a frame."""
        return id(frame) in self._visible

    def _reference(self, shown: Json) -> Json:
        """An exception that is in the answer already."""
        entry: Json = {"type": shown["type"], "text": shown["text"], "same": True}
        self._budget.take_json(entry)
        return entry

    def _one(self, value: Any) -> Json:
        kind = type_text(type(value))
        quoted = facts.attribute(value, "tb") if kind.endswith("RemoteTraceback") else None
        text = quoted[:MOST_QUOTED] if type(quoted) is str else self._renderer.message(value, MOST_TEXT)
        entry: Json = {"type": kind, "text": text}
        shown, total = notes_of(value)
        if total:
            entry["notes"] = [self._note(each) for each in shown]
            entry["notesTotal"] = total
        members = members_of(value)
        if members is not None:
            entry["members"] = len(members)
        self._budget.take_json(entry)
        return entry

    def _note(self, note: Any) -> str:
        return atoms.cut(note, MOST_TEXT) if type(note) is str else self._renderer.render(note)

    # --- Frames -------------------------------------------------------------------------------------------------------

    def _callers(self, trace: Any) -> List[VisibleFrame]:
        """The frames that the exception at hand has not passed yet, from the innermost on."""
        passed = {id(frame) for frame, _ in entries_of(trace)}
        outermost = next((frame for frame, _ in entries_of(trace)), None)
        above = set()
        frame = outermost.f_back if outermost is not None else None
        while frame is not None:
            above.add(id(frame))
            frame = frame.f_back
        return [each for each in self._stack if id(each.frame) in above and id(each.frame) not in passed]

    def _add_frames(self, entry: Json, trace: Any, callers: List[VisibleFrame], is_root: bool = False) -> None:
        """Put frames into an entry: those of its traceback, from where it was raised, then those below at the stop."""
        found: List[Tuple[Any, Optional[int]]] = [each for each in entries_of(trace) if not attached.is_own(each[0])]
        found.reverse()
        seen = [index for index, each in enumerate(found) if id(each[0]) in self._visible]
        below = seen[-1] + 1 if is_root and seen else len(found)
        passed, left_out = found[:below], found[below:]  # what has called the user's code is not shown, as in the stack
        found = list(passed)
        found.extend((caller.frame, None) for caller in callers)
        if is_root:
            visible = {id(frame) for frame, _ in found} | set(self._visible)
            self.hidden = visible_frames.hidden(self._thread, visible, [frame for frame, _ in left_out])
        shown: List[Json] = []
        for frame, line in found[: self._bounds.frames]:
            if self._budget.spent():
                break
            place = self.place(frame, line)
            if passed and not shown:
                place["raised"] = True
            elif is_root and self._stack and frame is self._stack[0].frame:
                place["top"] = True
            if len(shown) < self._bounds.locals and id(frame) not in self._with_locals:
                self._with_locals[id(frame)] = (place, frame)
            self._budget.take_json(place)
            shown.append(place)
        entry["frames"], entry["total"] = shown, len(found)

    def place(self, frame: Any, line: Optional[int]) -> Json:
        """Return where a frame was left, at a line; None: it was not left yet, and is where the stack shows it."""
        seen = self._visible.get(id(frame))
        template = None if line is None else template_frames.place_of(frame, line)
        if template is not None:
            place = {"file": template[0], "line": template[1], "function": frame.f_code.co_name}
            library = is_library(template[0])
        elif seen is not None:
            line = seen.line if line is None else line
            place = {"file": seen.file, "line": line, "function": seen.name.replace(" (Current frame)", "")}
            library = seen.library
        else:
            file = attached.debugger().visible(frame).file
            place = {"file": file, "line": line, "function": frame.f_code.co_name}
            library = attached.debugger().is_library(frame)
        name = visible_frames.qualified_name(frame)
        if name != place["function"]:
            place["qualname"] = name
        if library:
            place["library"] = True
        return place

    def add_locals(self) -> None:
        """Put the locals into the frames that are to have them. Last: their values may use up all of the time."""
        for place, frame in self._with_locals.values():
            pairs = visible_frames.local_names(frame)
            place["locals"] = visible_frames.variables(
                pairs, 0, visible_frames.MOST_LOCALS, self._budget, self._renderer
            )
            place["localsTotal"] = len(pairs)


# --- What is behind an exception --------------------------------------------------------------------------------------


def walk(value: Any) -> Iterator[ExceptionLink]:
    """Yield what is behind an exception: of each exception its cause or context, then its members.

    Level by level, so that what is nearest comes first. What was there before is not walked again: as a cause or
    member it is yielded nevertheless; as a context it is not, for most are that of several.
    """
    seen = {id(value)}
    level = [value]
    while level:
        below = []
        for each in level:
            for link in links_of(each):
                if id(link.value) in seen:
                    if link.way in ("cause", "member"):
                        yield link
                    continue
                seen.add(id(link.value))
                below.append(link.value)
                yield link
        level = below


def links_of(value: Any) -> Iterator[ExceptionLink]:
    """Yield what is directly behind an exception; `suppressed`: put aside by `from`, and not printed by Python."""
    cause, context = _CAUSE(value), _CONTEXT(value)
    if cause is not None:
        yield ExceptionLink("cause", cause, value)
    if context is not None:
        yield ExceptionLink("suppressed" if _SUPPRESSED(value) else "context", context, value)
    for each in members_of(value) or ():
        yield ExceptionLink("member", each, value)


def members_of(value: Any) -> Optional[List[Any]]:
    """Return the exceptions in a group, also in one of the backport `exceptiongroup`; None of other exceptions."""
    group: Any = getattr(builtins, "BaseExceptionGroup", None)
    if group is not None and issubclass(type(value), group):
        found = vars(group)["exceptions"].__get__(value)
    elif any(facts.type_name(each) == "BaseExceptionGroup" for each in facts.mro(type(value))):
        found = (facts.instance_dict(value) or {}).get("_exceptions")
    else:
        return None
    return [each for each in found if _is_exception(each)] if type(found) in (tuple, list) else []


def notes_of(value: Any) -> Tuple[List[Any], int]:
    """Return the first notes that were added to an exception, and the number of all."""
    found: Any = (facts.instance_dict(value) or {}).get("__notes__")
    return (list(found[:MOST_NOTES]), len(found)) if type(found) in (list, tuple) else ([], 0)


def entries_of(trace: Any) -> Iterator[Tuple[Any, int]]:
    """Yield the frames of a traceback with their lines, from the outermost to where the exception was raised."""
    for _ in range(MOST_FRAMES):
        if trace is None:
            return
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def type_text(cls: type) -> str:
    """Return the name of a type of exception as Python prints it."""
    name = atoms.qualified_name(cls)
    return name[len("__main__.") :] if name.startswith("__main__.") else name


def _is_exception(value: Any) -> bool:
    return issubclass(type(value), BaseException)
