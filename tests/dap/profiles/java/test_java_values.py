"""Values of Java's own classes are read from their fields as their users would print them."""

from itertools import count
from typing import Any

import pytest

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.java.java_leaves import LEAVES
from trio_debugmcp.dap.profiles.java.java_values import reading_of

UTIL = "java.util."


class Heap:
    """Objects and arrays, as the adapter shows them and what is behind their references."""

    def __init__(self) -> None:
        self.behind: dict[int, list[DapVariable]] = {}
        self.asked = 0
        self._numbers = count(1)

    def object(self, class_: str, **fields: Any) -> DapVariable:
        number = next(self._numbers)
        self.behind[number] = [self.named(name, value) for name, value in fields.items()]
        return DapVariable("", f"{class_}@{number}", variables_reference=number)

    def array(self, *elements: Any, kind: str = "java.lang.Object[]") -> DapVariable:
        number = next(self._numbers)
        self.behind[number] = [self.named(f"[{index}]", each) for index, each in enumerate(elements)]
        return DapVariable("", f"{kind}[{len(elements)}]", variables_reference=number)

    def named(self, name: str, value: Any) -> DapVariable:
        if isinstance(value, DapVariable):
            return DapVariable(name, value.value, variables_reference=value.variables_reference)
        return DapVariable(name, "null" if value is None else f'"{value}"' if isinstance(value, str) else str(value))

    def node(self, key: Any, value: Any, following: Any = None, **others: Any) -> DapVariable:
        return self.object(f"{UTIL}HashMap$Node", hash=1, key=key, value=value, next=following, **others)

    def map_of(self, *nodes: Any, size: int | None = None) -> DapVariable:
        entries = sum(node is not None for node in nodes) if size is None else size
        return self.object(f"{UTIL}HashMap", table=self.array(*nodes), size=entries)

    def list_of(self, *items: Any) -> DapVariable:
        return self.object(f"{UTIL}ArrayList", elementData=self.array(*items, None, None), size=len(items))

    def read(self, variable: DapVariable, room: int = 100) -> str | None:
        reading = reading_of(variable)
        if reading is None:
            return None
        answer = None
        while True:
            try:
                reference = reading.send(answer)
            except StopIteration as end:
                return str(end.value)
            self.asked += 1
            answer = self.behind.get(reference) if self.asked <= room else None


@pytest.fixture
def heap() -> Heap:
    return Heap()


def test_a_map_shows_its_entries_also_those_whose_hashes_are_the_same(heap: Heap) -> None:
    table = heap.map_of(None, heap.node("fig", 3, heap.node("plum", 4)), heap.node("saw", None), size=3)
    assert heap.read(table) == '{"fig": 3, "plum": 4, "saw": null}'
    assert heap.read(heap.object(f"{UTIL}HashMap", table=None, size=0)) == "{}"
    first, last = heap.object("Entry", key="a", value=1, after=None), None
    linked = heap.object(
        f"{UTIL}LinkedHashMap", head=heap.object("Entry", key="b", value=2, after=first), tail=last, size=2
    )
    assert heap.read(linked) == '{"b": 2, "a": 1}'
    root = heap.object(
        "Entry",
        key="m",
        value=2,
        left=heap.object("Entry", key="a", value=1, left=None, right=None),
        right=heap.object("Entry", key="z", value=3, left=None, right=None),
    )
    assert heap.read(heap.object(f"{UTIL}TreeMap", root=root, size=3)) == '{"a": 1, "m": 2, "z": 3}'


def test_an_entry_of_a_map_shows_its_key_and_its_value(heap: Heap) -> None:
    entry = heap.object(f"{UTIL}LinkedHashMap$Entry", before=None, hash=7, key="plum", value=1, next=None)
    assert heap.read(entry) == '"plum"=1'
    own = heap.object("shop.Entry", key="plum", value=1)
    assert heap.read(own) == 'Entry(key="plum", value=1)'


def test_lists_sets_and_queues_show_their_items(heap: Heap) -> None:
    absent = heap.object("java.lang.Object")
    fixed, guarded = f"{UTIL}ImmutableCollections$", f"{UTIL}Collections$Unmodifiable"
    shown = {
        '["a", "b"]': heap.list_of("a", "b"),
        '["a"]': heap.object(f"{fixed}List12", e0="a", e1=absent),
        "[1, 2, 3]": heap.object(f"{fixed}ListN", elements=heap.array(1, 2, 3)),
        '["x"]': heap.object(f"{UTIL}HashSet", map=heap.map_of(heap.node("x", absent))),
        "[3, 1]": heap.object(f"{UTIL}ArrayDeque", elements=heap.array(1, None, 3), head=2, tail=1),
        "[7, 8]": heap.object(f"{guarded}RandomAccessList", c=None, list=heap.list_of(7, 8)),
        '{"k": 1}': heap.object(f"{fixed}MapN", table=heap.array(None, None, "k", 1), size=1),
    }
    assert {heap.read(value): value for value in shown.values()} == shown


def test_an_object_shows_its_fields_and_an_item_too_but_what_is_inside_of_these_only_if_it_is_one_value(
    heap: Heap,
) -> None:
    price = heap.object("java.math.BigDecimal", intVal=None, scale=2, precision=3, stringCache=None, intCompact=250)
    kind = heap.object("Shop$Kind", label="f", name="FRUIT", ordinal=0)
    item = heap.object(
        "shop.Item", name="fig", price=price, kind=kind, parts=heap.list_of(1, 2), owner=heap.object("shop.Ann", age=3)
    )
    shown = 'Item(name="fig", price=2.50, kind=Kind.FRUIT, parts=[2 items], owner=Ann(…))'
    assert heap.read(item) == shown
    assert heap.read(heap.list_of(item)) == f"[{shown}]"
    assert heap.read(
        heap.object("shop.Order", items=heap.list_of(item), note=heap.object(f"{UTIL}Optional", value=None))
    ) == ("Order(items=[1 items], note=Optional.empty)")


def test_an_exception_shows_its_message_and_what_has_caused_it(heap: Heap) -> None:
    inner = heap.object("java.io.IOException", detailMessage="disk", cause=None, stackTrace=None)
    outer = heap.object("shop.Bad", code=3, detailMessage='no "stock"', cause=inner, stackTrace=None)
    assert heap.read(outer) == 'Bad: no "stock"; caused by IOException: disk'
    own = heap.object("shop.Bad", detailMessage=None, stackTrace=None)
    heap.behind[own.variables_reference].append(heap.named("cause", own))
    assert heap.read(own) == "Bad"


def test_what_is_long_is_cut_and_what_cannot_be_read_is_folded(heap: Heap) -> None:
    assert heap.read(heap.array(*range(20))) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …]"
    long = DapVariable("", "int[][5000]", variables_reference=99)
    assert heap.read(long) == "[5000 items]"
    many = heap.object(
        f"{UTIL}ArrayList", elementData=DapVariable("", "java.lang.Object[][5000]", variables_reference=98), size=4000
    )
    assert heap.read(many) == "[4000 items]"
    assert heap.read(heap.object("shop.Item", name="fig"), room=0) == "Item(…)"
    endless = heap.object("Node", item=1)
    heap.behind[endless.variables_reference].append(heap.named("next", endless))
    assert heap.read(heap.object(f"{UTIL}LinkedList", first=endless, size=1_000_000)) == f"[{', '.join('1' * 12)}, …]"
    assert heap.read(DapVariable("n", "3")) is None
    unknown = heap.object("java.time.LocalDate", years=3)
    assert heap.read(unknown) == "LocalDate(…)"


def test_what_is_not_known_to_be_all_is_never_shown_as_if_it_were(heap: Heap) -> None:
    wrapped, concurrent = f"{UTIL}Collections$", f"{UTIL}concurrent.ConcurrentHashMap"
    long = DapVariable("", "java.lang.Object[][5000]", variables_reference=98)
    keys, cells = heap.object(f"{UTIL}HashMap$KeySet"), heap.array(1)
    moved, entry = heap.node(None, None, val=None), heap.object("Node", key="k", val=1, next=None)
    shown = {
        "[…]": [
            heap.object(f"{wrapped}UnmodifiableSet", c=keys),
            heap.object(f"{UTIL}ArrayDeque", elements=long, head=1, tail=3),
        ],
        "[5000 items]": [
            heap.object(f"{UTIL}Arrays$ArrayList", a=long),
            heap.object(f"{UTIL}concurrent.CopyOnWriteArrayList", array=long),
        ],
        "{…}": [heap.object(f"{wrapped}UnmodifiableMap", m=heap.object("shop.OwnMap"))],
        '["a"]': [heap.object(f"{UTIL}Vector", elementData=heap.array("a", None, None), elementCount=1)],
        '{"a": null}': [heap.object(f"{wrapped}SingletonMap", k="a", v=None)],
        '{"k": 1, …}': [
            heap.object(f"{UTIL}Hashtable", table=heap.array(heap.node("k", 1)), count=2),
            heap.object(concurrent, table=heap.array(entry, moved), baseCount=1, counterCells=cells),
        ],
        '{"k": 1}': [heap.object(concurrent, table=heap.array(entry), baseCount=1, counterCells=None)],
    }
    assert {text: [heap.read(value) for value in values] for text, values in shown.items()} == {
        text: [text] * len(values) for text, values in shown.items()
    }
    set_ = heap.object(f"{UTIL}HashSet", map=heap.map_of(heap.node("x", 1)))
    large = heap.object("java.math.BigInteger", signum=1, mag=heap.array(1, kind="int[]"))
    builder = heap.object("java.lang.StringBuilder", value=heap.array(*b"a", kind="byte[]"), coder=0, count=1)
    day = heap.object("java.time.LocalDate", year=2024, month=3, day=9)
    when = heap.object("java.time.LocalDateTime", date=day, time=day)
    for value, unread in (
        (set_, "[…]"),
        (large, "BigInteger(…)"),
        (builder, "StringBuilder(…)"),
        (when, "LocalDateTime(…)"),
    ):
        heap.asked = 0
        assert heap.read(value, room=1) == unread


def test_a_number_of_thousands_of_digits_and_one_of_unknown_elements_are_folded(heap: Heap) -> None:
    for elements in ([1] * 900, ["<error>"]):
        number = heap.object("java.math.BigInteger", signum=1, mag=heap.array(*elements, kind="int[]"))
        assert heap.read(number) == "BigInteger(…)"


@pytest.mark.parametrize(
    ("name", "fields", "shown"),
    [
        ("java.lang.Integer", {"value": "7"}, "7"),
        ("java.time.LocalTime", {"hour": "3", "minute": "4", "second": "0", "nano": "5000000"}, "03:04:00.005"),
        ("java.time.LocalTime", {"hour": "3", "minute": "4", "second": "0", "nano": "0"}, "03:04"),
        ("java.time.Instant", {"seconds": "1700000000", "nanos": "0"}, "2023-11-14T22:13:20Z"),
        ("java.util.Date", {"fastTime": "-1"}, "1969-12-31T23:59:59.999Z"),
        ("java.time.Duration", {"seconds": "5400", "nanos": "0"}, "PT1H30M"),
        ("java.time.Duration", {"seconds": "0", "nanos": "250000000"}, "PT0.25S"),
        ("java.time.Duration", {"seconds": "-2", "nanos": "500000000"}, "PT-1.5S"),
        ("java.time.Duration", {"seconds": "-5400", "nanos": "0"}, "PT-1H-30M"),
        ("java.math.BigDecimal", {"intCompact": "-5", "scale": "10", "intVal": "null"}, "-5E-10"),
        ("java.math.BigDecimal", {"intCompact": str(-(2**63)), "scale": "1", "intVal": "123"}, "12.3"),
        ("java.math.BigInteger", {"signum": "-1", "mag": "99"}, "-99"),
        ("java.util.UUID", {"mostSigBits": "1", "leastSigBits": "-1"}, "00000000-0000-0001-ffff-ffffffffffff"),
        ("java.util.OptionalInt", {"isPresent": "false", "value": "0"}, "OptionalInt.empty"),
    ],
)
def test_numbers_and_moments_are_as_they_print_themselves(name: str, fields: dict[str, str], shown: str) -> None:
    assert LEAVES[name](fields) == shown


def test_texts_and_large_numbers_are_read_from_their_arrays(heap: Heap) -> None:
    narrow = heap.array(*b"abc\0\0", kind="byte[]")
    assert heap.read(heap.object("java.lang.StringBuilder", value=narrow, coder=0, count=3)) == '"abc"'
    wide = heap.array(*"ж!\0".encode("utf-16-le"), kind="byte[]")
    assert heap.read(heap.object("java.lang.StringBuilder", value=wide, coder=1, count=2)) == '"ж!"'
    high = heap.array(*"😀!\0".encode("utf-16-le"), kind="byte[]")
    assert heap.read(heap.object("java.lang.StringBuilder", value=high, coder=1, count=3)) == '"😀!"'
    none = heap.array(kind="byte[]")
    assert heap.read(heap.object("java.lang.StringBuilder", value=none, coder=0, count=0)) == '""'
    large = heap.object("java.math.BigInteger", signum=1, mag=heap.array(1, -1, kind="int[]"))
    assert heap.read(large) == str(2**33 - 1)
