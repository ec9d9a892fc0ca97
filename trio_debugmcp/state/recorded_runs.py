"""Recorded runs as the state has them: what ran, whether it still does, and how much is kept. Pure.

They outlive their sessions, so `debugger://runs` can be read without one. What happened in a run is in its files.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.state.payloads import Payload, UnixTime, iso_time, signal_name

RUNS = "debugger://runs"
RUNS_NAME = "Recorded Runs"
RUNS_DESCRIPTION = "The runs that were recorded, the oldest first: what ran, how it ended, and what its files take"


class KeptRun(Struct, frozen=True, kw_only=True):
    """A run whose files are kept.

    `what`: the program or test, as it was asked for. `ended_at`: when its recording was over. `exit_code` is that of
    the program, if its end was recorded and the code is known; `killed`: the debugger ended it. `size`: bytes of its
    files, at its end.
    """

    id: str
    session_id: str
    what: str
    begun_at: UnixTime
    max_mb: int
    ended_at: UnixTime | None = None
    program_ended: bool = False
    exit_code: int | None = None
    killed: bool = False
    size: int = 0


class KeptRunPayload(Payload, frozen=True):
    """A recorded run; `exitCode` is null where it is not known, and `bytes` while it is recorded."""

    id: str
    state: Literal["Recording", "Recorded"]
    what: str
    session: str
    begun_at: str
    ended_at: str | None
    exit_code: int | None
    signal: str | None
    killed: bool
    bytes: int | None


class KeptRunsPayload(Payload, frozen=True):
    """`debugger://runs`: the runs that are kept, the oldest first."""

    runs: list[KeptRunPayload]
    count: int
    revision: int


def with_run(runs: tuple[KeptRun, ...], run: KeptRun) -> tuple[KeptRun, ...]:
    """Return the runs with a new one, or with what has become of one."""
    if any(kept.id == run.id for kept in runs):
        return tuple(run if kept.id == run.id else kept for kept in runs)
    return (*runs, run)


def after_session(
    runs: tuple[KeptRun, ...], session_id: str, exit_code: int | None, *, killed: bool
) -> tuple[KeptRun, ...]:
    """Return the runs after the end of a session; the same object if none is of it."""
    if not any(run.session_id == session_id and run.ended_at is None for run in runs):
        return runs

    def ended(run: KeptRun) -> KeptRun:
        is_over = run.session_id != session_id or run.ended_at is not None  # a piece ends before its program
        return run if is_over else replace(run, program_ended=True, exit_code=exit_code, killed=killed)

    return tuple(ended(run) for run in runs)


def runs_payload(runs: tuple[KeptRun, ...], revision: int) -> KeptRunsPayload:
    """The payload of `debugger://runs`."""
    return KeptRunsPayload([run_payload(run) for run in runs], len(runs), revision)


def run_payload(run: KeptRun) -> KeptRunPayload:
    """A run as clients see it in lists."""
    is_over = run.ended_at is not None
    signal = signal_name(run.exit_code)
    return KeptRunPayload(
        id=run.id,
        state="Recorded" if is_over else "Recording",
        what=run.what,
        session=run.session_id,
        begun_at=iso_time(run.begun_at),
        ended_at=None if run.ended_at is None else iso_time(run.ended_at),
        exit_code=run.exit_code,
        signal=signal if isinstance(signal, str) else None,
        killed=run.killed,
        bytes=run.size if is_over else None,
    )
