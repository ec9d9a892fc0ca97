"""What an adapter declares and does not do, and what it has its own way of saying."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure
from tests.session.tables import launched
from trio_debugmcp.dap.profiles import read_tables
from trio_debugmcp.dap.profiles.perl import PerlValues, PerlWords
from trio_debugmcp.errors import UsageError
from trio_debugmcp.testing import FakeAdapter


async def test_a_capability_that_an_adapter_does_not_have_is_not_believed(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched('lacks = ["supportsFunctionBreakpoints"]\n', adapter) as client:
        set_ = await client.call("breakpoint_set", function="work")
        assert set_["state"] == "Pending"
        assert "does not support breakpoints on functions" in set_["message"]
        assert adapter.sent("setFunctionBreakpoints") == []
        await adapter.event("capabilities", {"capabilities": {"supportsFunctionBreakpoints": True}})
        await client.call("breakpoint_set", function="play")
        assert adapter.sent("setFunctionBreakpoints") == []


async def test_at_its_end_a_program_says_which_breakpoints_its_adapter_could_not_set(autojump_clock: MockClock) -> None:
    adapter, answers = FakeAdapter(), list[dict[str, Any]]()
    async with launched('lacks = ["supportsFunctionBreakpoints"]\n', adapter) as client, trio.open_nursery() as nursery:
        start = {"program": adapter.program, "adapter": "fake", "breakpoints": [{"function": "work"}], "replace": True}

        async def launch() -> None:
            answers.append(await client.call("debug_launch", **start))

        nursery.start_soon(launch)
        await trio.sleep(1)
        await adapter.exit()
        await trio.sleep(1)
        assert answers[0]["notes"] == [
            "fn-1 was refused: fake does not support breakpoints on functions",
            "no stop at fn-1 work",
        ]


@pytest.mark.parametrize("pages", ["true", "false"])
async def test_paging_is_declared_to_an_adapter_that_pages_only_then(pages: str, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(f"pages = {pages}\n", adapter):
        [hello] = adapter.sent("initialize")
        assert ("supportsVariablePaging" in hello) == (pages == "true")  # delve counts maps differently with it


async def test_a_step_out_that_an_adapter_cannot_survive_is_not_asked_of_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched('step-out = "it would end the program"\n', adapter) as client:
        await adapter.stop()
        await client.call("debug_wait")
        refused = await failure(client, "debug_step", mode="out")
        assert refused.code == "NOT_SUPPORTED"
        assert "fake cannot step out: it would end the program. Set a breakpoint where the call" in refused.message
        assert adapter.sent("stepOut") == []
        await client.call("debug_step", wait=False)
        assert len(adapter.sent("next")) == 1


async def test_lines_of_a_terminal_of_the_adapter_end_as_the_program_wrote_them(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched("crlf = true\n", adapter) as client:
        await adapter.event("output", {"category": "stdout", "output": "item 1\r\nitem 2\r\n50 %\r60 %"})
        await adapter.stop()
        assert (await client.call("debug_wait"))["stdout"] == "item 1\nitem 2\n50 %\r60 %"


async def test_of_several_filters_only_those_for_exceptions_are_used(autojump_clock: MockClock) -> None:
    filters = [{"filter": each, "label": each} for each in ("MESSAGE", "FATAL_ERROR")]
    adapter = FakeAdapter({"exceptionBreakpointFilters": filters})
    async with launched('exception-filters = ["FATAL_ERROR"]\n', adapter) as client:
        await client.call("breakpoint_set_exception", exception_type="*")
        assert adapter.sent("setExceptionBreakpoints")[-1]["filters"] == ["FATAL_ERROR"]


async def test_the_programs_variables_may_be_in_a_group_of_their_scope(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    def variables(arguments: dict[str, int]) -> dict[str, list[dict[str, object]]]:
        inside: dict[str, object] = {"name": "total", "value": "2", "variablesReference": 0}
        groups: list[dict[str, object]] = [
            {"name": name, "value": "", "variablesReference": 77} for name in ("Cache", "Locals")
        ]
        return {"variables": [inside] if arguments["variablesReference"] == 77 else groups}

    async def answer(arguments: dict[str, int]) -> dict[str, list[dict[str, object]]]:
        return variables(arguments)

    adapter.answer("variables", answer)
    async with launched('locals-in = "Locals"\n', adapter) as client:
        await adapter.stop()
        assert (await client.call("debug_wait"))["locals"] == {"total": "2"}
        assert (await client.call("variables_get", scope="locals"))["variables"] == {"total": "2"}


async def test_children_that_an_adapter_invents_are_left_out(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.locals = {"#class": "Array", "total": "2"}
    async with launched("made-up = '#class'\n", adapter) as client:
        await adapter.stop()
        assert (await client.call("debug_wait"))["locals"] == {"total": "2"}


@pytest.mark.parametrize("value", ["[]int len: 5, [0,1,2,...+2 more]", "(loaded 3/5) map[int]int [0: 0, 1: 1"])
async def test_what_an_adapter_does_not_list_is_counted(autojump_clock: MockClock, value: str) -> None:
    adapter = FakeAdapter()
    items = [{"name": f"[{each}]", "value": str(each), "type": "int", "variablesReference": 0} for each in range(3)]

    async def evaluated(arguments: object) -> dict[str, object]:
        return {"result": value, "type": "[]int", "variablesReference": 7}

    async def variables(arguments: object) -> dict[str, object]:
        return {"variables": items}

    adapter.answer("evaluate", evaluated)
    adapter.answer("variables", variables)
    pattern = r"\A\(loaded (?P<listed>\d+)/(?P<all>\d+)\)|\.\.\.\+(\d+) more\]\Z"
    async with launched(f"unlisted = '{pattern}'\n", adapter) as client:
        await adapter.stop()
        await client.call("debug_wait")
        summary = await client.call("collection_summarize", expression="big")
        assert (summary["count"], summary["sampled"], "last" in summary) == (5, 3, False)
        assert (await client.call("variables_get", path="big"))["total"] == 5
        beyond = await failure(client, "variables_get", path="big", start=3)
        assert beyond.message.startswith("fake lists the first 3 of 5. Evaluate a further one by its index: `big[3]`.")


async def test_a_message_that_only_names_a_text_is_left_out(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    said = {"verified": False, "message": "breakpoint.provisionalBreakpoint"}

    async def answer(arguments: dict[str, list[object]]) -> dict[str, list[object]]:
        return {"breakpoints": [said for _ in arguments["breakpoints"]]}

    adapter.answer("setBreakpoints", answer)
    async with launched("", adapter) as client:
        set_ = await client.call("breakpoint_set", file=adapter.program, line=3)
        assert (set_["state"], "message" in set_) == ("Pending", False)


@pytest.mark.parametrize(
    ("said", "note"), [("true", None), ("0: command not found", "stopped there, as the first look failed: 0: command")]
)
async def test_what_counts_as_true_is_said_by_the_language(
    autojump_clock: MockClock, said: str, note: str | None
) -> None:
    adapter = FakeAdapter()
    adapter.values["!!(total - 2)"] = said
    async with launched('truth = "!!({condition})"\n', adapter) as client:
        await adapter.stop()
        await client.call("debug_wait")

        async def resume(arguments: object) -> dict[str, object]:
            return {}

        async def arrive() -> None:
            await adapter.stop("breakpoint", hit=[1])

        adapter.answer("continue", resume, then=arrive)
        adapter.frames = [("work", adapter.program, 3)]
        stop = await client.call("debug_run_until", file=adapter.program, line=3, expression="total - 2", timeout=5)
        assert stop.get("holds") is (True if note is None else None)
        assert note is None or any(each.startswith(note) for each in stop["notes"])


async def test_the_programs_file_is_named_to_an_adapter_that_only_learns_of_files_by_breakpoints(
    autojump_clock: MockClock,
) -> None:
    adapter, plain = FakeAdapter(), FakeAdapter()
    async with launched("learns-sources = true\n", adapter), launched("", plain):
        (named,) = adapter.sent("setBreakpoints")
        assert (named["source"]["path"], named["breakpoints"]) == (adapter.program, [])
        assert plain.sent("setBreakpoints") == []


@pytest.mark.parametrize(
    ("lines", "said", "known"),
    [
        (r"exception = '#<(?P<type>\w+): (?P<message>.*)> is raised'" + "\n", "#<E: bad> is raised.", "E: bad"),
        ("", "E: E: bad", "E: bad"),
    ],
)
async def test_an_exception_is_known_by_type_and_message(
    autojump_clock: MockClock, lines: str, said: str, known: str
) -> None:
    adapter = FakeAdapter({"exceptionBreakpointFilters": [{"filter": "any", "label": "any"}]})
    async with launched(lines, adapter) as client:
        await adapter.stop("exception", description=said, text=said)
        assert (await client.call("debug_wait"))["exception"] == known


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('lacks = ["supportsMagic"]', "`lacks` names no capability of the DAP that is used here: 'supportsMagic'"),
        ("exception = '#<(?P<type>.*)>'", r"`exception` needs a group `\(\?P<message>\.\.\.\)`"),
    ],
)
def test_a_habit_that_makes_no_sense_is_refused(line: str, problem: str) -> None:
    table = '[adapters.fake]\nlanguage = "F"\nfind = ["f"]\ncommand = ["f"]\nlaunch = {}\n'
    with pytest.raises(UsageError, match=problem):
        read_tables(f"{table}{line}\n", "test")


@pytest.mark.parametrize(
    ("parent", "name", "path"),
    [
        ("@items", "[1]", "$items[1]"),
        ("@items", "1", "$items[1]"),
        ("%shop", "owner", "$shop{owner}"),
        ("$items[1]", "price", "$items[1]{price}"),
        ("$shop{lines}", "[0]", "$shop{lines}[0]"),
        ("$item", "price", "$item->{price}"),
        ("$item->{tags}", "0", "$item->{tags}[0]"),
    ],
)
def test_what_is_inside_has_the_path_of_perl(parent: str, name: str, path: str) -> None:
    assert PerlValues().member(parent, name, None) == path


async def test_a_condition_that_is_refused_at_a_launch_is_named_although_the_program_has_ended(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()

    async def refuse(arguments: dict[str, list[object]]) -> dict[str, list[object]]:
        return {"breakpoints": [{"verified": False, "message": "a syntax error"} for _ in arguments["breakpoints"]]}

    async def done(arguments: object) -> dict[str, object]:
        return {}

    async with launched("", adapter) as client:
        adapter.answer("setBreakpoints", refuse)
        adapter.answer("configurationDone", done, then=adapter.exit)
        own = [{"file": adapter.program, "line": 1, "condition": "n ==== 2"}]
        start = {"program": adapter.program, "adapter": "fake", "stop_at_entry": False, "replace": True}
        over = await client.call("debug_launch", **start, breakpoints=own)
        assert (over["state"], over["notes"][0]) == ("Disconnected", "bp-1 was refused: a syntax error")


def test_only_of_a_module_it_is_said_that_the_adapter_may_have_set_no_breakpoint_in_it() -> None:
    assert PerlWords().why_never("/src/stock.pl") is None
    assert "relative directory" in (PerlWords().why_never("/src/lib/Stock.pm") or "")
