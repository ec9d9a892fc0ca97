"""`trio-debugmcp serve`: its defaults, which are written once more there because importing them would take time."""

import argparse
from pathlib import Path

import pytest
from msgspec.structs import replace

from trio_debugmcp.app import Options
from trio_debugmcp.cli import _engine, adapters, demo, doctor, replay, serve
from trio_debugmcp.cli._patience import VARIABLE
from trio_debugmcp.cli._transport_options import HOSTS_VARIABLE, TOKEN_OPTIONS, network_of, transport_misuse
from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.recording.format import read_recording

RECORDING = Path(__file__).parent.parent / "data" / "recordings" / "clerks.jsonl"


def test_the_defaults_and_the_help_are_those_of_the_server() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    serve.add_parser(commands)
    options = Options()
    arguments = parser.parse_args(["serve"])
    assert (arguments.debounce, arguments.max_wait, arguments.linger) == (
        options.quiet,
        options.max_wait,
        options.linger,
    )
    help_text = " ".join(commands.choices["serve"].format_help().split())
    for default in (options.quiet, options.max_wait, options.linger):
        assert f"(default {default:g})" in help_text


@pytest.mark.parametrize("command", ["serve", "replay"])
@pytest.mark.parametrize("option", TOKEN_OPTIONS)
def test_an_option_that_counts_on_a_port_only_is_refused_without_one(command: str, option: str) -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    serve.add_parser(commands)
    replay.add_parser(commands)
    words = [option, "value"]
    file = ["file"] if command == "replay" else []
    assert f"{option} needs --ws, --http or --dap" in str(transport_misuse(parser.parse_args([command, *words, *file])))
    for port in ("--ws", "--http"):
        assert transport_misuse(parser.parse_args([command, *words, port, "0", *file])) is None


def test_a_certificate_counts_without_a_port_too_as_programs_dial_in_by_it() -> None:
    words = ["serve", "--tls-cert", "cert", "--tls-key", "key"]
    assert transport_misuse(parsed(*words)) is None
    assert transport_misuse(parsed(*words[:3])) == "--tls-cert and --tls-key belong together"


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    for command in (serve, replay, doctor, demo, adapters):
        command.add_parser(commands)
    return parser.parse_args(words)


@pytest.mark.parametrize("command", [["serve"], ["replay", "file"], ["doctor"], ["demo"], ["adapters", "--check"]])
def test_the_patience_is_given_or_that_of_the_machine_or_the_usual_one(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert parsed(*command).patience == USUAL
    monkeypatch.setenv(VARIABLE, "3")
    assert parsed(*command).patience == Patience(3)
    assert parsed(*command, "--patience", "2.5").patience == Patience(2.5)


@pytest.mark.parametrize("word", ["0.5", "61", "nan", "long", "-1"])
def test_a_patience_that_makes_no_sense_is_refused(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("serve", f"--patience={word}")
    assert f"'{word}' is not a factor between 1 and 60" in capsys.readouterr().err


def test_a_patience_of_the_machine_that_makes_no_sense_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "long")
    with pytest.raises(SystemExit):
        parsed("serve")
    assert f"'long' is not a factor between 1 and 60 (it stands in the variable {VARIABLE})" in capsys.readouterr().err


def test_a_replay_waits_for_recorded_adapters_as_the_recorded_server_did() -> None:
    header = replace(read_recording(RECORDING).header, patience=5.0)
    arguments = parsed("replay", str(RECORDING), "--patience", "2")
    assert replay.options_of(header, (), arguments).settings.patience == Patience(5)


def test_the_engine_is_chosen_by_an_option_or_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed("serve").engine == "auto"
    monkeypatch.setenv(_engine.VARIABLE, "own")
    assert parsed("serve").engine == "own"
    assert parsed("serve", "--engine", "pydevd").engine == "pydevd"


def test_an_engine_that_there_is_not_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(_engine.VARIABLE, "fast")
    with pytest.raises(SystemExit):
        parsed("serve")
    assert (
        f"'fast' is none of auto, own and pydevd (it stands in the variable {_engine.VARIABLE})"
        in capsys.readouterr().err
    )


def test_names_to_allow_come_from_the_command_line_and_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOSTS_VARIABLE, "debugger.tools.svc, proxy:8443")
    network = network_of(parsed("serve", "--ws", "0", "--allow-host", "Debugger.Example", "--allow-host", "[::2]:1"))
    names = [(host.name, host.port) for host in network.allowed]
    assert names == [("debugger.example", None), ("[::2]", "1"), ("debugger.tools.svc", None), ("proxy", "8443")]
    monkeypatch.delenv(HOSTS_VARIABLE)
    assert network_of(parsed("serve", "--ws", "0")).allowed == ()


def test_a_url_to_allow_is_refused_with_what_can_be_allowed() -> None:
    with pytest.raises(ValueError, match=r"--allow-host: 'https://a.example' is not NAME or NAME:PORT, such as"):
        network_of(parsed("serve", "--ws", "0", "--allow-host", "https://a.example"))
