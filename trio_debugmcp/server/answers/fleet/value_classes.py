"""Values of one expression in many processes, as few lines: what is not a number first, then the rare ones. Pure.

    value_lines([(process, "0.5"), (other, "nan")])
    # ["1 has nan (rank 3: s-5)", "1 has 9000.0 (rank 7: s-9)", "30 have 0.12 (rank 9) to 0.98 (rank 2)"]

Equal values are one class. Of many different numbers a line has the least and the greatest, and those far from all
others have lines of their own. Addresses in memory, which differ in any case, are left out of the comparison.
"""

import re
from collections.abc import Sequence
from math import isfinite
from statistics import quantiles

from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow, grouped, named
from trio_debugmcp.state.payloads import printable

MOST_CLASSES = 8
"""Different numbers that have a line each; more become a range."""

FAR = 3.0
"""Times the distance of the quartiles that a number is away from them to be far from all others."""

_FEWEST_FOR_FAR = 8
"""Numbers without which none is far from the others."""

_DIGITS = r"(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?"

_NUMBER = re.compile(rf"(?:[\w.]+\()?([-+]?{_DIGITS})(?:\s*,\s*\w+=[^()]*)?\)?(?: \([\w.]+\))?", re.IGNORECASE)
"""A number, also as `np.float64(0.5)`, `tensor(0.5, device='cuda:0')`, `0.5 (float32)`."""

_NO_NUMBER = re.compile(r"(?<![\w'\"])[-+]?(?:nan|inf)(?![\w'\"])", re.IGNORECASE)

_ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]{6,}(?=[ >])")
"""Of `<Model object at 0x7f12a0>`: no two processes have the same. A number that the program made is not one."""

Valued = tuple[ProcessNow, str]
"""A process, and the value there."""


def value_lines(values: Sequence[Valued]) -> list[str]:
    """Return the lines: nan and infinity, what is rare, numbers far from the others, and the rest."""
    lines = _by_value([each for each in values if _NO_NUMBER.search(each[1])])
    rest = [each for each in values if not _NO_NUMBER.search(each[1])]
    finite = [(each, number) for each in rest if (number := _number(each[1])) is not None]
    others = [each for each in rest if _number(each[1]) is None]
    if len({number for _, number in finite}) <= MOST_CLASSES:
        return [*lines, *_by_value([*others, *(each for each, _ in finite)])]
    far = _far([number for _, number in finite])
    lines += _by_value([*others, *(each for each, number in finite if number in far)])
    return [*lines, _range([(each, number) for each, number in finite if number not in far])]


def _number(value: str) -> float | None:
    found = _NUMBER.fullmatch(value)
    number = None if found is None else float(found[1])
    return number if number is not None and isfinite(number) else None


def _by_value(values: Sequence[Valued]) -> list[str]:
    groups = sorted(grouped(values, lambda each: _ADDRESS.sub("0x…", each[1])), key=len)
    return [
        f"{len(group)} {_have(group)} {printable(group[0][1])} ({named([each for each, _ in group])})"
        for group in groups
    ]


def _far(numbers: Sequence[float]) -> set[float]:
    """Return the numbers that are far from all others; none if these are many."""
    if len(numbers) < _FEWEST_FOR_FAR:
        return set()
    low, _, high = quantiles(numbers)
    fence = FAR * (high - low)
    far = {number for number in numbers if not low - fence <= number <= high + fence}
    return far if len(far) <= MOST_CLASSES else set()


def _range(numbers: Sequence[tuple[Valued, float]]) -> str:
    (least, low), _ = min(numbers, key=lambda each: each[1])
    (greatest, high), _ = max(numbers, key=lambda each: each[1])
    return f"{len(numbers)} {_have(numbers)} {low} ({named([least])}) to {high} ({named([greatest])})"


def _have(processes: Sequence[object]) -> str:
    return "has" if len(processes) == 1 else "have"
