"""What the tools take that set, list and change breakpoints on lines, functions and exceptions."""

from typing import Annotated

from msgspec import Meta

from trio_debugmcp.server.tools.breakpoints.conditions import Condition, HitCondition
from trio_debugmcp.server.tools.group_choice import GroupOf
from trio_debugmcp.server.tools.tool import LineNumber, Params


class BreakpointSet(Params, frozen=True, kw_only=True):
    file: Annotated[str | None, Meta(description="The source file: a path, absolute or relative to the server.")] = None
    line: Annotated[LineNumber | None, Meta(description="The line, counted from 1.")] = None
    statement: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Or the text of the line, which is found again after edits."),
    ] = None
    every: Annotated[bool, Meta(description="With `statement`: on each line that has this text.")] = False
    function: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Or a function: `name`, `Class.method`, `module.name`; with `file`: there."),
    ] = None
    address: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Or an instruction of the native program that is paused, as disassemble shows it."),
    ] = None
    column: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="The column, where the adapter can tell them apart."),
    ] = None
    condition: Condition = None
    hit_condition: HitCondition = None
    log_message: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Write this and do not stop; `{expression!r:>8}` as in an f-string."),
    ] = None
    session_id: Annotated[str | None, Meta(description="With `address`: whose program it is of.")] = None


class BreakpointSetInGroup(BreakpointSet, frozen=True, kw_only=True):
    group: GroupOf = None


class BreakpointSetException(Params, frozen=True, kw_only=True):
    exception_type: Annotated[str, Meta(min_length=1, description="Short or full name; `*`: all.")]
    break_on_first_chance: Annotated[bool, Meta(description="Where it is raised, even if it is caught.")] = True
    break_on_second_chance: Annotated[bool, Meta(description="When nothing catches it.")] = True
    break_on_user_unhandled: Annotated[
        bool, Meta(description="When it leaves the user's code, caught there or not: where a test fails.")
    ] = False
    include_subtypes: Annotated[
        bool | None, Meta(description="Stop for types derived from it as well; by default if they are known.")
    ] = None
    file: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Only where code of this file or directory raises it."),
    ] = None
    condition: Condition = None


class BreakpointEnable(Params, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="A breakpoint of any kind, e.g. bp-1.")]
    enabled: Annotated[bool, Meta(description="False switches it off and keeps it.")] = True


class BreakpointRemove(Params, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="Its id, or `*`.")]


class BreakpointList(Params, frozen=True, kw_only=True):
    pass
