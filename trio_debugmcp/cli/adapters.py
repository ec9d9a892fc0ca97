"""`trio-debugmcp adapters`: which debug adapters this machine can run."""

import argparse
import json


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `adapters` and its options to the command line."""
    parser = commands.add_parser(
        "adapters", help="list the debug adapters, where each was found, and how to get the missing ones"
    )
    parser.add_argument("--json", action="store_true", help="one JSON array instead of a table")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the debug adapters, one line each or as JSON."""
    from trio_debugmcp.dap.profiles import PROFILES

    found = [
        {
            "name": profile.name,
            "language": profile.language,
            "fileTypes": sorted(profile.file_suffixes),
            "location": place,
            "problem": None if place else profile.absence(),
            "install": profile.install_hint,
        }
        for profile, place in ((each, each.locate()) for each in PROFILES)
    ]
    if arguments.json:
        print(json.dumps(found))
        return 0
    for each in found:
        where = each["location"] or f"{each['problem']}. Get it with: {each['install']}"
        print(f"{each['name']}  {each['language']}  {where}")
    return 0
