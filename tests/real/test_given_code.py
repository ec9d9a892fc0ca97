"""A program that is given as code is the main module, and every tool finds what is in it."""

from pathlib import Path

import pytest

from tests.pythons import Interpreter
from tests.real.conftest import Connect
from tests.real.interpreters import chosen

CODE = """\
import dataclasses


@dataclasses.dataclass
class Basket:
    items: list

    def put(self, item):
        self.items.append(item)
        return self


def fill(basket, number):
    inner = basket
    for each in range(number):
        basket.put(each)
    return inner


def main():
    basket = Basket([])
    same = fill(basket, 2)
    return same


if __name__ == "__main__":
    main()
    print(Basket.__module__, "done")
"""


@pytest.mark.parametrize("interpreter", chosen(), ids=lambda each: each.label)
async def test_it_is_the_main_module_for_every_tool(
    interpreter: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "other.py").write_text("def fill(basket):\n    return basket\n")
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            code=CODE,
            cwd=str(tmp_path),
            breakpoints=[{"statement": "basket = Basket([])"}, {"line": 23}],
            adapter_options={"python": interpreter.path},
        )
        assert (stop["at"], stop["stack"]) == ("<string>:21 in main", ["<module> :27"])
        traced = await client.call("trace_function", function="fill")
        assert traced["function"] == "fill <string>:13"
        (call,) = traced["calls"]
        assert call["lines"][0].startswith("14 inner = basket")
        assert traced["stop"]["at"] == "<string>:22 in main"
        # That is inside the return of `fill`, whose variables are about to go.
        referring = (await client.call("references_get", expression="basket"))["inbound"]
        assert referring == ["`basket`, local in main <string>:22"]
        assert (await client.call("references_get", expression="Basket"))["inbound"] == ["`Basket`, global of __main__"]
        found = await client.call("symbols_search", pattern="__main__.*")
        assert found["types"] == ["__main__.Basket <string>:5"]
        assert "__main__.fill(basket, number) <string>:13" in found["functions"]
        type_ = await client.call("type_get", expression="basket")
        assert (type_["type"], type_["at"]) == ("__main__.Basket", "<string>:5")
        assert type_["methods"]["put"] == "(item) :8"
        assert "<string>" not in type_["methods"]["__init__"]  # a dataclass makes it of another text
        assert ":" not in type_["methods"]["__init__"].partition(")")[2]
        assert (await client.call("debug_continue"))["at"] == "<string>:23 in main"
        end = await client.call("debug_continue")
        assert (end["stdout"], end["exitCode"]) == ("__main__ done\n", 0)


async def test_a_breakpoint_in_other_code_than_before_is_not_noted(debugging: Connect) -> None:
    async with debugging() as client:
        for code in ("import sys\nprint(1)\n", "import os; one = 1\nprint(2)\n", "import sys\nprint(1)\n"):
            stop = await client.call("debug_launch", code=code, breakpoints=[{"line": 1}], replace=True)
            assert stop["source"].startswith(f"1> {code.splitlines()[0]}")
            assert not [note for note in stop.get("notes", ()) if "another text" in note]
        left = await client.call("debug_launch", code="print(3)\nprint(4)", breakpoints=[{"line": 2}], replace=True)
        assert [note for note in left["notes"] if "another text" in note] == [
            "bp-1 is on another text than when it was set: `print(3)`, it was `import sys`"
        ]
