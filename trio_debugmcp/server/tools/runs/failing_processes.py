"""`FailureSearch`: in which process of a run an exception was raised that the first one has got from a library.

    failure = FailureSearch(stopped)
    failure.settles(answer)     # of each process in turn: whether it is the one
    failure.elsewhere           # where the first one got it
    failure.cut_off             # the processes that were killed

A pool of processes brings the exception of a worker back: the line that raised it is in the record of the worker.
"""

from collections.abc import Collection

from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.run_moves import cut_off
from trio_debugmcp.runs.why import NoAnswerError, WhyAnswer
from trio_debugmcp.state.payloads import ExceptionInfo

CUT_OFF = "killed, or left by os._exit, as its record has no end"

ENDED = "ended by the debugger"

_MOST_KILLED = 3

_MOST_COMPARED = 60
"""Characters of a message: a record shortens long ones."""


class FailureSearch:
    """A search through the answers of the processes to a plain `why`.

    Args:
        stopped: the exception at which the program is stopped, if it is.
        departed: the processes that have ended though the run has not: what broke a pool is among them.
        is_ended: the debugger has ended the run, and so whatever ran until then.

    Attributes:
        process: the one whose answer comes next.
        elsewhere: what is to be said of the first one, if another one was found; else empty.

    It looks at each process as its answer comes, hence so many methods.
    """

    def __init__(
        self, stopped: ExceptionInfo | None, departed: Collection[int | None] = (), *, is_ended: bool = False
    ) -> None:
        self._stopped = stopped
        self._departed = departed
        self._is_ended = is_ended
        self._first: tuple[int, WhyAnswer] | None = None
        self.process = 0
        self.elsewhere = ""
        self._killed: dict[str, list[str]] = {}

    def look_at(self, record: ProcessRecord, *, is_over: bool) -> None:
        """Take note of the process whose answer comes next, and if it or its run is over, of whether it was killed."""
        self.process = record.facts.pid
        line = cut_off(record) if is_over or self.process in self._departed else 0
        if line:
            site = record.site(record.row(line).key)
            file = record.code(site.code).file.rpartition("/")[2]
            how = ENDED if self._is_ended and self.process not in self._departed else CUT_OFF
            named = f"{self.process} in {file}:{site.line} (why(process={self.process}))"
            self._killed.setdefault(how, []).append(named)

    @property
    def cut_off(self) -> str:
        """What is to be said of processes that were killed; empty: none was."""
        return "; ".join(_listed(how, named) for how, named in self._killed.items())

    def refused(self, error: Exception) -> Exception:
        """Return what none of them has an answer to, with what is to be said of those that were killed."""
        said = self.cut_off
        return NoAnswerError(f"{str(error).rstrip('.')}. {said[:1].upper()}{said[1:]}") if said else error

    def settles(self, answer: WhyAnswer) -> bool:
        """Whether an answer is that of the process that raised the exception."""
        if self._first is None:
            self._first = self.process, answer
            return not answer.is_passed_on if answer.failed else self._stopped is None
        process, first = self._first
        if not answer.failed or answer.is_passed_on or not self._is_same(first.failed, answer.failed):
            return False
        line = next(iter(reversed(first.because)), None)
        place = f" at {line.at}, line {line.line} in {line.function}" if line is not None else ""
        self.elsewhere = f"process {process} got this exception{place}: why(process={process}) is about that"
        return True

    def _is_same(self, first: str, other: str) -> bool:
        if first:
            return first == other
        if self._stopped is None:
            return False
        message = repr(self._stopped.message or "")[1:-1][:_MOST_COMPARED]
        return other.startswith(f"{self._stopped.type.rpartition('.')[2]}(") and message in other


def _listed(how: str, named: list[str]) -> str:
    left = len(named) - _MOST_KILLED
    more = f" and {left} more" if left > 0 else ""
    which = "process" if len(named) == 1 else "processes"
    return f"{how}: {which} {', '.join(named[:_MOST_KILLED])}{more}"
