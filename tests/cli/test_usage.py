"""What is wrong in a command line is one sentence on standard error, with what may have been meant; exit code 2."""

import pytest

from trio_debugmcp.cli import main


def wrong(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command line that is wrong, and return the one line that is said of it."""
    try:
        code: object = main(list(words))
    except SystemExit as end:
        code = end.code
    assert code == 2
    said, printed = capsys.readouterr().err, capsys.readouterr().out
    assert (printed, said.count("\n")) == ("", 1)
    return said.rstrip("\n")


@pytest.mark.parametrize(
    ("word", "meant"), [("srve", "serve"), ("docter", "doctor"), ("adapter", "adapters"), ("version", "--version")]
)
def test_a_command_that_there_is_not_is_answered_with_what_may_be_meant(
    word: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = wrong(capsys, word)
    assert said == f"trio-debugmcp: there is no command '{word}', did you mean {meant}?; see trio-debugmcp --help"


def test_a_command_like_no_other_is_answered_with_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there are: serve, " in wrong(capsys, "xyzzy")


@pytest.mark.parametrize("words", [["app.py"], ["src/shop.py", "--verbose"], ["run", "app.py"]])
def test_a_program_is_answered_with_how_one_is_debugged(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "A program is debugged by an agent" in wrong(capsys, *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["adapters", "--chek"], "trio-debugmcp adapters: unrecognized: --chek, did you mean --check?"),
        (["serve", "--debunce", "1"], "trio-debugmcp serve: unrecognized: --debunce 1, did you mean --debounce?"),
        (["--recrod", "x"], "trio-debugmcp serve: unrecognized: --recrod x, did you mean --record?"),
        (["doctor", "x"], "trio-debugmcp doctor: unrecognized: x"),
        (["serve", "--ws", "nonsense"], "trio-debugmcp serve: argument --ws: [HOST:]PORT"),
        (["demo", "--port", "x"], "trio-debugmcp demo: argument --port: a port between 0 and 65535"),
        (["demo", "--port", "80000"], "trio-debugmcp demo: argument --port: a port between 0 and 65535"),
        (["demo", "--pace", "-1"], "trio-debugmcp demo: argument --pace: wants a number of seconds between 0 and 3600"),
        (["serve", "--debounce", "x"], "trio-debugmcp serve: argument --debounce: wants a number of seconds between"),
        (["serve", "--max-wait", "nan"], "trio-debugmcp serve: argument --max-wait: wants a number of seconds between"),
        (["replay", "--speed", "x", "f"], "trio-debugmcp replay: argument --speed: wants a number between 0 and 1000"),
        (["serve", "--token", "a"], "trio-debugmcp serve: --token needs --ws, --http or --dap"),
    ],
)
def test_a_wrong_option_is_one_sentence_of_its_command(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wrong(capsys, *words).startswith(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve", "--idle", "5"], "--idle needs --kept"),
        (["serve", "--linger", "5"], "--linger needs --ws, --http, --dap or --kept"),
        (["serve", "--dap", "0", "--allow-host", "a"], "--allow-host needs --ws or --http"),
        (["serve", "--record-secrets"], "--record-secrets needs --record"),
        (["replay", "x", "--tls-cert", "a", "--tls-key", "b"], "--tls-cert needs --ws, --http or --dap"),
        (["adapters", "--install", "gdb", "--check"], "--install takes neither --check nor --json"),
        (["adapters", "--install", "gdb", "--json"], "--install takes neither --check nor --json"),
        (["setup", "--dry-run", "--yes"], "argument --yes: not allowed with argument --dry-run"),
        (["scenario", "--quiet", "--from", "x"], "--quiet is for files to play"),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wrong(capsys, *words).startswith(f"trio-debugmcp {words[0]}: {said}")


def test_ctrl_c_while_the_arguments_are_parsed_leaves_no_traceback_whatever_argparse_makes_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def parse(_: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise AttributeError("save_nargs")

    monkeypatch.setattr("trio_debugmcp.cli._parse", parse)
    assert main(["inspect"]) == 130
