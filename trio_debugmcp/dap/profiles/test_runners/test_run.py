"""`TestRun`: how one test is built and run under a debugger."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.profiles.compilers import BuildPlan


class TestRun(Struct, frozen=True):
    """What a runner starts for a test.

    Attributes:
        program: what is launched; with a `build`, the source file that its program is made of.
        args: its arguments.
        directory: where it runs.
        env: variables that it gets, unless the user has set them.
        options: options of the adapter.
        build: how the program is built, if not as other programs of its language are.
        breaks: further arguments, with which the program stops itself where a test fails.
        ran_none: a pattern of what the runner writes where no test was of that name, or ran.
        fails_with: types of exceptions that are raised where a test fails.
        raised: a pattern of what the runner writes of any other that has ended a test, with its type as `kind`.
        fails_below: tests run in processes that the program starts, and it raises and catches many exceptions itself.
    """

    program: str
    args: tuple[str, ...] = ()
    directory: str = ""
    env: Mapping[str, str] = {}
    options: Mapping[str, Any] = {}
    build: BuildPlan | None = None
    breaks: tuple[str, ...] = ()
    ran_none: str | None = None
    fails_with: tuple[str, ...] = ()
    raised: str | None = None
    fails_below: bool = False
