"""Secrets in what editors are shown, whatever it is of: a label in the place of each, as in the answers of MCP."""

from typing import Any

from trio.testing import MockClock

from tests.editors.bench import OBSERVE, paused
from trio_debugmcp.testing import FakeAdapter

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
RANDOM = "'Xk39fj2Lq0Zr8TgWvB5nHs7Ye'"


async def test_an_observer_sees_no_secret_in_the_condition_of_another_client(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.join(OBSERVE)
        await bench.agent.call("breakpoint_set", file=FakeAdapter.program, line=7, condition=f"token == '{TOKEN}'")
        shown = (await editor.wait_event("breakpoint"))["breakpoint"]
        assert shown["message"].endswith("if token == '<GitHub token, 40 characters>'")


async def test_what_an_adapter_says_of_a_breakpoint_is_shown_without_its_secrets(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()

        async def refuse(arguments: dict[str, Any]) -> Any:
            asked = arguments["breakpoints"]
            return {"breakpoints": [{"verified": False, "message": f"bad: {each['condition']}"} for each in asked]}

        adapter.answer("setBreakpoints", refuse)
        wanted = [{"line": 7, "condition": f"token == '{TOKEN}'"}]
        [shown] = (await editor.ask("setBreakpoints", source={"path": adapter.program}, breakpoints=wanted))[
            "breakpoints"
        ]
        assert "bad: token" in shown["message"]
        assert TOKEN not in shown["message"]


async def test_a_child_is_masked_by_the_path_that_leads_to_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def variables(arguments: dict[str, Any]) -> Any:
        if arguments["variablesReference"] != 8:
            found = {"name": "secret", "value": "Secret object", "evaluateName": "secret", "variablesReference": 8}
        else:
            found = {"name": "value", "value": RANDOM, "evaluateName": "secret.value", "variablesReference": 0}
        return {"variables": [found]}

    adapter.answer("variables", variables)
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        [secret] = await editor.locals()
        [child] = (await editor.ask("variables", variablesReference=secret["variablesReference"]))["variables"]
        assert (secret["value"], child["value"]) == ("Secret object", "'<secret, 25 characters>'")
