"""An index that the adapter would read other memory by is refused before it is evaluated."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.dap.profiles.native.gdb_values import GdbValues
from trio_debugmcp.dap.profiles.native.machine_code import NativeValues
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import indexed

TYPES = {"items": "alloc::vec::Vec<shop::Item> *", "prices": "[i64; 3]", "all": "alloc::vec::Vec<i64>"}


async def check(expression: str, file: str = "/src/shop.rs") -> list[str]:
    """What was asked for the types of, when nothing was refused."""
    asked: list[str] = []

    async def evaluate(part: str) -> EvaluateBody:
        asked.append(part)
        if part == "slow":
            raise UsageError("EVAL_TIMEOUT", "too slow")
        if part not in TYPES:
            raise UsageError("EVAL_FAILED", "there is none")
        return EvaluateBody("…", type=TYPES[part])

    assert await indexed(NativeValues(), expression, file, evaluate) == expression
    return asked


async def test_an_index_of_a_reference_to_a_collection_of_rust_is_refused_wherever_it_stands() -> None:
    for expression in ("items[1]", "items[1].price + 2", "prices[0] + items[0]", "nosuch[1] + items[1]"):
        with pytest.raises(
            UsageError, match=r"`items` is a reference to alloc::vec::Vec<shop::Item>: .* `\*\(items \+ 1\)`"
        ) as refused:
            await check(expression)
        assert refused.value.code == "EVAL_FAILED"


async def test_what_the_adapter_indexes_as_rust_does_or_refuses_itself_is_left_to_it() -> None:
    assert await check("prices[1] + all[2] + nosuch[3]") == ["prices", "all", "nosuch"]
    assert await check("items.len") == []
    assert await check("items[1]", "/src/shop.cpp") == []


async def test_a_question_about_a_type_that_takes_too_long_ends_the_evaluation() -> None:
    with pytest.raises(UsageError) as refused:
        await check("slow[1]")
    assert refused.value.code == "EVAL_TIMEOUT"


VECTOR = "alloc::vec::Vec<core::option::Option<i64>, alloc::alloc::Global>"
KNOWN = {
    "items": (f"*mut {VECTOR}", "0x7ff0"),
    "bank.log": (VECTOR, ""),
    "prices": ("[i64; 3]", ""),
    "grid": ("alloc::vec::Vec<alloc::vec::Vec<i32, alloc::alloc::Global>, alloc::alloc::Global>", ""),
    "grid.len": ("usize", "2"),
    "counts": ("std::collections::hash::map::HashMap<&str, i32>", ""),
    "i": ("usize", "1"),
    "far": ("i32", "-1"),
    **dict.fromkeys(("items.len", "bank.log.len"), ("usize", "2")),
    **{str(number): ("i32", str(number)) for number in range(3)},
}


async def meant(expression: str, more: Mapping[str, tuple[str, str]] = MappingProxyType({})) -> str:
    known = {**KNOWN, **more}

    async def evaluate(part: str) -> EvaluateBody:
        if part not in known:
            raise UsageError("EVAL_FAILED", "there is none")
        kind, value = known[part]
        return EvaluateBody(value, type=kind)

    return await indexed(GdbValues(), expression, "/src/shop.rs", evaluate)


async def test_gdb_is_asked_for_an_item_of_a_vector_by_its_memory() -> None:
    def item(holder: str, index: str) -> str:
        return f"(*(({holder}.buf.inner.ptr.pointer.pointer as *mut core::option::Option<i64>) + {index}))"

    assert await meant("items[1].price") == f"{item('items', '1')}.price"
    assert await meant("bank.log[i] == items[0]") == f"{item('bank.log', 'i')} == {item('items', '0')}"
    assert await meant("prices[2] + nosuch[1]") == "prices[2] + nosuch[1]"


@pytest.mark.parametrize(("expression", "index"), [("items[2]", "2"), ("bank.log[far]", "-1")])
async def test_an_index_behind_the_items_of_a_vector_is_refused(expression: str, index: str) -> None:
    with pytest.raises(UsageError, match=f"index {index} is out of bounds, `[a-z.]+` has 2 items"):
        await meant(expression)


async def test_an_item_of_an_item_and_several_of_one_vector_are_asked_for_by_their_memory() -> None:
    inner = "(*((grid.buf.inner.ptr.pointer.pointer as *mut alloc::vec::Vec<i32, alloc::alloc::Global>) + {}))"
    row = "alloc::vec::Vec<i32, alloc::alloc::Global>"
    known = {inner.format(number): (row, "") for number in range(2)}
    known |= {f"{inner.format(number)}.len": ("usize", "2") for number in range(2)}

    def item(outer: int, index: int) -> str:
        return f"(*(({inner.format(outer)}.buf.inner.ptr.pointer.pointer as *mut i32) + {index}))"

    assert await meant("grid[0][1] + grid[1][0]", known) == f"{item(0, 1)} + {item(1, 0)}"
    with pytest.raises(UsageError, match=r"index 2 is out of bounds, `grid\[1\]` has 2 items"):
        await meant("grid[1][2]", known)


async def test_several_items_of_a_map_are_asked_for_by_their_keys() -> None:
    assert await meant('counts["a"] - counts[b]') == '$_item(counts, "a") - $_item(counts, b)'
