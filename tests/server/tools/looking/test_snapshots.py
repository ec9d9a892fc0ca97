"""The tools of snapshots: taken by one question to the probe or through adapters, compared, listed and deleted."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import SNAPSHOTS, failure, paused
from trio_debugmcp.session.looking.by_adapter.composites import ADAPTER_SECONDS, MAX_NODES
from trio_debugmcp.state import captures
from trio_debugmcp.testing import FakeAdapter, ToolFailed, open_server
from trio_debugmcp.testing.fake_answers import Refusal

AT = {"file": "/src/shop.py", "line": 24, "function": "visit", "qualname": "Shop.visit"}


def answer(*variables: dict[str, Any], total: int = 0, seed: str = "1", at: object = AT) -> dict[str, Any]:
    return {"variables": [*variables], "total": total or len(variables), "seed": seed, "at": at}


def local(name: str, value: str, kind: str = "int", **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "type": kind, **more}


def probed(*variables: dict[str, Any], **more: Any) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.probe = {"capture": answer(*variables, **more)}
    return adapter


def now(adapter: FakeAdapter, *variables: dict[str, Any], **more: Any) -> None:
    """Change what the program has."""
    assert adapter.probe is not None
    adapter.probe["capture"] = answer(*variables, **more)


async def test_one_question_to_the_probe_that_runs_no_code_takes_a_snapshot(autojump_clock: MockClock) -> None:
    async with paused("legacy", probed(local("x", "1"), total=3)) as (client, adapter):
        before = len(adapter.requests)
        found = await client.call("snapshot_create", depth=4, frame_index=2)
        assert found == {
            "id": "snap-1", "label": "snapshot-1", "at": "/src/shop.py:24 in Shop.visit", "variables": 3, "omitted": 2,
        }  # fmt: skip
        assert adapter.commands()[before:] == ["evaluate"]
        asked = adapter.probed[-1][1]
        assert {key: asked[key] for key in ("thread", "frame", "depth", "code", "fields", "types")} == {
            "thread": 1, "frame": 2, "depth": 4, "code": False, "fields": True, "types": True,
        }  # fmt: skip
        assert "label" not in await client.call("snapshot_create", label="before")


async def test_what_changed_is_said_by_path_and_pages(autojump_clock: MockClock) -> None:
    inside = [local("a", "1", path="b.a"), local("key", "'k'", "str", path="b.key")]
    first = (local("x", "1"), local("gone", "1"), local("b", "B(...)", "B", children=inside), local("same", "1"))
    async with paused("legacy", probed(*first)) as (client, adapter):
        await client.call("snapshot_create", label="before")
        inside[0] = local("a", "'1'", "str", path="b.a")
        hidden = local("it", "<iterator>", "it", unseen=True)
        now(adapter, local("x", "2"), first[2], first[3], local("new", "Thing()", "B"), hidden)
        await client.call("snapshot_create")
        found = await client.call("snapshot_diff", before="before", after="snap-2")
        assert found == {
            "removed": {"gone": "1"},
            "modified": {"x": {"old": "1", "new": "2"}, "b.a": {"old": "1", "new": "'1'"}},
            "added": {"new": "Thing() (B)", "it": "<iterator> (it)"},
            "unchanged": 2,
        }
        page = await client.call("snapshot_diff", before="snap-1", after="snap-2", start=1, count=2)
        assert (page["total"], len(page.get("removed", {})) + len(page["modified"])) == (5, 2)
        back = await client.call("snapshot_diff", before="snap-2", after="snap-1")
        assert (back["added"], back["modified"]["x"]) == (found["removed"], {"old": "2", "new": "1"})
        assert await client.call("snapshot_diff", before="snap-2", after="snap-2") == {
            "unchanged": 5, "unknown": 1, "unknownAt": ["it"],
        }  # fmt: skip


async def test_a_page_is_never_larger_than_an_answer_may_be_and_says_how_much_there_is(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy", probed()) as (client, adapter):
        await client.call("snapshot_create")
        now(adapter, *(local(f"name{n}", "v" * 190, "str") for n in range(500)))
        await client.call("snapshot_create")
        found = await client.call("snapshot_diff", before="snap-1", after="snap-2", count=1000)
        assert 50 < len(found["added"]) < 200
        assert found["total"] == 500
        start = len(found["added"])
        found = await client.call("snapshot_diff", before="snap-1", after="snap-2", start=start, count=1)
        assert [*found["added"]] == [f"name{start}"]


async def test_what_makes_two_hard_to_compare_is_noted(autojump_clock: MockClock) -> None:
    adapter = probed(local("x", "1"))
    adapter.threads = [(1, "main"), (2, "worker")]
    async with paused("legacy", adapter) as (client, _):
        await client.call("snapshot_create")
        now(adapter, local("x", "1"), seed="2", at={**AT, "qualname": "other"})
        await client.call("snapshot_create", thread_id=2, depth=3)
        found = await client.call("snapshot_diff", before="snap-1", after="snap-2")
        assert found["notes"] == [
            "different threads: 1, then 2",
            "different functions: /src/shop.py in Shop.visit, then /src/shop.py in other",
            "different depths: 2, then 3",
        ]


async def test_texts_that_are_cut_are_not_repeated_where_they_do_not_differ(autojump_clock: MockClock) -> None:
    cut = local("text", "'aa'… (+9 characters)", "str", digest="1")
    order = [local("['a']", "1", path="d['a']"), local("['b']", "1", path="d['b']")]
    async with paused("legacy", probed(cut, local("d", "{…}", "dict", children=order))) as (client, adapter):
        await client.call("snapshot_create")
        now(adapter, {**cut, "digest": "2"}, local("d", "{…}", "dict", children=order[::-1]))
        await client.call("snapshot_create")
        found = await client.call("snapshot_diff", before="snap-1", after="snap-2")
        assert [each["new"] for each in found["modified"].values()] == [
            "(differs beyond what is shown)", "(in another order)",
        ]  # fmt: skip


async def test_secrets_are_masked_in_both_values(autojump_clock: MockClock) -> None:
    async with paused("legacy", probed(local("api_key", "'9f86d081884c7d659a2feaa0'", "str"))) as (client, adapter):
        await client.call("snapshot_create")
        now(adapter, local("api_key", "'8e75d081884c7d659a2feaa1'", "str"))
        await client.call("snapshot_create")
        found = await client.call("snapshot_diff", before="snap-1", after="snap-2")
        assert "secret" in found["modified"]["api_key"]["old"]
        assert "d081884c7d65" not in str(found)


async def test_a_snapshot_is_found_by_its_id_or_its_label_and_what_is_wrong_is_said(autojump_clock: MockClock) -> None:
    async with paused("legacy", probed(local("x", "1"))) as (client, _):
        error = await failure(client, "snapshot_diff", before="snap-1", after="snap-2")
        assert (error.code, "snapshot_create" in error.message) == ("SNAPSHOT_NOT_FOUND", True)
        for _ in range(2):
            await client.call("snapshot_create", label="twin")
        error = await failure(client, "snapshot_delete", id="twin")
        assert (error.code, "snap-1, snap-2" in error.message) == ("SNAPSHOT_NOT_FOUND", True)
        error = await failure(client, "snapshot_diff", before="snap-1", after="snap-9")
        assert (error.code, "snap-1, snap-2" in error.message) == ("SNAPSHOT_NOT_FOUND", True)
        for arguments in ({"depth": 6}, {"label": "x" * 101}):
            assert (await failure(client, "snapshot_create", **arguments)).code == "INVALID_PARAMETER"
        assert await client.call("snapshot_delete", id="snap-1") == {"deleted": ["snap-1"]}
        assert await client.call("snapshot_delete", id="twin") == {"deleted": ["snap-2"]}
        await client.call("snapshot_create")
        assert await client.call("snapshot_list") == {
            "snapshots": ["snap-3 snapshot-3: 1 variables, /src/shop.py:24 in Shop.visit"]
        }
        assert await client.call("snapshot_delete", id="*") == {"deleted": ["snap-3"]}
        assert await client.call("snapshot_delete", id="*") == {"deleted": []}


@pytest.mark.parametrize(
    ("kind", "code"), [("thread", "INVALID_THREAD"), ("frame", "INVALID_FRAME"), ("slow", "TIMEOUT")]
)
async def test_what_the_program_does_not_answer_is_said(autojump_clock: MockClock, kind: str, code: str) -> None:
    adapter = FakeAdapter()
    adapter.probe = {"capture": f'{{"error": {{"kind": "{kind}", "message": "no."}}}}'}
    async with paused("legacy", adapter) as (client, _):
        assert (await failure(client, "snapshot_create")).code == code
        assert await client.call("snapshot_list") == {"snapshots": []}


async def test_only_of_a_paused_program(autojump_clock: MockClock) -> None:
    async with paused("legacy", probed(local("x", "1"))) as (client, _):
        await client.call("snapshot_create")
        await client.call("debug_continue", wait=False)
        assert (await failure(client, "snapshot_create")).code == "NOT_PAUSED"
        assert len((await client.call("snapshot_list"))["snapshots"]) == 1, "they outlive the resume"
        await client.call("debug_disconnect")
        assert (await failure(client, "snapshot_create")).code == "NO_SESSION"
        assert len((await client.call("snapshot_list"))["snapshots"]) == 1, "and the session: two runs can be compared"


async def test_the_resource_lists_them_and_its_subscribers_are_notified(autojump_clock: MockClock) -> None:
    async with paused("legacy", probed(local("x", "1"))) as (client, _):
        assert await client.read(SNAPSHOTS) == {"snapshots": [], "count": 0, "revision": 1}
        async with client.subscribed(SNAPSHOTS):
            await client.call("snapshot_create")
            await client.wait_notice(SNAPSHOTS)
            found = await client.read(SNAPSHOTS)
            assert (found["count"], found["snapshots"][0]["label"]) == (1, "snapshot-1")
            seen = len(client.notices)
            await client.call("snapshot_delete", id="*")
            await client.wait_notice(SNAPSHOTS, after=seen)
            assert (await client.read(SNAPSHOTS))["count"] == 0
            count = len(client.times_of(SNAPSHOTS))
            await client.call("debug_continue", wait=False)
            await trio.sleep(10)
            assert len(client.times_of(SNAPSHOTS)) == count


async def test_the_answer_that_discards_the_oldest_says_so(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "MAX_CAPTURES", 1)
    async with paused("legacy", probed(local("x", "1"))) as (client, _):
        assert "notes" not in await client.call("snapshot_create")
        found = await client.call("snapshot_create")
        assert "snap-1 discarded" in found["notes"][0]


async def test_two_at_once_have_numbers_of_their_own(autojump_clock: MockClock) -> None:
    async with paused("legacy", probed(local("x", "1"))) as (client, _):
        found: list[str] = []

        async def create() -> None:
            found.append((await client.call("snapshot_create"))["id"])

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(create)
        assert {*found} == {f"snap-{n}" for n in range(1, 6)}


async def test_an_observer_may_compare_and_not_create(autojump_clock: MockClock) -> None:
    adapter = probed(local("x", "1"))
    async with open_server(options=adapter.options()) as server, server.connect() as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
        await client.call("snapshot_create")
        async with server.connect(role="observe") as observer:
            assert await observer.call("snapshot_diff", before="snap-1", after="snap-1") == {"unchanged": 1}
            for tool, arguments in (("snapshot_create", {}), ("snapshot_delete", {"id": "*"})):
                with pytest.raises(ToolFailed, match="READ_ONLY"):
                    await observer.call(tool, **arguments)


# --- Adapters ---------------------------------------------------------------------------------------------------------


class Family(FakeAdapter):
    """A program without a probe: `f` has a member that has `f`, and a cut text; `price` is as set."""

    def __init__(self) -> None:
        super().__init__()
        self.price = "5"
        self.fetched = 0
        self.text = "'" + "a" * 300 + "'"
        self.answer("variables", self._variables)

    async def _variables(self, arguments: dict[str, Any]) -> object:
        self.fetched += 1
        reference = arguments["variablesReference"]
        inner: list[tuple[str, str, int]] = {
            8: [("ann", "0x7fff0010", 9), ("text", self.text, 0)],
            9: [("parent", "0x7fff0001", 8), ("price", self.price, 0), ("deep", "{...}", 10)],
            10: [("[0]", "1", 0), ("cut", '"aaa"...', 0)],
        }.get(reference, [("f", "0x7fff0001", 8), ("n", "1", 0)])
        return {"variables": [{"name": n, "value": v, "type": "T", "variablesReference": r} for n, v, r in inner]}


async def test_adapters_are_asked_level_by_level(autojump_clock: MockClock) -> None:
    async with paused("legacy", adapter := Family()) as (client, _):
        adapter.fetched = 0
        taken = await client.call("snapshot_create")
        assert (taken["variables"], adapter.fetched) == (2, 3)
        adapter.price, adapter.text = "6", adapter.text[:-2] + "b'"
        await client.call("snapshot_create")
        found = await client.call("snapshot_diff", before="snap-1", after="snap-2")
        assert found["modified"] == {
            "f.ann.price": {"old": "5 (T)", "new": "6 (T)"},
            "f.text": {"old": found["modified"]["f.text"]["old"], "new": "(differs beyond what is shown)"},
        }
        assert (found["unchanged"], found["unknownAt"]) == (2, ["f.ann.deep"])
        adapter.fetched = 0
        await client.call("snapshot_create", depth=3)
        assert adapter.fetched == 4, "not what is inside of itself"
        found = await client.call("snapshot_diff", before="snap-3", after="snap-3")
        assert found == {"unchanged": 5, "unknown": 1, "unknownAt": ["f.ann.deep.cut"]}, "its text was cut, by dots"


async def test_what_an_adapter_refuses_is_unknown_and_the_rest_is_kept(autojump_clock: MockClock) -> None:
    async with paused("legacy", adapter := Family()) as (client, _):
        whole = adapter.answer_to("variables")

        async def refusing(arguments: dict[str, Any]) -> object:
            if arguments["variablesReference"] == 10:
                raise Refusal("Cannot access memory at address 0x0")
            return await whole(arguments)

        adapter.answer("variables", refusing)
        await client.call("snapshot_create", depth=3)
        found = await client.call("snapshot_diff", before="snap-1", after="snap-1")
        assert found == {"unchanged": 4, "unknown": 1, "unknownAt": ["f.ann.deep"]}


async def test_objects_that_all_know_each_other_are_shown_where_they_were_fetched_and_no_more_often(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy", adapter := Family()) as (client, _):

        async def friends(arguments: dict[str, Any]) -> object:
            return {"variables": [{"name": f"[{n}]", "value": "v", "variablesReference": 90 + n} for n in range(7)]}

        adapter.answer("variables", friends)
        assert (await client.call("snapshot_create", depth=2))["variables"] == 7
        found = await client.call("snapshot_diff", before="snap-1", after="snap-1")
        # Each has the seven, and each of these, but for the one itself: seven again, of which more is not known.
        assert found["unchanged"] + found.get("unknown", 0) == 7 + 7 * 6 * 7


async def test_an_adapter_that_is_slow_or_endless_is_asked_only_so_much(autojump_clock: MockClock) -> None:
    async with paused("legacy", adapter := Family()) as (client, _):

        async def endless(arguments: dict[str, Any]) -> object:
            adapter.fetched += 1
            return {"variables": [{"name": f"[{n}]", "value": "v", "variablesReference": 90 + n} for n in range(200)]}

        adapter.answer("variables", endless)
        adapter.fetched = 0
        found = await client.call("snapshot_create", depth=5)
        assert (found["variables"], adapter.fetched <= MAX_NODES // 100 + 1) == (200, True)
        found = await client.call("snapshot_diff", before="snap-1", after="snap-1")
        assert (found.get("modified"), found["unknown"] > 200) == (None, True)

        async def slow(arguments: dict[str, Any]) -> object:
            if adapter.fetched:
                await trio.sleep(1)
            adapter.fetched += 1
            return await endless(arguments)

        adapter.answer("variables", slow)
        adapter.fetched = 0
        start = trio.current_time()
        assert (await client.call("snapshot_create"))["variables"] == 200
        assert trio.current_time() - start <= ADAPTER_SECONDS + 1
