"""Lines of compiled Lua are those for which the interpreter itself calls hooks."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.dap.lua.conftest import INTERPRETERS
from trio_debugmcp.dap.lua import compiled_code
from trio_debugmcp.dap.lua.compiled_code import CodeOfFunction, read_code
from trio_debugmcp.dap.lua.lua_sources import CodeOfFile, LuaSources, definitions, searched
from trio_debugmcp.patience import USUAL

DUMP = Path(compiled_code.__file__).parent / "inside" / "dump.lua"

CODE = (
    """\
-- begins late

local function add(a,
  b)
  local x

  if a then
    x = {
      1, 2.5, true, nil,
      f = function() return "a text that is longer than any that is kept as a short one is" end,
    }
  else
    x = 20000000000
  end
  return a + b
end

function stock.total(self, ...)
  return ...
end
"""
    + "\n" * 400
    + "local last = 1\nfunctions = { add, stock.total }\n"
)

LINES = """
stock = {}
local main = assert(loadfile(arg[1]))
main()
for _, each in ipairs({ main, functions[1], functions[2] }) do
  local lines = {}
  for line in pairs(debug.getinfo(each, "L").activelines) do
    lines[#lines + 1] = line
  end
  print(debug.getinfo(each, "S").linedefined, (table.concat(lines, " ")))
end
"""


@pytest.mark.real
@pytest.mark.parametrize("name", INTERPRETERS)
def test_the_lines_of_each_function_are_those_of_the_interpreter(name: str, tmp_path: Path) -> None:
    interpreter = shutil.which(name)
    if interpreter is None:
        pytest.skip(f"{name} is not installed")
    program, script = tmp_path / "code.lua", tmp_path / "lines.lua"
    program.write_text(CODE)
    script.write_text(LINES)
    said = subprocess.run([interpreter, script, program], capture_output=True, text=True, check=True, timeout=60)
    expected = {
        int(first): frozenset(map(int, lines.split()))
        for first, _, lines in (line.partition("\t") for line in said.stdout.splitlines())
    }
    dumped = subprocess.run([interpreter, DUMP, program], capture_output=True, check=True, timeout=60).stdout
    found = {code.first: code.lines for code in read_code(dumped)}
    assert {first: found[first] for first in expected} == expected
    assert found.keys() - expected.keys() == {10}
    for length in (5, 11, 40, len(dumped) // 2, len(dumped) - 3):
        with pytest.raises(ValueError, match="the code"):
            read_code(dumped[:length])


def test_code_of_another_version_is_refused() -> None:
    for data in (b"", b"\x1bLua", b"\x1bLua\x99", b"print(1)", b"\x1bLJ\x02\x02"):
        with pytest.raises(ValueError, match="the code"):
            read_code(data)


def test_a_breakpoint_belongs_to_the_next_line_with_code() -> None:
    code = CodeOfFile((CodeOfFunction(0, 9, frozenset({1, 9})), CodeOfFunction(2, 5, frozenset({3, 5}))))
    assert [code.line_at(line) for line in (1, 2, 5, 6, 10)] == [1, 3, 5, 9, None]


def test_functions_are_found_by_the_names_that_they_are_given() -> None:
    text = "local function add(a)\nend\nfunction Stock:total() end\nStock.take = function() end\nx.y = 3\n"
    assert definitions(text) == {
        "add": {1},
        "Stock.total": {3},
        "total": {3},
        "Stock.take": {4},
        "take": {4},
    }


def test_a_line_of_data_is_passed_over() -> None:
    """Which took minutes, and all of the server stood still meanwhile."""
    assert definitions(f"x = '{'a0' * 200_000}'\nfunction total() end\n") == {"total": {2}}


@pytest.mark.real
async def test_functions_are_looked_for_below_a_programs_directory_and_in_the_home_directory_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpreter = next(filter(None, map(shutil.which, INTERPRETERS)), None)
    if interpreter is None:
        pytest.skip("no Lua is installed")
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "project"
    files = [tmp_path / "total.lua", project / "total.lua", project / "inner" / "total.lua"]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("function total()\n  return 1\nend\n")
    sources = LuaSources([interpreter], USUAL)
    home, below = [(str(files[0]), 2)], [(str(file), 2) for file in files[1:]]
    assert await sources.find("total", [str(tmp_path)]) == home
    assert await sources.find("total", [str(project), str(tmp_path)]) == below + home
    assert searched([str(project), str(tmp_path)]) == f"below {project} or in {tmp_path}"
