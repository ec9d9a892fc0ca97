"""`NumberedValues`: what the numbers of scopes and values stand for while a stop lasts, and what is inside of them.

    number = values.number(NumberedScope(record, frame, "locals"))
    rows, total = values.find(number).children(0, 100)

Values are kept from when they are shown to the end of the stop: an editor opens what it has seen.
"""

import itertools
from typing import Any

from trio_debugmcp.engine.inside.steps import YIELDED

MOST_CHILDREN = 1000
"""Of a value that is asked for whole. What is beyond is counted in a last row, and can be had in pages."""


class NumberedValue:
    """A value with a number, in a frame of a stopped thread; `path` is the expression that leads to it, or empty."""

    __slots__ = ("frame", "path", "record", "value")

    def __init__(self, record: Any, frame: Any, path: str, value: Any) -> None:
        self.record = record
        self.frame = frame
        self.path = path
        self.value = value

    def children(self, start: int, count: int) -> tuple[list[Any], int]:
        """Return a slice of the children, whose paths are whole, and how many there are.

        Raises:
            RuntimeError: the program changes the collection while it is read.
            IndexError: `start` is too far into a dict or set.
        """
        from trio_debugmcp.probe.inside.values import children, variable_listing

        found, total = children.children(self.value, start, count)
        for child in found:
            child.path = variable_listing.path_in(child, self.path) if self.path else children.NO_PATH
        return found, total

    def assign(self, name: str, value: Any) -> None:
        """Set the child of that name.

        Raises:
            BaseException: it is not there or cannot be set, or what code of the program raised that does it.
        """
        from trio_debugmcp.probe.inside.values import assignment, children

        found, _ = children.children(self.value, 0, children.MOST_PASSED)
        child = next((child for child in found if child.name == name), None)
        if child is None or child.path == children.NO_PATH:
            raise LookupError(f"there is nothing called {name} that can be set")
        assignment.assign(child.path.format("holder"), value, {"holder": self.value}, self.frame)


class NumberedScope:
    """The locals or the globals of a frame."""

    __slots__ = ("frame", "kind", "record")

    def __init__(self, record: Any, frame: Any, kind: str) -> None:
        self.record = record
        self.frame = frame
        self.kind = kind

    def children(self, start: int, count: int) -> tuple[list[Any], int]:
        """Return a slice of the variables, and how many there are. What was returned in the last step comes first."""
        from trio_debugmcp.probe.inside.values import children, variable_listing

        pairs = variable_listing.scope_pairs(self.frame, self.kind)
        found = [children.Child(*pair) for pair in pairs]
        stop = self.record.stop
        if self.kind == "locals" and stop is not None and stop.frame is self.frame:
            returned = [
                children.Child(name if name.startswith(YIELDED) else f"(return) {name}", value, children.NO_PATH)
                for name, value in stop.returned
            ]
            found = returned + found
        return found[start : start + count], len(found)

    def assign(self, name: str, value: Any) -> None:
        """Set the variable of that name, whose scope this is: a local may have the name of a global.

        Raises:
            NameError: there is none.
        """
        from trio_debugmcp.probe.inside import frame_names

        frame = self.frame
        if self.kind == "globals" and name in frame.f_globals:
            frame.f_globals[name] = value
        elif self.kind == "locals" and frame_names.is_local(name, frame):
            frame_names.set_local(frame, name, value)
        else:
            raise NameError(f"there is no variable '{name}' here, and only what is there is set")


class NumberedValues:
    """Scopes and values by number. A number is never used twice."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._shown: dict[int, NumberedValue | NumberedScope] = {}
        self._scopes: dict[tuple[int, str], int] = {}

    def forget(self) -> None:
        """Forget all: threads continue, and no value is to live longer because of them."""
        self._shown.clear()
        self._scopes.clear()

    def number(self, shown: NumberedValue | NumberedScope) -> int:
        """Give something a number."""
        number = next(self._numbers)
        self._shown[number] = shown
        return number

    def scope(self, record: Any, frame: Any, kind: str) -> int:
        """Return the number of a scope, the same one as long as the stop lasts."""
        known = self._scopes.get((id(frame), kind))
        if known is None:
            known = self._scopes[id(frame), kind] = self.number(NumberedScope(record, frame, kind))
        return known

    def find(self, number: Any) -> NumberedValue | NumberedScope | None:
        """Return what has a number in this stop."""
        return self._shown.get(number)

    def described(self, record: Any, frame: Any, path: str, value: Any) -> dict[str, Any]:
        """Return the number of a value and of its children, as DAP has them; 0 if nothing is inside."""
        from trio_debugmcp.probe.inside.values import children

        size = children.count_of(value)
        if not size:
            return {"variablesReference": 0}
        number = self.number(NumberedValue(record, frame, path, value))
        indexed = 0 if children.is_named(value) else size
        return {"variablesReference": number, "namedVariables": size - indexed, "indexedVariables": indexed}


def is_path(expression: str) -> bool:
    """Whether an expression only leads to a value: `order.items[3]`. Another one may have another value next time."""
    import _ast

    from trio_debugmcp.probe.inside.syntax import parsed

    try:
        node: Any = parsed(expression)
    except (SyntaxError, ValueError):
        return False
    while isinstance(node, (_ast.Attribute, _ast.Subscript)):
        if isinstance(node, _ast.Subscript) and not isinstance(node.slice, (_ast.Constant, _ast.Name)):
            return False
        node = node.value
    return isinstance(node, _ast.Name)
