"""The tools. One file per family; a tool is a function with a typed parameter struct, and the struct is its schema."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Literal

from msgspec.structs import replace

from trio_debugmcp.errors import NO_SESSION
from trio_debugmcp.server.naming import MORE
from trio_debugmcp.server.tool_names import FAMILIES
from trio_debugmcp.server.tools.more import more_tool
from trio_debugmcp.server.tools.tool import Tool
from trio_debugmcp.server.tools.toolbox import Toolbox

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


_HOMES = {name: family for family, names in FAMILIES.items() for name in names}
