"""Programs of Fortran under gdb: built, stopped in, and ended by errors of their runtime."""

import shutil
from pathlib import Path

import pytest
import trio

from tests.languages.conftest import SOURCES, installed, need
from tests.real.conftest import Connect
from tests.server.scene import failure

STOCK = SOURCES / "stock.f90"


def line_of(mark: str) -> int:
    """The number of the only line of stock.f90 that ends with this comment."""
    (number,) = [number for number, line in enumerate(STOCK.read_text().splitlines(), 1) if line.endswith(f"! {mark}")]
    return number


@pytest.fixture
def gfortran() -> str:
    """The compiler, for a program of gdb's."""
    installed("gdb")
    return need("gfortran", shutil.which("gfortran"), "apt-get install gfortran")


@pytest.mark.usefixtures("gfortran")
async def test_a_source_is_built_without_a_trace_beside_it_and_an_index_out_of_bounds_stops_with_paths_of_fortran(
    debugging: Connect, tmp_path: Path
) -> None:
    source = tmp_path / "stock.f90"
    source.write_bytes(STOCK.read_bytes())
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(source), args=["bounds"], stop_at_entry=False)
        assert (stop["reason"], stop["exception"], stop["mode"]) == ("Exception", "Fortran runtime error", "unhandled")
        assert stop["at"] == f"{source}:{line_of('bounds')} in stock"
        assert stop["locals"]["numbers"].startswith("[1, 2, 3] ")
        found = await client.call("variables_get", path="numbers")
        assert [each.strip("numbers") for each in found["variables"]] == ["(1)", "(2)", "(3)"]
        assert (await client.call("evaluate", expression="grid(1, 2)"))["value"] == "1.5"
        end = await client.call("debug_continue")
        assert end["exitCode"] == 2
        assert "Index '6' of dimension 1 of array 'numbers' above upper bound of 3" in end["stdout"]
        assert [each.name for each in tmp_path.iterdir()] == ["stock.f90"]  # no module's file
        source.write_text(STOCK.read_text().replace("sum(numbers)", "none(numbers)"))
        failed = await failure(client, "debug_launch", program=str(source))
        assert failed.message.startswith(f"'{source}' cannot be built: line 7: Function ")  # in quotes of its own


async def test_a_division_by_zero_that_traps_stops_as_its_signal(
    debugging: Connect, gfortran: str, tmp_path: Path
) -> None:
    program = str(tmp_path / "stock")
    command = [gfortran, "-g", "-O0", "-ffpe-trap=zero", "-J", str(tmp_path), "-o", program, str(STOCK)]
    await trio.run_process(command)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=program, args=["divide"], stop_at_entry=False)
        assert stop["exception"].startswith("SIGFPE: ")
        assert f"stock.f90:{line_of('divide')} in stock" in stop["at"]
