"""`exception_get_context`: through the probe in one question, through adapters, and after the program's end."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, launch, paused, running
from tests.session.answers import refuse as refused
from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.detection import Detect
from trio_debugmcp.dap.profiles.language import LanguagePrograms
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame, PrintedExceptions, Survived
from trio_debugmcp.server.answers.failures.printed import CRASH_NOTE
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, Refusal, connect
from trio_debugmcp.testing.fake_adapter import ProbedProfile
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES


def frame(line: int, name: str = "sell", **more: Any) -> dict[str, Any]:
    return {"file": "/shop.py", "line": line, "function": name, **more}


LOCALS = {"locals": [{"name": "left", "value": "0", "type": "int"}], "localsTotal": 3}

TREE = {
    "type": "SoldOut",
    "text": "no jam",
    "notes": ["on monday"],
    "notesTotal": 2,
    "frames": [frame(9, "take", raised=True, **LOCALS), frame(4, top=True), {**frame(1, "run", library=True)}],
    "total": 7,
    "inner": [
        {
            "type": "KeyError",
            "text": "'jam'",
            "way": "cause",
            "frames": [frame(3, "find", raised=True, **LOCALS)],
            "total": 1,
            "inner": [{"type": "OSError", "way": "context", "text": ""}],
        },
        {"type": "ValueError", "text": "bad", "way": "suppressed"},
    ],
}

ASKED = {"thread": 1, "inner": 5, "frames": 10, "locals": 1, "code": False}


async def at_exception(adapter: FakeAdapter) -> None:
    await adapter.stop("exception", text="SoldOut")
    await trio.sleep(10)


async def context(client: DebugClient, **arguments: Any) -> dict[str, Any]:
    return await client.call("exception_get_context", **arguments)


async def probed(answer: Any, **arguments: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The answer of the tool where the probe's is this, and what the probe was asked."""
    adapter = FakeAdapter()
    adapter.probe = {"exception": answer}
    async with running("legacy", adapter) as (client, _):
        await at_exception(adapter)
        found = await context(client, **arguments)
        return found, [asked for question, asked in adapter.probed if question == "exception"]


async def test_one_question_has_the_chain_with_its_ways_and_the_frames_of_each(autojump_clock: MockClock) -> None:
    found, questions = await probed({"exception": TREE, "omitted": 3})
    (asked,) = questions
    assert {name: asked[name] for name in ASKED} == ASKED
    assert found == {
        "exception": "ValueError: bad",
        "added": ["on monday", "1 more"],
        "frames": ["take /shop.py:9 (raised here)", "sell :4 (stopped here)", "run :1 (library)"],
        "locals": [{"left": "0", "…": "2 more: variables_get"}],
        "total": 7,
        "causes": [
            {
                "way": "cause",
                "exception": "KeyError: 'jam'",
                "frames": ["find /shop.py:3 (raised here)"],
                "locals": [{"left": "0", "…": "2 more"}],
            },
            {"way": "context", "exception": "OSError"},
            {"way": "suppressed", "of": "SoldOut: no jam", "exception": "ValueError: bad"},
        ],
        "omitted": {"exceptions": 3},
    }


async def test_the_bounds_are_those_that_were_asked_for(autojump_clock: MockClock) -> None:
    _, questions = await probed({"exception": TREE}, max_inner=2, max_frames=3, variables_for_frames=0)
    assert [(each["inner"], each["frames"], each["locals"]) for each in questions] == [(2, 3, 0)]


async def test_a_group_is_a_tree(autojump_clock: MockClock) -> None:
    member = {"type": "E", "text": "1", "way": "member", "inner": [{"type": "Why", "way": "cause"}]}
    deep = {"type": "Group", "text": "deep", "way": "member", "members": 9, "inner": [{**member, "inner": []}]}
    found, _ = await probed({"exception": {"type": "Group", "members": 2, "inner": [member, deep]}})
    assert found["members"] == [
        {"exception": "E: 1", "causes": [{"way": "cause", "exception": "Why"}]},
        {"exception": "Group: deep", "members": [{"exception": "E: 1"}], "count": 9},
    ]
    assert "causes" not in found
    again = {"type": "E", "text": "1", "way": "member", "same": True}
    found, _ = await probed({"exception": {"type": "Group", "members": 2, "inner": [member, again]}})
    assert found["members"][1] == {"exception": "E: 1", "same": True}


async def test_exceptions_that_were_not_counted_are_noted(autojump_clock: MockClock) -> None:
    found, _ = await probed({"exception": {"type": "Group"}, "uncounted": True})
    assert found["notes"] == ["there are more exceptions behind it than were counted"]


async def test_texts_that_need_code_of_the_program_are_asked_for_again(autojump_clock: MockClock) -> None:
    _, questions = await probed({"exception": TREE, "withheld": True})
    assert [each["code"] for each in questions] == [False, True]


async def test_without_the_texts_there_is_an_answer_all_the_same(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.probe = {"exception": {"exception": TREE, "withheld": True}}
    answers = adapter.answer_to("evaluate")

    async def slowly(arguments: dict[str, Any]) -> object:
        if "probe.call('exception'" in arguments["expression"] and '"code": true' in arguments["expression"]:
            await trio.sleep_forever()
        return await answers(arguments)

    adapter.answer("evaluate", slowly)
    async with running("legacy", adapter) as (client, _):
        await at_exception(adapter)
        found = await context(client)
        assert found["causes"][0]["exception"] == "KeyError: 'jam'"
        assert found["notes"] == ["texts are shown as the arguments of the exceptions: their __str__ took too long"]


async def test_a_probe_that_does_not_answer_leaves_the_frames_of_the_stop(autojump_clock: MockClock) -> None:
    found, _ = await probed('{"error": {"kind": "slow", "message": "It took too long."}}')
    assert (found["exception"], len(found["frames"]) > 0) == ("ValueError: bad", True)
    assert found["notes"] == ["what is behind it is not known: It took too long."]


async def test_an_answer_stays_within_its_size_and_counts_what_it_cuts(autojump_clock: MockClock) -> None:
    values = [{"name": f"name{n}", "value": "x" * 100, "type": "str"} for n in range(20)]
    frames = [frame(n, "f" * 90, locals=values if n < 10 else [], localsTotal=40 if n < 10 else 0) for n in range(100)]
    inner = [{"type": "E", "text": "t" * 1000, "way": "member", "notes": ["n" * 1000] * 10, "notesTotal": 10,
              "frames": frames, "total": 100} for _ in range(50)]  # fmt: skip
    found, _ = await probed(
        {"exception": {"type": "Group", "members": 50, "frames": frames, "total": 100, "inner": inner}},
        max_inner=50,
        max_frames=100,
        variables_for_frames=10,
    )
    assert len(json.dumps(found, ensure_ascii=False).encode()) < 32_768
    assert len(found["members"]) == 50
    assert (len(found["frames"]) < 100, found["total"]) == (True, 100)
    assert len(found["locals"]) == 10
    assert all("more: variables_get" in each["…"] for each in found["locals"])


# --- Adapters ---------------------------------------------------------------------------------------------------------


async def test_inner_exceptions_of_an_adapter_are_shown(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    inner = {"fullTypeName": "Shop.Missing", "message": "no jam", "stackTrace": "  at Find()\n  at Main()\n",
             "innerException": [{"typeName": "Deep"}, {"message": "bare"}]}  # fmt: skip
    info = {"exceptionId": "SoldOut", "breakMode": "always", "description": "x", "details": {"innerException": [inner]}}

    async def inform(arguments: object) -> object:
        return info

    adapter.answer("exceptionInfo", inform)
    async with running("legacy", adapter) as (client, _):
        await at_exception(adapter)
        found = await context(client)
        assert found["exception"] == "SoldOut: x"
        assert found["causes"] == [
            {"way": "inner", "exception": "Shop.Missing: no jam", "frames": ["at Find()", "at Main()"]},
            {"way": "inner", "exception": "Deep"},
            {"way": "inner", "of": "Shop.Missing: no jam", "exception": "exception: bare"},
        ]
        found = await context(client, max_inner=2)
        assert ([each["exception"] for each in found["causes"]][1:], found["omitted"]) == (["Deep"], {"exceptions": 1})


async def test_an_exception_is_shown_though_the_adapter_cannot_read_a_variable_of_its_frame(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with running("legacy", adapter) as (client, _):
        await at_exception(adapter)
        adapter.answer("variables", partial(refused, "Cannot find context"))
        answer = await context(client)
        assert answer["exception"] == "ValueError: bad"
        (note,) = answer["notes"]
        assert note.startswith("the variables of ")
        assert "Cannot find context" in note


async def test_a_condition_that_fails_stops_the_program_and_says_why(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def refuse(arguments: object) -> object:
        raise Refusal("Traceback:\nNameError: name 'nope' is not defined\n")

    adapter.answer("evaluate", refuse)
    async with running("legacy", adapter) as (client, _):
        made = await client.call("breakpoint_set_exception", exception_type="*", condition="nope")
        await at_exception(adapter)
        stop = await client.call("debug_state")
        problem = "the condition `nope` failed: NameError: name 'nope' is not defined"
        assert (stop["state"], stop["breakpoints"], stop["notes"]) == ("Paused", [made["id"]], [problem])
        listed = (await client.call("breakpoint_list"))["breakpoints"]
        assert problem in listed[-1]
        again = await client.call("breakpoint_set_exception", exception_type="*")
        assert "message" not in again


async def test_at_a_stop_of_another_kind_there_is_no_exception(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, _):
        failed = await failure(client, "exception_get_context")
        assert (failed.code, "breakpoint_set_exception" in failed.message) == ("NO_EXCEPTION", True)


# --- After the end ----------------------------------------------------------------------------------------------------

DEEP = Crash("Deep: 3", (CrashFrame("f", "/a.py", 3, text="deep()"),), way="context")
CRASH = Crash(
    "Closed: at night",
    (CrashFrame("shut", "/a.py", 1, text="raise Closed"), CrashFrame("main", "/a.py", 2)),
    notes=("its note",),
    inner=(Crash("Why: 2", (), way="cause", inner=(DEEP,)),),
)


class Prints(LanguagePrograms):
    """A language whose programs print one crash if they print anything, and what did not end them."""

    def printed_in(self, stderr: str) -> PrintedExceptions:
        others = tuple(
            Survived(f"E: {n}", "in thread T", CrashFrame("work", "/a.py", n)) for n in range(stderr.count("e"))
        )
        return PrintedExceptions(
            CRASH if "crash" in stderr else None,
            (*others, *[Survived(None, "a task was pending")] * ("p" in stderr)),
            "nobody saw it" if "unseen" in stderr else None,
            by_line="line" in stderr,
        )


async def ended(adapter: FakeAdapter, client: DebugClient, code: int, text: str) -> dict[str, Any]:
    await launch(client, adapter)

    async def end(arguments: object) -> object:
        await adapter.event("output", {"category": "stderr", "output": text})
        await adapter.exit(code)
        return {}

    await adapter.stop("entry")
    await trio.sleep(1)
    adapter.answer("continue", end)
    return await client.call("debug_continue")


@pytest.fixture
def options() -> tuple[FakeAdapter, Options]:
    class Printing(ProbedProfile):
        programs: LanguagePrograms = Prints()

    adapter = FakeAdapter()
    return adapter, Options(settings=Settings(directory="/", profiles=(Printing(adapter),)))


async def test_the_exception_that_ended_the_program_is_shown_as_it_was_printed(
    autojump_clock: MockClock, options: tuple[FakeAdapter, Options]
) -> None:
    adapter, settings = options
    async with connect("legacy", options=settings) as client:
        await ended(adapter, client, 1, "crash")
        assert await context(client) == {
            "exception": "Closed: at night",
            "added": ["its note"],
            "frames": ["shut /a.py:1 (raised here) | raise Closed", "main :2"],
            "causes": [
                {"way": "cause", "exception": "Why: 2"},
                {"way": "context", "exception": "Deep: 3", "frames": ["f /a.py:3 (raised here) | deep()"]},
            ],
            "notes": [f"{CRASH_NOTE}; no values are kept after the end"],
        }
        cut = await context(client, max_inner=1, max_frames=1)
        assert (cut["total"], cut["omitted"], len(cut["frames"])) == (2, {"exceptions": 1}, 1)
        state = await client.call("debug_state")
        assert state["causes"] == ["cause: Why: 2", "context: Deep: 3, at /a.py:3 in f"]


@pytest.mark.parametrize(
    ("said", "code", "is_noted"), [("crash unseen", 1, True), ("crash unseen", 0, False), ("crash", 1, False)]
)
async def test_an_exception_at_which_the_debugger_does_not_stop_is_noted_with_what_stops_there(
    autojump_clock: MockClock, options: tuple[FakeAdapter, Options], said: str, code: int, is_noted: bool
) -> None:
    adapter, settings = options
    note = (
        "Closed ended the program without a stop, as nobody saw it: with "
        '`breakpoints: [{"exception": "Closed"}]` it stops where it is raised'
    )
    async with connect("legacy", options=settings) as client:
        end = await ended(adapter, client, code, said)
        assert (note in end.get("notes", [])) is is_noted


async def test_of_an_adapter_without_breakpoints_on_exceptions_the_line_is_noted_that_raised_what_ended_the_program(
    autojump_clock: MockClock, options: tuple[FakeAdapter, Options]
) -> None:
    adapter, settings = options
    async with connect("legacy", options=settings) as client:
        end = await ended(adapter, client, 255, "crash unseen line")
        assert (
            "the program wrote last, at /a.py:1: at night. "
            'As nobody saw it, `breakpoints: [{"file": "/a.py", "line": 1}]` stops before that'
        ) in end["notes"]


async def test_what_failed_in_a_worker_is_the_cause_with_its_frames(
    autojump_clock: MockClock, options: tuple[FakeAdapter, Options]
) -> None:
    adapter, settings = options
    cause = {"type": "RemoteTraceback", "text": '\n"""\ncrash"""', "way": "cause"}
    adapter.probe = {"exception": {"exception": {"type": "Closed", "text": "at night", "inner": [cause]}, "omitted": 0}}
    async with connect("legacy", options=settings) as client:
        await launch(client, adapter)
        await at_exception(adapter)
        (first,) = (await context(client))["causes"][:1]
        assert (first["way"], first["exception"]) == ("cause", "Closed: at night")
        assert first["frames"] == ["shut /a.py:1 (raised here) | raise Closed", "main :2"]


@pytest.mark.parametrize(("code", "text"), [(0, "crash"), (1, "none"), (-9, "crash")])
async def test_a_program_that_ended_in_another_way_has_no_exception(
    code: int, text: str, autojump_clock: MockClock, options: tuple[FakeAdapter, Options]
) -> None:
    adapter, settings = options
    async with connect("legacy", options=settings) as client:
        assert (await failure(client, "exception_get_context")).code == "NO_SESSION"
        await ended(adapter, client, code, text)
        failed = await failure(client, "exception_get_context")
        assert (failed.code, "debug_launch" in failed.message) == ("NO_EXCEPTION", True)
        # "none" is printed as one that ended a thread: it stops nothing unless its type is asked for.
        assert ('`breakpoints: [{"exception": "E"}]`' in failed.message) == (text == "none")


USUAL = "it stops at what nothing catches", "stops where an exception is raised that nothing catches"

ONLY_RAISED: dict[str, Any] = {"exceptionBreakpointFilters": [{"filter": "any", "label": "rescue any exception"}]}

NO_FILTERS: dict[str, Any] = {"exceptionBreakpointFilters": []}


@pytest.mark.parametrize(
    ("name", "program", "declared", "ways"),
    [
        ("bash-dap", "deploy.sh", NO_FILTERS, ["bash-dap has no exception breakpoints. Use breakpoint_set on a line"]),
        ("perl-ls", "shop.pl", NO_FILTERS, ["perl-ls has no exception breakpoints. Use breakpoint_set on a line"]),
        ("delve", "shop.go", NO_FILTERS, ["delve has no exception breakpoints", "`runtime.gopanic` at every panic."]),
        ("gdb", "shop.d", {}, ["gdb does not know the exceptions of this", 'breakpoint_set(function="_d_throw")']),
        ("gdb", "shop.pas", {}, ['breakpoint_set(function="FPC_RAISEEXCEPTION")']),
        ("rdbg", "shop.rb", ONLY_RAISED, ["rdbg stops at no exception by itself", '{"exception": TYPE}']),
        ("gdb", "shop.c", {}, []),
        ("netcoredbg", "shop.dll", {}, []),
    ],
)
async def test_where_there_is_no_exception_only_what_the_adapter_can_is_advised(
    name: str, program: str, declared: dict[str, Any], ways: list[str], autojump_clock: MockClock, tmp_path: Path
) -> None:
    file = tmp_path / program
    file.touch()
    known = profile_named(name)
    assert known is not None
    adapter = FakeAdapter({**ALL_CAPABILITIES, **declared})
    profile = FakeProfile(adapter)
    profile.name, profile.thrown = name, known.thrown
    profile.detect = Detect(suffixes=(file.suffix,))
    settings = Options(settings=Settings(directory="/", profiles=(profile,)))
    async with connect("legacy", options=settings) as client:
        adapter.frames = [("main", str(file), 1)]
        await launch(client, adapter, program=str(file))
        await adapter.stop("step")
        await trio.sleep(1)
        paused_at = await failure(client, "exception_get_context")
        await adapter.exit(3)
        await trio.sleep(1)
        over = await failure(client, "exception_get_context")
        for failed, usual in ((over, USUAL[0]), (paused_at, USUAL[1])):
            assert failed.code == "NO_EXCEPTION"
            assert (usual in failed.message) is (not ways), failed.message
            assert all(way in failed.message for way in ways), failed.message


async def test_exceptions_that_did_not_end_the_program_are_noted_at_its_end(
    autojump_clock: MockClock, options: tuple[FakeAdapter, Options]
) -> None:
    adapter, settings = options
    async with connect("legacy", options=settings) as client:
        end = await ended(adapter, client, 0, "ep")
        notes = ["an exception in thread T, at /a.py:0 in work did not end the program: E: 0", "a task was pending"]
        assert end["notes"] == notes
        assert (await client.call("debug_state"))["notes"] == notes
        end = await ended(adapter, client, 0, "e" * 7)
        assert (len(end["notes"]), end["notes"][-1][:6]) == (6, "2 more")
