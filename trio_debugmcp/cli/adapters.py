"""`trio-debugmcp adapters`: which debug adapters this machine can run."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from trio_debugmcp.cli._adapters import add_adapters_option, known_profiles
from trio_debugmcp.cli.serve import failed

if TYPE_CHECKING:
    from trio_debugmcp.dap.profiles import Profile


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `adapters` and its options to the command line."""
    parser = commands.add_parser(
        "adapters", help="list the debug adapters, where each was found, and how to get the missing ones"
    )
    parser.add_argument("--json", action="store_true", help="one JSON array instead of a table")
    add_adapters_option(parser)
    parser.add_argument(
        "--install",
        nargs="+",
        metavar="NAME",
        help="install these adapters, or `all` that are tested; the commands are printed before they are run",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the debug adapters, one line each or as JSON."""
    from trio_debugmcp.errors import UsageError

    try:
        profiles = known_profiles(arguments)
    except UsageError as error:
        return failed("adapters", error.message)
    if arguments.install is not None:
        return _install(arguments.install, profiles)
    found = [
        {
            "name": profile.name,
            "language": profile.language,
            "fileTypes": sorted(profile.detect.suffixes),
            "location": place,
            "problem": None if place else profile.absence(),
            "install": profile.install_hint,
        }
        for profile, place in ((each, each.locate()) for each in profiles)
    ]
    if arguments.json:
        print(json.dumps(found))
        return 0
    for each in found:
        where = each["location"] or f"{each['problem']}. Get it with: {each['install']}"
        print(f"{each['name']}  {each['language']}  {where}")
    return 0


def _install(names: list[str], profiles: "tuple[Profile, ...]") -> int:
    from trio_debugmcp.cli._install import install
    from trio_debugmcp.dap.profiles import TableProfile

    known = {each.name: each for each in profiles if isinstance(each, TableProfile)}
    unknown = [name for name in names if name not in known and name != "all"]
    if unknown:
        return failed("adapters", f"{unknown[0]} is none of: all, {', '.join(known)}")
    tested = [name for name, each in known.items() if each.table.tested]
    wanted = dict.fromkeys(each for name in names for each in (tested if name == "all" else [name]))
    problems = install([known[name] for name in wanted])
    for each in problems:
        print(f"trio-debugmcp adapters: {each}", file=sys.stderr)
    return 1 if problems else 0
