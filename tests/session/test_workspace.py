"""Which paths a server accepts, and what it makes of them."""

from pathlib import Path

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.workspace import Workspace


def test_a_relative_path_starts_from_the_directory() -> None:
    assert Workspace("/srv/app").resolve("src/main.py") == "/srv/app/src/main.py"
    assert Workspace("/srv/app").resolve("./src/./main.py") == "/srv/app/src/main.py"
    assert Workspace("/srv/app").resolve("/etc/hosts") == "/etc/hosts"


def test_a_symbolic_link_stays_as_it_is_spelled(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Workspace(str(tmp_path)).resolve("link/main.py") == str(tmp_path / "link" / "main.py")


def test_a_path_with_two_dots_is_resolved_as_the_system_resolves_it(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "deep")
    assert Workspace(str(tmp_path)).resolve("link/../main.py") == str((tmp_path / "real" / "main.py").resolve())


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_cannot_be_one_is_refused(path: str) -> None:
    with pytest.raises(UsageError) as refused:
        Workspace().resolve(path)
    assert refused.value.code == "INVALID_PATH"


def test_a_path_outside_the_roots_is_refused_whatever_leads_there(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "out").symlink_to(tmp_path)
    workspace = Workspace(str(inside), (str(inside.resolve()),))
    assert workspace.resolve("main.py") == str(inside / "main.py")
    for path in ("../main.py", "out/main.py", str(tmp_path / "main.py")):
        with pytest.raises(UsageError) as refused:
            workspace.resolve(path)
        assert refused.value.code == "PERMISSION_DENIED"
