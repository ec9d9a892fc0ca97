"""What values of Java's own classes hold, read from their fields as a user would print them. Pure.

    reading = reading_of(variable)      # yields references, and takes what is behind each: its children
    ...                                 # returns `{"fig": 3, "saw": 1}`, or `2024-03-09`

Nothing of the program is run. A collection shows its items, an object its fields, and what is inside of these only
dates, numbers and other values that are one for their user. The classes are those of OpenJDK 11 to 21.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.adapter_values import Reading
from trio_debugmcp.dap.profiles.java_leaves import LEAVES, text_of_bytes, whole_number

_Fields = Mapping[str, DapVariable]

_Found = Generator[int, Sequence[DapVariable] | None, tuple[list[DapVariable], int | None]]
"""Reads the items of a collection, and how many there are, if that is known; keys and values of a map by turns."""

_MAX_ITEMS = 12
"""Items, entries or fields that are shown of one value."""

_MAX_TEXT = 300
"""Characters after which no further item is read: an answer shows fewer of one value."""

_MAX_ARRAY = 1000
"""Elements of an array that is read: the adapter reads all, one by one."""

_DEEPEST = 1
"""Collections and objects deeper than that are not opened: a value itself is at 0, an item of it at 1, a field at 2."""

_INSTANCE = re.compile(r"(?:instance of )?(?P<name>[\w.$]+)(?:@(?P<id>\d+)|\(id=(?P<number>\d+)\))")

_ARRAY = re.compile(r"(?:instance of )?[\w.$]+(?:\[\])*\[(?P<length>\d+)\](?: ?\(id=\d+\))?")

_UTIL = "java.util."


def reading_of(variable: DapVariable) -> Reading | None:
    """Return what reads a value, if it is an object or an array."""
    if not variable.variables_reference:
        return None
    is_known = _INSTANCE.fullmatch(variable.value) or _ARRAY.fullmatch(variable.value)
    return _text(variable, 0) if is_known else None


def class_of(value: str) -> str | None:
    """Return the name of an object's class, as the adapter shows the object."""
    found = _INSTANCE.fullmatch(value)
    return None if found is None else found["name"]


def _text(variable: DapVariable, level: int) -> Reading:
    array, name = _ARRAY.fullmatch(variable.value), class_of(variable.value)
    if not variable.variables_reference or (array is None and name is None):
        return variable.value
    if array is not None:
        return (yield from _array(variable, int(array["length"]), level))
    short = (name or "").rpartition(".")[2]
    inside = yield variable.variables_reference
    if inside is None:
        return f"{short}(…)"
    fields = {child.name: child for child in inside}
    if name in LEAVES:
        return (yield from _leaf(name, fields)) or f"{short}(…)"
    if name in _MAPS or name in _COLLECTIONS:
        return (yield from _collection(name, fields, level))
    if name in _HOLDERS:
        return (yield from _held(short, fields, level))
    if {"detailMessage", "cause", "stackTrace"} <= fields.keys():
        return (yield from _throwable(variable, short, fields))
    if list(fields)[-2:] == ["name", "ordinal"]:
        return f"{re.sub(r'[$][0-9]+$', '', short).rpartition('$')[2]}.{fields['name'].value.strip(chr(34))}"
    if level > _DEEPEST and fields:
        return f"{short}(…)"
    shown = []
    for child in inside[:_MAX_ITEMS]:
        shown.append(f"{child.name}={(yield from _text(child, level + 2))}")  # noqa: PERF401 - it yields
    return f"{short}({', '.join(shown + ['…'] * (len(inside) > _MAX_ITEMS))})"


def _array(variable: DapVariable, length: int, level: int) -> Reading:
    if level > _DEEPEST or length > _MAX_ARRAY:
        return f"[{length} items]"
    return (yield from _items((yield variable.variables_reference) or [], length, level))


def _collection(name: str, fields: _Fields, level: int) -> Reading:
    is_map = name in _MAPS
    size = fields["size"].value if "size" in fields else ""
    if level > _DEEPEST and size:
        return f"{{{size} entries}}" if is_map else f"[{size} items]"
    if level > _DEEPEST + 1:  # what has no size may be within another
        return "{…}" if is_map else "[…]"
    found, count = yield from (_MAPS if is_map else _COLLECTIONS)[name](fields)
    if not is_map:
        return (yield from _items(found, len(found) if count is None else count, level))
    shown = []
    count = len(found) // 2 if count is None else count
    if count and not found:
        return f"{{{count} entries}}"
    for key, value in list(zip(found[::2], found[1::2], strict=False))[:_MAX_ITEMS]:
        shown.append(f"{(yield from _text(key, level + 1))}: {(yield from _text(value, level + 1))}")
        if sum(map(len, shown)) > _MAX_TEXT:
            break
    more = count > len(shown)
    return f"{{{', '.join(shown + ['…'] * more)}}}"


def _items(found: Sequence[DapVariable], count: int, level: int) -> Reading:
    if count and not found:
        return f"[{count} items]"
    shown: list[str] = []
    for item in found[:_MAX_ITEMS]:
        shown.append((yield from _text(item, level + 1)))
        if sum(map(len, shown)) > _MAX_TEXT:
            break
    return f"[{', '.join(shown + ['…'] * (count > len(shown)))}]"


def _held(short: str, fields: _Fields, level: int) -> Reading:
    """Read what holds one value, or none."""
    value = next(iter(fields.values()), None)
    if value is None or value.value == "null":
        return f"{short}.empty" if short == "Optional" else f"{short}[null]"
    return f"{short}[{(yield from _text(value, level + 1))}]"


def _throwable(variable: DapVariable, short: str, fields: _Fields) -> Reading:
    """Read an exception with what has caused it; one without a cause is its own."""
    shown, seen = [], {_number(variable)}
    cause: DapVariable | None
    while True:
        message = fields["detailMessage"].value
        shown.append(short if message == "null" else f"{short}: {message.strip(chr(34))}")
        cause = fields.get("cause")
        if cause is None or not cause.variables_reference or _number(cause) in seen or len(shown) > _MAX_ITEMS:
            return "; caused by ".join(shown)
        seen.add(_number(cause))
        inside = yield cause.variables_reference
        short = (class_of(cause.value) or "").rpartition(".")[2]
        fields = {child.name: child for child in inside or ()}
        if "detailMessage" not in fields:
            return "; caused by ".join([*shown, short])


def _number(variable: DapVariable) -> str | None:
    found = _INSTANCE.fullmatch(variable.value)
    return None if found is None else found["id"] or found["number"]


def _leaf(name: str, fields: _Fields) -> Reading:
    """Read what is one value for its user; empty if it is not as it is known."""
    plain: dict[str, str] = {}
    for field, child in fields.items():
        kind = class_of(child.value)
        if kind in LEAVES and child.variables_reference:
            inside = yield child.variables_reference
            plain[field] = yield from _leaf(kind, {each.name: each for each in inside or ()})
        elif field in ("mag", "value", "path") and child.variables_reference:
            length = _ARRAY.fullmatch(child.value)
            if length is None or int(length["length"]) > _MAX_ARRAY:
                return ""
            elements = [each.value for each in (yield child.variables_reference) or ()]
            plain[field] = str(whole_number(elements)) if field == "mag" else text_of_bytes(elements, fields)
        else:
            plain[field] = child.value
    try:
        return LEAVES[name](plain)
    except (KeyError, ValueError, ArithmeticError):
        return ""


# --- Collections ------------------------------------------------------------------------------------------------------


def _elements(variable: DapVariable | None) -> Generator[int, Sequence[DapVariable] | None, list[DapVariable]]:
    """Return the elements of an array; none of one that is too long."""
    length = None if variable is None else _ARRAY.fullmatch(variable.value)
    if variable is None or length is None or int(length["length"]) > _MAX_ARRAY or not variable.variables_reference:
        return []
    return list((yield variable.variables_reference) or ())


def _is_there(variable: DapVariable) -> bool:
    """Whether an element is one: `java.lang.Object` stands for none in `List.of("a")`."""
    return variable.value != "null" and class_of(variable.value) != "java.lang.Object"


def _size(fields: _Fields) -> int | None:
    found = next((fields[name].value for name in ("size", "baseCount") if name in fields), "")
    return int(found) if found.isdigit() else None


def _of_array(name: str) -> Callable[[_Fields], _Found]:
    def read(fields: _Fields) -> _Found:
        size = _size(fields)
        elements = yield from _elements(fields.get(name))
        return elements[: len(elements) if size is None else size], size

    return read


def _of_fixed(name: str) -> Callable[[_Fields], _Found]:
    """An array with gaps, as of `Set.of`, whose `size` is that of the collection."""

    def read(fields: _Fields) -> _Found:
        return [each for each in (yield from _elements(fields.get(name))) if _is_there(each)], _size(fields)

    return read


def _of_fields(*names: str) -> Callable[[_Fields], _Found]:
    def read(fields: _Fields) -> _Found:
        yield from ()
        return [fields[name] for name in names if name in fields and _is_there(fields[name])], None

    return read


def _of_chain(first: str, following: str, *names: str) -> Callable[[_Fields], _Found]:
    """Nodes that are linked, each with these fields."""

    def read(fields: _Fields) -> _Found:
        found: list[DapVariable] = []
        yield from _chain(fields.get(first), following, names, found)
        return found, _size(fields)

    return read


def _chain(
    node: DapVariable | None, following: str, names: Sequence[str], found: list[DapVariable]
) -> Generator[int, Sequence[DapVariable] | None, None]:
    while node is not None and node.variables_reference and len(found) < _MAX_ITEMS * len(names):
        fields = {child.name: child for child in (yield node.variables_reference) or ()}
        found += [fields[name] for name in names if name in fields]
        node = fields.get(following)


def _of_table(value: str) -> Callable[[_Fields], _Found]:
    """A hash table, whose entries follow one another where their hashes are the same."""

    def read(fields: _Fields) -> _Found:
        found: list[DapVariable] = []
        for node in (yield from _elements(fields.get("table"))):
            yield from _chain(node, "next", ("key", value), found)
        return found, _size(fields)

    return read


def _tree(fields: _Fields) -> _Found:
    found: list[DapVariable] = []
    above: list[_Fields] = []
    node: DapVariable | None = fields.get("root")
    while (above or (node is not None and node.variables_reference)) and len(found) < 2 * _MAX_ITEMS:
        if node is not None and node.variables_reference:
            above.append({child.name: child for child in (yield node.variables_reference) or ()})
            node = above[-1].get("left")
            continue
        here = above.pop()
        found += [here[name] for name in ("key", "value") if name in here]
        node = here.get("right")
    return found, _size(fields)


def _circle(fields: _Fields) -> _Found:
    elements = yield from _elements(fields.get("elements"))
    head, tail = int(fields["head"].value), int(fields["tail"].value)
    items = elements[head:tail] if head <= tail else elements[head:] + elements[:tail]
    return items, None


def _by_enum(fields: _Fields) -> _Found:
    keys = yield from _elements(fields.get("keyUniverse"))
    values = yield from _elements(fields.get("vals"))
    pairs = [(key, value) for key, value in zip(keys, values, strict=False) if value.value != "null"]
    return [each for pair in pairs for each in pair], _size(fields)


def _keys_of(name: str) -> Callable[[_Fields], _Found]:
    """A set that is kept as the keys of a map."""

    def read(fields: _Fields) -> _Found:
        found, count = yield from _inner(fields.get(name))
        return found[::2], count

    return read


def _within(*names: str) -> Callable[[_Fields], _Found]:
    """A collection around another, such as one that cannot be changed."""

    def read(fields: _Fields) -> _Found:
        return (yield from _inner(next((fields[name] for name in names if name in fields), None)))

    return read


def _inner(variable: DapVariable | None) -> _Found:
    name = class_of(variable.value) if variable is not None else None
    reader = _MAPS.get(name or "") or _COLLECTIONS.get(name or "")
    if variable is None or reader is None:
        return [], None
    fields = {child.name: child for child in (yield variable.variables_reference) or ()}
    return (yield from reader(fields))


_IMMUTABLE, _WRAPPERS = f"{_UTIL}ImmutableCollections$", f"{_UTIL}Collections$"

_GUARDS = ("Unmodifiable", "Synchronized")

_MAPS: dict[str, Callable[[_Fields], _Found]] = {
    **{f"{_UTIL}{kind}": _of_table("value") for kind in ("HashMap", "Hashtable")},
    f"{_UTIL}concurrent.ConcurrentHashMap": _of_table("val"),
    f"{_UTIL}LinkedHashMap": _of_chain("head", "after", "key", "value"),
    f"{_UTIL}TreeMap": _tree,
    f"{_UTIL}EnumMap": _by_enum,
    f"{_IMMUTABLE}Map1": _of_fields("k0", "v0"),
    f"{_IMMUTABLE}MapN": _of_fixed("table"),
    f"{_WRAPPERS}SingletonMap": _of_fields("k", "v"),
    f"{_WRAPPERS}EmptyMap": _of_fields(),
    f"{_WRAPPERS}UnmodifiableMap": _within("m"),
    f"{_WRAPPERS}SynchronizedMap": _within("m"),
}

_COLLECTIONS: dict[str, Callable[[_Fields], _Found]] = {
    **{f"{_UTIL}{kind}": _of_array("elementData") for kind in ("ArrayList", "Vector")},
    f"{_UTIL}Arrays$ArrayList": _of_array("a"),
    f"{_UTIL}PriorityQueue": _of_array("queue"),
    f"{_UTIL}concurrent.CopyOnWriteArrayList": _of_array("array"),
    f"{_UTIL}LinkedList": _of_chain("first", "next", "item"),
    f"{_UTIL}ArrayDeque": _circle,
    **{f"{_UTIL}{kind}Set": _keys_of("map") for kind in ("Hash", "LinkedHash")},
    f"{_UTIL}TreeSet": _keys_of("m"),
    f"{_IMMUTABLE}ListN": _of_array("elements"),
    f"{_IMMUTABLE}List12": _of_fields("e0", "e1"),
    f"{_IMMUTABLE}SetN": _of_fixed("elements"),
    f"{_IMMUTABLE}Set12": _of_fields("e0", "e1"),
    **{f"{_WRAPPERS}Singleton{of}": _of_fields("element") for of in ("List", "Set")},
    **{f"{_WRAPPERS}Empty{of}": _of_fields() for of in ("List", "Set")},
    **{f"{_WRAPPERS}{kind}{of}": _within("c") for kind in _GUARDS for of in ("Collection", "Set")},
    **{f"{_WRAPPERS}{kind}{of}": _within("list") for kind in _GUARDS for of in ("List", "RandomAccessList")},
}

_HOLDERS = {f"{_UTIL}Optional", f"{_UTIL}concurrent.atomic.AtomicReference"}
