"""Names that may be meant by one that there is not."""

import pytest

from trio_debugmcp.dap.profiles.near_names import named_alike


@pytest.mark.parametrize(
    ("wanted", "there", "meant"),
    [
        ("apy", ["pay", "add"], ["pay"]),
        ("py", ["pay", "pa"], ["pay"]),
        ("pays", ["pay"], ["pay"]),
        ("Add", ["add"], ["add"]),
        ("odd", ["add", "pay"], ["add"]),
        ("totla_price", ["total_price", "total"], ["total_price"]),
        ("s-9", ["s-2", "s-22"], []),
        ("ab", ["ba", "b"], []),
        ("abcd", ["dcba", "cdab"], []),
        ("take", ["take_all", "taker", "bake", "rake"], ["bake", "rake", "taker"]),
    ],
)
def test_names_are_alike_by_one_slip_also_short_ones(wanted: str, there: list[str], meant: list[str]) -> None:
    assert named_alike(wanted, {name: name for name in there}) == meant
