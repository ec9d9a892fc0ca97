"""docs/tools.md, made from the structs of parameters and answers: `python -m tests.server.tools_page` writes it."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from tests.real.tool_cases import ANY, MEANINGS, codes
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server.tools.tool import UNLISTED, Tool

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"

INTRODUCTION = """\
# Tools

Every tool with all of its parameters, and what its answer has. `python -m tests.server.tools_page` makes this page from
the source; a test compares the two.

## How answers are written

Answers are for the model that reads them. The text of a result and its `structuredContent` are the same small object,
because a host shows a model one of the two. There are no output schemas. Programs and pages that need every detail read
the [resources](../README.md#resources), which keep their full payloads.

1. **No news, no key.** A key is absent when it would be null, false, empty, zero or a default, or would repeat what the
   call itself has said. Use `answer.get("stdout", "")`.
2. **A place is one string.** `shop.py:24 in visit` is where the program is, `visit shop.py:24` is a frame. In a list
   the file is left out where the line before has the same: `main :31`. Files below the server's directory are relative
   to it, all others absolute. Frames of library code end in ` (library)`. Tools accept these paths as they stand.
3. **Variables are an object:** names, and values as they are rendered: `{"count": "1"}`. A type follows in parentheses
   only where the value does not show it. An object that has no `repr` of its own shows its fields, one level deep:
   `Basket(owner='ben', lines=[2 items])`. A name behind the path that was asked for is a path again.
4. **Source is one string:** two lines either side, numbered, with `>` behind the number of the current one.
5. **Output is one string for each stream:** `stdout`, `stderr`, and `log` for what tracepoints wrote, in the order in
   which it was written. An answer has what is new since the last one to the same client; `process_read_output` has all.
6. **Several of a kind are named, and what is left out is counted.** `session` is there at a launch and where there are
   several, `thread` where there are several. `omitted` and `total` count what an answer does not show.

A call that fails has `isError` and one text `{"error": {"code", "message", "details"}}`; the message says what to do
next.

The `notes` of any answer, also of one that failed, may have the words of a person in control, and what that person has
done since the last answer: `a person (dashboard) says: "it is the discount"`. While a person holds the session, calls
that move or change the program wait for as long as their `timeout` (20 s without one), and then fail with `HELD`.

## The stop

The answer of every tool that moves the program, so that one call shows what is needed next:

```json
{"state": "Paused", "reason": "Breakpoint", "breakpoints": ["bp-1"], "at": "shop.py:24 in visit",
 "stack": ["main :31", "<module> :38"],
 "locals": {"count": "1", "basket": "Basket(owner='ben', lines=[2 items])"},
 "source": "23   basket.put(product, count)\\n24>  paid = basket.total()\\n25   print(paid)",
 "stdout": "ann pays 11\\n", "show": {"len(basket.lines)": "2"}, "session": "s-1", "pid": 24898}
```

| key | what it has |
| --- | --- |
| `state` | `Paused`, `Running` or `Disconnected` |
| `reason` | why it is paused, as `pauseReason` of `debugger://session`; `Exited` when the session has ended |
| `breakpoints` | the ids of those that were hit |
| `exception`, `mode` | `ValueError: 2 missing`, and how it stopped the program, if not just where it was raised |
| `causes` | of the exception that ended the program: what is behind it, a line each |
| `at`, `stack` | where it is, and the five frames below |
| `changed` | what data breakpoints saw: `{"total": "3 -> 5"}` |
| `returned` | what the functions returned that the step has left |
| `locals` | the variables of the top frame |
| `source` | the lines around |
| `instruction` | where a step by an instruction has ended: address and instruction |
| `show` | the values of the expressions in `show`; the error where one fails |
| `stdout`, `stderr`, `log`, `console` | what is new in the output; `console` is what the debug adapter wrote |
| `exitCode`, `signal` | how the program ended |
| `timedOut`, `threads` | the wait ended without a stop, and where the threads are then; that is not an error |
| `listening` | of `debug_listen`: the address, and how many have dialed in |
| `session`, `sessions`, `thread`, `pid` | which, where there are several; by the launch also where there is one |
| `omitted` | how many frames, locals or characters are left out, by kind |
| `notes` | what one would not expect: a breakpoint moved, source edited since the start, another client's step |
| `moment` | in `now` of `card_state`: which stop it is |
"""


def document() -> str:
    """Return the page."""
    return "\n".join([INTRODUCTION, *_codes(), *(line for tool in open_toolbox().tools for line in _section(tool))])


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
    yield from [f"Answer: {' or '.join(map(_answer, answers_of(tool)))}", ""]


def _listing(tool: Tool) -> str:
    return {"core": "(Listed with `serve --tools core`, too.)", "none": "(Can be called, is not listed.)"}.get(
        tool.listing, ""
    )


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
    keys = " ".join(f"`{field.encode_name}`" for field in msgspec.structs.fields(kind))
    return f"{keys}. {' '.join((kind.__doc__ or '').split())}"


if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
