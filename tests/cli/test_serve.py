"""`trio-debugmcp serve`: its defaults, which are written once more there because importing them would take time."""

import argparse

from trio_debugmcp.app import Options
from trio_debugmcp.cli import serve


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
