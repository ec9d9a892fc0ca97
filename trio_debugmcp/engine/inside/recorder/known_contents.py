"""`KnownContents`: what is known to be in containers and in fields, and the rows about what is found to differ.

    contents.look(known, value, kind, line)             # first sight: what is in it, as SEEN rows
    contents.compare(known, value, kind, line, FIELD)   # what differs was written by that line; GAP: by an unknown one

Compared is by identity, and no code of the program runs. Of containers with many items only the length is watched, and
those items that a line names: their row SIZE has the key 3. A statement that itself changes a long container of numbers
and texts, or gives it to a call, has it copied before, by identity: a copy of others would keep objects alive that the
program drops. Each line has its share: a loop that appends to a long list is not slowed down by its length.
"""

import _operator
from itertools import compress, count, islice
from typing import Any

from trio_debugmcp.engine.inside.recorder.key_orders import key_order
from trio_debugmcp.engine.inside.recorder.known_arrays import KnownArrays
from trio_debugmcp.engine.inside.recorder.object_paths import ARRAY, DEQUE, DICT, LIST, MISSING, SET
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.value_words import (
    FIELD,
    FIRST,
    FOUND,
    INDEX,
    INT,
    MOST_SAID,
    SEEN,
    SIZE,
    UNWATCHED,
    WRITTEN,
    ZERO,
    ValueWords,
    is_atom,
)

MOST_COPIED = 5000
"""Items of a container that is copied."""

SHARE, SHARE_A_ROUND = 50_000, 60
"""Items that a line may have copied at once, and further ones for each of its rounds."""

_is_not, _differs = _operator.is_not, _operator.ne

_list_copy, _keys, _values = list.copy, dict.keys, dict.values
_copyable_length: Any = {LIST: list.__len__, DICT: dict.__len__}


def copied(value: Any, kind: int, site: Any) -> Any:
    """Return a copy of a list or a dict, if the line has a share left; of a list of objects a tuple of identities.

    A copy of the objects would keep those alive that the line drops.
    """
    if kind not in _copyable_length:
        return None
    length = _copyable_length[kind](value)
    share = min(site.share + SHARE_A_ROUND, SHARE)
    if length > MOST_COPIED or length > share:
        site.share = share
        return None
    site.share = share - length
    keys, items = ([], _list_copy(value)) if kind == LIST else (list(_keys(value)), list(_values(value)))
    if all(map(is_atom, items)) and all(map(is_atom, keys)):
        return items if kind == LIST else (keys, items)
    return tuple(map(id, items)) if kind == LIST else None


def is_longer(value: Any, kind: int, length: int) -> bool:
    """Whether a list or a dict has more items than that."""
    return bool(_copyable_length[kind](value) > length)


def differing(old: Any, value: Any, kind: int, most: int) -> list[tuple[Any, Any, bool]]:
    """Return (key, item, whether it is a secret) of what differs from a copy, `most` and one if there are more."""
    if kind == LIST:
        new = _list_copy(value)
        differs = map(_is_not, old, new) if type(old) is list else map(_differs, old, map(id, new))
        places = list(islice(compress(count(), differs), most + 1))
        places += range(len(old), min(len(new), len(old) + most + 1))
        places += range(len(new), min(len(old), len(new) + most + 1))
        return [(place, new[place] if place < len(new) else MISSING, False) for place in places[: most + 1]]
    now = dict(zip(map(id, _keys(value)), list(zip(list(_keys(value)), list(_values(value))))))
    was = dict(zip(map(id, old[0]), old[1]))
    changes = [pair for known, pair in now.items() if was.get(known, MISSING) is not pair[1]]
    changes += [(key, MISSING) for key in old[0] if id(key) not in now]
    return [(key, item, type(key) is str and is_secret(key)) for key, item in changes[: most + 1]]


MOST_WATCHED = 60
"""Items of a container all of which are watched."""

_is, _is_not = _operator.is_, _operator.is_not
_BIG = "big"

_SIZE, _NUMBER = SIZE >> 32, INT + ZERO

_length: Any = {LIST: list.__len__, DICT: dict.__len__, SET: set.__len__}
_list_copy, _list_iter, _list_length = list.copy, list.__iter__, list.__len__
_keys, _values, _set_iter = dict.keys, dict.values, set.__iter__


def is_watched(known: Any) -> bool:
    """Whether all items of a container are watched."""
    content = known.content
    return content is not None and not (type(content) is tuple and content[0] is _BIG)


def _has_moved(old: Any, value: Any) -> bool:
    """Whether the keys of an `OrderedDict` are in another order, and take that as known."""
    order = None if old[2] is None else key_order(value)
    if order is None or order == old[2]:
        return False
    old[2][:] = order
    return True


class KnownContents:
    """The contents, and the writer of rows about them.

    Attributes:
        said: (object, key) of the rows FIELD that were written since it was cleared.
    """

    def __init__(self, rows: Any, words: ValueWords, objects: Any, deque: Any) -> None:
        self._add, self._add_row = rows.add, rows.add_row
        self._words = words
        self._objects = objects
        self._deque_iter = deque.__iter__
        self._deque_length = deque.__len__
        self.said: set[tuple[int, int]] = set()
        self._arrays = KnownArrays(rows, words, objects, self.said)

    # --- Contents -----------------------------------------------------------------------------------------------------

    def look(self, known: Any, value: Any, kind: int, line: int) -> None:
        """Take what is in a container as known, and write its first items."""
        if kind == ARRAY:
            self._arrays.look(known, value, line)
            return
        length = self._size(value, kind)
        if length > MOST_WATCHED:
            known.content = (_BIG, length)
        else:
            known.content = self._copied(value, kind)
        for key, item, secret in islice(self._items(value, kind), MOST_SAID):
            self._add(
                SEEN | key << 32 | known.number, self._words.secret_of(item) if secret else self._words.of(item), line
            )
        size = UNWATCHED if length > MOST_WATCHED else FIRST
        self._add(SIZE | size << 32 | known.number, length << 32 | length, line)

    def compare(self, known: Any, value: Any, kind: int, line: int, how: int) -> None:
        """Write how a container differs from what is known of it, as rows of one kind, FIELD or GAP."""
        if kind == ARRAY:
            self._arrays.compare(known, value, line, how)
            return
        old = known.content
        if old is None:
            self.look(known, value, kind, line)
            return
        if type(old) is tuple and old[0] is _BIG:
            self._compare_size(known, value, kind, line, how)
            return
        if kind == LIST and self._is_appended(known, old, value, line, how):
            return
        changes = self._replaced(old, value) if kind == DICT else None
        has_moved = kind == DICT and _has_moved(old, value)
        if not changes and not has_moved and (changes is not None or self._is_as(value, kind, old)):
            return
        before = len(old[0]) if kind == DICT else len(old)
        length = self._size(value, kind)
        if length > MOST_WATCHED:
            known.content = (_BIG, length)
            self._add(how | known.number, 0, line)
            self._add(SIZE | UNWATCHED << 32 | known.number, length << 32 | before, line)
            return
        if changes is None:
            new = known.content = self._copied(value, kind)
            for item in old[1] if kind == DICT else old:
                self._objects.left(item)
            changes = self._changes(old, new, kind)
        if kind == SET and not changes:  # a set may put its items into another order for itself
            return
        for key, word in changes:  # all of them, as the lines that read an item of it do not look again
            if how == FIELD:
                self.said.add((known.number, key))
            self._add(how | key << 32 | known.number, word, line)
        self._add(SIZE | (WRITTEN if how == FIELD else FOUND) << 32 | known.number, length << 32 | before, line)

    def _is_appended(self, known: Any, old: list[Any], value: Any, line: int, how: int) -> bool:
        """Write what is new in a list of which all else is as it was; False: it is not so, or it is too much."""
        before, length = len(old), _list_length(value)
        if not before < length <= min(before + MOST_SAID, MOST_WATCHED) or not all(map(_is, old, _list_iter(value))):
            return False
        add_row, words, number, kind = self._add_row, self._words, known.number, how >> 32
        for item in list(islice(_list_iter(value), before, None)):
            key = INDEX | len(old)
            old.append(item)
            if how == FIELD:
                self.said.add((number, key))
            if type(item) is int and -ZERO <= item < ZERO:
                add_row(number, kind + key, 0, item + _NUMBER, line)
            else:
                self._add(how | key << 32 | number, words.of(item), line)
        add_row(number, _SIZE + (WRITTEN if how == FIELD else FOUND), before, length, line)
        return True

    def _replaced(self, old: Any, value: Any) -> list[tuple[int, int]] | None:
        """Return what is new in a dict whose keys are as they were, and take it as known; None: it is not so."""
        keys, values, _ = old
        if len(keys) != _length[DICT](value) or not all(map(_is, keys, _keys(value))):
            return None
        words, changes = self._words, []
        for place, item in list(compress(enumerate(_values(value)), map(_is_not, values, _values(value)))):
            self._objects.left(values[place])
            values[place], key = item, keys[place]
            secret = type(key) is str and is_secret(key)
            changes.append((words.item_key(key), words.secret_of(item) if secret else words.of(item)))
        return changes

    def doubt(self, known: Any, value: Any, kind: int, line: int) -> None:
        """Write that it is not known what changed a container last, though it is as it was."""
        if kind == ARRAY:
            self._arrays.doubt(known, line)
            return
        length = self._size(value, kind)
        self._add(SIZE | FOUND << 32 | known.number, length << 32 | length, line)

    def _compare_size(self, known: Any, value: Any, kind: int, line: int, how: int) -> None:
        before, length = known.content[1], self._size(value, kind)
        if before == length:
            return
        if length <= MOST_WATCHED // 2:  # it may be watched again
            known.content = None
            known.fields = None
        else:
            known.content = (_BIG, length)
        self._add(how | known.number, 0, line)
        self._add(SIZE | (WRITTEN if how == FIELD else FOUND) << 32 | known.number, length << 32 | before, line)
        if known.content is None:
            self.look(known, value, kind, line)

    def say_length(self, known: Any, value: Any, kind: int, line: int) -> None:
        """Write the length of such a container, after what a line has changed in it."""
        before, length = known.content[1], self._size(value, kind)
        known.content = (_BIG, length)
        self._add(SIZE | WRITTEN << 32 | known.number, length << 32 | before, line)

    def is_as_known(self, known: Any, value: Any, kind: int) -> bool:
        """Whether a container that was looked at is as it was then."""
        content = known.content
        if kind == ARRAY:
            return self._arrays.is_as_known(known, value)
        if type(content) is tuple and content[0] is _BIG:
            return bool(content[1] == self._size(value, kind))
        return self._is_as(value, kind, content)

    # --- Kinds --------------------------------------------------------------------------------------------------------

    def _size(self, value: Any, kind: int) -> int:
        return int(self._deque_length(value) if kind == DEQUE else _length[kind](value))

    def _copied(self, value: Any, kind: int) -> Any:
        if kind == LIST:
            return _list_copy(value)
        if kind == DICT:
            return list(_keys(value)), list(_values(value)), key_order(value)
        return list(_set_iter(value) if kind == SET else self._deque_iter(value))

    def _is_as(self, value: Any, kind: int, old: Any) -> bool:
        if kind == LIST:
            return len(old) == _length[LIST](value) and all(map(_is, old, _list_iter(value)))
        if kind == DICT:
            keys, values, order = old
            return (
                len(keys) == _length[DICT](value)
                and all(map(_is, keys, _keys(value)))
                and all(map(_is, values, _values(value)))
                and (order is None or key_order(value) in (order, None))
            )
        items = _set_iter(value) if kind == SET else self._deque_iter(value)
        return len(old) == self._size(value, kind) and all(map(_is, old, items))

    def _items(self, value: Any, kind: int) -> Any:
        """Yield (key, item, whether it is a secret) of each item."""
        item_key = self._words.item_key
        if kind == DICT:
            for key, item in zip(list(islice(_keys(value), MOST_SAID)), list(islice(_values(value), MOST_SAID))):
                yield item_key(key), item, type(key) is str and is_secret(key)
            return
        if kind == SET:
            for item in list(islice(_set_iter(value), MOST_SAID)):
                yield item_key(item), item, False
            return
        items = _list_iter(value) if kind == LIST else self._deque_iter(value)
        for place, item in enumerate(list(islice(items, MOST_SAID))):
            yield item_key(place), item, False

    def first_items(self, value: Any, kind: int) -> Any:
        """Return the first items of a container; of a dict its values, of an array none: they are numbers."""
        if kind == ARRAY:
            return []
        if kind == DICT:
            return list(islice(_values(value), MOST_SAID))
        if kind == LIST:
            return list(islice(_list_iter(value), MOST_SAID))
        return list(islice(_set_iter(value) if kind == SET else self._deque_iter(value), MOST_SAID))

    def _changes(self, old: Any, new: Any, kind: int) -> list[tuple[int, int]]:
        """Return (key, word) of what differs between two copies of a container."""
        words = self._words
        if kind in (LIST, DEQUE):
            changes = [
                (words.item_key(place), words.of(new[place]))
                for place in range(len(new))
                if place >= len(old) or old[place] is not new[place]
            ]
            return changes + [(words.item_key(place), words.deleted) for place in range(len(new), len(old))]
        keys, values = old[:2] if kind == DICT else (old, old)
        new_keys, new_values = new[:2] if kind == DICT else (new, new)
        was = {id(key): value for key, value in zip(keys, values)}
        now = {id(key): value for key, value in zip(new_keys, new_values)}
        changes = [(words.item_key(key), words.deleted) for key in keys if id(key) not in now]
        for key, value in zip(new_keys, new_values):
            if was.get(id(key), MISSING) is not value:
                secret = kind == DICT and type(key) is str and is_secret(key)
                changes.append((words.item_key(key), words.secret_of(value) if secret else words.of(value)))
        return changes
