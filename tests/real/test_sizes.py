"""A program with values of every size: each answer is bounded, soon there, and says how much it leaves out."""

import json
from pathlib import Path
from typing import Any

from tests.real.conftest import Connect
from tests.real.test_tools import outcome
from tests.real.tool_cases import EXPECTED
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES
from trio_debugmcp.testing import DebugClient

MAX_RESOURCE_BYTES = 32_768

PROGRAM = f"""\
import threading, time

class Raises:
    def __repr__(self): raise ValueError("bad" * 100_000)

class Prints:
    def __repr__(self):
        print("loud")
        return "Prints!"

class Sleeps:
    def __repr__(self):
        time.sleep(6)
        return "Sleeps!"

class Huge:
    def __repr__(self): return "x" * 1_000_000_000

{"".join(f"global{number} = {number}{chr(10)}" for number in range(1500))}
def visit(text, many, cycle, deep, raises, prints, sleeps, huge):
{"".join(f"    local{number} = {number}{chr(10)}" for number in range(2000))}
    return text  # here

def down(depth, *values):
    return down(depth - 1, *values) if depth else visit(*values)

deep = []
for _ in range(10_000):
    deep = [deep]
cycle = {{}}
cycle["itself"] = cycle
for number in range(300):
    threading.Thread(target=time.sleep, args=(1000,), name=f"sleeper-{{number}}", daemon=True).start()
print("y" * 500_000)
down(400, "z" * 1_000_000, [*range(100_000)], cycle, deep, Raises(), Prints(), Sleeps(), Huge())
"""

VALUES = ("text", "many", "cycle", "deep", "raises", "prints", "sleeps", "huge", "globals()", "locals()")

LOOKING = ("evaluate", "evaluate_safe", "object_inspect", "collection_summarize", "type_get", "references_get")
"""Tools that are about an expression."""

OTHERS: dict[str, list[dict[str, Any]]] = {
    "debug_state": [{}],
    "card_state": [{}],
    "debug_wait": [{}],
    "breakpoint_list": [{}],
    "stacktrace_get": [{}, {"count": 1000, "locals": True}, {"thread_id": "*", "locals": True}],
    "threads_list": [{}],
    "tasks_list": [{}],
    "fleet_state": [{}],
    "variables_get": [
        {"count": 5000}, {"scope": "globals", "count": 5000}, {"depth": 3, "count": 5000},
        *({"path": name, "count": 5000} for name in ("text", "many", "cycle", "deep", "raises", "huge")),
    ],
    "variable_set": [{"path": "local0", "value": "many"}],
    "symbols_search": [{"pattern": "*", "count": 1000}],
    "modules_list": [{"count": 10_000}],
    "sources_list": [{"count": 10_000}],
    "snapshot_create": [{"depth": 3}, {"depth": 1}],
    "snapshot_diff": [{"before": "snap-1", "after": "snap-2"}],
    "snapshot_list": [{}],
    "process_read_output": [{}],
    "timeline_query": [{"count": 1000}],
    "debug_step": [{}],
    "stop_get": [{"stop": 1}, {"variable": "text"}, {"variable": "local0"}],
}  # fmt: skip
"""The other tools that show something of this program; the rest answers with a few words, or moves it."""

FEW_WORDS = {
    *("debug_launch", "debug_attach", "debug_listen", "debug_disconnect", "debug_restart", "debug_continue"),
    *("debug_run_to", "debug_goto", "debug_pause", "breakpoint_wait", "breakpoint_set", "breakpoint_set_exception"),
    *("breakpoint_enable", "breakpoint_remove", "tracepoint_set", "process_write_input", "exception_get_context"),
    *("memory_read", "memory_write", "disassemble", "breakpoint_set_data", "debug_run_until", "trace_function"),
    *("batch_evaluate", "snapshot_delete", "debug_configurations", "breakpoint_edit", "observe_link", "card_run"),
    *("run_list", "debug_record", "why", "history_get", "calls_get", "run_goto"),
    *("run_compare", "debug_hunt", "debug_more"),
    *("person_join", "ask_person", "session_hold", "session_hand_back", "agent_message", "person_answer"),
}
"""Or with a stop, as debug_state does."""


async def bounded(client: DebugClient, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call, and check the size of the answer; empty if the call failed."""
    failed, answer = await outcome(client, tool, arguments)
    said = json.dumps(answer, separators=(",", ":"), ensure_ascii=False) if failed is None else str(failed)
    assert len(said.encode()) <= MAX_RESULT_BYTES, (tool, arguments, len(said))
    return answer or {}


async def test_every_answer_and_resource_is_bounded_and_counts_what_it_leaves_out(
    debugging: Connect, tmp_path: Path
) -> None:
    assert {*LOOKING, *OTHERS, "source_get"} | FEW_WORDS >= set(open_toolbox().names) == set(EXPECTED)
    file = tmp_path / "big.py"
    file.write_text(PROGRAM)
    here = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if "# here" in text)
    async with debugging() as client:
        place = {"file": str(file), "line": here}
        stop = await bounded(client, "debug_launch", {"program": str(file), "breakpoints": [place]})
        assert stop["reason"] == "Breakpoint"
        assert len(stop["locals"]) + stop["omitted"]["locals"] == 2008
        for tool in LOOKING:
            for value in VALUES:
                found = await bounded(client, tool, {"expression": value})
                if (tool, value) in {("object_inspect", "many"), ("collection_summarize", "many")}:
                    assert found["count"] == 100_000
        for tool, calls in OTHERS.items():
            for arguments in calls:
                found = await bounded(client, tool, arguments)
                if arguments.get("path") == "many":
                    assert found["total"] == 100_000
                elif tool == "variables_get" and not arguments.get("path"):
                    scope = 1500 if arguments.get("scope") else 2008
                    assert len(found["variables"]) < 2000
                    assert found["total"] >= scope
                elif tool == "stacktrace_get" and arguments.get("count"):
                    assert len(found["frames"]) + found["omitted"] == 403
        threads = await bounded(client, "threads_list", {})
        assert len(threads["threads"]) + threads.get("omitted", 0) == 301
        assert (await bounded(client, "source_get", {"file": str(file)}))["total"] > 3500
        for uri in await client.uris():
            text = await client.read_text(uri)
            assert len(text.encode()) <= MAX_RESOURCE_BYTES, (uri, len(text))
