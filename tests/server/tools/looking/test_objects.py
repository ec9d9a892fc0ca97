"""`object_inspect` and `collection_summarize`: through the probe in one question, and through adapters."""

import json
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from tests.server.scene import failure, paused
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.encoding import encoded
from trio_debugmcp.probe.inside.values.collection_summary import summary_json
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.session.looking.by_adapter.composites import ADAPTER_SECONDS, MAX_NODES
from trio_debugmcp.testing import FakeAdapter, open_server
from trio_debugmcp.testing.fake_answers import Refusal

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


async def test_a_tree_that_is_too_large_has_fewer_levels_and_counts(autojump_clock: MockClock) -> None:
    numbers = [{"name": f"[{n}]", "value": str(n), "type": "int", "path": f"xs[0][{n}]"} for n in range(30)]
    rows = [
        {"name": f"[{n}]", "value": "[…]", "type": "list", "path": f"xs[{n}]", "size": 60, "children": numbers}
        for n in range(50)
    ]
    adapter = probed({**ROOT, "size": 60, "children": rows})
    async with paused("legacy", adapter) as (client, _):
        found = await client.call("object_inspect", expression="xs")
        assert len(json.dumps(found)) < 8100
        assert found["count"] == 60
        assert found["children"]["[49]"] == {"value": "[…]", "count": 60}


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


async def test_what_an_adapter_refuses_has_a_value_and_the_rest_is_shown(autojump_clock: MockClock) -> None:
    async with paused("legacy", adapter := Family()) as (client, _):
        whole = adapter.answer_to("variables")

        async def refusing(arguments: dict[str, Any]) -> object:
            if arguments["variablesReference"] == 9:
                raise Refusal("Cannot access memory at address 0x0")
            return await whole(arguments)

        adapter.answer("variables", refusing)
        found = await client.call("object_inspect", expression="f", depth=2)
        assert found["children"]["ann"] == {"value": "P (T)", "more": True}
        assert list(found["children"]["ben"]["children"]) == ["sister"]


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


# --- Summaries --------------------------------------------------------------------------------------------------------

SUMMARY = {
    "count": 9,
    "kind": "list",
    "elementTypes": {"int": 9},
    "numeric": {"min": 1, "max": 9, "mean": 5.0},
    "first": ["1"],
    "last": ["9"],
}


def summarizing(summary: Any) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.probe = {"summarize": summary}
    return adapter


async def test_a_summary_is_one_question_to_the_probe(autojump_clock: MockClock) -> None:
    async with paused("legacy", summarizing({**SUMMARY, "withheld": False})) as (client, adapter):
        before = len(adapter.requests)
        assert await client.call("collection_summarize", expression=" xs ", max_items=1, frame_index=2) == SUMMARY
        assert adapter.commands()[before:] == ["evaluate"]
        asked = adapter.probed[-1][1]
        assert {key: asked[key] for key in ("frame", "path", "count", "code")} == {
            "frame": 2, "path": "xs", "count": 1, "code": False,
        }  # fmt: skip


async def test_items_that_need_code_are_asked_for_again_or_a_note_says_so(autojump_clock: MockClock) -> None:
    async with paused("legacy", summarizing({**SUMMARY, "withheld": True})) as (client, adapter):
        assert await client.call("collection_summarize", expression="xs") == SUMMARY
        assert [more["code"] for question, more in adapter.probed if question == "summarize"] == [False, True]
        answers = adapter.answer_to("evaluate")

        async def slowly(arguments: dict[str, Any]) -> object:
            if '"code": true' in arguments["expression"]:
                await trio.sleep_forever()
            return await answers(arguments)

        adapter.answer("evaluate", slowly)
        found = await client.call("collection_summarize", expression="xs")
        assert (found["count"], "took too long" in found["notes"][0]) == (9, True)


@pytest.mark.parametrize(
    ("kind", "code"),
    [("raised", "EVAL_FAILED"), ("frame", "INVALID_FRAME"), ("slow", "TIMEOUT"), ("collection", "INVALID_PARAMETER")],
)
async def test_what_cannot_be_summarized_is_said(autojump_clock: MockClock, kind: str, code: str) -> None:
    adapter = summarizing(f'{{"error": {{"kind": "{kind}", "message": "Node"}}}}')
    async with paused("legacy", adapter) as (client, _):
        failed = await failure(client, "collection_summarize", expression="xs")
        assert failed.code == code
        if kind == "collection":
            assert failed.details == {"parameter": "expression", "type": "Node"}


async def test_an_adapters_children_are_summarized(autojump_clock: MockClock) -> None:
    async with paused("legacy", Family()) as (client, adapter):

        async def many(arguments: object) -> object:
            numbers = [{"name": f"[{n}]", "value": str(n), "type": "int"} for n in range(2000)]
            return {"variables": [*numbers, {"name": "x", "value": "null", "type": "Y"}, {"name": "len()"}]}

        adapter.answer("variables", many)
        found = await client.call("collection_summarize", expression="f", max_items=2)
        assert (found["kind"], found["count"], "sampled" in found) == ("Family", 2001, False)
        assert found["elementTypes"] == {"int": 2000, "Y": 1}
        assert (found["nullCount"], found["numeric"]["min"], found["numeric"]["max"]) == (1, 0, 1999)
        assert (found["first"], found["last"]) == (["0", "1"], ["1999", "x: null"])
        adapter.withhold("variables")
        began = trio.current_time()
        failed = await failure(client, "collection_summarize", expression="f")
        assert (failed.code, trio.current_time() - began) == ("TIMEOUT", ADAPTER_SECONDS)


async def test_an_adapters_leaf_is_not_a_collection(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.values = {"n": "5"}
    async with paused("legacy", adapter) as (client, _):
        failed = await failure(client, "collection_summarize", expression="n")
        assert (failed.code, failed.details["type"]) == ("INVALID_PARAMETER", "int")


NUMBERS = st.lists(st.integers(-(2**40), 2**40) | st.none() | st.floats(width=32) | st.text(max_size=3), max_size=60)


@given(NUMBERS, st.randoms(use_true_random=False))
def test_a_summary_of_a_list_is_that_of_its_permutation(values: list[Any], random: Any) -> None:
    def about(items: list[Any]) -> dict[str, Any]:
        budget = Budget(seconds=30)
        found: dict[str, Any] = summary_json(items, 3, budget, Renderer(budget))
        return {name: found.get(name) for name in ("count", "kind", "elementTypes", "nullCount", "numeric")}

    other = values[:]
    random.shuffle(other)
    assert about(other) == about(values)
    assert json.loads(encoded(about(values))) is not None
