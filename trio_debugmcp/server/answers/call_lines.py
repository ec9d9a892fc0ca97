"""A traced call as lines of text that a model reads as Python with comments. Pure.

    23 total += price(line)  # price(line='tea') -> 3; total=3
    25 if total > 5:  # true
    22  # line='cake'
    … 95 more times 22-24

The source of a line is there the first time it runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.profiles.function_code import Branch
from trio_debugmcp.server.answers.folding import Cut, Fold, Gap, cut, folded
from trio_debugmcp.session.looking.by_probe.traced_calls import TracedCall, TracedLine
from trio_debugmcp.state.payloads import Payload

SOURCE_CHARACTERS = 100
"""Of a line of source. What it does stands behind it."""

KEPT_TURNS = (2, 1)
"""Turns of a loop that are kept besides the last one, as long as there are too many lines."""

_LEAST_LINES = 8

_JSON_BYTES = 3
"""Of a line in JSON besides its text: quotes and comma."""

_MOST_COUNTED = 6
"""Lines of a gap whose counts are shown."""

_SHORTEST_SECONDS = 0.001


class FunctionSource(Struct, frozen=True):
    """The file of a function: its lines, the first of them at index 0, and what they decide."""

    lines: Sequence[str] = ()
    branches: Mapping[int, Branch] = {}

    def text(self, number: int) -> str:
        """Return a line without what is around it."""
        text = self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""
        return text if len(text) <= SOURCE_CHARACTERS else f"{text[:SOURCE_CHARACTERS]}…"


class _LineStep(Struct, frozen=True):
    """A line that ran, with the one that ran next."""

    line: TracedLine
    following: int | None

    @property
    def number(self) -> int:
        return self.line.number


_Kept = _LineStep | Gap | Fold


class PathChange(Payload, frozen=True):
    """What a line has made of a variable; null: it was taken away."""

    path: str
    value: str | None


class CallLine(Payload, frozen=True):
    """A line that ran, and what it did; or what is `leftOut` there. `source`: the first time that it ran.

    `did`: what it called, raised, yielded and waited for; `decided`: which way it went.
    """

    line: int | None
    source: str | None
    did: list[str]
    changes: list[PathChange]
    decided: str | None
    left_out: str | None


def line_text(line: CallLine) -> str:
    """Return a line as text: `23 total += price(line)  # price(line='tea') -> 3; total=3`."""
    if line.left_out is not None:
        return f"… {line.left_out}"
    parts = [*line.did, *(_change(change.path, change.value) for change in line.changes)]
    parts += [line.decided] if line.decided else []
    before = f"{line.line} {line.source or ''}".rstrip()
    return f"{before}  # {'; '.join(parts)}" if parts else before


def call_lines(call: TracedCall, source: FunctionSource, most_lines: int, most_bytes: int) -> list[CallLine]:
    """Return the lines of a call; loops are folded, and then the middle is left out, where there are too many."""
    steps: list[_LineStep | Gap] = [*_steps(call.head)]
    if call.between:
        steps.append(Gap(dict(call.between)))
    steps += _steps(call.tail)
    shown: Sequence[_Kept] = steps
    for keep in KEPT_TURNS:
        if len(shown) <= most_lines:
            break
        shown = folded(steps, keep)
    lines = list(_rendered(cut(shown, most_lines), source))
    while _bytes(lines) > most_bytes and most_lines > _LEAST_LINES:
        most_lines = max(_LEAST_LINES, min(most_lines, len(lines)) * 4 // 5)
        shown = shown if len(shown) < len(steps) else folded(steps, KEPT_TURNS[-1])
        lines = list(_rendered(cut(shown, most_lines), source))
    return lines


def _bytes(lines: Sequence[CallLine]) -> int:
    return sum(len(line_text(line).encode()) + _JSON_BYTES for line in lines)


def _steps(lines: Sequence[TracedLine]) -> Iterator[_LineStep]:
    following = [line.number for line in lines[1:]]
    for index, line in enumerate(lines):
        yield _LineStep(line, following[index] if index < len(following) else None)


def _rendered(shown: Sequence[_Kept | Cut], source: FunctionSource) -> Iterator[CallLine]:
    known: set[int] = set()
    for piece in shown:
        match piece:
            case _LineStep(line, following):
                text = "" if line.number in known else source.text(line.number)
                known.add(line.number)
                branch = source.branches.get(line.number)
                decided = branch.outcome(following) if branch is not None and following is not None else ""
                changes = [PathChange(*change) for change in line.changes]
                yield CallLine(line.number, text or None, list(_notes(line.notes)), changes, decided or None, None)
            case Fold(turns, _, first, last):
                yield _left_out(f"{turns} more times {_span(first, last)}")
            case Gap(counts):
                most = sorted(counts.items(), key=lambda pair: -pair[1])[:_MOST_COUNTED]
                ran = ", ".join(f"{count} times {number}" for number, count in sorted(most))
                yield _left_out(f"{piece.lines} lines that were only counted: {ran}")
            case Cut(lines):
                yield _left_out(f"{lines} lines left out")


def _left_out(words: str) -> CallLine:
    return CallLine(None, None, [], [], None, words)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _change(path: str, value: str | None) -> str:
    return f"del {path}" if value is None else f"{path}={value}"


def _notes(notes: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    raised = ""
    for note in notes:
        match note:
            case ("call", name, arguments, how, value, yields):
                yield f"{name}({arguments}) {_ended(how, value, yields)}"
                raised = value if how == "raised" else ""
            case ("more", count):
                yield f"{count} more calls"
            case ("raised", error) if error != raised:
                yield f"raises {error}"
            case ("yielded", value, count):
                yield _yields(value, count)
            case ("waited", times, seconds):
                yield _waited(times, seconds)


def _ended(how: str, value: str, yields: int) -> str:
    if how == "yielded":
        return _yields(value, yields)
    before = f"yields {yields} value{'s' if yields > 1 else ''}, " if yields else ""
    return before + {"returned": f"-> {value}", "raised": f"raises {value}"}.get(how, "…")


def _yields(value: str, count: int) -> str:
    return f"yields {value}" if count == 1 else f"yields {count} values, at last {value}"


def _waited(times: int, seconds: float) -> str:
    if not times:
        return "waits"
    spent = f" {seconds:.3g} s" if seconds >= _SHORTEST_SECONDS else ""
    return f"awaited{spent}" + (f", {times} times" if times > 1 else "")
