"""`run_list`: the recorded runs that are kept."""

from collections.abc import Sequence

import msgspec

from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.runs.files.run_facts import RunFacts
from trio_debugmcp.server.answers.recorded.run_lines import KeptRunsData, RunLines, run_line
from trio_debugmcp.server.answers.text import size_text
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.run_room import MAX_KEPT_MB, MAX_RUNS
from trio_debugmcp.state.recorded_runs import KeptRun, run_payload


class RunList(Params, frozen=True, kw_only=True):
    pass


async def _list(debugger: Debugger, params: RunList) -> RunLines:
    runs, store = debugger.runs.runs, debugger.runs
    sizes = [store.directories.size(run.id) for run in runs]
    facts = [await _facts(debugger, run) for run in runs]
    kept = f"{len(runs)} of {MAX_RUNS}, {size_text(sum(sizes))} of {MAX_KEPT_MB} MB" if runs else None
    return RunLines(
        full=KeptRunsData(
            runs=[run_payload(run) for run in runs],
            facts={run.id: found for run, found in zip(runs, facts, strict=True) if found is not None},
        ),
        runs=[run_line(run, size, found) for run, size, found in zip(runs, sizes, facts, strict=True)],
        kept=kept,
        notes=_notes(runs, facts),
    )


async def _facts(debugger: Debugger, run: KeptRun) -> RunFacts | None:
    """Return what is known of a run as a whole; None: nothing of it can be read."""

    async def ask() -> object:
        directory, is_over = debugger.runs.directories.of(run.id), run.ended_at is not None
        try:
            return msgspec.to_builtins(await debugger.runs.opened.facts(directory, is_over=is_over))
        except (RunFileError, OSError):
            return None

    return msgspec.convert(await debugger.host.find_out(f"facts of {run.id}", ask), RunFacts | None)


def _notes(runs: Sequence[KeptRun], facts: Sequence[RunFacts | None]) -> list[str]:
    if not runs:
        return ["no run is recorded: debug_launch(record=true) records one"]
    pairs = [(run, found) for run, found in zip(runs, facts, strict=True) if found is not None]
    return [f"{run.id}: {problem}" for run, found in pairs for problem in found.problems]


TOOLS = (
    Tool(
        name="run_list",
        title="List recorded runs",
        description="The recorded runs, the oldest first: what ran, how it ended, how much is kept.",
        params=RunList,
        run=_list,
        read_only=True,
        idempotent=True,
        phrase="recorded runs: each write and call, a moment, two compared",
    ),
)
