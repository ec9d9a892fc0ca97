"""`trio-debugmcp setup`: this server in the configuration of the MCP hosts that are there."""

import argparse
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from trio_debugmcp.cli._output import failed, sentence_of, visible

if TYPE_CHECKING:
    from trio_debugmcp.hosts.host_files import McpHost, ServerEntry

NAMES = ("claude", "codex", "cursor", "vscode", "gemini", "windsurf", "zed", "copilot")


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `setup` and its options to the command line."""
    parser = commands.add_parser(
        "setup",
        help="write this server into the configuration of the MCP hosts that are there",
        description="Write this server, as `debugger`, into the user's configuration of MCP hosts. The change is "
        "shown, and a person is asked before anything is written. All else in the files stays as it is.",
    )
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"{', '.join(NAMES)} (default: those that are there)")
    parser.add_argument("--remove", action="store_true", help="take the entry out again")
    asking = parser.add_mutually_exclusive_group()
    asking.add_argument("--dry-run", action="store_true", help="show the change, and write nothing")
    asking.add_argument("--yes", action="store_true", help="write without asking")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show what becomes of each host's file, ask, and write."""
    from trio_debugmcp.home import home_directory
    from trio_debugmcp.hosts.host_files import ServerEntry, hosts_of
    from trio_debugmcp.installation import starting_command

    unknown = [name for name in arguments.hosts if name not in NAMES]
    if unknown:
        return failed("setup", f"there is no host {unknown[0]!r}; there are {', '.join(NAMES)}")
    known = hosts_of(os.environ, home_directory())
    hosts = [host for host in known if (host.name in arguments.hosts if arguments.hosts else host.is_there)]
    if not hosts:
        return failed("setup", f"no host is there; name one to write its file all the same: {', '.join(NAMES)}", 1)
    command, *words = starting_command()
    entry = ServerEntry(command, (*words, "serve"))
    failures = [host for host in hosts if not _set_up(host, entry, arguments)]
    return 1 if failures else 0


def _set_up(host: "McpHost", entry: "ServerEntry", arguments: argparse.Namespace) -> bool:
    """Change one host's file, if that is wanted; False if it cannot be done. The others have theirs all the same."""
    from trio_debugmcp.hosts.edit_refused import EditRefusedError
    from trio_debugmcp.hosts.file_changes import read_change

    try:
        edit = host.without_entry if arguments.remove else partial(host.with_entry, entry=entry)
        change = read_change(host.file, edit)
        if change.is_empty:
            print(f"{host.title}: {host.file} {'has no such entry' if arguments.remove else 'has it'}.")
            return True
        print(f"{host.title}:\n{visible(change.diff)}", end="")
        if arguments.dry_run or not (arguments.yes or _agreed(host)):
            print("Nothing was written.")
            return True
        copy = change.write()
    except (EditRefusedError, OSError) as error:
        reason = f"{host.title}: {sentence_of(error)}. Nothing was written."
        by_hand = "" if arguments.remove else f" By hand, it is:\n{host.by_hand(entry)}"
        failed("setup", reason + by_hand)
        return False
    print(
        f"Written{'' if copy is None else f'; what was there is in {copy}'}. {host.title} sees it when it starts again."
    )
    return True


def _agreed(host: "McpHost") -> bool:
    if not sys.stdin.isatty():
        print("Run it with --yes to write this without a question.")
        return False
    try:
        return input(f"Write this for {host.title}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
