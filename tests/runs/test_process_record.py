from pathlib import Path

import pytest

from tests.runs.recorded_programs import python, record, run_recorded
from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.runs.files.owned_rows import owned_rows
from trio_debugmcp.runs.files.process_record import FIELD, LINE, RETURN, START, WRITE, open_run

pytestmark = pytest.mark.real

SHOP = """\
class Cart:
    def __init__(self, owner):
        self.owner = owner

def price(kind):
    found = {"tea": 3}[kind]
    return found

cart = Cart("ben")
total = price("tea")
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])
def test_a_record_has_what_each_line_wrote_and_who_called(version: tuple[int, int]) -> None:
    process = record(SHOP, python(*version)).processes[0]
    code = next(code for code in process.codes if code.name == "price")
    (number,) = process.frames_of(code.number)
    frame = process.frame(number)
    parameter = process.row(process.forth(WRITE, process.key_of("kind"), number, 0))
    assert (process.text(parameter), parameter.owner) == ("'tea'", frame.start)
    written = process.row(process.back(WRITE, process.key_of("found"), number, process.last + 1))
    line = process.row(written.owner)
    assert (process.text(written), process.site(line.key).line) == ("3", 6)
    caller = process.row(process.row(frame.start).owner)
    assert (caller.kind, process.site(caller.key).line) == (LINE, 10)
    kinds = [process.row(owned).kind for owned in owned_rows(process, caller.number)]
    assert kinds == [START, FIELD, RETURN]
    total = process.row(process.back(FIELD, process.key_of(".total"), code.globals, process.last + 1))
    assert (process.text(total), total.owner) == ("3", caller.number)
    owner = process.key_of(".owner")
    cart = process.row(process.back(FIELD, process.key_of(".cart"), code.globals, process.last + 1)).object
    assert process.text(process.row(process.back(FIELD, owner, cart, process.last + 1))) == "'ben'"
    assert process.facts.ended == "exit"
    assert process.facts.faults == 0
    assert process.source(code.number) == SHOP


def test_a_directory_without_a_run_is_said_to_have_none(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="there is no recorded run"):
        open_run(tmp_path)


def recorded_shop(folder: Path) -> Path:
    """A run of the shop, and the directory of its process."""
    return run_recorded(SHOP, python(3, 13), folder).run.processes[0].directory


def test_a_record_of_another_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    rows = recorded_shop(tmp_path) / "rows"
    data = rows.read_bytes()
    rows.write_bytes(bytes([data[0] + 1]) + data[1:])
    with pytest.raises(RunFileError, match=r"another version of trio-debugmcp .* record the run again"):
        open_run(tmp_path / "run")


def test_a_torn_line_of_facts_and_a_torn_block_are_left_out(tmp_path: Path) -> None:
    folder = recorded_shop(tmp_path)
    with (folder / "facts").open("a") as facts:
        facts.write('{"site": 99, "co')
    (folder / "rows-000007.z").write_bytes(b"\x28\0\0\0")
    (process,) = open_run(tmp_path / "run").processes
    assert process.facts.ended == "exit"
    assert process.row(1).kind == START
    with pytest.raises(RunFileError, match=f"row {process.last + 1} is not in the record"):
        process.row(process.last + 1)


def test_a_file_of_something_else_is_said_to_be_none_of_a_run(tmp_path: Path) -> None:
    (recorded_shop(tmp_path) / "rows").write_bytes(b"something else" * 100)
    with pytest.raises(RunFileError, match="is not of a recorded run"):
        open_run(tmp_path / "run")
