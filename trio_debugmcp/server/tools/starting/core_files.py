"""What is left of a crash: whose it is, and which adapter reads it."""

from msgspec import Struct, convert, to_builtins

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.dap.profiles.native.core_file import MINIDUMP, read_core
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.paths import existing_file
from trio_debugmcp.server.tools.starting.checks import choose_of
from trio_debugmcp.session.debugger import Debugger


class _Left(Struct, frozen=True):
    """What a file says: whether it is a minidump, and the executable of a core file.

    `without_calls`: the machine, if the file does not say in which system calls the threads were.
    """

    minidump: bool = False
    program: str | None = None
    without_calls: str | None = None


def _left(path: str) -> _Left:
    try:
        with open(path, "rb", buffering=0) as file:
            if file.read(len(MINIDUMP)) == MINIDUMP:
                return _Left(minidump=True)
            core = read_core(file)
            if core is None:
                return _Left()
            return _Left(program=core.program, without_calls=None if core.has_calls else core.machine)
    except OSError:
        return _Left()


def _asked(debugger: Debugger, path: str) -> _Left:
    try:
        return convert(debugger.host.query(f"what core file {path} is", lambda: to_builtins(_left(path))), _Left)
    except UsageError:  # a recording from before this was asked
        return _Left()


def program_of_core(debugger: Debugger, core_file: str) -> str:
    """Return the executable that a core file is of.

    Raises:
        UsageError: `INVALID_PARAMETER`: it does not say that, or there is no such file here.
    """
    found = _asked(debugger, core_file).program
    there = None if found is None else existing_file(debugger, found)
    if there is None:
        was = f"It was '{found}', which is not here." if found else "The file does not say which it was."
        raise UsageError("INVALID_PARAMETER", f"Pass `program` with `core_file`: the executable that crashed. {was}")
    return there


def core_notes(debugger: Debugger, core_file: str) -> list[str]:
    """Return notes on what a core file does not say."""
    machine = _asked(debugger, core_file).without_calls
    if machine is None:
        return []
    return [f"what the threads waited for is not known: a core file of {machine} does not say in which calls they were"]


async def core_reader(debugger: Debugger, core_file: str) -> Profile | None:
    """Return the adapter that reads a minidump; None of a core file, which the adapter for its program reads."""
    if not _asked(debugger, core_file).minidump:
        return None
    return await choose_of(debugger, [each for each in debugger.settings.profiles if each.reads_minidumps])


def check_reads(debugger: Debugger, profile: Profile, core_file: str) -> None:
    """Check that an adapter reads what is left of a crash.

    Raises:
        UsageError: `NOT_SUPPORTED`.
    """
    minidump = _asked(debugger, core_file).minidump
    if profile.reads_minidumps if minidump else profile.reads_cores:
        return
    raise UsageError(
        "NOT_SUPPORTED",
        f"{profile.name} does not look at {'minidumps' if minidump else 'core files'}. Pass an `adapter` that does, or "
        "leave it out.",
        {"adapter": profile.name, "capability": "core"},
    )
