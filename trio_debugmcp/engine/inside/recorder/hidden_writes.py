"""`HiddenWrites`: what lines have written without saying where is looked for before and after them.

    hidden.begin(state, site, names, given)     # what is found to differ is another's work: a GAP
    hidden.finish(state, site)                  # what is found to differ now is that line's own, or a GAP

So a field is never taken to be as it was because it has the same value again: `globals()["level"] = 1`, and 0 later.
"""

from typing import Any

from trio_debugmcp.engine.inside.recorder.frame_states import FrameState, FrameStates
from trio_debugmcp.engine.inside.recorder.known_fields import DOUBTED, KnownFields
from trio_debugmcp.engine.inside.recorder.known_objects import KnownObjects
from trio_debugmcp.engine.inside.recorder.object_paths import MISSING, ObjectPaths, names_of
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.statement_sites import HiddenSite, StatementSite
from trio_debugmcp.engine.inside.recorder.value_words import FIELD, GAP, SEEN_NAME, ValueWords

_dict_get = dict.get

_MOST_EXPOSED = 12
"""Objects whose namespaces others keep, as far as they are looked at; the last ones."""

_MOST_LOOKED_AT = 40
"""Objects of which one attribute is looked at; of more it is doubted instead."""


class HiddenWrites:
    """What is looked at around lines that may write anywhere.

    Attributes:
        fields: what fields are known to be.
        exposed: what is known of objects whose namespace is kept by others, by number.
    """

    def __init__(
        self, rows: Any, words: ValueWords, objects: KnownObjects, states: FrameStates, paths: ObjectPaths
    ) -> None:
        self._add = rows.add
        self._words, self._objects, self._states, self._paths = words, objects, states, paths
        self.fields = KnownFields(rows, words, objects)
        self.exposed: dict[int, Any] = {}

    def verify(self, known: Any, value: Any, line: int, how: int) -> None:
        """Write which of an object's known fields differ, as rows of one kind; a namespace is its own value."""
        fields = known.fields
        if not fields:
            return
        names, own, by_id = self._words.attributes, self._own(value), self._objects.by_id
        hidden = () if own is value else self._paths.layouts[id(type(value))].hidden
        for key, token in list(fields.items()):
            name = names.get(key)
            if name is None:
                continue
            now = _dict_get(own, name, MISSING)
            if now is token or (by_id.get(id(now), MISSING) is token and name not in hidden):
                continue
            now = now if own is value else self._paths.attribute(value, name)
            if now is MISSING:
                self.fields.check_absent(known, key, line, how, self._paths.is_described(value, name))
            else:
                self.fields.check(known, key, now, line, is_secret(name), how)

    def _own(self, value: Any) -> dict[str, Any]:
        if type(value) is dict:
            return value
        layout = self._paths.layouts.get(id(type(value))) or self._paths.layout(type(value))
        own = None if layout.names is None else layout.names(value)
        return own if type(own) is dict else {}

    # --- Lines --------------------------------------------------------------------------------------------------------

    def begin(self, state: FrameState, site: StatementSite, went: Any, given: list[Any]) -> None:
        """Look at what a line may write; `went`: returns the value at a path."""
        hidden: HiddenSite | None = site.hidden
        if hidden is not None:
            for name, steps in hidden.exposed:
                value = went(name, steps)
                if value is not MISSING and type(value).__dictoffset__:
                    self._expose(self._objects.of(value))
            if hidden.plan.exposes_globals:
                self._expose(state.globals)
            for known in self._namespaces(state, hidden):
                self._give(known, state.line, given)
            for key, name in self._keys(hidden):
                self._look(key, name, state.line, GAP)
        for known in list(self.exposed.values()):
            self._give(known, state.line, given)

    def finish(self, state: FrameState, hidden: HiddenSite) -> None:
        """Look again, where a line may have written what it was not given."""
        is_own = not state.called and not state.suspended and len(self._states.stacks) < 2
        for key, name in self._keys(hidden):
            self._look(key, name, state.line, FIELD if is_own else GAP)
        if hidden.plan.has_names:
            self._look_at_frames(state.line)

    def _expose(self, known: Any) -> None:
        self.exposed.pop(known.number, None)
        self.exposed[known.number] = known
        while len(self.exposed) > _MOST_EXPOSED:
            self.exposed.pop(next(iter(self.exposed)), None)

    def _give(self, known: Any, line: int, given: list[Any]) -> None:
        value = known()
        if value is None:
            self.exposed.pop(known.number, None)
            return
        self.verify(known, value, line, GAP)
        given.append((known, value, len(self._own(value))))

    def _namespaces(self, state: FrameState, hidden: HiddenSite) -> list[Any]:
        if hidden.plan.has_modules:
            return self._objects.of_namespaces()
        return [state.globals] if hidden.plan.has_globals else []

    # --- Attributes of objects to which no path leads -----------------------------------------------------------------

    def _keys(self, hidden: HiddenSite) -> Any:
        """Return (key, name) of the attributes that a line may write on any object."""
        return list(self._words.attributes.items()) if hidden.is_any else hidden.keys

    def _look(self, key: int, name: str, line: int, how: int) -> None:
        tracked = self.fields.track(key)
        is_doubted = len(tracked) > _MOST_LOOKED_AT
        for number, place in list(tracked.items()):
            known = self._objects.by_id.get(place)
            value = known() if known is not None and known.number == number else None
            if known is None or value is None or not known.fields or key not in known.fields:
                tracked.pop(number, None)
            elif is_doubted:
                known.fields[key] = DOUBTED
                tracked.pop(number, None)
            else:
                self._look_at(known, value, key, name, line, how)

    def _look_at(self, known: Any, value: Any, key: int, name: str, line: int, how: int) -> None:
        now = _dict_get(value, name, MISSING) if type(value) is dict else self._paths.attribute(value, name)
        if now is MISSING:
            self.fields.check_absent(known, key, line, how, self._paths.is_described(value, name))
        else:
            self.fields.check(known, key, now, line, is_secret(name), how)

    # --- Names of frames ----------------------------------------------------------------------------------------------

    def _look_at_frames(self, line: int) -> None:
        """Write the names that frames have now, where these are not what is known: they were set from outside."""
        for stack in list(self._states.stacks.values()):
            for state in list(stack):
                if state.frame is not None and not state.is_module:
                    self._look_at_names(state, names_of(state.frame, state.is_function), line)

    def _look_at_names(self, state: FrameState, names: Any, line: int) -> None:
        for name, token in list(state.known.items()):
            value = names.get(name, MISSING)
            if value is not MISSING and not self.fields.is_same(token, value):
                secret, key = is_secret(name), self._words.key(name)
                state.known[name] = self.fields.token(value)
                word = self._words.secret_of(value) if secret else self._words.of(value)
                self._add(SEEN_NAME | key << 32 | state.number, word, line)
