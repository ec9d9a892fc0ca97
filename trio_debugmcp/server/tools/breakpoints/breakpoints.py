"""The tools about breakpoints on lines, functions and exceptions, which belong to the server and outlive sessions."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.dap.profiles.python.code_lines import lines_in_texts
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.breakpoints import (
    BreakpointAnswer,
    BreakpointLines,
    Removed,
    breakpoint_answer,
    breakpoint_lines,
    type_question,
    update_notes,
)
from trio_debugmcp.server.tools.breakpoints.addressed import set_on_instruction
from trio_debugmcp.server.tools.breakpoints.breakpoint_parameters import (
    BreakpointEnable,
    BreakpointList,
    BreakpointRemove,
    BreakpointSet,
    BreakpointSetException,
    BreakpointSetInGroup,
)
from trio_debugmcp.server.tools.breakpoints.conditions import check_hit_condition, check_texts
from trio_debugmcp.server.tools.breakpoints.exception_support import check_lineage, check_name, exception_spec
from trio_debugmcp.server.tools.breakpoints.functions_in_files import place_of_function
from trio_debugmcp.server.tools.breakpoints.group_breakpoints import in_group, silence_notes
from trio_debugmcp.server.tools.breakpoints.notebook_cells import place_in_cell
from trio_debugmcp.server.tools.paths import code_file, existing_file, file_lines, no_file
from trio_debugmcp.server.tools.tool import Tool
from trio_debugmcp.session.breakpoints.line_text import NotFound, begins, every_line, occurrence, place_of
from trio_debugmcp.session.debugger import READER, Debugger
from trio_debugmcp.source_lines import source_lines
from trio_debugmcp.state.breakpoint import BreakpointSpec

_MOST_LINES = 100
"""Breakpoints that one call sets."""

_Wanted = TypeVar("_Wanted", bound="BreakpointSet")

_NOT_BY_ADDRESS = ("file", "line", "statement", "function", "column", "log_message", "group")


def breakpoint_spec(
    debugger: Debugger,
    params: BreakpointSet,
    cwd: str | None = None,
    launched: Profile | None = None,
    given_code: str | None = None,
    near: str | None = None,
) -> BreakpointSpec:
    """Check the parameters of a breakpoint, and return what to set.

    `cwd`: where relative files start from. `launched`: what knows the language of the program that is being launched;
    `near`: its file; `given_code`: its text, if it is in no file.

    Raises:
        UsageError: `INVALID_PARAMETER`, `INVALID_PATH`, `PERMISSION_DENIED` or `INVALID_CONDITION`.
    """
    if params.session_id is not None:
        sentence = "Only a breakpoint on an `address` is of one session: leave `session_id` out."
        raise UsageError("INVALID_PARAMETER", sentence)
    params = replace(params, **place_in_cell(debugger, params.file, params.line, cwd, near, stops=True))
    _check_place(debugger, params, launched)
    file = None
    if params.file is not None:
        file = existing_file(debugger, params.file, cwd, near) or code_file(debugger, params.file)
        if file is None:
            raise no_file(debugger, params.file, cwd)
        if params.function is not None:
            language = launched or debugger.language_of(file)
            first, column = place_of_function(debugger, params.function, file, params.file, language)
            params = replace(params, function=None, line=first, column=column)
    profile = launched if file is None and launched is not None else debugger.language_of(file)
    check_texts(params.condition, params.hit_condition, params.log_message, profile)
    given = given_code if file is not None and code_file(debugger, file) else None
    line, text, among = _line(debugger, file, params, given) if file is not None else (None, None, None)
    return BreakpointSpec(
        file=file,
        line=line,
        text=text,
        by_text=params.statement is not None,
        occurrence=among,
        column=params.column if file is not None else None,
        function=params.function,
        condition=params.condition,
        hit_condition=params.hit_condition,
        log_message=params.log_message,
    )


def _check_place(debugger: Debugger, params: BreakpointSet, launched: Profile | None) -> None:
    """Check that a breakpoint has one place.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    has_line = params.file is not None and (params.line is not None or params.statement is not None)
    if params.function is None and not has_line:
        raise UsageError("INVALID_PARAMETER", "Pass `file` and `line`, `file` and `statement`, or `function`.")
    beside = [each for each in ("line", "statement", "column") if getattr(params, each) is not None]
    if params.function is not None and beside:
        raise UsageError(
            "INVALID_PARAMETER",
            f"A breakpoint on a `function` has no `{beside[0]}`. To say which function is meant, pass its `file`, "
            "or name it as `module.name` or `Class.method`.",
        )
    if params.function is not None:
        check_name(debugger, params.function, _function_problem, launched)


def _function_problem(profile: Profile, name: str) -> str | None:
    """Return why this cannot be the name of a function: the rest of a sentence that begins with it."""
    if name.endswith(profile.detect.suffixes):
        return "is a file: say its line, too, FILE:LINE, or name a function"
    return profile.code.function_name_problem(name)


def on_each_line(debugger: Debugger, params: _Wanted, cwd: str | None = None, near: str | None = None) -> list[_Wanted]:
    """Return one breakpoint for each line that has the `statement`, if every one is wanted; else what was given.

    Raises:
        UsageError: `INVALID_PARAMETER`: there is no file or statement, or there are too many such lines.
    """
    if not params.every:
        return [params]
    if params.file is None or params.statement is None or params.line is not None:
        raise UsageError("INVALID_PARAMETER", "`every` needs `file` and `statement`, and no `line`.")
    file = existing_file(debugger, params.file, cwd, near)
    lines = _code_lines(file, (file and file_lines(debugger, file)) or [])
    numbers = every_line(params.statement, lines)
    if len(numbers) > _MOST_LINES:
        sentence = f"{len(numbers)} lines of '{params.file}' have this text, and {_MOST_LINES} at most are taken"
        raise UsageError("INVALID_PARAMETER", f"{sentence}: set one with a `condition`, or pass `line`.")
    found = [replace(params, line=number, statement=lines[number - 1], every=False) for number in numbers]
    return found or [replace(params, every=False)]


def _line(
    debugger: Debugger, file: str, params: BreakpointSet, given_code: str | None
) -> tuple[int | None, str | None, tuple[int, int] | None]:
    """Return the line of a breakpoint, its text as far as it is known, and which of several equal lines it is."""
    lines = file_lines(debugger, file) if given_code is None else source_lines(given_code)
    if params.statement is None:
        text = lines[params.line - 1] if lines and params.line and params.line <= len(lines) else None
        return params.line, text, None
    if lines is None:
        raise UsageError(
            "INVALID_PATH", f"'{file}' cannot be read. Pass `line` instead of `statement`.", {"path": file}
        )
    try:
        found = place_of(params.statement, _code_lines(file, lines), params.line)
    except NotFound as error:
        raise UsageError("INVALID_PARAMETER", f"In '{file}' {error}.", {"statement": params.statement}) from None
    return found.line, lines[found.line - 1], occurrence(lines, found.line)


def _code_lines(file: str | None, lines: Sequence[str]) -> list[str]:
    """Return the lines of a file, those that begin inside of a literal as empty ones: they are not what is meant."""
    inside = lines_in_texts("\n".join(lines)) if file is not None and file.endswith((".py", ".pyw", ".ipynb")) else ()
    return ["" if number in inside else line for number, line in enumerate(lines, 1)]


async def _set(debugger: Debugger, params: BreakpointSetInGroup) -> BreakpointAnswer:
    if params.address is not None:
        beside = [each for each in _NOT_BY_ADDRESS if getattr(params, each) is not None]
        if beside:
            raise UsageError("INVALID_PARAMETER", f"A breakpoint on an `address` has no `{beside[0]}`.")
        check_hit_condition(params.hit_condition)
        return await set_on_instruction(
            debugger, params.address, params.condition, params.hit_condition, params.session_id
        )
    found = [breakpoint_spec(debugger, each) for each in on_each_line(debugger, params)]
    specs, said = await in_group(debugger, found, params.group)
    answers = [await set_breakpoint(debugger, spec) for spec in specs]
    notes = [*said, *(note for answer in answers for note in answer.notes)]
    if len(answers) == 1:
        return replace(answers[0], notes=[*notes, *begun_notes(params, specs[0])])
    each = ", ".join(f"{answer.id} line {spec.line}" for answer, spec in zip(answers, specs, strict=True))
    return replace(answers[0], notes=[f"{len(answers)} lines have this text: {each}", *notes])


def begun_notes(params: BreakpointSet, spec: BreakpointSpec) -> list[str]:
    """Return a note on a line that was found by no more than its beginning: is it the one that is meant?"""
    if params.statement is None or spec.text is None or not begins(params.statement, spec.text):
        return []
    return [f"line {spec.line} is the only one that begins with `{params.statement.strip()}`: `{spec.text.strip()}`"]


async def set_breakpoint(debugger: Debugger, spec: BreakpointSpec) -> BreakpointAnswer:
    """Set a breakpoint for the client that calls, and answer what it is, and what the update of one has dropped."""
    notes = update_notes(debugger, spec, READER.get())
    made = await debugger.breakpoints.set(spec, READER.get())
    return await _answer(debugger, made.id, notes)


async def _set_exception(debugger: Debugger, params: BreakpointSetException) -> BreakpointAnswer:
    if not (params.break_on_first_chance or params.break_on_second_chance or params.break_on_user_unhandled):
        raise UsageError(
            "INVALID_PARAMETER",
            "One of break_on_first_chance, break_on_second_chance and break_on_user_unhandled must be true.",
        )
    spec = replace(
        exception_spec(debugger, params.exception_type, params.condition, params.file),
        first_chance=params.break_on_first_chance,
        second_chance=params.break_on_second_chance,
        user_unhandled=params.break_on_user_unhandled,
        include_subtypes=params.include_subtypes is not False,
    )
    if params.include_subtypes and params.exception_type != "*":
        check_lineage(debugger)
    near = type_question(debugger, spec.exception_type)
    notes = [*([f"no exception of that name is known here. {near}"] if near else []), *update_notes(debugger, spec)]
    made = await debugger.breakpoints.exceptions.set(spec, READER.get())
    return await _answer(debugger, made.id, notes)


async def _enable(debugger: Debugger, params: BreakpointEnable) -> BreakpointAnswer:
    await debugger.breakpoints.enable(params.id, enabled=params.enabled)
    return await _answer(debugger, params.id)


async def _remove(debugger: Debugger, params: BreakpointRemove) -> Removed:
    removed = await debugger.breakpoints.remove(params.id)
    return Removed(removed=removed, notes=await silence_notes(debugger, removed, removed=True))


async def _list(debugger: Debugger, params: BreakpointList) -> BreakpointLines:
    kept = debugger.earlier.found()
    count = 0 if kept is None else len(kept.breakpoints)
    notes = [f"debug_restart sets again what the server before this one had set: {count}"] if count else []
    return replace(breakpoint_lines(debugger), notes=notes)


async def _answer(debugger: Debugger, breakpoint_id: str, notes: Sequence[str] = ()) -> BreakpointAnswer:
    answer = breakpoint_answer(debugger, debugger.breakpoints.find(breakpoint_id))
    return replace(answer, notes=[*await silence_notes(debugger, [breakpoint_id]), *notes])


TOOLS = (
    Tool(
        name="breakpoint_set",
        title="Set a breakpoint",
        description=(
            "Set a breakpoint, on a line or where a function begins. Answers with the text of the line: check it. "
            "The same place again updates yours. With `log_message` it writes its text (`log` in answers) and "
            "does not stop."
        ),
        params=BreakpointSetInGroup,
        run=_set,
        idempotent=True,
        listing="core",
        unlisted=frozenset({"address", "column", "every"}),
    ),
    Tool(
        name="breakpoint_set_exception",
        title="Set an exception breakpoint",
        description=("Stop where exceptions of a type are raised, caught or not."),
        params=BreakpointSetException,
        run=_set_exception,
        idempotent=True,
        phrase="by type",
        unlisted=frozenset({"include_subtypes"}),
    ),
    Tool(
        name="breakpoint_enable",
        title="Switch a breakpoint on or off",
        description=("Switch a breakpoint of any kind off or on; it keeps its hit count."),
        params=BreakpointEnable,
        run=_enable,
        idempotent=True,
    ),
    Tool(
        name="breakpoint_remove",
        title="Remove breakpoints",
        description=("Remove a breakpoint of any kind, or all with `*`."),
        params=BreakpointRemove,
        run=_remove,
        destructive=True,
        listing="core",
    ),
    Tool(
        name="breakpoint_list",
        title="List breakpoints",
        description=("All breakpoints: place, condition, hits, and why one is pending."),
        params=BreakpointList,
        run=_list,
        read_only=True,
        idempotent=True,
    ),
)
