"""The questions that are answered without running any code of the program, beside those about a stop.

What evaluates is compiled only in programs that are asked.
"""

from typing import Any

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.question import ProbeQuestion, UnknownError
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.visible_frames import Json


def safe(asked: ProbeQuestion) -> Json:
    """What an expression stands for, evaluated without running code of the program."""
    from trio_debugmcp.probe.inside.safe import readable, walk

    frame = asked.place().frame if asked.has_place else None
    try:
        names = (visible_frames.main_globals(), walk.builtin_names()) if frame is None else walk.names_of(frame)
        value = walk.value(asked.text("expression"), names)
    except readable.RejectedError as error:
        raise UnknownError("rejected", error.rule) from None
    answer = visible_frames.variable_json(asked.text("expression"), value, None, asked.renderer)
    answer["type"] = facts.type_name(type(value))
    return answer


def operands(asked: ProbeQuestion) -> Json:
    """The values of the operands of an assertion, as far as they are read without running code of the program."""
    from trio_debugmcp.probe.inside.safe import asserted_values, readable, walk

    def show(source: str, value: Any) -> Json:
        return visible_frames.variable_json(source, value, None, asked.renderer)

    wanted = asked.parameters.get("wanted") or []
    try:
        names = walk.names_of(asked.frame(asked.thread()).frame)
        found = asserted_values.values(wanted, names, asked.number("count", 10), show)
    except readable.RejectedError as error:
        raise UnknownError("rejected", error.rule) from None
    return {"variables": found, "total": len(found)}
