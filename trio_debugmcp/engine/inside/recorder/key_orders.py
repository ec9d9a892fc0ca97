"""The order of an `OrderedDict`, which is not that of the dict which it is, too: `move_to_end` changes only the first.

    key_order(recent)                   # [id("b"), id("a")]; None: of another dict

An `OrderedDict` finds its next key by the hash, so of keys whose hash is code of the program there is none.
"""

from collections import OrderedDict
from typing import Any

_dict_keys, _dict_length, _ordered_keys = dict.keys, dict.__len__, OrderedDict.keys

_MOST_KEYS = 1_000

_PLAIN = frozenset(map(id, (int, str, type(None), bool, float, bytes, complex)))


def key_order(value: Any) -> Any:
    """Return the identities of the keys in their order; None: it is another dict, or code of the program would run."""
    if not issubclass(type(value), OrderedDict) or not has_plain_keys(value):
        return None
    try:
        return list(map(id, _ordered_keys(value)))
    except (RuntimeError, KeyError):  # another thread changes it
        return None


def has_plain_keys(value: Any) -> bool:
    """Whether all keys of a dict are numbers and texts, or tuples of such; not said of very many."""
    return _dict_length(value) <= _MOST_KEYS and all(map(_is_plain, list(_dict_keys(value))))


def _is_plain(key: Any) -> bool:
    cls = type(key)
    return id(cls) in _PLAIN or (cls is tuple and all([id(type(part)) in _PLAIN for part in key]))
