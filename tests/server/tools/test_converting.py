"""What is wrong with the arguments of a call is said with what they may be."""

from typing import Any

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.breakpoints.breakpoint_parameters import BreakpointRemove
from trio_debugmcp.server.tools.converting import converted
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"breakpoints": [40]}, '`breakpoints[0]` takes a place such as "app.py:12" or an object, '),
        ({"breakpoints": 40}, "`breakpoints` takes a list, and this is a whole number: "),
        ({"stop_at_entry": "no"}, "`stop_at_entry` takes true or false, and this is a text: "),
        ({"breakpoints": [{"lin": 3}]}, "`breakpoints[0]` has no `lin`. Do you mean line? It has file, line, "),
        ({"programm": "a.py"}, "debug_launch has no parameter 'programm'. Do you mean program? Parameters: program, "),
        ({"xyz": 1}, "debug_launch has no parameter 'xyz'. Parameters: program, "),
    ],
)
def test_an_argument_that_does_not_fit_is_named_with_what_does(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as error:
        converted("debug_launch", DebugLaunch, arguments)
    assert error.value.message.startswith(said)
    assert error.value.code == "INVALID_PARAMETER"
    all_of_them = "the schema of debug_launch has all, in a shell `call --list debug_launch`."
    assert error.value.message.endswith(all_of_them) == ("parameter" not in said)


def test_the_id_of_what_a_tool_is_about_may_be_named_after_that() -> None:
    assert converted("breakpoint_remove", BreakpointRemove, {"breakpoint_id": "*"}).id == "*"
    for wrong in ({"snapshot_id": "snap-1"}, {"id": "bp-1", "breakpoint_id": "bp-2"}):
        with pytest.raises(UsageError, match="has no parameter"):
            converted("breakpoint_remove", BreakpointRemove, wrong)
