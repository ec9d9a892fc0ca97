import marshal
import os
import stat
from pathlib import Path

import pytest

from trio_debugmcp.engine import carrier
from trio_debugmcp.engine.carrier import made_carrier
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.probe import packing


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache, of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    packing.blob_directory.cache_clear()
    return tmp_path / "trio_debugmcp" / "probe"


def test_the_token_is_in_a_file_that_only_this_user_may_read_and_gone_at_the_end() -> None:
    with made_carrier("127.0.0.1", 40123, "secret") as made:
        folder = Path(made.directory)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        text = (folder / "sitecustomize.py").read_text()
        assert "'port': 40123" in text
        assert "'token': 'secret'" in text
    assert not folder.exists()


def test_it_is_first_on_the_path_of_the_program() -> None:
    with made_carrier("127.0.0.1", 1, "t") as made:
        assert made.python_path(None) == made.directory
        assert made.python_path("/a:/b") == f"{made.directory}{os.pathsep}/a:/b"


def test_the_sources_are_kept_once_for_all(cache: Path) -> None:
    for _ in range(2):
        with made_carrier("127.0.0.1", 1, "t"):
            assert [file.name for file in cache.iterdir()] == [f"{carrier.digest()}.sources"]


def test_without_a_cache_the_directory_has_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    packing.blob_directory.cache_clear()
    with made_carrier("127.0.0.1", 1, "t") as made:
        assert marshal.loads((Path(made.directory) / "sources").read_bytes()) == carrier.sources()


def test_without_room_for_the_sources_it_says_so_instead_of_running_programs_without_a_debugger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    packing.blob_directory.cache_clear()
    with pytest.raises(AdapterGone, match=r"cannot be written to .*gone: No such file or directory; make room there"):
        carrier.kept_code(tmp_path / "gone")


def test_a_server_keeps_its_sources_when_another_tidies_the_cache(cache: Path) -> None:
    with made_carrier("127.0.0.1", 1, "t") as made:
        for file in cache.iterdir():
            file.unlink()
        assert marshal.loads((Path(made.directory) / "sources").read_bytes()) == carrier.sources()


def test_every_module_of_engine_and_probe_is_carried() -> None:
    names = set(carrier.sources())
    assert {"loader", "arrival", f"{carrier.PACKAGE}.engine_start", f"{packing.PACKAGE}.questions"} <= names


def test_no_audit_hook_slows_the_program_down() -> None:
    """With one, each `id`, `open` and import of the program would call Python code of ours."""
    assert not [name for name, source in carrier.sources().items() if "addaudithook" in source]
