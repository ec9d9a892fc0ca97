import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.kept.calling import connect
from trio_debugmcp.kept.place import MAX_SOCKET_PATH, Place, PlaceRefused, other_projects, project_root


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of the places, whose path is short enough for a socket."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with TemporaryDirectory() as directory:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        yield Path(directory)


def test_a_project_is_the_nearest_directory_with_a_file_of_projects(tmp_path: Path) -> None:
    deep = tmp_path / "app" / "src" / "deep"
    deep.mkdir(parents=True)
    assert project_root(str(deep)) == str(deep)
    (tmp_path / "app" / ".git").mkdir()
    assert project_root(str(deep)) == str(tmp_path / "app")
    (tmp_path / "app" / "src" / "pyproject.toml").touch()
    assert project_root(str(deep)) == str(tmp_path / "app" / "src")


def test_the_home_directory_is_not_a_project(tmp_path: Path) -> None:
    work = tmp_path / "home" / "work"
    work.mkdir(parents=True)
    (tmp_path / "home" / ".git").mkdir()
    assert project_root(str(work)) == str(work)


def test_all_shells_find_the_same_place_also_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "link").symlink_to("app")
    place = Place.of(str(tmp_path / "app"))
    assert place.socket == Place.of(str(tmp_path / "link")).socket
    assert place.directory != Place.of(str(tmp_path)).directory


def test_only_this_user_may_enter_it(runtime: Path, tmp_path: Path) -> None:
    place = Place.of(str(tmp_path))
    place.make()
    place.make()
    assert stat.S_IMODE(os.stat(place.directory).st_mode) == stat.S_IMODE((runtime / "trio-debugmcp").stat().st_mode)
    assert stat.S_IMODE(os.stat(place.directory).st_mode) == 0o700


def test_a_directory_that_others_may_enter_is_refused(runtime: Path, tmp_path: Path) -> None:
    (runtime / "trio-debugmcp").mkdir(mode=0o755)
    with pytest.raises(UsageError, match="is not a directory that only you may enter: remove it"):
        Place.of(str(tmp_path)).make()


def test_a_link_in_its_place_is_refused(runtime: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (runtime / "trio-debugmcp").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is not a directory that only you may enter"):
        Place.of(str(tmp_path)).make()


def test_what_stands_where_others_may_write_is_not_believed(runtime: Path, tmp_path: Path) -> None:
    place = Place.of(str(tmp_path))
    place.check()
    (runtime / "trio-debugmcp").mkdir(mode=0o777)
    with pytest.raises(PlaceRefused, match="is not a directory that only you may enter: remove it"):
        connect(place)


def test_the_runtime_directory_of_another_user_is_not_taken(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert not Place.of(str(tmp_path)).directory.startswith(str(runtime / "trio-debugmcp/"))


def test_a_path_that_is_too_long_for_a_socket_is_not_taken(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = runtime / ("x" * MAX_SOCKET_PATH)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    place = Place.of(str(tmp_path))
    assert not place.socket.startswith(str(long))
    assert len(place.socket) <= MAX_SOCKET_PATH


def test_a_record_is_read_back_unless_it_is_torn(tmp_path: Path) -> None:
    place = Place.of(str(tmp_path))
    place.make()
    assert place.record() is None
    place.write_record({"pid": 7, "project": place.project})
    assert place.record() == {"pid": 7, "project": place.project}
    assert stat.S_IMODE(os.stat(f"{place.directory}/server.json").st_mode) == 0o600
    Path(place.directory, "server.json").write_text('{"pid": ')
    assert place.record() is None
    place.clear()
    place.clear()
    assert not os.path.exists(f"{place.directory}/server.json")


def test_other_projects_that_are_kept_are_named_without_those_whose_server_was_killed(tmp_path: Path) -> None:
    here, there, killed = (Place.of(str(tmp_path / name)) for name in ("here", "there", "killed"))
    assert other_projects(here) == []
    for place in (here, there, killed):
        place.make()
        place.write_record({"project": place.project})
    with open(there.serving_lock, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert other_projects(here) == [str(tmp_path / "there")]
