import asyncio
import contextlib
import importlib
import json
import os
import sys
import threading
import time
from typing import Any, Callable, Dict, List

from trio_debugmcp.probe.inside import questions
from trio_debugmcp.probe.inside.debugger import attached, seam

if sys.version_info >= (3, 10):  # our Trio needs no less; it is pure Python, and so is what it needs
    sys.path.append(os.environ.get("TRIO_PATH", ""))
trio: Any = None
with contextlib.suppress(ImportError):
    trio = importlib.import_module("trio")


def ask(**asked: Any) -> Dict[str, Any]:
    reply = json.loads(questions.call("tasks", json.dumps(asked)))
    assert "answer" in reply, reply
    answer: Dict[str, Any] = reply["answer"]
    return answer


def until(condition: Callable[[Dict[str, Any]], bool], **asked: Any) -> Dict[str, Any]:
    end = time.monotonic() + 100
    while True:
        answer = ask(**{"count": 1000, **asked})
        if condition(answer):
            return answer
        assert time.monotonic() < end, answer
        time.sleep(0.02)


def named(answer: Dict[str, Any], name: str) -> Dict[str, Any]:
    return next((task for task in answer["tasks"] if task["name"] == name), {})


def chain(task: Dict[str, Any]) -> List[str]:
    return [place["function"].rpartition(".")[2] for place in task["chain"]]


def serve(main: Callable[[], Any]) -> Callable[[], None]:
    """Run a loop in a thread; return what ends it."""
    loop = asyncio.new_event_loop()

    def run() -> None:
        asyncio.set_event_loop(loop)
        task = loop.create_task(main())
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def end() -> None:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join(5)

    return end


async def borrow(pool: Any) -> Any:
    return await pool.get()


def check_a_leaked_connection_is_seen_with_its_await_chains() -> None:
    async def work(pool: Any) -> None:
        await borrow(pool)

    async def main() -> None:
        pool: Any = asyncio.Queue()
        tasks = [asyncio.ensure_future(work(pool)) for _ in range(3)]
        for number, task in enumerate(tasks):
            task.set_name(f"di-{number}")
        await asyncio.gather(*tasks)

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 4 and all(each.get("waits") for each in answer["tasks"]))
    task = named(answer, "di-1")
    assert chain(task) == ["work", "borrow", "get"]
    assert task["chain"][1]["line"] == borrow.__code__.co_firstlineno + 1
    assert [place.get("library", False) for place in task["chain"]] == [False, False, True]
    assert task["state"] == "waiting"
    assert task["waits"] == "future"
    (main_task,) = (each for each in answer["tasks"] if chain(each) == ["main"])
    assert main_task["waits"] == "3 of 3 gathered: di-0, di-1, di-2"
    assert task["awaitedBy"] == [main_task["name"]]
    end()
    assert ask()["total"] == 0


def check_a_task_that_awaits_a_task_says_so() -> None:
    async def slow() -> None:
        await asyncio.sleep(100)

    async def main() -> None:
        inner = asyncio.ensure_future(slow())
        inner.set_name("inner")
        await inner

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 2 and named(answer, "inner").get("waits") == "future")
    assert [each["waits"] for each in answer["tasks"] if chain(each) == ["main"]] == ["task inner"]
    assert chain(named(answer, "inner")) == ["slow", "sleep"]
    end()


def check_a_task_that_blocks_its_loop_has_its_running_frames() -> None:
    async def blocking() -> None:
        time.sleep(0.7)  # noqa: ASYNC251

    async def main() -> None:
        await blocking()

    end = serve(main)
    answer = until(lambda answer: any(each["state"] == "running" for each in answer["tasks"]))
    assert chain(answer["tasks"][0]) == ["main", "blocking"]
    end()


def check_what_the_debugger_calls_is_not_of_the_task_that_it_holds() -> None:
    names: Dict[str, Any] = {"__name__": "holding", "sleep": time.sleep}
    exec("def hold(wait):\n    wait()\n", names)
    debugger = seam.ProgramDebugger()
    debugger.own_modules = (seam.PROBE, "holding")
    attached.attach(debugger)

    async def held() -> None:
        names["hold"](lambda: time.sleep(0.7))

    end = serve(held)
    answer = until(lambda answer: any(each["state"] == "running" for each in answer["tasks"]))
    assert chain(answer["tasks"][0]) == ["held"]
    end()


def check_asynchronous_generators_are_followed_where_gc_is_loaded() -> None:
    import gc  # noqa: F401

    async def produce(pool: Any) -> Any:
        yield await pool.get()

    async def main() -> None:
        async for _ in produce(asyncio.Queue()):
            pass

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 1 and bool(answer["tasks"][0].get("waits")))
    assert chain(answer["tasks"][0]) == ["main", "produce", "get"]
    end()


def check_many_tasks_are_paged_within_the_size() -> None:
    async def main() -> None:
        await asyncio.gather(*(asyncio.sleep(100) for _ in range(3000)))

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 3001)
    assert len(json.dumps(answer)) < 100000
    (task,) = until(lambda answer: bool(answer["tasks"]), start=3000, count=5)["tasks"]  # on a busy machine it is cut
    assert chain(task) == ["sleep"]
    end()


def check_trio_shows_the_tree_of_its_nurseries() -> None:
    if trio is None:
        print("  without trio")
        return
    tokens: List[Any] = []
    scopes: List[Any] = []

    async def child() -> None:
        _, receive = trio.open_memory_channel[int](0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(receive.receive, name="receiver")
            await trio.sleep_forever()

    async def main() -> None:
        tokens.append(trio.lowlevel.current_trio_token())
        async with trio.open_nursery() as nursery:
            scopes.append(nursery.cancel_scope)
            nursery.start_soon(trio.sleep, 1000, name="sleeper")
            nursery.start_soon(child, name="child")

    thread = threading.Thread(target=lambda: trio.run(main), daemon=True)
    thread.start()
    answer = until(lambda answer: all(named(answer, name).get("waits") for name in ("receiver", "sleeper")))
    tree = [(task["depth"], task["name"].rpartition(".")[2]) for task in answer["tasks"]]
    assert tree[0] == (0, "<init>")
    assert tree[-4:] == [(1, "main"), (2, "sleeper"), (2, "child"), (3, "receiver")]
    main_task, child_task = (
        next(each for each in answer["tasks"] if each["name"].endswith(name)) for name in ("main", "child")
    )
    assert named(answer, "receiver")["parent"] == child_task["id"]
    assert child_task["parent"] == main_task["id"]
    assert main_task["waits"] == "children of its nursery"
    assert chain(named(answer, "receiver")) == ["receive"]
    assert chain(child_task)[:2] == ["child", "sleep_forever"]
    assert "sleep" in named(answer, "sleeper")["waits"]
    assert answer["total"] == len(answer["tasks"])
    tokens[0].run_sync_soon(scopes[0].cancel)
    thread.join(5)
    assert not [task for task in ask()["tasks"] if task["library"] == "trio"]
    assert "notes" in ask()


def check_a_missing_private_name_is_a_note() -> None:
    runner_module = sys.modules.pop("asyncio.tasks")
    sys.modules["asyncio.tasks"] = type("Broken", (), {"_all_tasks": property(), "_scheduled_tasks": 5})  # type: ignore[assignment]
    try:
        assert "not known for this version" in ask()["notes"][0]
    finally:
        sys.modules["asyncio.tasks"] = runner_module
