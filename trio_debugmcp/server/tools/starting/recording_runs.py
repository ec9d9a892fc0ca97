"""The recording that a launch asks for: which code, how much, and whether it can be."""

from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch, Profile
from trio_debugmcp.dap.profiles.starts import RunRecording
from trio_debugmcp.engine import WantedEngine
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.starting.launch_targets import LaunchTarget
from trio_debugmcp.server.tools.starting.run_settings import RunSettings
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import name_of
from trio_debugmcp.state.recorded_runs import KeptRun

_ASKS_WHY = "the run is recorded: why() says what led to this"

_ASKS_WHERE_FROM = "the run is recorded: why(expression=…) says where a value comes from, why() what was caught in it"
"""Behind exit code 0: a wrong value, or an exception that the program has caught, does not fail it."""


async def with_recording(
    debugger: Debugger, launch: Launch, target: LaunchTarget, record: bool | RunSettings
) -> Launch:
    """Return the launch with the recording that it asks for.

    Raises:
        UsageError: `NOT_SUPPORTED`: the run of this program cannot be recorded.
    """
    if record is False:
        return launch
    profile = target.profile
    problem = await recording_problem(debugger, profile, launch, debugger.settings.engine)
    if problem is not None:
        raise UsageError(
            "NOT_SUPPORTED",
            f"The run cannot be recorded: {problem}; or launch without `record`.",
            {"adapter": profile.name, "capability": "record"},
        )
    return recorded_launch(debugger, launch, target, RunSettings() if record is True else record)


async def as_recorded(debugger: Debugger, profile: Profile, launch: Launch, record: bool | None) -> Launch:
    """Return a launch that is made again, recorded or not; None: as it was.

    Raises:
        UsageError: `NOT_SUPPORTED`: the run of this program cannot be recorded.
    """
    if record is None or record == (launch.recording is not None):
        return launch
    target = LaunchTarget(profile, launch.program, launch.args, launch.options, near=launch.program)
    return await with_recording(debugger, replace(launch, recording=None), target, record)


def recorded_launch(debugger: Debugger, launch: Launch, target: LaunchTarget, wanted: RunSettings) -> Launch:
    """Return the launch of a program that can be recorded, with its recording."""
    profile = target.profile
    place = target.near or launch.cwd
    root = debugger.host.query(
        f"project of {place} in {launch.cwd}", lambda: profile.recordings.project_root(place, launch.cwd)
    )
    include = tuple(included(debugger, each) for each in wanted.include)
    recording = RunRecording(root=root, include=include, max_mb=wanted.max_mb)
    return replace(launch, recording=recording, what=_what(debugger, launch, target))


async def recording_problem(debugger: Debugger, profile: Profile, launch: Launch, engine: WantedEngine) -> str | None:
    """Return why the run of a program cannot be recorded, and what to do; `engine`: of Python programs."""

    async def ask() -> str | None:
        return await profile.recordings.problem(launch, engine, debugger.patience)

    return await debugger.host.find_out(f"recording of {launch.interpreter or launch.program}", ask)


def includes_nothing(launch: Launch) -> bool:
    """Whether the run of a launch is recorded without what is beside the project."""
    return launch.recording is not None and not launch.recording.include


def included(debugger: Debugger, name: str) -> str:
    """Return a path prefix as the program has it; the name of a module as it is."""
    return debugger.workspace.resolve(name) if "/" in name else name


def _what(debugger: Debugger, launch: Launch, target: LaunchTarget) -> str:
    """Return the program in a few words."""
    if target.test is not None:
        return name_of(f"test {target.test}")
    if "code" in target.options:
        return "code"
    place = Places(debugger.workspace.directory).file(target.program)
    first = f"-m {target.program}" if "module" in target.options else place
    return name_of(" ".join([first, *launch.args]))


async def questions_notes(debugger: Debugger, run: KeptRun, answer: StopAnswer) -> list[str]:
    """Return what can be asked of a run that a launch has recorded, as it stopped or ended."""
    if answer.exit_code and not answer.exception and (nothing := await _nothing_ran(debugger, run)):
        return [f"{nothing}, so why() has nothing to go by: what it printed says what ended it"]
    if answer.exception or answer.exit_code:
        return [_ASKS_WHY]
    return [_ASKS_WHERE_FROM] if answer.exit_code == 0 else []


async def _nothing_ran(debugger: Debugger, run: KeptRun) -> str:
    """Return that a run that has ended has called no code of the project; empty: it has, or it cannot be read."""
    from trio_debugmcp.runs.files.block_files import RunFileError  # for who records only
    from trio_debugmcp.runs.past.nothing_ran import nothing_ran

    async def ask() -> str:
        directory, is_over = debugger.runs.directories.of(run.id), run.ended_at is not None
        opened = debugger.runs.opened
        try:
            return (await opened.ask(directory, nothing_ran, is_over=is_over, settles=lambda said: not said)).found
        except (RunFileError, OSError):
            return ""

    try:
        return await debugger.host.find_out(f"what ran in {run.id}", ask)
    except UsageError:  # a recording from before this was asked
        return ""
