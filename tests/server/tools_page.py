"""The second part of docs/tools.md, made from the structs of parameters and answers.

`python -m tests.server.tools_page` writes it.
"""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from tests.real.tool_cases import ANY, MEANINGS, codes
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.stop_answer import StopData
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server.tools.tool import UNLISTED, Tool
from trio_debugmcp.state.payloads import Payload

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"

MADE = "\n## Error codes\n"
"""Where the part of the page begins that is made from the source. What precedes it is written by hand."""


def document() -> str:
    """Return the page."""
    written = PAGE.read_text(encoding="utf-8").partition(MADE)[0]
    return "\n".join([written, *_codes(), *(line for tool in open_toolbox().tools for line in _section(tool))])


def _codes() -> Iterator[str]:
    toolbox = open_toolbox()
    found = {name: codes(name, toolbox.parameters(name)) for name in toolbox.names}
    yield from ["## Error codes", "", "| code | when | tools |", "| --- | --- | --- |"]
    yield from (f"| `{code}` | {when} | any |" for code, when in ANY.items())
    for code, when in MEANINGS.items():
        tools = [f"`{name}`" for name in toolbox.names if code in found[name]]
        yield f"| `{code}` | {when} | {' '.join(tools)} |"
    yield ""


def _section(tool: Tool) -> Iterator[str]:
    yield from [f"## `{tool.name}`", "", f"{tool.description} {_listing(tool)}".rstrip(), ""]
    rows = list(_rows(tool))
    if rows:
        yield from ["| parameter | type | default | |", "| --- | --- | --- | --- |", *rows, ""]
    else:
        yield from ["No parameters.", ""]
    yield from [f"Answer: {' Or '.join(map(_answer, answers_of(tool)))}", ""]


def _listing(tool: Tool) -> str:
    return {
        "core": "(On the short list.)",
        "core_only": "(On the short list only.)",
        "none": "(Can be called, is not listed.)",
    }.get(tool.listing, "")


def _rows(tool: Tool) -> Iterator[str]:
    _, components = msgspec.json.schema_components((tool.params,), ref_template="{name}")
    whole = components[tool.params.__name__]
    for name, schema in whole["properties"].items():
        hidden = " Not listed." if name in tool.unlisted | UNLISTED else ""
        default = "required" if name in whole.get("required", ()) else f"`{json.dumps(schema.get('default'))}`"
        words = f"{schema.get('description', '')}{_bounds(schema)}{hidden}".strip()
        yield f"| `{name}` | {_type(schema, components)} | {default} | {words} |"


def _bounds(schema: dict[str, Any]) -> str:
    bounds = [f"{word} {schema[key]}" for key, word in _BOUNDS.items() if key in schema]
    return f" ({', '.join(bounds)})" if bounds else ""


_BOUNDS = {"minimum": "at least", "maximum": "at most", "maxItems": "at most so many:"}


def _type(schema: dict[str, Any], components: dict[str, Any]) -> str:
    if "anyOf" in schema:
        found = [_type(each, components) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(found)
    if "enum" in schema:
        return " ".join(f"`{each}`" for each in schema["enum"] if each is not None)
    if "$ref" in schema:
        members = components[schema["$ref"]]["properties"]
        return f"object: {' '.join(f'`{each}`' for each in members)}"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}), components)}"
    return str(schema.get("type", "any"))


def answers_of(tool: Tool) -> list[type[Answer]]:
    """Return the structs that a tool answers with."""
    found = get_type_hints(tool.run)["return"]
    return list(get_args(found)) if get_origin(found) in (Union, UnionType) else [found]


def _answer(kind: type[Answer]) -> str:
    if kind.__name__ == "StopAnswer":
        return "a [stop](#the-stop)."
    data = data_type(kind)
    full = "" if data is kind else f" With `full`: {_keys(data)}. {_doc(data)}"
    if issubclass(data, StopData):
        own = [each for each in data.__struct_fields__ if each not in StopData.__struct_fields__]
        full = f" With `full`: the [stop as data](#the-stop) with {_keys(data, own)}."
    return f"{_keys(kind)}. {_doc(kind)}{full}"


def _keys(kind: type[msgspec.Struct], names: Collection[str] | None = None) -> str:
    fields = [each for each in msgspec.structs.fields(kind) if each.name != "full"]
    return " ".join(f"`{each.encode_name}`" for each in fields if names is None or each.name in names)


def _doc(kind: type[msgspec.Struct]) -> str:
    return " ".join((kind.__doc__ or "").split())


def data_type(answer: type[Answer]) -> type[msgspec.Struct]:
    """Return the struct of an answer as data: that of its field `full`, or where the answer is data, its own."""
    declared = get_type_hints(answer)["full"]
    kinds = [each for each in (get_args(declared) or (declared,)) if each is not type(None)]
    return answer if kinds == [Payload] else kinds[0]


if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
