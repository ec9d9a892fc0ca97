"""Members of an enum that are one: `LOST = 3` behind `SENT = 3` is another name of `State.SENT`."""

import re
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode

_MEMBER = re.compile(r"<(?P<enum>\w+)\.(?P<name>\w+): ")


def enum_alias(past: PastProcess, value: RecordedValue, label: str) -> Iterator[SliceEdge]:
    """Yield the line in the body of an enum that has made an attribute another name of the member that it is."""
    member, name = _MEMBER.match(value.text), label[1:]
    key = past.record.key_of(name) if member is not None and member["name"] != name else 0
    if member is None or not key or label[:1] != ".":
        return
    for frame in past.scopes.frames(list(past.scopes.classes(member["enum"])))[-1:]:
        written = past.record.back(rows.WRITE, key, frame, past.record.last + 1)
        if written:
            note = f"{name} is another name of {member['name']}"
            yield SliceEdge(cost.WANTED, SliceNode(past.record.row(written).owner), note)
