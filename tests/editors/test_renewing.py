"""Numbers that an evaluation ends by calling a function, as with gdb: each still shows its own value, or is refused."""

import json
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import EditorClient, open_bench
from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.dap.profiles.profile import Dialect
from trio_debugmcp.testing import FakeAdapter, Refusal
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES

CALL = "square(4)"


class Calling(Dialect):
    call_reason = "function call"


class Renewing(FakeAdapter):
    """Gives numbers of frames and values as gdb does: from 1 on again, for whatever is asked next, after each call."""

    def __init__(self) -> None:
        more = ("supportsSetVariable", "supportsDataBreakpoints", "supportsStepInTargetsRequest")
        super().__init__({**ALL_CAPABILITIES, **dict.fromkeys(more, True)})
        self.frames = [("inner", self.program, 2), ("outer", self.program, 9)]
        self.scopes: dict[str, Any] = {
            "Locals": {"pair": {"a": "1", "b": "2"}, "total": "3", "twice": {"x": "8"}, "twice ": "9"},
            "Registers": {"rax": "5", "rbx": "6"},
        }
        self.given: list[Any] = []
        self.calls = 0

    async def call_function(self) -> None:
        self.calls += 1
        self.given = []
        await self.event("continued", {"threadId": 1, "allThreadsContinued": True})
        await self.stop("function call")

    def number(self, value: Any) -> int:
        if not isinstance(value, dict):
            return 0
        self.given.append(value)
        return len(self.given)

    def value(self, number: int) -> Any:
        if number > len(self.given):
            raise Refusal("list index out of range")
        return self.given[number - 1]

    def check(self, frame: int) -> None:
        if frame // 100 != 10 + self.calls:
            raise Refusal("list index out of range")

    async def _on_stackTrace(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        body = await super()._on_stackTrace(arguments)
        for each in body["stackFrames"]:
            each["id"] += self.calls * 100
        return body

    async def _on_scopes(self, arguments: dict[str, Any]) -> Any:
        self.check(arguments["frameId"])
        return {"scopes": [{"name": n, "variablesReference": self.number(each)} for n, each in self.scopes.items()]}

    async def _on_variables(self, arguments: dict[str, Any]) -> Any:
        found = self.value(arguments["variablesReference"])
        return {
            "variables": [
                {"name": n.strip(), "value": str(each), "variablesReference": self.number(each)}
                for n, each in found.items()
            ]
        }

    async def _on_evaluate(self, arguments: dict[str, Any]) -> Any:
        match arguments["expression"]:
            case "square(4)":
                await self.call_function()
                return {"result": "16", "variablesReference": 0}
            case "pair" | "make()" as expression:
                value = self.scopes["Locals"]["pair"]
                return {"result": expression, "variablesReference": self.number(value)}
            case _:
                return await super()._on_evaluate(arguments)

    async def _on_dataBreakpointInfo(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        if "frameId" in arguments:
            self.check(arguments["frameId"])
        else:
            assert arguments["name"] in self.value(arguments["variablesReference"])
        return {"dataId": arguments["name"], "description": "it can be watched"}

    async def _on_stepInTargets(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        self.check(arguments["frameId"])
        return {"targets": [{"id": 1, "label": "square"}]}

    async def _on_setVariable(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        self.value(arguments["variablesReference"])[arguments["name"]] = arguments["value"]
        return {"value": arguments["value"]}


class Joined:
    """An editor at a stop, with the numbers that it has been given there."""

    def __init__(self, editor: EditorClient) -> None:
        self.editor = editor
        self.frame = 0
        self.numbers: dict[str, int] = {}

    async def look(self) -> None:
        self.frame = (await self.editor.top_frame())["id"]
        for each in (await self.editor.ask("scopes", frameId=self.frame))["scopes"]:
            self.numbers[each["name"]] = each["variablesReference"]
            self.numbers |= await self.below(each["variablesReference"])

    async def below(self, number: int) -> dict[str, int]:
        found = (await self.editor.ask("variables", variablesReference=number))["variables"]
        return {each["name"]: each["variablesReference"] for each in found}

    async def shown(self, name: str) -> dict[str, str]:
        found = (await self.editor.ask("variables", variablesReference=self.numbers[name]))["variables"]
        return {each["name"]: each["value"] for each in found}

    async def watch(self, expression: str) -> dict[str, Any]:
        return await self.editor.ask("evaluate", expression=expression, frameId=self.frame, context="watch")


async def joined(bench: Any, editor: EditorClient, adapter: FakeAdapter) -> Joined:
    bench.server.app.debugger.settings.profiles[0].dialect = Calling()
    await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
    await adapter.stop("entry")
    await editor.join(hello={"supportsInvalidatedEvent": True})
    await editor.wait_event("stopped")
    found = Joined(editor)
    await found.look()
    return found


async def test_numbers_of_a_stop_show_their_own_values_after_an_evaluation_has_called_a_function(
    autojump_clock: MockClock,
) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)
        for context in ("watch", "hover", "repl"):
            await editor.ask("evaluate", expression=CALL, frameId=at.frame, context=context)
            await at.watch("pair")  # whose number was that of a scope
            assert await at.shown("Registers") == {"rax": "5", "rbx": "6"}
            assert await at.shown("pair") == {"a": "1", "b": "2"}
            assert (await at.shown("Locals"))["total"] == "3"
            scopes = (await editor.ask("scopes", frameId=at.frame))["scopes"]
            assert [each["name"] for each in scopes] == ["Locals", "Registers"]
        await bench.agent.call("evaluate", expression=CALL)
        assert await at.shown("Registers") == {"rax": "5", "rbx": "6"}


async def test_the_stack_that_is_asked_for_after_a_call_has_numbers_that_work(autojump_clock: MockClock) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)
        await at.watch(CALL)
        before = len(adapter.sent("stackTrace"))
        frames = (await editor.ask("stackTrace", threadId=1, levels=20))["stackFrames"]
        assert len(adapter.sent("stackTrace")) == before + 1  # of the state's frames all numbers are over
        assert [each["name"] for each in frames] == ["inner", "outer"]
        await editor.ask("scopes", frameId=frames[1]["id"])
        assert len(adapter.sent("stackTrace")) == before + 1
        before_stop = len(editor.bodies("stopped"))
        await editor.ask("next", threadId=1)
        await adapter.stop("step")
        await editor.wait_event("stopped", before_stop + 1)
        before = len(adapter.sent("stackTrace"))
        await editor.ask("stackTrace", threadId=1, levels=2)
        assert len(adapter.sent("stackTrace")) == before  # that stop has frames of its own


async def test_a_value_of_an_expression_is_found_again_by_a_path_and_else_refused(autojump_clock: MockClock) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)
        at.numbers = {each: (await at.watch(each))["variablesReference"] for each in ("pair", "make()")}
        await at.watch(CALL)
        assert await at.shown("pair") == {"a": "1", "b": "2"}
        before = len(adapter.sent("evaluate"))
        refused = await editor.refused("variables", variablesReference=at.numbers["make()"])
        assert "has called a function since" in str(refused)
        assert len(adapter.sent("evaluate")) == before  # it might change something


async def test_of_two_children_of_one_name_neither_is_taken_for_the_other(autojump_clock: MockClock) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)
        children = (await editor.ask("variables", variablesReference=at.numbers["Locals"]))["variables"]
        number = next(
            each["variablesReference"] for each in children if each["variablesReference"] and "x" in each["value"]
        )
        await at.watch(CALL)
        assert "look at this value once more" in str(await editor.refused("variables", variablesReference=number))


async def test_a_variable_is_set_in_its_own_scope_after_a_call(autojump_clock: MockClock) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)
        await at.watch(CALL)
        await at.watch("pair")
        await at.watch("pair")  # the number that Registers had
        before = len(adapter.sent("variables"))
        await editor.ask("setVariable", variablesReference=at.numbers["Registers"], name="rax", value="7")
        assert adapter.scopes["Registers"]["rax"] == "7"
        assert "rax" not in adapter.scopes["Locals"]["pair"]
        assert len(adapter.sent("variables")) > before  # gdb sets no child that it has not named under that number


@pytest.mark.parametrize("reused", [50, 0])
async def test_a_variable_is_set_when_an_evaluation_has_ended_that_may_renew_its_number(
    reused: int, autojump_clock: MockClock
) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)

        one_at_a_time = trio.Lock()

        async def slow(arguments: dict[str, Any]) -> Any:
            async with one_at_a_time:
                await trio.sleep(1)
                await adapter.call_function()
                for _ in range(reused):
                    adapter.number({"rax": "another's"})
                return {"result": "16", "variablesReference": 0}

        def behind(command: str) -> None:
            answer = adapter.answer_to(command)

            async def waiting(arguments: dict[str, Any]) -> Any:
                async with one_at_a_time:
                    return await answer(arguments)

            adapter.answer(command, waiting)

        behind("setVariable")
        behind("variables")
        adapter.answer("evaluate", slow)
        await editor.send("evaluate", {"expression": CALL, "frameId": at.frame, "context": "watch"})
        await editor.ask("setVariable", variablesReference=at.numbers["Registers"], name="rax", value="7")
        assert adapter.scopes["Registers"]["rax"] == "7"


async def test_a_value_is_known_by_the_numbers_after_the_calls_of_its_own_evaluation(autojump_clock: MockClock) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)

        async def noisy(arguments: dict[str, Any]) -> Any:
            news: list[tuple[str, dict[str, Any]]] = [
                ("module", {"reason": "new", "module": {"id": n, "name": f"lib{n}"}}) for n in range(50)
            ]
            news += [("continued", {"threadId": 1}), ("stopped", {"threadId": 1, "reason": "function call"})]
            events = [{"seq": 1, "type": "event", "event": name, "body": body} for name, body in news]
            # At once, so that the answer is there before all of them are taken.
            await adapter.send_raw(b"".join(encode_frame(json.dumps(each).encode()) for each in events))
            adapter.given = []
            return {"result": "made", "variablesReference": adapter.number({"a": "1"})}

        adapter.answer("evaluate", noisy)
        at.numbers["made"] = (await at.watch("make_noise()"))["variablesReference"]
        await trio.sleep(1)
        assert await at.shown("made") == {"a": "1"}


async def test_data_and_targets_are_those_of_the_frame_and_the_value_after_a_call(autojump_clock: MockClock) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)
        await at.watch(CALL)
        of_value = {"variablesReference": at.numbers["Registers"], "name": "rax"}
        assert (await editor.ask("dataBreakpointInfo", **of_value))["description"] == "it can be watched"
        of_frame = {"frameId": at.frame, "name": "total"}
        assert (await editor.ask("dataBreakpointInfo", **of_frame))["description"] == "it can be watched"
        assert (await editor.ask("stepInTargets", frameId=at.frame))["targets"][0]["label"] == "square"


async def test_what_is_asked_while_a_function_is_called_is_asked_again(autojump_clock: MockClock) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)
        plain, times = adapter.answer_to("variables"), []

        async def behind(arguments: dict[str, Any]) -> Any:
            times.append(arguments)
            if len(times) == 1:  # the adapter has read it before, and answers it behind the evaluation
                await adapter.call_function()
                return {"variables": [{"name": "wrong", "value": "1", "variablesReference": 0}]}
            return await plain(arguments)

        adapter.answer("variables", behind)
        assert await at.shown("Registers") == {"rax": "5", "rbx": "6"}


async def test_a_program_whose_functions_are_called_without_end_is_not_asked_for_ever(
    autojump_clock: MockClock,
) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)

        async def always(arguments: dict[str, Any]) -> Any:
            await adapter.call_function()
            raise Refusal("list index out of range")

        adapter.answer("scopes", always)
        assert "ask again" in str(await editor.refused("scopes", frameId=at.frame))
        adapter.restore("scopes")
        assert (await editor.ask("scopes", frameId=at.frame))["scopes"]


async def test_an_adapters_own_refusal_is_not_asked_again(autojump_clock: MockClock) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        at = await joined(bench, editor, adapter)

        async def refuse(arguments: dict[str, Any]) -> Any:
            raise Refusal("no scopes today")

        adapter.answer("scopes", refuse)
        before = len(adapter.sent("scopes"))
        assert str(await editor.refused("scopes", frameId=at.frame)) == "no scopes today"
        assert len(adapter.sent("scopes")) == before + 1


async def test_editors_look_again_after_a_call_of_the_console_or_an_agent_and_not_of_a_watch(
    autojump_clock: MockClock,
) -> None:
    adapter = Renewing()
    async with open_bench(adapter) as bench, bench.editor() as editor, bench.editor() as other:
        at = await joined(bench, editor, adapter)
        await other.join(hello={"supportsInvalidatedEvent": True})
        await at.watch(CALL)
        await trio.sleep(10)
        # An editor that looks again evaluates its watches again, and so without end.
        assert editor.bodies("invalidated") == other.bodies("invalidated") == []
        await editor.ask("evaluate", expression=CALL, frameId=at.frame, context="repl")
        await editor.wait_event("invalidated")
        await other.wait_event("invalidated")
        await bench.agent.call("evaluate", expression=CALL)
        await editor.wait_event("invalidated", 2)
        await other.wait_event("invalidated", 2)
