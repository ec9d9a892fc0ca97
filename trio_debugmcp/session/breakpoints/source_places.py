"""`SourcePlaces`: where the user's breakpoints belong in the program's source, for languages whose source is read."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import trio
from msgspec.structs import astuple

from trio_debugmcp.dap.profiles.first_statement import first_statement
from trio_debugmcp.dap.profiles.function_code import FunctionPlace
from trio_debugmcp.dap.profiles.golang import GoCode
from trio_debugmcp.dap.profiles.java.java_expressions import JavaCode
from trio_debugmcp.dap.profiles.java.jvm_sources import SUFFIXES
from trio_debugmcp.dap.profiles.javascript.function_files import left_out
from trio_debugmcp.dap.profiles.javascript.javascript import JavaScriptCode
from trio_debugmcp.dap.profiles.javascript.source_maps import only_source
from trio_debugmcp.dap.profiles.language import Code
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.dap.profiles.native.rust_functions import is_of_rust
from trio_debugmcp.dap.profiles.near_names import MAX_NAMED
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Start, asked_for
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe import bootstrap
from trio_debugmcp.session.breakpoints.class_breakpoints import MadeClasses
from trio_debugmcp.session.breakpoints.line_text import found_again
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import Sources, decode_source, is_within
from trio_debugmcp.session.start import directory_of
from trio_debugmcp.source_lines import source_lines
from trio_debugmcp.state.breakpoint import Breakpoint, StopPlace
from trio_debugmcp.state.payloads import UnixTime

T = TypeVar("T")

MAX_SOURCE_LENGTH = 1_000_000
"""Characters of a file in which its first statement is looked for."""

MAX_READ_AT_ONCE = 4_000_000
"""Bytes of an executable whose functions are read while all else waits: some hundredths of a second."""


class SourcePlaces:
    """Those of one session, which has begun by `start`."""

    def __init__(self, profile: Profile, host: Host, sources: Sources, start: Start) -> None:
        asked = asked_for(start)
        self._profile = profile
        self._host = host
        self._sources = sources
        self._directory = directory_of(start)
        self._program = (asked.source or asked.program) if isinstance(asked, Launch) else ""
        self._executable = (asked.program or "") if isinstance(asked, Launch | Attach) else ""

    def __repr__(self) -> str:
        return f"<SourcePlaces below {self._directory}>"

    async def function_place(self, function: str, near: Sequence[str] = ()) -> FunctionPlace | None:
        """Find a function in the files of the program; with line 0, if only the adapter can stop in it.

        `near`: directories that may have files of it, too.
        """
        code, (files, directories) = self._profile.code, self._near(near)

        def find() -> tuple[Any, ...] | None:  # in a recording it is JSON
            place = code.function_place(function, files, directories, partial(_may_read, self._sources))
            return None if place is None else astuple(place)

        found = await self._looked_for(f"function {function}", find, None)
        return None if found is None else FunctionPlace(*found)

    async def functions_alike(self, function: str, near: Sequence[str] = ()) -> str:
        """Return the question whether functions of the program are meant by a name; empty where none is like it.

        Where not all files were looked through, it says so.
        """
        code, (files, directories) = self._profile.code, self._near(near)

        def find() -> list[tuple[str, str]]:
            alike = code.find_functions(function, files, directories, alike=True)
            return [(file, each.qualname) for file, each in alike if _may_read(self._sources, file)]

        none: list[tuple[str, str]] = []
        found = await self._looked_for(f"functions like {function}", find, none, alike=True)
        named = [
            f"`{name}` ({Path(file).name})" if file else f"`{name}`"
            for file, name in dict.fromkeys((file, name) for file, name in found)
        ]
        more = f" or {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
        meant = f"do you mean {' or '.join(named[:MAX_NAMED])}{more}?" if named else ""
        if not isinstance(code, JavaScriptCode):
            return meant
        question = f"files left out of the search for {function}"
        note = await self._looked_for(question, lambda: left_out(files, directories), "")
        return "; ".join(filter(None, (note, meant)))

    async def _looked_for(self, question: str, find: Callable[[], T], default: T, *, alike: bool = False) -> T:
        """Ask the host about functions, where any are looked for; a recording without the question has the default.

        `alike`: about names like one, which executables have, too.
        """
        in_files = self._finds_functions
        if not (in_files or (alike and isinstance(self._profile.code, NativeCode | GoCode))):
            return default
        try:
            in_thread = in_files or _size_of(self._executable) > MAX_READ_AT_ONCE
            return await searched(self._profile.code, self._host, question, find, in_thread=in_thread)
        except UsageError:
            return default

    @property
    def _finds_functions(self) -> bool:
        """Whether files of the program can have the functions that are looked for: of machine code those of Rust."""
        code, executable = self._profile.code, self._executable
        if not isinstance(code, NativeCode) or not executable:
            return code.finds_functions
        try:  # apart from the search, which is in a thread: most programs of machine code need none
            return self._host.query(f"whether {executable} is of Rust", lambda: is_of_rust(executable))
        except UsageError:  # a recording that was made without the question
            return False

    def _near(self, near: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the files of the program that are known, and the directories where more of it may be."""
        named = (self._program, self._executable, *self._sources.known())
        files = [file for file in named if Path(file).is_absolute()]
        directories = [str(Path(file).parent) for file in files]
        own = [self._directory] if self._directory is not None else []
        return files, list(dict.fromkeys([*directories, *own, *near]))

    def line_with_code(self, file: str, line: int) -> int | None:
        code, text = self._profile.code, self._sources.code(file)
        default: int | None = line
        return self._query(f"line {line} of {file}", lambda: code.line_with_code(file, line, text), default)

    def in_running_text(self, place: Breakpoint, began: UnixTime | None) -> tuple[Breakpoint, str | None]:
        """Return a breakpoint as it is to be in the text that a process runs which has begun then, with what changed.

        A file may have been edited since the breakpoint was set, and processes run the text of their beginning.
        """
        file, line = place.spec.file, place.spec.line
        if file is None or line is None or place.spec.text is None or file not in self._sources:
            return place, None
        try:
            running = self._sources.running(file, began, self._host)
        except UsageError:  # not on disk, or a recording that was made without the question
            return place, None
        if running.edited and not running.from_before:  # the text that runs is not known
            return place, None
        return found_again(place, source_lines(running.text))

    async def classes(self, file: str, class_path: str) -> MadeClasses:
        """Return the classes by which the adapter knows a file, with their lines; none if it knows the file itself.

        A class path may have many archives: they are read in a thread, which a cancellation leaves to itself.
        """
        code, text = self._profile.code, self._sources.code(file)
        if not isinstance(code, JavaCode) or not file.endswith(SUFFIXES):
            return []

        async def ask() -> list[tuple[str, Sequence[int]]]:
            return [*await trio.to_thread.run_sync(code.classes_of, file, text, class_path, abandon_on_cancel=True)]

        try:
            found = await self._host.find_out(f"classes of {file}", ask)
        except UsageError:  # a recording that was made without the question
            return []
        return [(name, lines) for name, lines in found]

    def first_statement(self, file: str) -> int:
        """Return the line where a program of this file begins; the first if that is not found."""

        def find() -> int | None:
            try:
                text = decode_source(Path(file).read_bytes()[:MAX_SOURCE_LENGTH], Path(file).suffix)
                return first_statement(text)
            except OSError:
                return None

        try:
            return self._host.query(f"first statement of {file}", find) or 1
        except UsageError:  # a recording that was made without the question
            return 1

    def ends_block(self, file: str, line: int) -> bool:
        """Whether a line does nothing but end a block of the language, as far as the file is there."""

        def find() -> bool:
            try:
                lines = source_lines(Path(file).read_text(errors="replace")[:MAX_SOURCE_LENGTH])
            except OSError:
                return False
            return 0 < line <= len(lines) and lines[line - 1].strip() == "}"

        try:
            return self._host.query(f"end of a block in line {line} of {file}", find)
        except UsageError:  # a recording that was made without the question
            return False

    def _query(self, question: str, ask: Callable[[], T], default: T) -> T:
        """Ask the host about the program's source; a recording that was made without the question has the default."""
        if not self._profile.code.reads_source:
            return default
        try:
            return self._host.query(question, ask)
        except UsageError:
            return default

    def guarded(self, file: str, place: StopPlace) -> str:
        """The condition of a breakpoint, to be judged in the frame that is meant; empty if it has none.

        A hit is a statement that begins: it never means the frames of a comprehension on its line, unless the condition
        is about the variables of that.
        """
        spec, code = place.spec, self._profile.code
        line, condition = spec.line or 1, spec.condition or ""
        if condition.startswith(bootstrap.REACHED_MARK):  # no code: it looks at the frame itself
            return condition
        condition = condition or "True"
        question, about = f"condition {condition} at line {line} of {file}", place.observed or spec.log_message
        guarded = self._query(question, lambda: code.condition_at(file, line, condition, about), condition)
        return "" if guarded == "True" and not spec.condition else guarded


def _may_read(sources: Sources, file: str) -> bool:
    """Whether a file that was found may be read: a package may begin above what the server is confined to."""
    return not file or is_within(sources.roots, os.path.realpath(file))


def _size_of(file: str) -> int:
    try:
        return os.path.getsize(file)
    except OSError:
        return 0


async def searched(code: Code, host: Host, question: str, find: Callable[[], T], *, in_thread: bool = True) -> T:
    """Ask the host what is in the files of a program; in a thread, where many are looked through.

    A cancellation leaves the thread to itself.
    """
    if not (in_thread and isinstance(code, JavaScriptCode | NativeCode | GoCode)):
        return host.query(question, find)

    async def ask() -> T:
        return await trio.to_thread.run_sync(find, abandon_on_cancel=True)

    return await host.find_out(question, ask)


def source_of_built(code: Code, host: Host, file: str) -> str:
    """Return the one file that a file was built from, itself if that is not known."""
    if not isinstance(code, JavaScriptCode):
        return file
    try:
        return host.query(f"source of {file}", lambda: only_source(file)) or file
    except UsageError:  # a recording that was made without the question
        return file
