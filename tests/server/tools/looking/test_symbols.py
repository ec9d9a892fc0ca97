"""`type_get` and `symbols_search`: what the probe is asked, and what of it is shown."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, paused, running
from trio_debugmcp.session.breakpoints.class_lines import class_lines
from trio_debugmcp.session.looking.program_types import PROBE_SECONDS, SECONDS, WALK_SECONDS
from trio_debugmcp.testing import FakeAdapter, open_server

SOURCE = """\
class Base:
    pass


class Basket(Base):
    class Line:
        pass
"""

MEMBERS: list[dict[str, Any]] = [
    {"name": "owner", "kind": "fields", "text": "str", "of": "Base", "file": "/lib/base.py", "line": 4},
    {"name": "count", "kind": "fields", "file": "FILE", "line": 7},
    {"name": "put", "kind": "methods", "text": "(product)", "file": "FILE", "line": 9},
    {"name": "RATE", "kind": "attributes", "text": "0.2"},
]


def probed(folder: Path, **more: Any) -> FakeAdapter:
    file = folder / "shop.py"
    file.write_text(SOURCE)
    members = [{**each, "file": str(file)} if each.get("file") == "FILE" else each for each in MEMBERS]
    adapter = FakeAdapter()
    adapter.frames = [("visit", adapter.program, 1), ("main", adapter.program, 2)]
    answer = {
        "name": "__main__.Basket", "qualname": "Basket", "file": str(file),
        "bases": ["__main__.Base"], "mro": ["__main__.Base", "list"],
        "size": 56, "members": members, "total": 4, "inherited": {"list": 34},
    }  # fmt: skip
    symbols = [
        {"name": "__main__.Basket.Line", "type": True, "qualname": "Basket.Line", "file": str(file)},
        {"name": "__main__.load", "signature": "async (path, /)", "file": str(file), "line": 3},
        {"name": "queue.Queue", "type": True, "file": "/lib/queue.py", "library": True},
        {"name": "input", "signature": "(prompt='', /)", "library": True},
    ]
    adapter.probe = {"type": {**answer, **more}, "symbols": {"symbols": symbols, "total": 4, **more}}
    return adapter


async def test_members_by_kind_each_with_what_it_is_and_its_place(autojump_clock: MockClock, tmp_path: Path) -> None:
    shop = f"{tmp_path}/shop.py"
    async with paused("legacy", probed(tmp_path)) as (client, adapter):
        found = await client.call("type_get", expression=" basket ", frame_index=1, filter="o", inherited=True)
        assert found == {
            "type": "__main__.Basket",
            "at": f"{shop}:5",
            "bases": ["__main__.Base"],
            "mro": ["__main__.Base", "list"],
            "size": 56,
            "fields": {"owner": "str Base /lib/base.py:4", "count": ":7"},
            "methods": {"put": "(product) :9"},
            "attributes": {"RATE": "0.2"},
            "inherited": {"list": 34},
        }
        question, asked = adapter.probed[-1]
        assert question == "type"
        wanted = {"thread": 1, "frame": 1, "expression": "basket", "filter": "o", "inherited": True, "code": False}
        assert wanted.items() <= asked.items()
        await client.call("type_get", expression="basket", kind="methods", start=5, count=7)
        assert [adapter.probed[-1][1][key] for key in ("only", "start", "count")] == ["methods", 5, 7]


async def test_what_is_left_out_is_counted_and_said(autojump_clock: MockClock, tmp_path: Path) -> None:
    adapter = probed(tmp_path, total=40, ended=True, modules=9, searched=3)
    async with paused("legacy", adapter) as (client, _):
        found = await client.call("type_get", expression="basket")
        assert found["total"] == 40
        assert "not enough time" in found["notes"][0]
        found = await client.call("symbols_search", pattern="*")
        assert found["total"] == 40
        assert found["notes"] == ["3 of 9 modules were searched in time: narrow it by `module`"]


async def test_very_many_members_and_symbols_fit_into_an_answer(autojump_clock: MockClock, tmp_path: Path) -> None:
    members = [{"name": f"name{each}", "kind": "attributes", "text": "x" * 90} for each in range(900)]
    symbols = [{"name": f"name{each}", "signature": f"({'x' * 90})"} for each in range(900)]
    adapter = probed(tmp_path, members=members, symbols=symbols, total=900)
    async with paused("legacy", adapter) as (client, _):
        for tool, given, kind in (("type_get", "expression", "attributes"), ("symbols_search", "pattern", "functions")):
            found = await client.call(tool, **{given: "x"}, count=1000)
            assert len(json.dumps(found, separators=(",", ":"))) <= 32_768
            assert 100 < len(found[kind]) < found["total"] == 900


async def test_symbols_are_a_line_each_with_the_lines_of_classes(autojump_clock: MockClock, tmp_path: Path) -> None:
    shop = f"{tmp_path}/shop.py"
    async with running("legacy", probed(tmp_path)) as (client, adapter):
        found = await client.call("symbols_search", pattern="*", kind="types", module="shop", start=1, count=9)
        assert found == {
            "types": [f"__main__.Basket.Line {shop}:6", "queue.Queue /lib/queue.py (library)"],
            "functions": [
                f"async __main__.load(path, /) {shop}:3",
                "input(prompt='', /) (library)",
            ],
        }
        question, asked = adapter.probed[-1]
        assert question == "symbols"
        assert [asked[key] for key in ("pattern", "only", "module", "start", "count")] == ["*", "types", "shop", 1, 9]


async def test_while_the_program_runs_the_main_module_is_asked(autojump_clock: MockClock, tmp_path: Path) -> None:
    async with running("legacy", probed(tmp_path)) as (client, adapter):
        assert (await client.call("type_get", expression="Basket"))["type"] == "__main__.Basket"
        assert "thread" not in adapter.probed[-1][1]
        assert (await failure(client, "type_get", expression="Basket", thread_id=1)).code == "NOT_PAUSED"


async def test_a_line_of_a_file_that_was_edited_since_the_start_is_not_claimed(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    shop = f"{tmp_path}/shop.py"
    async with paused("legacy", adapter := probed(tmp_path)) as (client, _):
        assert adapter.probe is not None
        (tmp_path / "shop.py").write_text("\n" + SOURCE)
        os.utime(tmp_path / "shop.py", (time.time() + 99, time.time() + 99))
        assert (await client.call("type_get", expression="basket"))["at"] == f"{shop}"
        adapter.probe["type"]["line"] = 5  # Python 3.13 knows it
        assert (await client.call("type_get", expression="basket"))["at"] == f"{shop}:5"
        adapter.probe["type"]["file"] = "/nowhere.py"
        assert (await client.call("type_get", expression="basket"))["at"] == "/nowhere.py:5"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("raised", "EVAL_FAILED"),
        ("rejected", "SAFE_EVAL_REJECTED"),
        ("ambiguous", "INVALID_PARAMETER"),
        ("slow", "EVAL_TIMEOUT"),
        ("invalid", "NOT_SUPPORTED"),
    ],
)
async def test_what_is_wrong_is_said(autojump_clock: MockClock, kind: str, code: str) -> None:
    adapter = FakeAdapter()
    adapter.probe = dict.fromkeys(("type", "symbols"), f'{{"error": {{"kind": "{kind}", "message": "x"}}}}')
    async with paused("legacy", adapter) as (client, _):
        assert (await failure(client, "type_get", expression="xs")).code == code
        assert (await failure(client, "symbols_search", pattern="xs")).code == code


async def test_a_program_that_lets_no_python_run_is_given_up(autojump_clock: MockClock, tmp_path: Path) -> None:
    async with paused("legacy", adapter := probed(tmp_path)) as (client, _):
        adapter.withhold("evaluate")
        began = trio.current_time()
        assert (await failure(client, "type_get", expression="basket")).code == "EVAL_TIMEOUT"
        assert trio.current_time() - began == pytest.approx(SECONDS, abs=0.1)


async def test_an_adapter_without_a_probe_is_named(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.requests.clear()
        for tool, given in (("type_get", "expression"), ("symbols_search", "pattern")):
            failed = await failure(client, tool, **{given: "x"})
            assert (failed.code, failed.details["adapter"]) == ("NOT_SUPPORTED", "fake")
        assert adapter.commands() == []


async def test_observers_may_ask_as_nothing_of_the_program_runs(autojump_clock: MockClock, tmp_path: Path) -> None:
    adapter = probed(tmp_path)
    async with open_server(adapter.options()) as server, server.connect(role="observe") as client:
        assert (await failure(client, "type_get", expression="x")).code == "NO_SESSION"
        async with server.connect() as other:
            await other.call("debug_launch", program=adapter.program, stop_at_entry=True)
            assert (await client.call("type_get", expression="Basket"))["size"] == 56
            assert (await client.call("symbols_search", pattern="Basket"))["types"]


REFERENCES: dict[str, Any] = {
    "value": "Basket(...)",
    "type": "Basket",
    "inbound": [
        {"local": True, "name": "basket", "function": "visit", "file": "/shop.py", "line": 24, "index": 0, "thread": 1},
        {"local": True, "name": "kept", "function": "keep", "file": "/shop.py", "line": 9, "index": 2, "thread": 7,
         "threadName": "keeper"},
        {"module": "shop.till", "path": "shop.till.last"},
        {"way": ".basket", "of": "Order(...)", "path": "orders[0].basket", "module": "__main__"},
        {"way": "an element", "of": "{1 item}", "under": "order.all", "local": True, "function": "visit",
         "file": "/shop.py", "line": 24, "index": 0, "thread": 1},
        {"way": "[0]", "of": "[1 item]"},
    ],
    "inboundTotal": 6,
    "outbound": [{"way": ".owner", "value": "'ben'"}],
    "outboundTotal": 1,
}  # fmt: skip


def with_references(**more: Any) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.probe = {"references": {**REFERENCES, **more}}
    return adapter


async def test_references_are_a_line_each_with_the_way_from_a_variable(autojump_clock: MockClock) -> None:
    async with paused("legacy", with_references()) as (client, adapter):
        found = await client.call("references_get", expression=" basket ", direction="both", count=7)
        assert found == {
            "value": "Basket(...)",
            "inbound": [
                "`basket`, local in visit /shop.py:24",
                "`kept`, local in keep /shop.py:9, frame 2, thread 7 keeper",
                "`shop.till.last`, global of shop.till",
                ".basket of Order(...): `orders[0].basket`, global of __main__",
                "an element of {1 item}, under `order.all`, local in visit /shop.py:24",
                "[0] of [1 item]",
            ],
            "outbound": [".owner: 'ben'"],
        }
        question, asked = adapter.probed[-1]
        assert question == "references"
        wanted = {"thread": 1, "frame": 0, "expression": "basket", "direction": "both", "count": 7, "code": False}
        assert wanted.items() <= asked.items()


async def test_references_that_are_left_out_are_counted(autojump_clock: MockClock) -> None:
    more = [{"way": f"[{each}]", "of": "x" * 900} for each in range(100)]
    outbound = [{"way": f"[{each}]", "value": "x" * 900} for each in range(100)]
    adapter = with_references(
        value="a", inbound=more, inboundTotal=1000, instances=9, outbound=outbound, outboundTotal=2000, notes=["slow"]
    )
    async with paused("legacy", adapter) as (client, _):
        found = await client.call("references_get", expression="basket")
        assert len(json.dumps(found)) <= 32_768
        assert len(found["inbound"]) > 10
        assert len(found["outbound"]) > 10
        del found["inbound"], found["outbound"]
        assert found == {
            "value": "a", "type": "Basket", "inboundTotal": 1000, "instances": 9, "outboundTotal": 2000,
            "notes": ["slow"],
        }  # fmt: skip


async def test_of_numbers_it_says_why_there_are_no_references(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.probe = {"references": '{"error": {"kind": "atom", "message": "int"}}'}
    async with paused("legacy", adapter) as (client, _):
        failed = await failure(client, "references_get", expression="count")
        assert (failed.code, failed.details["type"]) == ("INVALID_PARAMETER", "int")
        assert "Equal values" in failed.message
        adapter.probe = {"references": '{"error": {"kind": "rejected", "message": "x"}}'}
        assert (await failure(client, "references_get", expression="f()")).code == "SAFE_EVAL_REJECTED"
    async with paused("legacy") as (client, adapter):
        failed = await failure(client, "references_get", expression="count")
        assert (failed.code, failed.details["adapter"]) == ("NOT_SUPPORTED", "fake")


def test_classes_are_found_by_their_indentation() -> None:
    text = (
        "import x\n@dec\nclass A(\n    B\n):\n    def f(self):\n        class Hidden: pass\n    class B:\n"
        "        class C: ...\n    x = 1\n    class D[T]: pass\nif x:\n    class E: pass\n"
        "class Twice: pass\nclass Twice: pass\n\tclass Tab: pass\nasync def g():\n  pass\n"
    )
    assert class_lines(text) == {"A": 3, "A.B": 8, "A.B.C": 9, "A.D": 11, "E": 13, "Twice.Tab": 16}
    assert class_lines("") == {}


async def test_the_objects_of_a_program_are_walked_through_for_less_time_than_others_are_searched(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    adapter = probed(tmp_path)
    assert adapter.probe is not None
    adapter.probe["references"] = {"value": "Basket()", "type": "Basket"}
    async with paused("legacy", adapter) as (client, _):
        await client.call("references_get", expression="basket")
        assert adapter.probed[-1][1]["seconds"] == WALK_SECONDS < PROBE_SECONDS
        await client.call("symbols_search", pattern="x")
        assert adapter.probed[-1][1]["seconds"] == PROBE_SECONDS
