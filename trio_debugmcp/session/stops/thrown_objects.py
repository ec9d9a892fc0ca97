"""`ThrownObjects`: the objects that are thrown, where the debugger can look at them: Java's.

The adapter stops at each place that throws an object, also at the end of a `finally` that only passes it on. And of
what is thrown it knows less than the object itself does: its message, and where it was made.
"""

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.session.looking.by_probe.own_questions import looked_at
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.raised import Raised
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, ExceptionInfo, shortened


class _SeenObject(Struct, frozen=True):
    """Where a thread has stopped at an object; `depth` is the height of the stack there."""

    identity: str
    info: ExceptionInfo
    depth: int
    line: int | None


class ThrownObjects:
    """What was thrown at the stops of one session, by the threads."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._last: dict[int, _SeenObject] = {}

    def __repr__(self) -> str:
        return f"<ThrownObjects in {len(self._last)} threads>"

    async def completed(self, raised: Raised, found: Findings) -> Raised:
        """Return what is raised with what its object says; it does not count if it is only passed on.

        One that something catches at the last stop, and nothing here, counts.
        """
        top = found.top
        if not raised.counts or top is None:
            return raised
        info, ends = raised.info, raised.fails_test or raised.info.break_mode == "unhandled"
        seen = await looked_at(self._requests, self._requests.profile.thrown.object(info.type, ends=ends), top.id)
        if seen is None:
            return raised
        this = _SeenObject(seen.identity, info, found.total or len(found.frames), top.location.line)
        last, self._last[found.thread_id] = self._last.get(found.thread_id), this
        if last is not None and _is_passed_on(last, this):
            return replace(raised, counts=False)
        own = next(((frame.label, frame.location.line) for frame in found.frames if frame.is_user_code), None)
        if seen.made is not None and seen.made != own:
            function, line = seen.made
            remark = f"the exception was made in {function} ({seen.made_in}:{line}), and is passed on here"
            raised = replace(raised, remarks=(*raised.remarks, remark))
        if info.message is None and seen.message:
            info = replace(info, message=shortened(seen.message, MAX_MESSAGE_LENGTH))
        return replace(raised, info=info)


def _is_passed_on(last: _SeenObject, this: _SeenObject) -> bool:
    """Whether a stop is at the same object further out, or in another line: thrown anew it begins in the same again."""
    if (last.identity, last.info) != (this.identity, this.info) or this.depth > last.depth:
        return False
    return this.depth < last.depth or this.line != last.line
