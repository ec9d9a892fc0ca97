"""`LineWatch`: what is looked at when a statement begins.

    watch.begin(state, site, names)             # what it reads: known as it is? Which containers can it change?

What a line changed is compared with what was known when it began, so another line's work is never taken for its own.
"""

import _operator
import types
from collections import defaultdict
from typing import Any

from trio_debugmcp.engine.inside.recorder.array_memory import base_of
from trio_debugmcp.engine.inside.recorder.frame_states import FrameState, FrameStates
from trio_debugmcp.engine.inside.recorder.hidden_writes import HiddenWrites
from trio_debugmcp.engine.inside.recorder.known_contents import KnownContents, copied, is_watched
from trio_debugmcp.engine.inside.recorder.known_fields import DELETED
from trio_debugmcp.engine.inside.recorder.known_objects import HeldKnown, KnownObjects
from trio_debugmcp.engine.inside.recorder.object_paths import ARRAY, DICT, LIST, MISSING, ObjectPaths, names_of
from trio_debugmcp.engine.inside.recorder.resized_arrays import ResizedArrays
from trio_debugmcp.engine.inside.recorder.statement_reader import (
    ATTRIBUTE,
    CHANGED_BY_IT,
    CONSTANT,
    GIVEN,
    INSIDE,
    SORTED,
)
from trio_debugmcp.engine.inside.recorder.statement_sites import EITHER, GLOBAL, StatementSite
from trio_debugmcp.engine.inside.recorder.value_words import FIELD, GAP, SEEN, SEEN_NAME, ValueWords, is_atom

_is, _list_length, _list_iter = _operator.is_, list.__len__, list.__iter__

_dict_get = dict.get

_FUNCTION = types.FunctionType

_MOST_WATCHED = 40
"""Containers that are watched on one line."""


class LineWatch:
    """What happens to the values of statements."""

    def __init__(self, rows: Any, words: ValueWords, objects: KnownObjects, states: FrameStates, deque: Any) -> None:
        self._add = rows.add
        self._words = words
        self._objects = objects
        self._states = states
        self._site: Any = None  # that which begins; another thread's does no harm, it pays for a copy
        self.paths = ObjectPaths()
        self._layouts = self.paths.layouts
        self.hidden = HiddenWrites(rows, words, objects, states, self.paths)
        self.fields = self.hidden.fields
        self.contents = KnownContents(rows, words, objects, deque)
        self.resized = ResizedArrays(objects, states, self.contents)

    # --- Begin --------------------------------------------------------------------------------------------------------

    def begin(self, state: FrameState, site: StatementSite, frame: Any, names: Any) -> None:
        """Check what a statement is about to read, and remember what it can change; names None: look them up."""
        watch: Any = []
        given: Any = []
        self._site = site
        if site.others:
            if names is None:
                names = names_of(frame, state.code.is_function)
            self._begin_others(state, site.others, names, watch, given)
        objects = state.objects
        if objects:
            for name, steps, flags in site.locals:
                if name in objects:
                    if names is None:
                        names = frame.f_locals
                    value = names.get(name, MISSING)
                    if value is not MISSING:
                        self._go(state, names, value, steps, flags, watch, given)
        if site.hidden is not None or (self.hidden.exposed and site.mutates):
            if names is None:
                names = names_of(frame, state.code.is_function)
            self.hidden.begin(state, site, self._way(state, names), given)
        if site.has_conflict:
            if names is None:
                names = names_of(frame, state.code.is_function)
            state.targets = tuple([self.target(state, names, *store) for store in site.stores])
        if site.mutates or site.hidden is not None or watch:
            state.watch, state.given = watch, given
            if not site.has_writes:  # it only reads, and makes a key by that
                site.has_writes = True
                site.steps.clear()
        else:
            state.watch = state.given = ()
        if site.hidden is not None and site.hidden.resized:
            del watch, given
            self.resized.begin(state, site.hidden.resized, self._way(state, names), frame)

    def _way(self, state: FrameState, names: Any) -> Any:
        """Return what returns the value at a path."""
        return lambda name, steps: self.went(state, names, name, steps)

    def finish_resized(self, state: FrameState, names: Any) -> None:
        """Know the arrays again that a line may have resized."""
        self.resized.finish(state, self._way(state, names))

    def _begin_others(self, state: FrameState, checks: Any, names: Any, watch: list[Any], given: list[Any]) -> None:
        """Check names that others can change: globals, free variables."""
        globals_known, line = state.globals, state.line
        fields = globals_known.fields
        for where, name, key, steps, flags, secret in checks:
            if where >= GLOBAL:
                value = names.get(name, MISSING) if where == EITHER and not state.is_module else MISSING
                if value is not MISSING:  # of the class that is being made
                    token = state.known.get(name, MISSING)
                    if token is not value and (token is MISSING or not self.fields.is_same(token, value)):
                        self._say_name(state, name, self._words.key(name), value, secret, line)
                else:
                    value = _dict_get(globals_known.held, name, MISSING)
                    if value is MISSING:
                        continue
                    if fields is None or fields.get(key, MISSING) is not value:
                        self.fields.check(globals_known, key, value, line, secret, GAP)
                        fields = globals_known.fields
            else:
                value = names.get(name, MISSING)
                if value is MISSING:
                    continue
                token = state.known.get(name, MISSING)
                if token is not value and (token is MISSING or not self.fields.is_same(token, value)):
                    self._say_name(state, name, key, value, secret, line)
            if steps or flags or type(value) is not _FUNCTION:
                self._go(state, names, value, steps, flags, watch, given)

    def _say_name(self, state: FrameState, name: str, key: int, value: Any, secret: bool, line: int) -> None:
        state.known[name] = token = self.fields.token(value)
        state.holds = state.holds or type(token) is HeldKnown
        word = self._words.secret_of(value) if secret else self._words.of(value)
        self._add(SEEN_NAME | key << 32 | state.number, word, line)

    def _go(
        self, state: FrameState, names: Any, value: Any, steps: Any, flags: int, watch: list[Any], given: list[Any]
    ) -> None:
        """Go a path from a value; check the fields on the way, and the containers."""
        layouts, by_id = self._layouts, self._objects.by_id
        cls = type(value)
        layout = layouts.get(id(cls)) or self.paths.layout(cls)
        known = None
        if not layout.kind:
            if layout.is_atom or not (steps or flags):
                return
        else:
            known = self._contained(state, value, layout.kind, flags if not steps else 0, watch)
            if flags & INSIDE and not steps:
                self._contained_inside(state, value, layout.kind, watch)
        for how, what, key, secret in steps:
            if how == ATTRIBUTE:
                own = None if layout.names is None or what in layout.hidden else layout.names(value)
                after = MISSING if own is None else _dict_get(own, what, MISSING)
                if after is MISSING:
                    after = self.paths.attribute(value, what)
                if known is None:
                    known = by_id.get(id(value)) or self._objects.of(value)
                fields = known.fields
                if after is MISSING or fields is None or fields.get(key, MISSING) is not after:
                    self._differing_attribute(known, value, what, key, after, state.line, secret)
            else:
                after = self._item(state, names, value, known, (how, what, key, secret), watch)
            if after is MISSING:
                return
            value, known, cls = after, None, type(after)
            layout = layouts.get(id(cls)) or self.paths.layout(cls)
            if layout.is_atom:
                return
            if layout.kind:
                known = self._contained(state, value, layout.kind, flags, watch)
                if flags & INSIDE:
                    self._contained_inside(state, value, layout.kind, watch)
        if flags & GIVEN and not layout.kind and len(given) < _MOST_WATCHED:
            own = layout.names(value) if layout.names is not None else None
            known = known or by_id.get(id(value)) or self._objects.of(value)
            if known.fields:
                self.hidden.verify(known, value, state.line, GAP)
            given.append((known, value, -1 if own is None else len(own)))

    def _differing_attribute(
        self, known: Any, value: Any, name: str, key: int, after: Any, line: int, secret: bool
    ) -> None:
        """An attribute is not the very object that it was: say so if that is another value."""
        if after is MISSING:
            self.fields.check_absent(known, key, line, GAP, self.paths.is_described(value, name))
        else:  # what the class has now in place of it, a line has perhaps said: of the class
            how = SEEN if self.paths.is_shared(value, name) else GAP
            self.fields.check(known, key, after, line, secret, how)

    def _item(self, state: FrameState, names: Any, value: Any, known: Any, step: Any, watch: list[Any]) -> Any:
        """Go to an item; check it, where not all of the container's are checked already. Return it, or MISSING."""
        how, what, key, secret = step
        item = what if how == CONSTANT else self.named(state, names, what)
        if item is MISSING:
            return MISSING
        after = self.paths.item(value, item)
        place = key if how == CONSTANT else self._words.item_key(item)
        if known is not None and place and type(value) is not tuple and not is_watched(known):
            if after is MISSING:
                self.fields.check_absent(known, place, state.line, GAP)
            else:
                self.fields.check(known, place, after, state.line, secret, GAP)
        if after is MISSING and issubclass(type(value), defaultdict):
            _watch_default(self._site, known, value, watch)
        return after

    def _contained(self, state: FrameState, value: Any, kind: int, flags: int, watch: list[Any]) -> Any:
        known = self._objects.by_id.get(id(value)) or self._objects.of(value)
        if kind == ARRAY and (base := base_of(value)) is not None:
            self._contained(state, base, ARRAY, flags, watch)
        content = known.content
        if content is None:
            self.contents.look(known, value, kind, state.line)
        elif (
            len(content) != _list_length(value) or not all(map(_is, content, _list_iter(value)))
            if kind == LIST
            else not self.contents.is_as_known(known, value, kind)
        ):
            how, line = self._of_caller(state, known)
            self.contents.compare(known, value, kind, line, how)
        site = self._site
        if (site.mutates or site.hidden is not None) and len(watch) < _MOST_WATCHED:
            is_long = site.mutates and not is_watched(known)
            is_long = is_long and not any([each[0] is known for each in watch])
            changes = flags & (CHANGED_BY_IT | SORTED)
            watch.append((known, value, kind, changes, copied(value, kind, site) if is_long else None))
        return known

    def _contained_inside(self, state: FrameState, value: Any, kind: int, watch: list[Any]) -> None:
        """Watch the containers in a container."""
        for item in self.contents.first_items(value, kind):
            inner = 0 if is_atom(item) else self.paths.layout(type(item)).kind
            if inner:
                self._contained(state, item, inner, CHANGED_BY_IT, watch)

    def _of_caller(self, state: FrameState, known: Any) -> tuple[int, int]:
        """Return how a difference is said: at the first line of a call it is of the line that calls, if it can be."""
        parent = state.parent
        if state.lines == 1 and parent is not None and parent.called == 1 and not parent.suspended:
            is_watched = any([each[0] is known for each in parent.watch])
            if is_watched and not self._states.others_watch(known):
                return FIELD, parent.line
        return GAP, state.line

    def named(self, state: FrameState, names: Any, name: str) -> Any:
        found = names.get(name, MISSING)
        return _dict_get(state.globals.held, name, MISSING) if found is MISSING else found

    def target(self, state: FrameState, names: Any, name: str, steps: Any, step: Any, is_new: bool = False) -> Any:
        """Return (known, object, attribute, key, whether it is a secret) of a store, whose field is known then.

        `is_new`: the line has brought the object, before the store: a field of which nothing is known is its work.
        """
        target = self.went(state, names, name, steps)
        if step is None or step[0] != ATTRIBUTE or target is MISSING or is_atom(target):
            return None
        _, what, key, secret = step
        known = self._objects.of(target)
        fields = known.fields
        if fields is None or key not in fields:
            value = self.paths.attribute(target, what)
            if value is MISSING:
                known.fields = {**(fields or {}), key: DELETED}
            elif is_new and not self.paths.is_shared(target, what):
                self.fields.write(known, key, value, state.line, secret)
            else:
                self.fields.check(known, key, value, state.line, secret, GAP)
        return known, target, what, key, secret

    def went(self, state: FrameState, names: Any, name: str, steps: Any) -> Any:
        """Return the value at a path, or MISSING."""
        value = self.named(state, names, name)
        for how, what, _, _ in steps:
            if value is MISSING or is_atom(value):
                return MISSING
            if how == ATTRIBUTE:
                value = self.paths.attribute(value, what)
            else:
                item = what if how == CONSTANT else self.named(state, names, what)
                value = MISSING if item is MISSING else self.paths.item(value, item)
        return value


def _watch_default(site: Any, known: Any, value: Any, watch: list[Any]) -> None:
    """Watch a dict that makes the key when the line reads it, also if that line changes nothing else."""
    if len(watch) < _MOST_WATCHED and not any([entry[0] is known for entry in watch]):
        watch.append((known, value, DICT, 0, None if is_watched(known) else copied(value, DICT, site)))
