"""Collections in a few lines: what they hold, how much of it, and their first and last items.

    summary_json([3, None, 4], 5, budget, renderer)
    # {"count": 3, "kind": "list", "elementTypes": {"int": 2, "NoneType": 1}, "nullCount": 1, "numeric": {"min": 3, …}}

Very long ones are sampled, evenly, with their first item and their last; numpy's arrays of numbers are looked at whole.
A `repr` is run only of an item that is shown.
"""

import itertools
from typing import Any, Dict, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import children, facts
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

_MOST_NUMBERS = 5000000
"""Of an array of numpy, whose own code looks at them in some 20 ms."""

_MOST_TYPES = 10
"""Types that are named; the others are counted together."""

_TEXT = 20
"""Characters of a text in the place of an item."""

_EXACT_BITS = 53
"""Of integers that are numbers for every reader of JSON; longer ones are text."""

_NULLS = ("NoneType", "NaTType", "NAType")


class NotCollectionError(Exception):
    """The value has no items that can be counted without code of the program."""


def summary_json(value: Any, most: int, budget: Budget, renderer: Renderer) -> Json:
    """Return the summary of a collection, with at most so many of its first items, and of its last.

    Raises:
        NotCollectionError: it is something else.
    """
    cls = type(value)
    answer: Json = {"kind": facts.type_name(cls)}
    if issubclass(cls, (str, bytes, bytearray)):
        answer.update(_text(value, most * _TEXT, renderer))
    elif facts.container(value) is not None or facts.counted(cls):
        answer.update(_collection(value, most, renderer))
    elif facts.array_shape(value) is not None:
        answer.update(_array(value, most, budget, renderer))
    else:
        raise NotCollectionError(facts.type_name(cls))
    return answer


def _text(value: Any, length: int, renderer: Renderer) -> Json:
    base = next(each for each in (str, bytes, bytearray) if issubclass(type(value), each))
    total = base.__len__(value)
    answer = {"count": total, "first": [renderer.render(base.__getitem__(value, slice(0, length)))] if total else []}
    if total > length:
        start = max(length, total - length)
        answer["last"] = [renderer.render(base.__getitem__(value, slice(start, total)))]
    return answer


# --- Collections ------------------------------------------------------------------------------------------------------


def _collection(value: Any, most: int, renderer: Renderer) -> Json:
    total = facts.length(value) or 0
    base = facts.container(value)
    keyed = base is not None and base[1] is dict
    indexed = facts.indexed(type(value)) if base is None else base[1] in (list, tuple)
    reached = total if indexed else min(total, children.MOST_PASSED)
    wanted = facts.even(reached)
    ends = [end for end in _ends(total, most) if end < reached]
    found = dict(_at(value, sorted({*wanted, *ends}), indexed))
    sample = [found[each] for each in wanted if each in found]
    answer: Json = {"count": total}
    if keyed:
        answer["keyTypes"] = _types([key for key, _ in sample])
    answer.update(_statistics([item for _, item in sample]))
    if len(sample) < total:
        answer["sampled"] = len(sample)
    shown = [(end, _item(*found[end], keyed, renderer)) for end in ends if end in found]
    answer["first"] = [text for each, text in shown if each < most]
    answer["last"] = [text for each, text in shown if each >= most]
    return answer


def _ends(total: int, most: int) -> List[int]:
    """Return the positions of the items that are shown."""
    return [*range(min(most, total)), *range(max(most, total - most), total)]


def _at(value: Any, positions: List[int], indexed: bool) -> Iterator[Tuple[int, Tuple[Any, Any]]]:
    """Yield positions with what is there: index or key, and item."""
    if positions and len(positions) == positions[-1] + 1:  # all, from the first on
        yield from enumerate(facts.items(value, 0, len(positions)))
        return
    if indexed:
        for position in positions:
            yield from ((position, found) for found in facts.items(value, position, 1))
        return
    passed, iterator = 0, facts.items(value, 0, positions[-1] + 1 if positions else 0)
    for position in positions:
        for found in itertools.islice(iterator, position - passed, position - passed + 1):
            yield position, found
        passed = position + 1


def _item(key: Any, item: Any, keyed: bool, renderer: Renderer) -> str:
    return f"{renderer.render(key)}: {renderer.render(item)}" if keyed else renderer.render(item)


# --- Arrays and tables ------------------------------------------------------------------------------------------------


def _array(value: Any, most: int, budget: Budget, renderer: Renderer) -> Json:
    """Of numpy and pandas; of other libraries, whose items may be on another device, the shape only."""
    shape = facts.array_shape(value) or ()
    total = 1
    for each in shape:
        total *= each
    table = facts.class_attribute(type(value), "columns") is not facts.MISSING
    answer: Json = {"count": shape[0] if table and shape else total}
    if len(shape) > 1:
        answer["shape"] = list(shape)
    library = facts.module_name(type(value)).partition(".")[0]
    if library in ("numpy", "pandas"):
        try:
            answer.update(
                budget.run(None, lambda: (_table if table else _numbers)(value, answer["count"], most, renderer))
            )
        except Exception as error:  # of a version in which this is another way
            answer["notes"] = [f"its items cannot be read: {facts.type_name(type(error))}"]
    return answer


def _numbers(value: Any, total: int, most: int, renderer: Renderer) -> Json:
    ends = _ends(total, most)
    positions = facts.even(total)
    if facts.module_name(type(value)).startswith("numpy"):
        read: Any = value.flat
    else:
        read = getattr(value, "iloc", value)
    whole = _whole(value, total)
    answer = whole if whole is not None else _statistics(read[positions].tolist() if positions else [])
    answer["elementTypes"] = {str(value.dtype): total if whole is not None else len(positions)}
    if whole is None and len(positions) < total:
        answer["sampled"] = len(positions)
    texts = [renderer.render(each) for each in (read[ends].tolist() if ends else [])]
    answer["first"], answer["last"] = texts[:most], texts[most:]
    return answer


def _whole(value: Any, total: int) -> Optional[Json]:
    """What all numbers of a plain array of numpy are; None of another array, or of too many."""
    kind = type(value)
    is_plain = facts.module_name(kind) == "numpy" and facts.type_name(kind) == "ndarray"
    if not facts.MOST_SAMPLED < total <= _MOST_NUMBERS or not is_plain or value.dtype.kind not in "iuf":
        return None
    numbers = value[value == value]
    answer: Json = {"nullCount": total - int(numbers.size)}
    if numbers.size:
        least, most, mean = numbers.min().item(), numbers.max().item(), numbers.mean(dtype="float64").item()
        answer["numeric"] = {"min": _json_number(least), "max": _json_number(most)}
        if mean == mean:
            answer["numeric"]["mean"] = _json_number(mean)
    return answer


def _table(value: Any, total: int, most: int, renderer: Renderer) -> Json:
    """Each column's type, and rows as dicts."""
    positions = facts.even(total)
    rows = value.iloc[positions]
    answer: Json = {"nullCount": int(rows.isnull().sum().sum())}
    named = itertools.islice(value.dtypes.items(), 5 * _MOST_TYPES)
    answer["columns"] = {str(name)[:50]: str(kind) for name, kind in named}
    if len(positions) < total:
        answer["sampled"] = len(positions)
    shown = _ends(total, most)
    texts = [renderer.render(value.iloc[each].to_dict()) for each in shown]
    answer["first"], answer["last"] = texts[:most], texts[most:]
    return answer


# --- Items ------------------------------------------------------------------------------------------------------------


def _statistics(items: List[Any]) -> Json:
    kinds = {cls: facts.type_name(cls) in _NULLS for cls in set(map(type, items))}
    nulls = sum(1 for item in items if kinds[type(item)] or _is_nan(item))
    answer: Json = {"elementTypes": _types(items), "nullCount": nulls}
    numbers = [_plain(item) for item in items if _is_number(item) and not _is_nan(item)]
    if numbers:
        answer["numeric"] = _numeric(numbers)
    return answer


def _types(items: List[Any]) -> Dict[str, int]:
    by_class: Dict[type, int] = {}
    for cls in map(type, items):
        by_class[cls] = by_class.get(cls, 0) + 1
    counts: Dict[str, int] = {}
    for cls, number in by_class.items():
        name = facts.type_name(cls)
        counts[name] = counts.get(name, 0) + number
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    rest = sum(count for _, count in ranked[_MOST_TYPES:])
    return {**dict(ranked[:_MOST_TYPES]), **({"…": rest} if rest else {})}


def _is_number(value: Any) -> bool:
    return issubclass(type(value), (int, float)) and type(value) is not bool


def _is_nan(value: Any) -> bool:
    return issubclass(type(value), float) and not float.__eq__(value, value)


def _plain(value: Any) -> Any:
    """A number without what a subclass makes of it."""
    return int.__int__(value) if issubclass(type(value), int) else float.__float__(value)


def _numeric(numbers: List[Any]) -> Json:
    """Sorted first, so that the mean does not depend on the order."""
    numbers = sorted(numbers)
    answer = {"min": _json_number(numbers[0]), "max": _json_number(numbers[-1])}
    mean = _mean(numbers)
    if mean is not None:
        answer["mean"] = mean
    return answer


def _mean(numbers: List[Any]) -> Optional[Any]:
    try:
        mean = sum(numbers) / len(numbers)
    except OverflowError:  # of integers that are too large for a float
        return None
    return _json_number(mean) if mean == mean else None


def _json_number(value: Any) -> Any:
    if type(value) is int:
        bits = value.bit_length()
        return value if bits <= _EXACT_BITS else str(value) if bits <= 1000 else f"<int of {bits} bits>"
    return value if abs(value) != float("inf") else str(value)
