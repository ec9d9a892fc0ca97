import _thread
import asyncio
import contextlib
import ctypes  # noqa: F401 (pydevd has imported it)
import functools
import sys
import threading
import time
from typing import Any, Callable, Dict, List

from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramDebugger
from trio_debugmcp.probe.inside.tracing import call_record, call_tracer, changed_locals
from trio_debugmcp.probe.inside.visible_frames import Json

NEW = hasattr(sys, "monitoring")


def helper(number: Any, factor: int = 2) -> Any:
    return number * factor


def fails(number: int) -> None:
    raise ValueError(f"bad {number}")


def traced(function: Callable[..., Any], run: Callable[[], Any], **wanted: Any) -> List[Json]:
    """Trace while something runs. A debugger is there, which reaches the function's lines as pydevd does."""
    code: Any = getattr(function, "__code__", function)
    call_tracer.begin(1, {"name": code.co_name, "calls": 1, **wanted})
    trace = call_tracer.find(1)
    assert trace is not None

    def debugger(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code is code and event == "line":
            trace.reached(frame)
        return debugger

    before = sys.gettrace()
    sys.settrace(debugger)
    threading.settrace(debugger)
    try:
        run()
        left = sys.gettrace()
        assert left is debugger, left
    except BaseException:
        if wanted.pop("may_raise", False) is not True:
            raise
    finally:
        sys.settrace(before)
        threading.settrace(before)
    calls: List[Json] = trace.take()["calls"]
    assert not trace.failure, trace.failure
    assert not trace.open or any("outcome" not in call for call in calls)
    if NEW:
        assert tools() == []
    return calls


def tools() -> List[Any]:
    monitoring = getattr(sys, "monitoring")  # noqa: B009
    return [name for name in map(monitoring.get_tool, range(6)) if name is not None]


def one(function: Callable[..., Any], run: Callable[[], Any], **wanted: Any) -> Json:
    (call,) = traced(function, run, **wanted)
    code: Any = getattr(function, "__code__", function)
    first = code.co_firstlineno
    call["lines"] = [[number - first, changes, notes] for number, changes, notes in call["head"]]
    return call


# --- What is recorded -------------------------------------------------------------------------------------------------


def plain(numbers: List[int]) -> int:
    total = 0
    seen: List[int] = []
    for each in numbers:
        total += helper(each)
        seen.append(each)
    try:
        fails(total)
    except ValueError as error:
        seen.append(len(str(error)))
    return total


def check_lines_changes_calls_and_exceptions_of_a_call() -> None:
    call = one(plain, lambda: plain([1, 2]))
    assert call["lines"] == [
        [1, [["total", "0"]], []],
        [2, [["seen", "[]"]], []],
        [3, [["each", "1"]], []],
        [4, [["total", "2"]], [["call", "helper", "number=1, factor=2", "returned", "2", 0]]],
        [5, [["seen[0]", "1"]], []],
        [3, [["each", "2"]], []],
        [4, [["total", "6"]], [["call", "helper", "number=2, factor=2", "returned", "4", 0]]],
        [5, [["seen[1]", "2"]], []],
        [3, [], []],
        [6, [], []],
        [7, [], [["call", "fails", "number=6", "raised", "ValueError: bad 6", 0], ["raised", "ValueError: bad 6"]]],
        [8, [["error", "ValueError('bad 6')"]], []],
        [9, [["seen[2]", "5"]], []],
        [10, [], []],
    ], call["lines"]
    assert call["arguments"] == [["numbers", "[1, 2]"]]
    assert call["outcome"] == ["returned", "6"]
    assert call["count"] == 14
    assert call["place"]["function"] == "plain"
    assert call["caller"]["file"] == __file__
    assert "tail" not in call
    assert "between" not in call


def leaves(number: int) -> int:
    doubled = number * 2
    fails(doubled)
    return doubled


def check_an_exception_that_leaves_is_how_it_ended() -> None:
    def run() -> None:
        with contextlib.suppress(ValueError):
            leaves(4)

    call = one(leaves, run)
    assert call["outcome"] == ["raised", "ValueError: bad 8"]
    assert [each[0] for each in call["lines"]] == [1, 2]


def factorial(number: int) -> int:
    if number < 2:
        return 1
    return number * factorial(number - 1)


def check_a_call_of_itself_is_a_call() -> None:
    call = one(factorial, lambda: factorial(4))
    assert call["lines"] == [[1, [], []], [3, [], [["call", "factorial", "number=3", "returned", "6", 0]]]]
    assert call["outcome"] == ["returned", "24"]


def counting(most: int) -> Any:
    number = 0
    while number < most:
        got = yield number
        number += got or 1
    return "end"


def check_calls_in_a_call_are_not_taken_for_further_ones() -> None:
    calls = traced(factorial, lambda: [factorial(3), factorial(2)], calls=2)
    assert [call["outcome"][1] for call in calls] == ["6", "2"]


def ones() -> Any:
    while True: yield 1  # noqa: E701  # fmt: skip


def check_a_line_that_is_a_loop_is_counted_at_each_turn() -> None:
    def run() -> None:
        endless = ones()
        for _ in range(4):
            next(endless)
        endless.close()

    call = one(ones, run)
    assert sum(note[2] for _, _, notes in call["lines"] for note in notes if note[0] == "yielded") == 4
    assert "outcome" not in call or call["outcome"][0] == "raised"  # from 3.13 on none, as then no code runs


def check_a_generator_is_followed_from_its_first_line_to_its_end() -> None:
    def run() -> None:
        counter = counting(5)
        assert next(counter) == 0
        assert counter.send(3) == 3
        assert list(counter) == [4]

    call = one(counting, run)
    assert call["lines"] == [
        [1, [["number", "0"]], []],
        [2, [], []],
        [3, [["got", "3"]], [["yielded", "0", 1]]],
        [4, [["number", "3"]], []],
        [2, [], []],
        [3, [["got", "None"]], [["yielded", "3", 1]]],
        [4, [["number", "4"]], []],
        [2, [], []],
        [3, [], [["yielded", "4", 1]]],
        [4, [["number", "5"]], []],
        [2, [], []],
        [5, [], []],
    ], call["lines"]
    assert call["outcome"] == ["returned", "'end'"]


def check_what_is_thrown_into_a_generator_is_seen() -> None:
    def run() -> None:
        counter = counting(5)
        next(counter)
        with contextlib.suppress(KeyError):
            counter.throw(KeyError("thrown"))

    call = one(counting, run)
    assert call["lines"][2] == [3, [], [["yielded", "0", 1], ["raised", "KeyError: thrown"]]], call["lines"]
    assert call["outcome"] == ["raised", "KeyError: thrown"]


def delegating() -> Any:
    found = yield from counting(2)
    inner = [each + 0 for each in counting(2)]
    return found, inner


def check_what_a_generator_delegates_to_and_what_a_loop_takes_from_one() -> None:
    call = one(delegating, lambda: list(delegating()))
    first, second, _ = call["lines"]
    assert first[1] == [["found", "'end'"]]
    assert first[2] == [["call", "counting", "most=2", "returned", "'end'", 2], ["yielded", "1", 2]], first
    assert second == [2, [["inner", "[0, 1]"]], [["call", "counting", "most=2", "returned", "'end'", 2]]], second


async def fetched(number: int) -> int:
    """Wait for a future that is done 0.02 seconds after the wait began: the loop continues when this has left."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    loop.call_soon(time.sleep, 0.02)
    loop.call_soon(done.set_result, None)
    await done
    return number * 2


async def awaiting(number: int) -> int:
    first = await fetched(number)
    first += await fetched(first)
    return first


def check_a_coroutine_says_how_long_it_waited() -> None:
    loop = asyncio.new_event_loop()
    began = time.perf_counter()
    call = one(awaiting, lambda: loop.run_until_complete(awaiting(1)))
    lasted = time.perf_counter() - began
    loop.close()
    assert [each[1] for each in call["lines"]] == [[["first", "2"]], [["first", "6"]], []]
    (asked, waited) = call["lines"][0][2]
    assert asked == ["call", "fetched", "number=1", "returned", "2", 0]
    assert waited[:2] == ["waited", 1]
    assert 0.02 <= waited[2] <= lasted
    assert call["outcome"] == ["returned", "6"]


class Evil:
    """Every operation that the program could be asked for."""

    ran: List[str] = []

    def __repr__(self) -> str:
        self.ran.append("repr")
        raise SystemExit

    def __eq__(self, other: object) -> bool:
        self.ran.append("eq")
        raise SystemExit

    def __hash__(self) -> int:
        self.ran.append("hash")
        raise SystemExit

    def __getattr__(self, name: str) -> Any:
        self.ran.append(name)
        raise SystemExit

    def __bool__(self) -> bool:
        self.ran.append("bool")
        raise SystemExit

    def work(self, most: int) -> "Evil":
        self.total = 0
        for each in range(most):
            self.total += each
        self.total = helper(self.total)
        return self


def check_no_code_of_the_program_is_run() -> None:
    call = one(Evil.work, lambda: Evil().work(3))
    assert Evil.ran == []
    assert call["place"]["function"] == "Evil.work"
    assert call["arguments"] == [["self", "Evil()"], ["most", "3"]]
    changes = [change for each in call["lines"] for change in each[1]]
    assert changes == [
        *(["self.total", "0"], ["each", "0"], ["each", "1"], ["self.total", "1"], ["each", "2"], ["self.total", "3"]),
        ["self.total", "6"],
    ], changes
    assert call["outcome"] == ["returned", "Evil(total=6)"]


def many(most: int) -> int:
    found = 0
    for each in range(most):
        found += helper(each, 1) + helper(0) + helper(0) + helper(0) + helper(0) + helper(0)
    return found


def check_a_long_call_keeps_its_beginning_and_its_end_and_counts_the_rest() -> None:
    call = one(many, lambda: many(1000), head=10)
    assert len(call["head"]) == 10
    assert len(call["tail"]) == call_record.MOST_TAIL
    assert call["count"] == 2 * 1000 + 3
    between = dict(call["between"])
    assert sum(between.values()) == call["count"] - 10 - call_record.MOST_TAIL
    assert call["tail"][-1][0] == many.__code__.co_firstlineno + 4
    assert call["tail"][-3][1] == [["found", "499500"]]
    notes = call["head"][2][2]
    assert len(notes) == call_record.MOST_CALLS + 1
    assert notes[-1] == ["more", 2]


def check_comparing_takes_a_bounded_time() -> None:
    original = call_record.COMPARING_SECONDS
    call_record.COMPARING_SECONDS = 0.0
    try:
        call = one(plain, lambda: plain([1, 2]))
    finally:
        call_record.COMPARING_SECONDS = original
    assert call["unwatched"] == 13
    assert call["count"] == 14
    assert ["total", "6"] in call["lines"][-1][1]  # what it all became


# --- Which calls ------------------------------------------------------------------------------------------------------


def check_several_calls_are_recorded_and_no_more() -> None:
    calls = traced(helper, lambda: [helper(each) for each in range(5)], calls=3)
    assert [call["outcome"][1] for call in calls] == ["0", "2", "4"]


def turning(turns: List[str]) -> None:
    while turns:
        name = turns.pop()
        call_tracer.begin(1, {"name": name, "calls": 1})


def bare(turns: List[str]) -> None:
    while turns:
        call_tracer.begin(1, {"name": turns.pop(), "calls": 1})


def check_a_call_that_is_under_way_is_not_taken_for_a_new_one() -> None:
    functions = [turning, bare] if sys.version_info >= (3, 10) else [turning]  # before, `bare` jumps to its beginning
    for function in functions:
        code = function.__code__

        def debugger(frame: Any, event: str, arg: Any, code: Any = code) -> Any:
            trace = call_tracer.find(1)
            if frame.f_code is code and event == "line" and frame.f_lineno == code.co_firstlineno + 1 and trace:
                trace.reached(frame)
            return debugger

        call_tracer.begin(1, {"name": "nothing", "calls": 1})
        sys.settrace(debugger)
        try:
            function([function.__name__] * 3)
        finally:
            sys.settrace(None)
        trace = call_tracer.find(1)
        assert trace is not None
        assert trace.records == [], function
        assert trace.under_way > 0
        trace.take()


ON_ONE_LINE = """\
def plus(n): return n + 1
def rows(n): yield n; yield n + 1
def cell(n): return (lambda: n)()
async def later(n): return n
def turns(n): return [each for each in range(n)]
def around(added):
    def inside(n): return n + added
    return inside
"""


def check_a_function_on_a_single_line_is_followed() -> None:
    names: Any = {}
    exec(compile(ON_ONE_LINE, "<one>", "exec"), names)
    inside, later = names["around"](3), names["later"]

    def awaited(n: int) -> None:
        with contextlib.suppress(StopIteration):
            later(n).send(None)

    def listed(n: int) -> None:
        list(names["rows"](n))

    cases: List[Any] = [(names["plus"], names["plus"], "3"), (names["cell"], names["cell"], "2"), (inside, inside, "5")]
    cases += [(names["rows"], listed, "None"), (later, awaited, "2"), (names["turns"], names["turns"], "[0, 1]")]
    for function, call, returned in cases:
        (found,) = traced(function, functools.partial(call, 2))
        assert found["outcome"] == ["returned", returned], function
        assert dict(found["arguments"])["n"] == "2"


def check_two_threads_are_each_followed() -> None:
    barrier = threading.Barrier(2)

    def together(name: str) -> str:
        barrier.wait()
        said = name * 2
        barrier.wait()
        return said

    def run() -> None:
        threads = [threading.Thread(target=together, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(traced(together, run, calls=1)) == 1
    calls = traced(together, run, calls=2)
    assert sorted(call["outcome"][1] for call in calls) == ["'aa'", "'bb'"]
    ran = [[each[0] for each in call["head"]] for call in calls]
    assert ran[0] == ran[1] == [together.__code__.co_firstlineno + each for each in (1, 2, 3, 4)], ran


# --- Nothing is left --------------------------------------------------------------------------------------------------


def check_a_trace_that_ends_in_a_call_takes_everything_away() -> None:
    seen: Dict[str, Any] = {}

    def ending(number: int) -> int:
        doubled = number * 2
        trace = call_tracer.find(1)
        assert trace is not None
        seen["calls"], seen["same"] = trace.take()["calls"], sys.gettrace()
        doubled += 1
        seen["trace"], seen["tools"] = sys.gettrace(), tools() if NEW else []
        seen["frame"] = sys._getframe().f_trace
        return int(helper(doubled))

    traced(ending, lambda: ending(2))
    (call,) = seen["calls"]
    assert "outcome" not in call
    assert call["head"][0][1] == [["doubled", "4"]]
    assert seen["tools"] == []
    assert "tracing" not in repr(seen["frame"]), seen["frame"]
    assert getattr(seen["trace"], "__name__", "") == "debugger", seen["trace"]
    assert seen["same"] is seen["trace"]


def check_a_trace_that_another_thread_ends_goes_with_the_next_event() -> None:
    seen: List[Any] = []
    lock = _thread.allocate_lock()

    def end() -> None:
        trace = call_tracer.find(1)
        assert trace is not None
        seen.append(trace.take())
        lock.release()

    def ending() -> None:
        lock.acquire()
        _thread.start_new_thread(end, ())
        lock.acquire()
        seen.append(sys.gettrace())

    traced(ending, ending)
    assert getattr(seen[1], "__name__", "") == "debugger", seen


def check_a_second_trace_ends_the_first() -> None:
    call_tracer.begin(1, {"name": "helper", "calls": 1})
    first = call_tracer.find(1)
    assert first is not None
    call_tracer.begin(2, {"name": "helper", "calls": 1})
    assert first.ended
    assert call_tracer.find(1) is None
    assert not call_tracer.reached(1)
    second = call_tracer.find(2)
    assert second is not None
    assert second.take()["calls"] == []
    if NEW:
        assert tools() == []


def check_a_failure_of_ours_ends_the_trace_and_not_the_program() -> None:
    original = changed_locals.LocalValues.changes

    def broken(self: Any, variables: Any) -> Any:
        if any(name == "seen" for name, _ in variables):
            raise RuntimeError("broken")
        return original(self, variables)

    call_tracer.begin(1, {"name": "plain", "calls": 1})
    trace = call_tracer.find(1)
    assert trace is not None

    def debugger(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code is plain.__code__ and event == "line" and not trace.looked:
            trace.reached(frame)
        return debugger

    changed_locals.LocalValues.changes = broken  # type: ignore[method-assign]
    sys.settrace(debugger)
    try:
        assert plain([1, 2]) == 6
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)
        changed_locals.LocalValues.changes = original  # type: ignore[method-assign]
    assert trace.failure == "RuntimeError: broken"
    assert trace.ended
    if NEW:
        assert tools() == []


def endless(number: int) -> int:
    return endless(number + 1)


def check_a_full_stack_keeps_the_lines_and_the_program_stops() -> None:
    stopped: List[Any] = []

    class Stopping(ProgramDebugger):
        def stop_in(self, frame: Any, value: Any, returning: Any) -> None:
            stopped.append(frame.f_code.co_name)

    attached.attach(Stopping())
    begun: List[Any] = []

    def debugger(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code is endless.__code__ and event == "line" and not begun:
            begun.append(frame)
            trace.reached(frame)
        return debugger

    call_tracer.begin(1, {"name": "endless", "calls": 1, "stop": True})
    trace: Any = call_tracer.find(1)
    sys.settrace(debugger)
    try:
        with contextlib.suppress(RecursionError):
            endless(0)
    finally:
        sys.settrace(None)
        attached.attach(ProgramDebugger())
    answer = trace.take()
    (call,) = answer["calls"]
    assert [each[0] for each in call["head"]] == [endless.__code__.co_firstlineno + 1]
    assert len(stopped) == 1, stopped
    if NEW:
        assert call["outcome"][0] == "raised", call
    else:
        assert stopped == ["endless"]
        assert answer["failure"].startswith("RecursionError: the stack is almost full")


def check_an_event_without_room_on_the_stack_is_dropped() -> None:
    call_tracer.begin(1, {"name": "helper", "calls": 1})
    trace: Any = call_tracer.find(1)
    trace.fail(RecursionError("full"))
    assert not trace.ended
    assert trace.take()["failure"] == ""
