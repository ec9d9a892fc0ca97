"""What the table of a debug adapter may say; docs/adapters.md describes the keys."""

from typing import Any, Literal

from msgspec import Struct

from trio_debugmcp.dap.profiles.detection import Detect
from trio_debugmcp.dap.profiles.habits import Habits
from trio_debugmcp.dap.profiles.safe_commands import SafeCommands


class Version(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The `command` that prints an adapter's version, or the `file` that has it; the oldest that works, and why."""

    command: tuple[str, ...] = ()
    file: str | None = None
    at_least: str | None = None
    why: str | None = None


class Install(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """One way to install an adapter. Several keys are steps of this one way; dap/profiles/installing.py does them.

    Attributes:
        apt: packages; beside other steps they are only installed where a program that is needed is missing.
        pip: packages, for a virtual environment of their own.
        npm: packages with all that they depend on.
        npm_pack: one package without its dependencies, of which only what `unpack` names is kept.
        then: commands that run at the end.
        command: a command line for a person; this server does not run it.
    """

    apt: str | None = None
    brew: str | None = None
    pip: str | None = None
    npm: str | None = None
    npm_pack: str | None = None
    unpack: tuple[str, ...] = ()
    then: tuple[tuple[str, ...], ...] = ()
    command: str | None = None


class Exceptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The filters that stop where an exception is thrown; there, expressions for the addresses of it and its type."""

    raised: tuple[str, ...]
    thrown: tuple[str, str]


class Table(Habits, Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """One adapter, as a file describes it."""

    language: str
    find: tuple[str, ...]
    command: tuple[str, ...]
    launch: dict[str, Any]
    attach: dict[str, Any] = {}
    types: tuple[str, ...] = ()
    install: Install | tuple[Install, ...] = ()
    needs: tuple[str, ...] = ()
    tested: bool = True
    detect: Detect = Detect()
    version: Version | None = None
    transport: Literal["stdio"] = "stdio"
    program_streams: Literal["events", "terminal"] = "events"
    hooks: Literal["native"] | None = None
    evaluate_safe: SafeCommands | None = None
    exceptions: Exceptions | None = None
    renew: str | None = None
