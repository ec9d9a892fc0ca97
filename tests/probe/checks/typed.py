"""Types with their members: by kind, with places, and without running any code of theirs."""

# mypy: ignore-errors
# The classes are wrong on purpose.

import abc
import collections
import dataclasses
import enum
import functools
import sys
import threading
import types
from typing import Any, Callable, Dict, List, Optional, Union

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.safe.readable import RejectedError
from trio_debugmcp.probe.inside.types import lookup, signatures, type_members
from trio_debugmcp.probe.inside.types.type_members import MemberQuestion
from trio_debugmcp.probe.inside.values.rendering import Renderer

FILE = __file__
RAN: List[str] = []


def ran(*args: Any) -> Any:
    RAN.append(str(args))
    raise AssertionError("was run")


class Hostile(type):
    __getattr__ = __instancecheck__ = __subclasscheck__ = __dir__ = __eq__ = __repr__ = __iter__ = __len__ = ran
    __hash__ = ran
    mro_ran = property(ran)


class Described:
    __get__ = __set__ = __repr__ = ran


DESCRIBED = Described()


class Base(list, metaclass=Hostile):
    RATE: float = 0.2
    __slots__ = ("__dict__", "place")

    def __init__(self, owner: str, *, count: int = 3) -> None:
        self.owner = owner
        if count:
            self.place, self.count = owner, count

    def total(self, *prices: int, **more: str) -> int:
        inner = lambda: self.late  # noqa: E731
        self.late = inner
        return sum(prices)

    def hidden(self) -> None: ...


class Basket(Base):
    """What a customer buys.

    More of it.
    """

    described = Described()
    shown = Ellipsis

    @property
    def size(self) -> int:
        return ran(self)

    @size.setter
    def size(self, value: int) -> None:
        ran(self)

    only_read = property(ran)

    @functools.cached_property
    def cached(self) -> int:
        return ran(self)

    @classmethod
    async def load(cls, path: str) -> None: ...

    @staticmethod
    def join(left: Any, right: str = "x" * 500) -> None: ...

    @functools.lru_cache(maxsize=None)  # noqa: B019
    def decorated(self, key: int) -> None: ...

    hidden = 5

    class Line:
        def put(self, product: str) -> None:
            self.product = product


class Guarded:
    basket: Any
    __getattribute__ = ran

    def go(self) -> None: ...


class One:
    class Twin: ...


class Two:
    class Twin: ...


class Color(enum.Enum):
    RED = 1
    BLUE = "blue"

    def lighter(self) -> None: ...


@dataclasses.dataclass
class Point:
    x: int
    y: "List[int]" = dataclasses.field(default_factory=list)


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> float: ...


def look(value: Any, size: int = 1000000, **asked: Any) -> Dict[str, Any]:
    del RAN[:]
    budget = Budget(20, size)
    try:
        return type_members.type_json(value, MemberQuestion(**asked), budget, Renderer(budget, 60, code=False))
    finally:
        assert not RAN


def texts(found: Dict[str, Any], kind: str) -> Dict[str, str]:
    return {each["name"]: each.get("text", "") for each in found["members"] if each["kind"] == kind}


def member(found: Dict[str, Any], name: str) -> Dict[str, Any]:
    (one,) = [each for each in found["members"] if each["name"] == name]
    return one


def line_of(text: str) -> int:
    with open(FILE, encoding="utf-8") as source:
        (line,) = [number for number, each in enumerate(source, 1) if each.strip() == text]
    return line


def check_members_by_kind_with_signatures_types_and_values() -> None:
    found = look(Basket)
    assert found["name"] == f"{__name__}.Basket"
    assert found["file"] == FILE
    assert found["doc"] == "What a customer buys."
    assert found["bases"] == [f"{__name__}.Base"]
    assert found["mro"] == [f"{__name__}.Base", "list"]
    assert found["metaclass"] == f"{__name__}.Hostile"
    assert found["size"] == Basket.__basicsize__
    assert "instance" not in found
    fields = texts(found, "fields")
    assert fields == {"RATE": "float = 0.2", "place": "", "owner": "", "count": "", "late": ""}
    assert texts(found, "properties") == {
        "size": "int, settable",
        "only_read": "Any" if sys.version_info < (3, 14) else "",
        "cached": "cached",
        "described": "by Described",
    }
    assert texts(found, "methods") == {
        "decorated": "(key: int) -> None",
        "__init__": "(owner: str, *, count: int = 3) -> None",
        "total": "(*prices: int, **more: str) -> int",
    }
    assert texts(found, "classMethods") == {"load": "async (path: str) -> None"}
    (joined,) = texts(found, "staticMethods").values()
    assert joined.startswith("(left: Any, right: str = 'xxx")
    assert len(joined) < 140
    assert texts(found, "attributes") == {
        "shown": "Ellipsis",
        "hidden": "5",
        "Line": f"<class '{__name__}.Basket.Line'>",
    }
    assert found["total"] == len(found["members"])
    assert found["inherited"]["list"] > 20
    assert "ended" not in found


def check_where_each_is_defined() -> None:
    found = look(Basket)
    assert "of" not in member(found, "size")
    assert member(found, "total")["of"] == "Base"
    assert member(found, "owner") == {
        "name": "owner", "kind": "fields", "of": "Base", "file": FILE, "line": line_of("self.owner = owner"),
    }  # fmt: skip
    assert member(found, "place")["line"] == member(found, "count")["line"] == member(found, "owner")["line"] + 2
    assert member(found, "late")["line"] == line_of("self.late = inner")
    assert member(found, "join")["line"] == line_of('def join(left: Any, right: str = "x" * 500) -> None: ...') - 1
    assert member(found, "cached")["line"] == line_of("def cached(self) -> int:") - 1
    assert member(found, "decorated")["file"] == FILE
    if sys.version_info >= (3, 13):
        assert found["line"] == line_of("class Basket(Base):")
    assert "line" not in member(look(Point), "x"), "what a decorator generates has no place"


def check_an_instance_shows_the_types_that_its_fields_are_of() -> None:
    one = Basket("ben")
    one.extra = 1.5
    found = look(one)
    assert found["instance"]
    fields = texts(found, "fields")
    assert fields == {
        "RATE": "float = 0.2", "place": "str", "owner": "str", "count": "int", "late": "", "extra": "float",
    }  # fmt: skip
    assert texts(look(one, filter_="EXT"), "fields") == {"extra": "float"}
    assert look(Point(1))["instance"]
    assert texts(look(Point(1)), "fields") == {"x": "int", "y": "list"}
    assert texts(look(types.SimpleNamespace(a=1)), "fields") == {"a": "int"}


def check_filter_kind_and_pages_are_parts_of_the_whole() -> None:
    whole = look(Basket)["members"]
    pages = [look(Basket, start=start, most=4) for start in range(0, len(whole), 4)]
    assert [each for page in pages for each in page["members"]] == whole
    assert {page["total"] for page in pages} == {len(whole)}
    for kind in type_members.KINDS:
        assert look(Basket, kind=kind)["members"] == [each for each in whole if each["kind"] == kind]
    assert [each["name"] for each in look(Basket, filter_="O", kind="fields")["members"]] == ["owner", "count"]
    assert look(Basket, filter_="nope")["total"] == 0
    small = look(Basket, size=200)
    assert 0 < len(small["members"]) < small["total"] == len(whole)


def check_what_libraries_pass_on_is_counted_and_listed_if_asked_for() -> None:
    class Worker(threading.Thread):
        def run(self) -> None: ...

    found = look(Worker)
    assert texts(found, "methods") == {"run": "() -> None"}
    assert found["inherited"]["Thread"] > 10
    found = look(Worker, inherited=True)
    assert found["inherited"] == {}
    assert member(found, "start")["of"] == "Thread"
    assert member(found, "_target")["kind"] == "fields"
    assert found["total"] > 30
    assert look(Basket, inherited=True)["inherited"]["list"] > 20, "of builtin types never"
    assert "append" in texts(look([]), "methods"), "but if it is what is asked about"
    assert texts(look(list), "methods")["append"] == "(object, /)"
    assert texts(look(collections.OrderedDict), "methods")["move_to_end"] == "(key, last=True)"


def check_enumerations_dataclasses_and_abstract_classes() -> None:
    found = look(Color)
    shown = texts(found, "attributes")
    assert (shown["RED"], shown["BLUE"]) == ("1", "'blue'")
    assert "lighter" in texts(found, "methods")
    assert found["inherited"]["Enum"]
    fields = texts(look(Point), "fields")
    assert fields == {"x": "int", "y": "List[int]"}
    init = texts(look(Point), "methods")["__init__"]
    assert init.startswith("(x: int, y: List[int] = <factory>)") or sys.version_info >= (3, 14)
    assert texts(look(Shape), "methods")["area"] == "abstract () -> float"


def check_functions_and_methods_are_described_by_themselves() -> None:
    found = look(Basket.Line().put)
    assert found["function"]
    assert found["name"] == f"{__name__}.Basket.Line.put"
    assert found["signature"] == "(product: str) -> None"
    assert found["line"] == line_of("def put(self, product: str) -> None:")
    assert look(len)["signature"] == "(obj, /)"
    assert (look([].append)["name"], look([].append)["signature"]) == ("list.append", "(object, /)")
    assert look(check_functions_and_methods_are_described_by_themselves)["signature"] == "() -> None"


def check_signatures() -> None:
    def everything(
        a: Any, b: Optional[int] = None, *args: "str", c: Callable[[int], str] = len, d: Dict[str, List[int]], **kw: Any
    ) -> Union[int, str]: ...

    renderer = Renderer(Budget(5), 40, code=False)
    shown = signatures.signature(everything, renderer)
    if sys.version_info < (3, 14):
        assert shown == (
            "(a: Any, b: int | None = None, *args: str, c: Callable[[int], str] = <built-in function len>, "
            "d: Dict[str, List[int]], **kw: Any) -> int | str"
        )
    bare: Any = lambda self, x=DESCRIBED, *, y: None  # noqa: E731
    assert signatures.signature(bare, renderer, bound=True) == "(x=Described(...), *, y)"
    assert signatures.signature((lambda *a, **k: None), renderer, bound=True) == "(*a, **k)"
    positional: Any = {}
    exec("def f(a, b=1, /, c=2): pass", positional)
    assert signatures.signature(positional["f"], renderer) == "(a, b=1, /, c=2)"
    exec(f"def g({', '.join(f'name{each}' for each in range(300))}): pass", positional)
    assert signatures.signature(positional["g"], renderer).endswith("…")
    deep: Any = int
    for _ in range(50):
        deep = List[deep]
    assert signatures.annotation(deep) == "List[List[List[List[...]]]]"
    assert signatures.annotation(Described()) is None
    assert signatures.annotation(Optional[Described]) == "Described | None"


def check_100000_attributes_take_a_moment() -> None:
    base = type("Base", (), {"name": 5})
    huge = type("Huge", (base,), {f"name{each}": each for each in range(100_000)})
    found = look(huge, filter_="name9999", most=2)
    assert found["total"] == 11
    assert [each["name"] for each in found["members"]] == ["name9999", "name99990"]
    budget = Budget(0.0)
    found = type_members.type_json(huge, MemberQuestion(), budget, Renderer(budget, code=False))
    assert found["ended"], "without time it says so"
    assert found["members"]


# --- What an expression stands for ------------------------------------------------------------------------------------


def led(expression: str, frame: Any = None) -> Any:
    return lookup.found(expression, frame, Budget(20))


def fails(expression: str, kind: Any) -> str:
    try:
        led(expression, sys._getframe(1))
    except kind as error:
        return str(error)
    raise AssertionError(expression)


def check_names_lead_to_values_types_and_modules() -> None:
    basket = Basket("ben")
    frame = sys._getframe()
    del RAN[:]
    assert led("basket", frame) is basket
    assert led("basket.owner", frame) is basket.owner
    assert led(" Basket.Line ", frame) is Basket.Line
    assert led("Basket.Line.put", frame) is Basket.Line.put
    assert led("basket.total", frame) is type.__dict__["__dict__"].__get__(Base)["total"]
    assert led("Basket.join", frame).__func__ is Basket.join
    assert led("[].append", frame) is list.__dict__["append"]
    assert led(f"{__name__}.Basket") is Basket
    assert led("typed.Basket.Line") is Basket.Line, "the last words of its name are enough"
    assert led("Shape") is Shape
    assert led("collections.abc.Mapping") is collections.abc.Mapping
    assert led("threading") is threading
    assert led("int") is int
    assert not RAN
    basket.total = 5
    fails("basket.size", RejectedError)
    guarded = Guarded()
    guarded.basket = basket
    assert led("guarded.basket.owner", sys._getframe()) is basket.owner, "as it is stored"
    assert led("guarded.go", sys._getframe()) is Guarded.__dict__["go"]
    fails("guarded.nope", RejectedError)
    fails("[guarded][0].basket.size", RejectedError)
    fails("basket.nope", AttributeError)
    fails("nope", NameError)
    fails("nope.more", NameError)
    fails("basket.owner.nope + 1", AttributeError)
    fails("ran()", RejectedError)
    assert led("basket.total", frame) == 5, "a field hides the method"
    assert "could be" in fails("Twin", lookup.AmbiguousError)
