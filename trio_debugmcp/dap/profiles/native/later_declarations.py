"""Local variables of C and C++ that the source declares behind the line where a thread is. Pure.

    declared_later(text, 17, ["begin", "colon"])       # {"colon": 18}: `std::size_t colon = part.find(':');`

Debuggers list all variables of a block, and of those that are not made yet what is by chance in their memory. A name
has to be declared in front of its first use: where that is behind the line, and a declaration, nothing has made it.
A name that stands in the function before, of whatever it is there, is not looked at.
"""

import re
from collections.abc import Iterable

_NO_CODE = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|\bR\"(?P<mark>[^()\s\\]{0,16})\(.*?(?:\)(?P=mark)\"|\Z)"
    r"|\"(?:\\.|[^\"\\\n])*+\"?|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*+'?",
    re.DOTALL,
)
"""Comments, and what is quoted; between digits the quote separates groups of them."""

_AROUND = re.compile(r"(?:^|\s)(?:namespace|class|struct|union|enum|extern)\b(?![^{]*\))")
"""What begins a block that is around functions."""

_TYPE = re.compile(r"(?P<first>(?:\s*\b[A-Za-z_][\w:]*)++)(?:\s|[\w:<>,*&\[\]])*")
"""What stands before a name that is declared."""

_NO_TYPE = re.compile(
    r"\b(?:return|delete|throw|new|goto|else|case|co_return|co_yield|co_await|using|typedef|static|extern|thread_local)\b"
)
"""What makes of such a text a statement, or declares what is there before its line has run."""

_BEHIND = re.compile(r"\s*(?:\[[^\[\]]*\]\s*)*(?:=(?!=)|[;{(,\]:])")

_MAX_LENGTH = 1_000_000
"""Characters of a text that is looked at."""


def declared_later(text: str, line: int, names: Iterable[str]) -> dict[str, int]:
    """Return those of the names that are declared behind the line, or by it, with the lines of their declarations.

    A declaration in the line itself counts if it is all of the line.
    """
    if len(text) > _MAX_LENGTH:
        return {}
    code = _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    lines = code.split("\n")
    if not 0 < line <= len(lines):
        return {}
    here = sum(len(each) + 1 for each in lines[: line - 1])
    begin = _function(code, here)
    known = frozenset(names)
    found = {} if begin is None else {name: _declaration(code, begin, here, name, known) for name in known}
    return {name: number for name, number in found.items() if number is not None}


def _function(code: str, here: int) -> int | None:
    """Return where the function begins, with its head: behind what is in front of the outermost block of its own."""
    depth, begin = 0, None
    for at in range(here - 1, -1, -1):
        if code[at] == "}":
            depth += 1
        elif code[at] == "{" and depth:
            depth -= 1
        elif code[at] == "{":
            head = _head(code, at)
            if _AROUND.search(code[head:at]):
                break
            begin = head
    return begin


def _head(code: str, block: int) -> int:
    """Return where begins what stands before a block; that of a constructor may have braces itself."""
    head = block
    while head:
        head = max(code.rfind(sign, 0, head) for sign in ";{}") + 1
        if head < 2 or "(" in code[head:block] or _AROUND.search(code[head:block]):
            break
        head -= 1
    return head


def _declaration(code: str, begin: int, here: int, name: str, known: frozenset[str]) -> int | None:
    used = re.compile(rf"(?<![\w.:])(?<!->){re.escape(name)}(?!\w)").search(code, begin)
    if used is None or used.start() < here:
        return None
    statement = max(code.rfind(sign, 0, used.start()) for sign in ";{}(") + 1
    before = code[statement : used.start()]
    kind = _TYPE.fullmatch(before)
    if kind is None or kind["first"].split()[0] in known or _NO_TYPE.search(before):  # in `width * height` no type
        return None
    if _BEHIND.match(code, used.end()) is None:
        return None
    end = code.find("\n", here)
    own = code[here : len(code) if end < 0 else end]
    if used.start() < here + len(own):
        whole = own.strip()
        if statement > here + len(own) - len(own.lstrip()) or whole.count(";") != 1 or not whole.endswith(";"):
            return None
    return code.count("\n", 0, used.start()) + 1
