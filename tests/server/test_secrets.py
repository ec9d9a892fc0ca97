"""Secrets of the program are masked wherever a client would see them; the program itself is not touched."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import msgspec
import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from tests.masking.samples import GITHUB, HEX, pem, word
from tests.server.scene import OUTPUT, STACK, TIMELINE, failure, launch
from tests.server.test_logging import log, logged, set_level
from trio_debugmcp.masking.masked_answers import masked_json
from trio_debugmcp.server.answers.answer import encoded
from trio_debugmcp.server.answers.stop_answer import ShownValue
from trio_debugmcp.server.answers.typed import MemberPayload, OutboundPayload
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.secrets import masked_result, masked_text
from trio_debugmcp.server.tools.looking.source import SourceAnswer, SourceData
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, Payload, SourceLine
from trio_debugmcp.state.stop_resource import DataChangePayload
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect

MASK = "<GitHub token, 40 characters>"
RANDOM = word(32, HEX)
RANDOM_MASK = "<secret, 32 characters>"


def test_an_answer_with_numbers_as_keys_is_masked() -> None:
    line = SourceLine(1, f"token = '{GITHUB}'", False)
    data = SourceData(file="/src/a.py", lines=[line], total=1, changed=False, counts={1: 7})
    text, body = encoded(SourceAnswer(full=data, file="/src/a.py", lines=[]), full=True)
    result = masked_result("source_get", {}, ToolResult(text=text, structured_content=body))
    assert result.structured_content is not None
    assert result.structured_content["lines"][0]["text"] == f"token = '{MASK}'"
    assert result.structured_content["counts"] == {"1": 7}


@asynccontextmanager
async def stopped(adapter: FakeAdapter, *, show_secrets: bool = False) -> AsyncIterator[DebugClient]:
    """A client of a program that is paused at its entry."""
    options = adapter.options()
    options = replace(options, settings=replace(options.settings, show_secrets=show_secrets))
    async with connect("legacy", options=options) as client:
        await launch(client, adapter)
        await trio.sleep(1)
        await adapter.stop("entry")
        await trio.sleep(1)
        yield client


def with_secrets() -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.locals = {"x": repr(GITHUB), "api_key": repr(RANDOM), "commit": repr(RANDOM), "n": "1"}
    adapter.values = {
        "x": repr(GITHUB),
        "f'{api_key}'": repr(RANDOM),
        "commit": repr(RANDOM),
        "api_key == commit": "True",
        "len(api_key)": "32",
    }
    return adapter


async def said(client: DebugClient, tool: str, **arguments: Any) -> str:
    return json.dumps(await client.call(tool, **arguments))


@pytest.mark.parametrize(
    "payload",
    [
        MemberPayload("api_key", "attributes", repr(RANDOM), None, None, None),
        OutboundPayload(way=".api_key", value=repr(RANDOM)),
        DataChangePayload("dp-1", "api_key", repr(RANDOM), repr(RANDOM), None),
        ShownValue("{}[api_key]", None, None, f"KeyError: {RANDOM!r}"),
    ],
)
def test_data_are_masked_by_the_names_beside_them_as_the_words_are(payload: Payload) -> None:
    shown = json.dumps(masked_json(msgspec.to_builtins(payload)))
    assert RANDOM not in shown
    assert RANDOM_MASK in shown


async def test_values_are_masked_in_the_answers_and_resources_of_a_stop(autojump_clock: MockClock) -> None:
    async with stopped(with_secrets()) as client:
        for shown in (await said(client, "variables_get"), json.dumps(await client.read(STACK))):
            assert GITHUB not in shown
            assert MASK in shown
            assert shown.count(RANDOM_MASK) == 2, "also under another name, beside the secret's own"
            assert RANDOM not in shown


async def test_what_an_expression_is_made_of_is_masked_and_a_comparison_is_not(autojump_clock: MockClock) -> None:
    async with stopped(with_secrets()) as client:
        assert (await client.call("evaluate", expression="x"))["value"] == f"'{MASK}'"
        assert (await client.call("evaluate", expression="f'{api_key}'"))["value"] == f"'{RANDOM_MASK}'"
        assert (await client.call("evaluate", expression="commit"))["value"] == repr(RANDOM)
        assert (await client.call("evaluate", expression="api_key == commit"))["value"] == "True"
        assert (await client.call("evaluate", expression="len(api_key)"))["value"] == "32"


async def test_the_text_of_an_answer_is_masked_as_its_structure_is(autojump_clock: MockClock) -> None:
    async with stopped(with_secrets()) as client:
        result = await client.sdk.call_tool("evaluate", {"expression": "f'{api_key}'"})
        [block] = result.content
        assert isinstance(block, types.TextContent)
        assert json.loads(block.text) == result.structured_content
        assert RANDOM_MASK in block.text


async def test_everything_is_shown_to_who_asks_for_it(autojump_clock: MockClock) -> None:
    adapter = with_secrets()
    async with stopped(adapter, show_secrets=True) as client:
        await set_level(client, "info")
        log.info("with %s", GITHUB)
        await adapter.event("output", {"category": "stdout", "output": GITHUB})
        await trio.sleep(1)
        assert (await client.call("evaluate", expression="f'{api_key}'"))["value"] == repr(RANDOM)
        assert GITHUB in json.dumps(await client.read(STACK))
        assert GITHUB in json.dumps(await client.read(OUTPUT))
        assert GITHUB in json.dumps(await client.read(TIMELINE))
        assert logged(client) == [("info", f"with {GITHUB}")]


async def test_what_came_of_a_call_is_masked_in_the_timeline_as_its_answer_is(autojump_clock: MockClock) -> None:
    async with stopped(with_secrets()) as client:
        await client.call("evaluate", expression="x")
        await client.call("evaluate", expression="f'{api_key}'")
        results = [
            each["payload"]["result"]
            for each in (await client.read(TIMELINE))["events"][-4:]
            if "result" in each["payload"]
        ]
        assert results == [f"'{MASK}'", f"'{RANDOM_MASK}'"]


async def test_failures_are_masked(autojump_clock: MockClock) -> None:
    async with stopped(with_secrets()) as client:
        failed = await failure(client, "evaluate", expression=f"check('{GITHUB}')")
        assert GITHUB not in f"{failed.message} {failed.details}"
        assert MASK in failed.message


async def test_a_mask_is_not_taken_for_what_it_stands_for(autojump_clock: MockClock) -> None:
    async with stopped(with_secrets()) as client:
        failed = await failure(client, "evaluate", expression=f"x == '{MASK}'")
        assert failed.code == "INVALID_PARAMETER"
        assert failed.message.startswith(f"{MASK} stands for a secret")
        failed = await failure(client, "debug_launch", program="/src/app.py", args=["--token", MASK])
        assert failed.details == {"parameter": "args"}


async def test_a_secret_that_arrives_in_two_pieces_of_output_is_masked(autojump_clock: MockClock) -> None:
    adapter = with_secrets()
    async with stopped(adapter) as client:
        for text in ("token is ", GITHUB[:15], GITHUB[15:], "\nand ", GITHUB, "\n"):
            await adapter.event("output", {"category": "stdout", "output": text})
        await trio.sleep(1)
        for shown in (
            json.dumps(await client.read(OUTPUT)),
            await said(client, "process_read_output"),
            await said(client, "debug_state"),
            json.dumps(await client.read(TIMELINE)),
        ):
            assert GITHUB[:15] not in shown
            assert GITHUB[15:] not in shown
        assert (await said(client, "process_read_output")).count(MASK) == 2


async def test_of_a_secret_whose_beginning_was_read_the_rest_is_masked(autojump_clock: MockClock) -> None:
    adapter = with_secrets()
    async with stopped(adapter) as client:
        await adapter.event("output", {"category": "stdout", "output": GITHUB[:15]})
        await trio.sleep(1)
        assert "<cut key, 15 characters>" in await said(client, "process_read_output")
        await adapter.event("output", {"category": "stdout", "output": f"{GITHUB[15:]}\n"})
        await trio.sleep(1)
        assert GITHUB[15:] not in await said(client, "process_read_output")
        assert GITHUB[15:] not in json.dumps(await client.read(TIMELINE))


async def test_lines_of_different_streams_do_not_hide_each_other(autojump_clock: MockClock) -> None:
    adapter = with_secrets()
    async with stopped(adapter) as client:
        for stream, text in (("stdout", GITHUB[:15]), ("stderr", "warning\n"), ("stdout", f"{GITHUB[15:]}\n")):
            await adapter.event("output", {"category": stream, "output": text})
        await trio.sleep(1)
        entries = (await client.read(OUTPUT))["entries"]
        assert [each["text"] for each in entries] == [MASK, "warning\n", "\n"]


async def test_the_timeline_has_no_part_of_a_secret_where_its_text_is_cut(autojump_clock: MockClock) -> None:
    adapter = with_secrets()
    async with stopped(adapter) as client:
        long = (MAX_VALUE_LENGTH - 22) * "." + f" {GITHUB} and more\n"
        await adapter.event("output", {"category": "stdout", "output": long})
        await trio.sleep(1)
        shown = await said(client, "timeline_query", types=["output"], full=True)
        assert GITHUB[:8] not in shown
        assert "<cut key, 21 " in shown
        assert str(len(long)) in shown


async def test_a_source_is_served_without_the_key_in_it_and_its_lines_keep_their_numbers(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    path = tmp_path / "app.py"
    path.write_text(f"KEY = '''{pem()}'''\nTOKEN = '{GITHUB}'\nprint('done')\n")
    adapter = with_secrets()
    adapter.frames = [("main", str(path), 1)]
    async with stopped(adapter) as client:
        text = await client.read_text(f"debugger://source/{path}")
        assert len(text.splitlines()) == len(path.read_text().splitlines())
        assert text.endswith(f"TOKEN = '{MASK}'\nprint('done')\n")
        lines = await said(client, "source_get", file=str(path))
        for shown in (text, lines, await said(client, "debug_state"), json.dumps(await client.read(STACK))):
            assert GITHUB not in shown
            assert not any(line in shown for line in pem_body(path))


def pem_body(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines()[1:-3] if len(line) == 64]


async def test_log_messages_are_masked(autojump_clock: MockClock) -> None:
    async with stopped(with_secrets()) as client:
        await set_level(client, "info")
        log.info("the adapter got %s", GITHUB)
        await trio.sleep(1)
        assert logged(client) == [("info", f"the adapter got {MASK}")]


def test_the_token_for_programs_that_dial_in_is_shown() -> None:
    answer = {"address": "127.0.0.1:1", "token": RANDOM}
    result = ToolResult(text=json.dumps(answer))
    assert masked_result("debug_listen", {}, result) is result
    assert RANDOM not in str(masked_result("evaluate", {}, result))


def test_text_that_is_not_json_is_masked_too() -> None:
    assert masked_text(f"{{ {GITHUB}") == f"{{ {MASK}"
    assert masked_text('{"token": 1}') == '{"token": 1}'
