"""`trio-debugmcp scenario`: plays scenario files and prints what happened, or makes one of a recording."""

import argparse
import sys
from pathlib import Path

from trio_debugmcp.cli._output import failed, sentence_of


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the parser of `scenario` to the commands."""
    parser = commands.add_parser(
        "scenario",
        help="play a scenario file: a debug session on a virtual clock, without a debugger",
        description="Play scenario files in each of their protocol eras and print what happened. The exit code is 1 "
        "if anything differs from what they expect. docs/scenarios.md describes the format.",
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="a scenario, or a folder of them")
    parser.add_argument(
        "--from", dest="recording", type=Path, metavar="RECORDING", help="print the scenario of a recording"
    )
    parser.add_argument("--quiet", action="store_true", help="print only scenarios that differ")
    parser.set_defaults(run=run, misuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Play the files, or convert the recording; returns the exit code."""
    if (arguments.recording is None) == (not arguments.files):
        arguments.misuse("give files to play, or --from RECORDING")
    if arguments.recording is not None and arguments.quiet:
        arguments.misuse("--quiet is for files to play: --from prints a scenario")
    if arguments.recording is not None:
        return _convert(arguments.recording)
    files: list[Path] = []
    for path in arguments.files:
        scenario_files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not scenario_files:
            print(f"{path} has no scenarios: there is no .jsonl file in it", file=sys.stderr)
            return 1
        files += scenario_files
    return 1 if sum(_play(file, quiet=arguments.quiet) for file in files) else 0


def _convert(file: Path) -> int:
    from trio_debugmcp.testing.scenario.from_recording import scenario_of
    from trio_debugmcp.testing.scenario.retime import retime
    from trio_debugmcp.testing.scenario.script_lines import BadScenario
    from trio_debugmcp.testing.scenario.script_text import encode_scenario

    try:
        print(encode_scenario(retime(scenario_of(file.read_bytes(), file.stem))), end="")
    except (BadScenario, OSError) as error:
        return _failed(file, error)
    return 0


def _play(file: Path, *, quiet: bool) -> int:
    """Play a file in each of its eras; returns how many of them differ."""
    from trio_debugmcp.testing.scenario.player import play_all, read_scenario
    from trio_debugmcp.testing.scenario.script_lines import BadScenario

    try:
        reports = play_all(read_scenario(file))
    except (BadScenario, OSError) as error:
        return _failed(None, error)
    for report in reports:
        if not (quiet and report.ok):
            print(report, end="\n\n")
    return sum(not report.ok for report in reports)


def _failed(file: Path | None, error: Exception) -> int:
    """Say why a file cannot be used. A scenario that is wrong names its own file and line."""
    if isinstance(error, OSError):
        return failed("scenario", f"cannot read {sentence_of(error)}", 1)
    return failed("scenario", error if file is None else f"{file}: {error}", 1)
