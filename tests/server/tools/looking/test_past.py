"""`stop_get` and `debugger://stop/{n}`: any stop that is kept as it was, while the session lasts and after its end."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
import pytest
import trio
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.masking.samples import HEX, word
from tests.server.scene import STACK, failure, launch, paused
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import MAX_KEPT_CHARACTERS, Sources
from trio_debugmcp.state import kept_stops
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect, open_server
from trio_debugmcp.testing.connect import Era

T = TypeVar("T")

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


def uri(number: int) -> str:
    return f"debugger://stop/{number}"


async def step(client: DebugClient, adapter: FakeAdapter, line: int = 1, **values: Any) -> dict[str, Any]:
    """Let the program stop in that line with these locals, and return what a client reads then."""
    adapter.locals = values
    name, file, _ = adapter.frames[0]
    adapter.frames[0] = (name, file, line)
    await client.call("debug_step", wait=False)
    await adapter.stop("step")
    await trio.sleep(1)
    return dict(await client.read(STACK))


def like(stop: dict[str, Any]) -> dict[str, Any]:
    """What a past stop has of what the stack had."""
    return {
        "frames": stop["frames"],
        "total": stop["totalFrames"],
        "locals": stop["locals"],
        "scopes": stop["scopes"],
        "capturedAt": stop["capturedAt"],
        "threadId": stop["threadId"],
    }


async def test_of_more_stops_than_are_kept_the_last_are_shown_as_they_were_read_also_after_the_end(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):
        recorded = {1: dict(await client.read(STACK))}
        for number in range(2, 251):
            recorded[number] = await step(client, adapter, number, n=str(number), even=str(number % 2 == 0))
        last = await client.call("stop_get", full=True)
        assert (last["stop"]["stop"], last["first"], last["last"], last["dropped"]) == (250, 51, 250, 50)
        for number in range(51, 251):
            then = like(await client.read(uri(number)))
            assert then == {key: recorded[number][key] for key in then}
        with pytest.raises(MCPError, match="those from 51 to 250 are"):
            await client.read(uri(50))
        refused = await failure(client, "stop_get", stop=50)
        assert (refused.code, refused.details) == ("STOP_NOT_FOUND", {"first": 51, "last": 250, "dropped": 50})
        await client.call("debug_disconnect")
        for number in range(51, 251):
            then = like((await client.call("stop_get", stop=number, full=True))["stop"])
            assert then == {key: recorded[number][key] for key in then}
        values = await client.call("stop_get", variable="n")
        assert values["values"][0] == "51 /src/app.py:51 in main: 51"
        assert (len(values["values"]), values["stops"], values["dropped"]) == (200, 200, 50)


async def test_a_stop_is_shown_in_few_words_with_what_changed_and_what_was_read_there(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("total", "/src/app.py", 4), ("main", "/src/app.py", 9)]
    async with paused("legacy", adapter) as (client, _):
        await step(client, adapter, 4, count="1", name="'ann'")
        await step(client, adapter, 5, count="2", name="'ann'", price="3")
        adapter.values = {"count * 2": "4", "price * 2": "6"}
        await client.call("evaluate", expression="count * 2")
        await client.call("variables_get", frame_index=1)
        await client.call("variables_get", frame_index=1, filter="c")  # a part is not what the frame has
        await client.call("evaluate", expression="count * 2", frame_index=1)
        await trio.sleep(1)
        await step(client, adapter, 6, count="9")
        found = await client.call("stop_get", stop=3)
        assert found.pop("time").startswith("20")
        assert found == {
            "stop": 3,
            "last": 4,
            "reason": "Step",
            "at": "/src/app.py:5 in total",
            "stack": ["main :9"],
            "changed": {"count": "1 -> 2", "price": "new: 3"},
            "comparedWith": 2,
            "locals": {"count": "2", "name": "'ann' (int)", "price": "3"},
            "read": {
                "count * 2": "4",
                "count * 2, frame 1": "4",
                "frame 1 locals": {"count": "2", "name": "'ann' (int)", "price": "3"},
            },
        }
        assert (await client.call("stop_get"))["stop"] == 4
        assert (await client.call("stop_get", variable="count * 2"))["values"] == ["3 /src/app.py:5 in total: 4"]
        assert "values" not in await client.call("stop_get", variable="price * 2")
        unread = await client.call("stop_get", variable="count.total")
        assert "no local of the top frame is called `count.total`" in unread["notes"][0]
        assert "`count` is a local at " in unread["notes"][0]
        wrong = await client.call("stop_get", variable="cuont")
        assert wrong["notes"] == [
            "no local of the top frame is called `cuont` at these stops, and no client has read it there"
        ]
        await client.call("evaluate", expression="price * 2", frame_index=1)
        assert "values" not in await client.call("stop_get", variable="price * 2")  # of another frame


async def test_what_is_shown_with_a_stop_and_what_is_evaluated_safely_is_kept_too(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.values = {"x + 1": "2", "x": "1"}
    async with paused("legacy", adapter) as (client, _):

        async def step_ends(arguments: object) -> object:
            await adapter.stop("step")
            return {}

        adapter.answer("next", step_ends)
        await client.call("debug_step", show=["x + 1"])
        await client.call("evaluate_safe", expression="x")
        assert (await client.call("stop_get"))["read"] == {"x + 1": "2", "x": "1"}


async def test_a_stop_at_which_a_variable_was_set_shows_what_it_was_set_to(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.capabilities["supportsSetExpression"] = True
    async with paused("legacy", adapter) as (client, _):
        await step(client, adapter, x="1")
        adapter.locals = {"x": "5"}
        await client.call("variable_set", path="x", value="5")
        await trio.sleep(1)
        await step(client, adapter, x="6")
        assert (await client.call("stop_get", stop=2))["locals"] == {"x": "5"}
        assert (await client.call("stop_get", stop=3))["changed"] == {"x": "5 -> 6"}


async def test_the_source_is_that_of_the_stop_when_the_file_is_another_one_now(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    program = tmp_path / "app.py"
    program.write_text("old = 1\nold = 2\n")
    adapter = FakeAdapter()
    adapter.program = str(program)
    adapter.frames = [("main", str(program), 1)]
    async with paused("legacy", adapter) as (client, _):
        assert (await client.call("stop_get", stop=1))["source"] == "1> old = 1\n2  old = 2"
        before = await client.call("stop_get", stop=1, source=str(program))
        assert (before["text"], "changed" in before) == ("old = 1\nold = 2\n", False)
        await client.call("debug_disconnect")
        program.write_text("new = 1\n")
        new = FakeAdapter()
        new.program, new.frames = adapter.program, adapter.frames
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        await adapter.stop("entry")
        await trio.sleep(1)
        await client.call("debug_disconnect")
        program.write_text("newer = 1\n")
        await launch(client, adapter)
        await adapter.stop("entry")
        await trio.sleep(1)
        sources = [await client.call("stop_get", stop=each, source=str(program)) for each in (1, 2)]
        assert [(each["text"], each.get("changed", False)) for each in sources] == [
            ("new = 1\n", True), ("newer = 1\n", False),
        ]  # fmt: skip
        kept = [(await client.call("stop_get", stop=each, full=True))["stop"]["sources"] for each in (1, 2)]
        assert kept[0] != kept[1]
        assert (await failure(client, "stop_get", stop=1, source="/etc/passwd")).code == "INVALID_PATH"


def test_a_text_is_read_again_only_when_its_file_has_changed(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    class Counting(Host):
        def query(self, question: str, ask: Callable[[], T]) -> T:
            asked[question.partition(" ")[0]] += 1
            return ask()

    file = tmp_path / "app.py"
    sources, host = Sources(), Counting()
    sources.learn(str(file), "s-1")
    assert sources.version(str(file), 0.0, host) is None  # there is none yet
    file.write_text("one\n")
    os.utime(file, (1000, 1000))
    first = sources.version(str(file), 0.0, host)
    assert first is not None
    read = asked["source"]
    assert sources.version(str(file), 0.0, host) is first
    assert asked["source"] == read
    file.write_text("two\n")
    os.utime(file, (2000, 2000))
    second = sources.version(str(file), 0.0, host)
    assert second is not None
    assert (second.text, second.version != first.version) == ("two\n", True)
    file.write_text("x" * (MAX_KEPT_CHARACTERS + 1))
    assert sources.version(str(file), 0.0, host) is None


@both_eras
async def test_a_stop_can_be_subscribed_to_and_changes_as_long_as_it_lasts(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter), client.subscribed(uri(1), uri(2)):
        first = await client.read(uri(1))
        adapter.values = {"1 + 1": "2"}
        await client.call("evaluate", expression="1 + 1")
        await trio.sleep(2)
        assert len(client.times_of(uri(1))) == 1
        again = await client.read(uri(1))
        assert again["revision"] > first["revision"]
        assert [each["path"] for each in again["readings"]] == ["1 + 1"]
        await step(client, adapter, x="2")
        await trio.sleep(2)
        assert (len(client.times_of(uri(1))), len(client.times_of(uri(2)))) == (1, 1)
        assert await client.read(uri(1)) == again


async def test_one_that_is_kept_no_longer_is_notified_too(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_stops, "MAX_STOPS", 2)
    async with paused("legacy") as (client, adapter), client.subscribed(uri(1), uri(2)):
        await step(client, adapter)
        assert client.times_of(uri(1)) == []
        before = len(client.times_of(uri(2)))
        await step(client, adapter)
        await trio.sleep(2)
        assert len(client.times_of(uri(1))) == 1
        assert len(client.times_of(uri(2))) == before  # it is where it was


async def test_only_stops_of_a_named_session_are_meant_also_of_one_that_is_forgotten(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):
        await step(client, adapter, x="1")
        await client.call("debug_disconnect")
        adapter.locals = {"x": "7"}
        await launch(client, adapter)
        await adapter.stop("entry")
        await trio.sleep(1)
        assert (await client.call("stop_get", session_id="s-1"))["stop"] == 2
        assert (await client.call("stop_get", session_id="s-1"))["session"] == "s-1"
        assert (await client.call("stop_get", variable="x"))["values"] == [
            "2 s-1 /src/app.py:1 in main: 1", "3 s-2 /src/app.py:1 in main: 7",
        ]  # fmt: skip
        own = await client.call("stop_get", variable="x", session_id="s-2", full=True)
        (point,) = own["points"]
        assert (point["stop"], point["value"], point["line"], point["functionName"]) == (3, "7", 1, "main")
        assert (await failure(client, "stop_get", stop=3, session_id="s-1")).code == "STOP_NOT_FOUND"
        assert "s-1, s-2" in (await failure(client, "stop_get", session_id="s-9")).message


async def test_before_any_stop_there_is_none_and_numbers_are_completed(autojump_clock: MockClock) -> None:
    async with connect(options=FakeAdapter().options()) as client:
        assert "not been a stop yet" in (await failure(client, "stop_get")).message
        assert (await client.call("stop_get", variable="x")) == {"stops": 0}
    async with paused("legacy") as (client, adapter):
        for _ in range(3):
            await step(client, adapter)
        ref = types.ResourceTemplateReference(uri="debugger://stop/{n}")
        assert (await client.sdk.complete(ref, {"name": "n", "value": ""})).completion.values == ["1", "2", "3", "4"]


async def test_an_answer_is_bounded_and_says_how_much_is_left_out(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        for number in range(3):
            values: dict[str, Any] = {f"v{each}": f"'{number}{'x' * 190}'" for each in range(100)}
            await step(client, adapter, **values)
        adapter.values = {f"{each}": "x" * 190 for each in range(60)}
        for each in range(60):
            await client.call("evaluate", expression=f"{each}")
        found = await client.call("stop_get")
        assert len(json.dumps(found)) < 32_000
        omitted = found["omitted"]
        assert omitted["locals"] == 100 - len(found["locals"])
        assert omitted["changed"] == 100 - len(found["changed"])
        assert omitted["read"] == 60 - len(found["read"])
        few = await client.call("stop_get", variable="v1", max_result_bytes=700)
        assert (len(few["values"]), few["total"], few["stops"]) == (2, 3, 4)
        assert few["values"][-1].startswith("4 ")


async def test_secrets_are_masked_in_every_form_of_a_past_stop(autojump_clock: MockClock) -> None:
    first, second = word(32, HEX), word(32, HEX)[::-1]
    async with paused("legacy") as (client, adapter):
        await step(client, adapter, api_key=repr(first))
        await step(client, adapter, api_key=repr(second))
        adapter.values = {"api_key + ''": repr(second)}
        await client.call("evaluate", expression="api_key + ''")
        answers = [
            await client.call("stop_get"),
            await client.call("stop_get", stop=2, full=True),
            await client.call("stop_get", full=True),
            await client.call("stop_get", variable="api_key"),
            await client.call("stop_get", variable="api_key", full=True),
            await client.read(uri(3)),
        ]
        for each in map(json.dumps, answers):
            assert first not in each
            assert second not in each
            assert "<secret, 32 characters>" in each


async def test_the_source_of_a_program_that_has_ended_can_be_read_and_says_if_the_file_has_changed(
    tmp_path: Path,
) -> None:
    program = tmp_path / "app.py"
    program.write_text("print(1)\nraise SystemExit(3)\n")
    adapter = FakeAdapter()
    adapter.program = str(program)
    async with open_server(adapter.options()) as server, server.connect() as client:
        with pytest.raises(ToolFailed) as failed:
            await client.call("source_get", file=str(program))
        assert failed.value.code == "NO_SESSION"
        await client.call("debug_launch", program=str(program), stop_at_entry=False, wait=False)
        await client.call("debug_disconnect")
        found = await client.call("source_get", file=str(program), start_line=2)
        assert (found["lines"], found.get("changed", False)) == (["2 raise SystemExit(3)"], False)
        later = time.time() + 60
        program.write_text("print(2)\n")
        os.utime(program, (later, later))
        found = await client.call("source_get", file=str(program))
        assert (found["lines"], found["changed"]) == (["1 print(2)"], True)
        with pytest.raises(ToolFailed) as failed:
            await client.call("source_get", file="/etc/passwd")
        assert failed.value.code == "NO_SESSION"
