"""Sessions on scripted adapters, and what the tools answer in them: the kinds of answers that there are.

Each scene yields the name of an answer and its text, byte for byte as a client gets it.
"""

import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio
from msgspec.structs import replace

from tests.session.answers import refuse
from tests.session.passes import Passes
from tests.session.test_children import adopt
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import FakeAdapter, Server, open_server
from trio_debugmcp.testing.fake_native import NATIVE_CAPABILITIES

if TYPE_CHECKING:
    from trio_debugmcp.server.call_result import ToolResult

SHOP = """\
class Basket:
    def __init__(self, owner):
        self.owner = owner
        self.lines = []

    def put(self, product, count):
        self.lines.append((product, count))

    def total(self):
        return sum(count for _, count in self.lines)


def visit(basket, product, count):
    basket.put(product, count)
    paid = basket.total()
    return paid


def main():
    paid = visit(Basket("ben"), "tea", 1)
    print(paid)


main()
"""

BASKET = "Basket(owner='ben', lines=[2 items])"

Answers = AsyncIterator[tuple[str, str]]

PLAY_SECONDS = 1000
"""Of a scene, on the virtual clock: one in which a call fails may wait for what does not come."""


class Scene:
    """A server in a directory with `shop.py`, and the adapter that it launches."""

    def __init__(self, directory: Path, *, full: bool = False) -> None:
        self.directory = directory
        self.full = full
        self.calls: list[tuple[str, ToolResult]] = []
        self.file = str(directory / "shop.py")
        (directory / "shop.py").write_text(SHOP)
        self.adapter = FakeAdapter()
        self.adapter.program = self.file
        self.adapter.frames = [("visit", self.file, 15), ("main", self.file, 20), ("<module>", self.file, 24)]
        self.server: Server | None = None

    async def call(self, tool: str, **arguments: Any) -> str:
        """Return the text of an answer, without what differs from run to run: times, tokens, where Python is."""
        assert self.server is not None
        given = {**arguments, "full": True} if self.full else arguments
        result = await open_toolbox().call(self.server.app.debugger, tool, given)
        self.calls.append((tool, result))
        text = result.text.replace(str(self.directory), "$DIR")
        text = re.sub(r'("(?:timestamp|time)":)"[^"]+"', r'\1"…"', text)
        text = re.sub(r'("token":"|access_token=\')[\w-]+', r"\1…", text)
        text = re.sub(r"debugpy==[^`]*", "debugpy==…", text)
        return re.sub(r"sys\.path\.append\('[^']*'\)", "sys.path.append('…')", text)

    def place(self, line: int) -> dict[str, Any]:
        return {"file": self.file, "line": line}

    def script_variables(self) -> None:
        """Let a frame have a basket that has children, and other values."""
        tops = [("count", "1", "int", 0), ("basket", BASKET, "Basket", 8), ("name", "'ben'", "Name", 0)]

        async def variables(arguments: dict[str, Any]) -> object:
            if arguments["variablesReference"] == 8:
                inner = [("owner", "'ben'", "str"), ("lines", "[('tea', 1), ('cup', 2)]", "list")]
                return {
                    "variables": [
                        {"name": n, "value": v, "type": t, "evaluateName": f"basket.{n}", "variablesReference": 0}
                        for n, v, t in inner
                    ]
                }
            return {
                "variables": [
                    {"name": n, "value": v, "type": t, "evaluateName": n, "variablesReference": r}
                    for n, v, t, r in tops
                ]
            }

        self.adapter.answer("variables", variables)

    async def settle(self) -> None:
        await trio.sleep(10)

    def resumed_to(self, reason: str, line: int, **more: Any) -> None:
        """Let the next continue or step end there."""

        async def go(arguments: object) -> object:
            name, _, _ = self.adapter.frames[0]
            self.adapter.frames[0] = (name, self.file, line)
            await self.adapter.stop(reason, **more)
            return {}

        for command in ("continue", "next", "goto"):
            self.adapter.answer(command, go)


async def breakpoints(scene: Scene) -> Answers:
    """Before and during a session."""
    yield "debug_state_none", await scene.call("debug_state")
    yield "debug_disconnect_none", await scene.call("debug_disconnect")
    yield "breakpoint_list_empty", await scene.call("breakpoint_list")
    yield "breakpoint_set", await scene.call("breakpoint_set", file="shop.py", line=15)
    yield (
        "breakpoint_set_condition",
        await scene.call("breakpoint_set", file="shop.py", line=14, condition="count > 3", hit_condition=">= 2"),
    )
    yield "breakpoint_set_function", await scene.call("breakpoint_set", function="main")
    yield "breakpoint_set_log", await scene.call("breakpoint_set", file="shop.py", line=16, log_message="paid {paid}")
    yield "breakpoint_set_exception", await scene.call("breakpoint_set_exception", exception_type="ValueError")
    yield "breakpoint_enable", await scene.call("breakpoint_enable", id="bp-2", enabled=False)
    yield "breakpoint_list", await scene.call("breakpoint_list")
    yield "breakpoint_remove", await scene.call("breakpoint_remove", id="*")
    yield "tracepoint_set", await scene.call("tracepoint_set", **scene.place(10), log_message="{self.owner}")
    yield "error", await scene.call("breakpoint_set", file="nowhere.py", line=1)


async def stops(scene: Scene) -> Answers:
    """A program from its entry to its end, by way of a breakpoint."""
    adapter = scene.adapter
    adapter.capabilities["supportsSetExpression"] = True
    yield "debug_launch", await scene.call("debug_launch", program="shop.py", stop_at_entry=True)
    await scene.call("breakpoint_set", file="shop.py", line=15)
    scene.script_variables()
    adapter.values = {"len(basket.lines)": "2", "count": "1"}
    await adapter.event("output", {"category": "stdout", "output": "ann pays 11\n"})
    scene.resumed_to("breakpoint", 15, hit=[1])
    yield "debug_continue", await scene.call("debug_continue", show=["len(basket.lines)", "nothing"])
    yield "debug_state", await scene.call("debug_state")
    yield "threads_list", await scene.call("threads_list")
    yield "stacktrace_get", await scene.call("stacktrace_get")
    yield "stacktrace_get_page", await scene.call("stacktrace_get", start=1, count=1)
    yield "variables_get", await scene.call("variables_get")
    yield "variables_get_page", await scene.call("variables_get", count=1)
    yield "variables_get_depth", await scene.call("variables_get", depth=2)
    yield "evaluate", await scene.call("evaluate", expression="count")
    yield "evaluate_safe", await scene.call("evaluate_safe", expression="count")

    async def typed(arguments: object) -> object:
        return {"result": "'ben'", "type": "Name", "variablesReference": 0}

    adapter.answer("evaluate", typed)
    yield "evaluate_type", await scene.call("evaluate", expression="name")
    adapter.restore("evaluate")

    async def basket(arguments: object) -> object:
        return {"result": BASKET, "type": "Basket", "variablesReference": 8, "namedVariables": 2}

    adapter.answer("evaluate", basket)
    yield "object_inspect", await scene.call("object_inspect", expression="basket")
    yield "collection_summarize", await scene.call("collection_summarize", expression="basket", max_items=1)
    adapter.restore("evaluate")
    yield "snapshot_create", await scene.call("snapshot_create", depth=1)
    scene.script_variables()
    await scene.call("snapshot_create", label="same")
    yield "snapshot_diff", await scene.call("snapshot_diff", before="snap-1", after="same")
    yield "snapshot_list", await scene.call("snapshot_list")
    yield "snapshot_delete", await scene.call("snapshot_delete", id="*")
    yield "variable_set", await scene.call("variable_set", path="count", value="0 + 1")
    for each in ({"id": 1, "name": "shop", "path": scene.file}, {"id": 2, "name": "libc", "isUserCode": False}):
        await adapter.event("module", {"reason": "new", "module": each})
    await scene.settle()
    yield "modules_list", await scene.call("modules_list")
    yield "sources_list", await scene.call("sources_list", filter="shop")
    yield "source_get", await scene.call("source_get", file="shop.py", start_line=14, end_line=16)
    yield "stop_get", await scene.call("stop_get")
    yield "stop_get_variable", await scene.call("stop_get", variable="count")
    adapter.answer("setBreakpoints", partial(refuse, "no code here"))
    yield "breakpoint_set_pending", await scene.call("breakpoint_set", file="shop.py", line=17)
    adapter.restore("setBreakpoints")
    await scene.call("breakpoint_remove", id="bp-2")
    scene.resumed_to("step", 16)
    yield "debug_step", await scene.call("debug_step")
    adapter.restore("continue")
    yield "debug_continue_timeout", await scene.call("debug_continue", timeout=1)
    yield "process_read_output", await scene.call("process_read_output")
    await adapter.exit(3)
    await scene.settle()
    yield "debug_state_ended", await scene.call("debug_state")
    yield "timeline_query", await scene.call("timeline_query", types=["stopped", "sessionEnded"], count=2)
    await scene.call("debug_launch", program="shop.py", stop_at_entry=True)
    yield "debug_disconnect", await scene.call("debug_disconnect")


async def ends(scene: Scene) -> Answers:
    """Programs that end while a tool waits."""
    for name, code, text in (("exit", 3, "x" * 4010), ("signal", -11, "Fatal error\n")):
        await scene.call("debug_launch", program="shop.py", stop_at_entry=True)

        async def end(arguments: object, code: int = code, text: str = text) -> object:
            await scene.adapter.event("output", {"category": "stderr", "output": text})
            await scene.adapter.exit(code)
            return {}

        scene.adapter.answer("continue", end)
        yield f"debug_continue_{name}", await scene.call("debug_continue")
        await scene.settle()


async def exceptions(scene: Scene) -> Answers:
    """A stop at an exception, and its context."""
    await scene.call("breakpoint_set_exception", exception_type="ValueError")
    await scene.call("debug_launch", program="shop.py", stop_at_entry=True)
    scene.script_variables()
    scene.resumed_to("exception", 10, text="ValueError")
    yield "debug_continue_exception", await scene.call("debug_continue")
    yield "exception_get_context", await scene.call("exception_get_context", max_frames=2)


async def native(scene: Scene) -> Answers:
    """A native program: its memory, its instructions, and going elsewhere."""
    adapter = scene.adapter
    adapter.capabilities |= NATIVE_CAPABILITIES
    await scene.call("debug_launch", program="shop.py", stop_at_entry=True)
    adapter.memory[8:12] = b"tea\0"
    yield "memory_read", await scene.call("memory_read", address="0x1008", count=8)
    yield "memory_read_text", await scene.call("memory_read", address="0x1008", count=8, format="text")
    yield "memory_read_values", await scene.call("memory_read", address="0x1008", format="u32")
    yield "memory_write", await scene.call("memory_write", address="0x1008", data="cup", format="text")
    yield "disassemble", await scene.call("disassemble", count=3)
    yield "breakpoint_set_address", await scene.call("breakpoint_set", address="0x1008")
    adapter.values |= {"count": "1", "&(count)": "0x1008", "*(int *)0x1008": "1"}
    adapter.data["count"] = {"dataId": "1008/4", "description": "4 bytes at 0x001008"}
    yield "breakpoint_set_data", await scene.call("breakpoint_set_data", expression="count")
    yield "breakpoint_list_addressed", await scene.call("breakpoint_list")
    scene.resumed_to("data breakpoint", 15, hit=[2])
    yield "debug_continue_data", await scene.call("debug_continue")
    scene.resumed_to("step", 16)
    yield "debug_step_instruction", await scene.call("debug_step", granularity="instruction")
    scene.resumed_to("goto", 14)
    yield "debug_goto", await scene.call("debug_goto", line=14)


async def attached(scene: Scene) -> Answers:
    """A program that is attached to, and keeps running."""
    yield "debug_attach", await scene.call("debug_attach", port=5678)
    yield "debug_disconnect_detached", await scene.call("debug_disconnect")


async def family(scene: Scene) -> Answers:
    """A program with a child."""
    await scene.call("debug_launch", program="shop.py", stop_at_entry=False, wait=False)
    await scene.settle()
    child = FakeAdapter()
    child.frames = [("work", str(scene.directory / "child.py"), 9)]
    await adopt(scene.adapter, child)
    await child.stop("pause")
    yield "debug_wait_child", await scene.call("debug_wait")
    yield "debug_state_family", await scene.call("debug_state")


async def probed(scene: Scene) -> Answers:
    """A program that runs, and whose threads wait for each other."""
    await scene.call("debug_launch", program="shop.py", stop_at_entry=False, wait=False)
    await scene.settle()
    yield "threads_list_deadlock", await scene.call("threads_list")
    yield "debug_pause_blocked", await scene.call("debug_pause")
    yield "stacktrace_get_all", await scene.call("stacktrace_get", thread_id="*")
    yield "stacktrace_get_locals", await scene.call("stacktrace_get", locals=True)
    yield "tasks_list", await scene.call("tasks_list", count=2)
    yield "type_get", await scene.call("type_get", expression="Basket", count=3)
    yield "references_get", await scene.call("references_get", expression="last", count=2)
    yield "symbols_search", await scene.call("symbols_search", pattern="Basket", count=2)


def with_probe(scene: Scene) -> None:
    """Give the program of a scene a probe."""

    def locked(number: int, name: str, holder: int) -> dict[str, Any]:
        at = {**scene.place(15), "function": "visit"}
        holds = {"thread": holder, "name": f"payer-{holder}"}
        waits = {"kind": "lock", "what": "self.lock", "holder": holds}
        return {"id": number, "name": name, "state": "waiting", "at": at, "waits": waits}

    both = [locked(1, "payer-1", 2), locked(2, "payer-2", 1)]
    frames = [
        {**scene.place(15), "function": "visit", "localsTotal": 9},
        {**scene.place(20), "function": "main"},
        {"file": "/lib/threading.py", "line": 5, "function": "run", "library": True},
    ]
    basket = {"name": "basket", "value": BASKET, "type": "Basket"}
    name = {"name": "name", "value": "'ben'", "type": "Name"}
    chain = [{**scene.place(20), "function": "main"}, {**scene.place(15), "function": "visit"}]
    scene.adapter.probe = {
        "threads": {"threads": both, "total": 2, "deadlocks": [{"threads": [1, 2]}]},
        "stacks": {"stacks": [{**each, "frames": frames, "total": 9} for each in both], "total": 3},
        "frames": {"thread": 1, "frames": [{**frames[0], "locals": [basket, name]}, *frames[1:]], "total": 4},
        "tasks": {
            "tasks": [
                {"library": "trio", "id": 1, "name": "main", "state": "waiting", "chain": chain[:1]},
                {"library": "trio", "id": 2, "name": "visit", "state": "waiting", "chain": chain, "waits": "a timer",
                 "depth": 1},
            ],
            "total": 5,
        },
        "type": {
            "name": "shop.Basket", "file": scene.file, "line": 1, "bases": ["shop.Base"], "mro": ["shop.Base", "list"],
            "metaclass": "abc.ABCMeta", "size": 56, "doc": "What a customer buys.", "inherited": {"list": 34},
            "total": 9,
            "members": [
                {"name": "owner", "kind": "fields", "text": "str", "file": scene.file, "line": 3},
                {"name": "size", "kind": "properties", "text": "int", "of": "Base", "file": "/lib/base.py", "line": 4},
                {"name": "put", "kind": "methods", "text": "(product, count)", "file": scene.file, "line": 6},
            ],
        },
        "references": {
            "value": "Basket(...)", "type": "Basket", "inboundTotal": 9, "outboundTotal": 1,
            "inbound": [
                {"way": ".basket", "of": "Order(...)", "path": "orders[0].basket", "module": "__main__"},
                {"local": True, "name": "basket", "function": "visit", "file": scene.file, "line": 15, "thread": 1,
                 "threadName": "payer-1"},
            ],
            "outbound": [{"way": ".owner", "value": "'ben'"}],
        },
        "symbols": {
            "symbols": [
                {"name": "shop.Basket", "type": True, "file": scene.file, "line": 1},
                {"name": "shop.Basket.put", "signature": "(product, count)", "file": scene.file, "line": 6},
            ],
            "total": 3,
        },
    }  # fmt: skip


async def observed(scene: Scene) -> Answers:
    """Runs that come by observed places."""
    values = [{"paid": str(paid), "paid > 2": str(paid > 2)} for paid in range(4)]
    Passes(scene.adapter, *((16, each) for each in values), endless=True)
    await scene.call("breakpoint_set", file="shop.py", line=20)
    await scene.call("debug_launch", program="shop.py", stop_at_entry=True)
    experiments = [{"file": "shop.py", "statement": "return paid", "capture": ["paid", "nope"], "max_hits": 2}]
    yield "batch_evaluate", await scene.call("batch_evaluate", experiments=experiments)
    missed = [{**scene.place(16), "condition": "nope"}, {**scene.place(9), "capture": ["self"]}]
    yield "batch_evaluate_timeout", await scene.call("batch_evaluate", experiments=missed, timeout=1)
    await scene.call("debug_restart")
    Passes(scene.adapter, *((16, each) for each in values))
    yield "debug_run_until", await scene.call("debug_run_until", expression="paid > 2", **scene.place(16))


SCENES: list[Callable[[Scene], Answers]] = [
    *(breakpoints, stops, ends, exceptions, native, attached, family, probed, observed),
]


async def answers_of(play: Callable[[Scene], Answers], directory: Path) -> dict[str, str]:
    """Play a scene and return its answers by name."""
    return await played(play, Scene(directory))


async def played(play: Callable[[Scene], Answers], scene: Scene) -> dict[str, str]:
    """Play it in a scene that has not begun; return the answers that it names."""
    if play is probed:
        with_probe(scene)
    options = scene.adapter.options()
    options = replace(options, settings=replace(options.settings, directory=str(scene.directory)))
    async with open_server(options) as scene.server:
        with trio.fail_after(PLAY_SECONDS):
            return {name: text async for name, text in play(scene)}
