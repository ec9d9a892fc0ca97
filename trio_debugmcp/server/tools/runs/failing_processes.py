"""`FailureSearch`: in which process of a run an exception was raised that the first one has got from a library.

    failure = FailureSearch(stopped)
    failure.settles(answer)     # of each process in turn: whether it is the one
    failure.elsewhere           # where the first one got it

A pool of processes brings the exception of a worker back: the line that raised it is in the record of the worker.
"""

from trio_debugmcp.runs.why import WhyAnswer
from trio_debugmcp.state.payloads import ExceptionInfo

_MOST_COMPARED = 60
"""Characters of a message: a record shortens long ones."""


class FailureSearch:
    """A search through the answers of the processes to a plain `why`.

    Args:
        stopped: the exception at which the program is stopped, if it is.

    Attributes:
        process: the one whose answer comes next.
        elsewhere: what is to be said of the first one, if another one was found; else empty.
    """

    def __init__(self, stopped: ExceptionInfo | None) -> None:
        self._stopped = stopped
        self._first: tuple[int, WhyAnswer] | None = None
        self.process = 0
        self.elsewhere = ""

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
