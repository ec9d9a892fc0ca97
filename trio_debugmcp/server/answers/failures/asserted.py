"""What an assertion that failed is about: its operands, with their values."""

import trio
from msgspec.structs import replace

from trio_debugmcp.errors import DebugError
from trio_debugmcp.server.answers import values
from trio_debugmcp.server.answers.stop_answer import StopAnswer, with_data
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.state.model import Snapshot

MAX_OPERANDS = 8

_BYTES = 1200
"""JSON bytes of operands: with what pytest says of them the answer is at most 1.5 KB longer."""

SECONDS = 1.0
"""For the operands: the probe takes milliseconds."""


async def with_operands(debugger: Debugger, answer: StopAnswer, snapshot: Snapshot) -> StopAnswer:
    """Return the answer about a stop where an assertion failed with its operands, but for locals, which it has."""
    stop = snapshot.stop
    if stop is None or stop.exception is None or not stop.exception.type.endswith("AssertionError"):
        return answer
    place = stop.location
    if place is None or place.file is None or place.line is None:
        return answer
    with trio.move_on_after(debugger.patience.seconds(SECONDS)):
        try:
            session = debugger.session(snapshot.id)
            text = debugger.sources.running(place.file, snapshot.origin.attached_at, debugger.host).text
            wanted = session.profile.code.operands(text, place.line)
            frame = FramePlace(snapshot.stack.thread_id or 0)
            found = await session.looking.values.operands(frame, wanted, MAX_OPERANDS)
        except (
            DebugError
        ):  # the program has been resumed, or its source may not be read: the stop is answered all the same
            return answer
        found = [operand for operand in found if operand.name not in answer.locals]
        _, count = values.fitting(found, _BYTES)
        shown = {operand.name: values.rendered(operand.value, operand.type) for operand in found[:count]}
        return replace(with_data(answer, operands=found[:count]), operands=shown)
    return answer
