"""`Evaluations`: what the adapter of one session evaluates, while a client waits for it and when none does any more.

    evaluations.keep(evaluation)        # no caller waits for it; what is asked of its thread does
    evaluations.unfinished              # the first one at this stop that has not ended

Pure: `session/looking/by_adapter/adapter_evaluation.py` sends and interrupts them.
"""

import re
from collections.abc import Callable

_READS_INPUT = re.compile(r"\binput\(|stdin|readline")


class UnfinishedEvaluation:
    """An evaluation that a caller no longer waits for. `end` is called when the adapter answers it after all."""

    def __init__(self, expression: str, generation: int | None) -> None:
        self.expression = expression
        self.generation = generation
        self.ended = False

    def end(self) -> None:
        """Note that it has ended."""
        self.ended = True

    @property
    def remedy(self) -> str:
        """A sentence that says what ends it."""
        if _READS_INPUT.search(self.expression):
            return "If it waits for the program's input, write that with process_write_input; else use debug_restart."
        return "It may never end by itself; debug_restart ends it."


class Evaluations:
    """The evaluations of one session; `generation` is the number of the stop at hand.

    Attributes:
        awaited: how many a client waits for.
        interrupts: how often those of the program were interrupted.
        each_is_answered: when it ends, which only our engine does; then what else is answered says nothing of it.
    """

    def __init__(self, generation: Callable[[], int | None]) -> None:
        self.awaited = 0
        self.interrupts = 0
        self.each_is_answered = False
        self._generation = generation
        self._unfinished: list[UnfinishedEvaluation] = []

    def __repr__(self) -> str:
        return f"<Evaluations: {self.awaited} awaited, unfinished={[each.expression for each in self._unfinished]}>"

    def begun(self, expression: str) -> UnfinishedEvaluation:
        """Return an evaluation that is about to be sent, of the stop at hand."""
        return UnfinishedEvaluation(expression, self._generation())

    @property
    def unfinished(self) -> UnfinishedEvaluation | None:
        """The first one at this stop that did not end in time; what is asked of its thread waits for it."""
        generation = self._generation()
        self._unfinished = [
            evaluation
            for evaluation in self._unfinished
            if not evaluation.ended and evaluation.generation == generation
        ]
        return self._unfinished[0] if self._unfinished else None

    def keep(self, evaluation: UnfinishedEvaluation) -> None:
        """Keep one for which no caller waits, until its answer comes."""
        self._unfinished.append(evaluation)

    def forget(self) -> None:
        """Note that every one has ended, as its thread answers again; but not where each is answered itself."""
        if not self.each_is_answered:
            self._unfinished.clear()
