"""`ResizedArrays`: lines that make arrays of numpy larger or smaller in place, as they would without a recorder.

    resized.begin(state, [("data", ())], went, frame)       # from here on only the program refers to these
    resized.finish(state, went)                             # known again, as what they are now

numpy refuses that for an array to which there is a weak reference, or another one than that which the call has.
"""

import sys
from typing import Any

from trio_debugmcp.engine.inside.recorder.known_objects import KnownObjects, TiedKnown
from trio_debugmcp.engine.inside.recorder.object_paths import ARRAY, MISSING
from trio_debugmcp.engine.inside.recorder.statement_reader import ATTRIBUTE
from trio_debugmcp.engine.inside.recorder.value_words import FIELD, GAP

_LOCALS_ARE_COPIED = sys.version_info < (3, 13)
"""Whether a frame keeps the dictionary of its locals that was made for one who asked."""


class _Resized:
    """In place of an array, in what is known of the container that it is in."""


_RESIZED: Any = _Resized()


class ResizedArrays:
    """The arrays to which nothing of the recorder refers, while a line may resize them."""

    def __init__(self, objects: KnownObjects, states: Any, contents: Any) -> None:
        self._objects, self._states, self._contents = objects, states, contents
        self._loose: dict[int, Any] = {}

    def begin(self, state: Any, paths: Any, went: Any, frame: Any) -> None:
        """Release the arrays at some paths; `went`: returns the value at a path."""
        for name, steps in paths:
            known: Any = self._objects.by_id.get(id(went(name, steps)))
            if type(known) is TiedKnown and known() is not None:
                held = self._in_holder(known.key, went(name, steps[:-1]), steps)
                self._loose.setdefault(state.number, []).append((known, name, steps, held))
                self._forget_value(known.key, state, frame)
                known.tie = None

    def finish(self, state: Any, went: Any) -> None:
        """Know the arrays again that the line of a frame may have resized."""
        for known, name, steps, held in self._loose.pop(state.number, ()):
            value = went(name, steps)
            at_its_place: Any = self._objects.by_id.get(known.key)
            if id(value) != known.key:  # another one is there: what has become of it is not known
                self._objects.by_id.pop(known.key if at_its_place is known else 0, None)
            if id(value) != known.key or at_its_place is not known:
                continue
            self._objects.tie(known, value)
            if held is not None:
                items, place = held
                items[place] = value
            is_own = not state.called and not state.suspended
            self._contents.compare(known, value, ARRAY, state.line, FIELD if is_own else GAP)

    def _in_holder(self, key: int, holder: Any, steps: Any) -> Any:
        """Take an array out of what is known of the container that it is in; return the place, or None."""
        if not steps or steps[-1][0] == ATTRIBUTE or holder is MISSING:
            return None
        known = self._objects.by_id.get(id(holder))
        content = known.content if known is not None else None
        items: Any = content[1] if type(content) is tuple and type(content[1]) is list else content
        for place, item in enumerate(items if type(items) is list else ()):
            if id(item) == key:
                items[place] = _RESIZED
                return items, place
        return None

    def _forget_value(self, key: int, state: Any, frame: Any) -> None:
        """Drop what the lines under way have to compare the array with, and the copy of the frame's locals."""
        for stack in list(self._states.stacks.values()):
            for each in list(stack):
                if each.watch:
                    each.watch = [entry for entry in each.watch if id(entry[1]) != key]
        if _LOCALS_ARE_COPIED and state.is_function:
            names = frame.f_locals
            for name in [name for name, value in names.items() if id(value) == key]:
                del names[name]
