"""Items of containers for gdb, which runs this file itself: `$_item(counts, "fig")`, `$_item(queue, 2)`.

gdb has no index for what indexes by code of the program, which may not even be in it: maps of C++ and of Rust. Its
printers know their items. Keys are compared as they are shown, as one text may be of several types.
"""

from itertools import islice
from typing import Any

_MOST = 100_000
"""Items that are looked through: some seconds."""

_SHOWN = {"max_elements": 0, "repeat_threshold": 0, "symbols": False, "address": False}


class Unknown(Exception):
    """Raised where there is no such item; the message says why."""


def item_of(printer: Any, key: Any) -> Any:
    """Return an item as a printer has it: of a map by its key, of what is in order by its place.

    Raises:
        Unknown: there is none.
    """
    if printer is None or not hasattr(printer, "children"):
        raise Unknown("gdb knows no items of this: pass a container of the C++ or Rust library")
    is_map = hasattr(printer, "display_hint") and printer.display_hint() == "map"
    children = (child for _, child in islice(printer.children(), 2 * _MOST if is_map else _MOST))
    if not is_map:
        items, number = list(children), int(key)
        if 0 <= number < len(items):
            return items[number]
        raise Unknown(f"index {number} is out of bounds: {_count(len(items), _MOST)}")
    wanted, passed = _shown(key), 0
    for each in children:
        value = next(children, None)
        if _shown(each) == wanted:
            return value
        passed += 1
    raise Unknown(f"there is no key {wanted}: {_count(passed, _MOST)}")


def _shown(value: Any) -> str:
    return str(value.format_string(**_SHOWN))


def _count(number: int, most: int) -> str:
    return f"only the first {number} items were looked through" if number == most else f"it has {number} items"


def register(gdb: Any) -> None:
    """Have gdb know the function."""

    class Item(gdb.Function):  # type: ignore[misc]
        """The item of a container with a key or in a place."""

        def invoke(self, container: Any, key: Any) -> Any:
            while container.type.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
                container = container.referenced_value()
            try:
                return item_of(gdb.default_visualizer(container), key)
            except Unknown as problem:
                raise gdb.GdbError(str(problem)) from None

    Item("_item")
