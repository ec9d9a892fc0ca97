"""What a stop is for the user, whatever its adapter calls it: the entry, a pause, a step, a crash."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.session.tables import launched
from trio_debugmcp.dap.profiles.first_statement import first_statement
from trio_debugmcp.testing import DebugClient, FakeAdapter

SOURCE = "/src/app.rb"


async def published(client: DebugClient) -> tuple[str, Any]:
    """The reason of the stop that is published by now, and its breakpoints; or the state."""
    await trio.sleep(1)
    state = await client.call("debug_state")
    return state.get("reason") or state["state"], state.get("breakpoints")


def at(file: str, line: int, function: str = "main") -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.frames = [(function, file, line)]
    return adapter


# --- The entry --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["pause", "breakpoint", "step", "entry", "stopped"])
async def test_the_first_stop_of_a_program_that_is_to_stop_where_it_begins_is_the_entry(
    autojump_clock: MockClock, reason: str
) -> None:
    adapter = at(SOURCE, 1)
    async with launched("", adapter, stop_at_entry=True) as client:
        await adapter.stop(reason)
        assert await published(client) == ("Entry", None)
        await client.call("debug_continue", wait=False)
        await adapter.stop("pause")
        assert await published(client) == ("Pause", None)


async def test_a_first_stop_at_a_breakpoint_is_that_breakpoints(autojump_clock: MockClock) -> None:
    adapter = at(__file__, 1)
    here = [{"file": __file__, "line": 1}]
    async with launched("entry = { always = true }", adapter, stop_at_entry=True, breakpoints=here) as client:
        await adapter.stop("pause")
        assert await published(client) == ("Breakpoint", ["bp-1"])


async def test_a_first_stop_that_an_adapter_makes_unasked_is_left_and_any_later_one_counts(
    autojump_clock: MockClock,
) -> None:
    adapter = at(SOURCE, 1)
    async with launched("entry = { always = true }", adapter) as client:
        await adapter.stop("pause")
        assert await published(client) == ("Running", None)
        await adapter.stop("pause")
        assert await published(client) == ("Pause", None)


async def test_a_first_stop_counts_where_the_adapter_makes_none_unasked(autojump_clock: MockClock) -> None:
    adapter = at(SOURCE, 1)
    async with launched("", adapter) as client:
        await adapter.stop("pause")
        assert await published(client) == ("Pause", None)


async def test_a_first_stop_without_source_is_left_for_the_next(autojump_clock: MockClock) -> None:
    adapter = at(SOURCE, 1)
    frames = adapter.answer_to("stackTrace")

    async def in_a_runtime(arguments: dict[str, Any]) -> object:
        return {"stackFrames": [{"id": 1, "name": "_start", "line": 0, "column": 0}], "totalFrames": 1}

    adapter.answer("stackTrace", in_a_runtime)
    async with launched("", adapter, stop_at_entry=True) as client:
        await adapter.stop("entry")
        assert await published(client) == ("Running", None)
        adapter.answer("stackTrace", frames)
        await adapter.stop("breakpoint")
        assert await published(client) == ("Entry", None)


async def test_a_pause_before_the_entry_leaves_that_to_come(autojump_clock: MockClock) -> None:
    adapter = at(SOURCE, 1)
    async with launched("", adapter, stop_at_entry=True) as client:
        adapter.answer("pause", _nothing, then=partial(adapter.stop, "pause"))
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        await client.call("debug_continue", wait=False)
        await adapter.stop("step")
        assert await published(client) == ("Entry", None)


async def test_a_crash_before_the_entry_stays_a_crash(autojump_clock: MockClock) -> None:
    adapter = at(SOURCE, 1)
    async with launched("", adapter, stop_at_entry=True) as client:
        await adapter.stop("exception", text="ValueError")
        assert await published(client) == ("Exception", None)


async def test_a_program_may_be_stopped_at_its_first_statement_by_a_breakpoint_that_no_list_has(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    script = tmp_path / "app.js"
    script.write_text("// sums\nfunction add(a, b) {\n    return a + b;\n}\nconsole.log(add(1, 2));\n")
    adapter = at(str(script), 5)
    own = {"file": str(script), "line": 3}
    entry = {"program": str(script), "stop_at_entry": True, "breakpoints": [own]}
    async with launched('entry = { line = "first" }', adapter, **entry) as client:
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 3}, {"line": 5}]
        await adapter.stop("breakpoint", hit=[2])
        assert await published(client) == ("Entry", None)
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 3}]
        last = len(adapter.requests) - adapter.commands()[::-1].index("setBreakpoints")
        assert "scopes" in adapter.commands()[last:]  # of the stop, once it is published
        assert len((await client.call("breakpoint_list"))["breakpoints"]) == 1
        await client.call("debug_continue", wait=False)
        await adapter.stop("breakpoint", hit=[2])  # it was on its way when the breakpoint was taken back
        assert await published(client) == ("Running", None)


async def test_the_id_of_the_hidden_breakpoint_is_the_users_once_the_adapter_has_given_it_again(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    script = tmp_path / "app.js"
    script.write_text("one();\ntwo();\n")
    adapter = at(str(script), 1)
    adapter.answer("setBreakpoints", _numbered)
    entry = {"program": str(script), "stop_at_entry": True}
    async with launched('entry = { line = "first" }', adapter, **entry) as client:
        await adapter.stop("breakpoint", hit=[1])
        assert await published(client) == ("Entry", None)
        await client.call("breakpoint_set", file=str(script), line=2)  # which gets the id 1, as the only one
        adapter.frames = [("main", str(script), 2)]
        await client.call("debug_continue", wait=False)
        await adapter.stop("breakpoint", hit=[1])
        assert await published(client) == ("Breakpoint", ["bp-1"])


async def _numbered(arguments: dict[str, Any]) -> object:
    wanted = enumerate(arguments["breakpoints"], 1)
    return {"breakpoints": [{"id": number, "verified": True, "line": each["line"]} for number, each in wanted]}


async def test_a_breakpoint_that_precedes_the_entry_ends_the_wait_for_it(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    script = tmp_path / "app.sh"
    script.write_text("echo one\necho two\n")
    adapter = at(str(script), 1)
    entry = {"program": str(script), "stop_at_entry": True}
    own = [{"file": str(script), "line": 1}]
    async with launched('entry = { line = "first" }', adapter, **entry, breakpoints=own) as client:
        await adapter.stop("breakpoint", hit=[1, 2])
        assert await published(client) == ("Breakpoint", ["bp-1"])
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1}]


async def test_the_first_statement_of_a_file_that_cannot_be_read_is_looked_for_in_its_first_line(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    script = tmp_path / "app.sh"
    script.write_bytes(b"\n\n")
    entry = {"program": str(script), "stop_at_entry": True}
    async with launched('entry = { line = "first" }', adapter := FakeAdapter(), **entry):
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1}]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n", 1),
        ("#!/bin/bash\n\n# sums\nadd() {\n  echo $1\n}\nfunction sub {\n  :\n}\nadd 1\n", 10),
        ("'use strict';\nimport a from 'a';\nimport {\n  b,\n} from 'b';\nexport { c };\n\nb();\n", 8),
        ("/* one\n two */\nexport default class A {\n  go() {\n    a();\n  }\n}\nnew A().go();\n", 8),
        ("const f = () => {\n  g();\n};\n", 1),
        ("async function main() {\n  await x('}');\n}\nmain();\n", 4),
        ("interface A {\n  b: string;\n}\ntype B = { c: A };\nlet d = `\n}`;\n", 5),
        ("import('a').then(b);\n", 1),
        ("function(add a)\n  math(EXPR b 1)\nendfunction()\nMACRO (m)\n set(a)\nEndMacro (m)\nset(x 1)\n", 7),
        ("package main;\nuse strict;\nprint 1;\n", 3),
        ("function only() {\n}\n", None),
        ("}\nx();\n", 2),
        ("", None),
    ],
)
def test_the_first_statement_is_none_of_a_declaration_a_comment_or_an_import(text: str, line: int | None) -> None:
    assert first_statement(text) == line


# --- Other stops ------------------------------------------------------------------------------------------------------


async def test_a_reason_in_the_words_of_an_adapter_means_what_its_table_says(autojump_clock: MockClock) -> None:
    adapter = at(SOURCE, 3)
    async with launched('reasons = { SIGSEGV = "exception", "end-stepping-range" = "step" }', adapter) as client:
        await adapter.stop("SIGSEGV", description="Segmentation fault")
        assert await published(client) == ("Exception", None)
        await client.call("debug_continue", wait=False)
        await adapter.stop("end-stepping-range")
        assert await published(client) == ("Step", None)


async def test_a_step_that_ends_as_a_breakpoint_is_a_step_unless_a_breakpoint_is_there(
    autojump_clock: MockClock,
) -> None:
    adapter = at(__file__, 3)
    async with launched("", adapter, breakpoints=[{"file": __file__, "line": 7}]) as client:
        await adapter.stop("breakpoint")
        assert await published(client) == ("Breakpoint", None)  # of the program's own, as `debugger;` is one
        adapter.answer("next", _nothing, then=partial(adapter.stop, "breakpoint"))
        assert (await client.call("debug_step", count=3))["reason"] == "Step"
        assert len(adapter.sent("next")) == 3
        adapter.frames = [("main", __file__, 7)]
        assert (await client.call("debug_step", count=3))["breakpoints"] == ["bp-1"]
        assert len(adapter.sent("next")) == 4


@pytest.mark.parametrize(
    "stop",
    [
        {"reason": "pause"},
        {"reason": "step", "description": "Paused"},
        {"reason": "exception", "description": "signal SIGSTOP"},
        {"reason": "SIGINT"},
    ],
)
async def test_a_stop_that_was_asked_for_is_a_pause(autojump_clock: MockClock, stop: dict[str, Any]) -> None:
    adapter = at(SOURCE, 3)
    async with launched("", adapter) as client:
        adapter.answer("pause", _nothing, then=partial(adapter.stop, **stop))
        assert (await client.call("debug_pause"))["reason"] == "Pause"


async def test_a_crash_that_crosses_a_pause_is_a_crash(autojump_clock: MockClock) -> None:
    adapter = at(SOURCE, 3)
    async with launched("", adapter) as client:
        adapter.answer("pause", _nothing, then=partial(adapter.stop, "exception", description="signal SIGSEGV"))
        assert (await client.call("debug_pause"))["reason"] == "Exception"


async def _nothing(arguments: dict[str, Any]) -> object:
    return {}


@pytest.mark.parametrize(("more", "reason"), [({}, "Breakpoint"), ({"condition": "n == 1"}, "Pause")])
async def test_an_unasked_pause_at_a_breakpoint_is_its_hit_unless_that_depends(
    autojump_clock: MockClock, more: dict[str, str], reason: str
) -> None:
    adapter = at(__file__, 1)
    async with launched("", adapter, breakpoints=[{"file": __file__, "line": 1, **more}]) as client:
        await adapter.stop("pause")
        assert (await published(client))[0] == reason


# --- Breakpoints that an adapter keeps --------------------------------------------------------------------------------

KEEPS = "keeps-breakpoints = 'BP - Line'"

KEPT: dict[str, Any] = {"reason": "breakpoint", "text": " BP - Line  app.rb:3 (line)"}
"""What rdbg 1.4 says where it stops, of breakpoints that were removed, too."""


async def test_a_breakpoint_that_was_removed_and_is_kept_by_the_adapter_stops_nothing(
    autojump_clock: MockClock,
) -> None:
    adapter = at(__file__, 3)
    async with launched(KEEPS, adapter, breakpoints=[{"file": __file__, "line": 3}]) as client:
        await adapter.stop(**KEPT)
        answer = await client.call("debug_wait")
        assert (answer["reason"], answer["breakpoints"], answer.get("notes")) == ("Breakpoint", ["bp-1"], None)
        await client.call("breakpoint_remove", id="bp-1")
        await client.call("debug_continue", wait=False)
        await adapter.stop(**KEPT)
        assert await published(client) == ("Running", None)
        assert len(adapter.sent("continue")) == 2
        await adapter.stop("breakpoint", text="temporary bp")  # a statement of the program's
        assert await published(client) == ("Breakpoint", None)


async def test_a_pause_that_meets_a_breakpoint_which_was_removed_is_a_pause(autojump_clock: MockClock) -> None:
    adapter = at(__file__, 3)
    adapter.answer("pause", adapter.answer_to("threads"), lambda: adapter.stop(**KEPT))
    async with launched(KEEPS, adapter) as client:
        answer = await client.call("debug_pause")
        assert (answer["reason"], answer.get("breakpoints"), answer.get("notes")) == ("Pause", None, None)


async def test_a_step_continues_through_a_breakpoint_that_was_removed_and_ends_where_one_is(
    autojump_clock: MockClock,
) -> None:
    adapter = at(__file__, 10)
    caller, callee, after = ("main", __file__, 10), ("add", __file__, 3), ("main", __file__, 11)
    ways = {"next": [callee, caller], "stepOut": [after]}

    def stopping(command: str) -> None:
        async def stop() -> None:
            adapter.frames = ways[command]
            await adapter.stop(**KEPT)

        adapter.answer(command, adapter.answer_to("threads"), stop)

    async with launched(KEEPS, adapter) as client:
        await adapter.stop("pause")
        await client.call("debug_wait")
        stopping("next")
        stopping("stepOut")
        answer = await client.call("debug_step")
        assert (answer["reason"], answer["at"].rpartition(":")[2]) == ("Step", "11 in main")
