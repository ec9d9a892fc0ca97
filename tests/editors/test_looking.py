"""What an editor shows: threads, frames, values, sources, modules and exceptions, by numbers of its own."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import OBSERVE, open_bench, paused
from tests.masking.samples import GITHUB
from trio_debugmcp.dap.profiles.javascript.javascript import JavaScriptValues
from trio_debugmcp.dap.profiles.python.expressions import PythonExpressions
from trio_debugmcp.testing import FakeAdapter, Refusal
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES


async def test_a_deep_stack_is_paged_and_its_total_is_known(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [(f"f{n}", "/src/app.py", n + 1) for n in range(60)]
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        page = await editor.ask("stackTrace", threadId=1, startFrame=0, levels=20)
        assert ([each["name"] for each in page["stackFrames"]][::19], page["totalFrames"]) == (["f0", "f19"], 60)
        page = await editor.ask("stackTrace", threadId=1, startFrame=50, levels=20)
        assert [each["name"] for each in page["stackFrames"]] == [f"f{n}" for n in range(50, 60)]
        whole = await editor.ask("stackTrace", threadId=1)
        assert len(whole["stackFrames"]) == 60


async def test_a_page_of_variables_is_asked_of_the_adapter_as_the_editor_asks_for_it(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]

        async def items(arguments: dict[str, Any]) -> Any:
            assert arguments == {"variablesReference": 7, "filter": "indexed", "start": 20, "count": 2}
            return {"variables": [{"name": "20", "value": "x", "variablesReference": 9, "indexedVariables": 4}] * 2}

        adapter.answer("variables", items)
        reference = scope["variablesReference"]
        body = await editor.ask("variables", variablesReference=reference, filter="indexed", start=20, count=2)
        assert [each["indexedVariables"] for each in body["variables"]] == [4, 4]
        assert body["variables"][0]["variablesReference"] not in (0, 9)


async def test_a_number_of_a_stop_that_is_over_is_refused_and_never_anothers_value(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        await editor.ask("next", threadId=1)
        assert (await editor.refused("scopes", frameId=frame["id"])).word == "notStopped"
        await adapter.stop("step")
        await editor.wait_event("stopped", 2)
        for command, arguments in (
            ("scopes", {"frameId": frame["id"]}),
            ("variables", {"variablesReference": scope["variablesReference"]}),
            ("evaluate", {"frameId": frame["id"], "expression": "count"}),
        ):
            assert "that is over" in str(await editor.refused(command, **arguments))
        again = await editor.top_frame()
        assert again["id"] > frame["id"]


async def test_a_kind_of_children_that_a_value_has_none_of_is_not_asked_for(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:

        async def scopes(arguments: dict[str, Any]) -> Any:
            return {"scopes": [{"name": "Locals", "variablesReference": 7, "namedVariables": 1, "indexedVariables": 0}]}

        async def variables(arguments: dict[str, Any]) -> Any:
            return {"variables": [{"name": "x", "variablesReference": 8, "namedVariables": 0, "indexedVariables": 2}]}

        async def evaluated(arguments: dict[str, Any]) -> Any:
            return {"result": "x", "variablesReference": 9, "namedVariables": 2, "indexedVariables": 0}

        adapter.answer("scopes", scopes)
        adapter.answer("variables", variables)
        adapter.answer("evaluate", evaluated)
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        [child] = (await editor.ask("variables", variablesReference=scope["variablesReference"]))["variables"]
        value = await editor.ask("evaluate", frameId=frame["id"], expression="x", context="watch")
        before = len(adapter.sent("variables"))
        for each, without, has in (
            (scope, "indexed", "named"),
            (child, "named", "indexed"),
            (value, "indexed", "named"),
        ):
            asked = {"variablesReference": each["variablesReference"], "start": 0, "count": 100}
            # rdbg 1.4 closes its connection when it is asked, which ends the session for all.
            assert await editor.ask("variables", filter=without, **asked) == {"variables": []}
            assert len(adapter.sent("variables")) == before
            await editor.ask("variables", filter=has, **asked)
            before += 1
            assert len(adapter.sent("variables")) == before


async def test_a_page_of_an_adapter_that_answers_everything_is_the_one_that_was_asked_for(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:

        async def everything(arguments: dict[str, Any]) -> Any:
            return {"variables": [{"name": f"[{n}]", "value": str(n), "variablesReference": 0} for n in range(250)]}

        adapter.answer("variables", everything)
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        for start, count in ((0, 100), (100, 100), (200, 50)):
            asked = {"variablesReference": scope["variablesReference"], "start": start, "count": count}
            for more in ({}, {"filter": "indexed"}):
                body = await editor.ask("variables", **asked, **more)
                assert [int(each["value"]) for each in body["variables"]] == list(range(start, start + count))


async def test_a_number_of_another_kind_is_refused_as_that(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        number = scope["variablesReference"]
        refused = await editor.refused("evaluate", expression="count", frameId=number)
        assert str(refused) == refused.word == f"{number} is the number of a value, and not of a frame."
        refused = await editor.refused("variables", variablesReference=frame["id"])
        assert str(refused) == f"{frame['id']} is the number of a frame, and not of a value."


async def test_a_number_of_another_editor_is_refused(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as one, bench.editor() as other:
        await one.join()
        await other.join()
        for _ in range(3):
            frame = await one.top_frame()
            [scope] = (await one.ask("scopes", frameId=frame["id"]))["scopes"]
        assert "unknown" in str(await other.refused("scopes", frameId=frame["id"]))
        assert "unknown" in str(await other.refused("variables", variablesReference=scope["variablesReference"]))
        assert "unknown" in str(await other.refused("stepIn", threadId=1, targetId=scope["variablesReference"]))


async def test_values_of_secrets_are_masked_as_at_the_other_doors(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.locals = {"github": f"'{GITHUB}'"}
    adapter.values = {"github": f"'{GITHUB}'"}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        assert [each["value"] for each in await editor.locals()] == ["'<GitHub token, 40 characters>'"]
        frame = await editor.top_frame()
        found = await editor.ask("evaluate", frameId=frame["id"], expression="github", context="hover")
        assert found["result"] == "'<GitHub token, 40 characters>'"
        assert GITHUB not in str(editor.events)


async def test_messages_of_exceptions_and_of_failures_are_masked(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def refuse(arguments: dict[str, Any]) -> Any:
        raise Refusal(f"ValueError: {GITHUB}")

    async def exception(arguments: dict[str, Any]) -> Any:
        return {"exceptionId": "ValueError", "description": f"refused: {GITHUB}", "breakMode": "always"}

    adapter.answer("evaluate", refuse)
    adapter.answer("exceptionInfo", exception)
    async with open_bench(adapter) as bench, bench.editor() as editor:
        await bench.agent.call("breakpoint_set_exception", exception_type="*")
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.stop("exception", text="ValueError")
        await editor.join()
        stop = await editor.wait_event("stopped")
        assert "<GitHub token, 40 characters>" in stop["text"]
        refused = await editor.refused("evaluate", expression="count", context="watch")
        assert "<GitHub token, 40 characters>" in str(refused)
        assert GITHUB not in f"{editor.events}{refused}{refused.word}"


async def test_statements_are_refused_in_what_an_editor_evaluates_by_itself(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        bench.server.app.debugger.settings.profiles[0].expressions = PythonExpressions()
        await editor.join()
        frame = await editor.top_frame()
        for context in ("watch", "hover", "clipboard"):
            refused = await editor.refused("evaluate", frameId=frame["id"], expression="count = 4", context=context)
            assert "`count = 4` is not an expression" in str(refused)
        assert "count = 4" not in str(adapter.sent("evaluate"))


async def test_a_value_for_the_clipboard_is_asked_of_the_adapter_as_such(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsClipboardContext": True})
    adapter.values = {"count": "3"}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        await editor.ask("evaluate", frameId=frame["id"], expression="count", context="clipboard")
        assert adapter.sent("evaluate")[-1]["context"] == "clipboard"
        await editor.ask("evaluate", frameId=frame["id"], expression="count", context="hover")
        assert adapter.sent("evaluate")[-1]["context"] != "clipboard"


async def test_a_value_whose_name_the_adapters_own_code_hides_is_copied_under_a_name_of_ours(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsClipboardContext": True})
    seen: list[tuple[str, str]] = []

    async def evaluate(arguments: dict[str, Any]) -> Any:
        expression, context = arguments["expression"], arguments["context"]
        seen.append((expression, context))
        if "nothing" in expression:
            raise Refusal("ReferenceError: nothing is not defined")
        return {"result": "{a: 1}" if context == "clipboard" else "{…}", "variablesReference": 0}

    adapter.answer("evaluate", evaluate)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        bench.server.app.debugger.settings.profiles[0].values = JavaScriptValues()
        await editor.join()
        asked = {"frameId": (await editor.top_frame())["id"], "context": "clipboard"}
        for expression in ("o", "basket.o"):
            assert (await editor.ask("evaluate", expression=expression, **asked))["result"] == "{a: 1}"
        (kept, _), (name, _), (removed, _), (plain, _) = seen
        assert (kept, removed, plain) == (f"{name} = (o)", f"delete {name}", "basket.o")
        assert [context == "clipboard" for _, context in seen] == [False, True, False, True]
        refused = await editor.refused("evaluate", expression="o.nothing + o", **asked)
        assert str(refused).startswith("`o.nothing + o` failed: ReferenceError")


async def test_a_child_is_set_in_the_value_that_has_it_and_not_by_a_name_that_may_be_anothers(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsSetExpression": True, "supportsSetVariable": True})
    adapter.locals = {"count": "3"}

    async def set_it(arguments: dict[str, Any]) -> Any:
        return {"value": "5", "type": "int"}

    adapter.answer("setVariable", set_it)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        reference = scope["variablesReference"]
        found = await editor.ask("setVariable", variablesReference=reference, name="count", value="5")
        assert found == {"value": "5", "type": "int", "variablesReference": 0}
        [sent] = adapter.sent("setVariable")
        assert (sent["name"], sent["value"], adapter.sent("setExpression")) == ("count", "5", [])
        assert (await bench.agent.call("debug_state"))["notes"] == ["a person (Test Editor) set count = 5"]


async def test_a_value_that_an_adapter_does_not_say_after_setting_it_is_read(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsSetVariable": True})
    adapter.locals = {"count": "3", "other": "4"}

    async def set_it(arguments: dict[str, Any]) -> Any:
        adapter.locals[arguments["name"]] = arguments["value"]
        return {"value": ""}  # as lldb-dap 19

    adapter.answer("setVariable", set_it)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        reference = scope["variablesReference"]
        found = await editor.ask("setVariable", variablesReference=reference, name="other", value="77")
        assert found == {"value": "77", "type": "int", "variablesReference": 0}
        assert (await bench.agent.call("debug_state"))["notes"] == ["a person (Test Editor) set other = 77"]

        async def refuse(arguments: dict[str, Any]) -> Any:
            raise Refusal("not now")

        adapter.answer("variables", refuse)
        found = await editor.ask("setVariable", variablesReference=reference, name="other", value="78")
        assert (found["value"], adapter.locals["other"]) == ("", "78")  # it is set all the same


async def test_what_a_person_sets_beside_the_name_of_a_secret_is_masked_in_what_the_agent_learns(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsSetVariable": True})
    adapter.locals = {"api_key": "''"}
    random = "9f86d081884c7d659a2feaa0c55ad015"

    async def set_it(arguments: dict[str, Any]) -> Any:
        return {"value": f"'{random}'"}

    adapter.answer("setVariable", set_it)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        reference = scope["variablesReference"]
        await editor.ask("setVariable", variablesReference=reference, name="api_key", value=f"'{random}'")
        [note] = (await bench.agent.call("debug_state"))["notes"]
        assert note == "a person (Test Editor) set api_key = '<secret, 32 characters>'"


async def test_a_frame_whose_number_is_0_for_the_adapter_has_a_number(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def stack(arguments: dict[str, Any]) -> Any:
        source = {"path": FakeAdapter.program}
        return {"stackFrames": [{"id": 0, "name": "f", "line": 2, "column": 1, "source": source}], "totalFrames": 1}

    adapter.answer("stackTrace", stack)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        assert frame["id"] > 0
        await editor.ask("scopes", frameId=frame["id"])
        assert adapter.sent("scopes")[-1] == {"frameId": 0}


async def test_a_number_of_the_stop_before_is_refused_also_before_the_next_stop_is_reported(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        await trio.sleep(2)  # it watches from now on, so that changes are reported a moment later
        await bench.agent.call("debug_step", wait=False)
        await adapter.stop("step")
        await bench.agent.call("debug_wait")
        assert editor.log.count("stopped") == 1
        assert "of a stop that is over" in str(await editor.refused("scopes", frameId=frame["id"]))


async def test_an_evaluation_fails_with_the_programs_own_error(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        refused = await editor.refused("evaluate", frameId=frame["id"], expression="nothing", context="watch")
        assert "NameError: name 'nothing' is not defined" in str(refused)


async def test_what_is_typed_into_the_console_is_a_call_of_evaluate_for_others(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.values = {"count + 1": "4"}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        found = await editor.ask("evaluate", frameId=frame["id"], expression="count + 1", context="repl")
        assert (found["result"], found["type"]) == ("4", "int")
        assert (await editor.ask("evaluate", expression="count + 1", context="repl"))["result"] == "4"
        await editor.ask("evaluate", frameId=frame["id"], expression="count + 1", context="hover")
        assert (await bench.agent.call("debug_state"))["notes"] == [
            "a person (Test Editor) evaluated count + 1 2 times"
        ]


async def test_numbers_hold_as_long_as_the_stop_and_an_observer_sees_the_top_frame_only(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("inner", FakeAdapter.program, 2), ("outer", FakeAdapter.program, 9)]
    async with paused(adapter) as (bench, _), bench.editor() as editor, bench.editor() as observer:
        await editor.join()
        await observer.join(OBSERVE)
        frame = await editor.top_frame()
        await bench.agent.call("breakpoint_set", file=adapter.program, line=3)
        await editor.wait_event("breakpoint")  # what is reported meanwhile ends no number
        await editor.ask("scopes", frameId=frame["id"])
        top, below = (await observer.ask("stackTrace", threadId=1))["stackFrames"]
        await observer.ask("scopes", frameId=top["id"])
        assert "top frame" in str(await observer.refused("scopes", frameId=below["id"]))


async def test_an_observer_gets_no_locals_of_one_thread_as_those_of_another(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, "Main"), (2, "Worker")]
    async with paused(adapter) as (bench, _), bench.editor() as observer:
        await observer.join(OBSERVE)
        await observer.wait_event("stopped")
        other = await observer.top_frame(2)
        assert "top frame" in str(await observer.refused("scopes", frameId=other["id"]))


async def test_what_a_statement_comes_to_is_not_shown_where_it_is_nothing(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:

        async def nothing(arguments: dict[str, Any]) -> Any:
            return {"result": "None", "type": "NoneType"}

        adapter.answer("evaluate", nothing)
        await editor.join()
        asked = {"expression": "print(1)", "frameId": (await editor.top_frame())["id"]}
        assert (await editor.ask("evaluate", context="repl", **asked))["result"] == ""
        assert (await editor.ask("evaluate", context="watch", **asked))["result"] == "None"


async def test_completions_are_the_adapters(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsCompletionsRequest": True})
    async with paused(adapter) as (bench, _), bench.editor() as editor:

        async def complete(arguments: dict[str, Any]) -> Any:
            assert (arguments["text"], arguments["column"], arguments["frameId"]) == ("cou", 4, 1000)
            return {
                "targets": [
                    {"label": "count", "length": 3},
                    {"label": "counter", "length": 7},
                    {"label": "coup", "length": 4},
                ]
            }

        adapter.answer("completions", complete)
        await editor.join()
        frame = await editor.top_frame()
        found = await editor.ask("completions", frameId=frame["id"], text="cou", column=4)
        # More than what is typed cannot be replaced.
        assert found["targets"] == [{"label": "count", "length": 3}, {"label": "counter"}, {"label": "coup"}]


async def test_secrets_are_masked_in_completions(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsCompletionsRequest": True})
    random = "9f86d081884c7d659a2feaa0c55ad015"

    async def complete(arguments: dict[str, Any]) -> Any:
        return {
            "targets": [
                {"label": f'tok (variable:"{GITHUB}")', "text": "tok"},  # as rdbg has it
                {"label": f'api_key (variable:"{random}")', "text": "api_key"},
                {"label": "hash", "text": f'hash["{GITHUB}"]'},
            ]
        }

    adapter.answer("completions", complete)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        found = await editor.ask("completions", text="", column=1)
        assert found["targets"] == [
            {"label": 'tok (variable:"<GitHub token, 40 characters>")', "text": "tok"},
            {"label": 'api_key (variable:"<secret, 32 characters>")', "text": "api_key"},
            {"label": "hash", "text": 'hash["<GitHub token, 40 characters>"]'},
        ]


async def test_a_completion_says_where_it_begins_and_without_a_line_the_first_is_meant(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsCompletionsRequest": True})

    async def complete(arguments: dict[str, Any]) -> Any:
        assert (arguments["line"], arguments["column"]) == (1, 7)
        return {"targets": [{"label": "count", "start": 4, "length": 2}]}

    adapter.answer("completions", complete)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join(hello={"linesStartAt1": False, "columnsStartAt1": False})
        found = await editor.ask("completions", text="x = co + y", column=6)
        assert found["targets"] == [{"label": "count", "start": 4, "length": 2}]


async def test_a_variable_is_set_by_its_path_and_shows_what_it_is_then(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsSetExpression": True})
    adapter.locals, adapter.values = {"count": "3"}, {"count": "5"}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join(hello={"supportsInvalidatedEvent": True})
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        reference = scope["variablesReference"]
        found = await editor.ask("setVariable", variablesReference=reference, name="count", value="5")
        assert found["value"] == "5"
        assert adapter.sent("setExpression")[-1]["expression"] == "count"
        found = await editor.ask("setExpression", frameId=frame["id"], expression="count", value="5")
        assert found["value"] == "5"
        assert "no variable" in str(
            await editor.refused("setVariable", variablesReference=reference, name="none", value="5")
        )
        await editor.wait_event("invalidated")


async def test_a_source_that_only_the_adapter_has_is_read_by_a_number(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def stack(arguments: dict[str, Any]) -> Any:
        source = {"name": "<eval>", "path": "<eval>", "sourceReference": 77}
        return {"stackFrames": [{"id": 1, "name": "f", "line": 2, "column": 1, "source": source}], "totalFrames": 1}

    async def text(arguments: dict[str, Any]) -> Any:
        assert arguments["sourceReference"] == 77
        return {"content": "x = 1\n"}

    adapter.answer("stackTrace", stack)
    adapter.answer("source", text)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        source = (await editor.top_frame())["source"]
        assert source["sourceReference"]
        body = await editor.ask("source", sourceReference=source["sourceReference"], source=source)
        assert body["content"] == "x = 1\n"
        assert "unknown" in str(await editor.refused("source", sourceReference=999))
        await editor.refused("source", sourceReference=0, source={"path": "/etc/passwd"})


async def test_the_exception_at_a_stop_is_shown_with_its_details(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench:
        await bench.agent.call("breakpoint_set_exception", exception_type="*")
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.stop("exception", text="ValueError")
        async with bench.editor() as editor:
            await editor.join()
            stop = await editor.wait_event("stopped")
            assert (stop["reason"], stop["description"]) == ("exception", "Paused on ValueError")
            found = await editor.ask("exceptionInfo", threadId=1)
            assert (found["exceptionId"], found["breakMode"]) == ("ValueError", "always")


async def test_the_threads_of_a_program_that_has_not_stopped_yet_are_those_of_the_adapter(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await editor.join()
        assert await editor.wait_event("thread") == {"reason": "started", "threadId": 1}
        assert (await editor.ask("threads"))["threads"] == [{"id": 1, "name": "MainThread"}]


async def test_a_thread_that_has_exited_is_reported_and_not_listed(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await adapter.event("thread", {"reason": "started", "threadId": 2})
        await editor.wait(lambda: {"reason": "started", "threadId": 2} in editor.bodies("thread"))
        await adapter.event("thread", {"reason": "exited", "threadId": 2})
        await editor.wait(lambda: {"reason": "exited", "threadId": 2} in editor.bodies("thread"))
        assert [each["id"] for each in (await editor.ask("threads"))["threads"]] == [1]


async def test_modules_and_sources_are_listed_and_reported(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await adapter.event("module", {"reason": "new", "module": {"id": 1, "name": "shop", "path": "/src/shop.py"}})
        assert (await editor.wait_event("module"))["module"]["name"] == "shop"
        body = await editor.ask("modules", startModule=0, moduleCount=10)
        assert (body["totalModules"], body["modules"][0]["path"]) == (1, "/src/shop.py")
        sources = (await editor.ask("loadedSources"))["sources"]
        assert [each["name"] for each in sources if "app.py" in each["name"]] == ["app.py"]


async def test_an_editor_that_counts_from_zero_gets_lines_and_columns_so(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join(hello={"linesStartAt1": False, "columnsStartAt1": False})
        frame = await editor.top_frame()
        assert (frame["line"], frame["column"]) == (0, 0)
        body = await editor.ask("setBreakpoints", source={"path": adapter.program}, breakpoints=[{"line": 4}])
        assert body["breakpoints"][0]["line"] == 4
        [known] = (await bench.agent.read("debugger://breakpoints"))["breakpoints"]
        assert known["line"] == 5


async def test_paths_as_uris_are_understood_and_answered(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join(hello={"pathFormat": "uri"})
        for scheme in ("file", "File"):
            source = {"path": f"{scheme}://{adapter.program}"}
            [made] = (await editor.ask("setBreakpoints", source=source, breakpoints=[{"line": 4}]))["breakpoints"]
            assert made["source"]["path"] == f"file://{adapter.program}"


@pytest.mark.parametrize("command", ["scopes", "variables", "stackTrace", "setBreakpoints", "evaluate"])
async def test_arguments_that_do_not_fit_are_refused_in_a_sentence(command: str, autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join()
        assert "do not fit" in str(await editor.refused(command, frameId="x", threadId="x"))
        assert "not served" in str(await editor.refused("terminateThreads"))


async def test_an_adapter_that_refuses_is_quoted(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()

        async def refuse(arguments: dict[str, Any]) -> Any:
            raise Refusal("no scopes today")

        adapter.answer("scopes", refuse)
        assert str(await editor.refused("scopes", frameId=frame["id"])) == "no scopes today"
