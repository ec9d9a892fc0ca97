"""The parts of a value as text: each short or in full, as there is room.

    part = Part("[3 items]", whole=lambda limit: "[1, 2, 3]")
    filled([part, Part("'a'")], 2, 30, "item", shown)    # [1, 2, 3], 'a'
    filled([part, Part("'a'")], 2, 16, "item", shown)    # [3 items], 'a'

Where all parts fit if they are short, what is left of the room goes to those that have more to show, the smallest
first. Else the first ones are shown with what is in them, and the others are counted.
"""

from itertools import chain
from typing import Callable, Iterable, List, Optional

from trio_debugmcp.probe.inside.values.shown_objects import ShownObjects

OUT_OF_TIME = "<no time left>"

LEAST = 20
"""Characters of a part, however little is left of the limit."""

_LEAST_PART, _TRIED = 3, 4
"""Characters of a part, with the comma; and parts after which it is judged whether all of them may fit."""

COUNT = 24
"""Characters of what says how much was left out, which a part has within its limit."""


class Part:
    """A value inside of another one.

    Attributes:
        short: Its text where there is no room for more.
        whole: Returns its text for so many characters; None if the short one is all there is.
        size: Returns about how many characters it has in full.
        claim: Has the value be shown here, rather than where it is met again.
    """

    __slots__ = ("claim", "short", "size", "whole")

    def __init__(
        self,
        short: str,
        whole: Optional[Callable[[int], str]] = None,
        size: Callable[[], int] = lambda: 0,
        claim: Callable[[], None] = lambda: None,
    ) -> None:
        self.short = short
        self.whole = whole
        self.size = size
        self.claim = claim

    def text(self, limit: int) -> str:
        return self.short if self.whole is None else self.whole(limit)

    def behind(self, name: str) -> "Part":
        """Return this part as the value of a field or a key, whose name comes before it."""
        whole = self.whole
        if whole is None:
            return Part(name + self.short)
        return Part(name + self.short, lambda limit: name + whole(max(limit - len(name), LEAST)), self.size, self.claim)


def filled(parts: Iterable[Part], total: int, limit: int, noun: str, shown: ShownObjects, spare: int = 0) -> str:
    """Join parts up to a limit; say how many of the total were left out, for which so much is spared."""
    held: List[Part] = []
    size, iterator = -2, iter(parts)
    for part in iterator:
        held.append(part)
        size += len(part.short) + 2
        if size + _LEAST_PART * (total - len(held)) > limit:
            break
        if len(held) == _TRIED and size * total > 2 * _TRIED * limit:  # they hardly fit: the others need not be short
            break
    if len(held) == total and size <= limit:
        return ", ".join(_spread(held, limit - size, shown))
    return _first_ones(chain(held, iterator), total, max(limit - spare, 1), noun, shown)


def _spread(held: List[Part], room: int, shown: ShownObjects) -> List[str]:
    texts = [part.short for part in held]
    for part in held:  # an object is shown where it is nearest
        part.claim()
    order = [index for index, part in enumerate(held) if part.whole is not None]
    if len(order) > 1:
        order.sort(key=lambda index: held[index].size())
    for done, index in enumerate(order):
        short, share = texts[index], len(texts[index]) + room // (len(order) - done)
        mark = shown.mark()
        text = held[index].text(share)
        if len(text) <= len(short) + room:
            texts[index] = text
            room -= len(text) - len(short)
        else:
            shown.back_to(mark)
    return texts


def _first_ones(parts: Iterable[Part], total: int, limit: int, noun: str, shown: ShownObjects) -> str:
    pieces: List[str] = []
    size = 0
    for part in parts:
        mark = shown.mark()
        piece = part.text(max(limit // 2, LEAST))
        if pieces and size + len(piece) > limit:
            shown.back_to(mark)
            break
        pieces.append(piece)
        size += len(piece) + 2
        if piece == OUT_OF_TIME:
            break
    left = total - len(pieces)
    if left > 0:
        pieces.append(f"… (+{left} {noun}{'s' if left != 1 else ''})")
    return ", ".join(pieces)
