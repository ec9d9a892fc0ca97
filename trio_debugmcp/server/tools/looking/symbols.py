"""The tools that look at types and functions: what a type consists of, and which there are."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.profiles.native.crash_texts import addresses_in
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.typed import (
    SymbolsData,
    TypeData,
    members_of,
    symbol_line,
    symbol_payload,
    type_data,
    type_place,
)
from trio_debugmcp.server.tools.looking.address_places import AddressesFound, address_line, places_of
from trio_debugmcp.server.tools.looking.safely import safe_place
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, FrameIndex, Params, SessionId, Start, ThreadId, Tool
from trio_debugmcp.session.breakpoints.class_lines import class_lines
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.by_probe.type_descriptions import DescribedType
from trio_debugmcp.session.looking.machine_code.native_symbols import SymbolsQuestion
from trio_debugmcp.session.looking.machine_code.native_types import MembersQuestion
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.payloads import json_size, truncated

_ROOM_BYTES = MAX_RESULT_BYTES - 1500
"""For the members or symbols of an answer, beside the rest."""

Kind = Literal["fields", "properties", "methods", "classMethods", "staticMethods", "attributes"]
Count = Annotated[int, Meta(ge=1, le=1000, description="How many at most.")]


class TypeGet(Params, frozen=True, kw_only=True):
    expression: Annotated[str, Meta(min_length=1, description="A type's name, or a value.")]
    filter: Annotated[str | None, Meta(description="Only members with this in their name.")] = None
    kind: Annotated[Kind | None, Meta(description="Only members of this kind.")] = None
    inherited: Annotated[bool, Meta(description="Also what library classes pass on; it is counted otherwise.")] = False
    start: Start = 0
    count: Count = 100
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class TypeDescription(Answer, frozen=True, kw_only=True):
    """A type: its bases, the bytes of an instance, and its members by kind.

    A member is its signature, type or value, then the class that passes it on, and its place; the file only where it is
    not that of `at`. `mro` where it has more than the `bases`. `inherited`: how many members library classes pass on
    that are not listed. `total`: how many members there are, where some were left out. `signature` of a function.
    """

    full: TypeData | None = None
    type: str
    at: str | None = None
    signature: str = ""
    doc: str = ""
    bases: tuple[str, ...] = ()
    mro: tuple[str, ...] = ()
    metaclass: str = ""
    size: int = 0
    item_size: int = 0
    fields: dict[str, str] = {}
    properties: dict[str, str] = {}
    methods: dict[str, str] = {}
    class_methods: dict[str, str] = {}
    static_methods: dict[str, str] = {}
    attributes: dict[str, str] = {}
    inherited: dict[str, int] = {}
    total: int | None = None
    notes: list[str] = []


class SymbolsSearch(Params, frozen=True, kw_only=True):
    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            description="Of names, with `*` and `?`; a part of the name; or a native address or crash's stack.",
        ),
    ]
    kind: Annotated[Literal["types", "functions"] | None, Meta(description="Only these.")] = None
    module: Annotated[
        str | None, Meta(description="Only modules (native: files) with this in their name; of an address: its file.")
    ] = None
    start: Start = 0
    count: Count = 100
    session_id: SessionId = None


class SymbolLines(Answer, frozen=True, kw_only=True):
    """A line each: full name, signature, place. `total`: how many there are of both, where some were left out."""

    full: SymbolsData | None = None
    types: list[str] = []
    functions: list[str] = []
    total: int | None = None
    notes: list[str] = []


async def _type(debugger: Debugger, params: TypeGet) -> TypeDescription:
    session, place = await safe_place(debugger, params.session_id, params.thread_id, params.frame_index)
    asked = MembersQuestion(params.filter, params.kind, params.inherited, params.start, params.count)
    found = await session.looking.types.describe(place, params.expression, asked)
    places = Places(debugger.workspace.directory)
    full = type_data(found, _class_lines(debugger, session))
    kinds, shown = _fitting(members_of(places, full))
    return TypeDescription(
        full=replace(full, members=[member for member in full.members if member.name in kinds.get(member.kind, ())]),
        type=found.name,
        at=type_place(places, full),
        signature=found.signature,
        doc=found.doc,
        bases=found.bases,
        mro=found.mro if len(found.mro) > len(found.bases) else (),
        metaclass=found.metaclass,
        size=found.size,
        item_size=found.item_size,
        fields=kinds.get("fields", {}),
        properties=kinds.get("properties", {}),
        methods=kinds.get("methods", {}),
        class_methods=kinds.get("classMethods", {}),
        static_methods=kinds.get("staticMethods", {}),
        attributes=kinds.get("attributes", {}),
        inherited=found.inherited,
        total=found.total if shown < found.total else None,
        notes=_type_notes(found),
    )


def _type_notes(found: DescribedType) -> list[str]:
    notes = []
    if found.ended:
        notes.append("there was not enough time to find all members: use filter or kind")
    if found.name == "module":
        notes.append("symbols_search with `module` lists what a module defines")
    return notes


def _fitting(kinds: dict[str, dict[str, str]]) -> tuple[dict[str, dict[str, str]], int]:
    """Return the first members that fit into an answer, and how many these are."""
    room, shown = _ROOM_BYTES, 0
    kept: dict[str, dict[str, str]] = {}
    for kind, members in kinds.items():
        for name, text in members.items():
            room -= json_size(name) + json_size(text)
            if room < 0 and shown:
                return kept, shown
            kept.setdefault(kind, {})[name] = text
            shown += 1
    return kept, shown


async def _symbols(debugger: Debugger, params: SymbolsSearch) -> SymbolLines:
    if addresses := addresses_in(params.pattern):
        wanted = addresses[params.start :][: params.count]
        found_places = await places_of(debugger, wanted, params.module, params.session_id)
        return _at_addresses(debugger, found_places, len(addresses))
    session, frame = debugger.program(params.session_id), None
    if session.looking.types.need_frame:
        session, place = await safe_place(debugger, params.session_id, None, 0)
        frame = place.frame
    asked = SymbolsQuestion(params.pattern, params.kind, params.module, params.start, params.count)
    found = await session.looking.types.symbols(frame, asked)
    places = Places(debugger.workspace.directory)
    line_of = _class_lines(debugger, session)
    payloads = [symbol_payload(symbol, line_of) for symbol in found.symbols]
    lines = truncated(((payload.is_type, symbol_line(places, payload)) for payload in payloads), _ROOM_BYTES)
    notes = [*found.notes]
    if found.searched is not None:
        notes.append(f"{found.searched} of {found.modules} modules were searched in time: narrow it by `module`")
    return SymbolLines(
        full=SymbolsData(symbols=payloads[: len(lines)], total=found.total),
        types=[line for is_type, line in lines if is_type],
        functions=[line for is_type, line in lines if not is_type],
        total=found.total if len(lines) < found.total else None,
        notes=notes,
    )


def _at_addresses(debugger: Debugger, found: AddressesFound, total: int) -> SymbolLines:
    places = Places(debugger.workspace.directory)
    lines = truncated((address_line(places, each) for each in found.symbols), _ROOM_BYTES)
    full = SymbolsData(symbols=[each.symbol for each in found.symbols[: len(lines)]], total=total)
    return SymbolLines(
        full=full, functions=list(lines), total=total if len(lines) < total else None, notes=list(found.notes)
    )


def _class_lines(debugger: Debugger, session: DebugSession) -> Callable[[str, str], int | None]:
    """Return what finds the line of a class in its file, which is read once, unless it was edited since the start."""
    began = None if session.snapshot is None else session.snapshot.origin.attached_at

    @cache
    def lines(file: str) -> dict[str, int]:
        debugger.sources.learn(file, session.id)
        try:
            source = debugger.sources.running(file, began, debugger.host)
        except UsageError:
            return {}
        return {} if source.edited and not source.from_before else class_lines(source.text)

    return lambda file, qualname: lines(file).get(qualname)


TOOLS = (
    Tool(
        name="type_get",
        title="Type",
        description=(
            "What a type consists of: bases, size, members by kind with signatures and where each is defined; offsets "
            "as gdb has them. Runs no code of the program."
        ),
        params=TypeGet,
        run=_type,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="symbols_search",
        title="Search types and functions",
        description=(
            "Types and functions of the loaded modules by name, with signatures and places. Of a native address, or "
            "the stack in a crash's log, the function and line, without a session."
        ),
        params=SymbolsSearch,
        run=_symbols,
        read_only=True,
        idempotent=True,
    ),
)
