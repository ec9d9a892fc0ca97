"""Values that are more than their type have texts in a record, and none of the program's code runs for them."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, run_recorded
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.past_process import PastProcess

pytestmark = pytest.mark.real

PROGRAM = """\
import collections, dataclasses, datetime, decimal, enum, fractions, pathlib, typing, uuid, zoneinfo

def ran(*_, **__):
    print("the program's code ran")
    return datetime.timedelta(0)

class Color(enum.Enum):
    RED = "r"
    __repr__ = __str__ = ran

class Setting(enum.Enum):
    API_KEY = "hush"

class Perm(enum.IntFlag):
    R = 1
    W = 2

class Own(datetime.tzinfo):
    utcoffset = dst = ran

class Euro(decimal.Decimal):
    __repr__ = __str__ = ran

class Point(typing.NamedTuple):
    x: int
    y: object
    __repr__ = ran

@dataclasses.dataclass
class Order:
    id: int
    total: decimal.Decimal
    password: str
    lines: list
    note: str = dataclasses.field(default="quiet", repr=False)
    __repr__ = __getattribute__ = None
    del __repr__, __getattribute__

@dataclasses.dataclass(slots=True)
class Half:
    made: int
    missing: int

def values():
    price = decimal.Decimal("1.20")
    part = fractions.Fraction(1, 3)
    path = pathlib.Path("a//b/.", "../c") / "d.txt"
    absolute = pathlib.PurePosixPath("x", "//etc//x")
    day = datetime.date(2024, 5, 1)
    utc = datetime.datetime(2024, 5, 1, 12, 30, tzinfo=datetime.timezone.utc)
    berlin = datetime.datetime(2024, 5, 1, 12, 30, 1, 5, tzinfo=zoneinfo.ZoneInfo("Etc/GMT-2"))
    own = datetime.datetime(2024, 5, 1, 12, 30, tzinfo=Own())
    clock = datetime.time(12, 30)
    wait = datetime.timedelta(days=1, seconds=5)
    key = uuid.UUID(int=7)
    data = bytearray(b"abc")
    numbers = range(0, 10, 2)
    color = Color.RED
    setting = Setting.API_KEY
    both = Perm.R | Perm.W
    euro = Euro("3")
    point = Point(1, day)
    order = Order(3, price, "hush", [1])
    half = Half.__new__(Half)
    half.made = 1
    seen = half
    counts = collections.Counter("aab")
    recent = collections.deque([1, price])
    groups = collections.defaultdict(list, a=[1])
    inside = [price, color, b"x", point, order]
    table = {day: key}
    order.id = 4
    again = order
    long = "a" * 1000
    huge = 3 * 2**700
    huge_less_one = 1 - huge
    listed = Point(1, [])
    groups_of_one = [[1]]
    recent.append(5)
    order.lines.append(2)
    listed.y.append(1)
    groups_of_one[0].append(2)
    return recent

values()
"""

EXPECTED = {
    "price": "Decimal('1.20')",
    "part": "Fraction(1, 3)",
    "path": "PosixPath('a/b/../c/d.txt')",
    "absolute": "PurePosixPath('//etc/x')",
    "day": "<date 2024-05-01>",
    "utc": "<datetime 2024-05-01T12:30:00+00:00>",
    "berlin": "<datetime 2024-05-01T12:30:01.000005+02:00[Etc/GMT-2]>",
    "own": "<datetime 2024-05-01T12:30:00 in a Own>",
    "clock": "<time 12:30:00>",
    "wait": "<timedelta 1 day, 0:00:05>",
    "key": "UUID('00000000-0000-0000-0000-000000000007')",
    "data": "bytearray(b'abc')",
    "numbers": "range(0, 10, 2)",
    "color": "<Color.RED: 'r'>",
    "setting": "<Setting.API_KEY: <secret>>",
    "both": "<Perm.R|W: 3>",
    "euro": "<Euro>",
    "point": "Point(x=1, y=<date 2024-05-01>)",
    "order": "<Order id=3, total=Decimal('1.20'), password=<secret>, lines=list of 1>",
    "half": "<Half>",
    "seen": "<Half made=1>",
    "counts": "Counter({'a': 2, 'b': 1})",
    "recent": "deque([1, Decimal('1.20')])",
    "groups": "defaultdict({'a': list of 1})",
    "inside": "[Decimal('1.20'), <Color.RED: 'r'>, b'x', <Point>, <Order>]",
    "table": "{<date 2024-05-01>: UUID('00000000-0000-0000-0000-000000000007')}",
    "again": "<Order id=4, total=Decimal('1.20'), password=<secret>, lines=list of 1>",
    "listed": "Point(x=1, y=[])",
    "groups_of_one": "[list of 1]",
    "huge": f"<int of 702 bits, 0xc0000000…, hash {hash(3 * 2**700):x}>",
    "huge_less_one": f"<int of 702 bits, 0xbfffffff…, hash {hash(1 - 3 * 2**700):x}>",
    "long": f"'{'a' * 199}… (1000 characters)",
}


@cache
def recorded(version: tuple[int, int]) -> ProcessRecord:
    program = run_recorded(PROGRAM, python(*version))
    assert (program.errors, program.output) == ("", "")
    return program.run.processes[0]


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_a_value_has_the_text_that_tells_it_and_no_code_of_the_program_runs(version: tuple[int, int]) -> None:
    record = recorded(version)
    written = [record.row(number) for number in range(record.first, record.last + 1)]
    texts = {record.label(row.key): record.text(row) for row in written if row.kind == rows.WRITE}
    assert {name: texts.get(name) for name in EXPECTED} == EXPECTED
    assert record.facts.faults == 0


def text_at_the_end(name: str) -> str:
    record = recorded((3, 13))
    past = PastProcess(record)
    numbers = range(record.first, record.last)
    key = record.key_of(name)
    written = [number for number in numbers if (record.row(number).kind, record.row(number).key) == (rows.WRITE, key)]
    value = past.values.value_at(written[-1])
    assert past.values.text_at(value, value.row + 1) == EXPECTED[name]
    return past.values.text_at(value, record.last)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("recent", "deque of 3"),
        ("order", "<Order id=4, total=Decimal('1.20'), password=<secret>, lines=list of 2>"),
        ("again", "<Order id=4, total=Decimal('1.20'), password=<secret>, lines=list of 2>"),
        ("listed", "Point(x=1, y=…)"),
        ("groups_of_one", "list of 1"),
        ("point", "Point(x=1, y=<date 2024-05-01>)"),
    ],
)
def test_a_value_that_has_changed_since_is_not_shown_as_it_was(name: str, text: str) -> None:
    assert text_at_the_end(name) == text
