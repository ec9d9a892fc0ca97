"""`LineWrites`: what a statement has written, when it is over.

    writes.finish(state, site, names, 25)       # 25: the next line of its frame, or 0

Where recorded code was called meanwhile, or the frame was left, only what the statement itself says that it changes is
its work; all else is a gap.
"""

import _operator
from itertools import islice
from typing import Any

from trio_debugmcp.engine.inside.recorder.frame_states import FrameState, FrameStates
from trio_debugmcp.engine.inside.recorder.known_contents import MOST_WATCHED, differing, is_longer, is_watched
from trio_debugmcp.engine.inside.recorder.known_fields import DELETED
from trio_debugmcp.engine.inside.recorder.known_objects import HeldKnown, KnownObjects
from trio_debugmcp.engine.inside.recorder.line_watch import LineWatch
from trio_debugmcp.engine.inside.recorder.object_paths import LIST, MISSING
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.statement_reader import (
    ATTRIBUTE,
    CHANGED,
    CONSTANT,
    ENTERED,
    SORTED,
)
from trio_debugmcp.engine.inside.recorder.statement_sites import StatementSite
from trio_debugmcp.engine.inside.recorder.value_words import (
    FIELD,
    GAP,
    INT,
    MOST_SAID,
    SEEN,
    SEEN_NAME,
    WRITE,
    ZERO,
    ValueWords,
    is_atom,
)

_dict_get = dict.get

_is, _list_length, _list_iter = _operator.is_, list.__len__, list.__iter__

_WRITE, _NUMBER = WRITE >> 32, INT + ZERO

_MOST_NEW = 40
"""Fields that an object has got by one line, as far as they are written."""


class LineWrites:
    """The rows about what statements wrote."""

    def __init__(
        self, rows: Any, words: ValueWords, objects: KnownObjects, states: FrameStates, watch: LineWatch
    ) -> None:
        self._add, self._add_row = rows.add, rows.add_row
        self._words = words
        self._objects = objects
        self._states = states
        self._watch = watch
        self._fields = watch.fields

    def finish(self, state: FrameState, site: StatementSite, names: Any, line: int) -> None:
        """Write what a statement has written."""
        block = site.block
        entered = block is not None and block[0] <= line <= block[1]
        if site.names:
            if state.is_module:
                self._finish_globals(state, site.fields_of_module, entered, site.has_rounds)
            else:
                self._finish_names(state, site, names, entered)
        if site.fields:
            self._finish_globals(state, site.fields, entered, site.has_rounds)
        if site.hidden is not None and site.hidden.resized:
            self._watch.finish_resized(state, names)
        if state.watch or state.given or site.hidden is not None or self._watch.contents.said:
            self.finish_effects(state, site)
        if site.stores and not state.raised:
            for place, (name, steps, step) in enumerate(site.stores):
                if step is not None and site.has_conflict:
                    before = state.targets[place]
                    is_new = before is None or place in site.anew
                    self._finish_either(
                        state, before, self._watch.target(state, names, name, steps, step, is_new=is_new)
                    )
                elif step is not None:
                    self._finish_store(state, names, name, steps, step)

    def finish_round(self, state: FrameState, site: StatementSite, names: Any) -> None:
        """Write the names that a loop on one line has stored when it is left in a round, by what it yields."""
        if site.names and not state.is_module:
            self._finish_names(state, site, names, True)

    def finish_effects(self, state: FrameState, site: StatementSite) -> None:
        """Write what a statement has changed in the objects that it could change."""
        said = self._watch.contents.said
        if said:
            said.clear()
        if site.hidden is not None:
            self._watch.hidden.finish(state, site.hidden)
        if state.watch:
            self.finish_watched(state, site.has_rounds)
        if state.given and not state.called and not state.suspended:
            self._finish_given(state)
        state.watch = state.given = ()

    def _finish_names(self, state: FrameState, site: StatementSite, names: Any, entered: bool) -> None:
        fields, known = self._fields, state.known
        for name, key, when, secret in site.names:
            if when == ENTERED and not entered:
                continue
            value = names.get(name, MISSING)
            token = known.get(name, MISSING)
            if type(value) is int and when != CHANGED and not secret and not state.raised and -ZERO <= value < ZERO:
                known[name] = value
                self._add_row(state.number, _WRITE + key, 0, value + _NUMBER, state.line)
                if type(token) is HeldKnown:
                    self._objects.dying.append(token)
                continue
            if value is MISSING:
                if token is MISSING or (token is None and name not in known):
                    continue
                del known[name]
            elif (state.raised or when == CHANGED) and token is not MISSING and fields.is_same(token, value):
                if site.has_rounds:
                    self._add(SEEN_NAME | key << 32 | state.number, self._word(value, secret), state.line)
                continue
            else:
                known[name] = now = fields.token(value)
                state.holds = state.holds or type(now) is HeldKnown
            if type(token) is HeldKnown and token is not known.get(name):
                self._objects.dying.append(token)
            word = self._words.deleted if value is MISSING else self._word(value, secret)
            self._add(WRITE | key << 32 | state.number, word, state.line)
            if value is not MISSING and not is_atom(value):
                if state.objects:
                    state.objects.add(name)
                else:
                    state.objects = {name}
                self.look_at(value, state.line)

    def _word(self, value: Any, secret: bool) -> Any:
        return self._words.secret_of(value) if secret else self._words.of(value)

    def look_at(self, value: Any, line: int) -> None:
        """Look into a container that is new."""
        if value is MISSING or is_atom(value):
            return
        kind = self._watch.paths.layout(type(value)).kind
        if kind:
            known = self._objects.of(value)
            if known.content is None:
                self._watch.contents.look(known, value, kind, line)

    def _finish_globals(self, state: FrameState, stored: Any, entered: bool, has_rounds: bool) -> None:
        known = state.globals
        for name, key, when, secret in stored:
            if when == ENTERED and not entered:
                continue
            value = _dict_get(known.held, name, MISSING)
            token = (known.fields or {}).get(key, MISSING)
            if value is MISSING and (token is MISSING or token is DELETED):
                continue
            if type(token) is HeldKnown:
                self._objects.dying.append(token)
            if (state.raised or when == CHANGED) and token is not MISSING and self._fields.is_same(token, value):
                if has_rounds:
                    self._add(SEEN | key << 32 | known.number, self._word(value, secret), state.line)
                continue
            self._fields.write(known, key, value, state.line, secret)
            self.look_at(value, state.line)

    def resumed(self, state: FrameState) -> None:
        """Write what has changed, while a frame waited, in the containers that its line could change."""
        for known, value, kind, _, _ in state.watch:
            self._watch.contents.compare(known, value, kind, state.line, GAP)

    def finish_watched(self, state: FrameState, has_rounds: bool = False) -> None:
        """Compare the containers that the line under way could change.

        Where it has rounds, what is as it was may have been something else between: that is said where it changes it.
        """
        is_own = not state.called and not state.suspended
        # A statement may name one container in several ways, and change it by one of them: `total[who] += price(who)`.
        # Where its frame was left meanwhile, what had changed when it continued was written then.
        changed = [] if is_own else [id(entry[0]) for entry in state.watch if entry[3]]
        for known, value, kind, changes, copy in state.watch:
            content = known.content
            is_alike = kind == LIST and not has_rounds and len(content) == _list_length(value)
            if is_alike and all(map(_is, content, _list_iter(value))):
                continue
            how = FIELD if is_own or id(known) in changed else GAP
            if how == FIELD and self._states.others_watch(known):
                how = GAP
            is_its_work = is_own or (changes & SORTED and type(value) is list)
            if copy is not None and is_its_work and how == FIELD and not is_watched(known):
                self._finish_long(state, known, value, kind, differing(copy, value, kind, MOST_SAID))
            if has_rounds and changes:
                self._watch.contents.doubt(known, value, kind, state.line)
            self._watch.contents.compare(known, value, kind, state.line, how)

    def _finish_long(self, state: FrameState, known: Any, value: Any, kind: int, changes: Any) -> None:
        """Write what a line has changed in a container of many items."""
        if not changes or not is_longer(value, kind, MOST_WATCHED // 2):  # it is watched whole again
            return
        for key, item, secret in changes[:MOST_SAID]:
            number = self._words.item_key(key)
            if number:
                self._fields.write(known, number, item, state.line, secret)
                self._watch.contents.said.add((known.number, number))
        if len(changes) > MOST_SAID:
            self._add(FIELD | known.number, 0, state.line)
        self._watch.contents.say_length(known, value, kind, state.line)

    def _finish_given(self, state: FrameState) -> None:
        """Compare the known fields of objects that were given to calls: `setattr(cart, name, value)`."""
        for known, value, count in state.given:
            fields = known.fields
            if count >= 0:
                self._finish_new_fields(state, known, value, count)
            if fields is None or self._states.others_watch(known):
                continue
            self._watch.hidden.verify(known, value, state.line, FIELD)

    def _finish_new_fields(self, state: FrameState, known: Any, value: Any, count: int) -> None:
        """Write the fields that an object has got since it had so many."""
        names: Any = self._watch.paths.layout(type(value)).names
        own = value if type(value) is dict else names(value)
        if type(own) is dict and len(own) > count:
            for name, now in list(islice(own.items(), count, count + _MOST_NEW)):
                key = self._words.key(f".{name}") if type(name) is str else 0
                if key:
                    self._fields.write(known, key, now, state.line, is_secret(name))
                    self._watch.contents.said.add((known.number, key))

    def _finish_store(self, state: FrameState, names: Any, name: str, steps: Any, step: Any) -> None:
        target = self._watch.went(state, names, name, steps)
        if target is MISSING or is_atom(target):
            return
        how, what, key, secret = step
        if how == ATTRIBUTE:
            value = self._watch.paths.attribute(target, what)
        else:
            item = what if how == CONSTANT else self._watch.named(state, names, what)
            if item is MISSING:
                return
            if type(item) is int and item < 0 and self._watch.paths.layout(type(target)).kind == LIST:
                item += list.__len__(target)
            value = self._watch.paths.item(target, item)
            key = self._words.item_key(item)
            secret = type(item) is str and is_secret(item)
        known = self._objects.of(target)
        if not key or (known.number, key) in self._watch.contents.said:
            return
        if value is MISSING and not (known.fields and key in known.fields):
            return
        if value is MISSING and how == ATTRIBUTE and self._watch.paths.is_described(target, what):
            self._fields.check_absent(known, key, state.line, FIELD, True)
            return
        self._fields.write(known, key, value, state.line, secret)
        self.look_at(value, state.line)

    def _finish_either(self, state: FrameState, *targets: Any) -> None:
        """A store whose way goes by what the statement stores, too: into the object of before, or the one of after."""
        for target in targets:
            if target is None:
                continue
            known, value, what, key, secret = target
            now = self._watch.paths.attribute(value, what)
            if now is not MISSING:
                self._fields.check(known, key, now, state.line, secret, FIELD)
