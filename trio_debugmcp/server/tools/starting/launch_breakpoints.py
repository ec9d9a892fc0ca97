"""The breakpoints that a launch brings: all are checked before the first is set."""

from collections.abc import Iterable

from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.breakpoints import (
    update_notes,
)
from trio_debugmcp.server.tools.breakpoints.breakpoints import begun_notes, breakpoint_spec, on_each_line
from trio_debugmcp.server.tools.breakpoints.exception_support import exception_spec
from trio_debugmcp.server.tools.starting.launch_parameters import LaunchBreakpoint
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec
from trio_debugmcp.session.debugger import READER, Debugger
from trio_debugmcp.state.breakpoint import BreakpointSpec


def specs_of(
    debugger: Debugger,
    wanted: Iterable[LaunchBreakpoint],
    cwd: str,
    profile: Profile,
    code: str | None,
    near: str | None,
) -> tuple[list[BreakpointSpec | ExceptionSpec], list[str]]:
    """Return what the breakpoints of a launch ask for, and notes on lines that were found by their beginning.

    `code`: the program, if it is given as code. `near`: the file that is to be run, or the directory of the module.

    Raises:
        UsageError: as `breakpoint_set` and `breakpoint_set_exception`.
    """
    specs: list[BreakpointSpec | ExceptionSpec] = []
    notes: list[str] = []
    for params in wanted:
        for on_line in on_each_line(debugger, params, cwd, near):
            spec = _spec_of(debugger, on_line, cwd, profile, code, near)
            specs.append(spec)
            notes += begun_notes(on_line, spec) if isinstance(spec, BreakpointSpec) else []
    return specs, notes


def _spec_of(
    debugger: Debugger, params: LaunchBreakpoint, cwd: str, profile: Profile, code: str | None, near: str | None
) -> BreakpointSpec | ExceptionSpec:
    if params.exception is None:
        if code is not None and params.file is None and params.function is None:
            params = replace(params, file=profile.programs.code_file)  # there is no other file that could be meant
        return breakpoint_spec(debugger, params, cwd, profile, code, near)
    place = ("line", "statement", "function", "column", "hit_condition", "log_message")
    others = [each for each in place if getattr(params, each) is not None]
    if others:
        raise UsageError("INVALID_PARAMETER", f"A breakpoint with `exception` has no `{others[0]}`.")
    return exception_spec(debugger, params.exception, params.condition, params.file, profile, cwd, near)


async def set_all(debugger: Debugger, specs: Iterable[BreakpointSpec | ExceptionSpec]) -> list[str]:
    """Set breakpoints in their order; return what the updates of earlier ones have dropped."""
    notes: list[str] = []
    for spec in specs:
        found = update_notes(debugger, spec, READER.get())
        if isinstance(spec, ExceptionSpec):
            id_ = (await debugger.breakpoints.exceptions.set(spec, READER.get())).id
        else:
            id_ = (await debugger.breakpoints.set(spec, READER.get())).id
        notes += [f"{id_}: {each}" for each in found]
    return notes
