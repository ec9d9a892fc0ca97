"""The card of a stop: what hosts that draw cards see, that others see nothing of it, and what its buttons do."""

import json
from typing import Any

import mcp_types as types
import pytest
import trio
from mcp.client.extension import advertise
from mcp.server import apps
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.masking.samples import HEX, word
from tests.server.scene import launch
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.card import LINKED, OF_THE_CARD
from trio_debugmcp.server.card_resource import MIME_TYPE, URI
from trio_debugmcp.server.sdk_results import sdk_tool
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.connect import Era, Server

CARDS = [advertise(apps.EXTENSION_ID, {"mimeTypes": [apps.APP_MIME_TYPE]})]

META = "trio-debugmcp/stop"

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


async def raw(client: DebugClient, tool: str, **arguments: Any) -> types.CallToolResult:
    """Call a tool, and return the result with its `_meta`."""
    request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
    return await client.sdk.session.send_request(request, types.CallToolResult)


async def marks(client: DebugClient, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, and return what its answer has for the card."""
    found: dict[str, Any] = ((await raw(client, tool, **arguments)).meta or {})[META]
    return found


def listed(result: types.ListToolsResult) -> dict[str, dict[str, Any]]:
    return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in result.tools}


def stop_at(adapter: FakeAdapter, line: int, **variables: str) -> None:
    """Let the next continue or step end there, with these locals."""
    found = [
        {"name": name, "value": value, "type": "int", "variablesReference": 0} for name, value in variables.items()
    ]

    async def locals_of(arguments: object) -> object:
        return {"variables": found}

    async def go(arguments: object) -> object:
        name, file, _ = adapter.frames[0]
        adapter.frames[0] = (name, file, line)
        adapter.answer("variables", locals_of)
        await adapter.stop("step")
        return {}

    for command in ("continue", "next", "stepIn", "stepOut"):
        adapter.answer(command, go)


async def paused(server: Server, client: DebugClient, adapter: FakeAdapter) -> None:
    await launch(client, adapter)
    await adapter.stop("entry")
    await trio.sleep(10)


@both_eras
async def test_hosts_with_cards_find_the_card_by_the_tools_that_answer_with_a_stop(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(era, extensions=CARDS) as client:
        tools = listed(await client.sdk.list_tools())
        assert {name for name, tool in tools.items() if "resourceUri" in tool.get("_meta", {}).get("ui", {})} == LINKED
        assert all(tools[name]["_meta"] == {"ui": {"resourceUri": URI}} for name in LINKED)
        assert all(tools[name]["_meta"] == {"ui": {"visibility": ["app"]}} for name in OF_THE_CARD)
        (content,) = (await client.sdk.read_resource(URI)).contents
        assert isinstance(content, types.TextResourceContents)
        assert (content.uri, content.mime_type) == (URI, MIME_TYPE)
        assert content.text.startswith("<!doctype html>")
        assert content.meta == {"ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}}
        assert await client.uris() == [URI]  # before any session, too
        await paused(server, client, adapter)
        assert (await client.uris())[-1] == URI
        assert (await client.sdk.read_resource(URI)).contents[0] == content


DECLARATIONS: list[Any] = [
    [],
    [advertise(apps.EXTENSION_ID)],
    [advertise(apps.EXTENSION_ID, {"mimeTypes": ["text/html"]})],
    [advertise(apps.EXTENSION_ID, {"mimeTypes": None})],
    [advertise("com.example/other", {"mimeTypes": [apps.APP_MIME_TYPE]})],
]


@both_eras
async def test_hosts_without_cards_see_nothing_of_them(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(era, extensions=CARDS) as other:
        await paused(server, other, adapter)
        for extensions in DECLARATIONS:
            async with server.connect(era, extensions=extensions) as client:
                result = await client.sdk.list_tools()
                assert result.tools == [sdk_tool(tool) for tool in open_toolbox().listed()]
                assert URI not in await client.uris()
                with pytest.raises(MCPError, match="Unknown resource"):
                    await client.read_text(URI)
                answer = await raw(client, "debug_state")
                assert META not in (answer.meta or {})
                assert "moment" not in answer.structured_content


async def test_the_card_is_linked_with_every_tool_that_answers_with_a_stop() -> None:
    def answers_with_a_stop(run: Any) -> bool:
        answer = run.__annotations__["return"]
        return any(
            isinstance(each, type) and issubclass(each, StopAnswer) for each in getattr(answer, "__args__", (answer,))
        )

    found = {tool.name for tool in open_toolbox().tools if answers_with_a_stop(tool.run)}
    assert found - LINKED == {"breakpoint_wait", "batch_evaluate", "card_run"}
    assert found >= LINKED


async def test_an_observer_gets_a_card_without_buttons(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as agent:
        await paused(server, agent, adapter)
        async with server.connect(role="observe", extensions=CARDS) as client:
            tools = listed(await client.sdk.list_tools())
            assert "card_state" in tools
            assert "card_run" not in tools
            assert (await marks(client, "debug_state"))["control"] is False
            shown = (await marks(client, "debug_state"))["moment"]
            refused = await raw(client, "card_run", action="over", stop=shown)
            assert "READ_ONLY" in refused.content[0].text  # type: ignore[union-attr]


@both_eras
async def test_a_stop_marks_what_has_changed_since_this_chat_saw_the_same_call(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(era, extensions=CARDS) as client:
        await paused(server, client, adapter)
        stop_at(adapter, 2, total="1", left="5")
        first = await marks(client, "debug_step")
        assert (first["control"], first["changed"]) == (True, {})  # seen for the first time
        stop_at(adapter, 3, total="3", left="5", paid="0")
        second = await marks(client, "debug_step")
        assert second["changed"] == {"total": "1", "paid": None}
        again = await marks(client, "debug_state")
        assert again["changed"] == second["changed"]
        assert again["moment"].split(" ")[:3] == second["moment"].split(" ")[:3]
        assert first["moment"] != second["moment"]


async def test_what_the_server_adds_for_a_card_has_no_secrets(autojump_clock: MockClock) -> None:
    secret = word(32, HEX)
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(extensions=CARDS) as client:
        await paused(server, client, adapter)
        for line, value in ((2, secret[::-1]), (3, secret)):
            stop_at(adapter, line, api_key=repr(value))
            found = await marks(client, "debug_step", full=True)
        assert [each["name"] for each in found["stop"]["locals"]] == ["api_key"]
        assert secret not in json.dumps(found)
        assert secret[::-1] not in json.dumps(found)


async def test_an_answer_about_a_program_that_is_not_paused_names_no_moment(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(extensions=CARDS) as client:
        for state in ("Disconnected", "Running"):
            found = await marks(client, "debug_state")
            assert (sorted(found), found["control"], found["stop"]["state"]) == (["control", "stop"], True, state)
            if state == "Disconnected":
                await launch(client, adapter)
        assert META not in ((await raw(client, "threads_list")).meta or {})


async def test_a_card_learns_whether_the_program_has_moved_on_and_where_it_is_now(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(extensions=CARDS) as client:
        assert await client.call("card_state") == {"now": {"state": "Disconnected"}}
        await paused(server, client, adapter)
        await adapter.event("output", {"category": "stdout", "output": "before\n"})
        shown = (await marks(client, "debug_state"))["moment"]
        assert await client.call("card_state", stop=shown) == {"current": True}
        await adapter.event("output", {"category": "stdout", "output": "between\n"})
        stop_at(adapter, 2, total="1")
        step = await client.call("debug_step")
        assert step["stdout"] == "before\nbetween\n"
        for _ in range(2):  # a chat has many cards, and each may ask
            now = (await client.call("card_state", stop=shown))["now"]
            assert (now["state"], now["at"], now["stdout"]) == ("Paused", step["at"], "between\n")
            assert await client.call("card_state", stop=now["moment"]) == {"current": True}
        assert (await client.call("card_state"))["now"]["at"] == step["at"]
        session, began, number, _ = shown.split(" ")
        for other in ("not a moment", f"s-9 {began} {number} 1", f"{session} 1.5 {number} 1"):
            now = (await client.call("card_state", stop=other))["now"]
            assert (now["at"], now.get("stdout")) == (step["at"], None)

        step_marks = await marks(client, "debug_state")
        adapter.answer("continue", ran)
        await client.call("debug_continue", wait=False)
        last = step_marks["moment"]  # of the stop that it has just left
        assert (await client.call("card_state", stop=last))["now"]["state"] == "Running"
        assert "NOT_PAUSED" in (await raw(client, "card_run", action="over", stop=last)).content[0].text  # type: ignore[union-attr]
        await adapter.exit(3)
        await trio.sleep(10)
        over = (await client.call("card_state", stop=shown))["now"]
        assert (over["state"], over["exitCode"]) == ("Disconnected", 3)
        assert over["stdout"] == "between\n"
        await paused(server, client, adapter)
        for _ in range(3):
            await adapter.event("output", {"category": "stdout", "output": "of another program\n"})
        assert "stdout" not in (await client.call("card_state", stop=shown))["now"]


async def test_looking_takes_no_output_from_the_agent_and_leaves_no_trace(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(extensions=CARDS) as client:
        await paused(server, client, adapter)
        shown = (await marks(client, "debug_state"))["moment"]
        await adapter.event("output", {"category": "stdout", "output": "news\n"})
        stop_at(adapter, 2)
        await client.call("card_state", stop=shown)
        assert (await client.call("debug_step"))["stdout"] == "news\n"
        events = (await client.call("timeline_query", types=["toolCalled"], full=True))["events"]
        assert not [event for event in events if event["payload"]["tool"] == "card_state"]


@pytest.mark.parametrize(
    ("action", "command"), [("continue", "continue"), ("over", "next"), ("in", "stepIn"), ("out", "stepOut")]
)
async def test_a_button_moves_the_program_and_the_agent_reads_who_did_it(
    action: str, command: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(extensions=CARDS) as client:
        await paused(server, client, adapter)
        await adapter.event("output", {"category": "stdout", "output": "before\n"})
        shown = (await marks(client, "debug_state"))["moment"]
        stop_at(adapter, 7, total="1")
        await adapter.event("output", {"category": "stdout", "output": "by the step\n"})
        answer = await raw(client, "card_run", action=action, stop=shown)
        assert answer.structured_content is not None
        assert answer.structured_content["stdout"] == "by the step\n"
        assert ":7 in" in answer.structured_content["at"]
        assert adapter.sent(command)
        assert (answer.meta or {})[META]["moment"] != shown
        state = await client.call("debug_state")
        deed = {"in": "stepped in", "out": "stepped out", "over": "stepped over"}.get(action, "continued")
        assert state["notes"] == [f"a person (card in the chat) {deed}"]
        stop_at(adapter, 8)
        assert (await client.call("debug_step"))["stdout"] == "before\nby the step\n"  # the agent has not had it yet
        (called,) = [
            event["payload"]
            for event in (await client.call("timeline_query", types=["toolCalled"], full=True))["events"]
            if event["payload"]["tool"] == "card_run"
        ]
        assert (called["client"], called["person"]) == ("a person (card in the chat)", True)


async def test_a_button_of_an_old_card_does_nothing(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(extensions=CARDS) as client:
        await paused(server, client, adapter)
        shown = (await marks(client, "debug_state"))["moment"]
        session, began, number, seq = shown.split(" ")
        stop_at(adapter, 2)
        await client.call("debug_step")
        sent = len(adapter.sent("next"))
        others = [shown, "", "s-1", f"{session} {float(began) + 1} {int(number) + 1} {seq}", f"s-9 {began} 1 {seq}"]
        for stop in [{"stop": each} for each in others] + [{}]:
            refused = await raw(client, "card_run", action="over", **stop)
            assert "not at this stop any more" in refused.content[0].text  # type: ignore[union-attr]
        assert len(adapter.sent("next")) == sent


async def test_a_person_can_pause_a_program_that_the_agent_lets_run(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def pause(arguments: object) -> object:
        await adapter.stop("pause")
        return {}

    adapter.answer("pause", pause)
    async with open_server(adapter.options()) as server, server.connect(extensions=CARDS) as client:
        await launch(client, adapter)
        await trio.sleep(10)
        assert (await client.call("card_run", action="pause"))["reason"] == "Pause"
        again = await raw(client, "card_run", action="pause")
        assert "ALREADY_PAUSED" in again.content[0].text  # type: ignore[union-attr]


async def ran(arguments: object) -> object:
    return {}
