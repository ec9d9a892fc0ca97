"""`debug_launch`: run a program, a module, a piece of code or one test under the debugger."""

from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch, Profile
from trio_debugmcp.dap.profiles.test_runners import TestRun
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.breakpoint_notes import breakpoint_notes, refused_notes
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop_answer import StopAnswer, StopData
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.paths import ambiguous, code_file, file_lines, meant_directory, start_directory
from trio_debugmcp.server.tools.starting.building import built, debug_notes
from trio_debugmcp.server.tools.starting.checks import check_words
from trio_debugmcp.server.tools.starting.first_stop import FirstStop, first_stop
from trio_debugmcp.server.tools.starting.launch_breakpoints import set_all, specs_of
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch, WhatRuns
from trio_debugmcp.server.tools.starting.launch_targets import LaunchTarget, target_of
from trio_debugmcp.server.tools.starting.mappings import checked_mappings
from trio_debugmcp.server.tools.starting.other_programs import caller, check_free, make_room
from trio_debugmcp.server.tools.starting.recording_runs import includes_nothing, questions_notes, with_recording
from trio_debugmcp.server.tools.starting.start_notes import start_notes
from trio_debugmcp.session.before.configured_tasks import ConfiguredTasks
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.source_lines import source_lines
from trio_debugmcp.state.breakpoint import BreakpointSpec
from trio_debugmcp.state.payloads import name_of


async def launch(debugger: Debugger, params: DebugLaunch, tasks: ConfiguredTasks | None = None) -> StopAnswer:
    """Run a program until it stops, ends, or the time is over. With `wait` false it only starts.

    `tasks`: what is run around it.
    """
    what = _what(debugger, params)
    try:
        answer = await _launched(debugger, params, tasks)
    except UsageError as error:
        debugger.runs.later = f"the last launch, of {what}, failed ({error.code})"
        raise
    if not params.record:
        debugger.runs.later = f"the last launch, of {what}, was not recorded"
    return answer


def _what(debugger: Debugger, params: DebugLaunch) -> str:
    """Return in a few words what a launch is of, which may have found nothing to run."""
    if params.test is not None:
        return name_of(f"test {params.test}")
    if params.program is None:
        return "code" if params.module is None else name_of(f"-m {params.module}")
    return name_of(Places(debugger.workspace.directory).file(params.program))


async def _launched(debugger: Debugger, params: DebugLaunch, tasks: ConfiguredTasks | None) -> StopAnswer:
    check_free(debugger, params)
    check_words(params.args, params.env)
    cwd = existing_directory(debugger, params)
    target = await target_of(debugger, params, cwd)
    cwd = cwd if params.cwd is not None else target.cwd or cwd
    if params.stdin is not None and not target.profile.takes_input:
        raise UsageError("NOT_SUPPORTED", _no_input(debugger, target.profile), {"adapter": target.profile.name})
    # All are checked before the first is set: a launch with one that is refused sets none, and ends no session.
    specs, begun = specs_of(debugger, params.breakpoints, cwd, target.profile, params.code, target.near)
    run = target.run or TestRun(target.program)
    interpreter, is_own = program_interpreter(debugger, target, cwd)
    in_library = bool({"site-packages", "dist-packages"} & set(Path(target.program).parts))
    wanted = Launch(
        program=target.program,
        args=target.args,
        cwd=cwd,
        env={**run.env, **{name: value for name, value in params.env.items() if value is not None}},
        unset=tuple(name for name, value in params.env.items() if value is None),
        just_my_code=params.just_my_code is not False and not in_library,
        options=target.options,
        interpreter=interpreter,
        stdin=params.stdin,
        stop_at=target.stop_at,
        fails_with=run.fails_with if params.stop_on_uncaught else (),
        fails_below=run.fails_below,
        raised=run.raised,
        build=run.build,
        path_mappings=checked_mappings(debugger, params.path_mappings, target.profile),
        tasks=tasks,
    )
    wanted = await with_recording(debugger, wanted, target, params.record)
    answer = await _run(debugger, params, target, wanted, specs)
    notes = [*begun, *target.notes, *([] if is_own else [f"runs on {interpreter}"])]
    notes += [_RECORDS_ITS_OWN] if params.just_my_code is False and includes_nothing(wanted) else []
    notes += [_IN_LIBRARY] if in_library and params.just_my_code is not False else []
    notes += debug_notes(debugger, target.profile, wanted)
    notes += ambiguous(debugger, [params.program, *(breakpoint.file for breakpoint in params.breakpoints)], cwd)
    return replace(answer, notes=[*answer.notes, *notes, *start_notes(debugger, target, wanted, answer, is_own=is_own)])


def existing_directory(debugger: Debugger, params: WhatRuns) -> str:
    """Return the directory that names of programs are relative to, where they run if nothing else is said.

    Raises:
        UsageError: `INVALID_PATH`: there is none.
    """
    cwd = start_directory(debugger, params.cwd, params.program)
    if not debugger.host.query(f"directory {cwd}", Path(cwd).is_dir):
        advice = meant_directory(debugger, cwd) or "Pass one that does."
        raise UsageError("INVALID_PATH", f"The working directory '{cwd}' does not exist. {advice}", {"path": cwd})
    return cwd


def _no_input(debugger: Debugger, profile: Profile) -> str:
    """Return why a program gets no `stdin`, and which other adapters of its language give it one."""
    others = [
        other.name
        for other in debugger.settings.profiles
        if other.takes_input and not set(other.language.split(", ")).isdisjoint(profile.language.split(", "))
    ]
    instead = f"Pass adapter={others[0]!r}, which does, or have" if others else "Have"
    return f"{profile.name} gives its program no input, so `stdin` would be lost. {instead} the program read a file."


_RECORDS_ITS_OWN = (
    "just_my_code=false is about stops and steps: of libraries nothing is recorded, as that makes a run slower and "
    'its record larger. record={"include": ["NAME"]} records the module or package NAME, too'
)

_IN_LIBRARY = "the program is a library's file, so code of libraries is not stepped over (just_my_code=false)"


async def _run(
    debugger: Debugger,
    params: DebugLaunch,
    target: LaunchTarget,
    wanted: Launch,
    specs: Sequence[BreakpointSpec | ExceptionSpec],
) -> StopAnswer:
    """Build the program if it is built, end the session that is replaced, set the breakpoints, and run."""
    deadline = trio.current_time() + params.timeout
    profile, test = target.profile, target.test or params.test
    async with built(debugger, profile, wanted, deadline) as launch:
        beside = await make_room(debugger, params)
        notes = await set_all(debugger, specs)
        start = replace(
            launch,
            stop_at_entry=_stops_at_entry(debugger, params, test),
            restart_at_entry=_stops_at_entry(debugger, params, test, of_users=True),
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


def program_interpreter(debugger: Debugger, target: LaunchTarget, cwd: str) -> tuple[str | None, bool]:
    """Return what is to run the program, and whether that needs no note: it is what this server runs on."""
    programs = target.profile.programs
    what = target.program if target.test is None else f"{target.program} near {target.near}"

    def ask() -> list[Any]:
        found = programs.interpreter(target.program, target.near or cwd, target.options)
        return [found, found is None or programs.is_own(found)]

    try:
        found, is_own = debugger.host.query(f"what runs {what}", ask)
    except UsageError:  # a recording from before this was asked
        return None, True
    return found, is_own


def _stops_at_entry(debugger: Debugger, params: DebugLaunch, test: str | None, *, of_users: bool = False) -> bool:
    """Return whether a launch stops at entry; `of_users`: only breakpoints count that outlast a run."""
    if params.stop_at_entry is not None:
        return params.stop_at_entry
    if params.record:  # what happened is asked when it has happened
        return False
    state = debugger.state
    if state.root is not None:  # breakpoints of the programs beside it say nothing about this one
        own = debugger.workspace.resolve(params.program) if params.program is not None else None
        in_file = [place for place in state.stop_places if place.enabled and place.spec.file == own]
        return not params.breakpoints and not in_file
    places = state.breakpoints if of_users else state.stop_places
    stops = any(place.enabled and place.spec.is_for_later for place in places)
    stops = stops or any(exception.enabled for exception in state.exceptions)
    return test is None and not stops


def _lines_to_run(debugger: Debugger, profile: Profile, start: Launch) -> Callable[[str], list[str] | None]:
    """Return what finds the lines of a file as the program that is about to start has them.

    Code that is given is in no file, and what is known under its name is the code of an earlier program.
    """
    given = profile.programs.given_code(start.options)

    def lines(file: str) -> list[str] | None:
        if code_file(debugger, file) is None:
            return file_lines(debugger, file)
        return None if given is None else source_lines(given)

    return lines


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
    edited = await debugger.breakpoints.find_again(_lines_to_run(debugger, profile, start))
    program, session = await debugger.start_within(profile, start, timeout, new_session=beside, owner=caller())
    if session is None:
        note = "the program is still starting: use debug_wait, or end it with debug_disconnect"
        full = StopData(session_id=program.id)
        return StopAnswer(full=full, state="Running", timed_out=True, notes=[note], session=program.id)
    first = session.snapshot
    first_known = FirstStop()
    if wait:
        with trio.move_on_at(deadline):
            first_known = await first_stop(debugger, profile, program.id)
    outcome, waits = first_known.outcome, first_known.waits
    waited = wait and waits is None
    answer = await wait_answer(debugger, outcome, deadline, show=show, waited=waited, session_id=session.id)
    known = {f"{id_} {note}" for id_ in answer.breakpoints for note in answer.notes}  # of those that have stopped it
    hit = tuple(f"{id_} is pending: " for id_ in answer.breakpoints)  # whatever the adapter has last said of it
    found = breakpoint_notes(debugger, session.requests, earlier)
    notes = [note for note in found if note not in known and not note.startswith(hit)]
    notes = [*(refused_notes(debugger, earlier) if answer.state == "Disconnected" else []), *notes]
    last = session.snapshot or debugger.state.end_of(session.id) or first
    engine = None if last is None else last.origin.unusual_engine
    last = (None if outcome is None else outcome.paused) or last  # maybe a child, which the rest of the answer is about
    kept = debugger.runs.of(program.id)
    run = None if kept is None else kept.id
    notes += [] if waits is None else profile.words.idle_notes(waits)
    notes += [] if kept is None else await questions_notes(debugger, kept, answer)
    id_, pid = (session.id, None) if last is None else (last.id, last.origin.process_id)
    return replace(answer, notes=[*edited, *notes, *answer.notes], session=id_, pid=pid, engine=engine, run=run)
