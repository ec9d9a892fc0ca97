"""`object_inspect`: through the probe in one question, and through adapters level by level."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, paused
from trio_debugmcp.session.inspection import MAX_NODES
from trio_debugmcp.session.trees import ADAPTER_SECONDS
from trio_debugmcp.testing import FakeAdapter, open_server

ROOT = {"name": "xs", "value": "[…]", "type": "list", "size": 2}

INSIDE = [
    {"name": "[0]", "value": "1", "type": "int", "path": "xs[0]"},
    {"name": "[1]", "value": "", "path": "xs[1]", "cycle": "xs"},
]

SHOWN = {"value": "[…]", "count": 2, "children": {"[0]": "1", "[1]": {"cycle": "xs"}}}


def probed(tree: Any) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.probe = {"inspect": tree if isinstance(tree, str) else {"object": tree}}
    return adapter


async def test_one_question_to_the_probe_has_the_whole_tree(autojump_clock: MockClock) -> None:
    async with paused("legacy", probed({**ROOT, "children": INSIDE})) as (client, adapter):
        before = len(adapter.requests)
        found = await client.call("object_inspect", expression=" xs ", depth=3, max_children=7, frame_index=1)
        assert found == SHOWN
        assert adapter.commands()[before:] == ["evaluate"]
        asked = adapter.probed[-1][1]
        assert {key: asked[key] for key in ("thread", "frame", "path", "depth", "count", "code")} == {
            "thread": 1, "frame": 1, "path": "xs", "depth": 3, "count": 7, "code": False,
        }  # fmt: skip


async def test_values_that_need_code_are_asked_for_again_and_stay_unknown_if_that_fails(
    autojump_clock: MockClock,
) -> None:
    slow = {"name": "[0]", "value": "Slow(...)", "type": "Slow", "path": "xs[0]", "withheld": True}
    async with paused("legacy", probed({**ROOT, "children": [slow]})) as (client, adapter):
        await client.call("object_inspect", expression="xs")
        assert [more["code"] for question, more in adapter.probed if question == "inspect"] == [False, True]
        answers = adapter.answer_to("evaluate")

        async def slowly(arguments: dict[str, Any]) -> object:
            if '"code": true' in arguments["expression"]:
                await trio.sleep_forever()
            return await answers(arguments)

        adapter.answer("evaluate", slowly)
        found = await client.call("object_inspect", expression="xs")
        assert found["children"]["[0]"].startswith("<repr took over 0.5 s>")


@pytest.mark.parametrize(
    ("kind", "code"),
    [("raised", "EVAL_FAILED"), ("thread", "INVALID_THREAD"), ("frame", "INVALID_FRAME"), ("slow", "TIMEOUT")],
)
async def test_what_is_wrong_is_said(autojump_clock: MockClock, kind: str, code: str) -> None:
    adapter = probed(f'{{"error": {{"kind": "{kind}", "message": "KeyError: 1"}}}}')
    async with paused("legacy", adapter) as (client, _):
        assert (await failure(client, "object_inspect", expression="xs")).code == code


class Family(FakeAdapter):
    """A program with objects by reference: 8 has 9 and 10, both of which have 8 and the same sister."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[int] = []
        self.answer("evaluate", self._evaluate)
        self.answer("variables", self._variables)

    async def _evaluate(self, arguments: object) -> object:
        return {"result": "Family", "type": "Family", "variablesReference": 8, "namedVariables": 2}

    async def _variables(self, arguments: dict[str, Any]) -> object:
        reference = arguments["variablesReference"]
        self.fetched.append(reference)
        inner = {
            8: [("ann", "P", 9), ("ben", "P", 10)],
            9: [("parent", "Family", 8), ("sister", "0x7fff0010", 20 + len(self.fetched)), ("age", "5", 0)],
            10: [("sister", "0x7fff0010", 20 + len(self.fetched)), ("len()", "1", 0)],
        }.get(reference, [("[0]", "1", 0)])
        return {"variables": [{"name": n, "value": v, "type": "T", "variablesReference": r} for n, v, r in inner]}


async def test_adapters_are_asked_level_by_level_and_objects_known_by_reference_or_address(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy", adapter := Family()) as (client, _):
        adapter.fetched.clear()
        found = await client.call("object_inspect", expression="f", depth=3)
        assert found["count"] == 2
        ann, ben = found["children"]["ann"]["children"], found["children"]["ben"]["children"]
        assert ann["parent"] == {"cycle": "f"}
        assert ann["age"] == "5 (T)"
        assert ann["sister"]["children"] == {"[0]": "1 (T)"}
        assert ben == {"sister": {"same": "f.ann.sister"}}
        assert len(adapter.fetched) == 4
        flat = await client.call("object_inspect", expression="f", depth=1, max_children=1)
        assert flat == {"value": "Family", "count": 2, "children": {"ann": {"value": "P (T)", "more": True}}}


async def test_an_adapter_that_is_slow_or_endless_is_asked_only_so_much(autojump_clock: MockClock) -> None:
    async with paused("legacy", adapter := Family()) as (client, _):

        async def endless(arguments: dict[str, Any]) -> object:
            above = arguments["variablesReference"]
            return {"variables": [{"name": str(n), "variablesReference": 100 * above + n} for n in range(1, 60)]}

        adapter.answer("variables", endless)
        adapter.requests.clear()
        found = await client.call("object_inspect", expression="f", depth=5)
        assert found["count"] == 59
        assert len(adapter.sent("variables")) <= MAX_NODES // 50 + 60
        adapter.withhold("variables")
        began = trio.current_time()
        assert await client.call("object_inspect", expression="f") == {"value": "Family", "count": 2}
        assert trio.current_time() - began == ADAPTER_SECONDS


async def test_an_observer_may_not_run_code(autojump_clock: MockClock) -> None:
    async with open_server(Family().options()) as server, server.connect(role="observe") as client:
        assert (await failure(client, "object_inspect", expression="f")).code == "READ_ONLY"
