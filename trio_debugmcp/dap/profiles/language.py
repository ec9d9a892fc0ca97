"""What a profile knows of the debugged language: its expressions, its source files, and what users evaluate.

The defaults know nothing of any language, so an adapter can be used without.

Long because it is what adapters override: a method for each difference between languages, and little code.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from trio_debugmcp.dap.profiles.function_code import Branch, FunctionCode, FunctionPlace, Operand
from trio_debugmcp.dap.profiles.printed_exceptions import PrintedExceptions
from trio_debugmcp.dap.profiles.starts import MainClass

_PATH = r"[A-Za-z_$][\w$]*(?:\s*(?:\.|->|::)\s*[A-Za-z_$][\w$]*|\s*\[\s*(?:\d+|'[^'\\]*'|\"[^\"\\]*\")\s*\])*"
_OPERAND = rf"(?:{_PATH}|-?\d+(?:\.\d+)?|'[^'\\]*'|\"[^\"\\]*\")"
_SAFE = re.compile(rf"\s*{_OPERAND}(?:\s*(?:===?|!==?|<=|>=|<|>)\s*{_OPERAND})?\s*")
_NAME = re.compile(r"[^\W\d][^\x00-\x1f\x7f]*(?<! )|[~*(:@$<][^\x00-\x1f\x7f]+(?<! )")
"""A name in most languages, with arguments or parameters of types behind it."""


class Rejection(Struct, frozen=True):
    """A part of an expression that may change something, and the rule that it breaks."""

    part: str
    rule: str


Place = tuple[str, int]
"""The name of a function, as frames have it, and a line."""


class Expressions:
    """Expressions of the debugged language: checked without running them, and written for the adapter to evaluate.

    The defaults know nothing of the language: every expression passes, and no question can be put to the program.
    """

    # --- Checked ---------------------------------------------------------------------------------------------

    def syntax_error(self, expression: str) -> str | None:
        """What is wrong with an expression, as far as that is known without running it."""
        return None

    def is_path(self, expression: str) -> bool:
        """Whether an expression only leads to a variable, so that evaluating it changes nothing."""
        return True

    def log_message_problem(self, message: str) -> str | None:
        """What is wrong with a log message, as far as that is known without running it."""
        return None

    def program_problem(self, program: str, source: bytes) -> str | None:
        """Why a program cannot even start: a syntax error."""
        return None

    def exception_types(self) -> Sequence[str]:
        """Types of exceptions that exist in every program of the language, for completion."""
        return ()

    # --- Written ---------------------------------------------------------------------------------------------

    def either(self, conditions: Sequence[str], *, alone: bool = False) -> str:
        """A condition that holds when one of these does; `alone`: names of it must not stay in the frame."""
        return conditions[0] if len(conditions) == 1 else " || ".join(f"({condition})" for condition in conditions)

    def both(self, one: str, other: str) -> str:
        """A condition that holds when both do."""
        return f"({one}) && ({other})"

    def alternatives(self, condition: str) -> Sequence[Sequence[str]]:
        """Parts of a condition that are evaluated one after the other: it holds where all of one alternative do."""
        return ((condition,),)

    def truth(self, condition: str) -> str:
        """An expression whose value is `true` or `1`, in any case of letters, when the condition holds."""
        return condition

    tells_lineage: ClassVar[bool] = False
    """Whether the program can be asked what the type of an exception is derived from."""

    def lineage(self, kind: str) -> str | None:
        """An expression for what the exception at a stop, of this type, is derived from, most derived first."""
        return None

    def parse_lineage(self, result: str) -> tuple[str, ...]:
        """The type names in the value of `lineage`."""
        return tuple(result.strip("'\"").split())

    def types_in(self, names: Sequence[str]) -> str | None:
        """An expression for those of these exception types that the program has by now, a text with spaces between.

        It is evaluated without a frame. None where that cannot be asked: then every type may exist.
        """
        return None

    def raise_identity(self) -> str | None:
        """An expression that differs between two exceptions that live at the same time, and is constant for one."""
        return None

    def places_passed(self) -> str | None:
        """An expression for the places that the exception at a stop has passed to get to the frame at hand."""
        return None

    def parse_places(self, result: str) -> Sequence[Place]:
        """The places in the value of `places_passed`; none if it was raised in the frame at hand."""
        return ()


class JudgedExpressions(Expressions):
    """Expressions of a language, of which only is known how it says whether a condition holds."""

    def __init__(self, truth: str) -> None:
        self._truth = truth

    def truth(self, condition: str) -> str:
        return self._truth.replace("{condition}", condition)


class Code:
    """Source files of the debugged language: where their code is. The defaults know nothing of the language."""

    reads_source: ClassVar[bool] = False
    """Whether the language is known. If so, files are read, and it is only asked in queries of the host."""

    finds_functions: ClassVar[bool] = False
    """Whether functions are looked for in files, so that a breakpoint on one is a breakpoint in its first line."""

    tells_library: ClassVar[bool] = False
    by_project: ClassVar[bool] = False
    internals: ClassVar[tuple[str, ...]] = ()
    """How the user's files are known, if the adapter does not mark the others; how those of the runtime begin."""

    def is_disassembly(self, file: str) -> bool:
        """Whether the adapter has made up this source of instructions."""
        return False

    def is_generated(self, file: str) -> bool:
        """Whether a file stands for code that the program itself has made, which is then the user's."""
        return False

    def is_library(self, file: str) -> bool:
        """Whether a file is not the user's, as far as its name says."""
        return False

    def module_in(self, file: str) -> str | None:
        """The module that is in a file, where files are modules."""
        return None

    def line_with_code(self, file: str, line: int, text: str | None = None) -> int | None:
        """The line where a breakpoint on this line belongs; None if no code follows it. `text`: if not on disk."""
        return line

    def function_place(
        self,
        name: str,
        files: Sequence[str],
        directories: Sequence[str],
        may_read: Callable[[str], bool] = lambda _: True,
    ) -> FunctionPlace | None:
        """The first statement of a function, in these files or the modules below these directories.

        `may_read`: whether a file may be known at all.
        """
        return None

    def functions(self, file: str, text: str | None = None) -> Sequence[FunctionCode]:
        """The functions of a file. `text` is what it holds, where it is not on disk."""
        return ()

    def find_functions(
        self, name: str, files: Sequence[str], directories: Sequence[str], *, alike: bool = False
    ) -> Sequence[tuple[str, FunctionCode]]:
        """The functions that a name may mean, with their files; if `alike`, the user's with names like it."""
        return ()

    def branches(self, file: str, text: str | None = None) -> Mapping[int, Branch]:
        """What the lines of a file decide, by their numbers."""
        return {}

    def cleanups(self, text: str, line: int) -> Sequence[int]:
        """The lines of what an exception that is raised in a line runs before it has left the function."""
        return ()

    def operands(self, text: str, line: int) -> Sequence[Operand]:
        """The operands of the assertion that a line of a file with this text is part of; none if it is of none."""
        return ()

    def condition_at(self, file: str, line: int, condition: str, log_message: str | None = None) -> str:
        """The condition, made to hold only in the frame that is meant, where a line is executed in several."""
        return condition

    def function_name_problem(self, name: str) -> str | None:
        """Why this cannot be the name of a function: the rest of a sentence that begins with it."""
        if not _NAME.fullmatch(name) or (" " in name and not re.search(r"[(<]|\boperator\b", name)):
            return "is not the name of a function: pass one as the program has it, such as `name` or `Class::method`"
        return None

    def exception_type_problem(self, name: str) -> str | None:
        """Why this cannot be the name of a type of exceptions: the rest of a sentence that begins with it."""
        if name != "*" and (not _NAME.fullmatch(name) or (" " in name and "<" not in name)):
            return "is not the name of a type: pass one as the program has it, or `*` for all"
        return None

    def function_breakpoint(self, name: str) -> tuple[str, str | None]:
        """The name that the adapter knows a function by, and a condition for when it is the one that is meant."""
        return name, None


class FoundTest(Struct, frozen=True):
    """A test as its runner names it from `directory`, and its file, where that is known."""

    test: str
    directory: str
    file: str | None = None


class NoSuchTest(Exception):
    """Raised where a test is not there, or several may be meant; the message says which there are."""


class LanguageTests:
    """How single tests are found and run. The defaults know no tests."""

    def test_options(self, test: str) -> Mapping[str, Any] | None:
        """Options of a launch that runs one test; None if the language has no such way."""
        return None

    def test_problem(self, test: str) -> str | None:
        """Why this cannot name a test: the rest of a sentence that begins with it."""
        return None

    def find_test(self, test: str, places: Sequence[str], directory: str | None) -> FoundTest:
        """Where a test is: in the first of these places that has it, or in its project, where that is known.

        `directory`: where it is to run; by default where its project's tests are run.

        Raises:
            NoSuchTest: there is none, or there are several.
        """
        return FoundTest(test, directory or places[0])

    def tests_run_by(self, program: str, args: Sequence[str], options: Mapping[str, Any]) -> str | None:
        """The tests that a launch runs otherwise than by `test`, or "" if it does not name them; None: it runs none."""
        return None

    def is_test_missing(self, exit_code: int, errors: str) -> bool:
        """Whether a run of a test that has failed may not have found it, by the exit code and what was printed."""
        return False

    def near_tests(self, test: str, directory: str) -> list[str]:
        """Tests whose names are like that of one which was not found."""
        return []


class LanguagePrograms(LanguageTests):
    """What can be run, and by what. The defaults know no language."""

    has_main_classes: ClassVar[bool] = False
    """Whether a program is named by the class that it begins in."""

    code_file: ClassVar[str | None] = None
    """The name that frames have for the file of a program which is given as code."""

    def given_code(self, options: Mapping[str, Any]) -> str | None:
        """The code that a launch with these options runs instead of a file."""
        return None

    def first_expression(self, options: Mapping[str, Any]) -> str | None:
        """An expression to evaluate before a program that is launched with these options begins."""
        return None

    def option_problem(self, name: str, value: object) -> str | None:
        """Why an option of the adapter cannot have this value: the rest of a sentence that begins with its name."""
        return None

    def find_command(self, name: str, directory: str) -> str | None:
        """The script of a command that is installed where a program in this directory would run."""
        return None

    def main_class(self, program: str) -> MainClass | None:
        """The class that a program begins in, by its file; None in a language that does not name programs so.

        Raises:
            UsageError: `LAUNCH_FAILED`: there is none.
        """
        return None

    def start_advice(self, program: str, said: str) -> str | None:
        """What a person should do who has launched this file, which ended with what was `said`; None: nothing."""
        return None

    def missing_module(self, errors: str) -> str | None:
        """The module that was to run and is not there, by what was printed."""
        return None

    def lacks_module(self, said: str) -> bool:
        """Whether a program ended because of a module that is not installed where it runs, by what was printed."""
        return False

    def interpreter(self, program: str, directory: str, options: Mapping[str, Any]) -> str | None:
        """What is to run a program; None if the program itself says that, as compiled ones do."""
        return None

    def is_own(self, interpreter: str) -> bool:
        """Whether that is what this server runs on, too."""
        return False

    def printed_in(self, stderr: str) -> PrintedExceptions:
        """The exceptions that a program has printed: the one that ended it, and others."""
        return PrintedExceptions()

    def only_warns(self, line: str) -> bool:
        """Whether a line of source has only printed what looks like an exception, and has raised none."""
        return False


class Repl:
    """What users evaluate: statements, values, and evaluations that do not end. The defaults know no language.

    Attributes:
        by_probe: the probe evaluates it, which also knows what it printed, and that it is not to end the program.
    """

    by_probe: ClassVar[bool] = False

    def parts(self, text: str) -> tuple[str, str]:
        """Statements before a last expression, whose value is wanted, and that expression; at first empty: only it."""
        return "", text

    def nothing(self, text: str) -> tuple[str, str] | None:
        """Value and type of an expression for which the adapter answers with neither; None for a statement."""
        return None

    def changes_nothing(self, expression: str) -> bool:
        """Whether an expression may be evaluated once more than the user knows of."""
        return self.safe_rejection(expression) is None

    def safe_rejection(self, expression: str) -> Rejection | None:
        """The part of an expression that may run code of the program or change it, as far as its syntax tells."""
        if _SAFE.fullmatch(expression):
            return None
        rule = "names, members, constant indices and one comparison of these are evaluated safely in this language"
        return Rejection(expression.strip(), rule)

    def safe_commands(self, expression: str) -> Sequence[str]:
        """Commands of the adapter that evaluate an expression and call nothing of the program: the first that works.

        Empty where the adapter has none: then it evaluates as always, and only the syntax is judged.
        """
        return ()

    def safe_answer(self, text: str) -> tuple[str, str | None]:
        """Value and type in the answer to one of `safe_commands`.

        Raises:
            ValueError: there is none; with the adapter's reason.
        """
        return text, None

    def needs_call(self, reason: str) -> bool:
        """Whether one of `safe_commands` failed because something of the program would have to be called."""
        return False

    def lengths(self, values: Sequence[tuple[str, str]]) -> str | None:
        """An expression for how many items these values have, each a path and a type: numbers with spaces between.

        -1 stands for a value of a type that does not count its items.
        """
        return None

    def judged(self, condition: str) -> str:
        """An expression that is `True` if the condition holds, and else its value; or just the condition."""
        return condition

    def interrupt(self) -> str | None:
        """An expression, for no frame, that interrupts the evaluations in other threads; its value is their number."""
        return None
