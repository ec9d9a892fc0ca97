"""Breakpoints by the text of their line: finding it, and finding it again after the file was edited.

    found = place_of("paid = basket.total()", lines, hint=24)

Pure: the caller reads the file.
"""

import difflib
import heapq
import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.state.breakpoint import Breakpoint

_ALIKE = 0.75
"""How alike two lines are at least that may be the same one, edited."""

_CLEARLY = 0.1
"""How much more alike than every other line the edited one must be."""

_COMMENT = re.compile(r" (?=#|//|--|/\*)")

_MAX_NAMED = 5

_MAX_COMPARED = 500
"""Lines that are compared with a text that is nowhere: a twentieth of a second."""


class FoundLine(Struct, frozen=True):
    """The line that was meant. `edited`: it has another text than the one that was looked for."""

    line: int
    edited: bool = False


class NotFound(Exception):
    """Raised where no line, or more than one, can be meant; the message says which there are."""


def place_of(statement: str, lines: Sequence[str], hint: int | None = None) -> FoundLine:
    """Return the line that has this text, blanks aside, or the only one that begins with it.

    Of several that have it the one nearest to `hint`.

    Raises:
        NotFound: no line has it, or several have and there is no hint.
    """
    wanted = _plain(statement)
    plain = [_plain(text) for text in lines]
    if not lines_with(statement, lines):
        begun = [number for number, text in enumerate(plain, 1) if wanted and text.startswith(wanted)]
        if len(begun) == 1:
            return FoundLine(begun[0])
        near = difflib.get_close_matches(wanted, [plain[number - 1] for number in _likeliest(wanted, plain)], 3)
        there = f"; there are: {', '.join(f'`{line}`' for line in near)}" if near else ""
        raise NotFound(f"no line is `{wanted}`{_having(wanted, plain, begun) or there}")
    return _place_of_whole(statement, lines, hint)


def begins(statement: str, line: str) -> bool:
    """Whether a text is no more than the beginning of a line that was found by it."""
    return not lines_with(statement, [line])


def _place_of_whole(statement: str, lines: Sequence[str], hint: int | None) -> FoundLine:
    """Return the line that has the whole of this text; of several the one nearest to `hint`.

    Raises:
        NotFound: no line has it, or several have and there is no hint.
    """
    wanted = _plain(statement)
    exact = lines_with(statement, lines)
    if not exact:
        raise NotFound(f"no line is `{wanted}`")
    if len(exact) == 1:
        return FoundLine(exact[0])
    if hint is None:
        named = ", ".join(map(str, exact[:_MAX_NAMED]))
        more = f" and {len(exact) - _MAX_NAMED} more" if len(exact) > _MAX_NAMED else ""
        raise NotFound(
            f"lines {named}{more} are `{wanted}`: pass `line` as well; "
            "breakpoint_set and debug_launch take all of them with `every`: true"
        )
    return FoundLine(min(exact, key=lambda number: abs(number - hint)))


def lines_with(statement: str, lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that have this text, blanks aside; if none has, comments behind it aside, too."""
    exact = _equal_to(statement, lines)
    if exact:
        return exact
    return lines_of_code(statement, lines)


def lines_of_code(statement: str, lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that have the code of this one, blanks and comments behind it aside."""
    code = _without_comment(_plain(statement))
    return [number for number, line in enumerate(lines, 1) if code and _without_comment(_plain(line)) == code]


def every_line(statement: str, lines: Sequence[str]) -> list[int]:
    """Return the numbers of all lines that have this text; where it has no comment, also of those that have one."""
    has_comment = _without_comment(_plain(statement)) != _plain(statement)
    return lines_with(statement, lines) if has_comment else lines_of_code(statement, lines)


def _without_comment(text: str) -> str:
    """Return a line up to the comment behind its code; nothing in quotes begins one."""
    for found in _COMMENT.finditer(text):
        before = text[: found.start()]
        if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
            return before
    return text


def _having(wanted: str, plain: Sequence[str], begun: Sequence[int]) -> str:
    """Return the rest of a sentence on the lines that begin with a text, or else have it in them; empty without any."""
    having = begun or [number for number, text in enumerate(plain, 1) if wanted and wanted in text]
    if not having:
        return ""
    shown = ", ".join(f"line {number}: `{plain[number - 1]}`" for number in having[:_MAX_NAMED])
    more = f" and {len(having) - _MAX_NAMED} more" if len(having) > _MAX_NAMED else ""
    how = "begin with it" if begun else "has it in it" if len(having) == 1 else "have it in them"
    count = f"{len(having)} line{'s' * (len(having) != 1)}"
    return f", and {count} {how}: {shown}{more}. Pass the whole text of {'it' if len(having) == 1 else 'one'}"


def place_again(statement: str, lines: Sequence[str], before: int) -> FoundLine:
    """Return where a line is after its file was edited: where its text is, or else a text that is clearly like it.

    Raises:
        NotFound: its text is nowhere, and no line, or more than one, is like it.
    """
    try:
        return _place_of_whole(statement, lines, before)
    except NotFound:
        pass
    wanted = _plain(statement)
    plain = [_plain(text) for text in lines]
    ratios = (
        (difflib.SequenceMatcher(None, wanted, plain[number - 1]).ratio(), number)
        for number in _likeliest(wanted, plain)
    )
    alike = sorted(ratios, reverse=True)[:2]
    if not alike or alike[0][0] < _ALIKE:
        raise NotFound(f"the file has no line `{wanted}` any more")
    if len(alike) > 1 and alike[0][0] - alike[1][0] < _CLEARLY:
        raise NotFound(
            f"the file has no line `{wanted}` any more, and lines {alike[0][1]} and {alike[1][1]} are like it"
        )
    return FoundLine(alike[0][1], edited=True)


def _likeliest(wanted: str, plain: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that may be like a text, as many as can be compared with it in no time.

    A comparison takes a tenth of a millisecond, and files of data have tens of thousands of lines. Lines that are much
    alike have most of their groups of three characters in common, which is found a hundred times faster.
    """
    parts = {wanted[start : start + 3] for start in range(max(1, len(wanted) - 2))}

    def score(number: int) -> float:
        text = plain[number - 1]
        return sum(part in text for part in parts) / (len(parts) + len(text))

    numbers = [number for number, text in enumerate(plain, 1) if text]
    return numbers if len(numbers) <= _MAX_COMPARED else sorted(heapq.nlargest(_MAX_COMPARED, numbers, score))


def found_again(breakpoint: Breakpoint, lines: Sequence[str]) -> tuple[Breakpoint, str | None]:
    """Return a breakpoint as it is to be in a file that may have been edited since, and a note on what changed."""
    before, text = breakpoint.spec.line or 1, breakpoint.spec.text or ""
    here = _plain(lines[before - 1]) if before <= len(lines) else ""
    if here == _plain(text):
        return _among_equals(replace(breakpoint, lost=None) if breakpoint.lost else breakpoint, lines)
    if not breakpoint.spec.by_text:
        note = f"is on another text than when it was set: `{here}`, it was `{_plain(text)}`"
        return breakpoint.with_spec(text=here), note
    own = _own_of_equals(breakpoint, lines)
    try:
        found = place_again(text, lines, before) if own is None else FoundLine(own)
    except NotFound as error:
        return replace(breakpoint, lost=str(error)), f"is pending: {error}"
    moved = replace(breakpoint, lost=None).with_spec(
        line=found.line,
        text=_plain(lines[found.line - 1]),
        occurrence=occurrence(lines, found.line) if breakpoint.spec.occurrence else None,
    )
    same = sum(_plain(line) == moved.spec.text for line in lines)
    why = f"now `{moved.spec.text}`, it was `{_plain(text)}`" if found.edited else "where its text is now"
    why += f", the nearest of {same} such lines" if same > 1 and own is None else ""
    if found.line == before:
        return moved, f"stays on line {before}, {why}"
    return moved, f"moved from line {before} to {found.line}, {why}"


def _own_of_equals(breakpoint: Breakpoint, lines: Sequence[str]) -> int | None:
    """Return the line of a breakpoint among those with its text; None if their number is another than it was."""
    if breakpoint.spec.occurrence is None:
        return None
    equal = _equal_to(breakpoint.spec.text or "", lines)
    nth, total = breakpoint.spec.occurrence
    return equal[nth - 1] if len(equal) == total else None


def _among_equals(breakpoint: Breakpoint, lines: Sequence[str]) -> tuple[Breakpoint, str | None]:
    """Return a breakpoint whose line has its text still, or again: it may be another one with that text."""
    if breakpoint.spec.occurrence is None:
        return breakpoint, None
    before, own = breakpoint.spec.line or 1, _own_of_equals(breakpoint, lines)
    if own is not None:
        moved = f"moved from line {before} to {own}, where its text is now"
        return (breakpoint, None) if own == before else (breakpoint.with_spec(line=own), moved)
    now = occurrence(lines, before)
    text = _plain(breakpoint.spec.text or "")
    number, total = now[1], breakpoint.spec.occurrence[1]
    note = f"is on one of {number} lines that are `{text}`, there were {total} when it was set: check it"
    return breakpoint.with_spec(occurrence=now), note if now[1] > 1 else None


def occurrence(lines: Sequence[str], line: int) -> tuple[int, int]:
    """Return which of the lines with its text a line is, counted from 1, and how many there are."""
    equal = _equal_to(lines[line - 1], lines)
    return equal.index(line) + 1, len(equal)


def _equal_to(text: str, lines: Sequence[str]) -> list[int]:
    return [number for number, line in enumerate(lines, 1) if _plain(line) == _plain(text)]


def _plain(text: str) -> str:
    return " ".join(text.split())
