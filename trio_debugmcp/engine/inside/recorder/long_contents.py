"""What a line has changed in a container of many items, of which only the length is watched otherwise.

    old = copied(items, LIST, site)             # None: too long, of objects, or this line has had its share
    differing(old, items, LIST, 20)             # [(3, 'x', False)]: key, item or MISSING, whether a secret

Copied and compared by identity, without code of the program, where a statement itself changes a container of numbers
and texts, or gives it to a call: a copy of others would keep objects alive that the program drops.
Each line has its share: a loop that appends to a long list is not slowed down by its length.
"""

import _operator
from itertools import compress, count, islice
from typing import Any

from trio_debugmcp.engine.inside.recorder.object_paths import DICT, LIST, MISSING
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.value_words import is_atom

MOST_COPIED = 5000
"""Items of a container that is copied."""

SHARE, SHARE_A_ROUND = 50_000, 60
"""Items that a line may have copied at once, and further ones for each of its rounds."""

_is_not = _operator.is_not

_list_copy, _keys, _values = list.copy, dict.keys, dict.values
_length: Any = {LIST: list.__len__, DICT: dict.__len__}


def copied(value: Any, kind: int, site: Any) -> Any:
    """Return a copy of a list or a dict, if the line has a share left."""
    if kind not in _length:
        return None
    length = _length[kind](value)
    share = min(site.share + SHARE_A_ROUND, SHARE)
    if length > MOST_COPIED or length > share:
        site.share = share
        return None
    site.share = share - length
    keys, items = ([], _list_copy(value)) if kind == LIST else (list(_keys(value)), list(_values(value)))
    if not all(map(is_atom, items)) or not all(map(is_atom, keys)):
        return None  # a copy would keep objects alive that the line drops
    return items if kind == LIST else (keys, items)


def is_longer(value: Any, kind: int, length: int) -> bool:
    """Whether a list or a dict has more items than that."""
    return bool(_length[kind](value) > length)


def differing(old: Any, value: Any, kind: int, most: int) -> list[tuple[Any, Any, bool]]:
    """Return (key, item, whether it is a secret) of what differs from a copy, `most` and one if there are more."""
    if kind == LIST:
        new = _list_copy(value)
        places = list(islice(compress(count(), map(_is_not, old, new)), most + 1))
        places += range(len(old), min(len(new), len(old) + most + 1))
        places += range(len(new), min(len(old), len(new) + most + 1))
        return [(place, new[place] if place < len(new) else MISSING, False) for place in places[: most + 1]]
    now = dict(zip(map(id, _keys(value)), list(zip(list(_keys(value)), list(_values(value))))))
    was = dict(zip(map(id, old[0]), old[1]))
    changes = [pair for known, pair in now.items() if was.get(known, MISSING) is not pair[1]]
    changes += [(key, MISSING) for key in old[0] if id(key) not in now]
    return [(key, item, type(key) is str and is_secret(key)) for key, item in changes[: most + 1]]
