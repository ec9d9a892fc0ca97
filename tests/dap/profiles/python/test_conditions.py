"""Conditions as pydevd gets them, which evaluates them with the globals and the locals of a frame apart."""

from trio_debugmcp.dap.profiles.python.code_files import without_guard
from trio_debugmcp.dap.profiles.python.expressions import PythonExpressions

CONDITIONS = ["any(item > limit for item in items)", "(twice := limit * 2) > 3 and any(i > twice for i in items)"]


def test_conditions_that_need_names_of_their_own_see_the_whole_frame_and_leave_nothing_there() -> None:
    for condition in CONDITIONS:
        module, frame = {"other": 1}, {"limit": 2, "items": [1, 5]}
        sent = PythonExpressions().either([condition], alone=True)
        assert eval(sent, module, frame) is True
        assert (set(module) - {"__builtins__"}, set(frame)) == ({"other"}, {"limit", "items"})
        assert without_guard(sent) == condition, "messages have what the user wrote"


def test_other_conditions_are_sent_as_they_are() -> None:
    for condition in ("limit > 2", "'x' in names", "limit >"):
        assert PythonExpressions().either([condition], alone=True) == condition
