"""A configuration file is written whole or not at all, with a copy of what was there."""

from functools import partial
from pathlib import Path

import pytest

from trio_debugmcp.hosts.edit_refused import EditRefusedError
from trio_debugmcp.hosts.file_changes import MAX_BYTES, read_change


def test_a_file_keeps_its_mode_and_its_link_and_leaves_a_copy(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    copy = read_change(link, lambda text: text + " and new").write()
    assert (link.is_symlink(), real.read_text(), oct(real.stat().st_mode & 0o777)) == (True, "old and new", "0o640")
    assert copy is not None
    assert (copy.read_text(), copy.parent) == ("old", tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [real.name, copy.name, link.name]


def _become(text: str, _: str) -> str:
    return text


def test_the_copy_of_what_was_there_first_stays(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("of the user")
    for text in ("ours", "gone again", *map(str, range(20))):
        read_change(file, partial(_become, text)).write()
    texts = {path.read_text() for path in tmp_path.iterdir() if path != file}
    assert {"of the user", "ours", "18"} <= texts
    assert len(texts) == 9


def test_a_file_that_is_not_there_is_made_for_its_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b.json"
    change = read_change(file, lambda text: text + "new")
    assert (change.before, change.is_empty, "+new" in change.diff) == (None, False, True)
    assert change.write() is None
    assert (file.read_text(), oct(file.stat().st_mode & 0o777)) == ("new", "0o600")


def test_a_file_that_was_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("one")
    change = read_change(file, lambda text: text + "!")
    file.write_text("two")
    with pytest.raises(EditRefusedError, match="changed meanwhile"):
        change.write()
    assert file.read_text() == "two"


def test_a_failure_leaves_the_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json"
    file.write_text("one")
    change = read_change(file, lambda text: text + "!")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        change.write()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.json": "one"}


def test_what_is_not_text_or_too_large_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for data, reason in ((b"\xff\xfe", "not UTF-8"), (b" " * (MAX_BYTES + 1), "more than 16 MB")):
        file.write_bytes(data)
        with pytest.raises(EditRefusedError, match=reason):
            read_change(file, str)


def test_a_change_that_changes_nothing_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("same")
    assert read_change(file, str).is_empty
    assert read_change(tmp_path / "b.json", str).is_empty
