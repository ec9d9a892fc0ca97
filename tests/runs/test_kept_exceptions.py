"""An exception that a pool, a thread or a gathered task has kept is named where its function left something undone."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import NoAnswerError, WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

PRICES = {"tea": "4", "cup": "9,5", "jar": "6"}
done, kept = [], []


class Report:
    def __init__(self):
        self.state = "new"

    def load(self, path):
        size = len(path) // (len(path) - 3)
        self.state = "loaded"


def fetch(name, out):
    price = float(PRICES[name])
    out[name] = price


def work(texts):
    for text in texts:
        done.append(int(text))


async def pull(rows, items):
    for row in rows:
        await asyncio.sleep(0)
        items.append(row["id"])


async def guarded(gate, rows, kept):
    async with gate:
        try:
            kept.append(rows[2])
        finally:
            gate.freed = True


async def main():
    await asyncio.gather(guarded(asyncio.Semaphore(2), [1, 2], kept), return_exceptions=True)
    items = []
    await asyncio.gather(pull([{"id": 1}, {"ID": 2}], items), return_exceptions=True)
    return items


threading.excepthook = lambda args: None
report, out = Report(), {}
with ThreadPoolExecutor(2) as pool:
    pool.submit(report.load, "a/b")
    for name in PRICES:
        pool.submit(fetch, name, out)
thread = threading.Thread(target=work, args=(["1", "x"],))
thread.start()
thread.join()
items = asyncio.run(main())
print(report.state, out, done, items)
"""


@pytest.fixture(scope="module")
def process() -> ProcessRecord:
    return record(PROGRAM, python(3, 13)).processes[0]


@pytest.mark.parametrize(
    ("expression", "line"),
    [
        ("report.state", "size = len(path) // (len(path) - 3) | raises ZeroDivisionError"),
        ("out", "price = float(PRICES[name]) | raises ValueError"),
        ("done", "done.append(int(text)) | raises ValueError"),
        ("kept", "kept.append(rows[2]) | raises IndexError"),
        ("items", 'items.append(row["id"]) | raises KeyError'),
    ],
)
def test_the_line_whose_exception_was_kept_is_in_the_answer(process: ProcessRecord, expression: str, line: str) -> None:
    text = "\n".join(map(str, why(process, WhyQuestion(expression=expression)).because))
    lines = [shown for shown in text.splitlines() if line in shown]
    assert any("and was kept; so" in shown for shown in lines), text


SIGNALS = """\
class Rows:
    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration


def load(rows):
    first = next(rows)
    return first + next(rows)


list(Rows())
"""


def test_the_end_of_an_iteration_is_a_failure_where_it_ends_the_program() -> None:
    ended = record(SIGNALS + "load(iter([1]))", python(3, 13)).processes[0]
    assert "return first + next(rows)" in [line.source for line in why(ended, WhyQuestion()).because]
    with pytest.raises(NoAnswerError, match="nothing failed"):
        why(record(SIGNALS, python(3, 13)).processes[0], WhyQuestion())


def test_of_a_secret_nothing_stays_where_a_text_is_cut() -> None:
    token = "".join(("gh", "p_", "Zq81hdKs92mmX7aaZq81hdKs92mmX7aa1234"))
    program = f"text = 'server failed: ' + {token!r} + ' was refused by the host' * 9\nraise ValueError(text)\n"
    answer = why(record(program, python(3, 13)).processes[0], WhyQuestion())
    shown = "\n".join(value for line in answer.because for value in line.values)
    assert "X7aa" not in shown, shown
