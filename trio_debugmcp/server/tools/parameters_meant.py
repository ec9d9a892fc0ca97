"""The parameters that may be meant by a name that a tool does not have: called so elsewhere, or spelled like it.

    parameters_meant("programm", ["program", "args"])                 # " Do you mean program?"
    parameters_meant("type", ["exception_type", "file"])              # " Do you mean exception_type?"
    parameters_meant("text", ["data", "close_after", "session_id"])   # " Do you mean data?"

Other debuggers, and other tools of this server, have other names for the same. Pure.
"""

import re
from collections.abc import Sequence

_MOST_MEANT = 2

_NAMED = ("names", "path", "variable", "expression", "label", "function", "pattern", "configuration", "process")

_SAME = {
    "name var variable identifier target field attribute": _NAMED,
    "expr exp code command": ("expression", "pattern", "filter", "where"),
    "query pattern search regex": ("pattern", "filter", "where", "expression"),
    "text input content contents string stdin bytes chars": ("data", "stdin", "expression"),
    "path filename filepath source source_file script url": ("file", "program", "expression"),
    "file main executable binary exe": ("program", "expression"),
    "lineno line_no line_number row ln at": ("line", "start_line"),
    "type exception error class exc": ("exception_type", "types", "expression", "kind", "mode"),
    "func method fn symbol callable": ("function", "expression", "pattern"),
    "seconds secs time max_wait deadline wait": ("timeout",),
    "arguments argv params parameters options": ("args", "arguments"),
    "cond when if where predicate guard filter": ("condition", "where", "filter", "until", "expression"),
    "limit max n size length times steps top total": ("count", "max_items", "max_children", "max_notifications"),
    "skip from begin page cursor index since": ("start", "since_seq", "after_event_id", "offset", "frame_index"),
    "frame level": ("frame_index",),
    "tid": ("thread_id",),
    "directory dir workdir working_directory root folder": ("cwd", "file"),
    "environment envs environ vars": ("env",),
    "message msg log template": ("log_message", "data", "question"),
    "runs tries repeat": ("times", "count"),
    "hits hit_count ignore_count every": ("hit_condition", "hit_count_multiple", "count"),
    "direction action how kind": ("mode", "move", "kind", "direction"),
    "new_value val to": ("value",),
    "breakpoint bp snapshot": ("id",),
    "number moment position": ("at", "stop", "line", "id"),
    "process process_id": ("pid", "process"),
    "close eof end": ("close_after", "end_line"),
    "watch watches expressions evaluate": ("show", "expression"),
    "addr location": ("address", "file"),
    "enable disable on active": ("enabled",),
    "first old left base reference": ("before", "good"),
    "second new right other": ("after", "bad"),
}
"""What parameters are called elsewhere, and which of ours that may be, the likeliest first."""

_ALSO_CALLED = {word: ours for words, ours in _SAME.items() for word in words.split()}


def parameters_meant(name: str, known: Sequence[str]) -> str:
    """Return the question whether some of the known parameters are meant; empty if none is like it."""
    from difflib import get_close_matches  # for a mistake only

    plain = "_".join(_words(name))
    near = _by_meaning(plain, known) or get_close_matches(plain, known, _MOST_MEANT)
    return f" Do you mean {' or '.join(near)}?" if near else ""


def _by_meaning(name: str, known: Sequence[str]) -> list[str]:
    words = set(_words(name))
    sharing = [each for each in known if words <= set(_words(each)) or set(_words(each)) < words]
    called = [each for each in _ALSO_CALLED.get(name, ()) if each in known]
    return list(dict.fromkeys((*sharing, *called)))[:_MOST_MEANT]


def _words(name: str) -> list[str]:
    """Return the words of a name: of `maxHits` and of `max_hits` they are the same."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).lower().strip("_").split("_")
