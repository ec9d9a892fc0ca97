"""The tools. One file per family; a tool is a function with a typed parameter struct, and the struct is its schema."""

from importlib import import_module
from typing import Any, Literal

from trio_debugmcp.errors import NO_SESSION
from trio_debugmcp.server.tools.more import more_tool
from trio_debugmcp.server.tools.tool import Toolbox

__all__ = ["Toolbox", "open_toolbox"]


def open_toolbox(*, core_only: bool = False, replay: Literal["watched", "driven"] | None = None) -> Toolbox:
    """Make the toolbox. `core_only`: it lists only what an agent needs every day.

    `replay`: for clients that watch a replay, or drive it. To those that watch, what would move the program is refused,
    and no call of theirs is recorded in the timeline.
    """
    tools = [tool for family in _families() for tool in family.TOOLS]
    no_session = NO_SESSION
    if replay is not None:
        from trio_debugmcp.server.tools import replayed

        if replay == "watched":
            no_session = replayed.NO_SESSION_HERE
        tools = [replayed.watched(tool) if replay == "watched" else replayed.driven(tool) for tool in tools]
    return Toolbox(tools, no_session, core_only=core_only, more=more_tool)


_FAMILIES = (
    "starting.configurations",
    "starting.sessions",
    "starting.listening",
    "moving.run_control",
    "moving.going",
    "moving.experiments",
    "moving.pausing",
    "breakpoints.breakpoints",
    "breakpoints.editing",
    "breakpoints.addressed",
    "breakpoints.tracepoints",
    "moving.tracing",
    "looking.stacks",
    "looking.threads",
    "looking.inspection",
    "looking.exceptions",
    "looking.safely",
    "looking.objects",
    "looking.symbols",
    "looking.references",
    "looking.setting",
    "looking.source",
    "looking.loaded",
    "looking.snapshots",
    "looking.past",
    "looking.memory",
    "runs.asking_why",
    "runs.run_histories",
    "runs.run_goto",
    "runs.run_compare",
    "runs.debug_hunt",
    "runs.run_list",
    "runs.recording_pieces",
    "looking.program_streams",
    "timeline",
    "people.people",
    "people.watch_link",
    "card_tools",
)
"""The modules with the tools, in the order in which these are listed. Imported when the toolbox is made."""


def _families() -> list[Any]:
    return [import_module(f"{__name__}.{name}") for name in _FAMILIES]
