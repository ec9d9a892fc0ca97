"""Tests of the operands of assertions, from source alone."""

import textwrap

import pytest

from trio_debugmcp.dap.profiles.python.assertions import operands


def asserted(source: str, line: int = 1) -> list[str]:
    return [text for text, _ in operands(textwrap.dedent(source), line)]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("assert total == order.lines[0].price", ["total", "order.lines[0].price"]),
        ("assert not order.errors, f'{total}'", ["order.errors"]),
        ("assert ready and (a.b < 3 or c['k'])", ["ready", "a.b", "c['k']"]),
        ("assert a.b == a.b", ["a.b"]),
        ("assert isinstance(node, Leaf)", ["node", "Leaf"]),
        ("assert cart.total() == 10", ["cart.total()"]),
        ("assert all(line.ok for line in order.lines)", ["(line.ok for line in order.lines)"]),
        ("assert 3 < 2", []),
        ("self.assertEqual(cart.total, LIMITS['n'], msg=cart.name)", ["cart.total", "LIMITS['n']"]),
        ("print(cart.total)", []),
        ("assert (", []),
    ],
)
def test_the_operands_of_an_assertion_are_the_expressions_that_it_compares(source: str, wanted: list[str]) -> None:
    assert asserted(source) == wanted


def test_a_line_within_an_assertion_belongs_to_it_and_one_beside_it_does_not() -> None:
    source = "def test():\n    assert (\n        a.b\n        == c.d\n    )\n    return a.e\n"
    assert asserted(source, 4) == ["a.b", "c.d"]
    assert asserted(source, 6) == []


def test_an_operand_that_cannot_be_read_has_its_parts_with_it() -> None:
    wanted: list[object] = [("cart.total(tax.rate)", [("cart", []), ("tax.rate", [("tax", [])])])]
    assert operands("assert cart.total(tax.rate) == 3", 1) == wanted


def test_a_text_that_is_too_long_is_shown_by_its_parts() -> None:
    names = [f"name_{number:020}" for number in range(4)]
    assert asserted(f"assert f({' + '.join(names)}) == 1") == [f"{names[0]} + {names[1]}", names[2], names[3]]
