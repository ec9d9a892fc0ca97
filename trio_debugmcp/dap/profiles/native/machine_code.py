"""C, C++ and Rust: languages that are compiled to machine code, whichever debugger runs the program."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec.structs import replace

from trio_debugmcp.dap.messages import Capabilities, DapBreakpoint, DapFrame, DapVariable, Stopped
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Compositions, ProgramStream, Words
from trio_debugmcp.dap.profiles.exception_filters import TypedException
from trio_debugmcp.dap.profiles.language import Expressions
from trio_debugmcp.dap.profiles.native.short_types import short_type
from trio_debugmcp.dap.profiles.profile import Dialect

_FORTRAN_RECORD = re.compile(r"Type \w+")
_OF_FORTRAN = r"(?:integer|real|logical|complex|character|Type).*"
_VECTOR = re.compile(rf"{_OF_FORTRAN}\([^,()]*\)|array \([^,()]*\) of .*|[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")
_MATRIX = re.compile(rf"{_OF_FORTRAN}\([^()]*,[^()]*\)|array \([^()]*,[^()]*\) of .*")
"""Types as gdb names those of Fortran: of a structure, and of arrays with one dimension, and with several. Ada's are
named like those arrays, or by the package that declares them: `depot.shelf_list`."""

_ZIG_SLICE = re.compile(r"(?:struct )?\[(?::\w+)?\].*")
_SLICE = re.compile(rf"{_ZIG_SLICE.pattern}|\S(?:.*\S)?\[\]")  # in C it is `char []`
_ZIG_WRAPPED = re.compile(r"(?:struct )?(?:\?|(?:error\{[^{}]*\}|[\w.]+)!)(?P<within>.*)")
"""Types of Zig and D as gdb names them or as they are shown: of a slice, and of an optional or a union with errors."""

_ZIG_POINTER = re.compile(r"(?:struct )?\??(?:\*|\[\*[^\]]*\]).*")
"""A pointer of Zig, whose sign is in front of what it points to; gdb and its expressions have it behind."""

_SPELLED = re.compile(r"[\w:]+((\.|->)[A-Za-z_]\w*|\[\d+\])*")
"""A path that C++ has, too."""

_ROUTINE = re.compile(
    r"(❌\ufe0f? )?(Function \".*\" not defined|No (symbol table is loaded|source file named ))"
    r"|Breakpoint \d+( \(.*\) pending\.| at 0x|'s condition is now valid )|\[(New|Switching to) ([Tt]hread|LWP) "
    r"|\[Thread (0x.* exited\]|debugging using )|Using host libthread_db library "
)
"""Lines that gdb writes whatever happens, as before the program is there: breakpoints have answers of their own."""

_OF_GDB = re.compile(
    rf"{_ROUTINE.pattern}|❌|Catchpoint \d+ \(|(Hardware )?[Ww]atchpoint \d+:|\[Inferior \d+ \("
    r"|\[(Attaching|Detaching) |Note: breakpoint|Run till exit from "
    r"|Reading .* from remote target\.\.\.$|warning: File transfers from remote targets "
)
"""Lines that gdb writes itself, and reports as the program's."""

_QUOTED = re.compile(r'[uUL]?"(?:[^"\\]|\\.)*"(\.\.\.)?$')
"""The end of a string's value, which may begin with its address."""

_CONDITION_FAULT = re.compile(r"(❌\ufe0f? )?Error in testing condition for breakpoint \d+:\n$")
"""What gdb writes of a condition that fails, in an output of its own before the one that says why."""

_NO_COMPARISON = re.compile(r'No symbol "operator[!=]=" in current context\.')
"""What gdb says of an operator of C++ that it cannot call, as those that are templates."""

_ABSENT = re.compile(r"Could not find function named '(?P<name>.*)'")
"""What gdb says of a method of Rust that it is to call."""

_SYSTEM_THREAD = re.compile(r"(?P<name>.*) \(LWP (?P<lwp>\d+)\)|\d+: tid=(?P<tid>\d+)(?: \"(?P<quoted>.*)\")?")
"""A thread's name with the kernel's id of it: so CodeLLDB lists it, and gdb by its command in the table."""

_RESOLVED = re.compile(r"Resolved locations: (\d+)")
"""What CodeLLDB says of every breakpoint."""

_NOWHERE = "no code of what is loaded is there"

_RUNS = "Cannot execute this command while the target is running."
"""How gdb refuses a breakpoint in a program that it cannot stop for that: behind a gdbserver, valgrind or a board."""

SET_AT_STOP = "gdb sets none while this program runs: debug_pause stops it, and then it is set"

_ERROR = re.compile(r"(Exception: )?error:|Syntax error:")
"""How the line begins that says what is wrong with an expression; CodeLLDB's is one of a traceback of Python's."""

_CONDITION_FAILED = re.compile(
    r'error: stopped due to an error evaluating condition of breakpoint [\d.]+: "(?P<condition>.*)"\n(?P<trace>.*)'
    r"|Could not parse breakpoint condition:\n(?P<unparsed>Syntax error: (?P<text>[^\n]*))",
    re.DOTALL,
)
"""What lldb writes in front of a stop at a condition that it cannot judge, and CodeLLDB where one is set."""

_NO_SYNTAX = re.compile(r"Syntax error: (?P<expression>[^/].*)")
"""What CodeLLDB says of expressions, which are its own simple ones unless a prefix says otherwise."""

_TEXT = re.compile(r"""b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\]|\\.)'""")

_HOLDER = re.compile(r"(?<![\w.>:)\]])[A-Za-z_][\w:]*(?:(?:\.|->)\w+|\[[^\[\]]*\])*$")
"""A path at the end of a text."""

_MAP = re.compile(r"std::(?:\w+_)?(?:multi)?map with |\w*Map\(size=")
"""A map as gdb's printers show it, whose children are keys and values by turns."""

_RUST_POINTER = re.compile(r"(?:\*mut|\*const|&mut|&)\s*(.+)|(.+?)\s*[*&]")
"""A reference or a raw pointer, as gdb and lldb name its type."""

_OF_RUST = re.compile(r"(?:\*mut|\*const|&mut) \S.*|&\w.*")
_ADDRESS = re.compile(r"0x0*[1-9a-fA-F][0-9a-fA-F]*")
"""The type of a reference or a raw pointer as only Rust names it, and its value; null leads nowhere."""

_SIZE = re.compile(r"\w+\(size=\d+\)")
"""What gdb's printers of Rust say of a collection."""

_HELD = ("[contained value]", "get()")
_HOLDS = re.compile(r"std::(?:optional|variant|any|unique_ptr|shared_ptr|weak_ptr)\b(?!.*\[no contained value\]).*")
_COUNTS = re.compile(r" (?:\[[^\[\]]*\]|\([^()]*\))$")
"""What gdb's printers of C++ call the one value that another has, or points to, and what they say of those."""

_BARE = re.compile(
    rf"|{_HOLDS.pattern}|@?0x[0-9a-fA-F]+|.* @ 0x[0-9a-fA-F]+"
    r"|(?:std::)?\w+(?: of length \d+(?:, capacity \d+)?| with \d+ elements?)|\w+\(size=\d+\)"  # gdb's printers
)
"""Values that show nothing of what is inside; a pointer's address is one of these, but it is the value."""


def indexed_parts(expression: str) -> list[str]:
    """Return what an expression indexes, from left to right, as far as it is a path that can be evaluated twice."""
    text = _TEXT.sub(lambda found: " " * len(found[0]), expression)
    found: list[str] = []
    for end in (number for number, letter in enumerate(text) if letter == "["):
        part = _HOLDER.search(text[:end].rstrip())
        written = expression[part.start() : part.end()] if part is not None else ""
        if written and written not in found:
            found.append(written)
    return found


def _is_pointer(kind: str) -> bool:
    return kind.removesuffix("const").rstrip().endswith("*") or _ZIG_POINTER.fullmatch(kind) is not None


_UNNAMED = re.compile(r"__\d+")
"""What gdb calls the fields of a tuple of Rust."""


class NativeExpressions(Expressions):
    """Expressions as gdb and lldb evaluate them."""

    def program_problem(self, program: str, source: bytes) -> str | None:
        if source.startswith(b"\x7fELF"):
            return None
        return "it is not an executable that holds machine code. Pass the program that was built with -g, or its source"


class _NativeCompositions(Compositions):
    """References of Rust, which gdb names as it names raw pointers, and collections that say how much they hold."""

    def composed(self, value: str, kind: str, fields: Sequence[tuple[str, str]], *, has_more: bool) -> str:
        if len(fields) == 1 and fields[0][0] in _HELD:
            return f"{_COUNTS.sub('', short_type(value))}({fields[0][1]})"
        if not fields or not all(_UNNAMED.fullmatch(name) for name, _ in fields):
            return super().composed(value, kind, fields, has_more=has_more)
        items = ", ".join([field for _, field in fields] + ["…"] * has_more)
        return f"({items})" if kind.startswith("(") else f"{kind}({items})"

    def is_variant(self, kind: str, name: str, child_kind: str) -> bool:
        return child_kind == f"{kind}::{name}"

    def folded(self, value: str, kind: str, items: int | None) -> str:
        if _HOLDS.fullmatch(value):
            return short_type(value)
        return value if _SIZE.fullmatch(value) else super().folded(value, kind, items)

    def is_followed(self, name: str, value: str, kind: str | None) -> bool:
        meant = name == "this" or _OF_RUST.fullmatch(kind or "") is not None
        return meant and _ADDRESS.fullmatch(value) is not None


class NativeValues(AdapterValues):
    """Values as gdb and lldb show them."""

    compositions: ClassVar[Compositions] = _NativeCompositions()

    pairs: ClassVar[re.Pattern[str] | None] = _MAP

    def trusts(self, evaluate_name: str | None) -> bool:
        # lldb spells the items of a vector `items._M_impl._M_start->[0]`, and what is anonymous with nothing.
        return evaluate_name is not None and _SPELLED.fullmatch(evaluate_name) is not None

    def member(self, parent: str, name: str, parent_type: str | None) -> str | None:
        if self.is_target(name, parent_type):
            return f"*{parent}" if _is_pointer(parent_type or "") else parent
        if (wrapped := _ZIG_WRAPPED.fullmatch(parent_type or "")) is not None:
            return self.member(f"{parent}.payload", name, f"struct {wrapped['within']}")
        if _SLICE.fullmatch(parent_type or "") is not None and name.strip("[]").isdigit():
            return f"{parent}.ptr{name}"
        if _VECTOR.fullmatch(parent_type or "") is not None and name.strip("[]").isdigit():
            return f"{parent}({name.strip('[]')})"
        if _MATRIX.fullmatch(parent_type or "") is not None:
            return None  # its children are parts that no expression names
        if _FORTRAN_RECORD.fullmatch(parent_type or "") is not None:
            return f"{parent}%{name}"
        if name.strip("[]").isdigit():
            return f"{parent}[{name.strip('[]')}]"
        if not name.removeprefix("payload.").isidentifier():  # of a union of Zig with a tag
            return parent if "::" in name or "<" in name else None  # a base class, which is the same object
        arrow = parent_type is not None and parent_type.rstrip().endswith("*")
        return f"{parent}->{name}" if arrow else f"{parent}.{name}"

    def is_target(self, name: str, parent_type: str | None) -> bool:
        # So gdb calls it; lldb has the members at once, and for what has none `*p`.
        kind = (parent_type or "").rstrip()
        return name == "value" and (kind.endswith("&") or _is_pointer(kind))

    def is_returned(self, variable: DapVariable) -> bool:
        return variable.name in ("[return value]", "(Return Value)")  # CodeLLDB's and lldb-dap's

    def is_leaf(self, value: str, kind: str | None) -> bool:
        return "string" in (kind or "") and _QUOTED.search(value) is not None

    def plain_type(self, kind: str | None) -> str | None:
        return short_type(kind) if kind else kind

    def bare_type(self, kind: str | None) -> str:
        return re.sub(r"^((const|volatile|struct|class|union|enum) )+|[\s&*]+(const)?$", "", kind or "")

    def is_bare(self, value: str, kind: str | None) -> bool:
        kind = (kind or "").rstrip()
        return _BARE.fullmatch(value) is not None and not _is_pointer(kind)

    def indexed(self, expression: str, file: str | None) -> Sequence[str]:
        # In C and C++ a pointer is indexed; in Rust that to which a reference leads, by code that no debugger runs.
        return indexed_parts(expression) if file is not None and file.endswith(".rs") else ()

    def index_problem(self, kind: str | None) -> str | None:
        pointed = _RUST_POINTER.fullmatch(kind or "")
        target = pointed and (pointed[1] or pointed[2])
        if not target or "::" not in target or target.startswith("["):
            return None
        return f"is a reference to {target}: with an index the memory behind that is read, and not an item of it"


class NativeDialect(Dialect):
    """What gdb's and lldb's messages have in common; `raised` are their filters for exceptions that are thrown."""

    call_reason: ClassVar[str | None] = "function call"  # gdb's

    def __init__(self, raised: Sequence[str]) -> None:
        self._raised = list(raised)

    def condition_failure(self, output: str) -> tuple[str, str] | None:
        found = _CONDITION_FAILED.match(output)
        if found is None:
            return None
        if found["unparsed"] is not None:
            return found["text"], found["unparsed"]
        lines = found["trace"].splitlines()
        telling = next((line for line in lines if _ERROR.match(line)), lines[0] if lines else "")
        return found["condition"], telling

    def hides(self, variable: DapVariable) -> bool:
        return variable.value.startswith("<error: parent ")  # lldb's members behind a null pointer

    def module_name(self, frame: DapFrame) -> str | None:
        return None if frame.module_id is None else str(frame.module_id).rpartition("/")[2]

    def function_name(self, name: str) -> str:
        """Without the types of the parameters, with which lldb shows a function: `shop::add(int) const`.

        And without what Rust's compiler adds to make it unique: `shop::add::h6dec439d0c832019`.
        """
        name = re.sub(r"::h[0-9a-f]{16}$", "", name)
        bare = re.sub(r"\)( const| volatile| &&?|\[abi:\w+\])*$", ")", name)
        if not bare.endswith(")"):
            return name
        depth = 0
        for index in range(len(bare) - 1, 0, -1):
            depth += (bare[index] == ")") - (bare[index] == "(")
            if depth == 0:  # of `operator()` the only parentheses are its name
                return bare[:index] if bare[:index] and not bare[:index].endswith("operator") else name
        return name

    def exception_arguments(self, wanted: Sequence[TypedException], capabilities: Capabilities) -> dict[str, Any]:
        # An uncaught exception ends in SIGABRT, at which every program stops.
        return {"filters": self._raised if any(exception.first_chance for exception in wanted) else []}


class NativeWords(Words):
    """What gdb's and lldb's texts have in common.

    Args:
        own_streams: the program's streams are ours, so that whatever the adapter reports as output is its own.
    """

    def __init__(self, *, own_streams: bool) -> None:
        self._own_streams = own_streams

    exit_signal: ClassVar[str | None] = "$_exitsignal"

    def stream(self, category: str, text: str = "") -> ProgramStream:
        own = self._own_streams or _CONDITION_FAILED.match(text) is not None
        own = own or all(_OF_GDB.match(line) for line in text.splitlines() or ["?"])
        return "console" if own else super().stream(category, text)

    def is_beginning(self, text: str) -> bool:
        return not self._own_streams and _CONDITION_FAULT.match(text) is not None

    def is_routine(self, text: str) -> bool:
        return not self._own_streams and bool(text) and all(_ROUTINE.match(line) for line in text.splitlines())

    def about_breakpoint(self, answer: DapBreakpoint) -> DapBreakpoint:
        if answer.message is not None and answer.message.startswith(_RUNS):
            return replace(answer, message=SET_AT_STOP)
        found = _RESOLVED.fullmatch(answer.message or "")
        if found is None:
            silent = not answer.verified and not answer.message  # as lldb-dap is
            return replace(answer, message=_NOWHERE) if silent else answer
        if found[1] == "0":
            return replace(answer, verified=False, message=_NOWHERE)
        return replace(answer, message=None)

    def thread_name(self, name: str) -> str:
        found = _SYSTEM_THREAD.fullmatch(name)
        return name if found is None else found["name"] or found["quoted"] or ""

    def system_thread(self, name: str) -> int | None:
        """Return the kernel's id of a thread, if the adapter's name for it has it."""
        found = _SYSTEM_THREAD.fullmatch(name)
        return None if found is None else int(found["lwp"] or found["tid"])

    def why(self, stopped: Stopped) -> str | None:
        return None  # it only repeats the reason: `breakpoint 1.1`, `step in`; what an exception is, is looked at

    def plain_error(self, error: str) -> str:
        if _NO_COMPARISON.fullmatch(error):
            return f'{error} Texts are compared by `$_streq(name.c_str(), "x")`, or `name.compare("x") == 0`'
        absent = _ABSENT.fullmatch(error)
        if absent is not None:
            length = "; a `Vec` has its length in `len`, without parentheses"
            advice = length if absent["name"].endswith("::len") else ""
            return f"{error}: a program has only those that it calls, and that are not inlined{advice}"
        found = _NO_SYNTAX.fullmatch(error)
        if found is None:
            return error
        written = found["expression"]
        if "->" in written:
            advice = f"simple expressions have no `->`: write `{written.replace('->', '.')}`, or `/nat {written}`"
        else:
            advice = f"simple expressions have members, indices and operators; lldb's own are `/nat {written}`"
        return f"{error}: CodeLLDB's {advice}"

    def telling_line(self, error: str) -> int:
        """The first error of a compiler: those below it often follow from it."""
        lines = error.splitlines()
        return next((number for number, line in enumerate(lines) if _ERROR.match(line)), len(lines) - 1)
