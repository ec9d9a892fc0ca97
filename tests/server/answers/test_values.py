"""Values by name: a name leads back to its value, types stand where values do not show them, and all are counted."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.server.answers.values import counted, fitting, named, rendered, shows_type
from trio_debugmcp.state.payloads import Variable, name_of


def variable(name: str, value: str = "1", kind: str | None = "int", **more: object) -> Variable:
    fields = {"path": name, "child_count": 0, "children": UNSET, **more}
    return Variable(name, value, kind, **fields)  # type: ignore[arg-type]


# --- Types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1", None),
        ("-12", "int"),
        ("1.5", "float"),
        ("nan", "float"),
        ("-inf", "float"),
        ("True", "bool"),
        ("false", "boolean"),
        ("'ben'", "str"),
        ('"ben"', "string"),
        ("b'x'", "bytes"),
        ("(1+2j)", "complex"),
        ("None", "NoneType"),
        ("[1, 2]", "list"),
        ("(1,)", "tuple"),
        ("{'a': 1}", "dict"),
        ("{1, 2}", "set"),
        ("set()", "set"),
        ("<class 'int'>", "type"),
        ("<function f at app.py:1>", "function"),
        ("Basket(owner='ben')", "Basket"),
        ("<Basket object at 0x1>", "Basket"),
        ("<shop.Basket object at 0x1>", "shop.Basket"),
        ("<shop.Basket object at 0x1>", "Basket"),
        ("<locked _thread.lock object at 0x1>", "lock"),
        ("<unlocked _thread.RLock object owner=0 at 0x1>", "RLock"),
        ("deque([1])", "collections.deque"),
        ("Vec(x=1)", "std::Vec"),
        ("[]main.Item len: 2, cap: 2, [...]", "[]main.Item"),
        ("*main.Item {price: 2}", "*main.Item"),
    ],
)
def test_a_value_that_shows_its_type_stands_alone(value: str, kind: str | None) -> None:
    assert shows_type(value, kind)
    assert rendered(value, kind) == value


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1", "numpy.int64"),
        ("'ben'", "Name"),
        ("[1, 2]", "array"),
        ("{}", "defaultdict"),
        ("3", "str"),
        ("x", "int"),
        ("Nonesuch", "NoneType"),
        ("Baskets(1)", "Basket"),
        ("<shop.Baskets object at 0x1>", "Basket"),
        ("<Order 'Basket' at 0x1>", "Basket"),
        ("Falsehood", "bool"),
    ],
)
def test_the_type_follows_where_the_value_does_not_show_it(value: str, kind: str) -> None:
    assert rendered(value, kind) == f"{value} ({kind})"


plain = st.one_of(st.integers(), st.floats(), st.text(), st.booleans(), st.none(), st.binary(), st.complex_numbers())


@given(st.one_of(plain, st.lists(plain), st.dictionaries(st.integers(), plain), st.sets(st.integers())))
def test_no_plain_value_of_python_needs_its_type(value: object) -> None:
    assert shows_type(repr(value), type(value).__name__)


@given(st.text(), st.text())
def test_a_type_may_have_any_name(value: str, kind: str) -> None:
    assert rendered(value, kind) in (value, f"{value} ({name_of(kind)})")


# --- Names ------------------------------------------------------------------------------------------------------------


def test_variables_are_an_object() -> None:
    shown = named([variable("count"), variable("name", "'ben'", "Name"), variable("hidden", path=None)])
    assert shown == {"count": "1", "name": "'ben' (Name)", "hidden (no path)": "1"}
    assert [*shown] == ["count", "name", "hidden (no path)"], "in their order"


def test_names_begin_where_the_path_that_was_asked_for_ends() -> None:
    inside = [variable("[0]", path="b.lines[0]"), variable("owner", path="b.lines.owner"), variable("len", path=None)]
    assert named(inside, "b.lines") == {"[0]": "1", "owner": "1", "len (no path)": "1"}


def test_children_stand_below_their_parents() -> None:
    lines = variable("lines", "[…]", "list", path="b.lines", children=[variable("[0]", path="b.lines[0]")])
    hidden = variable("raw", path=None, children=[variable("x", path=None), variable("[1]", path=None)])
    basket = variable("b", "Basket(…)", "Basket", children=[lines, hidden])
    assert named([basket]) == {
        "b": "Basket(…)",
        "b.lines": "[…]",
        "b.lines[0]": "1",
        "b.raw (no path)": "1",
        "b.raw.x (no path)": "1",
        "b.raw[1] (no path)": "1",
    }


def test_what_has_its_path_from_elsewhere_is_named_by_the_whole_path() -> None:
    items = [variable("[0]", path="[*st][0]"), variable(LENGTH, "2", path="len(st)")]
    assert named(items, "st") == {"[*st][0]": "1", "len(st)": "2"}
    nested = variable("st", "{7}", "set", children=[variable("[0]", path="[*st][0]", children=[])])
    assert named([nested]) == {"st": "{7}", "[*st][0]": "1"}, "not st[*st][0]"
    assert named([variable("[0]", path="sorted(s)[0]")], "s") == {"sorted(s)[0]": "1"}
    assert named([variable("x", path="s")], "s") == {"s": "1"}
    assert named([variable("x", path="p->x")], "p") == {"->x": "1"}


LENGTH = "len()"


def test_the_key_of_an_entry_that_goes_by_its_position_stands_before_the_value() -> None:
    entry = variable("[<Color.RED: 1>]", "'red'", "str", path="[*d.values()][0]")
    assert named([entry], "d") == {"[*d.values()][0]": "<Color.RED: 1>: 'red'"}
    assert named([variable("['a']", path="d['a']")], "d") == {"['a']": "1"}


@given(st.lists(st.sampled_from(["x", "y", "x (2)"]), max_size=12))
def test_all_variables_of_one_name_are_shown(names: list[str]) -> None:
    shown = named(variable(name, str(number)) for number, name in enumerate(names))
    assert [*shown.values()] == [str(number) for number in range(len(names))]
    assert len(names) < 2 or set(names) <= shown.keys()


keys = st.one_of(st.integers(), st.text(max_size=8), st.booleans(), st.binary(max_size=4))


@given(st.lists(st.one_of(keys.map(lambda key: f"[{key!r}]"), st.sampled_from([".a", ".st", "._x"])), max_size=5))
def test_the_path_that_was_asked_for_and_a_name_lead_to_the_value(steps: list[str]) -> None:
    for at in range(len(steps)):
        parent, path = "st" + "".join(steps[:at]), "st" + "".join(steps[: at + 1])
        (name,) = named([variable(steps[at].removeprefix("."), path=path)], parent)
        assert (f"{parent}{name}" if name.startswith("[") else f"{parent}.{name}") == path
        python = profile_named("debugpy")
        assert python is not None
        assert python.expressions.is_path(path)
        ast.parse(path)


# --- Counts -----------------------------------------------------------------------------------------------------------


def test_children_that_are_left_out_are_counted() -> None:
    children = [variable("[0]", path="xs[0]"), variable(LENGTH, "300", path="len(xs)")]
    xs = variable("xs", "[…]", "list", child_count=300, children=children)
    assert named([xs]) == {"xs": "[…]", "xs[0]": "1", "len(xs)": "300", "xs…": "299 more"}
    one = variable("xs", "[…]", "list", child_count=2, children=children)
    assert named([one])["xs…"] == "1 more"
    none = variable("xs", "[…]", "list", child_count=300, children=[])
    assert named([none]) == {"xs": "[…]", "xs…": "300 more"}
    not_asked = variable("xs", "[…]", "list", child_count=300)
    assert named([not_asked]) == {"xs": "[…]"}
    unknown = variable("xs", "[…]", "list", child_count=None, children=[variable("[0]", path="xs[0]")])
    assert named([unknown]) == {"xs": "[…]", "xs[0]": "1"}


def test_locals_that_are_left_out_are_counted() -> None:
    assert counted({"x": "1"}, 3) == {"x": "1", "…": "3 more: variables_get"}
    assert counted({"x": "1"}, 0) == {"x": "1"}


def test_as_many_variables_are_kept_as_their_rendered_values_leave_room_for() -> None:
    many = [variable(f"v{number}") for number in range(100, 200)]
    shown, count = fitting(many, 10 * len('{"v100":"1"},'))
    assert (list(shown), count) == ([f"v{number}" for number in range(100, 110)], 10)
    assert fitting(many, 1)[1] == 1, "a reader can page on"
    assert fitting(many, 10_000)[1] == 100
    long = [variable("a", "x" * 90), variable("b")]
    assert fitting(long, 100)[1] == 1
    children = [variable(f"[{number}]", path=f"xs[{number}]") for number in range(100)]
    xs = variable("xs", "[…]", "list", child_count=100, children=children)
    assert fitting([xs, variable("y")], 100) == ({"xs": "[…]", "xs…": "100 more", "y": "1"}, 2)
    assert fitting([], 100) == ({}, 0)
