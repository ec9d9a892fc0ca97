"""Sources in archives, as Python names them: what is in the file `app.pyz` is named like a file below it.

    content = archived_source(Path(named), 8 << 20)

An archive is opened for each question, as it may have been made anew.
"""

from pathlib import Path


def archive_of(path: Path) -> Path | None:
    """Return the file that a path leads through; None if there is none."""
    try:
        path.stat()
    except NotADirectoryError:
        return next((parent for parent in path.parents if parent.is_file()), None)
    except (OSError, ValueError):
        return None
    return None


def is_archived(path: Path) -> bool:
    """Whether a path is that of a file in a zip archive."""
    archive = archive_of(path)
    if archive is None:
        return False
    import zipfile  # not at the start of every server

    try:
        with zipfile.ZipFile(archive) as opened:
            return path.relative_to(archive).as_posix() in opened.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def archived_source(path: Path, most: int) -> bytes:
    """Return the content of a file in a zip archive: of a larger one than `most` bytes the beginning, one byte more.

    Raises:
        FileNotFoundError: there is no such file, or the archive cannot be read.
    """
    archive = archive_of(path)
    if archive is None:
        raise FileNotFoundError(path)
    import zipfile

    try:
        with zipfile.ZipFile(archive) as opened, opened.open(path.relative_to(archive).as_posix()) as member:
            return member.read(most + 1)
    except (KeyError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile) as error:  # RuntimeError: a password
        raise FileNotFoundError(path) from error
