"""Two recorded runs: the first values that differ, loops that ran otherwise, and the place where they part."""

from collections.abc import Iterator
from functools import cache

import pytest

from tests.runs.recorded_programs import fresh_folder, lines_of, python, record, run_recorded
from trio_debugmcp.runs.comparing.run_alignment import RunAlignment
from trio_debugmcp.runs.comparing.run_comparing import BothLines, RunComparison, compared
from trio_debugmcp.runs.comparing.stream_values import StreamValues
from trio_debugmcp.runs.comparing.varying_values import is_alike
from trio_debugmcp.runs.files.block_columns import BlockColumns
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.run_files import WordFile
from trio_debugmcp.runs.past.past_process import PastProcess

pytestmark = pytest.mark.real

GENERATED = """\
import os
from dataclasses import dataclass

@dataclass
class Shop:
    there: bool
    name: str = "tea"

shop = Shop(os.path.exists("late"))
"""

LATE_THREAD = """\
import os, threading

def work(*_):
    done = 1

late = os.path.exists("late")
thread = threading.Thread(target=(print, work)[late], args=("done",))
thread.start()
thread.join()
"""

SHOP = """\
def price(kind):
    if kind == "tea":
        return 3
    return 5

def discount(total):
    if total > 10:
        return total * 0.9
    return total

def pay(kinds):
    total = 0
    for kind in kinds:
        total += price(kind)
    seen = [object(), id(kinds), {"b", "a"}]
    return discount(total)

kinds = KINDS
print(pay(kinds))
"""

THREADS = """\
import threading

def work(n, most):
    found = []
    for i in range(n):
        found.append(i)
    if len(found) > most:
        found.clear()
    return found

most = MOST
threads = [threading.Thread(target=work, args=(n, most)) for n in (3, 4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@cache
def shop(kinds: str, old: str = "", new: str = "") -> ProcessRecord:
    source = SHOP.replace("KINDS", kinds)
    return record(source.replace(old, new) if old else source, python(3, 13), name="shop.py").processes[0]


def sources(comparison: RunComparison) -> tuple[str | None, str | None]:
    good, bad = comparison.good, comparison.bad
    return None if good is None else good.source, None if bad is None else bad.source


def said(lines: BothLines) -> tuple[str, list[str], list[str]]:
    assert lines.good is not None
    assert lines.bad is not None
    return lines.bad.source, lines.good.values, lines.bad.values


def test_runs_that_differ_by_identities_and_the_order_of_sets_alone_are_equal() -> None:
    same = compared(shop('("tea", "ham")'), shop('("tea", "ham")'))
    assert (sources(same), same.because) == ((None, None), [])
    assert same.notes == ["they are equal, step by step and value by value"]


def test_the_place_where_the_ways_part_is_named_with_the_values_that_decided() -> None:
    found = compared(shop('("tea", "ham")'), shop('("tea", "tea")'))
    assert sources(found) == ("return 5", "return 3")
    kind, decided = found.because[-2:]
    assert said(kind) == ("for kind in kinds:", ["kind='ham'"], ["kind='tea'"])
    assert (decided.what, said(decided)[0]) == ("then they part", 'if kind == "tea":')


def test_a_loop_with_another_number_of_rounds_is_folded_and_named() -> None:
    found = compared(shop('("tea", "ham")'), shop('("tea", "ham", "ham", "ham")'))
    assert sources(found) == ("return total", "return total * 0.9")
    (loop,) = [lines for lines in found.because if "rounds" in lines.what]
    assert (loop.what, said(loop)[0]) == ("2 rounds in good, 4 in bad", "for kind in kinds:")
    assert said(found.because[-1])[0] == "if total > 10:"


def test_behind_a_changed_statement_the_first_difference_of_unchanged_code_is_found() -> None:
    found = compared(shop('("tea", "ham")'), shop('("tea", "ham")', "return 3", "return 30"))
    assert sources(found) == ("return total", "return total * 0.9")
    assert said(found.because[0]) == ("total += price(kind)", ["total=3"], ["total=30"])
    assert "price:3 | return 30" in found.notes[1]
    assert any(line.source == "return 30" for line in found.led_to_bad), "what led to the first difference"


def test_lines_that_have_moved_are_the_same() -> None:
    found = compared(shop('("tea", "ham")'), shop('("tea", "ham")', "def discount", "\n# moved\n\ndef discount"))
    assert (sources(found), found.because) == ((None, None), [])


def test_threads_are_compared_each_by_itself() -> None:
    good, bad = (
        record(THREADS.replace("MOST", most), python(3, 13), name="threads.py").processes[0] for most in ("9", "3")
    )
    found = compared(good, bad)
    assert sources(found) == ("return found", "found.clear()")
    assert found.notes[0] == "3 threads, each compared by itself; 1 part"


def test_code_that_a_library_has_generated_is_the_same_in_both_and_its_values_are_compared() -> None:
    found = compared(*with_and_without(GENERATED, "late"))
    assert not [note for note in found.notes if "only the source" in note]
    assert ".there=False" in str(found.because[0])
    equal = compared(*[record(GENERATED, python(3, 13)).processes[0] for _ in range(2)])
    assert (equal.because, equal.notes) == ([], ["they are equal, step by step and value by value"])


def test_a_run_of_one_thread_is_compared_with_one_of_several() -> None:
    found = compared(*with_and_without(LATE_THREAD, "late"))
    assert "late = os.path.exists" in str(found.because[0])


MONDAY, TUESDAY = 1764590400.0, 1764676800.0
"""Of the first and the second of December 2025."""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("<Cart at 0x7f00aa>", "<Cart at 0x7fffbb>", True), ("{3, 1}", "{1, 3}", True), ("{'a': 1}", "{'a': 2}", False),
        ("'/tmp/x1/a'", "'/tmp/y2/a'", True), ("[139634515100992]", "[140168147584320]", True), ("12", "13", False),
        ("{<Color.RED: 'r'>, <Color.BLUE: 'b'>}", "{<Color.BLUE: 'b'>, <Color.RED: 'r'>}", True),
        ("UUID('6f1ff9b0-1b2c-4a3e-8f0e-0242ac120002')", "UUID('0c7d3f6e-55aa-4b1d-9a77-6f1ff9b01b2c')", True),
        ("UUID('6f1ff9b0-1b2c-5a3e-8f0e-0242ac120002')", "UUID('0c7d3f6e-55aa-5b1d-9a77-6f1ff9b01b2c')", False),
        ("<datetime 2025-12-01T08:40:12.123456>", "<datetime 2025-12-02T09:12:00.654321>", True),
        ("<datetime 2025-12-01T08:00:00>", "<datetime 2025-12-02T09:00:00>", False),
        ("<date 2025-12-08>", "<date 2025-12-09>", True), ("<date 2025-12-08>", "<date 2025-12-10>", False),
        ("<date 2024-05-01>", "<date 2024-05-01>", True), ("<date 2024-05-01>", "<date 2024-05-02>", False),
        ("1764590401.25", "1764676900.5", True), ("1264590401.25", "1264676900.5", False),
        ("Decimal('1.20')", "Decimal('1.21')", False),
    ],
)  # fmt: skip
def test_what_is_another_in_each_run_does_not_count(one: str, other: str, same: bool) -> None:
    assert is_alike(one, other, (MONDAY, TUESDAY)) is same


def test_in_runs_of_one_day_each_date_counts() -> None:
    assert not is_alike("<date 2025-12-01>", "<date 2025-12-02>", (MONDAY, MONDAY + 60))
    assert not is_alike("<date 2024-05-01>", "<date 2024-05-02>", (MONDAY, MONDAY + 60))


def test_a_changed_statement_that_decides_is_shown_as_it_is_in_each() -> None:
    found = compared(shop('("tea", "ham")'), shop('("tea", "ham")', 'if kind == "tea"', 'if kind != "tea"'))
    assert sources(found) == ("return 3", "return 5")
    decided = found.because[-1]
    assert decided.good is not None
    assert decided.bad is not None
    assert (decided.good.source, decided.good.values[0]) == ('if kind == "tea":', "true")
    assert (decided.bad.source, decided.bad.values[0]) == ('if kind != "tea":', "false")


RACE = """\
import os, threading

class Account:
    balance = 0

    def deposit(self):
        before = self.balance
        turn.wait()
        self.balance = before + 1

parties = 2 if os.path.exists("together") else 1
account, turn = Account(), threading.Barrier(parties)
deposited, end = threading.Semaphore(0), threading.Barrier(2)

def work():
    account.deposit()
    deposited.release()
    end.wait()

threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
    deposited.acquire() if parties == 1 else None
for thread in threads:
    thread.join()
"""


def with_and_without(source: str, name: str) -> list[ProcessRecord]:
    """The records of a program that finds no file of this name, and one that does."""
    found = []
    for is_there in (False, True):
        folder = fresh_folder()
        (folder / "project").mkdir()
        if is_there:
            (folder / "project" / name).touch()
        found.append(run_recorded(source, python(3, 13), folder).run.processes[0])
    return found


def test_values_of_other_threads_differ_where_the_main_thread_took_the_same_way() -> None:
    found = compared(*with_and_without(RACE, "together"))
    assert ("before = self.balance", ["before=1"], ["before=0"]) in [said(lines) for lines in found.because]


def test_of_runs_that_differ_in_nothing_that_was_stored_the_one_that_raises_is_named() -> None:
    source = "import os\n\ndef check():\n    assert not os.path.exists('there')\n\ncheck()\n"
    (note,) = compared(*with_and_without(source, "there")).notes
    assert note.startswith("they are equal, step by step and value by value, and then only bad #")


TASKS = """\
import asyncio, os

async def fetch(n):
    await asyncio.sleep((n if os.path.exists("turned") else 3 - n) / 50)
    return await double(n)

async def double(n):
    if n == WRONG and os.path.exists("turned"):
        n = n + 1
    return n * 2

async def main():
    return await asyncio.gather(fetch(1), fetch(2))

asyncio.run(main())
"""


def test_tasks_are_compared_each_with_its_counterpart_however_they_took_turns() -> None:
    found = compared(*with_and_without(TASKS.replace("WRONG", "2"), "turned"))
    assert found.notes[0] == "4 threads and tasks, each compared by itself; 1 part"
    assert sources(found) == ("return n * 2", "n = n + 1")
    equal = compared(*with_and_without(TASKS.replace("WRONG", "7"), "turned"))
    assert (equal.because, equal.notes[1]) == ([], "they are equal, step by step and value by value")


BANK = """\
import asyncio
import contextlib

class Account:
    balance = 100

async def take(account, n, guard):
    async with guard:
        balance = account.balance
        await asyncio.sleep(0)
        account.balance = balance - n

async def main():
    account = Account()
    guard = GUARD
    await asyncio.gather(take(account, 30, guard), take(account, 20, guard))
    return account.balance

total = asyncio.run(main())
"""


def test_a_write_that_was_overtaken_by_another_task_is_named() -> None:
    good, bad = (
        record(BANK.replace("GUARD", guard), python(3, 13)).processes[0]
        for guard in ("asyncio.Lock()", "contextlib.nullcontext()")
    )
    found = compared(good, bad)
    lines = {lines.what: lines.bad.values for lines in found.because if lines.bad is not None}
    assert lines["reads account.balance"] == ["balance=100"]
    assert lines["another thread or task writes it"] == [".balance=70"]
    assert lines["writes over that what it had read before"] == [".balance=80"]
    assert any("account.balance was overtaken in bad: read at #" in note for note in found.notes)


def test_turns_that_made_a_value_differ_and_lost_nothing_are_said_to_be_just_that() -> None:
    guarded = BANK.replace("GUARD", "asyncio.Lock()")
    given = "take(account, 30, guard), take(account, 20, guard)"
    turned = guarded.replace(given, "*[take(account, n, guard) for n in (20, 30)]")
    good, swapped = (record(source, python(3, 13)).processes[0] for source in (guarded, turned))
    notes = compared(good, swapped).notes
    assert any("No write of it was seen to be overtaken" in note for note in notes), notes


def test_a_line_that_writes_another_item_differs() -> None:
    source = "import os\n\nseen = {}\nseen[os.path.exists('late')] = 1\ntotal = 7 + (True in seen)\n"
    found = compared(*with_and_without(source, "late"))
    assert said(found.because[0])[0] == "seen[os.path.exists('late')] = 1"
    assert "they are equal, step by step and value by value" not in found.notes


@pytest.mark.parametrize("behind", ["", "count = 3\ntotal = len(box)\n"])
@pytest.mark.parametrize(
    "changed",
    [
        "box.extend([5] * late)",
        "box[:] = box + [5] * late",
        "box += [5] * late",
        "if late or not late: box += [5] * late",
    ],
)
def test_a_line_that_writes_more_in_one_run_differs(changed: str, behind: str) -> None:
    source = f"import os\n\nbox, late = [5, 6], 1\nbox.reverse()\n{changed.replace('late', LATE)}\n{behind}"
    found = compared(*with_and_without(source, "late"))
    good, bad = found.because[0].good, found.because[0].bad
    assert (found.because[0].what, good and good.line, bad and bad.line) == ("differs", 5, 5)
    assert found.notes == ["they took the same way to the end"]


MANY = """\
import asyncio
import os

async def work():
    box = []
    await asyncio.sleep(0)
    box.extend([5] * os.path.exists("late"))
    await asyncio.sleep(0)

async def main():
    await asyncio.gather(*(work() for _ in range(13)))

asyncio.run(main())
"""


def test_of_many_tasks_that_write_more_some_are_looked_through_and_the_others_counted() -> None:
    found = compared(*with_and_without(MANY, "late"))
    assert said(found.because[0])[0] == 'box.extend([5] * os.path.exists("late"))'
    assert found.notes[1].startswith("in 3 more threads or tasks one run writes what the other does not")


def test_rows_are_read_once_for_all_tasks_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = list[object]()
    words, columns = BlockColumns.words, WordFile.columns

    def counted_words(blocks: BlockColumns) -> Iterator[tuple[int, list[list[int]]]]:
        reads.append(blocks)
        return words(blocks)

    def counted_columns(file: WordFile, place: int, start: int = 0) -> Iterator[tuple[int, bytes]]:
        reads.append(file)
        return columns(file, place, start)

    good, bad = with_and_without(MANY.replace("13", "40"), "late")
    alignment = RunAlignment(PastProcess(good), PastProcess(bad))
    monkeypatch.setattr(BlockColumns, "words", counted_words)
    monkeypatch.setattr(WordFile, "columns", counted_columns)
    values = [StreamValues(alignment, which, 100) for which in (0, 1)]
    for pair in alignment.pairs():
        assert alignment.parting(pair).has_ended
        assert all(list(found.of(stream, 1 << 40)) for found, stream in zip(values, pair, strict=True))
    assert len(alignment.pairs()) == 42
    assert len(reads) == 4  # of each run once its steps, once its values


LATE = "os.path.exists('late')"

CALLS = f"""\
import os

def made():
    key = 1
    return None

box = [5, 6]
for number in range(3):
    box.extend([made()] * ({LATE} and number))
total = len(box)
"""


def test_a_line_that_writes_more_behind_what_it_has_called_differs() -> None:
    found = compared(*with_and_without(CALLS, "late"))
    assert said(found.because[0])[2] == ["[2]=None"]
    assert found.because[0].bad is not None
    assert found.because[0].bad.line == 9


def test_the_names_of_a_comprehension_are_recorded_in_the_order_of_the_text() -> None:
    source = "total = sum(one + two + six + ten for one, two, six, ten in [(1, 2, 6, 10)])\n"
    rows = [row for row in lines_of(record(source, python(3, 13)).processes[0]) if "WRITE" in row]
    names = [name for row in rows for name in ("one", "two", "six", "ten") if f" {name} = " in row]
    assert names == ["one", "two", "six", "ten"]


INSIDE = f"""\
import os

def made():
    key = 1
    seen.extend([5] * {LATE})
    return key

seen = []
total = made()
"""


def test_a_call_that_writes_more_is_named_and_not_the_line_that_calls_it() -> None:
    found = compared(*with_and_without(INSIDE, "late"))
    assert [(line.what, line.bad and line.bad.line) for line in found.because] == [("differs", 5)]
