"""A breakpoint on a function in a file: on the line that a call of it runs first."""

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.dap.profiles.function_code import FunctionCode
from trio_debugmcp.dap.profiles.near_names import named_alike
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.paths import file_lines
from trio_debugmcp.session.debugger import Debugger

_MOST_NAMED = 5


def place_of_function(
    debugger: Debugger, function: str, file: str, given: str, profile: Profile | None
) -> tuple[int, int | None]:
    """Return the line of a breakpoint on a function in a file, and the column if need be. `given`: the file as named.

    Raises:
        UsageError: `INVALID_PARAMETER`: which other call sets such a breakpoint.
    """
    lines = file_lines(debugger, file) or []
    if profile is None or not profile.code.finds_functions:
        raise _unreadable(function, given, lines)
    code, text = profile.code, "\n".join(lines)
    defined = list(code.functions(file, text))
    found = [each for each in defined if f".{code.module_in(file)}.{each.qualname}".endswith(f".{function}")]
    if len(found) == 1:
        return _first_statement(found[0], function, given)
    if not found:
        raise _unknown(function, given, defined)
    named = " or ".join(f"line={each.first} ({each.qualname})" for each in found[:_MOST_NAMED])
    more = f" or {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    sentence = f"`{function}` may be one of {len(found)} functions of '{given}'. Pass `file` and {named}{more}."
    raise UsageError("INVALID_PARAMETER", sentence)


def _first_statement(found: FunctionCode, function: str, given: str) -> tuple[int, int | None]:
    if found.first > found.line or found.column is not None:
        return found.first, found.column
    sentence = f"`{function}` of '{given}' stands on one line, where its definition would stop as well."
    advice = f"Pass `function` without `file`: breakpoint_set(function='{found.qualname}')."
    raise UsageError("INVALID_PARAMETER", f"{sentence} {advice}")


def _unknown(function: str, given: str, defined: list[FunctionCode]) -> UsageError:
    names = list(dict.fromkeys(each.qualname for each in defined))
    bare = function.rpartition(".")[2]
    alike = named_alike(bare, {name: name.rpartition(".")[2] for name in names}) or names[:_MOST_NAMED]
    left = len(names) - len(alike)
    there = ", ".join(f"`{name}`" for name in alike) + (f" and {left} more" if left else "")
    has = f"It has {there}." if names else "It has no functions."
    return UsageError("INVALID_PARAMETER", f"There is no function `{function}` in '{given}'. {has}")


def _unreadable(function: str, given: str, lines: list[str]) -> UsageError:
    called = function.rpartition(".")[2].rpartition("::")[2]
    line = next((number for number, text in enumerate(lines, 1) if f"{called}(" in text.replace(" (", "(")), None)
    where = f", where it is first named: breakpoint_set(file='{given}', line={line})" if line is not None else ""
    advice = f"Pass `function` alone, or `file` and the `line` of its first statement{where}."
    sentence = "A breakpoint on a `function` has no `file` in this language."
    return UsageError("INVALID_PARAMETER", f"{sentence} {advice}")
