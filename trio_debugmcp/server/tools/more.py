"""`debug_more`: the tool of the short list that stands for all others. It names each by a phrase, and calls it.

A call of it is a call of the tool that it names: `named_call` (`named_calls.py`) makes it that before anything else
sees it, so rights, turns, the timeline and the answer are those of that tool. What is left here is the list.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.naming import MORE
from trio_debugmcp.server.tools.schema import parameter_names
from trio_debugmcp.server.tools.tool import UNLISTED, Params, Tool
from trio_debugmcp.session.debugger import Debugger

_DETAILS = re.compile(r"[.;:](?:\s|$)| \(|, such as |, with ")


class DebugMore(Params, frozen=True, kw_only=True):
    tool: Annotated[str | None, Meta(description="Its name; without one: what there is.")] = None
    arguments: Annotated[dict[str, Any], Meta(description="Its parameters.")] = {}


class MoreAnswer(Answer, frozen=True, kw_only=True):
    """What the short list lacks: each tool with its parameters, and what it is for.

    `further`: parameters of listed tools that the list leaves out.
    """

    tools: dict[str, str] = {}
    further: dict[str, str] = {}


def more_tool(others: Sequence[Tool], every_day: Sequence[Tool]) -> Tool:
    """Return the tool that stands for others than those of every day, which are listed.

    Its hints are those of the one that does most: a client that asks before such calls asks before this.
    """

    async def listed(debugger: Debugger, params: DebugMore) -> MoreAnswer:
        return MoreAnswer(
            tools={_with_parameters(tool): _first_clause(tool.description) for tool in others},
            further={tool.name: ", ".join(sorted(tool.unlisted)) for tool in every_day if tool.unlisted},
        )

    groups: dict[str, list[str]] = {}
    for tool in others:  # those of one phrase stand together, those without one where they are
        groups.setdefault(tool.phrase or tool.name, []).append(tool.name)
    names = "; ".join(
        ", ".join(those) if those == [phrase] else f"{', '.join(those)}: {phrase}" for phrase, those in groups.items()
    )
    return Tool(
        name=MORE,
        title="More tools",
        description=(
            f'Call another tool: {MORE}(tool="debug_run_to", arguments={{"file": …, "line": 40}}). {MORE}() has their '
            f"parameters. {names}."
        ),
        params=DebugMore,
        run=listed,
        read_only=all(tool.read_only for tool in others),
        destructive=any(tool.destructive for tool in others),
        idempotent=all(tool.idempotent for tool in others),
        open_world=any(tool.open_world for tool in others),
        listing="core_only",
    )


def _first_clause(description: str) -> str:
    """Return what a tool does, up to the first of the details."""
    return _DETAILS.split(description, maxsplit=1)[0]


def _with_parameters(tool: Tool) -> str:
    known = [name for name in parameter_names(tool.params) if name not in UNLISTED]
    return f"{tool.name}({', '.join(known)})"
