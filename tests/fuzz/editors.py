"""Requests of editors, made from the protocol's schema: their arguments fit it, or are wrong in some places."""

import json
import re
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.editors.bench import SCHEMA
from tests.fuzz import inputs
from trio_debugmcp.testing import FakeAdapter

DEFINITIONS: dict[str, dict[str, Any]] = SCHEMA["definitions"]

TEXTS = st.sampled_from(["", "count", "count + 1", "x =", "1", "main", "uncaught", "hover", "repl", "\x00", "é" * 300])

PATHS = st.sampled_from([FakeAdapter.program, "/src/other.py", "", "relative.py", "file:///src/app.py", "/\x00", "/"])

NUMBERS = st.sampled_from([0, 1, 1, 2, 3, 4, 5, 6, 7, 20, 1000, -1, 2**31, 2**53, 2**63, 2**200])
"""Those of editors begin at 1, so some are those of a frame or a value; and so is the thread's."""

JSON = inputs.JSON.filter(lambda each: not {"NaN", "Infinity"} & set(re.findall(r"\w+", json.dumps(each))))
"""Without numbers that JSON has not, at which a connection ends."""

NOT_OF_EDITORS = frozenset({"runInTerminal", "startDebugging"})

LEAVING = frozenset({"disconnect", "terminate", "restart"})
"""These end what the others are about: they come last."""


def commands() -> list[str]:
    """Return the requests of the protocol that a client sends."""
    found = [
        part["properties"]["command"]["enum"][0]
        for name, each in DEFINITIONS.items()
        if name.endswith("Request") and "allOf" in each
        for part in each["allOf"]
        if "enum" in part.get("properties", {}).get("command", {})
    ]
    return [each for each in found if each not in NOT_OF_EDITORS]


@cache
def arguments(command: str) -> st.SearchStrategy[Any]:
    """Return what makes the arguments of a request: nearly always such as the schema has, else anything."""
    fitting = _made(DEFINITIONS.get(f"{command[0].upper()}{command[1:]}Arguments", {"type": "object"}), command)
    return st.one_of(fitting, fitting, fitting, _spoiled(fitting), JSON)


@st.composite
def _spoiled(draw: st.DrawFn, fitting: st.SearchStrategy[Any]) -> Any:
    """Arguments of which one member is missing, or is something else."""
    made = draw(fitting)
    if not isinstance(made, dict) or not made:
        return made
    name = draw(st.sampled_from(sorted(made)))
    rest = {each: value for each, value in made.items() if each != name}
    return rest if draw(st.booleans()) else {**rest, name: draw(JSON)}


def _made(schema: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return _referred(schema["$ref"])
    if "oneOf" in schema:
        return st.one_of(*(_made(each, name) for each in schema["oneOf"]))
    if values := schema.get("enum") or schema.get("_enum"):
        return st.sampled_from(values)
    kinds = schema.get("type", "object")
    if isinstance(kinds, list):
        return JSON
    match kinds:
        case "object":
            return _object(schema)
        case "array":
            return st.lists(_made(schema.get("items", {}), name), max_size=3)
        case "integer" | "number":
            return NUMBERS
        case "boolean":
            return st.booleans()
        case _:
            return PATHS if name == "path" else TEXTS


@cache
def _referred(reference: str) -> st.SearchStrategy[Any]:
    name = reference.rpartition("/")[2]
    return st.deferred(lambda: _made(DEFINITIONS[name], name))


def _object(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    members = {name: _made(each, name) for name, each in schema.get("properties", {}).items() if name != "sources"}
    wanted = set(schema.get("required", ()))
    return st.fixed_dictionaries(
        {name: each for name, each in members.items() if name in wanted},
        optional={name: each for name, each in members.items() if name not in wanted},
    )


REQUESTS = st.sampled_from([each for each in commands() if each not in LEAVING]).flatmap(
    lambda command: st.tuples(st.just(command), arguments(command))
)

GOODBYES = st.sampled_from(sorted(LEAVING)).flatmap(lambda command: st.tuples(st.just(command), arguments(command)))
