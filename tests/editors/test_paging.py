"""Pages of children, of adapters that answer all of them whatever is asked for, and of those that page."""

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.editors.numbers import AdapterNumber
from trio_debugmcp.editors.values.paging import is_without, page


def children(*names: object) -> list[DapVariable]:
    return [DapVariable(str(each)) for each in names]


def shown(found: list[DapVariable], kind: str | None, start: int, count: int, indexed: int | None = None) -> list[str]:
    return [each.name for each in page(found, AdapterNumber("s-1", 1, 7, indexed=indexed), kind, start, count)]


def test_a_page_is_taken_out_of_an_array_that_is_answered_whole() -> None:
    for name in ("{}", "[{}]"):
        whole = children(*(name.format(number) for number in range(150)))
        assert shown(whole, "indexed", 0, 100, 150) == [name.format(number) for number in range(100)]
        assert shown(whole, "indexed", 100, 50, 150) == [name.format(number) for number in range(100, 150)]
        assert shown(whole, None, 148, 200, 150) == [name.format(number) for number in (148, 149)]
        assert len(shown(whole, "indexed", 0, 0, 150)) == 150


def test_an_array_in_the_order_of_its_names_is_paged_in_that_of_its_numbers() -> None:
    whole = children(*sorted(map(str, range(12))))
    assert [each.name for each in whole][:3] == ["0", "1", "10"]
    assert shown(whole, "indexed", 0, 3, 12) == ["0", "1", "2"]
    assert shown(whole, "indexed", 9, 3, 12) == ["9", "10", "11"]


def test_a_page_that_is_answered_as_one_stays_as_it_is() -> None:
    assert shown(children("[100]", "[101]"), "indexed", 100, 2, 200) == ["[100]", "[101]"]
    assert shown(children("7", "0"), "indexed", 100, 2, 200) == ["7", "0"]  # keys of a map of Go
    assert shown(children('"b"', '"a"'), "indexed", 100, 2, 200) == ['"b"', '"a"']
    assert shown(children("x", "y"), "named", 2, 2) == ["x", "y"]
    assert shown([], "indexed", 100, 2, 200) == []


def test_fields_that_are_answered_whole_are_paged_in_their_order() -> None:
    assert shown(children("b", "c", "a", "d"), "named", 1, 2) == ["c", "a"]


def test_only_children_of_the_kind_are_shown_where_their_names_tell() -> None:
    mixed = children("0", "1", "length", "[[Prototype]]")
    assert shown(mixed, "indexed", 0, 0, 2) == ["0", "1"]
    assert shown(mixed, "named", 0, 0, 2) == ["length", "[[Prototype]]"]
    assert shown(mixed, None, 0, 0, 2) == ["0", "1", "length", "[[Prototype]]"]
    keys = children("0", "1", "len()")  # of a dictionary
    assert shown(keys, "named", 0, 0) == ["0", "1", "len()"]


def test_a_value_is_without_a_kind_of_children_only_where_its_adapter_counts_none() -> None:
    empty, full, unknown = (AdapterNumber("s-1", 1, 7, named=each, indexed=each) for each in (0, 3, None))
    assert [is_without(empty, kind) for kind in ("indexed", "named", None)] == [True, True, False]
    for each in (full, unknown):
        assert not any(is_without(each, kind) for kind in ("indexed", "named", None))
    assert not is_without(AdapterNumber("s-1", 1, 7, named=0, indexed=3), "indexed")
    assert not is_without(AdapterNumber("s-1", 1, 7, named=3, indexed=0), "named")
