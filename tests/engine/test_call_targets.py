"""The calls of a statement that can be stepped into: which there are, and how they are called."""

import subprocess
from pathlib import Path

import pytest

from tests.engine.test_catching import INTERPRETERS, ROOT

pytestmark = pytest.mark.real

SHOWN = """\
import sys
sys.path.insert(0, {root!r})
from trio_debugmcp.engine.inside.call_targets import CallTargets
from trio_debugmcp.engine.inside.program_files import ProgramFiles
from trio_debugmcp.engine.inside.program_sources import ProgramSources

targets = CallTargets(ProgramSources(ProgramFiles()))

def here(*_):
    print("; ".join(target.call.label for target in targets.ahead_of(sys._getframe(1))))
    return answer

def answer(*_):
    return answer

answer.put = answer.pay = answer

class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *_):
        pass

def work():
    {statement}

{call}
"""


STATEMENTS = {
    "here(); answer(1); answer(2)": "answer(1); answer(2)",
    "answer(here(), answer(1))": "answer(1); answer(here(), answer(1))",
    'here().put(1).pay("é", answer( 2 ))': 'put(1); answer( 2 ); pay("é", answer( 2 ))',
    "answer.put(\n        here(),\n        answer(1),\n    )": "answer(1); answer.put(here(), answer(1),)",
    "here()(1)(2)": "(1); (2)",
    "here(), sorted([1, 2], key=lambda n: len(str(n)))": (
        "str(n); len(str(n)); sorted([1, 2], key=lambda n: len(str(n)))"
    ),
    "here(), list(answer(n) for n in range(2))": ("answer(n); range(2); list(answer(n) for n in range(2))"),
    "here(), [answer(n) for n in range(2)]": "range(2); answer(n)",
    "with here() and Manager(): answer(1)": "Manager(); answer(1)",
    "with here() and Manager():\n        answer(1)": "Manager()",
    "if here() and answer(1):\n        answer(2)\n    else:\n        answer(3)": "answer(1)",
    "@here()(1)\n    @answer\n    class Till(answer.__class__ and object):\n        answer(2)": "(1); answer",
    "assert here(), answer(1)": "answer(1)",
    "while not here(): answer(1)": "answer(1); here()",
}
"""One of the calls shows which are still to come."""


@pytest.mark.parametrize("python", INTERPRETERS.values(), ids=INTERPRETERS)
def test_calls_that_are_still_to_come_are_named_in_the_order_in_which_they_are_evaluated(
    tmp_path: Path, python: str
) -> None:
    for number, (statement, labels) in enumerate(STATEMENTS.items()):
        file = tmp_path / f"program_{number}.py"
        file.write_text(SHOWN.format(root=str(ROOT), statement=statement, call="work()"))
        done = subprocess.run([python, file], capture_output=True, text=True, check=True)
        assert (statement, done.stdout) == (statement, f"{labels}\n")


@pytest.mark.parametrize("python", INTERPRETERS.values(), ids=INTERPRETERS)
def test_where_there_is_no_source_calls_have_the_names_of_the_code(tmp_path: Path, python: str) -> None:
    file = tmp_path / "program.py"
    statement = "here(), answer.put(1).pay(2), answer(3)"
    call = f"exec({statement!r})"
    file.write_text(SHOWN.format(root=str(ROOT), statement="pass", call=call))
    done = subprocess.run([python, file], capture_output=True, text=True, check=True)
    assert done.stdout == "answer.put; pay; answer\n"
