"""Generated code in a record: each code object has its own text, and the line that had it compiled is known."""

import pytest

from tests.runs.recorded_programs import python, record, run_recorded
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.recorded_code import RecordedCode
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

BOTH = pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])

OPERATORS = """\
SIGNS = {"sum": "+", "difference": "+"}


def made(name):
    sign = SIGNS[name]
    lines = ["def apply(a, b):", f"    result = a {sign} b", "    return result"]
    names = {}
    exec("\\n".join(lines), names)
    return names["apply"]


plus = made("sum")
minus = made("difference")
first = plus(1, 2)
rest = minus(5, 3)
print(rest)
"""

GENERATORS = """\
import dataclasses


@dataclasses.dataclass
class Item:
    name: str
    price: int = 0


code = compile("double = 2 * price\\nhalf = price // 2\\n", "<prices>", "exec")
price = 7
exec(code)
more = eval("half + 1")
tea = Item("tea", 3)
"""


def generated(process: ProcessRecord, name: str) -> list[RecordedCode]:
    return [code for code in process.codes if code.file.startswith("<") and code.name.endswith(name)]


def line_of(process: ProcessRecord, code: RecordedCode) -> int:
    """Return the line of the program that had a code compiled."""
    return process.site(process.row(code.compiled).key).line


@BOTH
def test_two_texts_of_one_name_are_two_sources(version: tuple[int, int]) -> None:
    (process,) = record(OPERATORS, python(*version)).processes
    sources = [process.source(code.number) for code in generated(process, "apply")]
    assert sources == ["def apply(a, b):\n    result = a + b\n    return result"] * 2
    rows = [code.compiled for code in generated(process, "apply")]
    assert len(set(rows)) == 2  # the same text, executed twice
    (process,) = record(OPERATORS.replace('"difference": "+"', '"difference": "-"'), python(*version)).processes
    plus, minus = [process.source(code.number) or "" for code in generated(process, "apply")]
    assert "a + b" in plus
    assert "a - b" in minus
    assert process.facts.faults == 0


@BOTH
def test_generated_code_without_a_caller_is_recorded(version: tuple[int, int]) -> None:
    program = OPERATORS + "import _thread, time\nat = [0]\nexec('def late(): at[0] = 3', globals())\n"
    program += "_thread.start_new_thread(late, ())\nwhile not at[0]:\n    time.sleep(0.001)\n"
    (process,) = record(program, python(*version)).processes
    (late,) = generated(process, "late")
    assert process.source(late.number) == "def late(): at[0] = 3"
    assert process.facts.faults == 0


@BOTH
def test_of_two_lines_that_compiled_one_text_none_is_said(version: tuple[int, int]) -> None:
    program = "text = 'x = 1'\none = compile(text, '<one>', 'exec')\ntwo = compile(text, '<one>', 'exec')\nexec(one)\n"
    (process,) = record(program, python(*version)).processes
    (code,) = generated(process, "<module>")
    assert process.source(code.number) == "x = 1"
    assert code.compiled == 0


@BOTH
def test_texts_that_libraries_and_compile_execute_are_known(version: tuple[int, int]) -> None:
    ran = run_recorded(GENERATORS, python(*version))
    (process,) = ran.run.processes
    (init,) = generated(process, "__init__")
    assert "self.name=name" in (process.source(init.number) or "").replace(" ", "")
    assert init.is_of_library
    assert generated(process, "__create_fn__") == []  # it only makes the methods
    modules = generated(process, "<module>")
    assert [line_of(process, code) for code in modules if code.file == "<prices>"] == [10]
    assert [process.source(code.number) for code in modules][-1] == "half + 1"
    assert (ran.code, process.facts.faults) == (0, 0)


@BOTH
def test_why_goes_from_generated_code_to_what_wrote_its_text(version: tuple[int, int]) -> None:
    (process,) = record(OPERATORS, python(*version)).processes
    answer = why(process, WhyQuestion("rest"))
    assert {5, 6, 8} <= {line.line for line in answer.because}, "\n".join(map(str, answer.because))
