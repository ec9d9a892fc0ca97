"""Recorded runs in answers: a line for each, and as data."""

from itertools import zip_longest

from trio_debugmcp.runs.files.run_facts import RunFacts
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.text import size_text
from trio_debugmcp.state.payloads import signal_name
from trio_debugmcp.state.recorded_runs import KeptRun, KeptRunPayload


class KeptRunsData(AnswerData, frozen=True, kw_only=True):
    """The runs, as in `debugger://runs`. `facts`: of those of which something was recorded, by their ids."""

    runs: list[KeptRunPayload]
    facts: dict[str, RunFacts]


class RunLines(Answer, frozen=True, kw_only=True):
    """A line each, the oldest first: what ran, how it ended, how much it did, and the size of its files.

    `kept`: what all take, and may take at most.
    """

    full: KeptRunsData | None = None
    runs: list[str]
    kept: str | None = None
    notes: list[str] = []


class RecordedPiece(Answer, frozen=True, kw_only=True):
    """The run whose recording has begun, or has ended, then with its size."""

    run: str
    state: str
    size: str | None = None
    notes: list[str] = []


def run_line(run: KeptRun, size: int, facts: RunFacts | None) -> str:
    """Return a run as a line: `run-1 test test_a.py::test_b: exit code 1, 8,123 events of 45 lines, 1.2 MB`."""
    if facts is None:
        return f"{run.id} {run.what}: {_end(run)}, nothing was recorded"
    parts = [_end(run), f"{facts.events:,} events of {facts.lines:,} lines"]
    parts += [f"the first {facts.dropped:,} are not kept"] if facts.dropped else []
    programs = zip_longest(facts.pids, facts.programs)
    processes = [f"{pid} ({program})" if program else str(pid) for pid, program in programs]
    parts += [f"processes {', '.join(processes)}"] if len(processes) > 1 else []
    return f"{run.id} {run.what}: {', '.join([*parts, size_text(size)])}"


def _end(run: KeptRun) -> str:
    """Return how a run ended."""
    signal = signal_name(run.exit_code)
    if not run.program_ended:
        return "is being recorded" if run.ended_at is None else "recorded"
    if run.killed:
        return "ended by the debugger"
    if isinstance(signal, str):
        return f"ended by {signal}"
    return "ended" if run.exit_code is None else f"exit code {run.exit_code}"
