"""The tools that list what a program consists of: its modules and its source files."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from msgspec import Meta

from trio_debugmcp.errors import no_session
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.lines import module_line
from trio_debugmcp.server.answers.places import LIBRARY, Places
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params, SessionId, Start, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import ModulePayload, Payload, truncated
from trio_debugmcp.state.resources import module_payload

_ROOM_BYTES = MAX_RESULT_BYTES - 100
"""For the lines of an answer."""

Filter = Annotated[str | None, Meta(description="Only lines with this.")]
Count = Annotated[int, Meta(ge=1, le=10_000, description="How many lines.")]


class ModulesList(Params, frozen=True, kw_only=True):
    filter: Filter = None
    start: Start = 0
    count: Count = 100
    session_id: SessionId = None


class SourcesList(Params, frozen=True, kw_only=True):
    filter: Filter = None
    start: Start = 0
    count: Count = 100
    absolute: Annotated[bool, Meta(description="Whole paths, as the resources have them.")] = False
    session_id: SessionId = None


class ModulesData(AnswerData, frozen=True, kw_only=True):
    """A page of `total` modules, as in `debugger://modules`; the `id` of a module of Python is its name."""

    modules: list[ModulePayload]
    total: int


class SourcePayload(Payload, frozen=True):
    """A source file of the program."""

    file: str
    is_user_code: bool


class SourcesData(AnswerData, frozen=True, kw_only=True):
    """A page of `total` files."""

    sources: list[SourcePayload]
    total: int


class ModuleLines(Answer, frozen=True, kw_only=True):
    """A line each: name, version, file. `total`: how many there are, where some were left out."""

    full: ModulesData | None = None
    modules: list[str]
    total: int | None = None
    notes: list[str] = []


class SourceLines(Answer, frozen=True, kw_only=True):
    """The files by name. `total`: how many there are, where some were left out."""

    full: SourcesData | None = None
    sources: list[str]
    total: int | None = None


async def _modules(debugger: Debugger, params: ModulesList) -> ModuleLines:
    session = debugger.program(params.session_id)
    places = Places(debugger.workspace.directory)
    found = await session.looking.types.modules(params.start, params.count, params.filter)
    modules = [module_payload(module) for module in found.modules]
    lines = [module_line(places, module) for module in modules]
    if found.failure is None:
        kept = truncated(lines, _ROOM_BYTES)
        full = ModulesData(modules=modules[: len(kept)], total=found.total)
        return ModuleLines(full=full, modules=kept, total=_where_cut(kept, found.total))
    page, shown, total = _page([*zip(modules, lines, strict=True)], params)
    reason = found.failure.reason
    note = f"only those whose code has been seen at a stop: the program does not say what it has, as {reason}"
    return ModuleLines(
        full=ModulesData(modules=page, total=total),
        modules=shown,
        total=_where_cut(shown, total),
        notes=[note] if session.looking.is_python else [],
    )


async def _sources(debugger: Debugger, params: SourcesList) -> SourceLines:
    session = debugger.program(params.session_id)
    if session.snapshot is None:
        raise no_session()
    places = Places(debugger.workspace.directory)
    libraries = _library_files(session.snapshot)
    files = [
        SourcePayload(path, path not in libraries and not _is_library(session, path))
        for path in debugger.sources.known()
    ]
    lines = [
        (path if params.absolute else places.file(path)) + ("" if file.is_user_code else LIBRARY)
        for file in files
        for path in [file.file]
    ]
    page, shown, total = _page([*zip(files, lines, strict=True)], params)
    return SourceLines(full=SourcesData(sources=page, total=total), sources=shown, total=_where_cut(shown, total))


def _is_library(session: DebugSession, path: str) -> bool:
    return session.profile.code.is_library(path)


def _library_files(snapshot: Snapshot) -> set[str]:
    """The files of which the adapter has said that they are not the user's code."""
    found = {module.path for module in snapshot.modules if module.is_user_code is False}
    found |= {frame.location.file for frame in snapshot.stack.frames if not frame.is_user_code}
    return {each for each in found if each is not None}


T = TypeVar("T")


def _page(shown: Sequence[tuple[T, str]], params: ModulesList | SourcesList) -> tuple[list[T], list[str], int]:
    """Return what is asked for, with its lines, and how many there are."""
    word = (params.filter or "").lower()
    found = [(item, line) for item, line in shown if word in line.lower()]
    page = found[params.start : params.start + params.count]
    lines = truncated((line for _, line in page), _ROOM_BYTES)
    return [item for item, _ in page[: len(lines)]], lines, len(found)


def _where_cut(lines: Sequence[str], total: int) -> int | None:
    return total if len(lines) < total else None


TOOLS = (
    Tool(
        name="modules_list",
        title="Modules",
        description="The modules that the program has loaded, with their files.",
        params=ModulesList,
        run=_modules,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="sources_list",
        title="Source files",
        description="The program's files that have been seen so far, which source_get reads.",
        params=SourcesList,
        run=_sources,
        read_only=True,
        idempotent=True,
        unlisted=frozenset({"absolute"}),
    ),
)
