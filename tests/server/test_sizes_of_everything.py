"""Whatever an adapter, a program or a caller sends: each answer, error and resource has its bound."""

import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from trio_debugmcp.server.answers.last_bounds import MAX_ANSWER_BYTES, MAX_DATA_BYTES
from trio_debugmcp.server.answers.resource_pages import MAX_RESOURCE_BYTES
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect

HOSTILE = {
    "a long word": 200_000 * "x",
    "lines": 40_000 * "a\n",
    "control characters": 40_000 * "\x01",
    "emoji": 40_000 * "\N{GRINNING FACE}",
    "quotes": 40_000 * '"\\',
}

FILE = FakeAdapter.program

CALLS: dict[str, list[dict[str, Any]]] = {
    "evaluate": [{"expression": "LONG"}, {"expression": "x", "max_value_length": 200}],
    "breakpoint_set": [
        {"file": FILE, "line": 3, "condition": "LONG"},
        {"file": "LONG", "line": 3},
        {"file": FILE, "line": 3, "hit_condition": "LONG"},
        {"function": "LONG"},
        {"file": FILE, "statement": "LONG"},
    ],
    "tracepoint_set": [{"file": FILE, "line": 3, "log_message": "{LONG"}],
    "breakpoint_set_exception": [{"exception_type": "LONG", "condition": "LONG"}],
    "breakpoint_set_data": [{"expression": "LONG"}],
    "breakpoint_remove": [{"id": "LONG"}],
    "variables_get": [{}, {"path": "LONG"}, {"path": "x"}],
    "variable_set": [{"path": "LONG", "value": "LONG"}],
    "debug_launch": [{"program": "LONG"}, {"module": "LONG"}, {"program": FILE, "args": ["LONG"], "adapter": "LONG"}],
    "debug_run_to": [{"file": "LONG", "line": 1}],
    "source_get": [{"file": "LONG"}, {"file": FILE}],
    "process_write_input": [{"text": "LONG"}],
    "debug_more": [{"tool": "LONG"}],
    "LONG": [{"LONG": "LONG"}],
}
"""Arguments that are tried besides none. `LONG` is the hostile text."""


def filled(value: Any, text: str) -> Any:
    """Return arguments with the hostile text in them."""
    if isinstance(value, str):
        return value.replace("LONG", text)
    if isinstance(value, dict):
        return {filled(key, text): filled(member, text) for key, member in value.items()}
    return [filled(item, text) for item in value] if isinstance(value, list) else value


def hostile(text: str) -> FakeAdapter:
    """An adapter in all of whose answers this text stands wherever a text may."""
    adapter = FakeAdapter()
    adapter.frames = [
        (text, f"/src/{text}", 12),
        ("main", FILE, 3),
        *[(text, f"/{number}{text[:5000]}", 1) for number in range(8)],
    ]
    adapter.threads = [(1, text), *[(number, text[:50_000]) for number in range(2, 6)]]

    async def scopes(_: Any) -> Any:
        return {"scopes": [{"name": text, "variablesReference": 7, "expensive": False}]}

    async def variables(_: Any) -> Any:
        one = {"name": text[:30_000], "value": text, "type": text, "evaluateName": text[:100], "variablesReference": 0}
        return {"variables": [{**one, "name": f"{number}{one['name']}"} for number in range(4)]}

    async def modules(_: Any) -> Any:
        return {"modules": [{"id": number, "name": text[:50_000], "path": text[:50_000]} for number in range(5)]}

    async def evaluated(_: Any) -> Any:
        return {"result": text, "type": text, "variablesReference": 0}

    for command, answer in (
        ("scopes", scopes),
        ("variables", variables),
        ("modules", modules),
        ("evaluate", evaluated),
    ):
        adapter.answer(command, answer)
    return adapter


async def read_all_pages(client: DebugClient, uri: str) -> tuple[dict[str, list[Any]], list[int]]:
    """Read a resource and the pages that it names; return the items of its lists, and the bytes of each page."""
    items: dict[str, list[Any]] = {}
    sizes: list[int] = []
    following: str | None = uri
    while following is not None:
        text = await client.read_text(following)
        sizes.append(len(text.encode()))
        page = json.loads(text)
        for name, value in page.items():
            if isinstance(value, list):
                items.setdefault(name, []).extend(value)
        following = page.get("next")
    return items, sizes


FULL: dict[str, dict[str, Any]] = {
    "debug_state": {},
    "threads_list": {},
    "stacktrace_get": {"count": 400},
    "variables_get": {"count": 1000},
    "timeline_query": {"count": 1000},
    "modules_list": {},
    "stop_get": {},
}
"""Calls that answer with much data."""


async def size_of_call(client: DebugClient, tool: str, arguments: dict[str, Any]) -> int:
    """Call a tool, and return the bytes of its answer or its error."""
    result = await client.sdk.call_tool(tool, arguments)
    texts = [getattr(part, "text", "") for part in result.content]
    structured = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    return max(len("".join(texts).encode()), len(structured.encode()))


@pytest.mark.parametrize("kind", HOSTILE)
async def test_no_answer_error_or_resource_is_over_its_bound(autojump_clock: MockClock, kind: str) -> None:
    text = HOSTILE[kind]
    adapter = hostile(text)
    sizes: dict[str, int] = {}
    async with connect(options=adapter.options()) as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.event("output", {"category": "stdout", "output": text})
        await adapter.stop("pause", description=text, text=text)
        for tool in open_toolbox().names:
            if tool in ("debug_disconnect", "debug_restart", "debug_wait", "breakpoint_wait"):
                continue
            for arguments in ({}, *(filled(each, text) for each in CALLS.get(tool, ()))):
                sizes[f"{tool} {str(arguments)[:60]}"] = await size_of_call(client, tool, arguments)
                if (await client.call("debug_state"))["state"] != "Paused":
                    await adapter.stop("pause", description=text, text=text)
        sizes["an unknown tool"] = await size_of_call(client, text, {text: text})
        read = {uri: max((await read_all_pages(client, uri))[1]) for uri in await client.uris()}
        whole = {tool: await size_of_call(client, tool, {**more, "full": True}) for tool, more in FULL.items()}
    assert {what: size for what, size in sizes.items() if size > MAX_ANSWER_BYTES} == {}
    assert {uri: size for uri, size in read.items() if size > MAX_RESOURCE_BYTES} == {}
    assert {tool: size for tool, size in whole.items() if size > MAX_DATA_BYTES} == {}
    assert len(sizes) > 60


async def test_a_program_with_very_many_threads_modules_and_breakpoints_is_read_whole_page_by_page(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(number, f"a worker with an ordinary name {number}") for number in range(1, 701)]
    modules = [{"id": number, "name": f"package.module{number}", "path": f"/src/{number}.py"} for number in range(900)]

    async def loaded(_: Any) -> Any:
        return {"modules": modules}

    adapter.answer("modules", loaded)
    async with connect("legacy", options=adapter.options()) as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        for number in range(150):
            condition = f"number == {number}"
            await client.call("breakpoint_set", file=FILE, line=3 + number % 5, column=1 + number, condition=condition)
        await adapter.stop("pause")
        found = {uri: await read_all_pages(client, uri) for uri in await client.uris()}
        threads, sizes = found["debugger://threads"]
        first = json.loads(await client.read_text("debugger://threads"))
        with pytest.raises(MCPError, match=r"debugger://threads has 700 items"):
            await client.read_text("debugger://threads?start=700")
        with pytest.raises(MCPError, match="Subscribe to debugger://threads, and read its pages"):
            async with client.subscribed(first["next"]):
                pass
    assert [each["id"] for each in threads["threads"]] == list(range(1, 701))
    assert len(first["threads"]) + first["threadsLeftOut"] == 700
    assert len(sizes) > 2
    numbers = [int(each["id"].removeprefix("bp-")) for each in found["debugger://breakpoints"][0]["breakpoints"]]
    assert len({*numbers}) == len(numbers) == 150
    assert {uri: sizes for uri, (_, sizes) in found.items() if max(sizes) > MAX_RESOURCE_BYTES} == {}
