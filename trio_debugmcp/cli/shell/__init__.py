"""`trio-debugmcp shell`: one connection to any MCP server, and a prompt: list, call, read, subscribe, watch."""

import argparse

from trio_debugmcp.cli._person import add_person_options
from trio_debugmcp.cli._servers import add_server_options
from trio_debugmcp.cli._target import add_command, add_limits, add_target, add_target_options, run_command

EXAMPLES = """\
examples:
  trio-debugmcp shell http://127.0.0.1:8000/mcp
  trio-debugmcp shell -- npx -y @modelcontextprotocol/server-everything
  echo 'call add a=2 b=3' | trio-debugmcp shell --format json -- my-server

At the prompt: help lists the commands, Tab completes names, arguments and values, also with what the server proposes.
Ctrl-C ends a command, Ctrl-D or quit ends the shell. Changes of subscribed resources are shown above the prompt.

Without a terminal, commands are read line by line, and the first that fails ends the shell with its exit code:
0 ok, 1 unexpected, 2 usage, 3 not authorised, 4 unreachable, 5 tool error or not found.
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `shell` and its options to the command line."""
    parser = add_command(commands, "shell", "explore any MCP server at a prompt", __doc__, EXAMPLES)
    add_target(parser)
    add_limits(parser, "a request without progress", "for people", "one line for each result")
    add_person_options(parser)
    add_target_options(parser)
    add_server_options(parser)
    parser.set_defaults(run=run, many_words=())


def run(args: argparse.Namespace) -> int:
    """Connect and read commands until the end of the input; returns the exit code."""
    from trio_debugmcp.cli.shell.conversation import serve_person

    return run_command(lambda: serve_person(args))
