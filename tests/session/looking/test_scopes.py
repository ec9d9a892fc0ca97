"""What the locals of a stop are, whatever scopes an adapter has."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.session.tables import launched
from trio_debugmcp.dap.messages import DapScope
from trio_debugmcp.dap.profiles import Dialect
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues
from trio_debugmcp.session.looking.by_adapter.dap_variables import MAX_SCOPES, chosen_scopes
from trio_debugmcp.session.looking.variables import ScopeName
from trio_debugmcp.testing import FakeAdapter, Refusal


def scope(name: str, hint: str | None = None, *, expensive: bool = False) -> DapScope:
    return DapScope(name=name, variables_reference=1, presentation_hint=hint, expensive=expensive)


GDB = [scope("Arguments", "arguments"), scope("Locals", "locals"), scope("Registers", "registers")]
JS = [
    *(scope("Block: loop"), scope("Local: add", "locals"), scope("Closure", "arguments"), scope("Module")),
    scope("Global", None, expensive=True),
]


@pytest.mark.parametrize(
    ("scopes", "wanted", "chosen"),
    [
        (GDB, "locals", ["Arguments", "Locals"]),
        (GDB, "arguments", ["Arguments"]),
        (GDB, "all", ["Arguments", "Locals", "Registers"]),
        (GDB, "globals", []),
        (JS, "locals", ["Block: loop", "Local: add"]),
        (JS[3:], "locals", ["Module"]),
        (JS, "globals", ["Global"]),
        ([scope("Variables", "locals")], "locals", ["Variables"]),
        ([scope("Variables")], "locals", ["Variables"]),
        ([scope("Local"), scope("Static"), scope("Global"), scope("Registers")], "locals", ["Local"]),
        ([scope("Local variables", "locals"), scope("Global variables", "globals")], "locals", ["Local variables"]),
        ([scope("Task"), scope("Host", None, expensive=True), scope("CPU", "registers")], "locals", ["Task"]),
        ([scope("Registers", "registers")], "locals", []),
    ],
)
def test_the_locals_hold_the_arguments_whatever_the_scopes_are_called(
    scopes: list[DapScope], wanted: ScopeName, chosen: list[str]
) -> None:
    assert [each.name for each in chosen_scopes(Dialect(), scopes, wanted)] == chosen


async def test_a_stop_and_variables_get_choose_the_same(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    inside = {5: {"total": "7"}, 6: {"argv": "[]"}}

    async def scopes(arguments: dict[str, Any]) -> object:
        names = [("Variables", 5, None), ("Global", 6, None)]
        return {"scopes": [{"name": n, "variablesReference": r, "presentationHint": h} for n, r, h in names]}

    async def variables(arguments: dict[str, Any]) -> object:
        found = inside[arguments["variablesReference"]]
        return {"variables": [{"name": n, "value": v, "variablesReference": 0} for n, v in found.items()]}

    adapter.answer("scopes", scopes)
    adapter.answer("variables", variables)
    async with launched("", adapter) as client:
        await adapter.stop("pause")
        assert (await client.call("debug_wait"))["locals"] == {"total": "7"}
        assert (await client.call("variables_get"))["variables"] == {"total": "7"}


@pytest.mark.parametrize(
    ("name", "path"), [("0", "values[0]"), ("[0]", "values[0]"), ("['a']", "values['a']"), ("size", "values.size")]
)
def test_a_path_that_the_adapter_does_not_name_is_spelled_as_most_languages_do(name: str, path: str) -> None:
    assert AdapterValues().member("values", name, None) == path


# --- Modules ----------------------------------------------------------------------------------------------------------


async def test_modules_are_asked_for_where_no_events_report_them(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({"supportsModulesRequest": True})

    async def modules(arguments: dict[str, Any]) -> object:
        return {"modules": [{"id": "55554000", "name": "/opt/app", "path": "/opt/app"}]}

    adapter.answer("modules", modules)
    async with launched("", adapter) as client:
        for _ in range(2):
            await adapter.stop("pause")
            await client.call("debug_wait")
            await trio.sleep(1)
            await client.call("debug_continue", wait=False)
        assert len(adapter.sent("modules")) == 1
        (module,) = (await client.read("debugger://modules"))["modules"]
        assert module["name"] == "/opt/app"


@pytest.mark.parametrize("declared", [True, False])
async def test_an_adapter_that_refuses_its_modules_or_declares_none_is_asked_once_or_never(
    autojump_clock: MockClock, declared: bool
) -> None:
    adapter = FakeAdapter({"supportsModulesRequest": declared})

    async def unknown(arguments: dict[str, Any]) -> object:
        raise Refusal("unknown request")

    adapter.answer("modules", unknown)
    async with launched("", adapter) as client:
        for _ in range(2):
            await adapter.stop("pause")
            await client.call("debug_wait")
            await trio.sleep(1)
            await client.call("debug_continue", wait=False)
        assert len(adapter.sent("modules")) == int(declared)


async def test_the_module_of_a_frame_has_its_name_and_not_its_address(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def frames(arguments: dict[str, Any]) -> object:
        frame = {"id": 1, "name": "main", "line": 1, "column": 1, "source": {"path": "/a.cpp"}}
        return {"stackFrames": [{**frame, "moduleId": "5555"}, {**frame, "id": 2, "moduleId": "7777"}]}

    adapter.answer("stackTrace", frames)
    async with launched("", adapter) as client:
        await adapter.event("module", {"reason": "new", "module": {"id": "5555", "name": "/opt/app"}})
        await adapter.stop("pause")
        await client.call("debug_wait")
        stack = (await client.read("debugger://stack"))["frames"]
        assert [each["location"]["moduleName"] for each in stack] == ["app", "7777"]


def test_of_a_frame_with_very_many_scopes_the_first_are_asked_for() -> None:
    many = [scope(f"Local {number}", "locals") for number in range(100_000)]
    assert [len(chosen_scopes(Dialect(), many, wanted)) for wanted in ("all", "locals")] == [MAX_SCOPES] * 2
