"""`source_get`: the text of the files that a program is known to consist of, also after its end."""

from typing import Annotated

from msgspec import Meta, Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.histories.line_histories import line_counts
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.paths import source_path
from trio_debugmcp.server.tools.runs.reading_runs import RunQuestion, asked, recorded_file
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, MaxResultBytes, SessionId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.source_text import source_text
from trio_debugmcp.source_lines import source_lines
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import SourceLine, json_size, truncated

_HEAD_BYTES = 100
"""Of an answer around its lines and the file's name."""


class SourceGet(RunQuestion, frozen=True, kw_only=True):
    file: Annotated[str, Meta(min_length=1, description="A file of the program, as frames and breakpoints name it.")]
    start_line: Annotated[int, Meta(ge=1, description="The first line.")] = 1
    end_line: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The last line; default: the end.")] = None
    run: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="A recorded run: the text that ran, with how often each line did."),
    ] = None
    max_result_bytes: MaxResultBytes = MAX_RESULT_BYTES
    session_id: SessionId = None


class SourceData(AnswerData, frozen=True, kw_only=True):
    """Lines of a file of `total`. `changed`: as in words. `counts`: of a run, how often lines ran, by their numbers."""

    file: str
    lines: list[SourceLine]
    total: int
    changed: bool
    counts: dict[int, int] = {}


class SourceAnswer(Answer, frozen=True, kw_only=True):
    """Numbered lines of a file. `total`: how many it has, where some were left out; ask with `start_line`.

    `changed`: of a program that has ended, the file has another text now than when that began. Of a run each line has
    how often it ran before its text: `24 3| total += price`.
    """

    full: SourceData | None = None
    file: str
    lines: list[str]
    total: int | None = None
    changed: bool = False


class _RanSource(Struct, frozen=True):
    """A file as it was when it ran, and how often each of its lines did."""

    file: str
    text: str
    counts: dict[int, int]


async def _of_run(debugger: Debugger, params: SourceGet) -> SourceAnswer:
    resolved = debugger.workspace.resolve(params.file)

    def work(record: ProcessRecord) -> _RanSource:
        file = recorded_file(record, params.file, resolved)
        texts = (record.source(code.number) for code in record.codes if code.file == file)
        text = next((text for text in texts if text is not None), None)
        if text is None:
            raise UsageError("INVALID_PATH", f"The text of '{params.file}' was not kept with the run: read the file.")
        return _RanSource(file, text, line_counts(record, file))

    found, _, places, _ = await asked(debugger, params, _RanSource, work)
    lines, counts = source_lines(found.text), found.counts
    last = _last_line(params, found.file, lines)
    name = places.file(found.file)
    wanted = range(params.start_line, last + 1)
    numbered = (f"{number} {counts.get(number, '')}| {lines[number - 1]}" for number in wanted)
    kept = truncated(numbered, params.max_result_bytes - json_size(name) - _HEAD_BYTES)
    shown = range(params.start_line, params.start_line + len(kept))
    data = [SourceLine(number, lines[number - 1], False) for number in shown]
    ran = {number: counts[number] for number in shown if number in counts}
    full = SourceData(file=found.file, lines=data, total=len(lines), changed=False, counts=ran)
    return SourceAnswer(full=full, file=name, lines=kept, total=len(lines) if len(kept) < len(lines) else None)


async def _source(debugger: Debugger, params: SourceGet) -> SourceAnswer:
    if params.run is not None:
        return await _of_run(debugger, params)
    ended = debugger.programs.at_hand.ended()
    path = source_path(debugger, params.file)
    if ended is None or path not in debugger.programs.known_sources():
        debugger.session(params.session_id)  # raises where there is none
    lines = source_lines(await source_text(debugger, path))
    last = _last_line(params, path, lines)
    name = Places(debugger.workspace.directory).file(path)
    numbered = (f"{number} {lines[number - 1]}" for number in range(params.start_line, last + 1))
    kept = truncated(numbered, params.max_result_bytes - json_size(name) - _HEAD_BYTES)
    changed = ended is not None and _is_changed(debugger, path, ended)
    shown = range(params.start_line, params.start_line + len(kept))
    data = [SourceLine(number, lines[number - 1], False) for number in shown]
    full = SourceData(file=path, lines=data, total=len(lines), changed=changed)
    return SourceAnswer(
        full=full, file=name, lines=kept, total=len(lines) if len(kept) < len(lines) else None, changed=changed
    )


def _last_line(params: SourceGet, path: str, lines: list[str]) -> int:
    """Return the last line that is wanted.

    Raises:
        UsageError: `INVALID_PARAMETER`: there are no such lines.
    """
    if params.end_line is not None and params.end_line < params.start_line:
        raise UsageError(
            "INVALID_PARAMETER",
            f"end_line {params.end_line} is before start_line {params.start_line}: pass the first and the last line.",
        )
    if params.start_line > max(len(lines), 1):
        raise UsageError(
            "INVALID_PARAMETER",
            f"'{path}' has lines 1 to {len(lines)}; line {params.start_line} is not one of them.",
        )
    return min(params.end_line or len(lines), len(lines))


def _is_changed(debugger: Debugger, path: str, ended: Snapshot) -> bool:
    try:
        return debugger.sources.running(path, ended.origin.attached_at, debugger.host).edited
    except UsageError:  # only its adapter had the text, as far as it is known
        return False


TOOLS = (
    Tool(
        name="source_get",
        title="Source",
        description=(
            "Lines of a source file of the program, numbered; also after its end. With `run`: how often each line ran."
        ),
        params=SourceGet,
        run=_source,
        read_only=True,
        idempotent=True,
        unlisted=frozenset({"process"}),
    ),
)
