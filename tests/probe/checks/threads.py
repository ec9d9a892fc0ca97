import asyncio
import concurrent.futures
import faulthandler
import fcntl
import importlib
import json
import multiprocessing
import os
import queue
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types
from typing import Any, Callable, Dict, List, Optional

from trio_debugmcp.probe.inside import questions, visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached, by_pydevd
from trio_debugmcp.probe.inside.debugger.seam import ProgramDebugger, ProgramThread
from trio_debugmcp.probe.inside.threads import (
    pipe_holders,
    shared_locks,
    shared_uses,
    thread_list,
    unix_sockets,
    wait_ends,
)
from trio_debugmcp.probe.inside.threads import waits as waits_module
from trio_debugmcp.probe.inside.threads.waits import Wait
from trio_debugmcp.probe.inside.values.rendering import Renderer

locks = [threading.Lock() for _ in range(5)]

SHARED = thread_list.StackQuestion(start=0, most=1000, frames=1, locals_=False, shared=True)


def start(function: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def answer() -> Dict[str, Any]:
    return thread_list.threads_json(Budget(seconds=100))


def until(there: Callable[[Dict[str, Any]], Any]) -> Dict[str, Any]:
    """The answer, once that is true of it: threads begin when the machine has time for them."""
    end = time.monotonic() + 100
    while True:
        found = answer()
        if there(found):
            return found
        assert time.monotonic() < end, found
        time.sleep(0.01)


def entry(thread: threading.Thread, kind: Optional[str] = None, state: Optional[str] = None) -> Dict[str, Any]:
    """What is said of a thread, once it waits for that, or is in that state."""

    def mine(found: Dict[str, Any]) -> Dict[str, Any]:
        return dict(next(each for each in found["threads"] if each["name"] == thread.name))

    def there(found: Dict[str, Any]) -> bool:
        is_there = kind is None or mine(found).get("waits", {}).get("kind") == kind
        return is_there and (state is None or mine(found)["state"] == state)

    return mine(until(there))


def waits(function: Callable[..., Any], kind: str, *arguments: Any) -> Dict[str, Any]:
    found = entry(start(function, *arguments), kind)
    assert found["state"] == "waiting"
    wait: Dict[str, Any] = found["waits"]
    return wait


def made(source: str, file: str, module: str) -> Any:
    """A function `f` in another file and module."""
    names: Dict[str, Any] = {"__name__": module}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def check_what_is_waited_for_is_in_the_users_words_or_not_said() -> None:
    assert waits(lambda: threading.Event().wait(30), "event") == {"kind": "event"}
    assert waits(lambda: queue.Queue().get(True, 30.5), "queue") == {"kind": "queue", "detail": "0 items"}
    wrapper = made("def f(self, job): return job()", "/pydevd/pydev_monkey.py", "_pydev_bundle.pydev_monkey")
    attached.attach(by_pydevd.ByPydevd())
    assert waits(wrapper, "event", None, threading.Event().wait) == {"kind": "event"}
    attached.attach(ProgramDebugger())
    library = "import time\ndef f(poll_interval): time.sleep(poll_interval)"
    installed = made(library, "/env/lib/site-packages/server/run.py", "server.run")
    assert waits(installed, "sleep", 1000) == {"kind": "sleep"}
    around = made("def f(jobs, poll_interval): jobs.get(True, poll_interval)", "/env/site-packages/s.py", "server.jobs")
    assert waits(around, "queue", queue.Queue(), 30.5) == {"kind": "queue", "detail": "0 items"}
    lock = threading.Condition(threading.Lock())
    with lock:

        def enter() -> None:
            with lock:
                pass

        assert waits(enter, "lock")["what"] == "lock"


def check_the_innermost_place_and_the_users() -> None:
    jobs: Any = queue.Queue()

    def take() -> None:
        jobs.get()

    thread = start(take)
    found = entry(thread, "queue")
    assert (found["at"]["function"], found["at"]["library"]) == ("wait", True)
    assert found["at"]["from"]["function"] == "take"
    assert found["at"]["from"]["file"] == __file__
    assert found["daemon"] is True


def check_which_task_of_a_loop_ends_the_future_of_a_thread() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    def wait_for(coroutine: Any, loop: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    async def block(is_begun: bool) -> None:
        waiter = threading.Thread(target=wait_for, args=(never(), asyncio.get_running_loop()), daemon=True)
        waiters.put(waiter)
        waiter.start()
        while is_begun and len(asyncio.all_tasks()) < 2:
            await asyncio.sleep(0.01)
        waiter.join()

    waiters: Any = queue.Queue()
    for is_begun, detail in ((True, "task Task-"), (False, "pending: coroutine ")):
        looping = start(asyncio.run, block(is_begun))
        waiter = waiters.get()
        entry(looping, "join")
        wait = entry(waiter, "future")["waits"]
        assert wait["detail"].startswith(detail), wait
        assert is_begun or wait["detail"].endswith("never has not begun")
        assert (wait["holder"]["name"], wait["holder"]["sure"]) == (looping.name, True)
        ids = {entry(looping)["id"], entry(waiter)["id"]}
        circle = next(each for each in answer()["deadlocks"] if ids == set(each["threads"]))
        assert circle["sure"]


def check_what_threads_wait_for() -> None:
    jobs: Any = queue.Queue()
    simple: Any = queue.SimpleQueue()
    event, semaphore, condition = threading.Event(), threading.Semaphore(0), threading.Condition()
    sleeper = start(time.sleep, 100)
    held, zero = threading.Lock(), 0
    held.acquire()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    future: Any = concurrent.futures.Future()

    def wait_for_condition() -> None:
        with condition:
            condition.wait()

    assert waits(lambda: jobs.get(), "queue") == {"kind": "queue", "what": "jobs.get", "detail": "0 items"}
    assert waits(lambda: simple.get(), "queue") == {"kind": "queue", "what": "simple.get"}
    assert waits(lambda: event.wait(), "event") == {"kind": "event", "what": "event.wait"}
    assert waits(lambda: semaphore.acquire(), "semaphore") == {"kind": "semaphore", "what": "semaphore"}
    assert waits(wait_for_condition, "condition") == {"kind": "condition", "what": "condition.wait"}
    assert waits(lambda: time.sleep(1000), "sleep") == {"kind": "sleep", "what": "time.sleep(1000)"}
    assert waits(lambda: listener.accept(), "io") == {"kind": "io", "what": "listener.accept"}
    pending = {"kind": "future", "what": "future.result", "detail": "pending: no worker runs it"}
    assert waits(lambda: future.result(), "future") == pending
    assert waits(lambda: child.wait(), "process")["detail"] == f"pid {child.pid}"
    assert waits(lambda: time.sleep(0 if child is None else 1000), "sleep")["what"].startswith("time.sleep")
    assert waits(lambda: held.acquire(True, zero or -1), "lock")["what"] == "held"
    joined = waits(lambda: sleeper.join(), "join")
    assert (joined["what"], joined["detail"], joined["holder"]["sure"]) == ("sleeper.join", sleeper.name, True)
    barrier = threading.Barrier(3)
    assert waits(lambda: barrier.wait(), "barrier")["detail"] == "1 of 3 are there"
    between = multiprocessing.Barrier(3)
    assert waits(lambda: between.wait(), "barrier")["detail"] == "1 of 3 are there"
    jobs.put(1)
    until(lambda found: jobs.empty())  # the thread above takes it
    assert waits(lambda: jobs.join(), "queue")["detail"] == "0 items, 1 not yet reported by task_done"
    shared = multiprocessing.Lock()
    shared.acquire()
    wait = waits(lambda: shared.acquire(), "lock")
    assert (wait["what"], wait["holder"]["name"]) == ("shared", "MainThread")
    pool = concurrent.futures.ThreadPoolExecutor(1)
    running: Any = pool.submit(event.wait)
    until(lambda found: running.running())
    wait = waits(lambda: running.result(), "future")
    assert (wait["what"], wait["holder"]["name"]) == ("running.result", "ThreadPoolExecutor-0_0")
    assert waits(lambda: pool.submit(int).result(), "future")["detail"] == "pending: no worker runs it"
    event.set()
    child.kill()
    child.wait()
    listener.close()


def check_the_locks_that_processes_share_are_listed_with_who_has_and_who_wants_them() -> None:
    shared: List[Any] = [
        multiprocessing.Lock(),
        multiprocessing.RLock(),
        multiprocessing.Semaphore(0),
        multiprocessing.Lock(),
    ]
    lock, wanted, signal_, free = shared
    wanted.acquire()

    def take() -> None:
        with free:
            pass
        with lock:
            wanted.acquire()

    taker, waiter = start(take), start(lambda: signal_.acquire(True, 500))
    until(lambda found: {each["name"] for each in found["threads"] if "waits" in each} >= {taker.name, waiter.name})
    mine = shared_locks.identities([each._semlock for each in shared])
    assert len(set(mine.values())) == 4
    found = thread_list.stacks_json(SHARED, Budget(seconds=100), Renderer(Budget(seconds=100)))
    names = {each["id"]: each["name"] for each in found["stacks"]}
    listed = {each["id"]: each for each in found["shared"]}
    of = [listed.get(mine[id(each._semlock)]) for each in shared]
    shown = [
        each
        and (
            each["count"],
            each["single"],
            [(names[by["thread"]], by["byCall"]) for by in each["takers"]],
            [(names[by["thread"]], by["timed"]) for by in each["waiters"]],
        )
        for each in of
    ]
    assert shown == [
        (1, True, [(taker.name, False)], []),
        (1, True, [("MainThread", True)], [(taker.name, False)]),
        (0, False, [], [(waiter.name, True)]),
        None,
    ]


def check_of_many_locks_that_processes_share_those_that_are_waited_for_come_first_and_the_others_are_counted() -> None:
    locks: List[Any] = [multiprocessing.Semaphore(5), multiprocessing.Lock(), multiprocessing.Lock()]
    for each in locks:
        each.acquire()
    acquire = locks[2].acquire
    waiter = start(lambda: acquire())
    until(lambda found: waiter.name in {each["name"] for each in found["threads"] if "waits" in each})

    def listed() -> Any:
        return thread_list.stacks_json(SHARED, Budget(seconds=100), Renderer(Budget(seconds=100)))

    whole, most = listed(), shared_uses.MOST_LISTED
    assert whole["sharedOmitted"] == 0
    shared_uses.MOST_LISTED = 1
    try:
        first = listed()
    finally:
        shared_uses.MOST_LISTED = most
        for each in locks:
            each.release()
    assert [bool(each["waiters"]) for each in first["shared"]] == [True]
    assert first["sharedOmitted"] == len(whole["shared"]) - 1 >= 2


def check_the_threads_that_the_kernel_has_blocked_are_listed_with_what_they_wait_for() -> None:
    if not os.path.exists("/proc/self/syscall") or os.uname().machine not in ("x86_64", "aarch64"):
        return  # nothing is said there
    empty, full = os.pipe(), os.pipe()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owned, event = multiprocessing.Lock(), threading.Event()
    owned.acquire()
    acquire = owned.acquire

    def write() -> None:
        os.write(full[1], b"x" * 1000000)

    writer = start(write)
    pid = child.pid
    expected = {
        writer.name: ("write", os.readlink(f"/proc/self/fd/{full[1]}")),
        start(lambda: os.read(empty[0], 1)).name: ("read", os.readlink(f"/proc/self/fd/{empty[0]}")),
        start(child.wait).name: ("end", str(pid)),
        start(lambda: acquire()).name: ("lock", ""),
        start(lambda: writer.join()).name: ("thread", ""),
    }
    mine, other = socket.socketpair()
    timed, timed_end = socket.socketpair()
    timed.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 500, 0))
    timed_reader = start(lambda: timed.recv(1))
    expected[start(lambda: other.recv(1)).name] = ("read", f"socket:[{os.fstat(other.fileno()).st_ino}]")
    live = {start(lambda: writer.join(500)).name, start(event.wait).name, start(lambda: time.sleep(500)).name}

    def blocked() -> Dict[str, Any]:
        found = thread_list.stacks_json(SHARED, Budget(seconds=100), Renderer(Budget(seconds=100)))
        names = {each["id"]: each["name"] for each in found["stacks"]}
        assert found["blocked"]["pid"] == os.getpid()
        assert found["blocked"]["others"] + len(found["blocked"]["threads"]) == found["total"]
        return {names[each["thread"]]: (each["in"], each["of"]) for each in found["blocked"]["threads"]}

    until(lambda found: all(each in blocked() for each in expected))
    until(lambda found: {each["name"] for each in found["threads"] if "waits" in each} >= live)
    listed = blocked()
    assert {name: listed[name] for name in expected} == expected
    assert not (live | {timed_reader.name}) & set(listed)
    socket_ends = [f"socket:[{os.fstat(each.fileno()).st_ino}]" for each in (mine, other)]
    assert unix_sockets.peer_of(socket_ends[0]) == socket_ends[1]
    assert unix_sockets.is_endless(timed_end.fileno(), "read")
    socket.setdefaulttimeout(500)
    assert not unix_sockets.is_endless(timed_end.fileno(), "read")
    socket.setdefaulttimeout(None)
    assert os.get_blocking(timed_end.fileno())
    found = pipe_holders.holders_json([socket_ends[1], "socket:[1]"], [os.getpid()], Budget(seconds=100))
    assert found["pipes"] == {socket_ends[1]: {"readers": [os.getpid()], "writers": [os.getpid()]}}
    pipes = [os.readlink(f"/proc/self/fd/{end}") for end in (empty[0], child.stdin.fileno() if child.stdin else -1)]
    holders = pipe_holders.holders_json(pipes, [os.getpid()], Budget(seconds=100))
    assert holders["pipes"] == {
        pipes[0]: {"readers": [os.getpid()], "writers": [os.getpid()]},
        pipes[1]: {"readers": [pid], "writers": [os.getpid()]},
    }
    child.kill()
    os.read(full[0], 1000000)
    for each in (mine, timed_end):
        each.close()


LOCKED = """
import fcntl, sys
file = open(sys.argv[1])
getattr(fcntl, sys.argv[2])(file, fcntl.LOCK_SH)
print(flush=True)
input()
"""


def check_who_waits_for_the_lock_of_a_file_is_said_with_the_file_and_the_process_that_has_it() -> None:
    if not os.path.exists("/proc/self/syscall") or os.uname().machine not in ("x86_64", "aarch64"):
        return  # only the call is known there
    for how in ("flock", "lockf"):
        see_the_lock_of_a_file(how)


def see_the_lock_of_a_file(how: str) -> None:
    with tempfile.NamedTemporaryFile("w") as file:
        words = [sys.executable, "-c", LOCKED, file.name, how]
        owner = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert owner.stdout is not None
        owner.stdout.readline()
        thread = start(lambda: getattr(fcntl, how)(file, fcntl.LOCK_EX))

        def wait_in(found: Dict[str, Any]) -> Dict[str, Any]:
            return dict(next(each.get("waits", {}) for each in found["threads"] if each["name"] == thread.name))

        wait = wait_in(until(lambda found: "detail" in wait_in(found)))
        program = os.path.basename(sys.executable)
        detail = f"the lock of {file.name}, held by process {owner.pid} {program}"
        assert (wait["kind"], wait["detail"]) == ("file", detail), wait
        found = thread_list.stacks_json(SHARED, Budget(seconds=100), Renderer(Budget(seconds=100)))
        [lock] = [each["of"] for each in found["blocked"]["threads"] if each["in"] == "file"]
        assert lock.endswith(f" 0 EOF] {file.name}")
        holders = pipe_holders.holders_json([lock], [os.getpid(), owner.pid], Budget(seconds=100))
        assert holders["pipes"] == {lock: {"readers": [owner.pid], "writers": [owner.pid]}}
        owner.kill()
        thread.join(100)
        assert not thread.is_alive()
        owner.wait()


def check_only_a_timeout_that_ends_makes_a_circle_of_threads_timed() -> None:
    def crossing_within(seconds: float) -> List[str]:
        first, second, both = threading.Lock(), threading.Lock(), threading.Barrier(2)

        def left() -> None:
            with first:
                both.wait()
                second.acquire(True, seconds)

        def right() -> None:
            with second:
                both.wait()
                with first:
                    pass

        return [start(left).name, start(right).name]

    pairs = {"-1": crossing_within(-1), "500": crossing_within(500)}

    def circles(found: Dict[str, Any]) -> Dict[str, bool]:
        names = {each["id"]: each["name"] for each in found["threads"]}
        timed = {frozenset(names[id_] for id_ in each["threads"]): each["timed"] for each in found.get("deadlocks", ())}
        return {given: timed[frozenset(pair)] for given, pair in pairs.items() if frozenset(pair) in timed}

    assert circles(until(lambda found: len(circles(found)) == 2)) == {"-1": False, "500": True}


def check_a_thread_that_runs_is_not_waiting() -> None:
    stop: List[int] = []

    def spin() -> None:
        while not stop:
            pass

    thread = start(spin)
    assert {entry(thread)["state"] for _ in range(20)} == {"running"}
    stop.append(1)
    assert entry(threading.main_thread())["state"] == "running"


def check_c_code_that_is_not_known_to_wait_is_named() -> None:
    with tempfile.TemporaryDirectory() as directory:
        pipe = os.path.join(directory, "pipe")
        os.mkfifo(pipe)
        thread = start(lambda: os.close(os.open(pipe, os.O_RDONLY)))
        wanted = (thread.name, "running", "os.open")
        until(lambda found: wanted in [(each["name"], each["state"], each.get("calls")) for each in found["threads"]])
        os.close(os.open(pipe, os.O_WRONLY))
        thread.join()


def check_bytecode_that_is_not_known_is_not_said_to_run() -> None:
    event = threading.Event()
    thread = start(event.wait)
    entry(thread, "event")
    kept, waits_module.wait_of = waits_module.wait_of, lambda thread: [][int(thread.id)]
    try:
        assert entry(thread)["state"] == "unknown"
    finally:
        waits_module.wait_of = kept
        event.set()


def check_the_workers_of_a_process_pool_are_idle_as_they_take_turns_to_read_their_queue() -> None:
    pool: Any = importlib.import_module("multiprocessing.pool")
    process: Any = importlib.import_module("concurrent.futures.process")
    work: Any = multiprocessing.SimpleQueue()
    calls: Any = multiprocessing.Queue()
    results: Any = multiprocessing.SimpleQueue()
    ends = types.SimpleNamespace(get=work.get, put=results.put)  # else it closes the one that it does not use
    threads = [start(pool.worker, ends, ends) for _ in range(2)]
    threads += [start(process._process_worker, calls, results, None, ()) for _ in range(2)]
    for thread in threads:
        assert entry(thread, "worker")["waits"]["detail"] == "idle, no work"


def check_a_pools_worker_is_idle_or_not() -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pool.submit(len, "").result()
        worker = next(iter(pool._threads))
        assert entry(worker, "worker")["waits"]["detail"] == "idle, no work"
        end = threading.Event()
        pool.submit(end.wait)
        entry(worker, "event")
        end.set()


def check_who_has_a_reentrant_lock_is_known() -> None:
    lock = threading.RLock()

    def wanting() -> None:
        with lock:
            pass

    with lock:
        wait = waits(wanting, "lock")
    assert wait["what"] == "lock"
    assert (wait["holder"]["name"], wait["holder"]["sure"]) == ("MainThread", True)


def check_who_has_a_plain_lock_is_probable() -> None:
    lock, go = threading.Lock(), threading.Event()

    def holding() -> None:
        lock.acquire()
        try:
            go.wait()
        finally:
            lock.release()

    holder = start(holding)
    entry(holder, "event")
    wait = waits(lambda: lock.acquire(), "lock")
    assert wait["holder"]["name"] == holder.name
    assert wait["holder"]["sure"] is False
    assert wait["holder"]["at"]["function"] == "holding"
    go.set()


def check_a_condition_gives_its_lock_back_while_it_waits() -> None:
    lock = threading.Lock()
    condition = threading.Condition(lock)

    def waiting() -> None:
        with condition:
            condition.wait()

    entry(start(waiting), "condition")
    with lock:
        wait = waits(lambda: lock.acquire(), "lock")
    assert wait.get("holder", {}).get("name") in (None, "MainThread")


def ring(number: int, barrier: threading.Barrier) -> None:
    with locks[number]:
        barrier.wait()
        with locks[(number + 1) % 5]:
            pass


def check_five_threads_in_a_ring() -> None:
    barrier = threading.Barrier(5)
    found = [start(ring, number, barrier) for number in range(5)]
    waiting = [entry(thread, "lock") for thread in found]
    assert [each["waits"]["what"] for each in waiting] == ["locks[(number + 1) % 5]"] * 5
    names = [each["waits"]["holder"]["name"] for each in waiting]
    assert names == [thread.name for thread in found[1:] + found[:1]]
    circle = max(answer()["deadlocks"], key=lambda each: len(each["threads"]))
    assert sorted(circle["threads"]) == sorted(each["id"] for each in waiting)
    assert circle["sure"] is False


def check_two_reentrant_locks_are_surely_a_deadlock() -> None:
    first, second, barrier = threading.RLock(), threading.RLock(), threading.Barrier(2)

    def take(one: Any, other: Any) -> None:
        with one:
            barrier.wait()
            other.acquire()

    pair = [entry(start(take, *each), None)["id"] for each in ((first, second), (second, first))]
    until(lambda found: any(sorted(each["threads"]) == sorted(pair) and each["sure"] for each in found["deadlocks"]))


def check_a_wait_that_may_end_is_not_surely_a_deadlock() -> None:
    first, second, barrier = threading.RLock(), threading.RLock(), threading.Barrier(2)

    def take(one: Any, other: Any) -> None:
        with one:
            barrier.wait()
            other.acquire(timeout=100)

    pair = [entry(start(take, *each), None)["id"] for each in ((first, second), (second, first))]
    found = until(lambda found: any(sorted(each["threads"]) == sorted(pair) for each in found["deadlocks"]))
    assert not any(each["sure"] for each in found["deadlocks"] if sorted(each["threads"]) == sorted(pair))


def check_a_function_too_long_to_read_is_not_judged() -> None:
    source = "import time\ndef long():\n" + "    x = 1 + len('')\n" * 10000 + "    time.sleep(100)\n"
    scope: Dict[str, Any] = {}
    exec(source, scope)
    thread = start(scope["long"])
    entry(thread, state="unknown")
    begin = time.thread_time()
    entry(thread)
    assert time.thread_time() - begin < 0.2


def check_a_thread_that_wants_its_own_lock() -> None:
    lock = threading.Lock()

    def twice() -> None:
        with lock:
            lock.acquire()

    thread = start(twice)
    found = entry(thread, "lock")
    assert found["waits"]["holder"]["name"] == thread.name
    assert any(each["threads"] == [found["id"]] for each in answer()["deadlocks"])


def check_what_may_end_a_deadlock_is_named_with_it() -> None:
    lock = threading.Lock()

    def wants_it_twice() -> None:
        with lock:
            lock.acquire()

    def ends(thread_id: int) -> Any:
        return [each["ends"] for each in answer()["deadlocks"] if each["threads"] == [thread_id]]

    other = entry(start(wants_it_twice), "lock")["id"]
    assert ends(other) == [[]]
    faulthandler.dump_traceback_later(1000)
    until(lambda found: ends(other) == [["a timer of faulthandler"]])
    faulthandler.cancel_dump_traceback_later()
    until(lambda found: ends(other) == [[]])


def check_the_main_threads_wait_may_be_ended_by_signals() -> None:
    assert wait_ends.of_main() == []
    for number in signal.SIGUSR1, signal.SIGALRM:
        signal.signal(number, lambda *_: None)
    assert wait_ends.of_main() == ["SIGALRM", "SIGUSR1"]
    signal.setitimer(signal.ITIMER_REAL, 1000)
    assert re.fullmatch(r"\['SIGALRM in (1000|9\d\d) s', 'SIGUSR1'\]", str(wait_ends.of_main()))
    signal.setitimer(signal.ITIMER_REAL, 0)


def check_a_thread_that_gets_its_lock_while_it_is_looked_at_does_not_wait_for_itself() -> None:
    def wants(lock: Any, got: threading.Event, end: threading.Event) -> None:
        with lock:
            got.set()
            end.wait()

    def released_meanwhile(thread: ProgramThread) -> Optional[Wait]:
        """What was seen of a thread; the one that waits for our lock has it when that is said."""
        wait = kept(thread)
        if thread.ident == waiting.ident and wait is not None and wait.kind == "lock":
            lock.release()
            assert got.wait(100)
        return wait

    kept = waits_module.wait_of
    for lock in (threading.Lock(), threading.RLock()):
        got, end = threading.Event(), threading.Event()
        lock.acquire()
        waiting = start(wants, lock, got, end)
        entry(waiting, "lock")
        waits_module.wait_of = released_meanwhile
        try:
            found = answer()
        finally:
            waits_module.wait_of = kept
        mine = next(each for each in found["threads"] if each["name"] == waiting.name)
        assert got.is_set()
        assert not [each for each in found.get("deadlocks", ()) if each["threads"] == [mine["id"]]], found["deadlocks"]
        assert "holder" not in mine.get("waits", {}), mine
        end.set()
        waiting.join()


def check_a_reentrant_lock_that_a_thread_has_is_not_waited_for_by_it() -> None:
    """A call that has got it may be about to return: the interpreter lets other threads run before it does."""
    lock, other = threading.RLock(), threading.RLock()

    def waiting() -> None:
        with lock:
            pass

    with lock:
        thread = start(waiting)
        entry(thread, "lock")
        found = next(each for each in attached.debugger().threads() if each.ident == thread.ident)
        wait = waits_module.wait_of(found)
        assert wait is not None
        assert waits_module.lasts(wait, found)
        wait.target = other
        with other:
            assert waits_module.lasts(wait, found)
            found.ident = threading.get_ident()
            assert not waits_module.lasts(wait, found)
    thread.join()


def check_frames_and_locals_of_a_thread_that_waits() -> None:
    def inner(word: str) -> None:
        time.sleep(100)

    def outer() -> None:
        number = 7
        inner("seven" * number)

    found = entry(start(outer), "sleep")
    thread = attached.find(found["id"])
    assert thread is not None
    answer = visible_frames.listed(thread, 0, 2, Budget())
    listed, total = answer["frames"], answer["total"]
    assert [each["function"] for each in listed] == ["inner", "outer"]
    assert listed[1]["qualname" if sys.version_info >= (3, 11) else "function"].endswith("outer")
    assert total == len(list(attached.debugger().frames(thread))) >= 4
    seen = visible_frames.at(thread, 1)
    assert seen is not None
    assert ("number", 7) in visible_frames.local_names(seen.frame)


def check_a_loop_over_a_pipe_waits() -> None:
    import os

    reading, writing = os.pipe()

    def read() -> None:
        with open(reading) as pipe:
            for _ in pipe:
                pass

    assert waits(read, "io") == {"kind": "io", "what": "pipe"}
    os.close(writing)


def check_all_stacks_in_one_question() -> None:
    def inner(number: int) -> None:
        time.sleep(100)

    def outer() -> None:
        inner(7)

    thread = start(outer)
    entry(thread, "sleep")
    reply = json.loads(questions.call("stacks", json.dumps({"locals": True, "frames": 2, "size": 1000000})))
    found = {each["name"]: each for each in reply["answer"]["stacks"]}
    assert reply["answer"]["total"] == len(found)
    stack = found[thread.name]
    assert [each["function"] for each in stack["frames"]] == ["inner", "outer"]
    assert stack["frames"][0]["locals"] == [{"name": "number", "value": "7"}]
    assert stack["total"] >= 4
    assert stack["waits"]["what"] == "time.sleep(100)"


def check_a_method_has_its_class_in_its_name() -> None:
    class Shop:
        def open(self) -> str:
            return visible_frames.qualified_name(sys._getframe())

    assert Shop().open().endswith("Shop.open")


def check_a_deep_recursion_is_counted_and_paged() -> None:
    def down(levels: int) -> Any:
        if levels:
            return down(levels - 1)
        thread = attached.find(threading.get_ident())
        assert thread is not None
        answer = visible_frames.listed(thread, 100, 5, Budget())
        return answer["frames"], answer["total"]

    listed, total = down(500)
    assert [each["index"] for each in listed] == [100, 101, 102, 103, 104]
    assert total > 500


def check_a_thousand_threads_are_bounded() -> None:
    event = threading.Event()
    many = [start(event.wait) for _ in range(300)]
    begin = time.thread_time()
    found = thread_list.threads_json(Budget(seconds=100, size=5000))
    assert time.thread_time() - begin < 2
    assert found["total"] >= 300
    assert len(found["threads"]) < 100
    reply = questions.call("threads", '{"seconds": 0.0001}')
    assert '"cut": true' in reply
    event.set()
    for thread in many:
        thread.join()


def check_threads_made_without_threading_are_there() -> None:
    import _thread

    lock = threading.Lock()
    lock.acquire()
    ident = _thread.start_new_thread(lambda: lock.acquire(), ())
    until(lambda found: any(each["id"] == ident and each["name"] == f"thread {ident}" for each in found["threads"]))
