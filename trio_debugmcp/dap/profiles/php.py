"""PHP as vscode-php-debug shows it: of an object its class, of an array how many items it has; what ends a program."""

import re
from collections.abc import Sequence
from typing import ClassVar

from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Compositions
from trio_debugmcp.dap.profiles.language import Expressions, LanguagePrograms
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame, PrintedExceptions

_ARRAY = re.compile(r"array\((\d+)\)")

_CLASS = re.compile(r"[\w\\]+(@anonymous.*)?")

_CLASS_NAME = re.compile(r"\w+(?:\\\w+)*")

_UNCAUGHT = re.compile(r"(?:PHP )?Fatal error:\s+Uncaught (?=[A-Z_\\])")

_IN = re.compile(r"(?P<said>.*) in (?P<file>\S.*):(?P<line>\d+)$")

_NEXT = "Next "
"""Before the exception that was raised from the one above."""


class PhpCompositions(Compositions):
    """`Item(name="fig", tags=[2 items])`, `["fig" => Item(…)]`."""

    def composed(self, value: str, kind: str, fields: Sequence[tuple[str, str]], *, has_more: bool) -> str:
        more = ["…"] if has_more else []
        if _ARRAY.fullmatch(value) is None:
            return f"{value}({', '.join([f'{name}={field}' for name, field in fields] + more)})"
        names = [name for name, _ in fields]
        if names == [str(number) for number in range(len(names))]:
            return f"[{', '.join([item for _, item in fields] + more)}]"
        items = [f"{name if name.isdigit() else _quoted(name)} => {item}" for name, item in fields]
        return f"[{', '.join(items + more)}]"

    def folded(self, value: str, kind: str, items: int | None) -> str:
        array = _ARRAY.fullmatch(value)  # of an object the adapter counts fields as items
        return f"{value}(…)" if array is None else f"[{array[1]} items]"


class PhpValues(AdapterValues):
    """Objects and arrays are composed."""

    compositions: ClassVar[Compositions] = PhpCompositions()

    def is_bare(self, value: str, kind: str | None) -> bool:
        if kind is None:  # as what is evaluated; a text stands in quotes
            return _ARRAY.fullmatch(value) is not None or _CLASS.fullmatch(value) is not None
        return kind in ("array", "object")


class PhpExpressions(Expressions):
    """Expressions of PHP, which asks for the ancestors of a class by its name."""

    tells_lineage: ClassVar[bool] = True

    def lineage(self, kind: str) -> str | None:
        if _CLASS_NAME.fullmatch(kind) is None:  # one without a name
            return None
        return f"implode(\" \", class_parents('{kind}', false) + class_implements('{kind}', false))"


class PhpPrograms(LanguagePrograms):
    """What they have printed of the exception that ended them."""

    def printed_in(self, stderr: str) -> PrintedExceptions:
        begun = list(_UNCAUGHT.finditer(stderr))
        lines = stderr[begun[-1].end() :].splitlines() if begun else []
        heads = [number for number, line in enumerate(lines) if number == 0 or line.startswith(_NEXT)]
        crashes = tuple(filter(None, (_crash(lines[number:]) for number in heads)))
        if not crashes:
            return PrintedExceptions()
        last = crashes[-1]
        causes = tuple(Crash(each.exception, each.frames, way="cause") for each in crashes[-2::-1])
        return PrintedExceptions(
            Crash(last.exception, last.frames, inner=causes), unseen="the adapter stops at none by itself"
        )


def _crash(lines: Sequence[str]) -> Crash | None:
    """Return the exception that lines begin with: its message, which may have several, ends with its place."""
    said = list[str]()
    for line in lines:
        if line == "Stack trace:":
            break
        said.append(line)
    found = _IN.match("".join(said[-1:]))
    if found is None:
        return None
    text = "\n".join([*said[:-1], found["said"]]).removeprefix(_NEXT)
    return Crash(text, (CrashFrame("", found["file"], int(found["line"])),))


def _quoted(name: str) -> str:
    return f'"{name}"'
