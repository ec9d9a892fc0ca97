import asyncio
import contextlib
import importlib
import json
import os
import socket
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


def ask(question: str = "tasks", **asked: Any) -> Dict[str, Any]:
    reply = json.loads(questions.call(question, json.dumps(asked)))
    assert "answer" in reply, reply
    answer: Dict[str, Any] = reply["answer"]
    return answer


def error(question: str, **asked: Any) -> str:
    reply = json.loads(questions.call(question, json.dumps(asked)))
    assert reply["error"]["kind"] == "task", reply
    return str(reply["error"]["message"])


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


def main_of(answer: Dict[str, Any]) -> Dict[str, Any]:
    return next(each for each in answer["tasks"] if chain(each) == ["main"])


def chain(task: Dict[str, Any]) -> List[str]:
    return [place["function"].rpartition(".")[2] for place in task["chain"]]


DONE: List[int] = []


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


def check_who_joins_a_queue_sees_how_much_of_it_is_unfinished() -> None:
    async def work(jobs: Any) -> None:
        await jobs.get()
        await jobs.join()

    async def main() -> None:
        jobs: Any = asyncio.Queue()
        for number in range(3):
            jobs.put_nowait(number)
        task = asyncio.ensure_future(work(jobs))
        task.set_name("joiner")
        await task

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 2 and all(each.get("waits") for each in answer["tasks"]))
    waits = named(answer, "joiner")["waits"]
    assert waits.startswith("jobs.join, 2 items, 3 not yet reported by task_done, which is at `jobs` in"), waits
    end()


def check_a_server_waits_for_connections_and_no_place_is_inside_of_the_loop() -> None:
    async def receive(one: Any) -> None:
        await asyncio.get_event_loop().sock_recv(one, 10)

    async def work() -> None:
        await asyncio.get_event_loop().run_in_executor(None, done.wait)

    async def listen(server: Any) -> None:
        await server.serve_forever()

    async def main() -> None:
        one, other = socket.socketpair()
        one.setblocking(False)
        server: Any = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        tasks = [asyncio.ensure_future(each) for each in (receive(one), work(), listen(server))]
        for name, task in zip(("receiver", "worker", "server"), tasks):
            task.set_name(name)
        try:
            await asyncio.wait(tasks)
        finally:
            server.close()
            one.close()
            other.close()

    done = threading.Event()
    end = serve(main)
    answer = until(lambda answer: answer["total"] == 4 and all(each.get("waits") for each in answer["tasks"]))
    said = {name: named(answer, name)["waits"] for name in ("receiver", "worker", "server")}
    done.set()
    end()
    assert said["server"].startswith("connections"), said
    assert said["receiver"] == "sock_recv", said
    assert not any(word in str(said) for word in ("_fd_to_key", "_run_once", "_WorkItem", "_chain_future")), said


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
    assert task["waits"] == f"pool.get, 0 items, which is at `pool` in main (task {main_of(answer)['name']})"
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
    answer = until(lambda answer: answer["total"] == 2 and named(answer, "inner").get("waits") == "asyncio.sleep(100)")
    assert [each["waits"] for each in answer["tasks"] if chain(each) == ["main"]] == ["task inner"]
    assert chain(named(answer, "inner")) == ["slow", "sleep"]
    end()


class Gate:
    def __init__(self) -> None:
        self.queue: List[Any] = []

    async def enter(self) -> None:
        place = len(self.queue)
        self.queue.append(asyncio.get_running_loop().create_future())
        await self.queue[place]


def check_what_is_awaited_says_who_should_resolve_it_as_far_as_was_looked() -> None:
    async def holder(lock: Any) -> None:
        async with lock:
            await asyncio.sleep(100)

    async def wants(lock: Any) -> None:
        async with lock:
            pass

    async def takes(lock: Any) -> None:
        await lock.acquire()

    async def await_timer() -> None:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        loop.call_later(100, future.set_result, None)
        await future

    async def lost() -> None:
        await asyncio.get_running_loop().create_future()

    async def main() -> None:
        lock, gate = asyncio.Lock(), Gate()
        coroutines = [holder(lock), wants(lock), takes(lock), gate.enter(), await_timer(), lost()]
        tasks = [asyncio.ensure_future(each) for each in coroutines]
        for task, name in zip(tasks, ("holder", "wants", "takes", "enters", "timed", "lost")):
            task.set_name(name)
        await asyncio.gather(*tasks)

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 7 and all(each.get("waits") for each in answer["tasks"]))
    name = main_of(answer)["name"]
    waits = {each["name"]: each["waits"] for each in answer["tasks"]}
    assert waits["wants"] == "lock, probably held by task holder"
    assert waits["takes"] == "lock, probably held by task holder"
    assert waits["enters"].startswith("self.queue[place], which is at `")
    assert f"gate.queue[0]` in main (task {name})" in waits["enters"]
    assert waits["timed"] == "future, which a timer of its loop ends"
    assert waits["lost"].endswith(", to which nothing else refers that the garbage collector sees")
    assert "held by" not in waits["holder"]
    end()


async def sets(event: Any, other: Any) -> None:
    await asyncio.sleep(100)
    other.set()
    event.set()


def check_who_will_set_put_notify_or_resolve_what_is_awaited_is_named_while_it_still_comes_to_it() -> None:
    async def has_set(event: Any) -> None:
        event.set()
        event.clear()
        await asyncio.sleep(100)

    async def puts(queue: Any) -> None:
        while True:
            await asyncio.sleep(100)
            queue.put_nowait(1)

    async def notifies(condition: Any, future: Any) -> None:
        await asyncio.sleep(100)
        async with condition:
            condition.notify_all()
        future.set_result(1)

    async def sets_another(event: Any, other: Any) -> None:
        await asyncio.sleep(100)
        event = other
        event.set()

    async def meets(condition: Any) -> None:
        async with condition:
            await condition.wait()

    async def awaits(future: Any) -> None:
        await future

    async def main() -> None:
        events, condition = [asyncio.Event(), asyncio.Event(), asyncio.Event()], asyncio.Condition()
        queue: Any = asyncio.Queue()
        future = asyncio.get_running_loop().create_future()
        named = {
            "sets": sets(events[0], events[1]), "has_set": has_set(events[2]), "puts": puts(queue),
            "notifies": notifies(condition, future), "opened": events[0].wait(), "never": events[2].wait(),
            "sets_another": sets_another(events[2], events[1]),
            "gets": queue.get(), "meets": meets(condition), "awaits": awaits(future),
        }  # fmt: skip
        tasks = [asyncio.ensure_future(each) for each in named.values()]
        for task, name in zip(tasks, named):
            task.set_name(name)
        await asyncio.gather(*tasks)

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 11 and all(each.get("waits") for each in answer["tasks"]))
    waits = {each["name"]: each["waits"].partition(", until perhaps ")[2] for each in answer["tasks"]}
    end()
    line = sets.__code__.co_firstlineno + 3
    assert waits["opened"] == f"`event.set` of task sets, tasks.py:{line}"
    assert waits["gets"].startswith("`queue.put_nowait` of task puts, tasks.py:")
    assert waits["meets"].startswith("`condition.notify_all` of task notifies, tasks.py:")
    assert waits["awaits"].startswith("`future.set_result` of task notifies, tasks.py:")
    assert waits["never"] == waits["sets"] == ""


def check_tasks_that_wait_for_each_other_or_for_themselves_are_named() -> None:
    async def again(lock: Any) -> None:
        async with lock:
            await twice(lock)

    async def twice(lock: Any) -> None:
        async with lock:
            pass

    async def plainly(lock: Any) -> None:
        await lock.acquire()
        await lock.acquire()

    async def briefly(lock: Any) -> None:
        async with lock, asyncio.timeout(600):
            await lock.acquire()

    limited = (briefly,) if sys.version_info >= (3, 11) else ()

    async def cross(own: Any, other: Any, ready: Any, both: Any) -> None:
        async with own:
            ready.set()
            await both.wait()
            await other.acquire()

    async def join(lock: Any) -> None:
        async with lock:
            child = asyncio.ensure_future(twice(lock))
            child.set_name("child")
            await child

    async def main() -> None:
        first, second, ready, both = asyncio.Lock(), asyncio.Lock(), asyncio.Event(), asyncio.Event()
        tasks = [asyncio.ensure_future(each(asyncio.Lock())) for each in (again, plainly, join)]
        tasks += [
            asyncio.ensure_future(cross(first, second, both, ready)),
            asyncio.ensure_future(cross(second, first, ready, both)),
        ]
        tasks += [asyncio.ensure_future(each(asyncio.Lock())) for each in limited]
        for task, name in zip(tasks, ("again", "plainly", "joins", "left", "right", "briefly")):
            task.set_name(name)
        await asyncio.wait(tasks)

    end = serve(main)

    def circles(answer: Dict[str, Any]) -> List[str]:
        return sorted(note for note in answer.get("notes", ()) if "wait for each other" in note or "itself" in note)

    answer = until(lambda answer: len(circles(answer)) == 4 + len(limited))
    waits = {each["name"]: each.get("waits", "") for each in answer["tasks"]}
    assert waits["again"] == waits["plainly"] == "lock, probably held by itself"
    assert (waits["left"], waits["right"]) == (
        "other, probably held by task right",
        "other, probably held by task left",
    )
    assert (waits["joins"], waits["child"]) == ("task child", "lock, probably held by task joins")
    assert circles(answer) == [
        "probably a deadlock: task again waits for what it holds itself",
        "probably a deadlock: tasks child, joins wait for each other",
        "probably a deadlock: tasks left, right wait for each other",
        *("task briefly waits for what it holds itself, until a timeout" for _ in limited),
        "task plainly waits for what it holds itself: a deadlock, unless something else releases that",
    ], answer["notes"]
    end()


def check_the_frames_of_a_task_are_places() -> None:
    async def main() -> None:
        pool: Any = asyncio.Queue()
        tasks = [asyncio.ensure_future(wait_in(Gate(), number, pool)) for number in (1, 2)]
        for task in tasks:
            task.set_name("worker")
        await asyncio.gather(*tasks)

    async def wait_in(gate: Gate, number: int, pool: Any) -> None:
        total = number * 10
        await borrow(pool)
        DONE.append(total)

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 3 and all(each.get("waits") for each in answer["tasks"]))
    names = [each["name"] for each in answer["tasks"] if each["name"].startswith("worker#")]
    first, second = sorted(names, key=lambda name: ask("variables", task=name, frame=2, path="number")["value"])
    frames = ask("frames", task=second, locals=True)
    assert [each["function"] for each in frames["frames"]] == ["get", "borrow", "wait_in"]
    assert {each["name"]: each["value"] for each in frames["frames"][2]["locals"]}["total"] == "20"
    assert (frames["state"], frames["total"]) == ("waiting", 3)
    assert ask("frames", task=second, start=1, count=1)["frames"][0]["index"] == 1
    assert [
        each["value"] for each in ask("variables", task=first, frame=2, names=["number", "total"])["variables"]
    ] == [
        "1",
        "10",
    ]
    assert ask("variables", task=first, frame=2, path="gate.queue")["value"] == "[]"
    own = [each["name"] for each in ask("variables", task=first, scope="locals")["variables"]]
    assert own == ["pool"], "of `borrow`, the innermost frame that is not a library's"
    assert "2 tasks are named worker: pass one of " in error("variables", task="worker")
    assert "No task other was found among those that are not done: " in error("variables", task="other")
    assert error("variables", task=first, frame=3).endswith("frames go from 0 to 2.")
    started = ask("start", task=second, frame=2, number=71, source="total += 1; total")
    while not started["done"]:
        started = ask("outcome", number=71)
    assert started["value"] == "21"
    assert ask("variables", task=second, frame=2, path="total")["value"] == "21"
    listed = ask(count=10, locals=True)
    assert [place["index"] for place in named(listed, first)["chain"] if "locals" in place] == [2, 1]
    end()


def check_a_long_chain_has_both_ends_and_the_number_between() -> None:
    async def deeper(left: int) -> None:
        if left:
            await deeper(left - 1)
        else:
            await asyncio.sleep(100)

    async def main() -> None:
        await deeper(50)

    end = serve(main)
    answer = until(lambda answer: answer["total"] == 1 and "waits" in answer["tasks"][0])
    (task,) = answer["tasks"]
    assert (len(task["chain"]), task["chainOmitted"]) == (30, 23)
    assert (task["chain"][0]["index"], task["chain"][-1]["index"]) == (52, 0)
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


def check_what_a_task_waits_for_that_blocks_its_loop_is_said() -> None:
    owned = threading.Lock()
    owned.acquire()

    async def blocking() -> None:
        owned.acquire()

    end = serve(blocking)
    answer = until(lambda answer: any("blockedIn" in each for each in answer["tasks"]))
    [task] = answer["tasks"]
    assert (task["state"], task["blockedIn"]["kind"], task["blockedIn"]["what"]) == ("running", "lock", "owned")
    owned.release()
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
    assert named(answer, "receiver")["waits"].startswith("MemoryReceiveChannel.receive, 0 items, 1 open sender, which")
    assert named(answer, "sleeper")["waits"] == "sleep(1000)"
    index = named(answer, "receiver")["chain"][-1]["index"]
    values = ask("variables", task="receiver", frame=index)["variables"]
    assert "self" in [each["name"] for each in values]
    assert ask("frames", task="main")["frames"][-1]["function"].endswith("main")
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
