"""Types and functions by a pattern of their names, as the commands of a debugger's command line print them. Pure.

    wanted = NamePattern("total*")
    command = filled(commands.functions, {"pattern": wanted.expression})
    [symbol for symbol in symbols_in(text, commands.symbol, is_type=False) if wanted.fits(symbol.name)]

The debugger is asked for more than is wanted, with an expression that has no characters a command line could take for
more than a name; what it answers is judged here, by the same rules as for Python.
"""

import fnmatch
import re
from collections.abc import Iterator

from msgspec import Struct

from trio_debugmcp.dap.profiles.tables.patterns import check_pattern

_EXPRESSION_LENGTH = 100
"""Characters of a pattern that the debugger is asked for; a name with all of it has its first ones, too."""

_BASIC = re.compile(
    r"((unsigned|signed|long|short|int|char|_?[Bb]ool|float|double|void|wchar_t|char(8|16|32)_t|_Complex)\b ?)+"
    r"|[iuf](8|16|32|64|128|size)|str|decltype\(nullptr\)|__.*|\(\)|!"
)
"""Types of the language itself, which are declared nowhere."""


class SymbolCommands(Struct, frozen=True, forbid_unknown_fields=True):
    """Commands that print the types and functions of a program.

    Attributes:
        symbol: a pattern for each that is printed: its group `name`, and as far as they are there `type`, that of a
            function, `file` and `line`.
        functions: the command for functions whose names have a match of `{pattern}`, at most `{limit}` of them.
        types: the same for types. Without it a type is found by its whole name, if the adapter has `types` of
            `evaluate-safe`.
        count: a command that only prints how many there are, for one that prints all: it is asked before `functions`.
        counted: a pattern for its answer, with a number as its group; those of all matches are added up.
    """

    symbol: str
    functions: str
    types: str | None = None
    count: str | None = None
    counted: str | None = None

    def __post_init__(self) -> None:
        check_pattern("symbol", self.symbol, named=("name",))
        check_pattern("counted", self.counted, group="number")


class NativeSymbol(Struct, frozen=True, order=True):
    """A type or a function; of a function also its parameters and what it returns."""

    name: str
    signature: str = ""
    file: str = ""
    line: int = 0
    is_type: bool = False


class NamePattern:
    """Which names are wanted: those with a pattern of `*` and `?`, else with this in them, in either case.

    A pattern with `::` is compared with the whole name, any other with its last part.
    """

    def __init__(self, pattern: str) -> None:
        text = pattern if self.has_wildcards(pattern) else f"*{pattern}*"
        self._whole = "::" in pattern
        # translate() makes groups that do not backtrack, whatever the pattern is.
        self._fits = re.compile(fnmatch.translate(text.replace("[", "[[]")), re.IGNORECASE).match
        longest = max(re.split(r"[*?]", pattern), key=len)[:_EXPRESSION_LENGTH]
        self.expression = "".join(_either_case(letter) for letter in longest) or "."

    @staticmethod
    def has_wildcards(pattern: str) -> bool:
        return "*" in pattern or "?" in pattern

    def fits(self, name: str) -> bool:
        return self._fits(name if self._whole else last_part(name)) is not None


def symbols_in(text: str, pattern: str, *, is_type: bool) -> Iterator[NativeSymbol]:
    """Yield the types or functions in an answer; types of the language itself are left out."""
    for found in re.finditer(pattern, text, re.MULTILINE):
        parts = found.groupdict()
        file, line = parts.get("file") or "", int(parts.get("line") or 0)
        if not is_type:
            name, signature = function_parts(found["name"], parts.get("type") or "")
            yield NativeSymbol(name, signature, file, line)
        elif not file.endswith("<built-in>") and (line or not _BASIC.fullmatch(found["name"])):
            yield NativeSymbol(found["name"], "", file, line, True)


def count_in(text: str, pattern: str) -> int:
    """Return how many symbols there are, as an answer counts them by library."""
    return sum(int(match[1]) for match in re.finditer(pattern, text, re.MULTILINE))


def function_parts(name: str, kind: str) -> tuple[str, str]:
    """Return the name of a function, and its parameters with what it returns, of its name in full and its type.

    In C++ the name has the parameters, and that of a template begins with what it returns; in C only the type has them.
    """
    end = _parameters(name)
    bare, parameters = name[:end], name[end:]
    if not parameters:
        parameters = kind[kind.find("(") :] if "(" in kind else ""
    before = _top_level_blank(bare)
    bare = bare[before + 1 :]
    returned = kind.partition("(")[0].strip()
    plain = returned and not kind.partition("(")[2].startswith(("*", "&"))  # of a pointer to a function it is a half
    return bare, parameters + (f" -> {returned}" if plain and returned != "void" else "")


def last_part(name: str) -> str:
    """Return what stands behind the last `::` that is not between brackets: `push<a::B>` of `Stack::push<a::B>`."""
    depth = begin = 0
    for index, letter in enumerate(name[: _operator(name)]):
        depth += (letter in "<([{") - (letter in ">)]}")
        if not depth and name.startswith("::", index):
            begin = index + 2
    return name[begin:]


def _either_case(letter: str) -> str:
    """A regular expression for a letter; any character for what may mean more in one, or on a command line."""
    if letter.isascii() and letter.isalpha():
        return f"[{letter.lower()}{letter.upper()}]"
    return letter if letter in "_:" or (letter.isascii() and letter.isdigit()) else "."


def _parameters(name: str) -> int:
    """Where the parameters begin in the name of a function: at the parenthesis that pairs with the last one."""
    depth = 0
    for index in range(name.rfind(")"), 0, -1):
        depth += (name[index] == ")") - (name[index] == "(")
        if not depth:
            return len(name) if name.startswith("::", name.find(")", index) + 1) else index
    return len(name)


def _top_level_blank(name: str) -> int:
    """Where the last blank is that is not between brackets, and in front of `operator`; -1 if there is none."""
    depth, found = 0, -1
    for index, letter in enumerate(name[: _operator(name)]):
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == " " and not depth:
            found = index
    return found


def _operator(name: str) -> int:
    """Where `operator` begins in a name, which may have brackets of its own; its length if it does not."""
    found = re.search(r"\boperator\b", name)
    return len(name) if found is None else found.start()
