"""`trio-debugmcp adapters`: which debug adapters this machine has, whether they work, and what installs them."""

import argparse
import json
from collections.abc import Container, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from trio_debugmcp.cli._adapters import add_adapters_option, known_profiles, tables_files
from trio_debugmcp.cli._output import failed
from trio_debugmcp.cli._patience import add_patience_option
from trio_debugmcp.cli._status_lines import looking, status_line
from trio_debugmcp.patience import Patience

if TYPE_CHECKING:
    from trio_debugmcp.dap.profiles import Profile


class Status(Struct, frozen=True, rename="camel"):
    """One debug adapter. `problem`: why it cannot be used; `install`: the command for this system.

    `tested`: whether our tests debug with it; `newer_than` and `older_than`: the version with which they do, if it is
    another. `renewed`: whether `install` brings that one in its place, or makes it anew by the steps of now. `engine`:
    of Python, what debugs which versions. `check`: what came of `--check`.
    """

    name: str
    language: str
    file_types: list[str]
    types: list[str]
    location: str | None
    version: str | None
    problem: str | None
    install: str
    tested: bool
    newer_than: str | None = None
    older_than: str | None = None
    renewed: bool = False
    engine: str | None = None
    check: dict[str, Any] | None = None


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `adapters` and its options to the command line."""
    parser = commands.add_parser(
        "adapters",
        help="list the debug adapters, where each was found, and how to get the missing ones",
        description="List the debug adapters: where each was found and in which version, or what is wrong with it and "
        "the command that installs it. With --check the exit code is 1 if one that was checked does not work.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON array instead of text")
    parser.add_argument(
        "--check",
        nargs="*",
        metavar="NAME",
        help="debug a tiny program with each of these adapters, or with all that are installed",
    )
    parser.add_argument(
        "--install",
        nargs="+",
        metavar="NAME",
        help="install these adapters, or `all` that are tested; the commands are printed before they are run",
    )
    add_adapters_option(parser)
    add_patience_option(parser, "the adapters, to tell their version and with --check")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the debug adapters, or install or check some; returns the exit code."""
    from trio_debugmcp.errors import UsageError

    try:
        profiles = known_profiles(arguments)
    except UsageError as error:
        return failed("adapters", error.message)
    if arguments.install is not None and (arguments.json or arguments.check is not None):
        return failed("adapters", "--install takes neither --check nor --json: give them in a call of their own")
    if arguments.install is not None:
        return _install(arguments.install, profiles, arguments.patience)
    names = {profile.name for profile in profiles}
    unknown = next((name for name in arguments.check or () if name not in names), None)
    if unknown is not None:
        return failed("adapters", f"{unknown} is none of: {', '.join(profile.name for profile in profiles)}")
    with looking("looking for debug adapters", quiet=arguments.json):
        adapters = statuses(profiles, arguments.patience)
    if arguments.check is not None:
        named = set(arguments.check)
        adapters = [status for status in adapters if (status.name in named if named else status.location is not None)]
        checked = _checked(adapters, named, profiles, tables_files(arguments), arguments.patience)
    else:
        checked = adapters
    done = []
    for status in checked:
        done.append(status)
        if not arguments.json:
            print(in_words(status), flush=True)
    if arguments.json:
        print(json.dumps(to_builtins(done)))
    return 1 if any(status.check is not None and not status.check["ok"] for status in done) else 0


def statuses(profiles: "Iterable[Profile]", patience: Patience) -> list[Status]:
    """Look for every debug adapter; their versions are asked for at the same time."""
    import trio

    from trio_debugmcp.dap.profiles import TableProfile

    profiles = tuple(profiles)
    trio.run(_learn, [profile.finder for profile in profiles if isinstance(profile, TableProfile)], patience)
    return [_status(profile) for profile in profiles]


async def _learn(finders: "list[Any]", patience: Patience) -> None:
    from functools import partial

    import trio

    async with trio.open_nursery() as nursery:
        for finder in finders:
            nursery.start_soon(partial(finder.learn, patience, versions=True))


def _status(profile: "Profile") -> Status:
    from trio_debugmcp.dap.profiles import TableProfile
    from trio_debugmcp.dap.profiles.finding import is_ours, newer_than_tested, older_than_tested
    from trio_debugmcp.dap.profiles.installing import is_made_otherwise

    newer = older = None
    renewed = False
    if isinstance(profile, TableProfile):
        copy = profile.finder.find(versions=True)
        place, version = (None, None) if copy is None else (copy.place, copy.version)
        works, tested = copy is not None and copy.problem is None, profile.table.tested
        newer, older = newer_than_tested(version, profile.table), older_than_tested(version, profile.table)
        if place is not None:
            renewed = is_ours(place) if older is not None else is_made_otherwise(profile.name, place, profile.table)
    else:
        where = profile.locate()
        place, _, version = (None, "", None) if where is None else where.removesuffix(")").rpartition(" (")
        works, tested = where is not None, True
    return Status(
        name=profile.name,
        language=profile.language,
        file_types=sorted(profile.detect.suffixes),
        types=sorted(profile.types),
        location=place,
        version=version,
        problem=None if works else profile.absence(),
        install=profile.install_hint,
        tested=tested,
        newer_than=newer,
        older_than=older,
        renewed=renewed,
        engine=_engine(profile),
    )


def _engine(profile: "Profile") -> str | None:
    """Return which programs our own engine debugs; None if that is of another language."""
    from trio_debugmcp.engine import TRIED

    if not profile.has_probe:
        return None
    versions = " and ".join(f"{major}.{minor}" for major, minor in TRIED)
    return f"our own engine debugs CPython {versions}, {profile.name} all others"


def in_words(status: Status) -> str:
    """Return a line for a person, and another with what to do."""
    version = f" {status.version}" if status.version else ""
    untested = "" if status.tested else "; its table is not covered by our tests"
    engine = f"; {status.engine}" if status.engine else ""
    untested += f"; newer than {status.newer_than}, with which our tests debug" if status.newer_than else ""
    if status.older_than is not None:
        renewal = f": `{status.install}` renews it" if status.renewed else ""
        untested += f"; older than {status.older_than}, with which our tests debug{renewal}"
    elif status.renewed:
        untested += f"; made by other steps than those of now: `{status.install}` renews it"
    if status.problem is not None:
        text = f"{status.name}: {status.language}. {status.problem}{untested}"
        return status_line("missing", text, status.install)
    if status.check is None:
        return status_line("ok", f"{status.name}{version}: {status.language}, {status.location}{engine}{untested}")
    if status.check["ok"]:
        return status_line("ok", f"{status.name}{version}: debugged a program in {status.check['seconds']:.1f} s")
    return status_line("failed", f"{status.name}{version}: {status.check['step']}: {status.check['problem']}")


# --- Check and install ------------------------------------------------------------------------------------------------


def _checked(
    adapters: list[Status],
    named: Container[str],
    profiles: "tuple[Profile, ...]",
    files: list[Path],
    patience: Patience,
) -> Iterable[Status]:
    """Yield each adapter with what came of its check, one after the other: side by side they would be slower.

    One that is here and cannot be used, as it is too old, is not checked unless it is named.
    """
    import trio

    from trio_debugmcp.cli._install import AdapterCheck, check, sample_for

    profile_of = {profile.name: profile for profile in profiles}
    for status in adapters:
        program = sample_for(profile_of[status.name])
        if status.problem is not None and status.name not in named:
            yield status
            continue
        if status.problem is not None:
            result = AdapterCheck(False, 0.0, "find", status.problem)
        elif program is None:
            result = AdapterCheck(False, 0.0, "sample", f"there is no sample program for {status.language}")
        else:
            with looking(f"debugging {program.name} with {status.name}"):
                result = trio.run(check, profile_of[status.name], files, program, patience)
        yield replace(status, check=to_builtins(result))


def _install(names: list[str], profiles: "tuple[Profile, ...]", patience: Patience) -> int:
    """Install adapters; what is there afterwards is named with its version and its place."""
    from trio_debugmcp.cli._install import install
    from trio_debugmcp.dap.profiles import TableProfile

    profile_of = {profile.name: profile for profile in profiles if isinstance(profile, TableProfile)}
    unknown = [name for name in names if name not in profile_of and name != "all"]
    if unknown:
        return failed("adapters", f"{unknown[0]} is none of: all, {', '.join(profile_of)}")
    tested = [name for name, profile in profile_of.items() if profile.table.tested]
    selected = dict.fromkeys(adapter for name in names for adapter in (tested if name == "all" else [name]))
    wanted = [profile_of[name] for name in selected]
    problems = install(wanted)
    for status in statuses(wanted, patience):
        if status.problem is None:
            print(in_words(status), flush=True)
    for problem in problems:
        failed("adapters", problem)
    return 1 if problems else 0
