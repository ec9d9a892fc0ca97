"""What the table of a debug adapter may say; docs/adapters.md describes the keys."""

import re
from typing import Any, Literal

from msgspec import Struct

from trio_debugmcp.dap.profiles.compilers import Build
from trio_debugmcp.dap.profiles.detection import Detect
from trio_debugmcp.dap.profiles.habits import Habits
from trio_debugmcp.dap.profiles.native.safe_commands import SafeCommands
from trio_debugmcp.dap.profiles.native.symbol_listing import SymbolCommands
from trio_debugmcp.dap.profiles.tables.patterns import check_pattern


class Version(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The `file` that has an adapter's version, else the `command` that prints it; the oldest that works, and why.

    `tested`: the version, or the beginning of it, with which our tests debug.
    """

    command: tuple[str, ...] = ()
    file: str | None = None
    at_least: str | None = None
    why: str | None = None
    tested: str | None = None

    def __post_init__(self) -> None:
        if not self.command and self.file is None:
            raise ValueError("`command` or `file` is needed")
        for key, version in (("at-least", self.at_least), ("tested", self.tested)):
            if version is not None and not re.fullmatch(r"\d+(\.\d+)*", version):
                raise ValueError(f'`{key}` is to be a version such as "1.20", not "{version}"')


class Install(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """One way to install an adapter. Several keys are steps of this one way; dap/profiles/installing.py does them.

    Attributes:
        apt: packages; or a table of programs, each with its packages, which are only installed if it is not on PATH.
        pip: packages, for a virtual environment of their own.
        npm: packages with all that they depend on.
        npm_pack: one package without its dependencies, of which only what `unpack` names is kept.
        then: commands that run at the end.
        about: whose work that is and under which licence, for a person who is about to install it.
        command: a command line for a person; this server does not run it.
    """

    apt: str | dict[str, str] | None = None
    brew: str | None = None
    pip: str | None = None
    npm: str | None = None
    npm_pack: str | None = None
    unpack: tuple[str, ...] = ()
    then: tuple[tuple[str, ...], ...] = ()
    about: str | None = None
    command: str | None = None


class Transport(Struct, frozen=True, forbid_unknown_fields=True):
    """How an adapter that listens is reached after its start.

    Attributes:
        announced: a pattern for what it writes to a standard stream when it listens; its first group is the port.
        given: the port that its command line tells it: `{port}` is a free one.
        socket: the Unix socket that its command line tells it: `{socket}` is a new one.
    """

    announced: str | None = None
    given: str | None = None
    socket: str | None = None

    def __post_init__(self) -> None:
        ways = (self.announced, self.given, self.socket)
        if self.given is not None and "{port}" not in self.given:
            raise ValueError("`given` needs the placeholder {port}")
        if sum(way is not None for way in ways) != 1:
            raise ValueError("exactly one of `announced`, `given` and `socket` is needed")
        check_pattern("announced", self.announced, group="port")


class Exceptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The filters that stop where an exception is thrown; there, expressions for the addresses of it and its type.

    `panics`: names of the function in which Rust raises a panic, for which adapters have no filter; `ends`: of those by
    which the runtime of Fortran or Ada ends a program for an error; `errors`: of those by which a function of Zig
    returns one, each with the condition under which that ends the program, and `described` the expression for what it
    is; `functions`: by suffixes of languages whose exceptions the adapter does not know, the function that raises them.
    """

    raised: tuple[str, ...]
    thrown: tuple[str, str]
    panics: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    errors: dict[str, str] = {}
    described: str = ""
    functions: dict[str, str] = {}


class Table(Habits, Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="kebab", kw_only=True):
    """One adapter, as a file describes it."""

    language: str
    find: tuple[str, ...]
    command: tuple[str, ...]
    launch: dict[str, Any]
    attach: dict[str, Any] = {}
    core: dict[str, Any] = {}
    minidumps: bool = False
    attach_remote: dict[str, Any] | None = None
    types: tuple[str, ...] = ()
    install: Install | tuple[Install, ...] = ()
    needs: tuple[str, ...] = ()
    tested: bool = True
    detect: Detect = Detect()
    build: tuple[Build, ...] = ()
    reserved_options: tuple[str, ...] = ()
    target_options: tuple[str, ...] = ()
    code_options: tuple[str, ...] = ()
    version: Version | None = None
    transport: Literal["stdio"] | Transport = "stdio"
    just_my_code: dict[str, Any] = {}
    inspector: bool = False
    command_cwd: str | None = None
    program_streams: Literal["events", "terminal", "adapter"] = "events"
    is_program: bool = False
    request: Literal["launch", "attach"] = "launch"
    children: Literal["same-address"] | None = None
    hooks: Literal["native", "perl", "php", "ruby", "go", "javascript", "java", "browser", "lua"] | None = None
    evaluate_safe: SafeCommands | None = None
    exceptions: Exceptions | None = None
    renew: str | None = None
    symbols: SymbolCommands | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, what in (("find", self.find), ("command", self.command)):
            if not what:
                raise ValueError(f"`{key}` is empty")
        transport = self.transport
        if isinstance(transport, Transport):
            for way, name in ((transport.given, "{port}"), (transport.socket, "{socket}")):
                if way is not None and not any(name in word for word in self.command):
                    raise ValueError(
                        f"`command` needs the placeholder {name}, as `transport` says that the adapter is given it"
                    )
