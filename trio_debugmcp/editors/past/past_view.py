"""`PastView`: the moment of a recorded run that an editor shows. Pure."""

from typing import Any

from msgspec import Struct

from trio_debugmcp.editors.numbers import number_of
from trio_debugmcp.runs.past.present_moments import StackPlace
from trio_debugmcp.runs.shown_moments import RunMoment


class PastThread(Struct, frozen=True):
    """The thread through whose past a person steps.

    Attributes:
        run, process: of which record it is.
        stop: the session and the generation of the stop from which its person went back; of a run that has ended, that
            and 0.
        thread: its number, as the editor knows it.
        stack: of the present, the innermost frame first.
    """

    run: str
    process: int | None
    stop: tuple[str, int]
    thread: int
    stack: list[StackPlace]

    @property
    def has_ended(self) -> bool:
        """Whether it is of a run that has ended, so that there is no program that it is the past of."""
        return self.stop[1] == 0


class PastView(Struct, frozen=True):
    """A moment, and of which thread."""

    of: PastThread
    moment: RunMoment


def stopped(view: PastView, reason: str, hits: list[str]) -> dict[str, Any]:
    """Return the body of the event that shows a moment."""
    body: dict[str, Any] = {
        "reason": reason,
        "description": f"Recorded moment #{view.moment.row} of {view.of.run}",
        "threadId": view.of.thread,
        "allThreadsStopped": True,
    }
    return {**body, "hitBreakpointIds": [number_of(each_id) for each_id in hits]} if hits else body
