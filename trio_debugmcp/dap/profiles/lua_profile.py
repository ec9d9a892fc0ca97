"""`LuaProfile`: programs of Lua, by our own adapter, which runs them with the interpreter that they ask for."""

import re
import shutil
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.lua.lua_adapter import INTERRUPT, open_lua
from trio_debugmcp.dap.lua.lua_breakpoints import failed_condition
from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Words
from trio_debugmcp.dap.profiles.language import Expressions, LanguagePrograms, Repl
from trio_debugmcp.dap.profiles.profile import Dialect, Runtime
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.dap.profiles.tables.table import TableProfile
from trio_debugmcp.dap.profiles.tables.table_format import Table

_INTERPRETER = re.compile(rb"#![^\n]*?([^\s/]*lua(?:jit)?[\d.]*)(?:\s|$)")

_MAX_FIRST_LINE_BYTES = 300


class LuaExpressions(Expressions):
    """Conditions of Lua, in which only `nil` and `false` do not hold."""

    def either(self, conditions: Sequence[str], *, alone: bool = False) -> str:
        return conditions[0] if len(conditions) == 1 else " or ".join(f"({condition})" for condition in conditions)

    def both(self, one: str, other: str) -> str:
        return f"({one}) and ({other})"

    def truth(self, condition: str) -> str:
        return f"not not ({condition})"


class LuaValues(AdapterValues):
    """Functions are shown by their place, and what functions around the one at hand have, beside its locals."""

    def is_definition(self, variable: DapVariable) -> bool:
        return variable.type == "function"


class LuaDialect(Dialect):
    """What our adapter writes."""

    def condition_failure(self, output: str) -> tuple[str, str] | None:
        return failed_condition(output)


class LuaWords(Words):
    """What our adapter cannot say."""

    waiting = "it waits in C, for input or for another program, and stops when it is back in Lua"


class LuaRepl(Repl):
    """Expressions without calls, which our adapter reads itself: a member of a table may be what a function returns."""

    def safe_commands(self, expression: str) -> Sequence[str]:
        return [f"--[[safe]] {expression.strip()}"]

    def interrupt(self) -> str | None:
        return INTERRUPT

    def needs_call(self, reason: str) -> bool:
        return "it needs a call" in reason


class LuaPrograms(LanguagePrograms):
    """Programs as an interpreter runs them, which the user may name."""

    def option_problem(self, name: str, value: object) -> str | None:
        if name != "interpreter":
            return "is not among the options of this adapter: `interpreter` is"
        return None if isinstance(value, str) and value else "is to be the name or the path of an interpreter"


class LuaProfile(TableProfile):
    """The table of the interpreters, with what no table can say."""

    def __init__(self, name: str, table: Table) -> None:
        super().__init__(name, table)
        self.expressions = LuaExpressions()
        self.values = LuaValues()
        self.words = LuaWords()
        self.dialect = LuaDialect()
        self.programs = LuaPrograms()
        self.repl = LuaRepl()

    def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        interpreter = launch.options.get("interpreter") or _named_in(launch.program) or self._place()
        return open_lua([str(interpreter)], runtime.watchdog)


def _named_in(program: str) -> str | None:
    """Return the interpreter that a program's `#!` line names, if this machine has it."""
    try:
        with open(program, "rb") as file:
            found = _INTERPRETER.match(file.readline(_MAX_FIRST_LINE_BYTES))
    except OSError:
        return None
    return None if found is None else shutil.which(found[1].decode(errors="replace"))
