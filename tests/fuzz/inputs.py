"""Strategies: JSON of any kind, and messages that nearly fit the types and schemas that they should fit."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from trio_debugmcp.dap.messages import EVENT_TYPES
from trio_debugmcp.probe import answers

HUGE = 10**30
"""Beyond what fits into 64 bits, and beyond what JSON numbers are exact for."""

TEXT = (
    st.text(max_size=12)
    | st.sampled_from(["", "\0", "/a\0b", "..", "../../etc/passwd", "\N{SNOWMAN}", "\n", "%2e%2e", "{", "None"])
    | st.sampled_from("xé").map(lambda character: 5000 * character)
)
NUMBERS = st.integers(-3, 3) | st.sampled_from(
    [HUGE, -HUGE, 2**31, 2**53 + 1, 2**63, -(2**63), 2**64, 0.5, -1.5, 1e300, float("inf"), float("nan")]
)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
"""Any JSON value, and `Infinity` and `NaN`, as Python's `json` writes them."""


def encoded(value: object) -> bytes:
    """Encode as JSON text, with the `NaN` and `Infinity` that many JSON libraries send."""
    return json.dumps(value).encode()


def deep(depth: int) -> bytes:
    """Arrays nested as deep as that, more than any parser follows."""
    return b"[" * depth + b"]" * depth


# --- Debug adapters ----------------------------------------------------------------------------------------------


@cache
def near_struct(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """JSON objects with the members of a struct, valid, invalid or missing; or other JSON."""
    return st.deferred(lambda: _near_struct(kind))  # a struct may contain others of its kind


def _near_struct(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    fields = {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}
    members = {name: near_type(hint) for name, hint in fields.items()}
    return st.fixed_dictionaries({}, optional=members) | st.fixed_dictionaries(members) | JSON


def near_type(hint: Any) -> st.SearchStrategy[Any]:
    """JSON that mostly fits a type."""
    arguments = [each for each in getattr(hint, "__args__", ()) if each is not type(None)]
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return near_struct(hint)
    if getattr(hint, "__origin__", None) in {list, tuple}:  # of any length: there are no other tuples
        return st.lists(near_type(arguments[0]), max_size=3) | SCALARS
    if arguments:
        return st.one_of([near_type(each) for each in arguments]) | st.none()
    fitting = {int: st.integers(-1, 5), str: TEXT, bool: st.booleans(), float: st.floats(0, 10)}.get(hint, JSON)
    return st.one_of(fitting, fitting, fitting, SCALARS)


@cache
def fitting_struct(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """JSON objects that fit a struct, with odd values."""
    return st.deferred(lambda: _fitting_struct(kind))


def _fitting_struct(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    fields = msgspec.structs.fields(kind)
    members = {field.encode_name: fitting_type(hints[field.name]) for field in fields}
    required = {field.encode_name: members.pop(field.encode_name) for field in fields if field.required}
    return st.fixed_dictionaries(required, optional=members)


def fitting_type(hint: Any) -> st.SearchStrategy[Any]:
    """JSON that fits a type of the probe's answers."""
    arguments: tuple[Any, ...] = getattr(hint, "__args__", ())
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return fitting_struct(hint)
    if get_origin(hint) is Literal:
        return st.sampled_from(arguments)
    if getattr(hint, "__origin__", None) is tuple:
        return st.lists(fitting_type(arguments[0]), max_size=3)
    if arguments:
        return st.one_of([st.none() if each is type(None) else fitting_type(each) for each in arguments])
    numbers = st.integers(-1, 5) | st.sampled_from([2**53 + 1, -(2**63)])
    return {int: numbers, str: TEXT, bool: st.booleans(), float: st.floats(0, 10)}[hint]


KINDS = ["absent", "invalid", "thread", "frame", "evaluation", "slow", "raised"]
FAILURES = st.fixed_dictionaries({}, optional={"kind": st.sampled_from(KINDS) | SCALARS, "message": SCALARS})


def replies(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Replies of the probe to one question."""
    return (
        st.fixed_dictionaries({"answer": fitting_struct(kind)}, optional={"cut": st.booleans()})
        | st.fixed_dictionaries({"answer": near_struct(kind)}, optional={"cut": SCALARS, "ms": SCALARS})
        | st.fixed_dictionaries({"error": FAILURES})
    )


ANSWERS = st.one_of(
    [
        replies(kind)
        for kind in (answers.ProbeThreads, answers.Frames, answers.ProbeStacks, answers.ProbeStop, answers.Tasks)
    ]
)
"""Replies of the probe."""

EVENTS = st.sampled_from(sorted(EVENT_TYPES)).flatmap(
    lambda name: st.tuples(st.just(name), near_struct(EVENT_TYPES[name]))
) | st.tuples(TEXT, JSON)
"""Events by name, each with a body that nearly fits."""

ENVELOPES = st.fixed_dictionaries(
    {"type": st.sampled_from(["request", "response", "event"]) | SCALARS},
    optional={
        "seq": NUMBERS,
        "request_seq": NUMBERS,
        "success": st.booleans() | SCALARS,
        "command": st.sampled_from(["threads", "stackTrace", "startDebugging", "nonsense"]) | SCALARS,
        "message": SCALARS,
        "event": st.sampled_from(sorted(EVENT_TYPES)) | SCALARS,
        "body": JSON,
        "arguments": JSON,
    },
)
"""Whole messages, without `runInTerminal`: its command would be run."""


# --- MCP clients -------------------------------------------------------------------------------------------------

METHODS = [
    "initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
    "resources/templates/list", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen", "prompts/list",
    "prompts/get", "completion/complete", "logging/setLevel", "notifications/initialized", "notifications/cancelled",
    "notifications/progress", "notifications/roots/list_changed", "tasks/get", "no/such",
]  # fmt: skip
URIS = [
    "debugger://session", "debugger://timeline", "debugger://nothing", "debugger://source/", "debugger://source//etc/passwd",
    "debugger://source/%00", "debugger://source/%2e%2e/%2e%2e/etc/passwd", "file:///etc/passwd", ":", "",
]  # fmt: skip
MEMBERS = {
    "uri": st.sampled_from(URIS) | JSON,
    "name": st.sampled_from(["debug_state", "evaluate", "find_bug_source", "no_such"]) | JSON,
    "arguments": JSON,
    "ref": st.fixed_dictionaries({"type": st.sampled_from(["ref/prompt", "ref/resource"]) | SCALARS}, optional={
        "name": st.sampled_from(["find_bug_source"]) | SCALARS, "uri": st.sampled_from(URIS) | SCALARS,
    }) | JSON,
    "argument": st.fixed_dictionaries({"name": TEXT | SCALARS, "value": TEXT | SCALARS}) | JSON,
    "level": st.sampled_from(["debug", "emergency"]) | SCALARS,
    "cursor": SCALARS,
    "requestId": NUMBERS | TEXT,
    "progressToken": SCALARS,
    "progress": NUMBERS,
    "notifications": st.fixed_dictionaries({}, optional={
        "resourcesListChanged": SCALARS, "resourceSubscriptions": st.lists(st.sampled_from(URIS) | TEXT, max_size=3),
    }),
    "protocolVersion": st.sampled_from(["2025-11-25", "2024-11-05", "2026-07-28", "1900-01-01"]) | SCALARS,
    "capabilities": JSON,
    "clientInfo": JSON,
    "_meta": st.fixed_dictionaries({}, optional={
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(["2026-07-28", "2025-11-25"]) | SCALARS,
        "io.modelcontextprotocol/clientInfo": JSON,
        "io.modelcontextprotocol/clientCapabilities": JSON,
        "io.modelcontextprotocol/logLevel": SCALARS,
        "progressToken": SCALARS,
    }) | JSON,
}  # fmt: skip
PARAMS = st.fixed_dictionaries({}, optional=MEMBERS) | JSON
IDS = st.integers(1, 2**40) | st.text(st.characters(codec="ascii"), min_size=1, max_size=8)
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": IDS, "method": st.sampled_from(METHODS) | TEXT}, optional={"params": PARAMS}
)
"""Requests with a valid envelope."""

MCP_LINES = (
    st.binary(max_size=30).map(lambda line: line.replace(b"\n", b" "))
    | JSON.map(encoded)
    | REQUESTS.map(encoded)
    | st.fixed_dictionaries(
        {},
        optional={
            "jsonrpc": st.just("2.0") | SCALARS,
            "id": SCALARS | st.just("\ud800"),
            "method": st.sampled_from(METHODS) | SCALARS,
            "params": PARAMS,
            "result": JSON,
            "error": JSON,
        },
    ).map(encoded)
    | st.sampled_from([b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b"[]", b'""'])
    | st.sampled_from([100, 100_000]).map(deep)
    | st.just(b"1").map(lambda digit: 6000 * digit)
)
"""One line on standard input."""


@st.composite
def arguments_of(draw: st.DrawFn, schema: Mapping[str, Any]) -> Any:
    """Arguments that nearly fit a tool's input schema."""
    return draw(near_schema(schema, schema))


def near_schema(schema: Mapping[str, Any], root: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """JSON that mostly fits a part of a schema."""
    if "$ref" in schema:
        return near_schema(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema:
        return st.one_of([near_schema(each, root) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | SCALARS
    fitting: st.SearchStrategy[Any]
    match schema.get("type"):
        case "object":
            members = {name: near_schema(each, root) for name, each in schema.get("properties", {}).items()}
            required = {name: members[name] for name in schema.get("required", [])}
            fitting = st.fixed_dictionaries(
                required, optional={name: each for name, each in members.items() if name not in required}
            )
            if not members:
                fitting = st.dictionaries(TEXT, JSON, max_size=2)
        case "array":
            fitting = st.lists(near_schema(schema.get("items", {}), root), max_size=3)
        case "integer":
            fitting = st.integers(*_range(schema)) | NUMBERS
        case "number":
            fitting = st.floats(*_range(schema)) | NUMBERS
        case "boolean":
            fitting = st.booleans()
        case "string":
            fitting = TEXT
        case _:
            return JSON
    return st.one_of(fitting, fitting, fitting, fitting, JSON)


def _range(schema: Mapping[str, Any]) -> tuple[int, int]:
    """The range of a schema, limited to small numbers, where most defects are."""
    least = int(schema.get("minimum", -2))
    return least, min(int(schema.get("maximum", least + 50)), least + 50)
