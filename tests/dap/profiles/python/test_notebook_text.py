"""Notebooks as Python: each line of a cell keeps the number that it has in the file."""

import asyncio
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from trio_debugmcp.dap.profiles.python import notebook_runner
from trio_debugmcp.dap.profiles.python.notebooks import cells_of, notebook_script, problem_of


def notebook(*cells: str, indent: int | None = 1, kind: str = "code") -> str:
    listed: list[dict[str, Any]] = [
        {"cell_type": kind, "metadata": {}, "outputs": [], "source": cell.splitlines(keepends=True)} for cell in cells
    ]
    return json.dumps({"cells": listed, "metadata": {"source": ["a\n"]}, "nbformat": 4}, indent=indent)


def number_of(text: str, line: str) -> int:
    return next(number for number, each in enumerate(text.splitlines(), 1) if json.dumps(line)[1:-1] in each)


def test_a_line_of_a_cell_has_the_number_of_its_line_in_the_file() -> None:
    text = notebook('x = "a"\ny = 2', "def f():\n    return x")
    script = notebook_script(text).splitlines()
    for line in ('x = "a"', "y = 2", "def f():", "    return x"):
        assert script[number_of(text, line) - 1] == line
    assert script[number_of(text, 'x = "a"') - 2] == "# cell 1"
    assert script[number_of(text, "def f():") - 2] == "# cell 2"
    assert [line for line in script if line] == [
        "# cell 1", 'x = "a"', "y = 2", "# cell 2", "def f():", "    return x",
    ]  # fmt: skip


def test_only_cells_of_code_are_run_and_numbered() -> None:
    cells = json.loads(notebook("x = 1"))
    cells["cells"].insert(0, {"cell_type": "markdown", "source": ["# Title\n", "x = 0"]})
    cells["cells"].append({"cell_type": "code", "source": []})
    text = json.dumps(cells, indent=2)
    assert [line for line in notebook_script(text).splitlines() if line] == ["# cell 1", "x = 1"]


def test_what_stands_in_outputs_does_not_count_as_a_line_of_a_cell() -> None:
    cells = json.loads(notebook("x = 1\nx = 2", "y = 1"))
    cells["cells"][0]["outputs"] = [{"data": {"source": ["x = 1\n", "x = 2"]}, "text": ["x = 1\n"]}]
    text = json.dumps(cells, indent=1)
    ((first, lines), _), are_of_file = notebook_runner.code_cells(text)
    assert are_of_file
    assert lines == ["x = 1", "x = 2"]
    assert text.splitlines()[first - 2].strip() == '"source": ['
    assert "x = 2" in text.splitlines()[first]
    assert first > text.splitlines().index('   "outputs": [')


@pytest.mark.parametrize("text", [notebook("a = 1\nb = 2", "c = 3", indent=None)], ids=["a line of a file for all"])
def test_a_notebook_whose_lines_have_no_lines_of_their_own_is_numbered_cell_after_cell(text: str) -> None:
    assert notebook_script(text).splitlines() == ["# cell 1", "a = 1", "b = 2", "# cell 2", "c = 3"]


def test_a_cell_that_is_one_text_is_numbered_cell_after_cell() -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": "a = 1\nb = 2\n"}]}, indent=1)
    assert notebook_script(text).splitlines() == ["# cell 1", "a = 1", "b = 2"]


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1"),
        ("if x:\n    !ls", "if x:\n    pass  # !ls"),
        ("files = !ls", "pass  # files = !ls"),
        ("x.upper?", "pass  # x.upper?"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
        ("%%bash\nls *", "# %%bash\n# ls *"),
        ("\n%%bash\nls *", "\n# %%bash\n# ls *"),
        ("%time z = 3\n%pwd", "z = 3\npass  # %pwd"),
        ("!echo one \\\n  two\nx = 1", "pass  # !echo one two\n\nx = 1"),
        ("x = 7 % 3\ny = a != b", "x = 7 % 3\ny = a != b"),
        ("s = '%d' % x", "s = '%d' % x"),
    ],
)
def test_what_is_for_ipython_only_stays_a_line_that_python_accepts(cell: str, python: str) -> None:
    assert notebook_runner.as_python(cell.split("\n")) == python.split("\n")


@pytest.mark.parametrize("before", ["", "%pwd"], ids=["Python", "with a magic"])
@pytest.mark.parametrize("cell", ['q = """\n%s\nWhy?\n!x"""', "r = (n\n     % k)", "r = n \\\n  % 5"])
def test_what_looks_like_a_magic_within_a_text_or_an_expression_stays(before: str, cell: str) -> None:
    changed = notebook_runner.as_python([before, *cell.split("\n")])
    assert changed == [f"pass  # {before}" if before else "", *cell.split("\n")]


def test_a_file_that_cannot_be_run_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "job.ipynb"
    for text, said in (
        ("", "is not a notebook of format 4 (Expecting value"),
        ('{"worksheets": []}', "`jupyter nbconvert --to notebook` makes one"),
        ('{"cells": [], "metadata": {"kernelspec": {"language": "R"}}}', "is a notebook of R"),
    ):
        file.write_text(text)
        assert said in str(problem_of(file))
    file.write_text("\ufeff" + notebook("x = 1"))
    assert problem_of(file) is None
    assert problem_of(tmp_path / "none.ipynb") == "cannot be read: No such file or directory"
    assert problem_of(tmp_path / "none.py") is None


@pytest.mark.parametrize("source", ["null", "[1, 2]", "{}", "7"])
def test_a_cell_without_a_text_is_refused_by_its_number(source: str, tmp_path: Path) -> None:
    file = tmp_path / "job.ipynb"
    file.write_text(f'{{"cells": [{{"cell_type": "markdown"}}, {{"cell_type": "code", "source": {source}}}]}}')
    problem = problem_of(file)
    assert problem is not None
    assert "the `source` of its cell 2 is neither a text nor a list of texts" in problem
    assert cells_of(file) == []
    file.write_text("[" * 200_000)
    assert "nested too deeply" in str(problem_of(file))


@pytest.mark.parametrize(
    "kernel", ["null", '{"kernelspec": null}', '{"kernelspec": {"language": null}}', '{"kernelspec": 7}']
)
def test_a_notebook_that_does_not_say_its_language_is_one_of_python(kernel: str, tmp_path: Path) -> None:
    file = tmp_path / "job.ipynb"
    file.write_text(f'{{"cells": [], "metadata": {kernel}}}')
    assert problem_of(file) is None


def test_a_text_of_another_kind_is_left_as_it_is(tmp_path: Path) -> None:
    for text in ("x = 1\n", "[1]", '{"worksheets": []}'):
        assert notebook_script(text) == text
    assert cells_of(tmp_path / "none.ipynb") == []


def test_the_cells_of_a_file_are_listed_by_their_lines(tmp_path: Path) -> None:
    text = notebook("x = 1", "a = 1\nb = 2")
    (tmp_path / "job.ipynb").write_text(text)
    assert cells_of(tmp_path / "job.ipynb") == [(number_of(text, "x = 1"), 1), (number_of(text, "a = 1"), 2)]


@pytest.mark.parametrize("rows", ["rows = []  # which is awaited", "import asyncio\nrows = []"])
def test_an_error_of_a_cell_is_that_of_its_code_and_its_traceback_shows_lines_of_the_cell(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "job.ipynb"
    file.write_text(notebook(rows, "next(iter(rows))"))
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    monkeypatch.setattr(sys, "argv", ["runner", str(file)])
    monkeypatch.setattr(sys, "path", [""])
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    with pytest.raises((StopIteration, RuntimeError)) as raised:
        notebook_runner.start()
    if "asyncio" in rows:
        asyncio.get_event_loop().close()
        asyncio.set_event_loop(None)
    sys.excepthook(raised.type, raised.value, raised.tb)
    lines = capsys.readouterr().err.splitlines()
    assert (lines[1].partition(", ")[0], lines[2]) == (f'  File "{file}"', "    next(iter(rows))")
    assert lines[-1] == "StopIteration"
