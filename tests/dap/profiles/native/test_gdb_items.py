"""The function of gdb that has items of containers, by the items that a printer knows."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from trio_debugmcp.dap.profiles.native import gdb_items
from trio_debugmcp.dap.profiles.native.gdb_items import Unknown, item_of, register


class FakeValue:
    """A value of gdb's, which shows itself as this text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def format_string(self, **how: object) -> str:
        assert how["max_elements"] == 0, "a long key would be cut"
        return self.text

    def __int__(self) -> int:
        return int(self.text)


class FakePrinter:
    def __init__(self, *items: str, hint: str | None = None) -> None:
        self.items = [FakeValue(item) for item in items]
        if hint is not None:
            self.display_hint = lambda: hint

    def children(self) -> Iterator[tuple[str, FakeValue]]:
        return ((f"[{number}]", item) for number, item in enumerate(self.items))


def found(printer: object, key: str) -> str:
    item: Any = item_of(printer, FakeValue(key))
    return str(item.text)


def test_an_item_of_a_map_has_its_key_and_one_of_a_list_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, queue = FakePrinter('"fig"', "3", '"saw"', "4", hint="map"), FakePrinter("7", "8")
    assert found(counts, '"saw"') == "4"
    assert found(queue, "1") == "8"
    for printer, key, problem in (
        (counts, "3", "there is no key 3: it has 2 items"),
        (queue, "2", "index 2 is out of bounds: it has 2 items"),
        (queue, "-1", "index -1 is out of bounds: it has 2 items"),
        (None, "1", "gdb knows no items of this"),
        (SimpleNamespace(to_string=str), "1", "gdb knows no items of this"),
    ):
        with pytest.raises(Unknown, match=problem):
            item_of(printer, FakeValue(key))
    monkeypatch.setattr(gdb_items, "_MOST", 1)
    with pytest.raises(Unknown, match="only the first 1 items were looked through"):
        item_of(counts, FakeValue('"saw"'))


def test_gdb_follows_references_to_a_container_and_shows_the_problem_as_its_own_error() -> None:
    class Refused(Exception):
        pass

    made: list[Any] = []

    class Function:
        def __init__(self, name: str) -> None:
            made.append((name, self))

    container = SimpleNamespace(type=SimpleNamespace(strip_typedefs=lambda: SimpleNamespace(code=3)))
    pointer = SimpleNamespace(
        type=SimpleNamespace(strip_typedefs=lambda: SimpleNamespace(code=1)), referenced_value=lambda: container
    )
    gdb = SimpleNamespace(
        Function=Function,
        GdbError=Refused,
        TYPE_CODE_PTR=1,
        TYPE_CODE_REF=2,
        default_visualizer=lambda value: FakePrinter("7") if value is container else None,
    )
    register(gdb)
    ((name, function),) = made
    assert name == "_item"
    assert function.invoke(pointer, FakeValue("0")).text == "7"
    with pytest.raises(Refused, match="out of bounds"):
        function.invoke(container, FakeValue("1"))
