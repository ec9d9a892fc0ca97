"""`UnfinishedStep`: a step that a stop has cut short which no client is to see.

An adapter forgets a step when it stops for something else, at a breakpoint whose condition does not hold for example.
To resume from there with `continue` would lose the step; so it is taken to its end by further steps. So is a step into
a library's function, for an adapter that steps into these as well: out of it, and into the next that the line calls.

    step = unfinished_step("next", snapshot, thread_id)     # when it begins
    command = step.next_command(found)                      # at a stop in between; None: it ends there
"""

from msgspec import Struct

from trio_debugmcp.session.looking.frames import CAPTURED_FRAMES
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.state.model import Snapshot

CUT_SHORT = "the step was cut short here, at something that does not stop, and cannot be taken further"


class UnfinishedStep(Struct, frozen=True):
    """A step: its thread, the height of the stack where it began, and the line of that frame.

    `is_cut`: where the adapter ends it is not yet its end, or need not be.
    """

    command: str
    thread_id: int
    depth: int | None = None
    line: int | None = None
    is_cut: bool = False

    def knows(self, found: Findings) -> bool:
        """Whether it is known at a stop how far the step is to go."""
        return self.depth is not None and found.thread_id == self.thread_id and _depth(found) is not None

    def next_command(self, found: Findings) -> str | None:
        """Return the request that takes it further; None if it ends at this stop."""
        depth = _depth(found)
        if self.depth is None or depth is None or found.thread_id != self.thread_id or found.top is None:
            return None
        if self.command == "stepIn" and (depth > self.depth or not found.top.is_user_code):
            return None if found.top.is_user_code else "stepOut"
        if depth > self.depth - (self.command == "stepOut"):
            return "stepOut"
        if depth != self.depth or found.top.location.line != self.line:
            return None
        # Back in the line of the call, of which the rest is still to run.
        return "stepIn" if self.command == "stepIn" else "next"


def unfinished_step(
    command: str, snapshot: Snapshot, thread_id: int, *, enters_libraries: bool = False
) -> UnfinishedStep | None:
    """Return a step that begins at a stop; None for one that may end anywhere.

    `enters_libraries`: the adapter ends a step into a function in that of a library, too.
    """
    stack = snapshot.stack
    if command == "stepIn" and not (enters_libraries and stack.frames and stack.frames[0].is_user_code):
        return None
    if command not in ("next", "stepOut", "stepIn"):
        return None
    if stack.thread_id != thread_id or not stack.frames:
        return UnfinishedStep(command, thread_id)
    line = stack.frames[0].location.line if not stack.skipped else None
    sent = len(stack.frames) + stack.skipped
    depth = sent if sent < CAPTURED_FRAMES else stack.total + stack.skipped
    return UnfinishedStep(command, thread_id, depth, line, is_cut=command == "stepIn")


def _depth(found: Findings) -> int | None:
    """Return the height of a stack; None if it is not known. lldb only estimates it, and sends the frames there are."""
    return len(found.frames) if len(found.frames) < CAPTURED_FRAMES else found.total
