"""An index that the adapter would read other memory by is refused before it is evaluated."""

import pytest

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.dap.profiles.native.machine_code import NativeValues
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import check_indexed

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

    await check_indexed(NativeValues(), expression, file, evaluate)
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
