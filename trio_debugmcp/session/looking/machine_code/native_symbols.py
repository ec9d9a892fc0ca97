"""Types and functions of programs of machine code by a pattern, as the debugger's own commands list them."""

import re

from msgspec import Struct

from trio_debugmcp.dap.profiles.native.safe_commands import SafeRepl
from trio_debugmcp.dap.profiles.native.symbol_listing import (
    NamePattern,
    NativeSymbol,
    SymbolCommands,
    count_in,
    symbols_in,
)
from trio_debugmcp.dap.profiles.native.type_layout import NativeType, parsed_type
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_commands import COMMAND_CONTEXT
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import evaluate_text
from trio_debugmcp.session.looking.by_probe.type_descriptions import Symbol, Symbols
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, shortened

MAX_FOUND = 20_000
"""Symbols that a debugger may find for a pattern: 30 MB of lldb's text, which takes it some seconds."""

COMMAND_SECONDS = 10.0
"""For a command; to read the debug information of a large program takes seconds, once."""

_ERROR = re.compile(r"^error: (.*)", re.MULTILINE)


class SymbolsQuestion(Struct, frozen=True):
    """Which symbols: a pattern with `*` and `?`, or a part of a name; `module` is a part of a module's or file's."""

    pattern: str
    kind: str | None = None
    module: str | None = None
    start: int = 0
    count: int = 100


async def native_symbols(ways: Ways, frame: StackFrame, commands: SymbolCommands, asked: SymbolsQuestion) -> Symbols:
    """Return a page of the types and functions whose names match, of the program's own files unless a file is named.

    Raises:
        UsageError: `INVALID_PARAMETER` for a pattern that too many have, `EVAL_FAILED` or `EVAL_TIMEOUT`.
    """
    search = _Search(ways, frame, commands, asked)
    if asked.kind != "functions":
        await search.types()
    if asked.kind != "types":
        await search.functions()
    return search.answer()


class _Search:
    def __init__(self, ways: Ways, frame: StackFrame, commands: SymbolCommands, asked: SymbolsQuestion) -> None:
        self._ways, self._frame, self._commands, self._asked = ways, frame, commands, asked
        self._wanted = NamePattern(asked.pattern)
        self._found: set[NativeSymbol] = set()
        self._notes: list[str] = []
        self._errors = ""

    async def types(self) -> None:
        if self._commands.types is not None:
            self._found.update(await self._listed(self._commands.types, is_type=True))
            return
        whole = "" if NamePattern.has_wildcards(self._asked.pattern) else self._asked.pattern
        found = None if not whole else await self._type_named(whole)
        if found is not None and (found.name == whole or found.name.endswith(f"::{whole}")):
            self._found.add(NativeSymbol(found.name, "", found.file, found.line, True))
        self._notes.append(f"{self._ways.profile.name} finds types only by their whole names")

    async def _type_named(self, name: str) -> NativeType | None:
        repl = self._ways.profile.repl
        try:
            command = repl.type_command(name) if isinstance(repl, SafeRepl) else None
            return None if command is None else parsed_type(await self._ask(command))
        except ValueError:  # it cannot be the name of a type
            return None
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
            return None

    async def functions(self) -> None:
        commands = self._commands
        if commands.count is not None and commands.counted is not None:
            self._check(count_in(await self._ask(commands.count), commands.counted))
        self._found.update(await self._listed(commands.functions, is_type=False))

    def answer(self) -> Symbols:
        code, module = self._ways.profile.code, (self._asked.module or "").lower()
        shown: list[Symbol] = []
        left_out = 0
        for symbol in sorted(self._found, key=lambda symbol: (not symbol.is_type, symbol)):
            library = "/" in symbol.file and code.is_library(symbol.file)
            if module in symbol.file.lower() and (module or not library):
                shown.append(
                    Symbol(symbol.name, symbol.is_type, "", symbol.signature, symbol.file, symbol.line, library)
                )
            elif not module:
                left_out += 1
        if left_out:
            self._notes.append(f"{left_out} more in files of libraries: pass `module`, a part of a file's path")
        if not self._found:
            reported = _ERROR.search(self._errors)
            name = self._ways.profile.name
            self._notes.append("nothing was found; only what has debug information is")
            self._notes += [] if reported is None else [f"{name}: {shortened(reported[1], MAX_VALUE_LENGTH)}"]
        asked = self._asked
        page = tuple(shown[asked.start : asked.start + asked.count])
        return Symbols(page, total=len(shown), notes=tuple(self._notes))

    async def _listed(self, command: str, *, is_type: bool) -> list[NativeSymbol]:
        listed = list(symbols_in(await self._ask(command), self._commands.symbol, is_type=is_type))
        self._check(len(listed))
        return [symbol for symbol in listed if self._wanted.fits(symbol.name)]

    def _check(self, number: int) -> None:
        if number >= MAX_FOUND:  # gdb prints no more, and does not say so
            sentence = f"{MAX_FOUND:,} symbols or more match `{shortened(self._asked.pattern)}`: give more of the name."
            raise UsageError("INVALID_PARAMETER", sentence, {"parameter": "pattern"})

    async def _ask(self, command: str) -> str:
        filled = command.replace("{pattern}", self._wanted.expression).replace("{limit}", str(MAX_FOUND))
        body = await evaluate_text(
            self._ways.requests,
            self._frame,
            filled,
            self._asked.pattern,
            self._ways.requests.patience.seconds(COMMAND_SECONDS),
            context=COMMAND_CONTEXT,
        )
        self._errors += body.result if len(body.result) < MAX_VALUE_LENGTH else ""
        return body.result
