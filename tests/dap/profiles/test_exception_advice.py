"""What is advised in place of exception breakpoints is what the adapter can do, by the language of the files."""

import pytest

from trio_debugmcp.dap.messages import Capabilities, ExceptionBreakpointFilter
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.exception_advice import exception_advice

FILTERS = Capabilities(exception_breakpoint_filters=[ExceptionBreakpointFilter(filter="all", label="all")])

NONE = Capabilities()


@pytest.mark.parametrize(
    ("adapter", "able", "file", "said"),
    [
        ("js-debug", FILTERS, "/src/a.ts", None),
        ("debugpy", FILTERS, "/src/a.py", None),
        ("bash-dap", NONE, "/src/a.sh", "bash-dap has no exception breakpoints"),
        ("perl-ls", NONE, None, "perl-ls has no exception breakpoints"),
        ("gdb", FILTERS, "/src/a.cpp", None),
        ("gdb", FILTERS, "/src/a.d", "gdb does not know the exceptions of this language"),
    ],
)
def test_the_profile_says_what_stops_at_exceptions(
    adapter: str, able: Capabilities, file: str | None, said: str | None
) -> None:
    profile = profile_named(adapter)
    assert profile is not None
    advice = exception_advice(profile, able, [None, file])
    if said is None:
        assert advice is None
    else:
        assert advice is not None
        assert advice.startswith(said)
        assert "breakpoint_set" in advice
