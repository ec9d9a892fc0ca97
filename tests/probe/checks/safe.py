"""Safe evaluation against a program that is out to be run: no attack changes anything that can be reached."""

import builtins
import collections
import enum
import gc
import hashlib
import math
import sys
import time
import types
from typing import Any, Callable, Dict, List

from trio_debugmcp.probe.inside.bounds import TooSlowError
from trio_debugmcp.probe.inside.safe import asserted_values, walk
from trio_debugmcp.probe.inside.safe.readable import RejectedError
from trio_debugmcp.probe.inside.values import facts

ran: List[str] = []


def spring(name: str) -> Callable[..., Any]:
    def sprung(*arguments: Any, **more: Any) -> Any:
        ran.append(name)
        return 1

    return sprung


def _listed(text: str, between: str = ";;") -> List[str]:
    return [each.strip() for each in text.strip().split(between)]


DUNDERS = _listed(
    "abs add and bool bytes call ceil complex contains del delattr delete delitem dir divmod enter eq "
    "exit float floor floordiv format fspath ge getattr getattribute getitem gt hash iadd index "
    "instancecheck int invert iter le len length_hint lshift lt matmul missing mod mul ne neg next or pos "
    "pow radd reduce repr reversed rmul round rshift set setattr setitem sizeof str sub subclasscheck "
    "truediv trunc xor",
    " ",
)
EVERYTHING = {f"__{name}__": spring(name) for name in DUNDERS if name not in ("del", "getattribute", "setattr")}


class Meta(type):
    """Whose own methods would run: for `==` of classes, for isinstance, for attributes."""

    __eq__ = spring("meta eq")
    __hash__ = spring("meta hash")
    __instancecheck__ = spring("meta instancecheck")
    __call__ = spring("meta call")
    __getattr__ = spring("meta getattr")


Evil: Any = type("Evil", (), dict(EVERYTHING))
Watched: Any = type("Watched", (), {"__getattribute__": spring("getattribute")})
EvilList: Any = type("EvilList", (list,), dict(EVERYTHING))
EvilDict: Any = type("EvilDict", (dict,), dict(EVERYTHING))
EvilInt: Any = type("EvilInt", (int,), dict(EVERYTHING))
EvilStr: Any = type("EvilStr", (str,), dict(EVERYTHING))
Doubtful: Any = type("Doubtful", (), {"__bool__": spring("bool")})
Ruled: Any = Meta("Ruled", (), {"field": 1})


class Key:
    """A key that has the hash of a text, and is asked whether it is that text."""

    def __hash__(self) -> int:
        return hash("price")

    def __eq__(self, other: object) -> bool:
        ran.append("key eq")
        return False


class Lazy:
    """Descriptors of all kinds."""

    prop = property(spring("property"))
    made = type("NonData", (), {"__get__": spring("get")})()
    data = type("Data", (), {"__get__": spring("get"), "__set__": spring("set")})()
    __slots__ = ("__dict__", "slot")

    def method(self) -> None:
        ran.append("method")

    @classmethod
    def of_class(cls) -> None:
        ran.append("classmethod")


class Slow(Lazy):
    """A class that is asked for what is not there."""

    def __getattr__(self, name: str) -> int:
        ran.append("getattr")
        return 1


class Color(enum.Enum):
    """An ordinary enumeration."""

    RED = 1


def program() -> Dict[str, Any]:
    """The names of a program that has a trap everywhere."""
    module = types.ModuleType("trap")
    vars(module).update(value=1, __getattr__=spring("module getattr"))
    keyed = types.ModuleType("keyed")
    shaped = type("Shaped", (types.ModuleType,), {"__getattribute__": spring("module getattribute")})("shaped")
    lazy, slow, keys = Lazy(), Slow(), {"name": 1}
    lazy.slot, lazy.field = 5, [1, 2]  # type: ignore[attr-defined]
    slow.field = {"a": 1}  # type: ignore[attr-defined]
    keys[Key()] = 2  # type: ignore[index]
    odd = Lazy()
    vars(odd)[Key()] = 3  # type: ignore[index]
    waiting = (each for each in [1, 2, 3])
    next(waiting)
    cycle: List[Any] = [1]
    cycle.append(cycle)
    bomb: Any = [1] * 10
    for _ in range(15):
        bomb = [bomb] * 10
    return {
        "evil": Evil(),
        "watched": Watched(),
        "evil_int": EvilInt(3),
        "evil_str": EvilStr("abc"),
        "evil_list": EvilList([1, 2]),
        "evil_dict": EvilDict(a=1),
        "ruled": Ruled,
        "instance": object.__new__(Ruled),
        "lazy": lazy,
        "slow": slow,
        "odd": odd,
        "keys": keys,
        "Lazy": Lazy,
        "Color": Color,
        "red": Color.RED,
        "trap": module,
        "keyed": keyed,
        "shaped": shaped,
        "math": math,
        "waiting": waiting,
        "items": iter([1, 2]),
        "defaults": collections.defaultdict(list),
        "counter": collections.Counter("ab"),
        "cycle": cycle,
        "bomb": bomb,
        "numbers": [3, 1, 2],
        "text": "abc",
        "prices": {"price": 3, ("a", 1): 4},
        "words": {"a", "b"},
        "n": 7,
        "mixed": [1, Evil(), "x"],
        "evils": {1: Evil()},
        "huge": 1 << 10_000_000,
        "long": "ab" * 1_000_000,
        "len": spring("len"),
        "sum": Evil(),
        "sorted_": sorted,
        "queue": collections.deque([1, 2]),
        "none": None,
        "error": ValueError("no", 3),
        "size": builtins.len,
        "work": spring("work"),
        "doubtful": Doubtful(),
        "Evil": Evil,
    }


ATTACKS = _listed(
    """
    len(numbers) ;; sum(numbers) ;; work() ;; lazy.method() ;; Lazy.of_class() ;; evil() ;; Evil() ;; ruled() ;;
    print(1) ;; open('/nowhere', 'w') ;; eval('1') ;; exec('n = 1') ;; __import__('os') ;; setattr(lazy, 'a', 1) ;;
    numbers.append(4) ;; numbers.sort() ;; prices.pop('price') ;; prices.setdefault('x', 1) ;; words.add('c') ;;
    queue.popleft() ;; next(waiting) ;; list(waiting) ;; [x for x in items] ;; waiting.send(None) ;; globals() ;;
    sorted_(numbers, key=work) ;; max(numbers, key=work) ;; (lambda: 1)() ;; type('X', (), {}) ;; iter(numbers) ;;
    getattr(lazy, 'prop') ;; getattr(slow, 'nope') ;; hasattr(slow, 'nope') ;; isinstance(n, ruled) ;; dict(a=1) ;;
    isinstance(instance, Evil) ;; str(evil) ;; repr([evil]) ;; bool(evil) ;; int(evil_int) ;; abs(evil) ;; size(evil) ;;
    sorted_([evil, evil]) ;; max(evil, 1) ;; tuple(evil_list) ;; set([evil]) ;; frozenset(mixed) ;; (n := 1) ;;
    [n := x for x in numbers] ;; await work() ;; (yield 1) ;; [0 for lazy.field in numbers] ;;
    [0 for numbers[0] in numbers] ;; {**evil_dict} ;; [*waiting] ;; [*evil_list] ;; lambda: 1 ;; lazy.prop ;;
    lazy.made ;;
    lazy.data ;; slow.nope ;; watched.a ;; evil.a ;; odd.price ;; ruled.nope ;; trap.nope ;; shaped.value ;;
    ruled.__call__ ;; lazy.__class__.prop ;; defaults['a'] ;; counter['z'] ;; keys['price'] ;; evil_dict['a'] ;;
    evil_list[0] ;; evil[0] ;; numbers[evil_int] ;; numbers[evil:] ;; prices[evil] ;; prices[red] ;; evil + 1 ;;
    1 + evil_int ;; -evil ;; evil_str * 2 ;; evil == 1 ;; 1 == evil_int ;; n < evil ;; evil in numbers ;;
    n in evil_list ;;
    9 in mixed ;; evils == {1: 2} ;; not evil ;; evil and 1 ;; 1 if evil else 2 ;; evil @ evil ;; '%s' % evil ;;
    numbers == evil_list ;; keys == prices ;; prices.get(evil) ;; 'price' in keys ;; mixed.index('x') ;; f'{evil}' ;;
    f'{evil!r}' ;; f'{n:{evil}}' ;; f'{evil_str}' ;; '{}'.format(evil) ;; ','.join([evil_str]) ;; 10 ** 10 ** 10 ;;
    'x' * 10 ** 10 ;; 1 << 10 ** 10 ;; [0] * 10 ** 9 ;; f'{n:>999999999}' ;; huge * huge ;; str(huge) ;;
    [x for x in range(10 ** 5) for y in range(10 ** 5)] ;; repr(bomb) ;; bomb == bomb[0] ;; cycle == cycle[1] ;;
    long + long ;; 'a' * 10 ** 5 in long ;; round(5, -10 ** 9) ;; list(range(10 ** 12)) ;; 2 ** huge ;;
    '%1000000d' % 1 ;;
    math.factorial(10 ** 9) ;; math.comb(10 ** 9, 10 ** 8) ;; sum(range(10 ** 9)) ;; range(10 ** 30)[evil]
    """
)
"""Expressions that would run the program's code, change its state, or take for ever, if they were evaluated."""


UNHARMED = ("isinstance(instance, Evil)",)
"""Those that have a value all the same, for which nothing is run."""

HARMLESS = _listed(
    """
    n + 1 ;; numbers[0] ;; numbers[::-1] ;; text.upper() ;; text[1:] ;; prices['price'] ;; prices[('a', 1)] ;; -n ;;
    len(numbers) ;; sum(numbers) / 2 ;; max(numbers) ;; min(3, n) ;; sorted_(numbers) ;;
    [x * 2 for x in numbers if x > 1] ;; {k: v for k, v in prices.items()} ;; any(x == 2 for x in numbers) ;;
    n in numbers ;; text in 'xabcx' ;; lazy.slot ;; lazy.field ;; slow.field['a'] ;; red is Color.RED ;;
    isinstance(n, int) ;; isinstance(True, int) ;; type(n) is int ;; f'{n:>5}|{text!r:<8}|{n / 3:.2f}' ;;
    math.floor(2.5) + math.sqrt(4) ;; n if n > 3 else 0 ;; 1 < n <= 7 ;; not none ;; trap.value ;; math.pi ;;
    words | {'c'} ;; ','.join(['a', 'b']) ;; 'a,b'.split(',') ;; round(2.567, 2) ;; error.args ;; dict.__name__ ;;
    Lazy.__name__ ;; list(zip(numbers, text)) ;; list(enumerate(text, 1)) ;; [*numbers, 4] ;; None is none ;;
    hasattr(lazy, 'field') ;; getattr(lazy, 'nope', 5) ;; prices.get('nope', 1) ;; list(reversed(numbers)) ;;
    2 ** 100 ;;
    counter['a'] ;; queue[0] ;; numbers == [3, 1, 2] ;; (1, 2) < (1, 3) ;; divmod(n, 2) ;; hex(n) ;; b'a' + b'b' ;;
    {1, 2} ;; [[y for y in range(x)] for x in numbers] ;; [a + b for a, b in [(1, 2)]] ;; all([]) ;; 'ab' * 3 ;; ~n ;;
    n // 2 % 2
    """
)
"""Expressions that change nothing; Python gives their values."""


# --- The digest -------------------------------------------------------------------------------------------------------


def digest(names: Dict[str, Any]) -> str:
    """Return a digest of all that can be reached from these names: types, texts, numbers, and what refers to what."""
    found = hashlib.sha256()
    numbers: Dict[int, int] = {}
    kept: List[Any] = []
    todo: List[Any] = [names]
    while todo:
        each = todo.pop()
        if id(each) in numbers:
            found.update(b"again %d;" % numbers[id(each)])
            continue
        numbers[id(each)] = len(numbers)
        kept.append(each)
        cls = type(each)
        found.update(type.__repr__(cls).encode())
        if any(cls is kind for kind in (int, str, bytes, float, complex, bool, bytearray)):
            found.update(repr(each if cls is not int else hex(each)).encode())
        elif cls is types.GeneratorType:
            found.update(b"%d" % each.gi_frame.f_lasti)
        elif cls is type(iter([])):
            found.update(b"%d" % each.__length_hint__())
        if cls is types.ModuleType and each.__name__ in ("math", "builtins", __name__):
            continue
        if cls is types.FunctionType:  # its globals are this module
            todo += [each.__code__, each.__defaults__, each.__closure__, each.__dict__]
        elif cls is dict:
            todo += [part for item in each.items() for part in item]
        elif each is not ran and not (issubclass(cls, type) and each.__module__ == "builtins"):
            facts.instance_dict(each)  # some versions make it only now
            todo += gc.get_referents(each)
    return found.hexdigest()


def evaluated(expression: str, names: Dict[str, Any]) -> Any:
    """Return the value, or the error."""
    try:
        return walk.value(expression, (names, vars(builtins)))
    except (Exception, TooSlowError) as error:
        return error


# --- The checks -------------------------------------------------------------------------------------------------------


def check_no_attack_runs_or_changes_anything() -> None:
    assert len(ATTACKS) >= 40
    names = program()
    before = digest(names)
    for expression in ATTACKS:
        begin = time.thread_time()
        found = evaluated(expression, names)
        assert expression in UNHARMED or isinstance(found, (RejectedError, TooSlowError, TypeError, SyntaxError)), (
            expression,
            found,
        )
        assert time.thread_time() - begin < 3, expression
        assert not ran, (expression, ran)
    assert digest(names) == before


def check_what_is_harmless_has_the_value_that_python_gives_it() -> None:
    names = {**program(), "len": builtins.len, "sum": builtins.sum}
    before = digest(names)
    for expression in HARMLESS:
        expected = eval(expression, {**names})
        found = evaluated(expression, names)
        assert (type(found), found) == (type(expected), expected), (expression, found)
    assert digest(names) == before


def check_a_part_and_a_rule_are_named() -> None:
    names = program()
    for expression, expected in {
        "numbers[0] + lazy.prop": "`lazy.prop`: prop is a property of Lazy, which would run",
        "not doubtful": "`not doubtful`: whether Doubtful is true is for its __bool__ to say",
        "n and work()": "`work()`: it calls the program's function sprung, which is not one of",
        "1 + 2 ** 99999": "`2 ** 99999`: a number of 199998 bits is too large",
        "[x for x in waiting]": "`waiting`: generator is not a builtin collection",
    }.items():
        found = evaluated(expression, names)
        assert str(found).startswith(expected), (expression, found)


def check_a_builtin_is_known_by_what_its_name_leads_to() -> None:
    names = program()
    assert evaluated("size(numbers)", names) == 3
    assert isinstance(evaluated("len(numbers)", names), RejectedError)
    assert evaluated("sorted_(numbers, reverse=True)", names) == [3, 2, 1]
    assert not ran


def check_a_format_makes_no_long_text() -> None:
    refused = str(evaluated("f'{n:>99999}'", program()))  # versions differ in where the part begins
    assert refused.endswith("its format could make a long text, or is not known")


def check_steps_are_bounded_whatever_the_time() -> None:
    kept, walk.MOST_STEPS = walk.MOST_STEPS, 100
    try:
        assert "it takes more than 100 steps" in str(evaluated("[x for x in range(200)]", program()))
    finally:
        walk.MOST_STEPS = kept


def check_the_names_of_a_class_body_may_be_an_object_of_the_programs() -> None:
    class Names(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            ran.append("items")
            return super().items()

    found: List[Any] = []
    exec("found.append(sys._getframe())", {"found": found, "sys": sys}, Names())
    refused = ""
    try:
        walk.names_of(found[0])
    except RejectedError as error:
        refused = error.rule
    assert "kept by an object" in refused
    assert not ran
    assert evaluated("1 + len([2])", walk.names_of(sys._getframe())[0]) == 2


def check_the_digest_notices_every_change() -> None:
    names = program()
    changes = ("numbers.append(1)", "next(waiting)", "next(items)", "setattr(lazy, 'new', 1)", "words.add('z')")
    before = digest(names)
    assert digest(names) == before
    for change in (*changes, "prices.clear()", "setattr(Color, 'x', 1)", "counter.update('z')", "queue.rotate(1)"):
        eval(change, {**names, "setattr": setattr})
        after = digest(names)
        assert after != before, change
        before = after


def check_an_operand_that_would_run_code_is_shown_by_its_parts() -> None:
    class Order:
        lines: List[int]

        @property
        def total(self) -> int:
            ran.append("total")
            return 7

    order = Order()
    order.lines = [3, 4]
    names: Any = ({"order": order, "sys": sys, "run": spring("run")},)

    def show(source: str, value: Any) -> Dict[str, Any]:
        return {source: value}

    wanted: List[Any] = [
        ["run(order.lines[1])", [["order.lines[1]", [["order.lines", []]]]]],
        ["order.lines[7]", [["order.lines", []]]],
        ["sys", []],
        ["order.lines[0]", []],
    ]
    assert asserted_values.values(wanted, names, 8, show) == [
        {"order.lines[1]": 4},
        {"order.lines": [3, 4]},
        {"order.lines[0]": 3},
    ]
    unread = {"name": "order.total", "value": asserted_values.UNREAD}
    wanted_total: List[Any] = [["order.total", [["order", []]]], ["order.nothing", []]]
    assert asserted_values.values(wanted_total, names, 8, show) == [unread, {"order": order}]
    assert asserted_values.values(wanted, names, 1, show) == [{"order.lines[1]": 4}]
    assert not ran
