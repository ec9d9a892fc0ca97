"""The tools. One file per family; a tool is a function with a typed parameter struct, and the struct is its schema."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Literal

from msgspec.structs import replace

from trio_debugmcp.errors import NO_SESSION
from trio_debugmcp.server.naming import MORE
from trio_debugmcp.server.tools.more import more_tool
from trio_debugmcp.server.tools.tool import Tool, Toolbox

__all__ = ["Toolbox", "open_toolbox"]


class Families(Mapping[str, Tool]):
    """All tools by their names. A family is imported with its first tool: a shell calls one, and waits for that.

    Args:
        made: what becomes of a tool before it is used.
    """

    def __init__(self, made: Callable[[Tool], Tool] = lambda tool: tool) -> None:
        self._made = made
        self._tools: dict[str, Tool] = {}

    def __repr__(self) -> str:
        return f"<Families, {len(self._tools)} tools of {len(self)}>"

    def __getitem__(self, name: str) -> Tool:
        if name == MORE and name not in self._tools:  # called without a tool it only says what there is
            others, every_day = ([tool for tool in self._all() if tool.listing == each] for each in ("full", "core"))
            self._tools[name] = replace(more_tool(others, every_day), read_only=True)
        elif name not in self._tools:
            family = import_module(f"{__name__}.{_HOMES[name]}")
            self._tools |= {tool.name: self._made(tool) for tool in family.TOOLS}
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in _HOMES or name == MORE

    def __iter__(self) -> Iterator[str]:
        yield from _HOMES
        yield MORE

    def __len__(self) -> int:
        return len(_HOMES) + 1

    def _all(self) -> list[Tool]:
        return [self[name] for name in _HOMES]


def open_toolbox(*, core_only: bool = False, replay: Literal["watched", "driven"] | None = None) -> Toolbox:
    """Make the toolbox. `core_only`: it lists only what an agent needs every day.

    `replay`: for clients that watch a replay, or drive it. To those that watch, what would move the program is refused,
    and no call of theirs is recorded in the timeline.
    """
    if replay is None:
        return Toolbox(Families(), core_only=core_only, more=more_tool)
    from trio_debugmcp.server.tools import replayed

    watched = replay == "watched"
    tools = Families(replayed.watched if watched else replayed.driven)
    no_session = replayed.NO_SESSION_HERE if watched else NO_SESSION
    return Toolbox(tools, no_session, core_only=core_only, more=more_tool)


FAMILIES = {
    "starting.configurations": ("debug_launch", "debug_configurations"),
    "starting.sessions": ("debug_attach", "debug_disconnect", "debug_restart", "debug_state"),
    "starting.listening": ("debug_listen",),
    "moving.run_control": ("debug_continue", "debug_step", "debug_run_to", "debug_wait", "breakpoint_wait"),
    "moving.going": ("debug_goto",),
    "moving.experiments": ("batch_evaluate", "debug_run_until"),
    "moving.pausing": ("debug_pause",),
    "breakpoints.breakpoints": (
        *("breakpoint_set", "breakpoint_set_exception", "breakpoint_enable", "breakpoint_remove", "breakpoint_list"),
    ),
    "breakpoints.editing": ("breakpoint_edit",),
    "breakpoints.addressed": ("breakpoint_set_data",),
    "breakpoints.tracepoints": ("tracepoint_set",),
    "moving.tracing": ("trace_function",),
    "looking.stacks": ("stacktrace_get",),
    "looking.threads": ("threads_list", "tasks_list"),
    "looking.fleet": ("fleet_state",),
    "looking.inspection": ("variables_get", "evaluate"),
    "looking.exceptions": ("exception_get_context",),
    "looking.safely": ("evaluate_safe",),
    "looking.objects": ("object_inspect", "collection_summarize"),
    "looking.symbols": ("type_get", "symbols_search"),
    "looking.references": ("references_get",),
    "looking.setting": ("variable_set",),
    "looking.source": ("source_get",),
    "looking.loaded": ("modules_list", "sources_list"),
    "looking.snapshots": ("snapshot_create", "snapshot_diff", "snapshot_list", "snapshot_delete"),
    "looking.past": ("stop_get",),
    "looking.memory": ("memory_read", "memory_write", "disassemble"),
    "runs.asking_why": ("why",),
    "runs.run_histories": ("history_get", "calls_get"),
    "runs.run_goto": ("run_goto",),
    "runs.run_compare": ("run_compare",),
    "runs.debug_hunt": ("debug_hunt",),
    "runs.run_list": ("run_list",),
    "runs.recording_pieces": ("debug_record",),
    "looking.program_streams": ("process_read_output", "process_write_input"),
    "timeline": ("timeline_query",),
    "people.people": (
        *("ask_person", "person_join", "session_hold", "session_hand_back", "agent_message", "person_answer"),
    ),
    "people.watch_link": ("observe_link",),
    "card_tools": ("card_state", "card_run"),
}
"""The modules with the tools, in the order in which these are listed, and the tools of each."""

_HOMES = {name: family for family, names in FAMILIES.items() for name in names}
