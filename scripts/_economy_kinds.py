"""Six bugs of six kinds, by the calls that the list and the instructions suggest: `scripts/bench economy --kinds`.

The calls are those that an agent made who had only these, and the symptom in its words. Each kind has a tool that is to
be the first, and facts that show the cause, which must be in the answers. Prints the transcripts, as they stand in
docs/economy.md. Recording needs a Python of 3.12 or newer.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trio
from _bench import open_rpc

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "programs" / "kinds"

SECONDS = 240

Call = tuple[str, dict[str, Any]]


class Kind(NamedTuple):
    """A bug of a kind: what is seen of it, the calls that show its cause, and the facts that are in the answers."""

    symptom: str
    calls: Sequence[Call]
    facts: Sequence[str]


def more(tool: str, **arguments: Any) -> Call:
    return "debug_more", {"tool": tool, "arguments": arguments}


CLOSED = {"file": "pages.py", "statement": 'print("closed")'}

KINDS = {
    "hang": Kind(
        "parcels.py does not end",
        [("debug_launch", {"program": "parcels.py", "stop_at_entry": False, "timeout": 5})],
        ["deadlock", "desk-1", "desk-2"],
    ),
    "wrong value": Kind(
        "invoice.py prints 27, and 40 is right",
        [("debug_launch", {"program": "invoice.py", "record": True}), ("why", {"expression": "total"})],
        ["line_total", "free | return 1 if count > 1 else 0 | -> 1"],
    ),
    "failing test": Kind(
        "test_slots.py fails",
        [
            ("debug_launch", {"test": "test_slots.py::test_taken_slots_are_not_free", "record": True}),
            ("why", {}),
        ],
        ["slots.remove(slots[number])"],
    ),
    "flaky test": Kind(
        "test_order.py fails now and then",
        [more("debug_hunt", test="test_order.py::test_guests_keep_their_order")],
        ["set(guests)"],
    ),
    "growth": Kind(
        "pages.py needs more memory with each visit",
        [
            ("debug_launch", {"program": "pages.py", "breakpoints": [CLOSED]}),
            more("references_get", type="Page"),
        ],
        ["40", "bus.listeners"],
    ),
    "crash": Kind(
        "readings.py ends with a ValueError",
        [("debug_launch", {"program": "readings.py", "stop_at_entry": False})],
        ["ValueError: not enough values to unpack", "'19'"],
    ),
}


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def words(call: Call) -> str:
    """The call as agents write it."""
    tool, arguments = call
    return f"{tool}({', '.join(f'{name}={json.dumps(value)}' for name, value in arguments.items())})"


async def transcript(name: str, kind: Kind) -> str:
    """Play the calls, and return them with their answers."""
    lines, seen, spent = [f"{name}: {kind.symptom}"], "", 0
    with tempfile.TemporaryDirectory() as directory:
        for file in PROGRAMS.glob("*.py"):
            (Path(directory) / file.name).write_text(file.read_text())
        server = [sys.executable, "-m", "trio_debugmcp", "serve", "--no-state"]
        async with open_rpc(["sh", "-c", 'cd "$0" && exec "$@"', directory, *server]) as rpc:
            listed = {tool["name"] for tool in (await rpc.request("tools/list", {}))["tools"]}
            for tool, arguments in kind.calls:
                assert tool in listed, tool
                answer = compact((await rpc.call(tool, **arguments))["structuredContent"])
                lines += [f"> {words((tool, arguments))}", f"< {answer}"]
                spent += len(tool + compact(arguments) + answer)
                seen += answer
            await rpc.call("debug_disconnect")
    missing = [fact for fact in kind.facts if fact not in seen and fact not in seen.replace('\\"', '"')]
    if missing:
        sys.exit(f"{name}: {missing} not in\n{seen}")
    lines[0] += f" ({len(kind.calls)} call{'s' if len(kind.calls) > 1 else ''}, {spent:,} bytes)"
    return "\n".join(lines)


async def main() -> None:
    with trio.fail_after(SECONDS):
        for name, kind in KINDS.items():
            print(await transcript(name, kind), end="\n\n", flush=True)


if __name__ == "__main__":
    trio.run(main)
