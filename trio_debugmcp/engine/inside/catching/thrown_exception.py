"""The exception on its way outward, and whether types of a handler match it."""

from trio_debugmcp.engine.inside.catching.namespaces import MISSING, is_class, lineage

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Any, Callable, Classes


_exceptions_of = BaseExceptionGroup.__dict__["exceptions"].__get__


class ThrownException:
    """The exception on its way: its classes, and the object while it is still the one that was raised."""

    __slots__ = ("classes", "exception")

    def __init__(self, exception: BaseException | None, classes: "Classes") -> None:
        self.exception = exception
        self.classes = classes

    def convert(self, kind: type[BaseException]) -> None:
        """Note that from here on an exception of another class is on the way, caused by this one."""
        self.exception = None
        self.classes = lineage(kind)

    def is_a(self, kind: type) -> bool:
        for base in self.classes:
            if base is kind:
                return True
        return False

    def share(self, taken: "Callable[[tuple[type, ...]], bool | None]") -> bool | None:
        """Return whether all of an exception is taken, or nothing. Of a group, each one in it is asked for."""
        if self.exception is None:
            return None
        answers = _shares(self.exception, taken)
        return answers.pop() if len(answers) == 1 else None


def _shares(exception: BaseException, taken: "Callable[[tuple[type, ...]], bool | None]") -> "set[bool | None]":
    classes = lineage(type(exception))
    answer = taken(classes)
    if answer is not False or not any([base is BaseExceptionGroup for base in classes]):
        return {answer}
    answers: set[bool | None] = set()
    for inner in _exceptions_of(exception):
        answers |= _shares(inner, taken)
    return answers


def matches(types: "Any", classes: "Classes") -> bool | None:
    """Return whether a class, or one of a tuple of them at any depth, is among the classes of an exception."""
    if type(types) is tuple:
        answers = [matches(part, classes) for part in types]
        return True if True in answers else None if None in answers else False
    if types is MISSING or not is_class(types):
        return None
    for base in classes:
        if base is types:
            return True
    return False


def holds(exception: BaseException, wanted: BaseException) -> bool:
    """Return whether an exception is another one, or a group that has it at any depth."""
    if exception is wanted:
        return True
    if not any([base is BaseExceptionGroup for base in lineage(type(exception))]):
        return False
    return any([holds(inner, wanted) for inner in _exceptions_of(exception)])
