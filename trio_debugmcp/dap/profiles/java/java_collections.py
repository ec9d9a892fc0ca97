"""What collections of Java's own classes hold, read from their fields. Pure.

    found, count = yield from COLLECTIONS["java.util.ArrayList"](fields)
    found, count = yield from MAPS["java.util.HashMap"](fields)         # keys and values by turns

How many items or entries there are is None where the fields do not say it: there may be more than are found.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence

from trio_debugmcp.dap.messages import DapVariable

Fields = Mapping[str, DapVariable]

_Found = Generator[int, Sequence[DapVariable] | None, tuple[list[DapVariable], int | None]]

MAX_ITEMS = 12
"""Items, entries or fields that are shown of one value."""

_MAX_ARRAY = 1000
"""Elements of an array that is read: the adapter reads all, one by one."""

INSTANCE = re.compile(r"(?:instance of )?(?P<name>[\w.$]+)(?:@(?P<id>\d+)|\(id=(?P<number>\d+)\))")

ARRAY = re.compile(r"(?:instance of )?[\w.$]+(?:\[\])*\[(?P<length>\d+)\](?: ?\(id=\d+\))?")

UTIL = "java.util."

_SIZES = ("size", "count", "elementCount")


def class_of(value: str) -> str | None:
    """Return the name of an object's class, as the adapter shows the object."""
    found = INSTANCE.fullmatch(value)
    return None if found is None else found["name"]


def elements(variable: DapVariable | None) -> Generator[int, Sequence[DapVariable] | None, list[DapVariable] | None]:
    """Return the elements of an array; None of one that is too long, or not to be had."""
    length = _length(variable)
    if variable is None or length is None or length > _MAX_ARRAY:
        return None
    if length == 0:
        return []
    inside = (yield variable.variables_reference) if variable.variables_reference else None
    return None if inside is None or len(inside) != length else list(inside)


def _length(array: DapVariable | None) -> int | None:
    found = None if array is None else ARRAY.fullmatch(array.value)
    return None if found is None else int(found["length"])


def _is_there(variable: DapVariable) -> bool:
    """Whether an element is one: `java.lang.Object` stands for none in `List.of("a")`."""
    return variable.value != "null" and class_of(variable.value) != "java.lang.Object"


def _size(fields: Fields) -> int | None:
    found = next((fields[name].value for name in _SIZES if name in fields), "")
    if not found and "baseCount" in fields and fields["counterCells"].value == "null":
        found = fields["baseCount"].value  # else threads that came in each other's way have counted for themselves
    return int(found) if found.isdecimal() else None


def _of_array(name: str) -> Callable[[Fields], _Found]:
    def read(fields: Fields) -> _Found:
        found, size = (yield from elements(fields.get(name))) or [], _size(fields)
        return found[:size], _length(fields.get(name)) if size is None else size

    return read


def _of_fixed(name: str) -> Callable[[Fields], _Found]:
    """An array with gaps, as of `Set.of`, whose `size` is that of the collection."""

    def read(fields: Fields) -> _Found:
        return [each for each in (yield from elements(fields.get(name))) or () if _is_there(each)], _size(fields)

    return read


def _of_fields(*names: str) -> Callable[[Fields], _Found]:
    """Fields that may stand for none."""

    def read(fields: Fields) -> _Found:
        yield from ()
        found = [fields[name] for name in names if name in fields and _is_there(fields[name])]
        return found, len(found)

    return read


def _of_one(*names: str) -> Callable[[Fields], _Found]:
    """The only item, or the key and the value of the only entry, which may be null."""

    def read(fields: Fields) -> _Found:
        yield from ()
        return [fields[name] for name in names], 1

    return read


def _of_chain(first: str, following: str, *names: str) -> Callable[[Fields], _Found]:
    """Nodes that are linked, each with these fields."""

    def read(fields: Fields) -> _Found:
        found: list[DapVariable] = []
        yield from _chain(fields.get(first), following, names, found)
        return found, _size(fields)

    return read


def _chain(
    node: DapVariable | None, following: str, names: Sequence[str], found: list[DapVariable]
) -> Generator[int, Sequence[DapVariable] | None, None]:
    while node is not None and node.variables_reference and len(found) < MAX_ITEMS * len(names):
        fields = {child.name: child for child in (yield node.variables_reference) or ()}
        found += [fields[name] for name in names if name in fields]
        node = fields.get(following)


def _of_table(value: str) -> Callable[[Fields], _Found]:
    """A hash table, whose entries follow one another where their hashes are the same."""

    def read(fields: Fields) -> _Found:
        found: list[DapVariable] = []
        for node in (yield from elements(fields.get("table"))) or ():
            yield from _chain(node, "next", ("key", value), found)
        return found, _size(fields)

    return read


def _concurrent(fields: Fields) -> _Found:
    """A hash table without null, where a node with it leads to others while the table grows or has many of one hash."""
    found, size = yield from _of_table("val")(fields)
    entries = [each for pair in zip(found[::2], found[1::2], strict=True) if pair[0].value != "null" for each in pair]
    return entries, size


def _tree(fields: Fields) -> _Found:
    found: list[DapVariable] = []
    above: list[Fields] = []
    node: DapVariable | None = fields.get("root")
    while (above or (node is not None and node.variables_reference)) and len(found) < 2 * MAX_ITEMS:
        if node is not None and node.variables_reference:
            above.append({child.name: child for child in (yield node.variables_reference) or ()})
            node = above[-1].get("left")
            continue
        here = above.pop()
        found += [here[name] for name in ("key", "value") if name in here]
        node = here.get("right")
    return found, _size(fields)


def _circle(fields: Fields) -> _Found:
    found = yield from elements(fields.get("elements"))
    if found is None:
        return [], None
    head, tail = int(fields["head"].value), int(fields["tail"].value)
    items = found[head:tail] if head <= tail else found[head:] + found[:tail]
    return items, len(items)


def _by_enum(fields: Fields) -> _Found:
    keys = (yield from elements(fields.get("keyUniverse"))) or ()
    values = (yield from elements(fields.get("vals"))) or ()
    pairs = [(key, value) for key, value in zip(keys, values, strict=False) if value.value != "null"]
    return [each for pair in pairs for each in pair], _size(fields)


def _keys_of(name: str) -> Callable[[Fields], _Found]:
    """A set that is kept as the keys of a map."""

    def read(fields: Fields) -> _Found:
        found, count = yield from _inner(fields.get(name))
        return found[::2], count

    return read


def _within(name: str) -> Callable[[Fields], _Found]:
    """A collection around another, such as one that cannot be changed."""

    def read(fields: Fields) -> _Found:
        return (yield from _inner(fields.get(name)))

    return read


def _inner(variable: DapVariable | None) -> _Found:
    """Read the collection within another; of one that is not known here nothing is found."""
    name = class_of(variable.value) if variable is not None else None
    reader = MAPS.get(name or "") or COLLECTIONS.get(name or "")
    inside = None if variable is None or reader is None else (yield variable.variables_reference)
    if inside is None or reader is None:
        return [], None
    return (yield from reader({child.name: child for child in inside}))


def _none(fields: Fields) -> _Found:
    yield from ()
    return [], 0


_IMMUTABLE, _WRAPPERS = f"{UTIL}ImmutableCollections$", f"{UTIL}Collections$"

_GUARDS = ("Unmodifiable", "Synchronized")

MAPS: dict[str, Callable[[Fields], _Found]] = {
    **{f"{UTIL}{kind}": _of_table("value") for kind in ("HashMap", "Hashtable")},
    f"{UTIL}concurrent.ConcurrentHashMap": _concurrent,
    f"{UTIL}LinkedHashMap": _of_chain("head", "after", "key", "value"),
    f"{UTIL}TreeMap": _tree,
    f"{UTIL}EnumMap": _by_enum,
    f"{_IMMUTABLE}Map1": _of_one("k0", "v0"),
    f"{_IMMUTABLE}MapN": _of_fixed("table"),
    f"{_WRAPPERS}SingletonMap": _of_one("k", "v"),
    f"{_WRAPPERS}EmptyMap": _none,
    f"{_WRAPPERS}UnmodifiableMap": _within("m"),
    f"{_WRAPPERS}SynchronizedMap": _within("m"),
}
"""By the names of the classes; so are `COLLECTIONS`."""

COLLECTIONS: dict[str, Callable[[Fields], _Found]] = {
    **{f"{UTIL}{kind}": _of_array("elementData") for kind in ("ArrayList", "Vector")},
    f"{UTIL}Arrays$ArrayList": _of_array("a"),
    f"{UTIL}PriorityQueue": _of_array("queue"),
    f"{UTIL}concurrent.CopyOnWriteArrayList": _of_array("array"),
    f"{UTIL}LinkedList": _of_chain("first", "next", "item"),
    f"{UTIL}ArrayDeque": _circle,
    **{f"{UTIL}{kind}Set": _keys_of("map") for kind in ("Hash", "LinkedHash")},
    f"{UTIL}TreeSet": _keys_of("m"),
    f"{_IMMUTABLE}ListN": _of_array("elements"),
    f"{_IMMUTABLE}List12": _of_fields("e0", "e1"),
    f"{_IMMUTABLE}SetN": _of_fixed("elements"),
    f"{_IMMUTABLE}Set12": _of_fields("e0", "e1"),
    **{f"{_WRAPPERS}Singleton{of}": _of_one("element") for of in ("List", "Set")},
    **{f"{_WRAPPERS}Empty{of}": _none for of in ("List", "Set")},
    **{f"{_WRAPPERS}{kind}{of}": _within("c") for kind in _GUARDS for of in ("Collection", "Set")},
    **{f"{_WRAPPERS}{kind}{of}": _within("list") for kind in _GUARDS for of in ("List", "RandomAccessList")},
}
