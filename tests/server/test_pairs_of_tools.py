"""Any two tools at once, and any parameter with a wrong value: in memory, with a scripted adapter."""

from itertools import combinations_with_replacement
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from tests.real.tool_cases import ANY, EXPECTED, FILE, ID, MEANINGS
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect

TOOLS = open_toolbox()

ENDS = {"debug_disconnect", "debug_restart", "debug_launch", "debug_attach", "debug_listen"}
"""Tools that end or begin a session; tests/session and tests/faults have these beside others."""

MOVES = {name for name, expected in EXPECTED.items() if expected.moves} | {"debug_pause"}


UNDOES = MOVES | {"breakpoint_set", "breakpoint_enable", "breakpoint_remove", "tracepoint_set"}
"""Tools that change what the next ones find."""

TAKES = MOVES | {"breakpoint_remove", "snapshot_create", "snapshot_diff", "snapshot_delete"}
"""Tools whose answer depends on what another has made or taken away, or that do so."""


def arguments_of(tool: str, own: str = "bp-1") -> dict[str, Any]:
    """Arguments that are right; `own` is a breakpoint that is there."""
    places = {FILE: FakeAdapter.program, ID: own}
    given = {
        name: places.get(each, each) if isinstance(each, str) else each
        for name, each in EXPECTED[tool].arguments.items()
    }
    return {**given, **({"timeout": 1} if "timeout" in TOOLS.parameters(tool) else {})}


async def code_of(client: DebugClient, tool: str, own: str) -> str | None:
    try:
        await client.call(tool, **arguments_of(tool, own))
    except ToolFailed as failed:
        return failed.code
    return None


async def begun(client: DebugClient, adapter: FakeAdapter) -> str:
    """Have the program paused, and a breakpoint set; return its id."""
    if (await client.call("debug_state"))["state"] != "Paused":
        await adapter.stop("pause")
        await client.call("debug_wait")
    own: str = (await client.call("breakpoint_set", file=adapter.program, line=1))["id"]
    return own


ALL = pytest.param(1, marks=pytest.mark.nightly("a thousand pairs take 10 s; a tenth of them is tried at every change"))


@pytest.mark.parametrize("every", [ALL, 11])
async def test_any_two_tools_at_once_do_not_disturb_each_other(every: int, autojump_clock: MockClock) -> None:
    """Those that move nothing answer as they do alone; beside one that moves the program each has an answer."""
    adapter = FakeAdapter()
    adapter.values = {"x": "1"}
    quiet = [tool.name for tool in TOOLS.tools if tool.name not in ENDS and tool.acts_on != "people"]
    async with connect(options=adapter.options()) as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
        alone = {}
        for tool in quiet:
            alone[tool] = await code_of(client, tool, await begun(client, adapter))
        own, before = await begun(client, adapter), ("", "")
        for (one, first), (two, second) in combinations_with_replacement(enumerate(quiet), 2):
            if (one + two) % every:
                continue
            pair = first, second
            if UNDOES & {*pair, *before}:
                own = await begun(client, adapter)
            before = pair
            codes: dict[int, str | None] = {}

            async def call(number: int, tool: str, own: str = own, into: dict[int, str | None] = codes) -> None:
                into[number] = await code_of(client, tool, own)

            with trio.fail_after(60):
                async with trio.open_nursery() as nursery:
                    for number, tool in enumerate(pair):
                        nursery.start_soon(call, number, tool)
            for number, tool in enumerate(pair):
                if TAKES.isdisjoint(pair):
                    assert codes[number] == alone[tool], pair
                else:
                    assert codes[number] in {None, *MEANINGS, *ANY} - {"INTERNAL", "NO_SESSION", "ADAPTER_GONE"}, pair
        await begun(client, adapter)
        assert (await client.call("evaluate", expression="x"))["value"]


def wrong_values(schema: dict[str, Any]) -> list[Any]:
    """Values of another type, and beyond the bounds."""
    kinds = schema.get("anyOf", [schema])
    types = {each.get("type") for each in kinds}
    wrong: list[Any] = [value for kind, value in (("object", {"deep": 1}), ("array", [[]])) if kind not in types]
    for each in kinds:
        wrong += [each["minimum"] - 1] if "minimum" in each else []
        wrong += [each["maximum"] + 1] if "maximum" in each else []
        wrong += ["nonsense"] if "enum" in each and types <= {"string", "null", None} else []
        wrong += [["x"] * (each["maxItems"] + 1)] if "maxItems" in each else []
    return wrong


@pytest.mark.parametrize("tool", TOOLS.names)
async def test_a_wrong_value_of_any_parameter_is_refused_with_a_sentence_that_names_it(
    tool: str, autojump_clock: MockClock
) -> None:
    params = next(each.params for each in TOOLS.tools if each.name == tool)
    _, components = msgspec.json.schema_components((params,), ref_template="{name}")
    async with connect(options=FakeAdapter().options()) as client:
        for name, schema in components[params.__name__]["properties"].items():
            for value in wrong_values(schema):
                with pytest.raises(ToolFailed) as failed:
                    await client.call(tool, **{**arguments_of(tool), name: value})
                assert (failed.value.code, name in failed.value.message) == ("INVALID_PARAMETER", True), (value, failed)
                assert failed.value.message.endswith(".")
