"""The exception on its way outward, whether types of a handler match it, and what was judged of it at its raise."""

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


MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Callable, FrameType

CAUGHT = "caught"
UNCAUGHT = "uncaught"
UNKNOWN = "unknown"


class RaiseVerdict:
    """The verdict of one raise.

    Attributes:
        outcome: CAUGHT by `frame`; UNCAUGHT up to the end, which is `frame` (the runner's, or the outermost one);
            UNKNOWN, and `frame` decides.
        frame: see `outcome`. If UNKNOWN: judge again when the exception is raised in this frame, or when it leaves it.
        line: the line of the handler, or of the call in which C code caught it; of the call in question if UNKNOWN.
        how: CAUGHT by "except", "except*", "with", "return", "raises another", "await", "async for", "test outcome",
            or by "C code".
        runner: UNCAUGHT: what the runner does with it (`runners`), or None at the end of the thread.
        reason: UNKNOWN: what is not known. CAUGHT: what may catch it even before that, or None.
        doubtful: CAUGHT: the frame that may catch it even before that, or None.
        before: UNKNOWN: whether it is decided before the exception arrives in `frame`, by C code that it has called.
        quiet: whether the end makes nothing of it, as of SystemExit.
    """

    __slots__ = ("before", "doubtful", "frame", "how", "line", "outcome", "quiet", "raised_in", "reason", "runner")

    def __init__(self, outcome: str, raised_in: "FrameType", frame: "FrameType") -> None:
        self.outcome = outcome
        self.raised_in = raised_in
        self.frame = frame
        self.line: int | None = None
        self.how: str | None = None
        self.runner: str | None = None
        self.reason: str | None = None
        self.doubtful: FrameType | None = None
        self.before = False
        self.quiet = False

    def leaves_user_code(self, is_user: "Callable[[FrameType], bool]") -> bool | None:
        """Return whether a library will handle an exception of the user's code: None if it is not known who will.

        False if the user's code handles it, if it never was in the user's code, and if it comes to the end. What C code
        catches between two frames answers a question (`hasattr`) or ends an iteration: it has not left the code.
        """
        if self.outcome is UNCAUGHT:
            return False
        frame: FrameType | None = self.raised_in
        was_in_user_code = is_after_doubt = False
        while frame is not None and frame is not self.frame:
            is_after_doubt = is_after_doubt or frame is self.doubtful
            if is_user(frame):
                if is_after_doubt:
                    return None
                was_in_user_code = True
            frame = frame.f_back
        if self.outcome is UNKNOWN or (self.reason is not None and not is_after_doubt):
            return None
        return was_in_user_code and self.how != "C code" and not is_user(self.frame)
