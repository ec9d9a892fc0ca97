"""Sources in archives are read like files."""

import zipfile
from pathlib import Path

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.archived_sources import archive_of, archived_source, is_archived
from trio_debugmcp.session.looking.sources import MAX_SOURCE_BYTES, KnownSource, RunningSource, Sources, read_source

HOST = Host()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "app.pyz"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("shop/cart.py", "rate = 10\n")
    return path


def test_what_is_in_an_archive_is_named_like_a_file_below_it(archive: Path) -> None:
    cart = archive / "shop" / "cart.py"
    assert (archive_of(cart), is_archived(cart)) == (archive, True)
    assert archived_source(cart, 10) == b"rate = 10\n"


def test_what_is_not_there_is_in_no_archive(archive: Path) -> None:
    plain = archive.with_name("plain.txt")
    plain.write_text("no archive")
    for path in (archive, archive / "shop" / "gone.py", plain / "cart.py", archive.parent / "gone" / "cart.py"):
        assert not is_archived(path), path
        with pytest.raises(FileNotFoundError):
            archived_source(path, 10)


def test_a_source_of_a_torn_archive_is_not_there(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(FileNotFoundError):
        archived_source(archive / "shop" / "cart.py", 10)


def test_it_counts_how_large_a_source_is_and_not_its_archive(archive: Path) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("data", bytes(MAX_SOURCE_BYTES + 1))
        opened.writestr("large.py", b"#" * (MAX_SOURCE_BYTES + 1), zipfile.ZIP_DEFLATED)
    assert archive.stat().st_size > MAX_SOURCE_BYTES
    assert read_source(KnownSource(str(archive / "shop" / "cart.py"), None, "")) == "rate = 10\n"
    with pytest.raises(UsageError, match="has more than the 8388608 bytes that are served"):
        read_source(KnownSource(str(archive / "large.py"), None, ""))


def test_a_source_in_an_archive_is_that_of_the_archive_also_where_an_adapter_offers_a_text(archive: Path) -> None:
    cart, sources = str(archive / "shop" / "cart.py"), Sources()
    sources.learn(cart, "s-1", 7)
    assert sources.running(cart, None, HOST) == RunningSource("rate = 10\n")
    gone = str(archive / "shop" / "gone.py")
    sources.learn(gone, "s-1", 7)
    with pytest.raises(UsageError, match="Only the debug adapter"):
        sources.running(gone, None, HOST)
