import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.engine import carrier
from trio_debugmcp.probe import bootstrap, packing
from trio_debugmcp.probe.bootstrap import SOURCES_NEEDED, call_expression, install_expression


@pytest.fixture
def host() -> Iterator[types.ModuleType]:
    """A module of the name of pydevd's, which here is not loaded."""
    assert bootstrap.HOST not in sys.modules
    module = sys.modules[bootstrap.HOST] = types.ModuleType(bootstrap.HOST)
    yield module
    del sys.modules[bootstrap.HOST]


@pytest.fixture(autouse=True)
def blobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of compiled code, of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    packing.blob_directory.cache_clear()
    yield tmp_path / "trio_debugmcp" / "probe"
    packing.blob_directory.cache_clear()


def evaluate(expression: str) -> Any:
    """As pydevd does it without a frame: the line break for its mark, and the names of the module that evaluates."""
    names = vars(sys.modules.get(bootstrap.HOST, types.ModuleType("other")))
    return eval(compile(expression.replace("@LINE@", "\n"), "<string>", "eval"), names)


def installed(host: types.ModuleType) -> Any:
    """Install the probe with its sources, and return it."""
    assert evaluate(install_expression(with_sources=True)) == "installed"
    return getattr(host, bootstrap.attribute())


def test_it_installs_once_and_answers(host: types.ModuleType) -> None:
    assert evaluate(call_expression("threads")) == ""
    before = set(sys.modules)
    probe = installed(host)
    assert installed(host) is probe
    assert evaluate(install_expression()) == "installed"
    assert getattr(host, bootstrap.attribute()) is probe
    assert json.loads(evaluate(call_expression("threads")))["answer"]["total"] >= 1
    assert set(sys.modules) == before


def test_the_installed_modules_are_not_those_of_the_package(host: types.ModuleType) -> None:
    probe = installed(host)
    assert probe is not sys.modules.get(f"{packing.PACKAGE}.questions")
    assert probe.call.__code__.co_filename == "<trio_debugmcp probe>/questions.py"


def test_it_imports_nothing_that_is_not_imported_yet(host: types.ModuleType) -> None:
    find = vars(installed(host))["__builtins__"]["__import__"]
    assert "wave" not in sys.modules
    with pytest.raises(ImportError, match="has not imported wave"):
        find("wave")


# --- Compiled code that is kept ---------------------------------------------------------------------------------------


def blob(blobs: Path, host: types.ModuleType) -> Path:
    """Install the probe, and return the only file in which that left compiled code."""
    installed(host)
    delattr(host, bootstrap.attribute())
    (file,) = blobs.iterdir()
    return file


def test_the_sources_are_needed_for_the_first_program_only(host: types.ModuleType, blobs: Path) -> None:
    assert evaluate(install_expression()) == SOURCES_NEEDED
    assert not hasattr(host, bootstrap.attribute())
    blob(blobs, host)
    assert evaluate(install_expression()) == "installed"
    assert json.loads(evaluate(call_expression("threads")))["answer"]["total"] >= 1


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def replace(file: Path) -> None:
    file.unlink()
    file.mkdir()


HARM: dict[str, Callable[[Path], object]] = {
    "is cut": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "is empty": lambda file: file.write_bytes(b""),
    "has another byte": flip,
    "is of another version of Python": lambda file: file.write_bytes(b"\0" + file.read_bytes()[1:]),
    "can be written by others": lambda file: file.chmod(0o666),
    "is a directory": replace,
}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_compiled_code_is_not_run_if_it(harm: Callable[[Path], object], host: types.ModuleType, blobs: Path) -> None:
    harm(blob(blobs, host))
    assert evaluate(install_expression()) == SOURCES_NEEDED
    assert installed(host)
    assert json.loads(evaluate(call_expression("threads")))["answer"]["total"] >= 1


def test_where_others_can_write_nothing_is_kept(host: types.ModuleType, blobs: Path) -> None:
    assert packing.blob_directory() == str(blobs)
    blobs.chmod(0o777)
    assert installed(host)
    assert list(blobs.iterdir()) == []
    packing.blob_directory.cache_clear()
    assert packing.blob_directory() is None


def test_without_a_directory_the_sources_are_run(
    host: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    packing.blob_directory.cache_clear()
    assert packing.blob_directory() is None
    assert evaluate(install_expression()) == SOURCES_NEEDED
    assert installed(host)


def test_the_oldest_files_give_way(blobs: Path) -> None:
    blobs.mkdir(mode=0o700, parents=True)
    for number in range(packing.MAX_KEPT + 3):
        file = blobs / f"{number}{packing.KEPT[number % 2]}"
        file.touch()
        os.utime(file, (number, number))
    packing.blob_directory()
    assert {int(file.stem) for file in blobs.iterdir()} == set(range(3, packing.MAX_KEPT + 3))


def test_what_a_program_left_that_was_killed_while_it_wrote_is_deleted(blobs: Path) -> None:
    blobs.mkdir(mode=0o700, parents=True)
    (blobs / "old.blob.7").touch()
    os.utime(blobs / "old.blob.7", (0, 0))
    (blobs / "new.blob.8").touch()
    packing.blob_directory()
    assert [file.name for file in blobs.iterdir()] == ["new.blob.8"]


def test_a_file_that_another_server_deletes_meanwhile_does_no_harm(blobs: Path) -> None:
    blobs.mkdir(mode=0o700, parents=True)
    (blobs / "gone.blob").symlink_to(blobs / "nowhere")
    assert packing.blob_directory() == str(blobs)


# --- Expressions ------------------------------------------------------------------------------------------------------


def test_parameters_of_any_text_arrive(host: types.ModuleType) -> None:
    installed(host)
    text = 'it\'s "quoted" \\ {braces} @LINE@ \n é \U0001f600'
    reply = json.loads(evaluate(call_expression("describe", expression=repr(text), limit=500, thread=None)))
    assert reply["answer"]["value"] == repr(text)


def test_expressions_are_one_line_of_ascii() -> None:
    for expression in (install_expression(with_sources=True), call_expression("variables", path="a\nb", start=3)):
        assert expression.isascii()
        assert "\n" not in expression
        assert "@LINE@" not in expression
    assert len(install_expression()) < 20_000
    assert len(install_expression(with_sources=True)) < 640_000


@pytest.fixture
def revise(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Make another version of the probe."""

    def forget() -> None:
        packing.digest.cache_clear()
        bootstrap.attribute.cache_clear()

    def change() -> None:
        forget()
        monkeypatch.setattr(packing, "LOADER", Path(__file__))

    yield change
    forget()


def test_a_server_that_starts_knows_its_version_without_stripping_the_sources(
    revise: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str) -> str:
        raise AssertionError(source[:60])

    revise()
    monkeypatch.setattr(packing, "stripped", refuse)
    carrier.digest.cache_clear()
    assert carrier.digest() != packing.digest()
    carrier.digest.cache_clear()


def test_the_name_depends_on_the_source(revise: Callable[[], None]) -> None:
    name = bootstrap.attribute()
    revise()
    assert bootstrap.attribute() != name


def test_questions_are_recognised_whatever_version_of_the_probe_they_are_put_to(revise: Callable[[], None]) -> None:
    def questions() -> list[object]:
        asked = [
            install_expression(),
            call_expression("stop", thread=1, frames=20, code=False),
            call_expression("stop", thread=1, frames=0),
            call_expression("variables", thread=1, path="a['it's']", start=100),
            bootstrap.evaluate_expression(7, 200, "1 + 1"),
        ]
        return [bootstrap.asked_in(each) for each in asked]

    before = questions()
    assert len(set(before)) == 5
    assert before[0] == ("install", None)
    revise()
    assert questions() == before
    assert bootstrap.asked_in(call_expression("variables", thread=1, path="a", start=1)) != bootstrap.asked_in(
        call_expression("variables", thread=1, path="a", start=2)
    )
    by_engine = {"question": "stop", "parameters": {"thread": 1, "frames": 20, "code": False}}
    assert bootstrap.asked_by(by_engine) == before[1], "the same question, however it is put"
    for other in ("1 + 1", "probe.call('stop', '{}')", "(lambda probe: probe.call('stop', '{') if probe else '')(5)"):
        assert bootstrap.asked_in(other) is None
