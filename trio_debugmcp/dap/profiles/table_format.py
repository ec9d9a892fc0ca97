"""What the table of a debug adapter may say; docs/adapters.md describes the keys."""

from typing import Any, Literal

from msgspec import Struct

from trio_debugmcp.dap.profiles.safe_commands import SafeCommands


class Detect(Struct, frozen=True, forbid_unknown_fields=True):
    """The programs for which an adapter is selected: suffixes of source files, or executables."""

    suffixes: tuple[str, ...] = ()
    elf: Literal["native"] | None = None


class Version(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """How an adapter says its version, the oldest that works, and why older ones do not."""

    command: tuple[str, ...]
    at_least: str
    why: str


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a program begins: a function of the user's."""

    function: str


class Exceptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The filters that stop where an exception is thrown; there, expressions for the addresses of it and its type."""

    raised: tuple[str, ...]
    thrown: tuple[str, str]


class Table(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """One adapter, as a file describes it."""

    language: str
    find: tuple[str, ...]
    command: tuple[str, ...]
    launch: dict[str, Any]
    attach: dict[str, Any] = {}
    install: dict[Literal["pip", "apt", "npm", "command"], str] = {}
    detect: Detect = Detect()
    version: Version | None = None
    transport: Literal["stdio"] = "stdio"
    program_streams: Literal["events", "terminal"] = "events"
    entry: Entry | None = None
    hooks: Literal["native"] | None = None
    evaluate_safe: SafeCommands | None = None
    exceptions: Exceptions | None = None
    renew: str | None = None
