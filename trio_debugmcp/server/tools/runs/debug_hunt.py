"""`debug_hunt`: a program or test again and again, in parallel processes, until it fails."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.recorded.hunt_answers import HuntAnswer, ShownTry, hunt_answer
from trio_debugmcp.server.answers.recorded.hunt_notes import HuntAsked, hunt_notes
from trio_debugmcp.server.progress import report_progress
from trio_debugmcp.server.tools.runs.run_compare import difference_of
from trio_debugmcp.server.tools.starting.checks import check_words
from trio_debugmcp.server.tools.starting.launch_parameters import AdapterOptions, DebugLaunch, WhatRuns
from trio_debugmcp.server.tools.starting.launch_targets import LaunchTarget, target_of
from trio_debugmcp.server.tools.starting.launching import existing_directory, program_interpreter
from trio_debugmcp.server.tools.starting.recording_runs import recorded_launch, recording_problem
from trio_debugmcp.server.tools.starting.run_settings import RunSettings
from trio_debugmcp.server.tools.tool import Seconds, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.hunting.hunt_plan import HuntPlan, TryOutcome
from trio_debugmcp.session.hunting.hunting import HuntFound
from trio_debugmcp.session.hunting.hunts import EngineName, HuntRequest
from trio_debugmcp.session.hunting.local_tries import MAX_PARALLEL, processors
from trio_debugmcp.session.hunting.try_choice import TryChoice
from trio_debugmcp.session.hunting.wanted_ends import WantedEnd
from trio_debugmcp.session.run_room import MAX_KEPT_MB
from trio_debugmcp.state.payloads import name_of, shortened

_SEEDS = 100_000
"""Between the seeds of one hunt and those of the next, which is to break new ground; more than its tries."""


class DebugHunt(WhatRuns, frozen=True, kw_only=True):
    adapter_options: AdapterOptions = {}
    times: Annotated[int, Meta(ge=1, le=10_000, description="Tries until the first that is as wanted.")] = 50
    parallel: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_PARALLEL)] | None,
        Meta(description="How many at once; default: as many as there are processors."),
    ] = None
    until: Annotated[
        Annotated[str, Meta(min_length=1)],
        Meta(
            description="`fails`, `passes`, or a condition: on `exit_code`, `stdout`, `stderr`, `seconds`, or on one "
            "variable: `Till.tries > 300`."
        ),
    ] = "fails"
    shake: Annotated[bool, Meta(description="Ready asyncio tasks take turns at random.")] = False
    engine: Annotated[EngineName, Meta(description="What runs the tries.")] = "local"
    address: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Of a Dask scheduler or a Ray cluster that is there; default: one for this hunt."),
    ] = None
    try_timeout: Annotated[
        float, Meta(gt=0, le=3600, description="Seconds after which a try is killed, and counts as failed.")
    ] = 30.0
    record: Annotated[RunSettings, Meta(description="What is recorded.")] = RunSettings()
    timeout: Seconds = 120.0


async def _hunt(debugger: Debugger, params: DebugHunt) -> HuntAnswer:
    _check(debugger, params)
    end = WantedEnd(params.until)
    target, launch = await _launch(debugger, params)
    plan, launch, problem = await _plan(debugger, params, target, launch, end)
    with debugger.hunts.begun() as number:
        request = HuntRequest(
            plan=replace(plan, first=(number - 1) * _SEEDS),
            end=end,
            engine=params.engine,
            address=params.address,
            gives_up=lambda outcome: _is_not_there(target, outcome),
        )

        async def ask() -> object:
            found = await debugger.hunts.run(number, request, _Report(plan, params.until), params.timeout)
            return msgspec.to_builtins(found)

        answer: Any = await debugger.host.find_out(f"hunt-{number}", ask)
        found = msgspec.convert(answer, HuntFound)
        _check_there(debugger, target, launch, found)
        what = launch.what or target.program
        tries = found.other or found.last, found.kept or found.hit
        # The one that failed comes last: `why` is about the last run.
        passed, failed = [
            await _kept(debugger, number, each, what) for each in (tries[::-1] if params.until == "passes" else tries)
        ]
    wanted, other = (passed, failed) if params.until == "passes" else (failed, passed)
    parting = None
    if failed is not None and failed.run is not None and passed is not None and passed.run is not None:
        parting = await difference_of(debugger, debugger.runs.run(passed.run), debugger.runs.run(failed.run))
    return hunt_answer(found.made, failed, passed, parting, hunt_notes(_asked(params, problem), found, wanted, other))


def _asked(params: DebugHunt, problem: str | None) -> HuntAsked:
    return HuntAsked(params.until, params.times, params.timeout, params.shake, problem)


def _check(debugger: Debugger, params: DebugHunt) -> None:
    """Refuse what contradicts itself, and what leaves the directories that a server is confined to.

    Raises:
        UsageError: `INVALID_PARAMETER` or `PERMISSION_DENIED`.
    """
    check_words(params.args, params.env)
    if "PYTHONHASHSEED" in params.env:
        raise UsageError("INVALID_PARAMETER", "Each try has a PYTHONHASHSEED of its own: leave it out of `env`.")
    if params.address is not None and params.engine == "local":
        raise UsageError("INVALID_PARAMETER", "`address` is that of a cluster: pass engine='dask' or 'ray' with it.")
    if params.engine != "local" and debugger.settings.roots:
        raise UsageError(
            "PERMISSION_DENIED",
            f"A server that is confined to {debugger.settings.roots[0]} runs nothing on clusters: leave out `engine`.",
        )


async def _launch(debugger: Debugger, params: DebugHunt) -> tuple[LaunchTarget, Launch]:
    """Return what is to be run, as debug_launch would run it.

    Raises:
        UsageError: as `debug_launch`.
    """
    asked = DebugLaunch(
        **{name: getattr(params, name) for name in WhatRuns.__struct_fields__},
        adapter_options=params.adapter_options,
        stop_on_uncaught=False,
    )
    cwd = existing_directory(debugger, asked)
    target = await target_of(debugger, asked, cwd)
    cwd = cwd if params.cwd is not None else target.cwd or cwd
    interpreter, _ = program_interpreter(debugger, target, cwd)
    return target, Launch(
        program=target.program,
        args=target.args,
        cwd=cwd,
        options=target.options,
        interpreter=interpreter,
        stdin=params.stdin,
    )


async def _plan(
    debugger: Debugger, params: DebugHunt, target: LaunchTarget, launch: Launch, end: WantedEnd
) -> tuple[HuntPlan, Launch, str | None]:
    """Return the plan of a hunt, the launch with its recording, and why it cannot be recorded.

    Raises:
        UsageError: `NOT_SUPPORTED`: such a program cannot be hunted, or what is wanted needs a record.
    """
    profile = target.profile
    command = profile.recordings.command(launch)
    if command is None:
        raise UsageError(
            "NOT_SUPPORTED",
            f"Only Python programs are hunted so far, and this one is debugged by {profile.name}. Run it in a loop, "
            "and debug_launch it when it has failed.",
            {"adapter": profile.name, "capability": "hunt"},
        )
    problem = await recording_problem(debugger, profile, launch, "auto")
    if problem is not None and end.is_of_record:
        raise UsageError(
            "NOT_SUPPORTED", f"`until` is judged over recorded runs, which is not possible: {problem}.",
            {"adapter": profile.name, "capability": "record"},
        )  # fmt: skip
    launch = recorded_launch(debugger, launch, target, params.record)
    recording = launch.recording
    parallel = params.parallel or (processors() if params.address is None else MAX_PARALLEL)
    if recording is not None and params.address is None:  # all that are under way, and the two that are kept
        recording = replace(recording, max_mb=max(1, min(recording.max_mb, MAX_KEPT_MB // (parallel + 2))))
    plan = HuntPlan(
        command=tuple(command),
        cwd=launch.cwd,
        env=params.env,
        stdin=params.stdin,
        recording=recording if problem is None else None,
        records_all=end.is_of_record,
        times=params.times,
        parallel=parallel,
        try_seconds=params.try_timeout,
        shakes=params.shake,
    )
    return plan, launch, problem


class _Report:
    """Tells the client of each try, in numbers that grow."""

    def __init__(self, plan: HuntPlan, until: str) -> None:
        self._plan = plan
        self._word = {"fails": "failed", "passes": "passed"}.get(until, "fit")

    async def __call__(self, choice: TryChoice) -> None:
        await report_progress(
            choice.made,
            None if choice.hit is not None else self._plan.times,
            f"{choice.made} tries, {choice.fitted} {self._word}",
        )


def _check_there(debugger: Debugger, target: LaunchTarget, launch: Launch, found: HuntFound) -> None:
    """Refuse the name of a test or a module that is not there, which is not a failure that one hunts.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    programs, ended = target.profile.programs, found.last or found.hit
    if ended is None or not _is_not_there(target, ended):
        return
    if target.test is None:
        raise UsageError(
            "INVALID_PARAMETER",
            f"There is no module '{target.options['module']}' for the program in {launch.cwd}: check its name, `cwd` "
            "and the interpreter.",
        )
    test = target.test
    near = debugger.host.query(f"tests near {test} in {launch.cwd}", lambda: programs.near_tests(test, launch.cwd))
    there = f"There are: {', '.join(near)}." if near else "Correct its name, or pass `cwd`."
    said = shortened((ended.stderr.strip() or ended.stdout.strip()).rpartition("\n")[2])
    raise UsageError("INVALID_PARAMETER", f"The runner does not find the test '{test}'. {there}", {"output": said})


def _is_not_there(target: LaunchTarget, outcome: TryOutcome) -> bool:
    """Whether a try says that the test or the module that was to run is not there."""
    programs = target.profile.programs
    if not outcome.exit_code:
        return False
    if target.test is not None:
        return programs.is_test_missing(outcome.exit_code, outcome.stderr)
    return "module" in target.options and programs.missing_module(outcome.stderr) == target.options["module"]


async def _kept(debugger: Debugger, number: int, outcome: TryOutcome | None, what: str) -> ShownTry | None:
    """Keep the record of a try as a run."""
    if outcome is None or outcome.directory is None:
        return None if outcome is None else ShownTry(outcome, None)
    name = name_of(f"{what}, try {outcome.conditions.number} of hunt-{number}")
    run = await debugger.runs.adopt(f"hunt-{number}", name, outcome.exit_code, outcome.directory)
    return ShownTry(outcome, run.id)


TOOLS = (
    Tool(
        name="debug_hunt",
        title="Hunt a rare failure",
        phrase="rare failures",
        description=(
            "Run a program or test again and again, in parallel, each time with other seeds, hash seed and thread "
            "switching, until it fails: a run that failed, one that passed, and where they part. Takes what "
            "debug_launch takes to say what is run."
        ),
        params=DebugHunt,
        run=_hunt,
        acts_on="captures",
        unlisted=frozenset(
            {"module", "code", "args", "cwd", "env", "stdin", "adapter_options", "record", "parallel", "engine"}
            | {"address", "try_timeout", "timeout"}
        ),
    ),
)
