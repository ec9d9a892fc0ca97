import asyncio
import contextlib
import sys
import threading
import time
from typing import Any, Dict, List

from tests.probe.checks.tasks import ask, serve, trio, until
from tests.probe.checks.threads import start
from tests.probe.checks.threads import until as until_threads
from trio_debugmcp.probe.inside.debugger import seam


def waits_of(answer: Dict[str, Any]) -> Dict[str, str]:
    return {each["name"].rpartition(".")[2]: each.get("waits", "") for each in answer["tasks"]}


def circles(answer: Dict[str, Any]) -> List[str]:
    return sorted(note for note in answer.get("notes", ()) if "wait for each other" in note or "itself" in note)


def named(*coroutines: Any) -> List[Any]:
    """Tasks named like their functions."""
    tasks = [asyncio.ensure_future(each) for each in coroutines]
    for task in tasks:
        task.set_name(task.get_coro().__name__)
    return tasks


async def inside(lock: Any) -> None:
    async with lock:
        await asyncio.sleep(100)


async def wants(lock: Any) -> None:
    async with lock:
        pass


async def left(own: Any, other: Any, ready: Any, both: Any) -> None:
    async with own:
        ready.set()
        await both.wait()
        await other.acquire()


async def right(own: Any, other: Any, ready: Any, both: Any) -> None:
    async with own:
        ready.set()
        await both.wait()
        async with other:
            pass


async def timed(own: Any, other: Any, ready: Any, both: Any) -> None:
    async with own:
        ready.set()
        await both.wait()
        await asyncio.wait_for(other.acquire(), 500)


def answered(main: Any, most: int) -> Any:
    """What is answered when a loop runs `main`, and every task waits; `most`: how many tasks there are."""
    end = serve(main)
    earlier: List[Dict[str, str]] = []

    def is_still(answer: Dict[str, Any]) -> bool:
        """Whether all wait for what they waited for before: the tasks run while they are looked at one by one."""
        earlier.append(waits_of(answer))
        return answer["total"] == most and all(earlier[-1].values()) and earlier[-1:] == earlier[-2:-1]

    answer = until(is_still)
    end()
    return answer


def check_a_lock_that_another_task_has_released_has_no_known_holder() -> None:
    async def loser(lock: Any, taken: Any) -> None:
        await lock.acquire()
        taken.set()
        await asyncio.sleep(100)

    async def thief(lock: Any, taken: Any, stolen: Any) -> None:
        await taken.wait()
        lock.release()
        await lock.acquire()
        stolen.set()
        await asyncio.sleep(100)

    async def main() -> None:
        lock, taken, stolen = asyncio.Lock(), asyncio.Event(), asyncio.Event()
        tasks = named(loser(lock, taken), thief(lock, taken, stolen))
        await stolen.wait()
        await asyncio.gather(*tasks, *named(wants(lock)))

    said = waits_of(answered(main, 4))["wants"]
    assert said in {
        f"lock, which {first}, {second} took: who has it now is not known"
        for first, second in (("task loser", "task thief"), ("task thief", "task loser"))
    }


def check_a_task_that_only_waits_in_acquire_is_not_its_holder() -> None:
    async def shields(lock: Any) -> None:
        await asyncio.shield(lock.acquire())

    async def limits(lock: Any) -> None:
        await asyncio.wait_for(lock.acquire(), 500)

    async def main() -> None:
        lock = asyncio.Lock()
        await asyncio.gather(*named(inside(lock), shields(lock), limits(lock)))

    waits = waits_of(answered(main, 5 if sys.version_info >= (3, 12) else 6))
    assert waits["shields"].startswith("shielded task ")
    assert sorted(each for each in waits.values() if "held by" in each) == [
        "a lock, probably held by task inside",
        f"{'lock' if sys.version_info >= (3, 12) else 'a lock'}, probably held by task inside",
    ], waits


def check_semaphores_and_conditions_name_who_is_inside() -> None:
    async def notified(condition: Any) -> None:
        async with condition:
            await condition.wait()

    async def twice(semaphore: Any) -> None:
        async with semaphore, semaphore:
            await semaphore.acquire()

    async def main() -> None:
        condition = asyncio.Condition()
        waiting = named(notified(condition))
        await asyncio.sleep(0)
        semaphore = asyncio.Semaphore(1)
        tasks = named(inside(condition), wants(condition), inside(semaphore), wants(semaphore))
        await asyncio.gather(*waiting, *tasks, *named(twice(asyncio.Semaphore(2))))

    answer = answered(main, 7)
    said = sorted(each["waits"] for each in answer["tasks"] if each["name"].startswith("wants"))
    holders = sorted(each["name"] for each in answer["tasks"] if each["name"].startswith("inside"))
    assert said == [f"lock, probably held by task {holder}" for holder in holders], (said, holders)
    waits = waits_of(answer)
    assert waits["notified"].startswith("condition.wait")
    assert waits["twice"] == "semaphore, probably held by itself"
    assert circles(answer) == [
        "task twice waits for what it holds itself: a deadlock, unless something else releases that"
    ]


def check_a_semaphore_with_a_holder_that_is_free_to_continue_makes_no_circle() -> None:
    async def main() -> None:
        semaphore, lock, first, second = asyncio.Semaphore(2), asyncio.Lock(), asyncio.Event(), asyncio.Event()
        tasks = named(inside(semaphore), left(semaphore, lock, first, second), right(lock, semaphore, second, first))
        await asyncio.gather(*tasks)

    answer = answered(main, 4)
    waits = waits_of(answer)
    assert waits["left"] == "other, probably held by task right"
    assert "task inside" in waits["right"]
    assert "task left" in waits["right"]
    assert not circles(answer)


def check_circles_through_semaphores_groups_and_waits_are_named() -> None:
    async def parent(lock: Any) -> None:
        async with lock:
            await asyncio.wait(named(wants(lock)))

    async def main() -> None:
        first, second = asyncio.Semaphore(1), asyncio.BoundedSemaphore(1)
        ready, both = asyncio.Event(), asyncio.Event()
        tasks = named(left(first, second, ready, both), right(second, first, both, ready), parent(asyncio.Lock()))
        await asyncio.gather(*tasks)

    in_words = {
        frozenset(each.partition("tasks ")[2].split(" wait")[0].split(", ")) for each in circles(answered(main, 5))
    }
    assert in_words == {frozenset(("left", "right")), frozenset(("parent", "wants"))}


def check_a_circle_through_wait_for_lasts_until_its_timeout() -> None:
    async def main() -> None:
        first, second, ready, both = asyncio.Lock(), asyncio.Lock(), asyncio.Event(), asyncio.Event()
        await asyncio.gather(*named(timed(first, second, ready, both), left(second, first, both, ready)))

    answer = answered(main, 3 if sys.version_info >= (3, 12) else 4)
    (circle,) = circles(answer)
    assert circle.endswith(" wait for each other, until a timeout")
    assert circle.startswith("tasks ")
    if sys.version_info >= (3, 12):
        assert waits_of(answer)["timed"] == "other, probably held by task left"


def check_timeouts_that_never_end_do_not_count_and_those_of_who_would_cancel_the_tasks_do() -> None:
    async def waits_in(block: Any, own: Any, other: Any, ready: Any, both: Any) -> None:
        async with own:
            ready.set()
            await both.wait()
            async with block:
                await inner(other)

    async def inner(lock: Any) -> None:
        async with lock:
            pass

    async def limits(*crossing: Any) -> None:
        await asyncio.wait_for(asyncio.gather(*crossing), 500)

    def crossing(block: Any, name: str) -> List[Any]:
        first, second, ready, both = asyncio.Lock(), asyncio.Lock(), asyncio.Event(), asyncio.Event()
        tasks = named(waits_in(block, first, second, ready, both), right(second, first, both, ready))
        for task, side in zip(tasks, "ab"):
            task.set_name(f"{name}-{side}")
        return tasks

    class Block:
        async def __aenter__(self) -> None: ...

        async def __aexit__(self, *raised: object) -> None: ...

    async def main() -> None:
        timeout: Any = getattr(asyncio, "timeout", None)  # since 3.11
        blocks = {"ended": timeout(500), "never": timeout(None)} if timeout else {}
        tasks = [task for name, block in {**blocks, "plain": Block()}.items() for task in crossing(block, name)]
        await asyncio.gather(*tasks, limits(*crossing(Block(), "above")))

    has_timeouts = sys.version_info >= (3, 11)
    said = circles(answered(main, 10 if has_timeouts else 6))
    assert {each.partition("-")[0].rpartition(" ")[2]: each.endswith("until a timeout") for each in said} == {
        "above": True,
        "plain": False,
        **({"ended": True, "never": False} if has_timeouts else {}),
    }, said


def check_what_others_may_end_is_not_called_a_deadlock_for_sure() -> None:
    async def stacked(semaphore: Any) -> None:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(semaphore)
            await asyncio.sleep(100)

    async def outer(semaphore: Any) -> None:
        async with semaphore:
            await asyncio.gather(*named(wants(semaphore)))

    async def awaits_a_signal(lock: Any) -> None:
        await lock.acquire()
        await lock.acquire()

    async def main() -> None:
        semaphore = asyncio.Semaphore(2)
        await asyncio.gather(*named(stacked(semaphore), outer(semaphore), awaits_a_signal(asyncio.Lock())))

    said = circles(answered(main, 5))
    assert [each.rpartition(": ")[2] for each in said] == ["a deadlock, unless something else releases that"] * 2, said


def check_what_may_continue_makes_no_circle() -> None:
    async def other_branch(first: Any, second: Any, way: bool) -> None:
        if way:
            await first.acquire()
        else:
            await second.acquire()

    async def gives_up(taken: Any, other: Any) -> None:
        try:
            await asyncio.wait_for(taken.acquire(), 0.01)
        except asyncio.TimeoutError:
            await other.acquire()

    async def holds(own: Any, other: Any) -> None:
        async with own, other:
            pass

    async def waits_for_any(own: Any, future: Any) -> None:
        async with own:
            await asyncio.wait([*named(wants(own)), future], return_when=asyncio.FIRST_COMPLETED)

    async def has_been_signalled(signal: Any) -> None:
        await signal.acquire()
        await asyncio.wait(named(waits_for(signal)))

    async def waits_for(signal: Any) -> None:
        await signal.acquire()

    async def main() -> None:
        locks, signal = [asyncio.Lock() for _ in range(4)], asyncio.Semaphore(0)
        signal.release()
        future = asyncio.get_event_loop().create_future()
        others = named(waits_for_any(locks[3], future), has_been_signalled(signal))
        for lock in locks[:2]:
            await lock.acquire()
        tasks = named(holds(locks[2], locks[1]), other_branch(locks[1], locks[2], False), gives_up(locks[0], locks[2]))
        await asyncio.gather(*tasks, *others)

    answer = answered(main, 8)
    assert not circles(answer), answer["notes"]


def check_a_callback_of_the_program_is_not_asked_for_its_attributes() -> None:
    class Callback:
        def __call__(self, future: Any) -> None: ...

        def __getattr__(self, name: str) -> Any:
            raise SystemExit(f"asked for {name}")

    async def main() -> None:
        task = asyncio.ensure_future(asyncio.sleep(100))
        task.add_done_callback(Callback())
        await task

    assert not [name for name in waits_of(answered(main, 2)) if "asked for" in name]


def check_trio_names_who_has_semaphores_and_limiters() -> None:
    if trio is None:
        print("  without trio")
        return
    scopes: List[Any] = []
    tokens: List[Any] = []

    async def crossing(own: Any, other: Any, ready: Any, both: Any) -> None:
        async with own:
            ready.set()
            await both.wait()
            async with other:
                pass

    async def main() -> None:
        tokens.append(trio.lowlevel.current_trio_token())
        async with trio.open_nursery() as nursery:
            scopes.append(nursery.cancel_scope)
            for kind in (trio.Semaphore, trio.CapacityLimiter):
                first, second, ready, both = kind(1), kind(1), trio.Event(), trio.Event()
                nursery.start_soon(crossing, first, second, ready, both, name=f"{kind.__name__}-left")
                nursery.start_soon(crossing, second, first, both, ready, name=f"{kind.__name__}-right")

    thread = threading.Thread(target=lambda: trio.run(main), daemon=True)
    thread.start()
    answer = until(lambda answer: len(circles(answer)) == 2)
    tokens[0].run_sync_soon(scopes[0].cancel)
    thread.join(5)
    waits = waits_of(answer)
    assert waits["Semaphore-left"] == "other, probably held by task Semaphore-right"
    assert waits["CapacityLimiter-left"] == "other, held by task CapacityLimiter-right"
    assert circles(answer) == [
        "probably a deadlock: tasks CapacityLimiter-left, CapacityLimiter-right wait for each other",
        "tasks Semaphore-left, Semaphore-right wait for each other: a deadlock, unless something else releases that",
    ]
    assert not [task for task in ask()["tasks"] if task["library"] == "trio"]


def check_a_thread_that_waits_in_acquire_does_not_hold_the_lock() -> None:
    lock, release = threading.Lock(), threading.Event()

    def acquires() -> None:
        release.wait()
        lock.acquire()

    def holds() -> None:
        with lock:
            release.set()
            time.sleep(100)

    first = start(acquires)  # is listed before the holder
    second = start(holds)

    def entry(answer: Dict[str, Any]) -> Dict[str, Any]:
        found = next(each for each in answer["threads"] if each["name"] == first.name)
        waits: Dict[str, Any] = found.get("waits", {})
        return waits if waits.get("kind") == "lock" else {}

    answer = until_threads(entry)
    assert entry(answer)["holder"]["name"] == second.name
    assert "deadlocks" not in answer


def check_a_lock_of_the_debuggers_own_does_not_count_as_a_wait() -> None:
    """pydevd starts the tracing of all threads so: with a lock that the main thread has and a helper frees."""
    there = threading.Event()
    names: Dict[str, Any] = {"__name__": f"{seam.PROBE}.made_up", "there": there}
    exec(
        "import _thread\ndef work():\n    lock = _thread.allocate_lock()\n    lock.acquire()\n    there.set()\n"
        "    lock.acquire()\n",
        names,
    )
    thread = start(names["work"])
    there.wait()
    answer = until_threads(
        lambda answer: sys._current_frames()[thread.ident or 0].f_code.co_name == "work",
    )
    assert "waits" not in next(each for each in answer["threads"] if each["name"] == thread.name)
    assert "deadlocks" not in answer


def check_a_lock_that_another_thread_has_released_has_no_known_holder() -> None:
    lock, taken, stolen = threading.Lock(), threading.Event(), threading.Event()

    def loser() -> None:
        lock.acquire()
        taken.set()
        time.sleep(100)

    def thief() -> None:
        taken.wait()
        lock.release()
        lock.acquire()
        stolen.set()
        time.sleep(100)

    def late() -> None:
        stolen.wait()
        lock.acquire()

    start(loser)
    start(thief)
    thread = start(late)

    def entry(answer: Dict[str, Any]) -> Dict[str, Any]:
        found: Dict[str, Any] = next(each for each in answer["threads"] if each["name"] == thread.name)
        waits: Dict[str, Any] = found.get("waits", {})
        return waits if waits.get("kind") == "lock" else {}

    assert "holder" not in entry(until_threads(entry))
