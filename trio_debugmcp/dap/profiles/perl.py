"""Perl as its language server shows it, which names no paths, and as it prints what ends a program."""

import re

from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Words
from trio_debugmcp.dap.profiles.language import LanguagePrograms
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame, PrintedExceptions

_DIED = re.compile(r"(?P<said>\S.*) at (?P<file>\S.*?) line (?P<line>\d+)(?:, <[^<>]*> (?:line|chunk) \d+)?\.")

_WARNS, _DIES = re.compile(r"\b(?:warn|carp|cluck)\b"), re.compile(r"\b(?:die|croak|confess)\b")

_INDEX = re.compile(r"\[(\d+)\]|(\d+)")


class PerlValues(AdapterValues):
    """`@items` has `$items[1]`, which has `$items[1]{price}`."""

    def member(self, parent: str, name: str, parent_type: str | None) -> str | None:
        whole = re.fullmatch(r"[@%](\w+)", parent)
        # The sigil is that of what is inside, a scalar; what a scalar refers to is reached by an arrow.
        start = f"${whole[1]}" if whole is not None else parent if parent.endswith(("]", "}")) else f"{parent}->"
        index = _INDEX.fullmatch(name)
        return f"{start}[{index[1] or index[2]}]" if index is not None else f"{start}{{{name}}}"


class PerlWords(Words):
    """What Perl::LanguageServer leaves unsaid."""

    def why_never(self, file: str) -> str | None:
        # It knows a file by the name under which Perl has loaded it.
        if not file.endswith(".pm"):
            return None
        return (
            "perl-ls sets none in a module that Perl has found by a relative directory, as `use lib 'lib'` names one: "
            'use FindBin; use lib "$FindBin::Bin/lib"; or env={"PERL5LIB": "/path/to/lib"}'
        )


class PerlPrograms(LanguagePrograms):
    """What they have printed of the exception that ended them."""

    def printed_in(self, stderr: str) -> PrintedExceptions:
        # What `die` and `croak` say is the last that is written; callers, if any, stand behind it after a tab.
        lines = [line for line in stderr.rstrip().splitlines() if not line.startswith("\t")]
        died = _DIED.fullmatch(lines[-1]) if lines else None
        if died is None:
            return PrintedExceptions()
        crash = Crash(f"die: {died['said']}", (CrashFrame("", died["file"], int(died["line"])),))
        return PrintedExceptions(crash, unseen="perl-ls has no breakpoints on exceptions", by_line=True)

    def only_warns(self, line: str) -> bool:
        return _WARNS.search(line) is not None and _DIES.search(line) is None
