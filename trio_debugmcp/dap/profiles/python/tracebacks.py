r"""What a Python program has printed of exceptions: the one that ended it, and those that did not. Pure.

    printed_in(stderr).crash      # Crash("KeyError: 'jam'", frames, inner=(Crash("ValueError: …", way="cause"),))
    printed_in(stderr).survived   # (Survived("KeyError: 'jam'", "in thread Thread-1 (work)", frame),)

Only the places of the frames are known then: their values have gone with the program. Groups are drawn with a margin:
a `|` before each line of an exception, `+-+---- 1 ----` before its first member. Lines are read as *items*, which have
no margin any more; the members of a group are one item, a list with the items of each. The traceback of another
process, which is the message of an exception in quotes, is one item, too: a tuple of its lines.
"""

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame, PrintedExceptions, Survived

_HEAD = re.compile(r"(?:Exception Group )?Traceback \(most recent call last\):$")
_GROUP = re.compile(r"( *)\+ (?=Exception Group Traceback \(most recent call last\):$)")
_MARGIN = re.compile(r" *(?:\||\+-)")
_BARE_GROUP = re.compile(r"( *)\| [^\W\d][\w.<>]*: .*\(\d+ sub-exceptions?\)$")
_MEMBER = re.compile(r"\+-(?:\+-)?-* (?:\d+|\.\.\.) -+$")
_FRAME = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d+)(?:, in (?P<name>.*))?$')
_REPEATED = re.compile(r"  \[Previous line repeated (\d+) more times?\]$")
_MARKS = re.compile(r"[\s~^]*$")
_EXCEPTION = re.compile(r"[^\W\d][\w.<>]*(?:: .*)?$", re.DOTALL)
_BARE = (
    re.compile(r"[^\W\d][\w.<>]*(?:(?<=\W)error|Error|Exception|Group|Warning|Interrupt|Exit|Traceback)(?:: .*)?$"),
    re.compile(r"(?:[\w<>]+\.)*_*[A-Z]\w*(?:: .*)?$"),
)
"""The first line of an exception that has no traceback, what is surest first."""

_QUOTE = '"""'
_QUOTING = re.compile(r"[^\W\d][\w.]*RemoteTraceback: $")
_MEMBERS = re.compile(r"\((\d+) sub-exceptions?\)$")

_WAYS = {
    "The above exception was the direct cause of the following exception:": "cause",
    "During handling of the above exception, another exception occurred:": "context",
}
"""What stands between two tracebacks, and how the first one led to the second."""

_DEBUGGER = re.compile(r"[/\\]debugpy[/\\]|[/\\]runpy\.py$|^<frozen runpy>$|^<runner>$")
"""Files of frames that are there because the program is debugged."""

_LIBRARY = re.compile(r"[/\\](?:site-packages|lib[/\\]python3\.\d+)[/\\]|^<frozen ")

_SURVIVED = (
    (re.compile(r"Exception in thread (.*):$"), "in thread {}"),
    (re.compile(r"Process (.+):$"), "in process {}"),  # of multiprocessing
    (re.compile(r"Exception ignored in atexit callback:? <function (\S+) at .*"), "in {}, called at the exit"),
    (re.compile(r"Error in atexit\._run_exitfuncs:$"), "in a function called at the exit"),
    (re.compile(r"Exception ignored (?:in|while .*?):? <(?:function|bound method) (\S+) .*"), "in {}"),
    (re.compile(r"Exception ignored (?:in|while)\b.*"), "that was ignored"),
    (re.compile(r"(?:future|task): <Task .*?name='(.*?)' coro=<(\S+?)\(?\)? .*"), "in the asyncio task {} ({})"),
    (re.compile(r"future: <.*"), "in an asyncio future"),
    (re.compile(r"handle: <.*"), "in a callback of asyncio"),
    (re.compile(r"--- Logging error ---$"), "while logging"),
)
"""The line before a traceback that does not end the program, and where that exception was."""

_PENDING = re.compile(
    r"^Task was destroyed but it is pending!\ntask: <Task .*?name='(.*?)' coro=<(\S+?)\(?\)? .*", re.MULTILINE
)
_UNAWAITED = re.compile(r"^(.*?):(\d+): RuntimeWarning: coroutine '(.*)' was never awaited$", re.MULTILINE)

MAX_LINES = 20
"""Lines below an exception that are taken for the rest of its message and its notes: more are not from it."""

_Items = list[Any]


def printed_in(stderr: str) -> PrintedExceptions:
    """Return the last exception that may have ended the program, and those which did not."""
    items = _items(_unquoted(stderr).splitlines())
    crash: Crash | None = None
    is_last = False
    survived = []
    index = after = 0
    while index < len(items):
        where = _where(items[index - 1]) if index else None
        is_bare = where is not None and str(items[index - 1]).startswith("future: <Future") and _is_text(items, index)
        if not is_bare and not _is_head(items, index):
            index += 1
            continue
        index = _first(items, index, after)
        begin = index
        where = _where(items[index - 1]) if index else None
        found, index = _chain(items, index, open_ended=True)
        after = index
        if found is None:
            index += 1
        elif where is None:
            passed = _has_passed_debugger(items, begin, index)
            # What was printed after the exception that has left the program is a part of that one's message.
            crash, is_last = (found, passed) if passed or not is_last else (crash, is_last)
        else:
            survived.append(Survived(found.exception, where, found.frames[0] if found.frames else None))
    found_pending = [Survived(None, f"the asyncio task {name} ({coro}) was pending at the end", None)
                     for name, coro in _PENDING.findall(stderr)]  # fmt: skip
    unawaited = [Survived(None, f"the coroutine {name} was never awaited", CrashFrame("", file, int(line)))
                 for file, line, name in _UNAWAITED.findall(stderr)]  # fmt: skip
    return PrintedExceptions(crash, (*survived, *found_pending, *unawaited))


def _unquoted(text: str) -> str:
    """Return what is quoted, if a text is only the exception by which a pool passes on the traceback of a worker."""
    head, _, quoted = text.partition(_QUOTE)
    inside, _, rest = quoted.rpartition(_QUOTE)
    is_quote = _QUOTING.match(head.rstrip("\n")) is not None and not (inside and rest.strip())
    return (inside or quoted) if is_quote else text  # a long one has lost its end


def _has_passed_debugger(items: _Items, begin: int, end: int) -> bool:
    """Whether an exception has left the program: what is printed where one is caught has no frames outside of it."""
    places = (_FRAME.match(item) for item in items[begin:end] if isinstance(item, str))
    return any(_DEBUGGER.search(place["file"]) for place in places if place is not None)


def _first(items: _Items, index: int, after: int) -> int:
    """Return where a chain begins, whose first traceback begins here: before it may be exceptions that have none."""
    while index - 3 > after and _way(items, index - 3) is not None:
        block = []
        for at in range(index - 4, max(after, index - 4 - MAX_LINES) - 1, -1):
            if not items[at] or _where(items[at]) is not None:
                break
            block.append(at)
        texts = [at for at in block if isinstance(items[at], str)]
        found = next((at for pattern in _BARE for at in texts if pattern.match(items[at])), None)
        if found is None:
            break
        index = found
    return index


def _where(before: Any) -> str | None:
    """Return where an exception was that did not end the program, by the line before it; None if it may have."""
    if isinstance(before, str):
        for pattern, text in _SURVIVED:
            found = pattern.match(before)
            if found is not None:
                return text.format(*found.groups())
    return None


# --- Margins ----------------------------------------------------------------------------------------------------------


def _items(lines: Sequence[str]) -> _Items:
    """Return lines without margins; the members of a group are one item."""
    found: _Items = []
    index = 0
    while index < len(lines):
        group, bare = _GROUP.match(lines[index]), _BARE_GROUP.match(lines[index])
        quoted = _quoted(lines, index + 1) if _QUOTING.match(lines[index]) else 0
        if quoted:
            found += [lines[index].removesuffix(": "), tuple(lines[index + 2 : index + quoted])]
            index += quoted + 1
        elif bare is not None:
            inside, index = _column(lines, index, len(bare[1]))
            found += inside
        elif group is None:
            found.append(lines[index])
            index += 1
        else:
            found.append(lines[index][group.end() :])
            inside, index = _column(lines, index + 1, len(group[1]))
            found += inside
    return found


def _quoted(lines: Sequence[str], index: int) -> int:
    """Return how many lines from this one on are in quotes, with the first quotes; 0 if there are none or no end."""
    depth = 0
    for number, line in enumerate(lines[index:], 1):
        if line == _QUOTE:
            depth += 1 if number == 1 or _QUOTING.match(lines[index + number - 2]) else -1
        if depth == 0:
            return number if number > 1 else 0
    return 0


def _column(lines: Sequence[str], index: int, column: int) -> tuple[_Items, int]:
    """Read lines whose margin is in a column; return the items, and the index of the first line after them."""
    found: _Items = []
    while index < len(lines):
        line = lines[index]
        if line.startswith("|", column) and not line[:column].strip():
            found.append(line[column + 2 :])
            index += 1
        elif line.startswith("+-+-", column) and not line[:column].strip():
            members, index = _members(lines, index + 1, column + 2)
            found.append(members)
        elif _is_inside(lines, index, column):
            found.append(line)
            index += 1
        else:
            break
    return found, index


def _is_inside(lines: Sequence[str], index: int, column: int) -> bool:
    """Whether a line without the margin belongs to what has it: before 3.13 only a message's first line gets one."""
    for line in lines[index : index + MAX_LINES]:
        if line.startswith(("|", "+-"), column) and not line[:column].strip():
            return not lines[index].startswith("+-", column)
        if not line or _HEAD.match(line) or _GROUP.match(line) or _MARGIN.match(line):
            return False
    return False


def _members(lines: Sequence[str], index: int, column: int) -> tuple[list[_Items], int]:
    """Read the members of a group, of which the first begins here."""
    found = []
    while True:
        inside, index = _column(lines, index, column)
        found.append(inside)
        if index >= len(lines) or lines[index][:column].strip() or not lines[index].startswith("+", column):
            return found, index  # the text was cut
        index += 1
        if _MEMBER.match(lines[index - 1], column) is None:
            return found, index


# --- Exceptions -------------------------------------------------------------------------------------------------------


def _chain(items: _Items, index: int, *, open_ended: bool = False) -> tuple[Crash | None, int]:
    """Read exceptions that led to each other; return the last one with the others inside, and the index after it.

    `open_ended`: what the program has printed besides may follow.
    """
    behind: Crash | None = None
    way = None
    while True:
        found, after = _one(items, index, open_ended=open_ended)
        if found is None:
            return behind, index
        if behind is not None:
            found = replace(found, inner=(replace(behind, way=way), *found.inner))
        behind, index = found, after
        way = _way(items, index)
        if way is None:
            return behind, index
        index += 3


def _one(items: _Items, index: int, *, open_ended: bool) -> tuple[Crash | None, int]:
    frames: list[CrashFrame] = []
    begin = index
    if _is_head(items, index):
        frames, index = _frames(items, index + 1)
    is_last = _has_passed_debugger(items, begin, index)
    if not _is_text(items, index):
        return None, index
    exception = items[index]
    if index + 1 < len(items) and isinstance(items[index + 1], tuple):
        notes, index = items[index + 1], index + 2
    else:
        end = _end_of_text(items, index + 1, open_ended=open_ended, has_tracebacks=is_last)
        notes, index = items[index + 1 : end], end
    members = []
    if index < len(items) and isinstance(items[index], list):
        members = [found for item in items[index] if (found := _chain(item, 0)[0]) is not None]
        index += 1
    number = _MEMBERS.search(exception)
    return Crash(
        exception,
        tuple(reversed(frames)),
        notes=tuple(notes),
        members=max(int(number[1]) if number is not None else 0, len(members)),
        inner=tuple(replace(member, way="member") for member in members),
    ), index


def _frames(items: _Items, index: int) -> tuple[list[CrashFrame], int]:
    """Read the frames of a traceback, outermost first."""
    frames: list[CrashFrame] = []
    while index < len(items) and isinstance(items[index], str):
        frame, repeated = _FRAME.match(items[index]), _REPEATED.match(items[index])
        if frame is not None:
            file = frame["file"]
            frames.append(CrashFrame(frame["name"] or "", file, int(frame["line"]), _LIBRARY.search(file) is not None))
        elif repeated is not None and frames:
            frames += [frames[-1]] * int(repeated[1])
        elif not items[index].startswith("    ") or not frames:
            break
        elif frames[-1].text is None and not _MARKS.match(items[index]):
            frames[-1] = replace(frames[-1], text=items[index].strip())
        index += 1
    # A place without a function is that of a syntax error, which no frame has reached.
    frames = [reached for reached in frames if reached.function and not _DEBUGGER.search(reached.file)]
    return frames, index


def _end_of_text(items: _Items, index: int, *, open_ended: bool, has_tracebacks: bool) -> int:
    """Return where the rest of a message and the notes end, which begin here. `has_tracebacks`: it may have such."""
    end = index
    while end < len(items) and isinstance(items[end], str) and not _begins(items, end, quoted=has_tracebacks):
        if _way(items, end) is not None:
            return end
        end += 1
    if not open_ended or (end < len(items) and isinstance(items[end], list)):
        return end
    # Nothing says where the last exception ends: an empty line, or what is written in another way, may be of others.
    blank = next((at for at in range(index, end) if not items[at]), end)
    return min(blank, index + MAX_LINES)


def _begins(items: _Items, index: int, *, quoted: bool) -> bool:
    """Whether something else is reported from here on; a traceback is not, if it may be quoted."""
    return (_is_head(items, index) and not quoted) or _where(items[index]) is not None


def _way(items: _Items, index: int) -> str | None:
    """How what stands before this index led to what follows."""
    if index + 2 >= len(items) or items[index] != "" or items[index + 2] != "" or not isinstance(items[index + 1], str):
        return None
    return _WAYS.get(items[index + 1])


def _is_head(items: _Items, index: int) -> bool:
    return index < len(items) and isinstance(items[index], str) and _HEAD.match(items[index]) is not None


def _is_text(items: _Items, index: int) -> bool:
    return index < len(items) and isinstance(items[index], str) and _EXCEPTION.match(items[index]) is not None
