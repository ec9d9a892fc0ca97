"""Installs debug adapters as their tables say, and checks them: the commands are printed before they are run.

`trio-debugmcp adapters --check` really debugs a tiny program with an adapter. The programs are in `samples/check/`. A
comment in each says where it is to stop, and which value an expression has there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import trio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from trio_debugmcp import samples
from trio_debugmcp.cli._output import innermost
from trio_debugmcp.dap.profiles import Profile, TableProfile
from trio_debugmcp.dap.profiles.finding import adapters_directory, forget_versions, is_ours, older_than_tested
from trio_debugmcp.dap.profiles.installing import MADE_BY, is_made_otherwise, steps_of, system_packages, way_here
from trio_debugmcp.dap.profiles.tables.placeholders import filled
from trio_debugmcp.dap.profiles.tables.table_format import Install
from trio_debugmcp.own_command import own_command
from trio_debugmcp.patience import Patience

CHECK_SECONDS = 60.0
"""For one adapter: a compiler and a debugger from a cold disk take ten. The server's own limits are all shorter."""

_PROGRAMS = Path(samples.__file__).parent / "check"

_STOP = re.compile(r"stop: (?P<expression>\S+) is (?P<value>\S+)")

_OUTPUT = "total 42"

_PAGE, _PAGE_SECONDS = ".html", 1.0
"""A program that stays when it has written its output, and for how long it is waited for then."""


class AdapterCheck(Struct, frozen=True, omit_defaults=True):
    """What came of it. `step`: the tool that failed."""

    ok: bool
    seconds: float
    step: str | None = None
    problem: str | None = None


def sample_for(profile: Profile) -> Path | None:
    """Return the program that is debugged to check an adapter; None if there is none of its language."""
    # Installed, the directory also has the compiled form of the Python one.
    files = [file for file in _PROGRAMS.iterdir() if file.is_file()]
    samples = {file.suffix: file for file in files if _STOP.search(file.read_text("utf-8"))}
    return next((samples[suffix] for suffix in profile.detect.suffixes if suffix in samples), None)


async def check(profile: Profile, files: Sequence[Path], program: Path, patience: Patience) -> AdapterCheck:
    """Start a server, with these files of tables, and have it debug a copy of the program with an adapter.

    Error handling: whatever goes wrong is the finding.
    """
    options = [f"--patience={patience.factor:g}", *(f"--adapters={file}" for file in files)]
    seconds = patience.seconds(CHECK_SECONDS)
    python, *words = own_command("serve", "--no-state", *options)
    server = StdioServerParameters(command=python, args=words, env=dict(os.environ))
    steps = _Steps(profile.name)
    start = trio.current_time()
    problem: str | None = None
    with tempfile.TemporaryDirectory(prefix="trio-debugmcp-check-") as directory:
        copy = Path(directory) / program.name
        shutil.copyfile(program, copy)
        try:
            with trio.fail_after(seconds):
                async with Client(server) as client:
                    start = trio.current_time()
                    problem = await steps.run(client, copy)
        except trio.TooSlowError:
            problem = f"no answer within {seconds:g} s"
        except (OSError, MCPError, trio.BrokenResourceError, trio.ClosedResourceError, ExceptionGroup) as error:
            problem = f"the server does not work: {innermost(error)}"
        took = round(trio.current_time() - start, 2)
    if problem is None:
        return AdapterCheck(True, took)
    return AdapterCheck(False, took, steps.current, problem)


class _Steps:
    """The calls that make up a check, one after the other."""

    def __init__(self, adapter: str) -> None:
        self._adapter = adapter
        self._text = ""
        self.current = "serve"

    async def run(self, client: Client, program: Path) -> str | None:
        """Return what is wrong with the first answer that is not as it should be."""
        lines = program.read_text("utf-8").splitlines()
        number, stop = next(
            (number, stop_mark) for number, line in enumerate(lines, 1) if (stop_mark := _STOP.search(line))
        )
        launch = {
            "program": str(program),
            "adapter": self._adapter,
            "cwd": str(program.parent),
            "stop_at_entry": False,
            "breakpoints": [{"file": str(program), "line": number}],
        }
        calls: list[tuple[str, dict[str, Any], str]] = [
            ("debug_launch", launch, rf'"reason":"Breakpoint".*{re.escape(program.name)}:{number}\b'),
            ("evaluate", {"expression": stop["expression"]}, rf'"{re.escape(stop["value"])}"'),
            ("debug_step", {}, r'"state":"(Paused|Disconnected)"'),
            ("debug_continue", {}, r'"state":"Disconnected"|NO_SESSION'),
        ]
        if program.suffix == _PAGE:  # which has no end
            calls[-1] = ("debug_continue", {"timeout": _PAGE_SECONDS}, r'"state":"Running"')
        for self.current, arguments, expected in calls:
            answer = await client.call_tool(self.current, arguments)
            text = "".join(getattr(part, "text", "") for part in answer.content)
            self._text += text
            if not re.search(expected, text, re.DOTALL):
                return _sentence(text)
        self.current = "output"
        return None if _OUTPUT in self._text else f"the program's output has no {_OUTPUT!r}: {self._text[-500:]}"


def _sentence(text: str) -> str:
    """Return what an answer says that is not the expected one."""
    try:
        error = json.loads(text)["error"]
        said = str(error["details"].get("stderr", "")).strip()
        return f"{error['message']} It wrote: {said[-500:]}" if said else str(error["message"])
    except (ValueError, KeyError, TypeError):
        return f"it answered {text[:500]}"


_COMMAND_SECONDS = 360.0
"""For one command. The largest package has 56 MB, and those of apt for all adapters together 270 MB."""


class CannotInstall(Exception):
    """A step of an installation has failed; the text says which."""


def install(profiles: Sequence[TableProfile]) -> list[str]:
    """Install the adapters that are not there, and return a sentence for each that is not there afterwards.

    One of an earlier installation that is older than what the tests debug with, or was made by other steps, is
    replaced; until the new one is whole, it stays. Packages of the system are installed together, as apt takes longer
    to start than to install, and a package of npm that has several adapters in it is fetched once.
    """
    wanted = [profile for profile in profiles if profile.locate() is None or _is_outdated(profile)]
    packages = {
        profile.name: [] if (way := way_here(profile.table)) is None else system_packages(way) for profile in wanted
    }
    problems = _install_system(packages)
    with tempfile.TemporaryDirectory(prefix="trio-debugmcp-npm-") as archives:
        for profile in wanted:
            way = way_here(profile.table)
            try:
                if way is None:
                    raise CannotInstall("there is no known way to install it here")
                print(what_comes(profile.name, way), file=sys.stderr, flush=True)
                _install_one(profile.name, way, Path(archives))
            except (CannotInstall, OSError, tarfile.TarError) as error:
                problems.setdefault(profile.name, str(error))
    forget_versions()
    return [
        f"{profile.name}: {problems.get(profile.name) or profile.absence()}"
        for profile in profiles
        if profile.name in problems or profile.locate() is None
    ]


def _is_outdated(profile: TableProfile) -> bool:
    copy = profile.finder.find(versions=True)
    if copy is None or not is_ours(copy.place):
        return False
    is_older = older_than_tested(copy.version, profile.table) is not None
    return is_older or is_made_otherwise(profile.name, copy.place, profile.table)


def what_comes(name: str, way: Install) -> str:
    """Say before it happens what is fetched, from where, and into which directory."""
    sources = {"Homebrew": way.brew, "PyPI": way.pip, "npm": way.npm or way.npm_pack}
    apt = system_packages(way)
    fetched = [f"{what} from {where}" for where, what in sources.items() if what]
    fetched += [f"{' '.join(apt)} from the packages of the system"] if apt else []
    into = f" into {adapters_directory() / name}" if way.pip or way.npm or way.npm_pack else ""
    about = f": {way.about}" if way.about else ""
    return f"{name}: {', '.join(fetched) or 'nothing is fetched'}{into}{about}"


def _install_system(packages_of: Mapping[str, list[str]]) -> dict[str, str]:
    """Install packages of the system, by the names of their adapters; return what went wrong, by these names."""
    packages = list(dict.fromkeys(package for some in packages_of.values() for package in some))
    if not packages:
        return {}
    root: list[str] = []
    if os.geteuid() != 0:
        root = ["sudo"] if sys.stdin.isatty() else ["sudo", "-n"]
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    install = [*apt, "install", "-y", "--no-install-recommends"]
    try:
        _run([*apt, "update"])
        _run([*install, *packages])
    except CannotInstall:
        problems = {}
        for name, some in packages_of.items():  # one that cannot be had must not keep the others away
            try:
                if some:
                    _run([*install, *some])
            except CannotInstall as error:
                problems[name] = str(error)
        return problems
    return {}


def _install_one(name: str, way: Install, archives: Path) -> None:
    """Do the steps of one way that are not the system's; packages of npm are kept in the directory `archives`.

    What npm brings, and what is made of it, is moved to its place when all of it is there: half of it is never found.
    """
    place = adapters_directory() / name
    if way.brew is not None:
        _run(["brew", "install", *way.brew.split()])
    if way.pip is not None:
        with _in_place_of(place):
            _run([sys.executable, "-P", "-m", "venv", "--clear", str(place)])
            _run([str(place / "bin" / "python"), "-P", "-m", "pip", "install", "--quiet", *way.pip.split()])
    if not (way.npm or way.npm_pack or way.then):
        return
    adapters_directory().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=adapters_directory()) as directory:
        new = Path(directory) / "new"
        new.mkdir()
        if way.npm is not None:
            _run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(new), *way.npm.split()])
        if way.npm_pack is not None:
            _unpack(_fetched(way.npm_pack, archives), way.unpack, new)
        for command in way.then:
            _run([str(word) for word in filled(command, {"installed": str(new)})])
        if way.then:
            (new / MADE_BY).write_text(steps_of(way))
        shutil.rmtree(place, ignore_errors=True)
        new.rename(place)


@contextmanager
def _in_place_of(place: Path) -> Iterator[None]:
    """Have a virtual environment made where it stays, as its scripts know where it is; if that fails the old one does.

    A renewal that is killed loses the old one, which is then no longer found, and the next installation removes it.
    """
    old = place.with_name(f".{place.name}-old")
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        place.rename(old)
    try:
        yield
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        if old.exists():
            old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _fetched(package: str, archives: Path) -> Path:
    """Return the archive of a package of npm, which is fetched unless an adapter before has done so."""
    place = archives / package.replace("/", "+")
    place.mkdir(exist_ok=True)
    if not any(place.glob("*.tgz")):
        _run(["npm", "pack", "--silent", "--pack-destination", str(place), package])
    (archive,) = place.glob("*.tgz")
    return archive


def _unpack(archive: Path, files: Sequence[str], new: Path) -> None:
    """Put the wanted files of a package of npm into the directory `new`."""
    with tarfile.open(archive) as packed:
        for member in packed:
            name = member.name.partition("/")[2]  # all is below package/
            if not files or any(name == file or name.startswith(f"{file}/") for file in files):
                packed.extract(member.replace(name=name, deep=False), new, filter="data")


def _run(command: Sequence[str]) -> None:
    print("+", " ".join(command), file=sys.stderr, flush=True)
    try:
        ran = subprocess.run(command, stdout=2, timeout=_COMMAND_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"`{command[0]}` did not end within {_COMMAND_SECONDS:g} s") from None
    except OSError as error:
        raise CannotInstall(f"`{command[0]}` cannot be run: {error.strerror}") from None
    if ran.returncode != 0:
        raise CannotInstall(f"`{' '.join(command)}` failed with exit code {ran.returncode}")
