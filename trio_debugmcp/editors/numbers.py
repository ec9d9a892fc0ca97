"""The numbers by which an editor knows breakpoints, sessions, frames, values and sources. Pure.

    ids = StopIds()
    number = ids.give("variables", AdapterNumber("s-1", generation=4, adapter_id=7))
    ids.find("variables", number)        # that number; whether its stop is over is for the caller to compare

Numbers of frames and values are the editor's own, and of one stop. None is used twice, so an old one is refused and not
mistaken for another.
"""

from collections import OrderedDict
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Kind = Literal["frame", "variables", "target"]

WORDS: dict[Kind, str] = {"frame": "a frame", "variables": "a value", "target": "a target"}
"""What numbers are of, for a person."""

MAX_IDS = 100_000
"""Numbers that one editor has at a time; the oldest are forgotten. Some ten megabytes."""

MAX_SOURCES = 10_000
"""Sources that are in no file: a program that makes code all the time must not fill the memory."""


def number_of(each_id: str) -> int:
    """Return the number of a breakpoint of any kind, which are counted together, or of a session."""
    return int(each_id.rpartition("-")[2])


class Way(Struct, frozen=True):
    """How a value is found again in its frame: the scope or the expression that it is in, and the names down to it."""

    scope: str = ""
    expression: str = ""
    names: tuple[str, ...] = ()

    def to(self, name: str) -> "Way":
        """Return the way to a child."""
        return replace(self, names=(*self.names, name))


class AdapterNumber(Struct, frozen=True):
    """A number of the adapter, in one stop of a session, and the thread and the index of the frame that it is in.

    Of a target of `goto` the `frame` is its line, in `file`.

    Attributes:
        calls: how many functions evaluations had called before; the adapter's number is over when there are more.
        way: how a value is found again then; None if it is not.
        moment: the row of the recorded moment that it is of; then it is none of the adapter's. 0: of the stop itself.
        named: how many children of that kind a value has, and `indexed`; None where the adapter does not say.
    """

    session_id: str
    generation: int
    adapter_id: int
    thread: int = 0
    frame: int = 0
    file: str | None = None
    calls: int = 0
    way: Way | None = None
    named: int | None = None
    indexed: int | None = None
    moment: int = 0


class StopIds:
    """The numbers of one editor."""

    def __init__(self) -> None:
        self._last = 0
        self._places: OrderedDict[tuple[str, int], AdapterNumber] = OrderedDict()
        self._known: dict[tuple[str, AdapterNumber], int] = {}

    def __repr__(self) -> str:
        return f"<StopIds: {len(self._places)}>"

    def give(self, kind: Kind, place: AdapterNumber) -> int:
        """Return the number of a place; the same one each time that it is the same place."""
        known = self._known.get((kind, place))
        if known is not None:
            return known
        self._last = number = self._last + 1
        self._places[kind, number] = place
        self._known[kind, place] = number
        if len(self._places) > MAX_IDS:
            (oldest, _), gone = self._places.popitem(last=False)
            del self._known[oldest, gone]
        return number

    def find(self, kind: Kind, number: int) -> AdapterNumber | None:
        """Return the place of a number; None if this editor was never given it, or too long ago."""
        return self._places.get((kind, number))

    def other_kind(self, kind: Kind, number: int) -> Kind | None:
        """Return what else a number is that of; None if it is of nothing else, or no longer."""
        return next((other for other in WORDS if other != kind and (other, number) in self._places), None)

    def was_given(self, number: int) -> bool:
        """Return whether this editor was given that number at any time."""
        return 0 < number <= self._last

    def forget(self, session_id: str, generation: int) -> None:
        """Forget the numbers of a session's stops before this generation."""
        over = [
            key
            for key, place in self._places.items()
            if place.session_id == session_id and place.generation < generation
        ]
        for key in over:
            del self._known[key[0], self._places.pop(key)]


class SourceNumbers:
    """The numbers by which one editor asks for sources that are in no file. They stay valid as long as it is connected.

    numbers = SourceNumbers()
    numbers.path(numbers.number("<string>"))    # "<string>"
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._paths: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"<SourceNumbers: {len(self._numbers)}>"

    def number(self, path: str) -> int:
        """Return the number of a source; 0 when there are too many."""
        if path not in self._numbers:
            if len(self._numbers) >= MAX_SOURCES:
                return 0
            number = self._numbers[path] = len(self._numbers) + 1
            self._paths[number] = path
        return self._numbers[path]

    def path(self, number: int) -> str | None:
        """Return the source with that number; None if this editor was never given it."""
        return self._paths.get(number)
