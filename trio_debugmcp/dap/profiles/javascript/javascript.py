"""JavaScript and TypeScript, as js-debug and V8 show them."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, ClassVar

from msgspec.structs import replace

from trio_debugmcp.dap.messages import Capabilities, DapBreakpoint, DapFrame, DapVariable, Stopped
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Placeholders, Words
from trio_debugmcp.dap.profiles.exception_filters import TypedException
from trio_debugmcp.dap.profiles.function_code import FunctionCode, FunctionPlace
from trio_debugmcp.dap.profiles.javascript.function_files import functions_alike, functions_in, functions_named
from trio_debugmcp.dap.profiles.javascript.printed_errors import printed_in
from trio_debugmcp.dap.profiles.javascript.v8_exceptions import BUILT_IN, keeping
from trio_debugmcp.dap.profiles.language import Code, Expressions, LanguagePrograms
from trio_debugmcp.dap.profiles.printed_exceptions import PrintedExceptions
from trio_debugmcp.dap.profiles.profile import Dialect

_NAME = r"[A-Za-z_$][\w$]*"

_PATH = re.compile(rf"{_NAME}(\??\.#?{_NAME}|\[(\d+|'[^'\\]*'|\"[^\"\\]*\")\])*")

_OF_MODULES = frozenset({"__dirname", "__filename", "exports", "module", "require"})
"""What node gives to every CommonJS module, in the scope that the module's variables are in."""

_KIND = re.compile(rf"((?:Uncaught )?{_NAME}(?:\.{_NAME})*)(?:: (.*))?", re.DOTALL)

_TWICE = re.compile(rf"\A({_NAME}) (?=\1: )")
"""The class of an error before its text, which begins with it: `ReferenceError ReferenceError: x is not defined`."""

_STACK = re.compile(r"\n    at [\s\S]*")
"""The stack behind the message of an error that is shown as a value."""

_TYPESCRIPT = re.compile(r"\.[mc]?tsx?$")

_NOT_BUILT = re.compile(r"SyntaxError|ERR_UNKNOWN_FILE_EXTENSION|Unknown file extension")

_SHORT_NAME = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]?(?![\w$])")
"""A name as minified code has them."""

_COUNTED = re.compile(r"[\w$]*\(\d+\) [\[{]")
"""How V8 begins the description of a collection: `(3) [1, 2, 3]`, `Map(2) {…}`, `Uint8Array(2) […]`."""

_FOLDED = re.compile(
    rf"(?P<head>(?:{_NAME} ?)?(?:\((?P<number>\d+)\) )?)(?P<open>[\[{{])(?P<inside>.*)(?<!…)[\]}}]", re.DOTALL
)
"""An array or an object that V8 describes with all items or fields, in short; of more it ends with an ellipsis."""

_PLACEHOLDER = re.compile(rf"\{{…\}}|\b(?:{_NAME})\(\d+\)(?=[,}}\]]|$)")
"""How V8 describes an object or a collection inside of another one."""

_MOST_UNFOLDED = 50
"""Items of an array that are asked for to show it."""

_PLACEHOLDERS = re.compile(rf"(?:\{{…\}}, ){{{_MOST_UNFOLDED},}}\{{…\}}")

_UNPARSED = re.compile(
    r'Syntax error setting breakpoint with condition (?P<condition>"(?:[^"\\]|\\.)*") on line \d+: (?P<error>.*)\s*'
)
"""What js-debug writes of a condition with which it does not set a breakpoint."""

_NOWHERE = "no script that is loaded has code there"

_MAY_BE_HANDLED = "nothing handles this rejection yet: a handler that is added later keeps the program alive"

_DEFINITION = re.compile(r"(async )?ƒ\*?|class\b")


class JavaScriptDialect(Dialect):
    """js-debug's messages."""

    running_context: ClassVar[str | None] = "repl"  # which also takes a top-level `await`

    def exception_arguments(self, wanted: Sequence[TypedException], capabilities: Capabilities) -> dict[str, Any]:
        types = sorted({exception.type for exception in wanted if exception.first_chance})
        thrown, only = bool(types), () if "*" in types else types
        uncaught = any(exception.second_chance or exception.user_unhandled for exception in wanted)
        # js-debug does not say whether anything catches the exception, and evaluates one condition for both filters. So
        # where both are wanted only an exception that is caught is kept: without one, nothing catches it.
        keeps = {"uncaught": keeping("unhandled")} if not thrown else {"all": keeping("always", only)}
        if thrown and not uncaught:
            keeps["uncaught"] = keeps["all"]
        filters = ["all", "uncaught"] if thrown else ["uncaught"] if uncaught else []
        plain = [name for name in filters if name not in keeps]
        options = [{"filterId": name, "condition": keeps[name]} for name in filters if name in keeps]
        return {"filters": plain, "filterOptions": options}

    def condition_failure(self, output: str) -> tuple[str, str] | None:
        found = _UNPARSED.fullmatch(output)
        if found is None:
            return None
        condition = str(json.loads(found["condition"]))
        # It is parsed as a statement, which ends with a semicolon.
        at_end = found["error"] == "Unexpected token ';'" and ";" not in condition
        return condition, "it does not parse: " + ("it ends too early" if at_end else found["error"])

    def exception_kind(self, kind: str, mode: str | None) -> tuple[str, str | None]:
        found = _KIND.fullmatch(kind)
        return (found[1] if found is not None else kind), "unhandled" if mode == "all" else mode  # it was not kept

    def hides(self, variable: DapVariable) -> bool:
        return variable.name in ("[[Prototype]]", "[[FunctionLocation]]", "[[Scopes]]")

    def function_name(self, name: str) -> str:
        """Without the object that a plain function is called on, or the text of the class that has it."""
        head, text, method = name.rpartition("{.")
        if text:
            owner = re.match(rf"class ({_NAME})", head)
            return f"{owner[1]}.{method}" if owner is not None else method
        return name.removeprefix("global.")

    def module_name(self, frame: DapFrame) -> str | None:
        return None


class JavaScriptWords(Words):
    """js-debug's texts."""

    waiting: ClassVar[str | None] = (
        "no JavaScript is running: the program waits, for a timer or for input, say. The pause stays armed, and stops "
        "it where JavaScript runs next"
    )

    def is_routine(self, text: str) -> bool:
        return _UNPARSED.fullmatch(text) is not None  # the breakpoint says so

    def about_breakpoint(self, answer: DapBreakpoint) -> DapBreakpoint:
        return replace(answer, message=_NOWHERE) if answer.message == "Unbound breakpoint" else answer

    def why(self, stopped: Stopped) -> str | None:
        why = super().why(stopped)
        return None if why is not None and why.startswith("Paused") else why  # it only repeats the reason

    def doubt(self, stopped: Stopped, mode: str | None) -> str | None:
        is_rejection = stopped.description == "Paused on promise rejection"
        return _MAY_BE_HANDLED if is_rejection and mode == "unhandled" else None

    def exception_message(self, kind: str) -> str | None:
        found = _KIND.fullmatch(kind)
        return "" if found is None else found[2] or ""

    def telling_line(self, error: str) -> int:
        return 0  # the stack is below

    def plain_error(self, error: str) -> str:
        return _TWICE.sub("", error.removeprefix("Uncaught "))


class JavaScriptPlaceholders(Placeholders):
    """`{…}` and `Array(3)`, as V8 shows what is inside of another value."""

    def filled(self, value: str, inside: Sequence[tuple[str, str]]) -> str | None:
        folded = _FOLDED.fullmatch(value)
        if folded is None or int(folded["number"] or 0) > _MOST_UNFOLDED or not _PLACEHOLDER.search(folded["inside"]):
            return None
        is_array = folded["open"] == "["
        if is_array is (folded["number"] is None):  # of a map the children are entries
            return None
        named = [(name, item) for name, item in inside if not (is_array and name == "length")]
        items = [item if is_array and name.isdigit() else f"{name}: {item}" for name, item in named]
        return f"{folded['head']}{folded['open']}{', '.join(items)}{']' if is_array else '}'}"


class JavaScriptValues(AdapterValues):
    """Values as V8 describes them."""

    placeholders: ClassVar[Placeholders] = JavaScriptPlaceholders()

    def trusts(self, evaluate_name: str | None) -> bool:
        return evaluate_name is not None and _PATH.fullmatch(evaluate_name) is not None

    def set_aside(self, expression: str, number: int) -> tuple[str, str, str] | None:
        """js-debug copies `o` inside of a minified function of its own, in which `o` is something else."""
        if not _SHORT_NAME.search(expression):
            return None
        name = f"globalThis.__trio_debugmcp_copy_{number}"
        return f"{name} = ({expression})", name, f"delete {name}"

    def member(self, parent: str, name: str, parent_type: str | None) -> str | None:
        if name.isdigit():
            return f"{parent}[{name}]"
        if re.fullmatch(rf"#?{_NAME}", name):
            return f"{parent}.{name}"
        return None if name.startswith("[[") or "'" in name or "\\" in name else f"{parent}['{name}']"

    def locals_of(self, variables: Sequence[DapVariable]) -> list[DapVariable]:
        of_module = {variable.name for variable in variables} >= _OF_MODULES
        hidden = _OF_MODULES | {"this"} if of_module else frozenset[str]()
        return [
            variable
            for variable in variables
            if variable.name not in hidden
            and not (variable.name == "this" and variable.value in ("global", "undefined"))
        ]

    def items_of(self, value: str, inside: Sequence[DapVariable]) -> list[DapVariable]:
        """Without `length`, `size` and functions, which objects have beside what is in them."""
        if _COUNTED.match(value):
            return [child for child in inside if child.name.isdigit()]
        return [child for child in inside if not self.is_definition(child)]

    def is_definition(self, variable: DapVariable) -> bool:
        return variable.lazy or _DEFINITION.match(variable.value) is not None

    def is_returned(self, variable: DapVariable) -> bool:
        return variable.name == "Return value" and variable.evaluate_name != variable.name

    def shown(self, value: str, kind: str | None) -> str:
        """A function by its head, an error without its stack, and a long array of objects by one placeholder."""
        if _DEFINITION.match(value):
            head = value.partition("\n")[0]
            return head if head == value else f"{head.rstrip('{ ')} {{…}}"
        value = _PLACEHOLDERS.sub("{…}, …", value)
        return _STACK.sub("", value) if "\n    at " in value else value


class JavaScriptExpressions(Expressions):
    """Expressions of JavaScript, and files that can be run."""

    def is_path(self, expression: str) -> bool:
        return _PATH.fullmatch(expression) is not None

    def truth(self, condition: str) -> str:
        return f"!!({condition})"

    def exception_types(self) -> Sequence[str]:
        return BUILT_IN


class JavaScriptCode(Code):
    """Source files."""

    finds_functions: ClassVar[bool] = True
    by_project: ClassVar[bool] = True
    internals: ClassVar[tuple[str, ...]] = ("<node_internals>/",)

    def module_in(self, file: str) -> str | None:
        return PurePath(file).name.partition(".")[0]

    def function_place(
        self,
        name: str,
        files: Sequence[str],
        directories: Sequence[str],
        may_read: Callable[[str], bool] = lambda _: True,
    ) -> FunctionPlace | None:
        found = [each for each in functions_named(name, files, directories) if may_read(each[0])]
        if not found:
            return None
        (file, function), *rest = found
        others = tuple(f"{each.qualname} ({PurePath(other).name}:{each.first})" for other, each in rest)
        return FunctionPlace(file, function.first, function.column, others)

    def functions(self, file: str, text: str | None = None) -> Sequence[FunctionCode]:
        return () if text is None else functions_in(text)

    def find_functions(
        self, name: str, files: Sequence[str], directories: Sequence[str], *, alike: bool = False
    ) -> Sequence[tuple[str, FunctionCode]]:
        return (functions_alike if alike else functions_named)(name, files, directories)


class JavaScriptPrograms(LanguagePrograms):
    """What node can run."""

    def start_advice(self, program: str, said: str) -> str | None:
        if not _TYPESCRIPT.search(program) or not _NOT_BUILT.search(said):
            return None
        return (
            "node has run the TypeScript as it is, as no built file with a source map leads to it: build it with "
            '`tsc --sourceMap`, or have it loaded by adapter_options={"runtimeArgs": ["--import", "tsx"]}'
        )

    def printed_in(self, stderr: str) -> PrintedExceptions:
        return printed_in(stderr)
