"""Errors and notes about a program that is not paused, or not there: what works meanwhile, and what to do."""

from collections.abc import Sequence

from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.model import Snapshot

WORKS_MEANWHILE = (
    'stacktrace_get with thread_id "*" and locals, evaluate in the main module, threads_list and tasks_list work '
    "without a pause"
)
"""What to ask a Python program that runs, or waits and so cannot be paused."""


def not_paused(snapshot: Snapshot | None, *, probe: bool = False) -> UsageError:
    """Return the `NOT_PAUSED` error of what needs a paused program. `probe`: it answers some questions all the same."""
    if snapshot is not None and snapshot.lost is not None:
        return out_of_reach(snapshot, snapshot.lost)
    phase = snapshot.phase if snapshot is not None else "Disconnected"
    meanwhile = f" Meanwhile {WORKS_MEANWHILE}." if probe and phase == "Running" else ""
    return UsageError(
        "NOT_PAUSED",
        f"The program is not paused (it is {phase}). Use debug_pause to stop it now, or debug_wait to wait for a "
        f"breakpoint.{meanwhile}",
        {"currentState": phase},
    )


def out_of_reach(snapshot: Snapshot, reason: str) -> UsageError:
    """Return the `NOT_PAUSED` error of what needs a program that has left its debugger."""
    sentence = f"The program is out of reach: {reason}. {OUT_OF_REACH}."
    return UsageError("NOT_PAUSED", sentence, {"currentState": snapshot.phase})


OUT_OF_REACH = (
    "What it became is another session if it runs Python and dialed in (debug_state); else it runs on without the "
    "debugger, and debug_disconnect or debug_restart ends it"
)
"""What to do about a program that has left its debugger."""


def phase_notes(snapshot: Snapshot) -> list[str]:
    """Return notes on a program that starts, ends, or is out of reach."""
    notes = [f"the program is {snapshot.phase.lower()}"] if snapshot.phase in ("Starting", "Terminating") else []
    return notes if snapshot.lost is None else [*notes, f"out of reach: {snapshot.lost}. {OUT_OF_REACH}"]


def only_listens(snapshot: Snapshot, programs: Sequence[Snapshot]) -> UsageError:
    """Return the `NOT_PAUSED` error of what needs a program, in a session that waits for programs to dial in."""
    where = f"Session {snapshot.id} only listens at {snapshot.origin.process_name}"
    if programs:
        known = ", ".join(program.id for program in programs)
        advice = f"; each program that has dialed in is a session of its own. Pass session_id, one of {known}."
    else:
        advice = f", and {_programs_missing(snapshot)}. {DIAL_IN}, and wait for the first stop with debug_wait."
    return UsageError("NOT_PAUSED", where + advice, {"currentState": snapshot.phase})


DIAL_IN = "Run the line of Python that debug_listen returned in the program"


def listening_note(snapshot: Snapshot) -> str:
    """Return a note on a wait that has ended while no program is connected to a session that listens."""
    return f"{_programs_missing(snapshot)} at {snapshot.origin.process_name}. {DIAL_IN}; debug_wait waits for it"


def _programs_missing(snapshot: Snapshot) -> str:
    if not snapshot.dialed_in:
        return "no program has dialed in yet"
    return f"no program is connected now ({snapshot.dialed_in} had dialed in)"
