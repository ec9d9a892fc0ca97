"""What is known of a recorded run as a whole: its processes, how much they did, and what is missing."""

from pathlib import Path

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import open_run
from trio_debugmcp.runs.files.record_facts import RecordFacts
from trio_debugmcp.runs.files.row_search import counts

_MOST_CODE = 40
"""Characters of the code of `python -c`."""


class RunFacts(msgspec.Struct, frozen=True):
    """A run as a whole.

    Attributes:
        pids: its processes, the launched one first.
        events: how many rows were written; `dropped` of them are not kept.
        lines: how many statements ran.
        problems: what ended a recording before its program, and faults of the recorder.
        programs: what each of the processes ran, as `-m pytest`, `fork of 4711`, or the name of its file.
    """

    pids: list[int]
    events: int
    lines: int
    dropped: int
    problems: list[str]
    programs: list[str] = []  # recordings of sessions from before this was known have none


def facts_of_run(directory: str) -> RunFacts:
    """Return what is known of a run.

    Raises:
        RunFileError: nothing of it can be read.
    """
    processes = open_run(Path(directory)).processes
    problems = []
    for record in processes:
        facts = record.facts
        if facts.ended not in (None, "exit", "asked", "fork", "ended"):
            problems.append(f"process {facts.pid}: the recording has ended early: {facts.ended}")
        if facts.faults:
            faults = f"{facts.faults} faults of the recorder, the first: {facts.first_fault}"
            problems.append(f"process {facts.pid}: {faults}")
    return RunFacts(
        pids=[record.facts.pid for record in processes],
        events=sum(record.last for record in processes),
        lines=sum(len(counts(record, rows.LINE)) for record in processes),
        dropped=sum(record.first - 1 for record in processes),
        problems=problems,
        programs=[_program(record.facts) for record in processes],
    )


def _program(facts: RecordFacts) -> str:
    """Return what a process ran: its arguments are left out, as they may hold secrets."""
    if facts.parent is not None:
        return f"fork of {facts.parent[0]}"
    words = facts.argv
    for position, word in enumerate(words[1:], 1):
        if word == "-m":
            return " ".join(words[position : position + 2])
        if word == "-c":
            code = " ".join(" ".join(words[position + 1 : position + 2]).split())
            return f"-c {code[:_MOST_CODE]}{'…' if len(code) > _MOST_CODE else ''}"
        if not word.startswith("-") and words[position - 1] not in ("-X", "-W"):
            return Path(word).name
    return "python"
