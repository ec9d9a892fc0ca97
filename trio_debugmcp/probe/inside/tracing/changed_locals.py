"""What has changed in the local variables of a frame, from one line to the next.

    values = LocalValues()
    values.changes([("total", 3)])                # [["total", "3"]]
    values.changes([("total", 3), ("xs", [1])])   # [["xs", "[1]"]]; then, once 2 was appended: [["xs[1]", "2"]]

No code of the program is run, and nothing of it is kept but numbers and strings: a value is compared with its text of
before, a collection or an object item by item. What lies deeper than an item's text shows is not seen.
"""

from itertools import islice
from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.rendering import Renderer

LIMIT = 80
"""Characters of a value: half of what a stop shows, as there are many."""

MOST_NAMES = 60
"""Variables that are compared; of further ones it is said how many there are."""

_MOST_PARTS = 24
"""Items or fields that are compared one by one, from the beginning; and as many from the end of a list."""

_MOST_SINGLE = 3
"""Changed items that are shown one by one; of more the whole is shown."""

_SHORT = 40
"""Characters of a value that is said again and again. A longer one is said once, and then by the variable's name."""

_FOREVER = 1e9

_PLAIN = frozenset(map(id, (int, str, float, bool, complex, bytes, type(None))))
"""Types whose values never change: the same object means the same value, so it is kept to compare with."""

Change = List[Optional[str]]
"""A path and the text of what is there now, None for what was taken away."""


class _Known:
    """What was seen of a variable."""

    __slots__ = ("identity", "parts", "plain", "size", "text")

    def __init__(self, plain: Any, identity: int, text: str, size: int, parts: Optional[Dict[str, str]]) -> None:
        self.plain = plain
        self.identity = identity
        self.text = text
        self.size = size
        self.parts = parts


class LocalValues:
    """The values of the local variables of one frame, as they were at the last line."""

    def __init__(self) -> None:
        self._renderer = Renderer(Budget(_FOREVER, int(_FOREVER)), LIMIT, code=False, fields=True)
        self._known: Dict[str, _Known] = {}

    def text(self, value: Any) -> str:
        return self._renderer.render(value)

    def said(self, value: Any) -> str:
        """Return a value as text, or the name of the variable that was shown with it, if that is shorter."""
        text = self.text(value)
        return text if len(text) <= _SHORT else self._name_of(id(value), text) or text

    def _name_of(self, identity: int, text: str, but: str = "") -> Optional[str]:
        """Return the variable that was seen with an object and with the same text: its place may be in use again."""
        for name, known in self._known.items():
            if name != but and known.identity == identity and known.text == text:
                return name
        return None

    def changes(self, variables: List[Tuple[str, Any]]) -> List[Change]:
        """Return what is not as it was the last time."""
        found: List[Change] = []
        for name, value in variables[:MOST_NAMES]:
            before = self._known.get(name)
            if before is not None and before.plain is value and id(type(value)) in _PLAIN:
                continue
            now = self._seen(value)
            self._known[name] = now
            if before is None or before.text != now.text or before.parts != now.parts or before.size != now.size:
                other = self._name_of(now.identity, now.text, name) if len(now.text) > _SHORT else None
                found += _difference(name, before, now, other or now.text)
        if len(self._known) > len(variables):
            names = {name for name, _ in variables}
            for name in [each for each in self._known if each not in names]:
                del self._known[name]  # the source shows a `del`; the end of an `except` does the same
        return found

    def _seen(self, value: Any) -> _Known:
        cls = type(value)
        if id(cls) in _PLAIN:
            return _Known(value, 0, self.text(value), 0, None)
        text = facts.type_name(cls) if _is_running(cls) else self.text(value)
        return _Known(None, id(value), text, facts.length(value) or 0, self._parts(value))

    def _parts(self, value: Any) -> Optional[Dict[str, str]]:
        """Return the texts of items or fields by path."""
        base = (facts.container(value) or (None,))[0]
        try:
            if base is dict:
                pairs = islice(dict.items(value), _MOST_PARTS)
                return {f"[{self.text(key)}]": self.text(item) for key, item in pairs}
            if base is list:
                size = list.__len__(value)
                indices = list(range(min(size, _MOST_PARTS))) + list(range(max(_MOST_PARTS, size - _MOST_PARTS), size))
                return {f"[{index}]": self.text(list.__getitem__(value, index)) for index in indices}
            if base is None and facts.is_heap_type(type(value)):
                return {f".{name}": self.text(item) for name, item in facts.fields(value)[:_MOST_PARTS]}
        except (RuntimeError, IndexError):  # another thread changes it meanwhile
            pass
        return None


def _is_running(cls: type) -> bool:
    """Whether the text of a value of that type says how far it is, which changes with every use."""
    return facts.type_name(cls) in ("generator", "coroutine", "async_generator")


def _difference(name: str, before: Optional[_Known], now: _Known, text: str) -> List[Change]:
    """Return what differs; `text` is the value where it is said as a whole."""
    whole: List[Change] = [[name, text]]
    if before is None or before.identity != now.identity or before.parts is None or now.parts is None:
        return whole
    single: List[Change] = []
    for path, part in now.parts.items():
        if before.parts.get(path) != part:
            single.append([name + path, part])
    single += [[name + path, None] for path in before.parts if path not in now.parts]
    return single if 0 < len(single) <= _MOST_SINGLE else whole
