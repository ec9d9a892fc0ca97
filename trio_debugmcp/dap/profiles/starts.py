"""What is to be started: a program to launch, one to attach to, a door for programs that dial in, or a child. Pure."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.door_tls import DoorTls
from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.sockets import SocketAddress


class PathMapping(Struct, frozen=True):
    """A directory of this machine, and where the program has it."""

    local: str
    remote: str


class MainClass(Struct, frozen=True):
    """The class that a program begins in, and the path of its classes: of sources, the directory of its packages.

    `entry`: the class that has the user's `main`, if that is another; `libraries`: jars that its language needs.
    """

    name: str
    path: str
    entry: str = ""
    libraries: tuple[str, ...] = ()

    @property
    def class_path(self) -> tuple[str, ...]:
        """Where its classes are, and those of its language."""
        return (self.path, *self.libraries)


class RunRecording(Struct, frozen=True):
    """A run that is to be recorded.

    Attributes:
        root: the code of files below this directory is recorded.
        include: module names and path prefixes of further code that is.
        max_mb: of files, for each process; the oldest of what happened goes.
        directory: where the files are written.
    """

    root: str
    include: tuple[str, ...] = ()
    max_mb: int = 256
    directory: str = ""

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the engine's request `recordRun`, and of a start that records."""
        return {
            "directory": self.directory,
            "root": self.root,
            "include": list(self.include),
            "maxMb": self.max_mb,
        }


class Launch(Struct, frozen=True):
    """A program to start under the debugger; paths are absolute.

    Attributes:
        interpreter: what runs it, where that has been found out before; else what this server runs on.
        unset: variables of the server's environment that it does not get.
        stdin: the whole of its standard input; None leaves that open for what is written later.
        stop_at: the break modes in which any exception stops it: `unhandled`, `userUnhandled`.
        fails_with: types of exceptions that stop it where they are raised, as a test fails there.
        fails_below: not in the program itself, but in those that it starts.
        raised: a pattern of what a runner of tests writes of an exception that has ended one, with its type as `kind`.
        restart_at_entry: whether a restart stops at entry, where that is not as `stop_at_entry` says.
        build: how it is built, if not as other programs of its language.
        source: what the program was built from by us; a restart builds it again.
        preface: what was written before it starts: by its build.
        main: the class that it begins in, in a language where that is its name.
        tasks: what is run around the session (`session/before/configured_tasks.py`).
        recording: how its run is recorded; None: it is not. `what`: the program in a few words, for a list of runs.
    """

    program: str
    args: tuple[str, ...] = ()
    cwd: str = "."
    env: Mapping[str, str] = {}
    unset: tuple[str, ...] = ()
    stop_at_entry: bool = True
    just_my_code: bool = True
    options: Mapping[str, Any] = {}
    interpreter: str | None = None
    stdin: str | None = None
    stop_at: tuple[str, ...] = ()
    fails_with: tuple[str, ...] = ()
    fails_below: bool = False
    raised: str | None = None
    restart_at_entry: bool | None = None
    path_mappings: tuple[PathMapping, ...] = ()
    build: BuildPlan | None = None
    source: str | None = None
    preface: str = ""
    main: MainClass | None = None
    tasks: object = None
    recording: RunRecording | None = None
    what: str = ""


class Attach(Struct, frozen=True):
    """A running program: by process id, or by the port on which an adapter listens for it; or what a crash has left.

    `program` is the executable, where that has to be known; `name`: what a person calls the process. `cwd`: the
    directory of its sources, as far as they are named by other places, as those of a page are. `stop`: it is to stay
    where attaching stops it, and not to run on.
    """

    pid: int | None = None
    host: str | None = None
    port: int | None = None
    program: str | None = None
    core_file: str | None = None
    name: str | None = None
    cwd: str = "."
    path_mappings: tuple[PathMapping, ...] = ()
    options: Mapping[str, Any] = {}
    tasks: object = None
    stop: bool = False


class Listen(Struct, frozen=True):
    """An address where programs dial in by themselves with this token, and where their files are on this machine."""

    host: str
    port: int
    token: str
    path_mappings: tuple[PathMapping, ...] = ()
    tls: DoorTls | None = None


class ChildStart(Struct, frozen=True):
    """A child session that the adapter announced: the request that starts it, and its arguments.

    `parent_address`: where the adapter of its parent listens, if on a socket. `asked`: how the program was started, if
    this child is it, because its parent only launches.
    """

    request: str
    configuration: dict[str, Any]
    parent_address: SocketAddress | None = None
    asked: Launch | Attach | None = None


RootStart = Launch | Attach | Listen

Start = RootStart | ChildStart


def asked_for(start: Start) -> Start:
    """Return what a client asked for, if this session is the program of that; else the start itself."""
    return start.asked if isinstance(start, ChildStart) and start.asked is not None else start
