"""A token comes from the command line, a file or a variable; the last two do not show it to other users."""

import os
import subprocess
from pathlib import Path

import pytest

from tests import warm
from trio_debugmcp.cli._tokens import CONTROL_VARIABLE, given_token

TOKEN = "a-token-of-ours"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"  {TOKEN}\n")
    path.chmod(0o600)
    return path


def given(token: str | None = None, file: Path | None = None) -> tuple[str | None, str | None]:
    return given_token("--token", token, file, CONTROL_VARIABLE)


def test_without_any_there_is_none() -> None:
    assert given() == (None, None)


def test_the_option_counts_more_than_the_variable_which_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONTROL_VARIABLE, "inherited")
    assert given(TOKEN) == (TOKEN, None)
    assert CONTROL_VARIABLE not in os.environ
    assert given() == (None, None)


def test_the_variable_counts_unless_it_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONTROL_VARIABLE, TOKEN)
    assert given() == (TOKEN, None)
    assert CONTROL_VARIABLE not in os.environ
    monkeypatch.setenv(CONTROL_VARIABLE, "")
    assert given() == (None, None)


def test_a_file_counts_more_than_the_variable_and_space_around_it_does_not_count(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTROL_VARIABLE, "inherited")
    assert given(file=file) == (TOKEN, None)
    assert CONTROL_VARIABLE not in os.environ


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_may_read_has_a_warning(mode: int, file: Path) -> None:
    file.chmod(mode)
    token, warning = given(file=file)
    assert token == TOKEN
    assert str(warning).startswith("WARNING: other users may read")
    assert TOKEN not in str(warning)


def test_what_cannot_be_a_token_is_refused_in_a_sentence(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        given(TOKEN, file)
    with pytest.raises(ValueError, match="No such file"):
        given(file=tmp_path / "nowhere")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="is not text"):
        given(file=file)
    file.write_bytes(b" \n")
    with pytest.raises(ValueError, match="is empty"):
        given(file=file)


@pytest.mark.real
def test_of_a_command_with_unusable_tokens_nothing_is_shown_but_why(file: Path) -> None:
    command = [*warm.server(), "serve", "--ws", "0", "--token-file", str(file), "--observe-token-file", str(file)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "must differ" in done.stderr, TOKEN in done.stderr) == (2, True, False)
