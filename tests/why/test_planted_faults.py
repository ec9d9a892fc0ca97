"""Programs with one planted fault each: the first answer of `why` has the line of the cause.

The line ends with `# CAUSE`, which the program that runs has not. One whose first line is `# ask: EXPRESSION` ends
normally with a wrong value; of the others the question is what failed.
"""

import re
from pathlib import Path

import pytest

from tests.runs.recorded_programs import python, run_recorded
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))

VERSIONS = ((3, 12), (3, 13))

MOST_LINES, MOST_BYTES = 12, 2048


def asked(source: str, version: tuple[int, int]) -> WhyAnswer:
    program = run_recorded(re.sub(r"[ \t]*# CAUSE.*", "", source), python(*version))
    record = program.run.processes[0]
    wanted = re.match(r"# ask: (.*)", source)
    return why(record, WhyQuestion(expression=wanted[1] if wanted else "", limit=MOST_LINES))


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=[path.stem for path in PROGRAMS])
def test_the_first_answer_has_the_cause(number: int) -> None:
    source = PROGRAMS[number].read_text(encoding="utf-8")
    causes = {line for line, text in enumerate(source.splitlines(), 1) if "# CAUSE" in text}
    answer = asked(source, VERSIONS[number % 2])
    text = "\n".join(map(str, answer.because))
    assert causes & {line.line for line in answer.because}, text
    assert len(answer.because) <= MOST_LINES
    assert len(text.encode()) <= MOST_BYTES
