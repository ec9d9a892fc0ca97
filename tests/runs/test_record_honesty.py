"""The recorder against the truth: of each value that a statement reads it names the true writer, or none."""

import ast
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.runs.random_programs import programs
from tests.runs.recorded_programs import fresh_folder, python, run_recorded
from trio_debugmcp.runs.files.process_record import (
    FIELD,
    GAP,
    LINE,
    SEEN,
    SEEN_NAME,
    SIZE,
    START,
    WRITE,
    ProcessRecord,
    Row,
)

TRUTH = Path(__file__).parent / "true_writers.py"

AT_A_TIME = 10
"""Programs that run in one process."""

ANY_ITEM = "[]"
"""Stands for the item that a variable key names."""

UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""To make a failing example smaller takes longer than all of them."""

MAIN = """\
import sys
for file in sys.argv[1:] or FILES:
    exec(compile(open(file).read(), file, "exec"), {"__name__": "program", "__file__": file})
    print("--", flush=True)
"""


class Programs(list[str]):
    """Texts of programs, which hypothesis does not write out whole: what is wrong says which one."""

    def __repr__(self) -> str:
        return f"<{len(self)} programs>"


class Checked:
    """The rows of one program's file, as answers about writers."""

    def __init__(self, process: ProcessRecord, file: str, rounds: list[tuple[int, int]]) -> None:
        self.process = process
        self._lines: dict[int, list[int]] = {}
        codes = {code.number for code in process.codes if code.file == file}
        for number in range(process.first, process.last + 1):
            row = process.row(number)
            if row.kind == LINE:
                site = process.site(row.key)
                if site.code in codes:
                    self._lines.setdefault(site.line, []).append(number)
        self._rounds = dict(rounds)
        self._stored = stores_of(Path(file).read_text(encoding="utf-8"))
        self._statements = {
            number: (line, index + 1) for line, numbers in self._lines.items() for index, number in enumerate(numbers)
        }

    def verdicts(self, said: list[Any]) -> Iterator[tuple[str, str]]:
        """Yield (right, gap, nothing or wrong; what was asked) for each value that is read."""
        for line, turn, path, writer, changer in said:
            if not self._is_alike(line):
                continue
            row = self.process.row(self._lines[line][turn - 1])
            yield from self._judged(row, path, writer, changer)

    def _is_alike(self, line: int) -> bool:
        """Whether a line began as often here as there: loops on one line are one statement here."""
        return len(self._lines.get(line, ())) == self._rounds[line]

    def _judged(self, line: Row, path: str, writer: Any, changer: Any) -> Iterator[tuple[str, str]]:
        limit = self._checked(line)
        name, *steps = _steps(path)
        last = self._of_name(line, name, limit)
        for step in steps:
            if last is None or not last.object:
                return
            last = self._last((FIELD, SEEN, GAP), self.process.key_of(step), last.object, limit)
        asked = f"{path} at {self._statements[line.number]}"
        yield self._verdict(last, writer), f"{asked}: {last}, truly {writer}"
        if changer is not None and last is not None and last.object:
            kinds = frozenset((FIELD, SEEN, GAP, SIZE))
            number = self.process.back_of(kinds, last.object, limit + 1)
            content = self.process.row(number) if number else None
            yield self._verdict(content, changer), f"what is in {asked}: {content}, truly {changer}"

    def _checked(self, line: Row) -> int:
        """Return the last of the rows that were written when a line began."""
        number = line.number
        while number < self.process.last:
            row = self.process.row(number + 1)
            if row.kind not in (SEEN, GAP, SEEN_NAME, SIZE, FIELD) or (row.kind == FIELD and row.owner == line.number):
                break
            if row.kind == SIZE and row.key == 1 and row.owner == line.number:
                break
            number += 1
        return number

    def _of_name(self, line: Row, name: str, limit: int) -> Row | None:
        code = self.process.code(self.process.site(line.key).code)
        found = self._last((WRITE, SEEN_NAME), self.process.key_of(name), line.subject, limit)
        return found or self._last((FIELD, SEEN, GAP), self.process.key_of(f".{name}"), code.globals, limit)

    def _last(self, kinds: tuple[int, ...], key: int, subject: int, limit: int) -> Row | None:
        number = max(self.process.back(kind, key, subject, limit + 1) for kind in kinds) if key else 0
        return self.process.row(number) if number else None

    def _verdict(self, row: Row | None, writer: Any) -> str:
        if row is None:
            return "nothing"
        claims = row.kind in (WRITE, FIELD) or (row.kind == SIZE and row.key == 1)
        if not claims:
            return "gap"
        owner = self.process.row(row.owner)
        if owner.kind == START:
            owner = self.process.row(owner.owner)
        while owner.number not in self._statements and self._is_generated(owner):  # a line of it is its caller's work
            owner = self.process.row(self.process.row(self.process.frame(owner.subject).start).owner)
        named = self._statements.get(owner.number)
        if writer is None or named is None:
            return "wrong"
        is_true = named == tuple(writer) if self._is_alike(writer[0]) else named[0] == writer[0]
        return "right" if is_true or self._has_stored_the_same(row, owner, named[0], writer) else "wrong"

    def _is_generated(self, line: Row) -> bool:
        return line.kind == LINE and self.process.code(self.process.site(line.key).code).file.startswith("<")

    def _has_stored_the_same(self, row: Row, owner: Row, line: int, writer: Any) -> bool:
        """Whether a later statement has stored what was there already, which the comparing of states cannot see."""
        label, rows = self.process.label(row.key), self._lines[writer[0]]
        begun = rows[writer[1] - 1] if self._is_alike(writer[0]) else rows[0]
        stored = self._stored.get(line, ())
        return owner.number > begun and (label in stored or (label[:1] == "[" and ANY_ITEM in stored))


def stores_of(text: str) -> dict[int, set[str]]:
    """Return by line the names, attributes and constant keys that are stored there, as labels of a record."""
    found: dict[int, set[str]] = {}
    for node in ast.walk(ast.parse(text)):
        labels = found.setdefault(getattr(node, "lineno", 0), set())
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.MatchAs(name=str(name)):
                labels |= {name, f".{name}"}
            case ast.Attribute(attr=name, ctx=ast.Store()):
                labels.add(f".{name}")
            case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Store()):
                labels |= {f"[{key!r}]", f".{key!s}"}
            case ast.Subscript(slice=ast.Name(), ctx=ast.Store()):
                labels.add(ANY_ITEM)
            case ast.keyword(arg=str(name)):
                labels |= {f"['{name}']", f".{name}"}
            case ast.Call(args=[_, ast.Constant(value=str() as attribute), _]):
                labels.add(f".{attribute}")
            case ast.Call(func=ast.Name(id="exec" | "compile"), args=[ast.Constant(value=str() as executed), *_]):
                labels |= set().union(*stores_of(executed).values())
    return found


def _steps(path: str) -> list[str]:
    """Return the name and the steps of a path."""
    return path.replace(".", "\0.").replace("[", "\0[").split("\0")


def judge(texts: list[str], interpreter: str) -> tuple[Counter[str], list[str]]:
    """Run programs with and without the recorder; return the number of verdicts of each kind, and what is wrong."""
    folder = fresh_folder()
    project = folder / "project"
    project.mkdir()
    files = [project / f"p{number}.py" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    names = [str(file) for file in files]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    # Tracing changes the names of programs before 3.13, so what is true there is what is true in 3.13.
    truth = subprocess.run(
        [python(3, 13), str(TRUTH), *names], capture_output=True, text=True, check=True, env=environment
    )
    truths = [json.loads(line) for line in truth.stdout.splitlines()]
    recorded = run_recorded(MAIN.replace("FILES", repr(names)), interpreter, folder)
    (process,) = recorded.run.processes
    assert process.facts.faults == 0, process.facts.first_fault
    plain = [interpreter, str(project / "program.py")]
    alone = subprocess.run(plain, capture_output=True, text=True, check=False, env=environment)
    assert (recorded.output, recorded.errors) == (alone.stdout, alone.stderr)
    counted: Counter[str] = Counter()
    wrong = []
    for name, (_, said, rounds) in zip(names, truths, strict=True):
        for verdict, asked in Checked(process, name, rounds).verdicts(said):
            counted[verdict] += 1
            if verdict == "wrong":
                wrong.append(f"{name}: {asked}\n{Path(name).read_text(encoding='utf-8')}")
    return counted, wrong


@pytest.mark.real
@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(programs(), min_size=AT_A_TIME, max_size=AT_A_TIME).map(Programs))
def test_no_value_is_said_to_be_written_by_a_statement_that_did_not(version: tuple[int, int], texts: list[str]) -> None:
    counted, wrong = judge(texts, python(*version))
    assert not wrong, "\n".join(wrong[:2])
    assert counted["right"] > counted["gap"]


BOX = """\
G = 0
class Box:
    def __init__(self, x):
        self.x = x
def same(value):
    return value
o = Box(1)
boxes = {'o': o}
"""

WRITTEN_TWICE = [
    "globals()['G'] = 1\nglobals()['G'] = 0\nprint(G)\n",
    "vars().update(G=1)\nvars().update(G=0)\nprint(G)\n",
    "names = globals()\nnames['G'] = 1\nnames['G'] = 0\nprint(G)\n",
    "push = globals().update\npush(G=1)\npush(G=0)\nprint(G)\n",
    "same.__globals__['G'] = 1\nsame.__globals__['G'] = 0\nprint(G)\n",
    "exec('x = 5', {}, vars(o))\nexec('x = 1', {}, vars(o))\nprint(o.x)\n",
    "def change(d):\n    d['x'] = 5\n    d['x'] = 1\nchange(o.__dict__)\nprint(o.x)\n",
    "setattr(same(o), 'x', 5)\nsetattr(same(o), 'x', 1)\nprint(o.x)\n",
    "same(o).x = 5\nsame(o).x = 1\nprint(o.x)\n",
    "boxes.get('o').x = 5\nboxes.get('o').x = 1\nprint(o.x)\n",
    "[o][0 - 1].x = 5\n[o][0 - 1].x = 1\nprint(o.x)\n",
    "[setattr(v, 'x', 5) for v in [o]]\n[setattr(v, 'x', 1) for v in [o]]\nprint(o.x)\n",
    "put = o.__setattr__\nput('x', 5)\nput('x', 1)\nprint(o.x)\n",
    "class Made:\n    y = 1\n    locals()['y'] = 2\n    locals()['y'] = 1\n    print(y)\n",
    "y = 1\nclass Made:\n    y = 2\n    print(y)\n    y = 3\nprint(y)\n",
    "import sys\nown = type(sys)('own')\nown.x = 1\nvars(own)['x'] = 2\nvars(own)['x'] = 1\nprint(own.x)\n",
    "n, a = 1, [2, 1]\nb = [(n := v) for v in a]\nprint(n)\n",
    "def f():\n n = 1\n a = [2, 1]\n b = {(n := v) for v in a}\n print(n)\nf()\n",
    "def f():\n q = 0\n c = (lambda: q).__closure__[0]\n c.cell_contents = 1\n c.cell_contents = 0\n print(q)\nf()\n",
]


@pytest.mark.real
@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])
def test_a_value_that_is_back_after_it_was_written_behind_its_name_is_not_the_work_of_its_first_writer(
    version: tuple[int, int],
) -> None:
    _, wrong = judge([BOX + text for text in WRITTEN_TWICE], python(*version))
    assert not wrong, "\n".join(wrong[:2])


@pytest.mark.nightly("two hundred random programs")
@pytest.mark.real
@settings(max_examples=20, deadline=None, phases=UNSHRUNK, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(programs(), min_size=AT_A_TIME, max_size=AT_A_TIME).map(Programs))
def test_of_two_hundred_programs_none_has_a_value_with_a_wrong_writer(texts: list[str]) -> None:
    counted, wrong = judge(texts, python(3, 13))
    assert not wrong, "\n".join(wrong[:2])
    assert counted["right"] > counted["gap"]
