"""`trio-debugmcp serve`: its defaults, which are written once more there because importing them would take time."""

import argparse

import pytest

from trio_debugmcp.app import Options
from trio_debugmcp.cli import replay, serve


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
@pytest.mark.parametrize("option", serve.PORT_OPTIONS)
def test_an_option_that_counts_on_a_port_only_is_refused_without_one(command: str, option: str) -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    serve.add_parser(commands)
    replay.add_parser(commands)
    words = [option, "value", *(["--tls-key", "key"] if option == "--tls-cert" else [])]
    file = ["file"] if command == "replay" else []
    assert f"{option} needs --ws, --http or --dap" in str(
        serve.transport_misuse(parser.parse_args([command, *words, *file]))
    )
    for port in ("--ws", "--http"):
        assert serve.transport_misuse(parser.parse_args([command, *words, port, "0", *file])) is None
