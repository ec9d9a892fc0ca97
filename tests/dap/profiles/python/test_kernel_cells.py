"""The names under which a kernel compiles cells, as ipykernel 7.4 has made them."""

from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.processes import Process
from trio_debugmcp.dap.profiles.python.kernel_cells import (
    is_kernel_file,
    keep_cell,
    kernel_directory,
    kernel_place,
    murmur2,
)

LOOP = ["for each in prices:", "    total += each", "total"]
CAPTURED = ["%%capture", "half = total / 2", "print(half)"]


def test_a_cell_has_a_name_made_of_its_text_and_below_capture_of_what_is_below() -> None:
    loop, captured = kernel_place(LOOP, 2, "/tmp/ipykernel_7"), kernel_place(CAPTURED, 2, "/tmp/ipykernel_7")
    assert (loop.file, loop.line) == ("/tmp/ipykernel_7/2073617615.py", 2)
    assert (captured.file, captured.line) == ("/tmp/ipykernel_7/1248679329.py", 1)
    assert captured.text == "half = total / 2\nprint(half)\n"
    assert is_kernel_file("/tmp/ipykernel_7/2073617615.py")
    assert not is_kernel_file("/tmp/shop/2073617615.py")


def test_a_text_is_kept_where_its_name_says_but_not_over_what_is_there_nor_behind_a_link(tmp_path: Path) -> None:
    place = kernel_place(LOOP, 2, str(tmp_path / "ipykernel_7"))
    keep_cell(place)
    assert Path(place.file).read_text() == place.text
    assert Path(place.file).parent.stat().st_mode & 0o077 == 0
    Path(place.file).write_text("mine")
    keep_cell(place)
    assert Path(place.file).read_text() == "mine"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ipykernel_8").symlink_to(tmp_path / "elsewhere")
    keep_cell(kernel_place(LOOP, 2, str(tmp_path / "ipykernel_8")))
    assert not [*(tmp_path / "elsewhere").iterdir()]


@pytest.mark.parametrize(("cell", "line", "why"), [(["%%time", "f()"], 2, "%%time"), (CAPTURED, 1, "is not Python")])
def test_what_a_kernel_compiles_under_another_name_is_refused(cell: list[str], line: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        kernel_place(cell, line, "/tmp/ipykernel_7")


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 3990065800), ("a", 2167009006), ("ab", 2805137849), ("abc", 3350977461), ("ü€x", 894053517)],
)
def test_the_hash_is_that_of_ipykernel(text: str, number: int) -> None:
    assert murmur2(text.encode()) == number


@pytest.mark.parametrize(
    ("command", "environment", "directory"),
    [
        ("python\0-m\0ipykernel_launcher\0-f\0/run/kernel-4f2a.json", "HOME=/", "/tmp/ipykernel_7"),
        ("python\0/x/ipykernel_launcher.py\0-f\0k.json", "TMPDIR=/scratch/", "/scratch/ipykernel_7"),
        ("python\0shop.py", "", None),
    ],
)
def test_a_kernel_is_known_by_its_command_and_its_directory_by_its_environment(
    tmp_path: Path, command: str, environment: str, directory: str | None
) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cmdline").write_text(command)
    (tmp_path / "7" / "environ").write_text(environment)
    assert kernel_directory(7, tmp_path) == directory
    assert kernel_directory(8, tmp_path) is None


def test_a_kernel_is_called_by_its_connection_file_and_other_programs_not_by_files_that_they_are_given() -> None:
    kernel = Process(7, 1, "python", ("python", "-m", "ipykernel_launcher", "-f", "/run/kernel-4f2a.json"))
    assert kernel.is_called("kernel-4f2a.json")
    assert kernel.is_called("/run/kernel-4f2a.json")
    assert not Process(8, 1, "python", ("python", "shop.py", "kernel-4f2a.json")).is_called("kernel-4f2a.json")
