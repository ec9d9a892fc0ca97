"""`Looking`: the one door for looking into a program: by its probe, its adapter, or what the stop has shown already.

    place = session.looking.place(None, 0)
    page = await session.looking.values.variables(place, VariablesQuestion())

Each subject has an object of its own here. All of them choose the way by the rule of `Ways`, and all ways return the
same structs.
"""

from contextlib import AbstractAsyncContextManager

from trio_debugmcp.dap.profiles.starts import ChildStart, Start
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.by_adapter.unmade_variables import UnmadeVariables
from trio_debugmcp.session.looking.by_probe.call_trace import ProgramTrace, TraceQuestion, open_trace
from trio_debugmcp.session.looking.by_probe.program_probe import ProgramProbe
from trio_debugmcp.session.looking.exception_context import ContextBounds, ExceptionContext, exception_context
from trio_debugmcp.session.looking.frame_values import FrameValues
from trio_debugmcp.session.looking.frames import ProgramFrames
from trio_debugmcp.session.looking.from_outside.program_process import ProgramProcess
from trio_debugmcp.session.looking.machine_code.native_threads import NativeThreads
from trio_debugmcp.session.looking.package_places import PackagePlaces
from trio_debugmcp.session.looking.program_threads import ProgramThreads
from trio_debugmcp.session.looking.program_types import ProgramTypes
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.looking.stop_questions import StopQuestions
from trio_debugmcp.session.looking.user_code import UserCode
from trio_debugmcp.session.looking.user_evaluation import UserEvaluation
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.start import path_mappings
from trio_debugmcp.state.model import Snapshot, StackFrame


def looking_into(
    requests: Requests, start: Start, merger: Merger, sources: Sources, host: Host, above: "Looking | None"
) -> "Looking":
    """Return what looks into the program of a session. `above`: the same of the session whose child this one is."""
    profile = requests.profile
    is_here = profile.runs_here(start) if not isinstance(start, ChildStart) else above is not None and above.is_here
    probe = ProgramProbe(requests, ProgramProcess(requests, host, is_here=is_here), path_mappings(start))
    user_code = UserCode(requests.session_id, profile, start, merger, host)
    frames = ProgramFrames(requests, user_code, PackagePlaces(profile, start, host))
    ways = Ways(requests, probe, frames, UnmadeVariables(requests, sources, host))
    return Looking(ways, NativeThreads(ways, start, host), merger)


class Looking:
    """What can be known of the program of one session.

    Attributes:
        ways: to what is known of it; for what is not a client's question.
        stop: what is found at a stop.
        threads: with their stacks, and tasks.
        values: of variables and expressions, in the frames of a stop.
        evaluation: of code, and setting variables.
        types: with symbols, references and modules.
        process: from outside, as the system knows it.
    """

    def __init__(self, ways: Ways, native: NativeThreads, merger: Merger) -> None:
        self.ways = ways
        self.stop = StopQuestions(ways)
        self.threads = ProgramThreads(ways, native)
        self.values = FrameValues(ways)
        self.evaluation = UserEvaluation(ways, merger)
        self.types = ProgramTypes(ways)
        self.process = ways.probe.process

    def __repr__(self) -> str:
        return f"<Looking into {self.ways.requests.session_id}>"

    @property
    def is_here(self) -> bool:
        """Whether the program's process is one of this machine."""
        return self.ways.probe.process.is_here

    @property
    def is_python(self) -> bool:
        """Whether it is a program of Python, which answers while it runs, and whose values are written as Python's."""
        return self.ways.has_probe

    @property
    def answers_running(self) -> bool:
        """Whether the program runs, and answers meanwhile what needs no frame."""
        snapshot = self.ways.requests.snapshot
        answers = self.ways.has_probe or self.ways.profile.dialect.running_context is not None
        return answers and snapshot is not None and snapshot.phase == "Running"

    def place(self, thread_id: int | None, index: int | None, task: str | None = None) -> FramePlace:
        """Return a frame of the stop at hand, without a thread of the one that stopped; or of a task, at any time.

        Without an index it is the top frame, of a task the innermost one that is not a library's.

        Raises:
            UsageError: `INVALID_THREAD`, or `INVALID_PARAMETER`: both a thread and a task.
        """
        if task is not None:
            if thread_id is not None:
                raise UsageError("INVALID_PARAMETER", "Pass a task or a thread_id, not both.", {"parameter": "task"})
            return FramePlace(0, index or 0, task, is_own=index is None)
        return FramePlace(self.ways.snapshot.active_thread(thread_id), index or 0)

    async def frame(self, thread_id: int | None, index: int, at: Snapshot | None = None) -> StackFrame:
        """Return a frame of the stop at hand, or of that of an earlier snapshot, to evaluate in it.

        Raises:
            UsageError: `INVALID_THREAD` or `INVALID_FRAME`.
        """
        return await self.ways.frames.find(at or self.ways.snapshot, thread_id, index)

    async def frames(
        self, at: Snapshot, thread_id: int, start: int, count: int, *, anew: bool = False
    ) -> tuple[list[StackFrame], int]:
        """Return frames of a stopped thread, and how many it has. `anew`: the adapter is asked in any case."""
        return await self.ways.frames.fetch(at, thread_id, start, count, anew=anew)

    async def exception(self, bounds: ContextBounds) -> ExceptionContext:
        """Return the exception at the stop at hand, with what is behind it. Raises as `exception_context`."""
        return await exception_context(self.ways, bounds)

    def open_trace(self, question: TraceQuestion) -> AbstractAsyncContextManager[ProgramTrace]:
        """Have the program look for calls of a function, until the block is left. Raises as `call_trace.open_trace`."""
        return open_trace(self.ways, question)
