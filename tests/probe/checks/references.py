"""What refers to an object, with the way there, on every version; nothing of the program runs, and all is bounded."""

# mypy: ignore-errors
# The classes are wrong on purpose.

import collections
import functools
import gc
import subprocess
import sys
import threading
import types
import weakref
from typing import Any, Dict, List

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.safe import walk
from trio_debugmcp.probe.inside.types import holders, instances, referrers
from trio_debugmcp.probe.inside.types.referrers import AtomError, ReferenceQuestion
from trio_debugmcp.probe.inside.values.rendering import Renderer


class Node:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def method(self) -> None: ...


class Slotted:
    __slots__ = ("inner",)


def ran(*args: Any) -> Any:
    raise AssertionError("was run")


class HostileMeta(type):
    __getattr__ = __instancecheck__ = __eq__ = __dir__ = __repr__ = ran
    __hash__ = ran


class Hostile(metaclass=HostileMeta):
    __slots__ = ("__dict__", "inner")
    __getattribute__ = __eq__ = __repr__ = __iter__ = __len__ = ran
    __hash__ = ran
    __class__ = property(ran)


HELD: Dict[str, Any] = {}


def look(value: Any, direction: str = "both", seconds: float = 20.0, **asked: Any) -> Dict[str, Any]:
    budget = Budget(seconds, 1000000)
    return referrers.references_json(
        value, ReferenceQuestion(direction, **asked), budget, Renderer(budget, 60, code=False)
    )


def inbound(value: Any) -> List[Dict[str, Any]]:
    """Without the variables of the checks themselves."""
    found = look(value, "inbound")["inbound"]
    return [each for each in found if each.get("of") or each.get("module")]


def ways(value: Any) -> List[str]:
    return sorted(each.get("way", "") for each in inbound(value))


def paths(value: Any) -> List[str]:
    prefix = __name__ + "."
    found = [each.get("path") or f"under {each.get('under')}" for each in inbound(value)]
    return sorted(each.replace(prefix, "") for each in found)


class Kept:
    """As a debugger keeps the result of an evaluation."""

    def __init__(self, value: Any) -> None:
        self.value = value


def check_what_a_result_of_the_debugger_holds_is_found_by_the_other_ways() -> None:
    before = attached.debugger
    HELD["pages"] = {"tick": [Node().method for _ in range(3)]}
    target = HELD["pages"]["tick"][0].__self__
    debugger = types.SimpleNamespace(**{name: getattr(before(), name) for name in dir(before()) if name[:2] != "__"})
    debugger.own_modules = (*before().own_modules, "debuggers_results")
    Kept.__module__ = "debuggers_results"
    wanted = "HELD['pages']['tick'][0].__self__"
    results: List[Any] = []

    def keep(make: Any) -> None:
        gc.collect()  # what is younger is seen first
        results[:] = [Kept(make()) for _ in range(3)]

    try:
        attached.debugger = lambda: debugger
        keep(lambda: [1, HELD["pages"]["tick"]])
        assert paths(target) == [wanted], paths(target)
        keep(lambda: [[[HELD["pages"]]]])
        assert paths(target) == [wanted], paths(target)
        keep(lambda: HELD["pages"]["tick"])
        assert paths(target) == [wanted], paths(target)
        HELD["pages"]["tick"].pop(0)
        keep(lambda: [[target]])
        assert paths(target) == []
    finally:
        attached.debugger = before


def check_closures_partials_and_generators_are_looked_into() -> None:
    held = Node()

    def counting(held: Any) -> Any:
        yield held
        yield 2

    def closed() -> Any:
        return held

    running = counting(held)
    next(running)
    names = {"closed": closed, "partial": functools.partial(closed, held), "running": running}
    for expression in (
        "closed.__closure__[0].cell_contents",
        "partial.args[0]",
        "running.gi_frame.f_locals['held']",
    ):
        assert walk.value(expression, (names,)) is held, expression


def check_the_ways_of_every_kind_of_holder() -> None:
    t = HELD["made"] = Node()

    def closure(x: Any) -> Any:
        return lambda: x

    def generator(x: Any) -> Any:
        yield 1

    async def coroutine(x: Any) -> None: ...

    def defaults(a: Any = None, b: Any = t, *, c: Any = t) -> None: ...

    slotted = Slotted()
    slotted.inner = t
    started = generator(t)
    next(started)
    waiting = coroutine(t)
    error = ValueError(t)
    HELD.update(
        field=Node(own=t), slot=slotted, items=[0, t], pair=(t,), deque=collections.deque([t]), set={t}, keyed={t: 0},
        entry={"a": t, ("b", 1): t}, odd={Node: t}, closure=closure(t), generator=started, defaults=defaults,
        coroutine=waiting, method=t.method, partial=functools.partial(print, t), error=error, iterator=iter([t]),
        cls=type("Cls", (), {"attribute": t}), property=types.SimpleNamespace(inner=t),
    )  # fmt: skip
    del slotted, started, error, defaults
    found = paths(t)
    waiting.close()
    HELD.clear()
    assert found == [
        "HELD['cls'].attribute",
        "HELD['deque'][0]",
        "HELD['entry']['a']",
        "HELD['error'].args[0]",
        "HELD['field'].own",
        "HELD['items'][1]",
        "HELD['made']",
        "HELD['method'].__self__",
        "HELD['pair'][0]",
        "HELD['partial'].args[0]",
        "HELD['property'].inner",
        "HELD['slot'].inner",
        "under HELD['closure']",
        "under HELD['defaults']",
        "under HELD['defaults']",
        "under HELD['generator']",
        "under HELD['iterator']",
        "under HELD['keyed']",
        "under HELD['odd']",
        "under HELD['set']",
        "under waiting",
    ]


def check_the_words_where_no_expression_leads() -> None:
    def closure(x: Any) -> Any:
        return lambda: x

    def defaults(a: Any, b: Any = None, *, c: Any = None) -> None: ...

    t = Node()
    defaults.__defaults__, defaults.__kwdefaults__ = (t,), {"c": t}
    HELD.update(closure=closure(t), set=frozenset([t]), keyed={t: 1}, odd={Node: t}, defaults=defaults)
    del defaults
    try:
        assert ways(t) == [
            "a key",
            "an element",
            "closure variable `x`",
            "default of `b`",
            "default of `c`",
            "the value of a key",
        ]
        (one,) = [each for each in inbound(t) if each["way"].startswith("closure")]
        assert one["of"].startswith("<function check_the_words")
        assert one["under"] == f"{__name__}.HELD['closure']"
    finally:
        HELD.clear()


def check_a_way_of_several_objects_and_one_of_a_circle() -> None:
    t = Node()
    HELD["root"] = Node(children=[Node(parts={"deep": [Node(last=t)]})])
    circle = Node(inner=[t])
    circle.itself = circle
    HELD["weak"] = weakref.ref(circle)
    del circle
    try:
        assert paths(t) == ["HELD['root'].children[0].parts['deep'][0].last", "under None"]
        t.itself = t
        assert [each for each in paths(t) if each.endswith(".itself")] == ["value.itself"]
    finally:
        HELD.clear()
        gc.collect()


def check_local_variables_of_this_and_other_threads() -> None:
    inner = Node()
    t, done, ready = Node(inner=inner), threading.Event(), threading.Event()

    def keep(kept: Any) -> None:
        ready.set()
        done.wait(20)

    thread = threading.Thread(target=keep, args=(t,), name="keeper")
    thread.start()
    ready.wait(20)
    try:
        found = [each for each in look(t)["inbound"] if each.get("local") and not each.get("of")]
        named = {(each["name"], each["function"].rpartition(".")[2], each["threadName"]) for each in found}
        assert ("t", "check_local_variables_of_this_and_other_threads", "MainThread") in named
        assert ("kept", "keep", "keeper") in named
        place = next(each for each in found if each["name"] == "kept")
        assert place["file"] == __file__
        assert place["line"] > keep.__code__.co_firstlineno
        (held,) = inbound(inner)
        assert held["path"] in ("t.inner", "kept.inner", "value.inner")
        assert (held["local"], held["way"]) == (True, ".inner")
    finally:
        done.set()
        thread.join()


def check_globals_are_named_with_their_module() -> None:
    HELD["x"] = 1
    found = inbound(HELD)
    HELD.clear()
    assert [(each["module"], each["path"]) for each in found] == [(__name__, f"{__name__}.HELD")]
    assert "of" not in found[0]


def check_classes_have_their_instances_counted() -> None:
    class Many:
        pass

    class Child(Many):
        pass

    kept = [Many() for _ in range(500)]
    found = look(Many, "inbound")
    assert found["instances"] == len(kept)
    assert found["inboundTotal"] < 10
    assert ".__bases__[0]" in [each.get("way") for each in found["inbound"]]
    assert Child.__base__ is Many


def check_what_an_object_refers_to() -> None:
    inner = Node()
    found = look(Node(name="ben", inner=inner), "outbound")
    assert [(each["way"], each["value"]) for each in found["outbound"]] == [(".name", "'ben'"), (".inner", "Node()")]
    assert found["outboundTotal"] == 2
    assert "inbound" not in found
    many = look(list(range(100000)), "outbound", most=3)
    assert [each["way"] for each in many["outbound"]] == ["[0]", "[1]", "[2]"]
    assert many["outboundTotal"] == 100000
    entries = look({"a": 1, inner: 2}, "outbound")["outbound"]
    assert [each["way"] for each in entries] == ["['a']", "the value of a key"]
    assert [each["way"] for each in look((lambda x=5: inner), "outbound")["outbound"]][-1] == "default of `x`"
    assert look(iter([inner]), "outbound")["outbound"][0]["way"] == "inside"
    assert look(Node, "outbound")["outboundTotal"] >= 2
    assert look(sys, "outbound", most=2)["outboundTotal"] > 50
    assert [each["way"] for each in look(inner.method, "outbound")["outbound"]][:2] == [".__self__", ".__func__"]


def check_pages_are_bounded_and_totals_true() -> None:
    t = Node()
    kept = [[t] for _ in range(300)]
    found = look(t, most=7)
    assert len(found["inbound"]) == 7
    assert found["inboundTotal"] >= len(kept)
    assert found["inboundTotal"] < len(kept) + 5
    assert "outbound" in found


def check_numbers_and_short_texts_are_refused() -> None:
    for value in (5, 2.5, True, None, "short", b"", 1j, ..., NotImplemented, ()):
        try:
            look(value)
        except AtomError:
            continue
        raise AssertionError(value)
    HELD["long"], HELD["tracked"] = "x" * 1000, []
    found = look(HELD["long"])
    HELD.clear()
    assert any(each.get("path", "").endswith("HELD['long']") for each in found["inbound"]), found
    assert "does not track" in found["notes"][0]


def check_no_code_of_the_program_runs() -> None:
    t = Hostile()
    other = Hostile()
    object.__setattr__(other, "inner", t)
    object.__setattr__(other, "extra", t)
    HELD["other"] = other
    found = look(t)
    look(other)
    look(Hostile)
    HELD.clear()
    assert [each["way"] for each in found["inbound"] if each.get("of")] == [".inner", ".extra"] or (
        found["inboundTotal"] >= 2
    )


def check_an_answer_leaves_nothing_behind() -> None:
    t = HELD["t"] = Node()
    first = look(t)
    for _ in range(3):
        assert look(t)["inboundTotal"] == first["inboundTotal"]
    before = sys.getrefcount(t)
    look(t)
    assert sys.getrefcount(t) == before, "no circle keeps it until the next collection"
    HELD.clear()


def check_the_collector_is_found_without_importing_it() -> None:
    code = (
        "import sys\n"
        "had = sys.modules.pop('gc', None)\n"
        "from trio_debugmcp.probe.inside.types import holders\n"
        "sys.modules.pop('gc', None)\n"
        "assert holders.collector().get_referents([]) == []\n"
        "assert 'gc' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env={"PYTHONPATH": "."})
    assert holders.collector() is gc


def check_a_large_heap_is_walked_and_one_that_is_too_large_is_not() -> None:
    t = Node()
    kept = [[t] for _ in range(100_000)]
    found = look(t, seconds=60, most=5)  # 0.03 s on a machine that does nothing else
    assert found["inboundTotal"] >= len(kept)
    most, referrers.MOST_BLOCKS = referrers.MOST_BLOCKS, 1000
    try:
        found = look(t)
    finally:
        referrers.MOST_BLOCKS = most
    assert "to walk through" in found["notes"][0]
    assert [each["name"] for each in found["inbound"]] == ["value", "t"]


class Page:
    def tick(self) -> None: ...


class SmallPage(Page):
    pass


def instances_of(cls: Any) -> Dict[str, Any]:
    budget = Budget(20.0, 1000000)
    return instances.instances_json(cls, 50, budget, Renderer(budget, 60, code=False))


def check_the_instances_of_a_class_are_counted_with_the_ways_that_hold_them() -> None:
    HELD["pages"] = [Page().tick for _ in range(30)]
    HELD["small"] = {number: SmallPage() for number in range(10)}
    found = instances_of(Page)
    assert (found["instances"], found["followed"]) == (40, 10)
    paths = {group["path"]: group["count"] for group in found["groups"]}
    assert paths == {
        "tests.probe.checks.references.HELD[…][…].__self__": 8,
        "tests.probe.checks.references.HELD[…][…]": 2,
    }, found
    assert instances_of(SmallPage)["instances"] == 10
    del HELD["pages"], HELD["small"]
    found = instances_of(Page)
    assert (found["instances"], found["groups"]) == (0, [])
    assert found["notes"] == ["the garbage collector tracks none; objects that can hold no others are not tracked"]
    refused = False
    try:
        instances_of(HELD)
    except instances.NoClassError:
        refused = True
    assert refused
    assert instances_of(HostileMeta)["instances"] == 1, "nothing of it was run"
