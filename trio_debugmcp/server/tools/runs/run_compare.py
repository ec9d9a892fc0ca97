"""`run_compare`: where two recorded runs part, and what differed before."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.comparing.run_comparing import RunComparison, compared
from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.server.answers.recorded.run_difference import RunDifference, run_difference
from trio_debugmcp.server.tools.runs.reading_runs import RunPlaces, answered_in_time, unreadable
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.recorded_runs import KeptRun


class RunCompare(Params, frozen=True, kw_only=True):
    good: Annotated[str, Meta(min_length=1, description="The run that is as it should be, from run_list.")]
    bad: Annotated[str, Meta(min_length=1, description="The one that is not.")]


async def _compare(debugger: Debugger, params: RunCompare) -> RunDifference:
    good, bad = debugger.runs.run(params.good), debugger.runs.run(params.bad)
    if good.id == bad.id:
        raise UsageError("INVALID_PARAMETER", f"`good` and `bad` are both {good.id}: name two runs of run_list.")
    return await difference_of(debugger, good, bad)


async def difference_of(debugger: Debugger, good: KeptRun, bad: KeptRun) -> RunDifference:
    """Return where two runs part.

    Raises:
        UsageError: `RUN_NOT_FOUND`: nothing of one can be read; or `TIMEOUT`.
    """

    async def ask() -> object:
        directories = debugger.runs.directories.of(good.id), debugger.runs.directories.of(bad.id)
        is_over = good.ended_at is not None and bad.ended_at is not None
        try:
            with answered_in_time(debugger):
                found, root = await debugger.runs.opened.ask_two(
                    directories, lambda one, other: (compared(one, other), other.facts.root), is_over=is_over
                )
        except (RunFileError, FileNotFoundError) as error:
            raise unreadable(bad, error) from None
        return {"found": msgspec.to_builtins(found), "root": root}

    answer: Any = await debugger.host.find_out(f"{good.id} beside {bad.id}", ask)
    places = RunPlaces(debugger.workspace.directory, answer["root"])
    return run_difference(places, msgspec.convert(answer["found"], RunComparison), good.id, bad.id)


TOOLS = (
    Tool(
        name="run_compare",
        title="Where two runs part",
        description=(
            "Where two recorded runs of a program or test part, such as before and after a change or with two inputs: "
            "the values that differ first, what decided, and what each did then."
        ),
        params=RunCompare,
        run=_compare,
        read_only=True,
        idempotent=True,
        phrase="recorded runs: each write and call, a moment, two compared",
    ),
)
