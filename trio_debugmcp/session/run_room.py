"""How many recorded runs are kept, and which go for another one: the last `MAX_RUNS`, in at most `MAX_KEPT_MB`.

A run that is being recorded counts with what it may take, one that is over with what it takes. Pure.
"""

from collections.abc import Iterable, Sequence

from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.recorded_runs import KeptRun

MAX_RUNS = 8
"""One and the one before it are compared; a hunt keeps two. More are hard to tell apart."""

MAX_KEPT_MB = 2048
"""Of all runs together: eight of the usual 256 MB."""

MB = 1_000_000


def check_room(recorded: Sequence[KeptRun], max_mb: int) -> None:
    """Check that there is room for a run beside those that are being recorded, or are about to be.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    taken = sum(run.max_mb for run in recorded)
    if len(recorded) < MAX_RUNS and taken + max_mb <= MAX_KEPT_MB:
        return
    sessions = ", ".join(run.session_id for run in recorded)
    raise UsageError(
        "INVALID_PARAMETER",
        f"{len(recorded)} runs are being recorded (sessions {sessions}), which may take {taken} MB; all together "
        f"may be {MAX_RUNS}, and take {MAX_KEPT_MB} MB. End one with debug_disconnect, or pass a smaller max_mb.",
    )


def without_room(runs: Sequence[KeptRun], recorded: Iterable[KeptRun], max_mb: int) -> list[KeptRun]:
    """Return the runs that go for one that may take so much: the oldest that are not being recorded."""
    living = {run.id for run in recorded}
    kept, gone = list(runs), []
    for run in runs:
        taken = sum(other.max_mb * MB if other.id in living else other.size for other in kept)
        if len(kept) < MAX_RUNS and taken <= (MAX_KEPT_MB - max_mb) * MB:
            break
        if run.id not in living:
            kept.remove(run)
            gone.append(run)
    return gone
