"""The log of a server on the command line: without secrets on every way out, and a disk that is full is one line."""

import errno
import io
import logging
import os
from pathlib import Path

import pytest

from trio_debugmcp.cli import main
from trio_debugmcp.cli._logs import LogHandler

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fI3kL6"


class FullDisk(io.StringIO):
    """A file on a disk without room."""

    def write(self, text: str, /) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def logger() -> logging.Logger:
    return logging.Logger("trio_debugmcp.session")  # noqa: LOG001 (one that has no handlers of others)


def log_everything(logger: logging.Logger) -> None:
    """Log a secret as an argument, in a text, in a traceback, in a stack, and with arguments that do not fit."""
    logger.warning("the program says %r", {"token": TOKEN})
    logger.warning(f"joined: {TOKEN}", stack_info=True)
    logger.warning(TOKEN + " %d", TOKEN)
    try:
        raise ValueError(TOKEN)
    except ValueError:
        logger.exception("it failed with %s", TOKEN)


def test_a_log_has_no_secret_in_any_part_of_a_line(logger: logging.Logger) -> None:
    written = io.StringIO()
    logger.addHandler(LogHandler(written, show_secrets=False))
    log_everything(logger)
    assert TOKEN not in written.getvalue()
    assert written.getvalue().count("<GitHub token, 40 characters>") >= 5
    assert "Traceback (most recent call last)" in written.getvalue()


def test_a_log_shows_secrets_where_that_is_asked_for(logger: logging.Logger) -> None:
    written = io.StringIO()
    logger.addHandler(LogHandler(written, show_secrets=True))
    logger.warning("the program says %s", TOKEN)
    assert TOKEN in written.getvalue()


def test_other_handlers_get_the_record_as_it_was(logger: logging.Logger) -> None:
    records: list[logging.LogRecord] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    logger.addHandler(LogHandler(io.StringIO(), show_secrets=False))
    logger.addHandler(Keeping())
    logger.warning("the program says %s", TOKEN)
    assert records[0].args == (TOKEN,)


@pytest.mark.parametrize("show_secrets", [False, True])
def test_a_full_disk_is_one_line_without_what_was_logged(
    logger: logging.Logger, capsys: pytest.CaptureFixture[str], show_secrets: bool
) -> None:
    logger.addHandler(LogHandler(FullDisk(), show_secrets=show_secrets))
    for _ in range(30):
        log_everything(logger)
    said = capsys.readouterr().err
    assert said == "trio-debugmcp: the log cannot be written: No space left on device. What follows is not in it.\n"


def test_standard_error_that_is_full_as_well_ends_nothing(
    logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", FullDisk())
    logger.addHandler(LogHandler(FullDisk(), show_secrets=False))
    log_everything(logger)


@pytest.mark.parametrize("command", [["serve"], ["replay", "x.jsonl"]], ids=lambda words: words[0])
def test_a_log_file_that_cannot_be_written_is_a_sentence(
    command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*command, "--log-file", f"{tmp_path}/no/such/log"]) != 0
    said = capsys.readouterr().err
    assert "cannot be written: No such file or directory" in said
    assert "Traceback" not in said
