"""Completions of what a person types, in both protocol eras."""

import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import trio
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.server.scene import launch, paused
from trio_debugmcp.dap.messages import CompletionItem
from trio_debugmcp.server.completions import MAX_DIRECTORY_ENTRIES, MAX_VALUES, complete, completed
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.state.resources import SOURCE_TEMPLATE
from trio_debugmcp.testing import ALL_CAPABILITIES, DebugClient, FakeAdapter, FakeProfile, Refusal, connect, open_server
from trio_debugmcp.testing.connect import Era

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])

SOURCES = types.ResourceTemplateReference(uri=SOURCE_TEMPLATE)


def completing() -> FakeAdapter:
    return FakeAdapter({**ALL_CAPABILITIES, "supportsCompletionsRequest": True})


async def values(client: DebugClient, ref: Any, name: str, typed: str) -> list[str]:
    ref = types.PromptReference(name=ref) if isinstance(ref, str) else ref
    return (await client.sdk.complete(ref, {"name": name, "value": typed})).completion.values


@both_eras
async def test_files_of_the_program_complete_the_template_and_the_prompts(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("work", "/src/shop.py", 3), ("main", "/src/main.py", 1), ("odd", "/src/100%.py", 1)]
    async with connect(era, options=adapter.options()) as client:
        assert await values(client, SOURCES, "file", "") == []
        await launch(client, adapter)
        await adapter.stop()
        await trio.sleep(1)
        assert await values(client, SOURCES, "file", "/src/") == ["/src/100%25.py", "/src/main.py", "/src/shop.py"]
        assert await values(client, "trace_data_flow", "file", "SHOP") == ["/src/shop.py"]
        assert await values(client, "trace_data_flow", "file", "/src/1") == ["/src/100%.py"]
        assert await values(client, SOURCES, "path", "/src/") == []
        with pytest.raises(MCPError, match="Unknown template"):
            await values(client, types.ResourceTemplateReference(uri="file:///{x}"), "x", "")
        with pytest.raises(MCPError, match="Unknown prompt"):
            await values(client, "nothing", "file", "")
        await adapter.exit()
        await trio.sleep(1)
        assert await values(client, SOURCES, "file", "") == []


@both_eras
async def test_exception_types_are_those_that_were_named_or_seen(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="shop.SoldOut")
        assert await values(client, "diagnose_exception", "exception_type", "sold") == ["shop.SoldOut"]
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_continue", wait=False)
        await adapter.stop("exception")
        await trio.sleep(1)
        assert await values(client, "diagnose_exception", "exception_type", "Val") == ["ValueError"]
        assert await values(client, "find_bug_source", "exception_type", "Val") == []  # it has no such argument


@both_eras
async def test_programs_are_completed_directory_by_directory_inside_the_roots(
    era: Era, autojump_clock: MockClock, tmp_path: Path
) -> None:
    for name in ("app.py", "apple.txt", ".hidden.py", "src/main.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    adapter = FakeAdapter()
    settings = Settings(directory=str(tmp_path), roots=(str(tmp_path),), profiles=(FakeProfile(adapter),))
    options = type(adapter.options())(settings=settings)
    async with connect(era, options=options) as client:
        for prompt in ("diagnose_exception", "find_bug_source", "inspect_runtime_state", "trace_data_flow"):
            assert await values(client, prompt, "program", "") == ["app.py", "src/"]
        assert await values(client, "diagnose_exception", "program", "src/m") == ["src/main.py"]
        assert await values(client, "diagnose_exception", "program", f"{tmp_path}/a") == [f"{tmp_path}/app.py"]
        for outside in ("/", "../", "/etc/", "nowhere/", "src/../../"):
            assert await values(client, "diagnose_exception", "program", outside) == []


async def test_of_a_large_directory_a_bounded_number_of_entries_is_read(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    for number in range(MAX_DIRECTORY_ENTRIES + 10):
        (tmp_path / f"{number}.py").touch()
    adapter = FakeAdapter()
    settings = Settings(directory=str(tmp_path), profiles=(FakeProfile(adapter),))
    async with connect(options=type(adapter.options())(settings=settings)) as client:
        ref = types.PromptReference(name="diagnose_exception")
        completion = (await client.sdk.complete(ref, {"name": "program", "value": ""})).completion
        assert completion.total == MAX_DIRECTORY_ENTRIES == 2000


@both_eras
async def test_expressions_are_completed_by_the_adapter_while_paused_and_in_bounded_time(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = completing()

    async def answer(arguments: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return {"targets": [{"label": "price", "length": 2}, {"label": "print()", "text": "print", "length": 2}]}

    adapter.answer("completions", answer)
    async with paused(era, adapter) as (client, _):
        assert await values(client, "trace_data_flow", "variable", "é𝄞.pr") == ["é𝄞.price", "é𝄞.print"]
        assert adapter.sent("completions") == [{"frameId": 1000, "text": "é𝄞.pr", "column": 7}]
        assert await values(client, "inspect_runtime_state", "expression", "pr") == ["price", "print"]

        async def refuse(arguments: Any) -> Any:
            await trio.lowlevel.checkpoint()
            raise Refusal("no")

        adapter.answer("completions", refuse)
        assert await values(client, "trace_data_flow", "variable", "pr") == []
        adapter.withhold("completions")
        start = trio.current_time()
        assert await values(client, "trace_data_flow", "variable", "pr") == []
        assert trio.current_time() - start == pytest.approx(2)
        asked = len(adapter.sent("completions"))
        await client.call("debug_continue", wait=False)
        assert await values(client, "trace_data_flow", "variable", "pr") == []
        assert len(adapter.sent("completions")) == asked


@both_eras
async def test_an_adapter_that_cannot_complete_gets_no_request(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        assert await values(client, "trace_data_flow", "variable", "pr") == []
        assert adapter.sent("completions") == []


@both_eras
async def test_at_most_a_hundred_completions_are_returned_with_the_total(era: Era, autojump_clock: MockClock) -> None:
    adapter = completing()

    async def answer(arguments: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return {"targets": [{"label": f"x{number:03}"} for number in range(250)]}

    adapter.answer("completions", answer)
    async with paused(era, adapter) as (client, _):
        ref = types.PromptReference(name="trace_data_flow")
        completion = (await client.sdk.complete(ref, {"name": "variable", "value": "x"})).completion
        assert len(completion.values) == MAX_VALUES == 100
        assert (completion.values[-1], completion.total, completion.has_more) == ("x099", 250, True)


async def test_an_observer_neither_lists_directories_nor_evaluates(autojump_clock: MockClock) -> None:
    adapter = completing()
    async with open_server(adapter.options()) as server, server.connect() as client:
        await launch(client, adapter)
        await adapter.stop()
        await trio.sleep(1)
        ref = types.PromptReference(name="trace_data_flow")
        for name in ("program", "variable"):
            params = types.CompleteRequestParams(ref=ref, argument=types.CompletionArgument(name=name, value=""))
            assert (await complete(server.app.debugger, "observe", params)).completion.values == []
        assert adapter.sent("completions") == []


@pytest.mark.parametrize(
    ("typed", "item", "result"),
    [
        ("sel", CompletionItem("self", length=3), "self"),
        ("self.na", CompletionItem("name", length=2), "self.name"),
        ("self.na", CompletionItem("name"), "self.name"),
        ("self.", CompletionItem("name"), "self.name"),
        ("a + ", CompletionItem("b"), "a + b"),
        ("ab", CompletionItem("xyz"), "abxyz"),
        ("f(x", CompletionItem("label", text="xs", length=1), "f(xs"),
        ("", CompletionItem("x", length=5), "x"),
    ],
)
def test_typed_text_is_completed(typed: str, item: CompletionItem, result: str) -> None:
    assert completed(typed, item) == result


@pytest.mark.skipif(sys.platform == "win32", reason="paths with slashes")
def test_debugpy_completes_the_built_in_exceptions() -> None:
    from trio_debugmcp.dap.profiles import PROFILES

    assert {"KeyError", "BaseException", "OSError"} <= set(PROFILES[0].expressions.exception_types())
