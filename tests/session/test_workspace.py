"""Which paths a server accepts, and what it makes of them."""

import os
import sys
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


def test_a_path_whose_bytes_are_not_utf_8_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "utf-8")
    directory = b"/lat\xf6n".decode("utf-8", "surrogateescape")
    for workspace, path in ((Workspace(directory), "main.py"), (Workspace("/"), f"{directory}/main.py")):
        with pytest.raises(UsageError) as refused:
            workspace.resolve(path)
        assert refused.value.code == "INVALID_PATH"
        assert refused.value.message == r"'/lat\udcf6n/main.py' has bytes that are not UTF-8. Rename what has them."


def test_a_path_that_is_not_in_the_locale_of_the_server_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "ascii")
    monkeypatch.setattr(os, "fsencode", lambda path: path.encode("ascii", "surrogateescape"))
    for name in ("löw", "löw".encode().decode("ascii", "surrogateescape")):
        with pytest.raises(UsageError, match=r"locale of this server .ascii.\. Start the server with PYTHONUTF8=1"):
            Workspace("/", ("/srv",)).resolve(f"/{name}/main.py")


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
