"""Which objects the text of a value shows, and where: the second time an object is said by the path of the first.

    shown.claim(cart, "[0]")
    shown.reference(cart, "[2]['k']", lambda: 30)    # <same as [0]>
    shown.reference(cart, "[0]", lambda: 30)         # None: it is shown here

A text may turn out to have no room and be dropped: then the objects that only it has shown are given back.
"""

from typing import Any, Callable, Dict, Optional, Tuple

from trio_debugmcp.probe.inside.values import facts

_IMMUTABLE = (tuple, frozenset, BaseException, range)
"""Whose identity says little, as Python itself shares them."""


class ShownObjects:
    """The objects of one value's text, by id, each with the path at which it is shown."""

    def __init__(self) -> None:
        self._shown: Dict[int, Tuple[str, Any]] = {}  # the object as well: its id stays its own
        self._open: Optional[str] = ""  # the path of the value whose parts are rendered

    def clear(self) -> None:
        """Forget all, for the next value."""
        self._shown.clear()
        self._open = ""

    def path(self, step: Optional[str]) -> Optional[str]:
        """Return the path of a part of the value that is open; None where a place on the way has no name."""
        return None if step is None or self._open is None else self._open + step

    def below(self, step: Optional[str], render: Callable[..., str], *arguments: Any) -> str:
        """Return the text of the part to which a step leads; None where no path leads to it: the key of a dict."""
        above = self._open
        self._open = self.path(step)
        try:
            return render(*arguments)
        finally:
            self._open = above

    def claim(self, value: Any, path: Optional[str]) -> None:
        """Have an object shown at this path, unless it is shown elsewhere."""
        if path is not None:
            self._shown.setdefault(id(value), (path, value))

    def reference(self, value: Any, path: Optional[str], size: Callable[[], int]) -> Optional[str]:
        """Return what is said instead of an object of about so many characters, unless it is to be shown here.

        What Python shares by itself is shown again where that is not longer.
        """
        found = self._shown.get(id(value))
        if found is None or found[0] == path:
            self.claim(value, path)
            return None
        said = f"<same as {found[0]}>"
        return None if issubclass(type(value), _IMMUTABLE) and size() <= len(said) else said

    def mark(self) -> int:
        """Return where to go back to, if the text that comes now is dropped."""
        return len(self._shown)

    def back_to(self, mark: int) -> None:
        """Give back what has been claimed since a mark."""
        while len(self._shown) > mark:
            self._shown.popitem()


def empty_is_said(cls: type) -> bool:
    """Whether an empty collection of this type may be filled later, in all its places at once."""
    return any(issubclass(cls, entry[0]) for entry in facts.CONTAINERS) and not issubclass(cls, _IMMUTABLE)
