"""`debugger://processor`: the processor time of each process, for who looks on while programs run.

    processor_payload(debugger)    # twice, and the differences say how much of a processor each has used

It is read from the system: the programs are not asked, and it costs them nothing. No client is notified of it, as it
changes all the time.
"""

import trio

from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import Payload

PROCESSOR = "debugger://processor"

MOST_PROCESSES = 500
"""More than a person looks at; each costs a look at a file."""


class ProcessTime(Payload, frozen=True):
    """The seconds of processor time that a process has used; null where that is not known: it runs elsewhere, say."""

    session_id: str
    seconds: float | None


class ProcessorPayload(Payload, frozen=True):
    """Processor times, and `at` how many seconds of a clock of the server's they are so; so many are left out."""

    at: float
    processes: list[ProcessTime]
    processes_left_out: int


def processor_payload(debugger: Debugger) -> ProcessorPayload:
    """Return the processor time that each process has used so far."""
    sessions = debugger.living_sessions()
    times = [ProcessTime(session.id, session.looking.process.used()) for session in sessions[:MOST_PROCESSES]]
    return ProcessorPayload(trio.current_time(), times, max(0, len(sessions) - MOST_PROCESSES))
