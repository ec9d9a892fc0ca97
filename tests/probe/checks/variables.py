import collections
import contextlib
import decimal
import enum
import sys
import time
import types
from typing import Any, Dict, List

from tests.probe.checks import about_a_bound
from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.bounds import Budget, TooSlowError
from trio_debugmcp.probe.inside.debugger import attached, by_pydevd
from trio_debugmcp.probe.inside.values import children, facts, variable_listing
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.values.variable_listing import ListingQuestion


class Key:
    def __repr__(self) -> str:
        return "Key()"


class Basket:
    def __init__(self) -> None:
        self.owner = "ben"
        self._Basket__secret = 1
        vars(self)["class"] = "third"
        vars(self)["a b"] = 4

    @property
    def total(self) -> int:
        raise AssertionError("was run")


def ask(path: str, frame: Any, **asked: Any) -> Dict[str, Any]:
    budget = Budget(seconds=20)  # what is checked here is not the machine's speed
    value = variable_listing.evaluate(path, frame, budget)
    return variable_listing.of_value(value, path, ListingQuestion(**asked), budget, Renderer(budget))


def check_any_slice_of_a_long_list_is_reached() -> None:
    big = list(range(1000000))
    answer = ask("big", sys._getframe(), start=999998)
    assert [each["value"] for each in answer["variables"]] == ["999998", "999999"]
    assert [each["path"] for each in answer["variables"]] == ["big[999998]", "big[999999]"]
    assert answer["total"] == answer["size"] == len(big)
    assert ask("big", sys._getframe(), start=1000000)["variables"] == []


def check_slices_of_every_collection() -> None:
    ordered = collections.OrderedDict((number, number) for number in range(10))
    ordered.move_to_end(0)
    collected: Dict[str, Any] = {
        "d": {number: number for number in range(10)},
        "s": set(range(10)),
        "t": tuple(range(10)),
        "q": collections.deque(range(10)),
        "o": ordered,
    }
    for name in collected:
        answer = ask(f"collected[{name!r}]", sys._getframe(), start=8, most=5)
        assert answer["total"] == 10
        assert len(answer["variables"]) == 2, name
    assert ask("collected['o']", sys._getframe(), start=9)["variables"][0]["name"] == "[0]"


def check_every_path_leads_back() -> None:
    key = Key()
    key_of_dict = {
        (1, 2): "tuple",
        "s": "str",
        None: 0,
        1.5: 1,
        b"b": 2,
        key: "object",
        "x" * 200: 3,
        ("{}",): 4,
        -1: 5,
    }
    elements = {"one", 2, key}
    basket = Basket()
    nested = [key_of_dict, [elements], basket, {"k": {"{a}": [1]}}]
    closure = lambda: (key, nested)  # noqa: E731, F841
    error = ValueError("x")
    error.__cause__ = KeyError("y")
    frame = sys._getframe()

    def walk(path: str, depth: int) -> int:
        seen = 0
        for child in ask(path, frame)["variables"]:
            if child["value"] == "<property, not run>":
                assert child["path"] == "basket.total" or child["path"].endswith(".total")
                continue
            value = variable_listing.evaluate(child["path"], frame, Budget())
            assert Renderer(Budget()).render(value) == child["value"], child
            seen += 1 + (walk(child["path"], depth - 1) if depth else 0)
        return seen

    assert walk("nested", 4) >= 20
    assert walk("closure", 2) >= 3
    assert walk("error", 2) >= 2
    assert walk("elements or closure", 1) == 3
    assert basket is nested[2]


def check_a_property_is_not_run() -> None:
    basket = Basket()
    found = {each["name"]: each for each in ask("basket", sys._getframe())["variables"]}
    assert found["total"]["value"] == "<property, not run>"
    assert found["class"]["path"] == "basket.__dict__['class']"
    assert found["a b"]["path"] == "basket.__dict__['a b']"
    assert basket.owner == "ben"


def check_depth_names_and_filter() -> None:
    tree = {"a": {"b": {"c": 1}}, "other": 2}
    answer = ask("tree", sys._getframe(), depth=3)
    inner = answer["variables"][0]["children"][0]["children"][0]
    assert inner == {"name": "['c']", "value": "1", "path": "tree['a']['b']['c']"}
    assert [each["name"] for each in ask("tree", sys._getframe(), filter_="OTH")["variables"]] == ["['other']"]
    assert [each["name"] for each in ask("tree", sys._getframe(), names=("['a']",))["variables"]] == ["['a']"]
    assert tree


def check_the_size_of_an_answer_is_bounded_and_the_total_is_true() -> None:
    texts = ["x" * 150 for _ in range(10000)]
    budget = Budget(size=5000)
    answer = variable_listing.of_value(texts, "texts", ListingQuestion(most=10000), budget, Renderer(budget))
    assert answer["total"] == 10000
    assert 10 < len(answer["variables"]) < 50


def check_locals_have_functions_and_classes_and_none_of_pytests() -> None:
    local_class, local_function, nothing = Basket, ask, None
    frame = sys._getframe()
    names = [name for name, _ in visible_frames.local_names(frame)]
    assert names == ["local_class", "local_function", "nothing", "frame", "names"][: len(names)]
    scope: Dict[str, Any] = {}
    exec("import sys\nframe = sys._getframe()\nvalue = 1\ndef f(): pass", scope)
    attached.attach(by_pydevd.ByPydevd())
    hidden = {"@py_assert1": 1, ".0": 2, "__exception__": 3, "__pydevd_ret_val_dict": {}, "shown": 4}
    assert [name for name in hidden if visible_frames.is_shown(name)] == ["shown"]
    assert (local_class, local_function, nothing) == (Basket, ask, None)
    assert [name for name, _ in facts.namespace_order([("sys", sys), ("f", ask), ("v", 1)])] == ["v", "f", "sys"]


def check_expressions_see_locals_in_comprehensions_and_are_bounded() -> None:
    limit, xs = 2, [1, 2, 3]
    frame = sys._getframe()
    assert variable_listing.evaluate("[x for x in xs if x > limit]", frame, Budget()) == [3]
    assert variable_listing.evaluate("len(xs) + limit", frame, Budget()) == 5
    for expression, error in (("nope", NameError), ("1 +", SyntaxError), ("exit()", SystemExit)):
        try:
            variable_listing.evaluate(expression, frame, Budget())
        except error:
            continue
        raise AssertionError(expression)
    try:
        variable_listing.evaluate("1 + 1", frame, Budget(seconds=0))
    except TooSlowError:
        pass
    else:
        raise AssertionError
    assert (limit, xs) == (2, [1, 2, 3])


@about_a_bound
def check_a_slow_expression_does_not_bar_the_next() -> None:
    with contextlib.suppress(TooSlowError):  # on a busy machine it wakes after it was to be interrupted
        assert variable_listing.evaluate("__import__('time').sleep(0.6)", None, Budget(seconds=100)) is None
    assert variable_listing.evaluate("1 + 1", None, Budget(seconds=100)) == 2


def check_what_is_read_is_not_changed() -> None:
    values: List[Any] = [{1: 2}, {3}, [4], Basket()]
    before = repr([vars(each) if isinstance(each, Basket) else each for each in values])
    counts = [sys.getrefcount(each) for each in values]
    begin = time.thread_time()
    for _ in range(20):
        ask("values", sys._getframe(), depth=3)
    assert time.thread_time() - begin < 5
    assert repr([vars(each) if isinstance(each, Basket) else each for each in values]) == before
    assert [sys.getrefcount(each) for each in values] == counts


# --- Counts, scopes, levels -------------------------------------------------------------------------------------------


class Chained(Exception):
    @property
    def code(self) -> int:
        raise AssertionError("was run")


def check_what_is_counted_is_what_is_listed() -> None:
    limit = 5

    def closure() -> int:
        return limit

    error = Chained("a")
    error.__cause__ = ValueError("b")
    collections_ = [[1], (), {1: 2}, {3}, frozenset((4,)), collections.deque([5]), range(7), {1: 2}.keys()]
    objects = [Basket(), Basket, closure, Budget().take, error, sys, None, 5, "text", object()]
    for value in [*collections_, *objects, memoryview(b"abc"), b"bytes"]:
        listed, total = children.children(value, 0, 10000)
        assert len(listed) == total == children.count_of(value), value
    assert children.count_of(closure) == 1
    assert children.count_of(error) == 3  # args, the cause, the property


def check_ranges_and_views_have_items() -> None:
    big = range(10**12)
    answer = ask("big", sys._getframe(), start=10**12 - 1)
    assert (answer["total"], [each["path"] for each in answer["variables"]]) == (10**12, [f"big[{10**12 - 1}]"])
    views = {1: "a", 2: "b"}
    answer = ask("views.values()", sys._getframe(), start=1)
    assert [(each["value"], each["path"]) for each in answer["variables"]] == [("'b'", "[*views.values()][1]")]
    assert variable_listing.evaluate("[*views.values()][1]", sys._getframe(), Budget()) == "b"
    assert len(big) > len(views)


def check_items_with_keys_of_any_kind_have_names_and_paths() -> None:
    keyed: Dict[Any, int] = {Key(): 1, (1, Key()): 2, "k": 3}
    answer = ask("keyed", sys._getframe())["variables"]
    assert [each["name"] for each in answer] == ["[Key()]", "[(1, Key())]", "['k']"]
    frame = sys._getframe()
    values = [variable_listing.evaluate(each["path"], frame, Budget()) for each in answer]
    assert values == list(keyed.values()) == [1, 2, 3]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def check_keys_that_code_of_the_program_shows_are_withheld_for_themselves() -> None:
    keyed = {Color.RED: 1, "k": 2}
    budget = Budget()
    renderer = Renderer(budget, code=False)
    first = variable_listing.of_value(keyed, "keyed", ListingQuestion(), budget, renderer)["variables"]
    assert first[0]["nameWithheld"]
    assert (first[0]["value"], "withheld" in first[0]) == ("1", False)
    assert "nameWithheld" not in first[1]
    assert ask("keyed", sys._getframe())["variables"][0]["name"] == "[<Color.RED: 1>]"


def check_keys_are_searched_as_they_are_shown() -> None:
    keyed: Dict[Any, int] = {Color.RED: 1, Color.BLUE: 2, "red": 3, Key(): 4}
    frame = sys._getframe()
    found = ask("keyed", frame, filter_="red")
    assert ([each["name"] for each in found["variables"]], found["total"]) == (["[<Color.RED: 1>]", "['red']"], 2)
    assert found["variables"][0]["path"] == "[*keyed.values()][0]"
    assert [each["value"] for each in ask("keyed", frame, names=("[Key()]",))["variables"]] == ["4"]
    budget = Budget()
    first = variable_listing.of_value(
        keyed, "keyed", ListingQuestion(filter_="red"), budget, Renderer(budget, code=False)
    )
    assert [each.get("nameWithheld", False) for each in first["variables"]] == [True, True, False, True], "not lost"
    refusal = ""
    try:
        ask("{Key(): n for n in range(1000)}", frame, filter_="z")
    except ValueError as error:
        refusal = str(error)
    assert "takes too long" in refusal
    big = {(n, int): n for n in range(5000)}
    assert ask("big", frame, filter_="(4999,")["total"] == 1
    assert big


class Labels(List[Any]):
    @property
    def is_unique(self) -> bool:
        return len(set(self)) == len(self)


class Labelled:
    dtype = "int64"
    shape: Any = ()
    iloc: Any = ()

    def __init__(self, held: List[Any], labels: List[Any]) -> None:
        self.shape = (len(held),)
        self.iloc = held
        self.index = Labels(labels)
        self.loc = dict(zip(labels, held))

    def __getitem__(self, label: Any) -> Any:
        raise AssertionError("a number is a label, too")


Labelled.__module__ = "pandas.core.series"


class Table:
    dtypes = "mixed"
    shape: Any = ()
    iloc: Any = ()
    columns: Any = ()

    class Columns:
        def __init__(self, held: List[Labelled]) -> None:
            self.held = held

        def __getitem__(self, at: Any) -> Any:
            return self.held[at[1]]

    def __init__(self, held: List[Labelled], names: List[Any]) -> None:
        self.shape = (2, len(held))
        self.columns = Labels(names)
        self.iloc = self.Columns(held)

    def __getitem__(self, name: Any) -> Any:
        return self.iloc.held[self.columns.index(name)]


Table.__module__ = "pandas.core.frame"


def check_what_has_labels_is_read_by_its_place_and_named_by_its_label() -> None:
    series = Labelled([10, 20, 30], ["ann", 7, Key()])
    twice = Labelled([1, 2], ["a", "a"])
    table = Table([series, twice], ["price", (1, "b")])
    frame = sys._getframe()
    for name, value, items, paths in (
        ("series", series, series.iloc, ["series.loc['ann']", "series.loc[7]", "series.iloc[2]"]),
        ("twice", twice, twice.iloc, ["twice.iloc[0]", "twice.iloc[1]"]),
        ("table", table, [series, twice], ["table['price']", "table.iloc[:, 1]"]),
    ):
        assert [each["path"] for each in ask(name, frame)["variables"]] == paths
        assert [variable_listing.evaluate(path, frame, Budget()) for path in paths] == items
        assert children.count_of(value) == len(paths)


def check_items_too_far_into_a_dict_are_refused() -> None:
    passed, children.MOST_PASSED = children.MOST_PASSED, 5
    assert len(children.children(dict.fromkeys(range(9)), 5, 10)[0]) == 4
    refusal = ""
    try:
        children.children(dict.fromkeys(range(9)), 6, 10)
    except IndexError as error:
        refusal = str(error)
    children.MOST_PASSED = passed
    assert "above 5 of a dict" in refusal
    assert children.children(list(range(9)), 6, 10)[1] == 9


def check_names_are_not_searched_among_too_many() -> None:
    many = range(10**6)
    frame = sys._getframe()
    refusal = ""
    try:
        ask("many", frame, filter_="5")
    except ValueError as error:
        refusal = str(error)
    assert "100000 items at most" in refusal
    assert many


shadowed = "the global"


def scopes(first: int, *rest: int, key: int = 3, **more: int) -> Any:
    shadowed = "the local"
    return sys._getframe(), shadowed


def check_scopes_have_their_own_variables() -> None:
    frame = scopes(1, 2, more=4)[0]
    assert {name for name, _, _ in variable_listing.scope_pairs(frame, "arguments")} == {"first", "key", "rest", "more"}
    assert [name for name, _, _ in variable_listing.scope_pairs(frame, "locals")][-1] == "shadowed"
    both = {(name, path): value for name, value, path in variable_listing.scope_pairs(frame, "all")}
    assert both["shadowed", "shadowed"] == "the local"
    assert both["shadowed", children.NO_PATH] == "the global"  # no expression leads there
    assert both["ask", "ask"] is ask


def check_a_large_value_leaves_room_for_the_names_of_the_others() -> None:
    budget = Budget(size=2000)
    pairs = [("big", [["x" * 50] * 50] * 50, "big"), ("small", 5, "small"), ("last", [1], "last")]
    answer = variable_listing.of_scope(pairs, ListingQuestion(depth=3), budget, Renderer(budget))
    assert [each["name"] for each in answer["variables"]] == ["big", "small", "last"]
    assert answer["variables"][0]["children"]
    assert answer["variables"][0]["size"] == 50


def check_code_of_the_program_is_not_run_unless_it_may() -> None:
    budget = Budget()
    renderer = Renderer(budget, code=False, types=True)
    found = variable_listing.of_scope([("k", [Key()], "k"), ("n", 1, "n")], ListingQuestion(depth=2), budget, renderer)
    shown, plain = found["variables"]
    assert (shown["value"], shown["withheld"], shown["children"][0]["withheld"]) == ("[Key(...)]", True, True)
    assert plain == {"name": "n", "value": "1", "type": "int"}
    assert renderer.render(decimal.Decimal("1.5")) == "Decimal('1.5')"
    assert not renderer.withheld


def check_a_namespace_has_its_fields() -> None:
    space = types.SimpleNamespace(**{"class": 1, "fine": [2]})
    answer = ask("space", sys._getframe())["variables"]
    assert [(each["name"], each["path"]) for each in answer] == [
        ("class", "space.__dict__['class']"),
        ("fine", "space.fine"),
    ]
    assert space.fine == [2]
