"""What a function has made of values that never change is made once, as long as it is asked about two of them only."""

from trio_debugmcp.state.remembered import remembered


def test_of_two_values_each_is_looked_at_once_and_of_three_the_oldest_again() -> None:
    seen: list[str] = []

    @remembered
    def length_of(value: tuple[str, ...]) -> int:
        seen.append(value[0])
        return len(value)

    old, new, newer = ("old",), ("new", "more"), ("newer",)
    for _ in range(3):
        assert (length_of(old), length_of(new)) == (1, 2)
    assert seen == ["old", "new"]
    assert (length_of(newer), length_of(new), length_of(old)) == (1, 2, 1)
    assert seen == ["old", "new", "newer", "old"]


def test_equal_values_are_two() -> None:
    list_of = remembered(list[str])
    one, other = tuple("ab"), tuple("ab")
    assert list_of(one) is list_of(one)
    assert list_of(one) is not list_of(other)
