"""`trio-debugmcp scenario`: what it prints, and its exit codes."""

import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp.cli import main

RECORDING = Path(__file__).parent.parent / "data" / "recordings" / "till.jsonl"

GOOD = """{"scenario": "Output is notified", "begin": "running", "era": "legacy"}
{"client": "subscribe", "uris": ["output"]}
{"at": 1, "adapter": "output", "text": "hello"}
{"at": 1.3, "expect": "updated", "uris": ["output"]}
"""
WRONG = GOOD.replace("1.3", "1.4")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.jsonl").write_text(GOOD)
    (tmp_path / "notes.txt").write_text("not a scenario")
    return tmp_path


def test_a_scenario_that_holds_is_printed_with_its_timeline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Output is notified\n")
    assert "1.300 s       agent      ← updated debugger://output" in printed


def test_what_differs_is_printed_alone_with_quiet_and_the_exit_code_is_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "wrong.jsonl").write_text(WRONG)
    assert main(["scenario", "--quiet", str(folder / "good.jsonl"), str(folder / "wrong.jsonl")]) == 1
    printed = capsys.readouterr().out
    assert "good.jsonl" not in printed
    assert "wrong.jsonl, legacy era: 1 difference" in printed


def test_a_recording_becomes_a_scenario_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "--from", str(RECORDING)]) == 0
    made = tmp_path / "made.jsonl"
    made.write_text(capsys.readouterr().out)
    assert main(["scenario", "--quiet", str(made)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["{folder}/none.jsonl"], "none.jsonl"),
        (["{folder}/notes.txt"], "notes.txt"),
        (["{folder}/empty"], "there is no .jsonl file in it"),
        (["--from", "{folder}/good.jsonl"], "good.jsonl"),
    ],
)
def test_a_file_that_cannot_be_played_is_named_and_the_exit_code_is_1(
    folder: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty").mkdir()
    assert main(["scenario", *(each.format(folder=folder) for each in arguments)]) == 1
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--from", "a.jsonl", "b.jsonl"]])
def test_files_or_a_recording_must_be_given(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["scenario", *arguments])
    assert left.value.code == 2
    assert "give files to play, or --from RECORDING" in capsys.readouterr().err


@pytest.mark.real
def test_a_reader_that_leaves_gets_no_traceback(folder: Path) -> None:
    command = [sys.executable, "-m", "trio_debugmcp", "scenario", str(folder / "good.jsonl")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(30) == 1


def test_a_file_that_is_not_there_is_said_to_be_unreadable(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["scenario", "nosuch"], ["scenario", "--from", "nosuch"]):
        assert main(command) == 1
        assert "cannot read nosuch: No such file or directory" in capsys.readouterr().err
