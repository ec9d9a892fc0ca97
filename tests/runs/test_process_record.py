from pathlib import Path

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.process_record import FIELD, LINE, RETURN, START, WRITE, open_run
from trio_debugmcp.runs.run_files import RunFileError

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
    kinds = [process.row(owned).kind for owned in process.owned(caller.number)]
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
