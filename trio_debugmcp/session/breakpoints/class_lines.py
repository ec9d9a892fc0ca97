r"""The lines on which classes are defined, found in the source: before Python 3.13 a program does not know them.

    class_lines("class A:\n    class B:\n        pass\n")     # {"A": 1, "A.B": 2}

Pure, and by indentation alone: the program may be written in a newer Python than this server runs on.
"""

import re

_LINE = re.compile(r"([ \t]*)(?:(class|def|async[ \t]+def)[ \t]+(\w+))?")

_NO_STATEMENT = ("", "#", ")", "]", "}")
"""Begin lines that end no block, whatever their indentation."""

_TAB = 8


def _parts(line: str) -> tuple[str, str | None, str | None]:
    """The indentation of a line, and the kind and the name of what it defines."""
    found = _LINE.match(line)
    return ("", None, None) if found is None else (found[1], found[2], found[3])


def class_lines(text: str) -> dict[str, int]:
    """Return the line of each class by its qualified name; one that is defined twice, or in a function, is left out."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    above: list[tuple[int, str, bool]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip()[:1] in _NO_STATEMENT:
            continue
        blanks, kind, name = _parts(line)
        indent = len(blanks.expandtabs(_TAB))
        while above and above[-1][0] >= indent:
            above.pop()
        if name is None:
            continue
        qualified = ".".join([*(outer for _, outer, _ in above), name])
        if kind == "class" and all(is_class for _, _, is_class in above):
            if qualified in found:
                twice.add(qualified)
            found[qualified] = number
        above.append((indent, name, kind == "class"))
    return {name: number for name, number in found.items() if name not in twice}
