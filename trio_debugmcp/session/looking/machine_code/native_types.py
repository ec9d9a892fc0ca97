"""Types of programs of machine code, as the debugger's own commands print them."""

import re

from msgspec import Struct

from trio_debugmcp.dap.profiles.native.safe_commands import SafeRepl
from trio_debugmcp.dap.profiles.native.type_layout import NativeField, NativeType, parsed_type, with_allocator
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_commands import command_answer
from trio_debugmcp.session.looking.by_probe.safe_evaluation import SafePlace, evaluate_safely
from trio_debugmcp.session.looking.by_probe.type_descriptions import DescribedType, Member
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, shortened

COMMAND_SECONDS = 5.0
"""For a command; to read the debug information of a large program takes seconds, once."""

_AROUND = re.compile(r"^((const|volatile|struct|class|union|enum) )+|[\s&*]+(const)?$|(\[\d+\])+$")
"""What stands around the name of a type, in the type of a value."""


class MembersQuestion(Struct, frozen=True):
    """Which members of a type; `inherited`: also those that classes of libraries pass on."""

    filter: str | None = None
    kind: str | None = None
    inherited: bool = False
    start: int = 0
    count: int = 100


async def native_type(ways: Ways, place: SafePlace, expression: str, asked: MembersQuestion) -> DescribedType:
    """Return the type that an expression names, or that its value is of.

    Raises:
        UsageError: `EVAL_FAILED`, `SAFE_EVAL_REJECTED`, `EVAL_TIMEOUT` or `NOT_SUPPORTED`.
    """
    # lldb looks up names of types only, and finds those of the C library, too: a variable of that name comes first.
    kind = await _kind_of_path(ways, place, expression)
    found = None if kind else await _type_named(ways, place, expression)
    if found is None and kind is None:
        _, kind = await evaluate_safely(ways, place, expression, _seconds(ways), MAX_VALUE_LENGTH)
    if kind:
        name = _AROUND.sub("", kind).strip()
        # The name is all that there is of some, with arguments that lldb leaves out for one.
        found = await _type_named(ways, place, name) or NativeType(name)
    if found is None:
        raise UsageError("EVAL_FAILED", f"There is no type `{shortened(expression)}`, and no value of that name.")
    return _answer(found, asked)


async def _kind_of_path(ways: Ways, place: SafePlace, path: str) -> str | None:
    """Return the type of the value that a path leads to, where the debugger has a command only for that."""
    repl = ways.profile.repl
    command = repl.value_command(path) if isinstance(repl, SafeRepl) else None
    if command is None or place.frame is None:
        return None
    body = await command_answer(ways.requests, place.frame, command, path, _seconds(ways))
    try:
        return repl.safe_answer(body.result)[1]
    except ValueError:  # there is no such variable
        return None


async def _type_named(ways: Ways, place: SafePlace, name: str) -> NativeType | None:
    """Return a type by its name, or by the one that its debug information has; gdb takes a value for its type."""
    whole = with_allocator(name)
    try:
        found = await _printed(ways, place, name)
    except UsageError as error:
        if error.code != "EVAL_FAILED" or whole is None:
            raise
        found = None
    return await _printed(ways, place, whole) if found is None and whole is not None else found


async def _printed(ways: Ways, place: SafePlace, expression: str) -> NativeType | None:
    name = ways.profile.name
    repl = ways.profile.repl
    try:
        command = repl.type_command(expression) if isinstance(repl, SafeRepl) else None
    except ValueError as error:
        raise UsageError("SAFE_EVAL_REJECTED", f"Not looked up: {error}.") from None
    if command is None or place.frame is None:
        why = "it tells the type of a value, but not what a type consists of"
        raise UsageError("NOT_SUPPORTED", f"{name} has no answer to type_get: {why}.", {"adapter": name})
    body = await command_answer(ways.requests, place.frame, command, expression, _seconds(ways))
    return parsed_type(body.result)


def _seconds(ways: Ways) -> float:
    return ways.requests.patience.seconds(COMMAND_SECONDS)


def _answer(found: NativeType, asked: MembersQuestion) -> DescribedType:
    word = (asked.filter or "").lower()
    members = [Member(field.name, "fields", _text(field)) for field in found.fields]
    members += [Member(_method_name(method), "methods", method) for method in found.methods]
    wanted = [member for member in members if word in member.name.lower() and asked.kind in (None, member.kind)]
    return DescribedType(
        name=found.name,
        file=found.file,
        line=found.line,
        bases=found.bases,
        mro=found.bases,
        size=found.size,
        members=tuple(wanted[asked.start : asked.start + asked.count]),
        total=len(wanted),
    )


def _text(field: NativeField) -> str:
    words = [field.type]
    words += [] if field.offset is None else [f"offset {field.offset}"]
    words += [] if field.size is None else [f"{field.size} bytes"]
    return ", ".join(word for word in words if word)


def _method_name(text: str) -> str:
    return text.partition("(")[0].rpartition(" ")[2].strip("*&") or text
