"""Plays scenario files and prints what happened, in each of their protocol eras; see docs/scenarios.md."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from trio_debugmcp.record.scenario import BadScenario
from trio_debugmcp.testing.player import play_all, read_scenario


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/scenario", description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help="a scenario, or a folder of them")
    parser.add_argument("--quiet", action="store_true", help="print only timelines with differences")
    options = parser.parse_args(arguments)
    differing = 0
    for name in options.files:
        path = Path(name)
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            differing += _play(file, quiet=options.quiet)
    return 1 if differing else 0


def _play(file: Path, *, quiet: bool) -> int:
    try:
        reports = play_all(read_scenario(file))
    except (BadScenario, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for report in reports:
        if not (quiet and report.ok):
            print(report, end="\n\n")
    return sum(not report.ok for report in reports)


if __name__ == "__main__":
    sys.exit(main())
