"""Expressions that change nothing, with real debugpy: what a program would do if they were evaluated, it does not."""

from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Connect
from trio_debugmcp.testing import DebugClient, ToolFailed

SHOP = """\
import math, time

ran = []

class Order:
    kind = "order"

    def __init__(self, price, items):
        self.price = price
        self.items = items

    @property
    def total(self):
        ran.append("total")
        return self.price * len(self.items)

    def __eq__(self, other):
        ran.append("eq")
        return True

    __hash__ = None

def visit(orders, len=len):
    cheap = min
    return orders  # here

def main():
    orders = [Order(3, ["tea"]), Order(5, ["cup", "pot"])]
    def sneaky(value):
        ran.append("len")
        return 0
    visit(orders, sneaky)
    print("ran", ran)
    while input() != "end":
        pass

main()
"""


async def at_visit(client: DebugClient, directory: Path) -> str:
    file = directory / "shop.py"
    file.write_text(SHOP)
    line = next(number for number, text in enumerate(SHOP.splitlines(), 1) if "# here" in text)
    await client.call("debug_launch", program=str(file), breakpoints=[{"file": str(file), "line": line}])
    return str(file)


async def refusal(client: DebugClient, expression: str, **more: Any) -> str:
    with pytest.raises(ToolFailed) as refused:
        await client.call("evaluate_safe", expression=expression, **more)
    return f"{refused.value.code}: {refused.value.message}"


async def test_it_reads_a_paused_program_and_runs_nothing_of_it(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await at_visit(client, tmp_path)
        for expression, value in {
            "orders[-1].price * 2 + math.floor(2.5)": "12",
            "[order.items[0] for order in orders if order.price > 3]": "['cup']",
            "cheap(order.price for order in orders)": "3",
            "f'{orders[0].kind}: {orders[0].price:>3}'": "'order:   3'",
            "orders[0] is orders[1]": "False",
        }.items():
            assert await client.call("evaluate_safe", expression=expression) == {"value": value}, expression
        assert (await client.call("evaluate_safe", expression="len(orders)", frame_index=1)) == {"value": "2"}
        for expression, why in {
            "len(orders)": "it calls the program's function sneaky",
            "orders[0].total": "total is a property of Order, which would run",
            "orders[0] == 1": "comparing a Order could run its __eq__",
            "(x := 1)": "an assignment changes a name",
            "x = 1": "statements change something",
            "10 ** 10 ** 10": "a number of 40000000000 bits is too large",
        }.items():
            found = await refusal(client, expression)
            assert found.startswith("SAFE_EVAL_REJECTED"), found
            assert why in found, found
        assert (await refusal(client, "nope")).startswith("EVAL_FAILED: `nope` failed: NameError")
        assert (await refusal(client, "1 +")).startswith("EVAL_FAILED: `1 +` failed: SyntaxError")
        assert (await refusal(client, "1", frame_index=99)).startswith("INVALID_FRAME")
        assert (await refusal(client, "1", thread_id=99)).startswith("INVALID_THREAD")
        assert await client.call("evaluate_safe", expression="ran") == {"value": "[]"}


async def test_it_reads_the_main_module_of_a_program_that_waits(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await at_visit(client, tmp_path)
        await client.call("debug_continue", wait=False)
        assert await client.call("evaluate_safe", expression="len(ran), Order.kind") == {"value": "(0, 'order')"}
        assert (await refusal(client, "1", frame_index=1)).startswith("NOT_PAUSED")
