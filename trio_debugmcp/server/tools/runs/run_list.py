"""`run_list`: the recorded runs that are kept."""

from trio_debugmcp.server.answers.run_lines import KeptRunsData, RunLines, run_line
from trio_debugmcp.server.answers.text import size_text
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.run_store import MAX_KEPT_MB, MAX_RUNS
from trio_debugmcp.state.recorded_runs import run_payload


class RunList(Params, frozen=True, kw_only=True):
    pass


async def _list(debugger: Debugger, params: RunList) -> RunLines:
    runs, store = debugger.runs.runs, debugger.runs
    sizes = [store.size(run) for run in runs]
    kept = f"{len(runs)} of {MAX_RUNS}, {size_text(sum(sizes))} of {MAX_KEPT_MB} MB" if runs else None
    return RunLines(
        full=KeptRunsData(runs=[run_payload(run) for run in runs]),
        runs=[run_line(run, size) for run, size in zip(runs, sizes, strict=True)],
        kept=kept,
        notes=[] if runs else ["no run is recorded: debug_launch(record=true) records one"],
    )


TOOLS = (
    Tool(
        name="run_list",
        title="List recorded runs",
        description="The recorded runs, the oldest first: what ran, how it ended, how much is kept.",
        params=RunList,
        run=_list,
        read_only=True,
        idempotent=True,
    ),
)
