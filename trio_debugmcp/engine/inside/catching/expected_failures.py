"""Whether an exception that a test lets out is expected there: marked so, or inside of another test that passes.

A test may be marked to fail, as a whole or with some exceptions (`xfail`, `expectedFailure`, the traceback in a
doctest); and tests of test runners run tests that fail. The runners keep this in variables and attributes, which are
read here as `namespaces` reads them.
"""

import sys

from trio_debugmcp.engine.inside.catching import known_managers as known
from trio_debugmcp.engine.inside.catching.namespaces import MISSING, NameScope, attribute
from trio_debugmcp.engine.inside.catching.thrown_exception import ThrownException, matches

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Any, FrameType

_PYTEST = ("_pytest.runner", "runtestprotocol")
_UNITTEST = ("unittest.case", "run")
_DOCTEST = ("doctest", "__run")

_LEVELS = {_PYTEST[1]: _PYTEST, _UNITTEST[1]: _UNITTEST, _DOCTEST[1]: _DOCTEST}
"""The functions that run one test, by the names of their code."""

_SAME_TEST = {
    _UNITTEST: (("_pytest.unittest", "runtest"),),
    _DOCTEST: (("_pytest.doctest", "runtest"), ("doctest", "runTest")),
}
"""Callers that run a test of another runner as their own one."""

_CALLERS = 3
"""Functions of a runner that are between."""

_TEST_METHOD = frozenset({"_callTestMethod", "_callMaybeAsync", "subTest"})
"""The functions of unittest within which a failure may be expected: not those that set up and tear down."""


def is_expected(frame: "FrameType", thrown: ThrownException) -> bool:
    """Return whether the test that a runner's frame has called, or its caller, is to fail with an exception."""
    levels = 0
    in_method = False
    outer: FrameType | None = frame
    while outer is not None:
        name = outer.f_code.co_name
        in_method = in_method or name in _TEST_METHOD
        level = _LEVELS.get(name)
        if level is not None and outer.f_globals.get("__name__") == level[0]:
            if level is _PYTEST and _is_marked(NameScope(outer).value(("fast", "item")), thrown):
                return True
            if level is _UNITTEST and in_method and _is_true(outer, "expecting_failure"):
                return True
            if level is _DOCTEST and _has_traceback(NameScope(outer).value(("fast", "example"))):
                return True
            levels += not _is_part(outer, level)
            if levels > 1:
                return True
        outer = outer.f_back
    return False


def _is_part(frame: "FrameType", level: tuple[str, str]) -> bool:
    """Return whether a test is run for another runner's test, and is that one."""
    outer = frame.f_back
    for _ in range(_CALLERS):
        if outer is None:
            return False
        if (outer.f_globals.get("__name__"), outer.f_code.co_name) in _SAME_TEST.get(level, ()):
            return True
        outer = outer.f_back
    return False


def _is_true(frame: "FrameType", name: str) -> bool:
    value = NameScope(frame).value(("fast", name))
    return value is True


def _has_traceback(example: "Any") -> bool:
    message = MISSING if example is MISSING else attribute(example, "exc_msg")
    return message is not MISSING and message is not None


def _is_marked(item: "Any", thrown: ThrownException) -> bool:
    """Return whether a mark `xfail` of pytest is for an exception: pytest keeps what marks say with the test."""
    mark = _kept(item, "_pytest.skipping", "xfailed_key")
    if mark is MISSING or mark is None or _read(item, "config", "option", "runxfail") is True:
        return False
    raises = attribute(mark, "raises")
    if raises is None:
        return True
    for name in known.ARGUMENTS:  # `pytest.RaisesExc(...)` in place of a type
        types = attribute(raises, name)
        if types is not MISSING:
            raises = types
            break
    return matches(raises, thrown.classes) is not False


def _kept(item: "Any", module: str, name: str) -> "Any":
    """Return what pytest has kept with a test under a key of one of its modules."""
    modules = sys.modules
    key = attribute(modules[module], name) if type(modules) is dict and module in modules else MISSING
    kept = _read(item, "stash", "_storage")
    if key is MISSING or type(kept) is not dict:
        return MISSING
    for own, value in tuple(kept.items()):
        if own is key:
            return value
    return MISSING


def _read(owner: "Any", *names: str) -> "Any":
    for name in names:
        if owner is MISSING:
            return MISSING
        owner = attribute(owner, name)
    return owner
