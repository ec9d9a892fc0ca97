"""The tools about the debugged program's standard streams."""

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.text import STREAMS, in_order
from trio_debugmcp.server.tools.tool import Params, SessionId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import OutputEntry, truncated

_INSIDE = 2**38
"""A cursor is the number of an entry, plus this times the characters of it that have been read. An entry is at most
16 KiB long, so a cursor is an integer that JavaScript can hold."""


_OPEN_LINE = "no newline at the end of `data`: a program that reads a line still waits for it"


class ProcessReadOutput(Params, frozen=True, kw_only=True):
    stream: Annotated[
        Literal["both", "stdout", "stderr", "log", "console", "tracepoint"],
        Meta(description="Which; `both`: all."),
    ] = "both"
    since_seq: Annotated[int, Meta(ge=0, description="Only entries from this number on: an earlier `nextSeq`.")] = 0
    max_bytes: Annotated[int, Meta(ge=1, le=10_000_000, description="Bytes of text after which the answer ends.")] = (
        16384
    )
    until_seq: Annotated[int | None, Meta(description="Only entries before this number.")] = None
    session_id: SessionId = None


class ProcessWriteInput(Params, frozen=True, kw_only=True):
    data: Annotated[str, Meta(description="Text for the program's standard input; a line ends with a newline.")]
    close_after: Annotated[bool, Meta(description="Close the input afterwards: the program reads its end.")] = False
    session_id: SessionId = None


class OutputData(AnswerData, frozen=True, kw_only=True):
    """Output, entry by entry, as in `debugger://output`."""

    entries: list[OutputEntry]
    next_seq: int
    dropped: int


class OutputAnswer(Answer, frozen=True, kw_only=True):
    """Output, oldest first, each piece by its stream. `nextSeq`: ask from here next time.

    `dropped`: pieces from the cursor on that were too old to be kept.
    """

    full: OutputData | None = None
    entries: list[dict[str, str]]
    next_seq: int
    dropped: int = 0


class Written(Answer, frozen=True, kw_only=True):
    """What became of the input."""

    bytes_written: int
    stdin_closed: bool = False
    notes: list[str] = []


async def _read_output(debugger: Debugger, params: ProcessReadOutput) -> OutputAnswer:
    await debugger.console.settle()
    next_seq = debugger.console.next_seq
    position, seq = divmod(params.since_seq, _INSIDE)
    dropped = max(0, debugger.console.dropped + 1 - max(seq, 1))  # the oldest, whose numbers began with 1
    wanted = [
        replace(entry, text=entry.text[position:]) if entry.seq == seq else entry
        for entry in debugger.console.entries(seq)
        if params.stream in ("both", entry.stream, STREAMS.get(entry.stream))
        and (params.until_seq is None or entry.seq < params.until_seq)
    ]
    if params.until_seq is not None:
        next_seq = min(next_seq, params.until_seq)
    if not wanted or len(wanted[0].text.encode()) <= params.max_bytes:
        kept = truncated(wanted, params.max_bytes)
        if len(kept) < len(wanted):
            next_seq = wanted[len(kept)].seq
        return _output(kept, next_seq, dropped)
    first = wanted[0]
    # Whole characters, and at least one, so that a reader can page on.
    text = first.text.encode()[: params.max_bytes].decode(errors="ignore") or first.text[:1]
    read = len(text) + (position if first.seq == seq else 0)
    return _output([replace(first, text=text)], first.seq + read * _INSIDE, dropped)


def _output(entries: list[OutputEntry], next_seq: int, dropped: int) -> OutputAnswer:
    full = OutputData(entries=entries, next_seq=next_seq, dropped=dropped)
    return OutputAnswer(full=full, entries=in_order(entries), next_seq=next_seq, dropped=dropped)


async def _write_input(debugger: Debugger, params: ProcessWriteInput) -> Written:
    debugger.session()
    written = await debugger.console.input.write(params.data, close_after=params.close_after)
    open_line = params.data != "" and not params.data.endswith("\n") and not params.close_after
    return Written(bytes_written=written, stdin_closed=params.close_after, notes=[_OPEN_LINE] if open_line else [])


TOOLS = (
    Tool(
        name="process_read_output",
        title="Read program output",
        description=("The program's output, from a cursor on; also after its end. Stops show what is new already."),
        params=ProcessReadOutput,
        run=_read_output,
        read_only=True,
        idempotent=True,
        unlisted=frozenset({"max_bytes", "until_seq"}),
    ),
    Tool(
        name="process_write_input",
        title="Write program input",
        description=("Write to the program's standard input."),
        params=ProcessWriteInput,
        run=_write_input,
        open_world=True,
    ),
)
