"""Plays scenario files in each of their protocol eras and prints what happened; see docs/scenarios.md."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from trio_debugmcp.testing import play_all, read_scenario, retime
from trio_debugmcp.testing.scenario.from_recording import scenario_of
from trio_debugmcp.testing.scenario.lines import BadScenario
from trio_debugmcp.testing.scenario.text import encode_scenario


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/scenario", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="a scenario, or a folder of them")
    parser.add_argument("--from", dest="recording", metavar="RECORDING", help="print the scenario of a recording")
    parser.add_argument("--quiet", action="store_true", help="print only timelines with differences")
    options = parser.parse_args(arguments)
    if (options.recording is None) == (not options.files):
        parser.error("give files to play, or --from RECORDING")
    if options.recording is not None:
        return _convert(Path(options.recording))
    differing = 0
    for name in options.files:
        path = Path(name)
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            differing += _play(file, quiet=options.quiet)
    return 1 if differing else 0


def _convert(file: Path) -> int:
    try:
        print(encode_scenario(retime(scenario_of(file.read_bytes(), file.stem))), end="")
    except (BadScenario, OSError) as error:
        print(f"{file}: {error}", file=sys.stderr)
        return 1
    return 0


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
