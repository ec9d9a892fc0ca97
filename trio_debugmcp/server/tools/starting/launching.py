"""`debug_launch`: run a program, a module, a piece of code or one test under the debugger."""

import re
import shlex
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import trio
from msgspec import Meta, Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch, Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.breakpoints import breakpoint_notes, refused_notes
from trio_debugmcp.server.answers.stop import StopAnswer
from trio_debugmcp.server.answers.stop_data import StopData
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.paths import ambiguous, existing_file, file_lines
from trio_debugmcp.server.tools.starting.building import build_plan, built, debug_notes, test_program
from trio_debugmcp.server.tools.starting.checks import check_options, check_program, check_test, choose_profile
from trio_debugmcp.server.tools.starting.launch_breakpoints import LaunchBreakpoint, set_all, spec_of
from trio_debugmcp.server.tools.starting.mappings import Mapping as PathMap
from trio_debugmcp.server.tools.starting.mappings import checked_mappings
from trio_debugmcp.server.tools.starting.other_programs import caller, check_free, make_room
from trio_debugmcp.server.tools.tool import NewSession, Params, Seconds, Show, Wait
from trio_debugmcp.session.before.configured_tasks import ConfiguredTasks
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec
from trio_debugmcp.session.breakpoints.session_modes import LEAVES_CODE
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.state.breakpoint import BreakpointSpec

UNCAUGHT, LEAVES_TEST = "unhandled", "userUnhandled"
"""Modes in which an exception stops the program: nothing catches it; it leaves the code of the user's."""

_AS_MODULE = re.compile(r"(?:(?P<python>(?:\S*/)?python[\d.]*)\s+)?-m\s+(?P<module>[\w.]+)(?:\s+(?P<rest>.*))?")
"""A command line in place of a program, as one would type it."""


class DebugLaunch(Params, frozen=True, kw_only=True):
    program: Annotated[str | None, Meta(description="Source file or executable.")] = None
    module: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="Or a module, as for `python -m`.")
    ] = None
    code: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Or source code: its breakpoints need no `file`."),
    ] = None
    test: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Or a test: `tests/test_a.py::test_b`, `pkg.tests.Case.test_c`."),
    ] = None
    args: list[str] = []
    cwd: Annotated[str | None, Meta(description="Default: the server's directory.")] = None
    env: Annotated[dict[str, str | None], Meta(description="Added; null removes.")] = {}
    stdin: Annotated[str | None, Meta(description="The whole of it.")] = None
    adapter: Annotated[str | None, Meta(description="Debug adapter or language; default: by the program.")] = None
    stop_at_entry: Annotated[bool | None, Meta(description="Default: only if there is no breakpoint.")] = None
    stop_on_uncaught: Annotated[bool, Meta(description="Stop where an exception that nothing catches is raised.")] = (
        True
    )
    breakpoints: Annotated[
        list[LaunchBreakpoint], Meta(description="As for breakpoint_set, or {exception: TYPE}; all or none.")
    ] = []
    show: Show = []
    replace: Annotated[bool, Meta(description="End the session that is there.")] = False
    new_session: NewSession = False
    console: Annotated[
        Literal["pipes"],
        Meta(description="How the program's streams are connected: by pipes that the server owns."),
    ] = "pipes"
    just_my_code: Annotated[
        bool | None, Meta(description="Step over library code and do not stop in it; default: true.")
    ] = None
    adapter_options: Annotated[
        dict[str, Any],
        Meta(description='Further arguments of the adapter, e.g. {"python": ["/path/to/python"]}.'),
    ] = {}
    path_mappings: Annotated[
        list[PathMap], Meta(description="Where the program has, or was built from, the files of this machine.")
    ] = []
    wait: Wait = True
    timeout: Seconds = 30.0


class LaunchTarget(Struct, frozen=True):
    """What a launch runs, and the options of its adapter that say so."""

    profile: Profile
    program: str
    args: tuple[str, ...]
    options: Mapping[str, Any]
    stop_at: tuple[str, ...] = ()
    test: str | None = None
    cwd: str | None = None


async def launch(debugger: Debugger, params: DebugLaunch, tasks: ConfiguredTasks | None = None) -> StopAnswer:
    """Run a program until it stops, ends, or the time is over. With `wait` false it only starts.

    `tasks`: what is run around it.
    """
    check_free(debugger, params)
    cwd = debugger.workspace.resolve(params.cwd or ".")
    if not debugger.host.query(f"directory {cwd}", Path(cwd).is_dir):
        raise UsageError(
            "INVALID_PATH", f"The working directory '{cwd}' does not exist. Pass one that does.", {"path": cwd}
        )
    target = await _target(debugger, params, cwd)
    # All are checked before the first is set: a launch with one that is refused sets none, and ends no session.
    specs = [spec_of(debugger, breakpoint, cwd, target.profile, params.code) for breakpoint in params.breakpoints]
    interpreter, is_own = _interpreter(debugger, target, cwd)
    in_library = bool({"site-packages", "dist-packages"} & set(Path(target.program).parts))
    wanted = Launch(
        program=target.program,
        args=target.args,
        cwd=target.cwd or cwd,
        env={name: value for name, value in params.env.items() if value is not None},
        unset=tuple(name for name, value in params.env.items() if value is None),
        just_my_code=params.just_my_code is not False and not in_library,
        options=target.options,
        interpreter=interpreter,
        stdin=params.stdin,
        stop_at=target.stop_at,
        path_mappings=checked_mappings(debugger, params.path_mappings, target.profile),
        tasks=tasks,
    )
    answer = await _run(debugger, params, target.profile, wanted, specs)
    notes = [] if is_own else [f"runs on {interpreter}"]
    notes += [_IN_LIBRARY] if in_library and params.just_my_code is not False else []
    notes += debug_notes(debugger, target.profile, wanted)
    notes += ambiguous(debugger, [params.program, *(breakpoint.file for breakpoint in params.breakpoints)], cwd)
    return replace(answer, notes=[*answer.notes, *notes, *_near(debugger, target, cwd, answer)])


_IN_LIBRARY = "the program is a library's file, so code of libraries is not stepped over (just_my_code=false)"


async def _run(
    debugger: Debugger,
    params: DebugLaunch,
    profile: Profile,
    wanted: Launch,
    specs: Sequence[BreakpointSpec | ExceptionSpec],
) -> StopAnswer:
    """Build the program if it is built, end the session that is replaced, set the breakpoints, and run."""
    deadline = trio.current_time() + params.timeout
    async with built(debugger, profile, wanted, deadline) as launch:
        beside = await make_room(debugger, params)
        notes = await set_all(debugger, specs)
        start = replace(
            launch,
            stop_at_entry=_stops_at_entry(debugger, params),
            restart_at_entry=_stops_at_entry(debugger, params, of_users=True),
        )
        answer = await run_program(
            debugger,
            profile,
            start,
            beside=beside,
            wait=params.wait,
            timeout=max(0.0, deadline - trio.current_time()),
            show=params.show,
            earlier=frozenset(debugger.breakpoints.syncs.earlier),
        )
        return replace(answer, notes=[*answer.notes, *notes])


def _interpreter(debugger: Debugger, target: LaunchTarget, cwd: str) -> tuple[str | None, bool]:
    """Return what is to run the program, and whether that needs no note: it is what this server runs on."""
    programs = target.profile.programs

    def ask() -> list[Any]:
        found = programs.interpreter(target.program, cwd, target.options)
        return [found, found is None or programs.is_own(found)]

    try:
        found, is_own = debugger.host.query(f"what runs {target.program}", ask)
    except UsageError:  # a recording from before this was asked
        return None, True
    return found, is_own


def _stops_at_entry(debugger: Debugger, params: DebugLaunch, *, of_users: bool = False) -> bool:
    """Return whether a launch stops at entry; `of_users`: only breakpoints count that outlast a run."""
    if params.stop_at_entry is not None:
        return params.stop_at_entry
    state = debugger.state
    if state.root is not None:  # breakpoints of the programs beside it say nothing about this one
        own = debugger.workspace.resolve(params.program) if params.program is not None else None
        in_file = [place for place in state.stop_places if place.enabled and place.spec.file == own]
        return not params.breakpoints and not in_file
    places = state.breakpoints if of_users else state.stop_places
    stops = any(place.enabled and not place.spec.only_in for place in places)
    stops = stops or any(exception.enabled for exception in state.exceptions)
    return params.test is None and not stops


# --- What is run ------------------------------------------------------------------------------------------------------


async def _target(debugger: Debugger, params: DebugLaunch, cwd: str) -> LaunchTarget:
    given = [each for each in ("program", "module", "code", "test") if getattr(params, each) is not None]
    by_options = _target_options(debugger, params)
    named = given or by_options
    if len(named) != 1:
        raise UsageError("INVALID_PARAMETER", "Pass one of `program`, `module`, `code` and `test`: what to run.")
    stop_at = (UNCAUGHT,) if params.stop_on_uncaught else ()
    command = _AS_MODULE.fullmatch(params.program or "")
    if command is not None:
        try:
            more = tuple(shlex.split(command["rest"] or ""))
        except ValueError as error:
            raise UsageError("INVALID_PARAMETER", f"`{params.program}` is not a command line: {error}.") from None
        params = replace(params, program=None, module=command["module"], args=[*more, *params.args])
        if "/" in (command["python"] or ""):  # a bare `python` is the one of the program's environment
            options = {"python": [str(Path(cwd, command["python"]))], **params.adapter_options}
            params = replace(params, adapter_options=options)
    own_test = test_program(debugger, params.test) if params.test is not None else None
    if own_test is not None:
        params = replace(params, program=own_test.file, args=[*own_test.args, *params.args])
    if params.program is None or by_options:
        return await _by_options(debugger, params, stop_at)
    program = _program(debugger, params.program, cwd)
    profile = await choose_profile(debugger, params.adapter, program)
    check_options(debugger, profile, params.adapter_options)
    builds = build_plan(debugger, profile, program, params.adapter_options) is not None
    check_program(debugger, profile, program, builds=builds)
    home = str(Path(program).parent) if own_test is not None and params.cwd is None else None
    return LaunchTarget(profile, program, tuple(params.args), params.adapter_options, stop_at, cwd=home)


def _target_options(debugger: Debugger, params: DebugLaunch) -> list[str]:
    """Return the options of adapters among those of a launch that say what is run."""
    profiles = debugger.settings.profiles
    return [name for name in params.adapter_options if any(name in profile.target_options for profile in profiles)]


async def _by_options(debugger: Debugger, params: DebugLaunch, stop_at: tuple[str, ...]) -> LaunchTarget:
    """Return the target of a launch that runs no file of its own, but a module, code or a test."""
    wanted = {*_target_options(debugger, params)}
    fits = (profile.name for profile in debugger.settings.profiles if wanted and wanted <= profile.target_options)
    profile = await choose_profile(debugger, params.adapter or next(fits, None), None)
    own: Mapping[str, Any] | None = {}
    name = params.program or ""
    if params.module is not None:
        own, name = {"module": params.module}, params.module
    elif params.code is not None:
        own, name = {"code": params.code}, "<code>"
        stop_at = (*stop_at, LEAVES_CODE) if stop_at else ()
    elif params.test is not None:
        check_test(debugger, profile, params.test, params.cwd or ".")
        own, name = profile.programs.test_options(params.test), params.test
        stop_at = (*stop_at, LEAVES_TEST) if stop_at else ()
    if own is None or not own.keys() <= profile.code_options:
        what = next(each for each in ("module", "code", "test") if getattr(params, each) is not None)
        raise UsageError(
            "NOT_SUPPORTED",
            f"{profile.name} has no `{what}` to launch. Pass a `program`, or another `adapter`.",
            {"adapter": profile.name, "capability": what},
        )
    options = {**params.adapter_options, **own}
    check_options(debugger, profile, options)
    return LaunchTarget(profile, name, tuple(params.args), options, stop_at, params.test)


def _program(debugger: Debugger, program: str, cwd: str) -> str:
    found = existing_file(debugger, program, cwd)
    if found is None and "/" not in program and Path(program).suffix == "":
        profiles = debugger.settings.profiles
        found = debugger.host.query(
            f"command {program} for {cwd}",
            lambda: next(filter(None, (profile.programs.find_command(program, cwd) for profile in profiles)), None),
        )
    full = debugger.workspace.resolve(program)
    below = debugger.workspace.resolve(str(Path(cwd, program)))
    if found is None and below != full and debugger.host.query(f"directory {below}", Path(below).is_dir):
        return below
    if found is None and Path(program).suffix == "" and not debugger.host.query(f"path {full}", Path(full).exists):
        raise UsageError(
            "INVALID_PATH",
            f"There is no file '{program}' in {cwd}. To run an installed command, pass `module` (for example "
            '"pytest"), or the path of its script.',
            {"path": program},
        )
    return full if found is None else debugger.workspace.resolve(found)  # the server may be confined from a command


def _near(debugger: Debugger, target: LaunchTarget, cwd: str, answer: StopAnswer) -> list[str]:
    """Return a note if the module that was to run was not found, or the test, then with tests of similar names.

    Or on a program that is not one as it is.
    """
    advice = target.profile.programs.start_advice(target.program, f"{answer.exception or ''}\n{answer.stderr}")
    if advice is not None:
        return [advice]
    if answer.exit_code and "module" in target.options:
        missing = target.profile.programs.missing_module(answer.stderr)
        where = f"there is no module '{missing}' for the program in {cwd}: check its name, `cwd` and the interpreter"
        return [where] if missing == target.options["module"] else []
    if target.test is None or answer.state != "Disconnected" or not answer.exit_code:
        return []
    test, profile = target.test, target.profile
    if not profile.programs.is_test_missing(answer.exit_code, answer.stderr):
        return []
    near = debugger.host.query(f"tests near {test} in {cwd}", lambda: profile.programs.near_tests(test, cwd))
    return [f"there is no test '{test}'; there are: {', '.join(near)}"] if near else []


# --- The run ----------------------------------------------------------------------------------------------------------


async def run_program(
    debugger: Debugger,
    profile: Profile,
    start: Launch,
    *,
    timeout: float,
    beside: bool = False,
    wait: bool = True,
    show: Sequence[str] = (),
    earlier: Container[str] = (),
) -> StopAnswer:
    """Start a program and wait for its first stop. At the timeout only the wait ends, and the program runs on.

    `beside`: there may be others. `earlier`: breakpoints that have been in force since an earlier session, which the
    answer names.
    """
    deadline = trio.current_time() + timeout
    edited = await debugger.breakpoints.find_again(lambda file: file_lines(debugger, file))
    program, session = await debugger.start_within(profile, start, timeout, new_session=beside, owner=caller())
    if session is None:
        note = "the program is still starting: use debug_wait, or end it with debug_disconnect"
        full = StopData(session_id=program.id)
        return StopAnswer(full=full, state="Running", timed_out=True, notes=[note], session=program.id)
    first = session.snapshot
    refused = refused_notes(debugger, session.id)  # at the end of the program nothing is bound any more
    outcome: Outcome | None = None
    if wait:
        with trio.move_on_at(deadline):
            outcome = await debugger.wait_stop(of=[program.id])
    answer = await wait_answer(debugger, outcome, deadline, show=show, waited=wait, session_id=session.id)
    known = {f"{id_} {note}" for id_ in answer.breakpoints for note in answer.notes}  # of those that have stopped it
    notes = [note for note in breakpoint_notes(debugger, earlier) if note not in known]
    notes = [*(refused if answer.state == "Disconnected" else []), *notes]
    last = session.snapshot or debugger.state.end_of(session.id) or first
    engine = None if last is None else last.origin.engine
    last = (None if outcome is None else outcome.paused) or last  # maybe a child, which the rest of the answer is about
    id_, pid = (session.id, None) if last is None else (last.id, last.origin.process_id)
    return replace(answer, notes=[*edited, *notes, *answer.notes], session=id_, pid=pid, engine=engine)
