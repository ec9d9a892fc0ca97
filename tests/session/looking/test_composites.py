"""Locals, structures and arrays of adapters that divide scopes in their own way, or have no text for a structure."""

from typing import Any

from trio.testing import MockClock

from tests.session.natives import PROGRAM, SOURCE, launched
from trio_debugmcp.app import Options
from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.javascript.javascript import JavaScriptExpressions, JavaScriptValues
from trio_debugmcp.session.looking.by_adapter.composites import identity
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, FakeProfile, Refusal, connect

INSIDE: dict[int, list[dict[str, Any]]] = {
    1: [{"name": "order", "value": "@0x7ffe10", "type": "const Order &", "variablesReference": 10}],
    2: [
        {"name": "total", "value": "2", "type": "int", "variablesReference": 0},
        {"name": "values", "value": "", "type": "int [2]", "variablesReference": 20, "indexedVariables": 2},
        {"name": "next", "value": "0x10", "type": "Order *", "variablesReference": 30, "namedVariables": 1},
        {"name": "broken", "value": "", "type": "Item", "variablesReference": 30},
    ],
    3: [{"name": "rax", "value": "0", "variablesReference": 0}],
    10: [{"name": "value", "value": "", "type": "const Order", "variablesReference": 11}],
    11: [
        {"name": "number", "value": "7", "type": "int", "variablesReference": 0},
        {"name": "first", "value": "", "type": "Item", "variablesReference": 12},
        {"name": "weights", "value": "", "type": "double [3]", "variablesReference": 20, "indexedVariables": 3},
    ],
    12: [{"name": "name", "value": '"fig"', "type": "std::string", "variablesReference": 40}],
    20: [{"name": str(index), "value": str(index + 1), "type": "int", "variablesReference": 0} for index in range(2)],
    40: [{"name": "_M_p", "value": "0x1", "type": "char *", "variablesReference": 0}],
}
"""The children of an adapter's references, as gdb names them; behind 30 is a wild pointer."""


def gdb() -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.frames = [("add", SOURCE, 33)]

    async def scopes(arguments: object) -> object:
        names = {"Arguments": 1, "Locals": 2, "Registers": 3}
        return {"scopes": [{"name": name, "variablesReference": number} for name, number in names.items()]}

    async def variables(arguments: dict[str, int]) -> object:
        if arguments["variablesReference"] == 30:
            raise Refusal("Cannot access memory at address 0x10")
        return {"variables": INSIDE[arguments["variablesReference"]]}

    async def evaluate(arguments: dict[str, str]) -> object:
        found = next(each for each in INSIDE[1] if each["name"] == arguments["expression"])
        return {"result": found["value"], **found}

    adapter.answer("scopes", scopes)
    adapter.answer("variables", variables)
    adapter.answer("evaluate", evaluate)
    return adapter


async def test_structures_in_a_slice_of_go_are_shown_with_their_fields(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", "/work/orders.go", 33)]
    items = [
        {"name": f"[{number}]", "value": f"*main.Item {{ID: {number}}}", "variablesReference": 0} for number in range(2)
    ]
    head = "[]*main.Item len: 2, cap: 2,"
    shown = f"{head} [*main.Item {{ID: 0}}, *main.Item {{ID: 1}}]"
    orders = {
        "name": "orders",
        "value": f"{head} [*(*main.Item)(0xc0),*(*main.Item)(0xd0)]",
        "type": "[]*main.Item",
        "variablesReference": 2,
    }

    async def scopes(arguments: object) -> object:
        return {"scopes": [{"name": "Local", "variablesReference": 1}]}

    async def variables(arguments: dict[str, int]) -> object:
        return {"variables": [orders] if arguments["variablesReference"] == 1 else items}

    async def evaluate(arguments: object) -> object:
        return {"result": orders["value"], "type": "[]*main.Item", "variablesReference": 2}

    adapter.answer("scopes", scopes)
    adapter.answer("variables", variables)
    adapter.answer("evaluate", evaluate)
    async with launched("delve", adapter) as client:
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["locals"] == {"orders": shown}
        assert (await client.call("evaluate", expression="orders"))["value"] == shown


async def test_objects_and_arrays_of_php_are_shown_with_what_is_in_them(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("Shelf->put", "/work/shelf.php", 9)]
    inside: dict[int, list[dict[str, Any]]] = {
        1: [
            {"name": "$item", "value": "Item", "type": "object", "variablesReference": 2, "indexedVariables": 3},
            {"name": "$none", "value": "array(0)", "type": "array", "variablesReference": 3},
            {"name": "$stock", "value": "array(2)", "type": "array", "variablesReference": 4, "indexedVariables": 2},
            {"name": "$list", "value": "array(2)", "type": "array", "variablesReference": 5, "indexedVariables": 2},
            {"name": "$title", "value": '"Item"', "type": "string", "variablesReference": 0},
            {"name": "$eval_cache", "value": "array(1)", "type": "array", "variablesReference": 6},
        ],
        2: [
            {"name": "name", "value": '"fig"', "type": "string", "variablesReference": 0},
            {"name": "next", "value": "Item", "type": "object", "variablesReference": 7, "indexedVariables": 3},
            {"name": "tags", "value": "array(2)", "type": "array", "variablesReference": 8, "indexedVariables": 2},
        ],
        3: [],
        4: [
            {"name": "fig", "value": "2", "type": "int", "variablesReference": 0},
            {"name": "7", "value": "null", "type": "null", "variablesReference": 0},
        ],
        5: [{"name": str(number), "value": f"{number}.5", "variablesReference": 0} for number in range(2)],
    }

    async def scopes(arguments: object) -> object:
        return {"scopes": [{"name": "Locals", "variablesReference": 1}]}

    async def variables(arguments: dict[str, int]) -> object:
        return {"variables": inside[arguments["variablesReference"]]}

    async def evaluate(arguments: object) -> object:
        return {"result": "Item", "variablesReference": 2}

    adapter.answer("scopes", scopes)
    adapter.answer("variables", variables)
    adapter.answer("evaluate", evaluate)
    async with launched("vscode-php-debug", adapter) as client:
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["locals"] == {
            "$item": 'Item(name="fig", next=Item(…), tags=[2 items]) (object)',
            "$list": "[0.5, 1.5] (array)",
            "$none": "array(0)",
            "$stock": '["fig" => 2, 7 => null] (array)',
            "$title": '"Item"',
        }
        assert (await client.call("evaluate", expression="$item"))["value"].startswith('Item(name="fig"')


async def test_the_locals_of_a_stop_hold_the_arguments_and_structures_show_their_fields(
    autojump_clock: MockClock,
) -> None:
    adapter = gdb()
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert stop["locals"] == {
            "order": "Order(number=7, first=Item(…), weights=[3 items]) (const Order &)",
            "total": "2",
            "values": "[1, 2] (int [2])",
            "next": "0x10 (Order *)",
            "broken": " (Item)",
        }
        assert (await client.call("variables_get"))["variables"] == stop["locals"]
        assert (await client.call("evaluate", expression="order"))["value"].startswith("Order(number=7")


async def test_what_is_inside_stands_below_its_parent_by_paths_that_lead_back(autojump_clock: MockClock) -> None:
    adapter = gdb()
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        deep = (await client.call("variables_get", depth=3, names=["order", "values", "next"]))["variables"]
        assert deep["order"] == "Order(…) (const Order &)"
        assert deep["order.first.name"] == '"fig" (std::string)'
        assert deep["order.weights[1]"] == "2"
        assert deep["values[0]"] == "1"
        assert deep["next"] == "0x10 (Order *)"
        assert not any("_M_p" in name for name in deep)
        inside = (await client.call("variables_get", path="order"))["variables"]
        assert inside == {"number": "7", "first": 'Item(name="fig")', "weights": "[1, 2] (double [3])"}


async def test_a_frame_without_locals_has_none_and_a_scope_that_is_not_there_is_named(
    autojump_clock: MockClock,
) -> None:
    adapter = gdb()

    async def registers_only(arguments: object) -> object:
        return {"scopes": [{"name": "Registers", "variablesReference": 3, "presentationHint": "registers"}]}

    adapter.answer("scopes", registers_only)
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert "locals" not in stop
        assert (await client.call("variables_get")).get("variables", {}) == {}


async def test_of_many_structures_only_some_are_composed_as_each_costs_a_request(autojump_clock: MockClock) -> None:
    adapter = gdb()
    many = [{"name": f"item{n}", "value": "", "type": "Item", "variablesReference": 12} for n in range(50)]

    async def variables(arguments: dict[str, int]) -> object:
        return {"variables": many if arguments["variablesReference"] == 2 else INSIDE[12]}

    adapter.answer("variables", variables)
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert len(adapter.sent("variables")) < 25
        assert list(stop["locals"].values()).count('Item(name="fig")') >= 18


async def test_a_getter_is_not_run_and_a_private_field_has_the_path_of_the_language(autojump_clock: MockClock) -> None:
    """js-debug names the value of a getter, its only child, like the getter, and a private field like an item."""
    adapter = FakeAdapter()
    adapter.frames = [("add", "/work/cart.js", 33)]
    private: dict[str, Any] = {"name": "#lines", "value": "Map(1)", "type": "Map", "evaluateName": 'cart["#lines"]'}
    inside: list[dict[str, Any]] = [
        {**private, "variablesReference": 4, "presentationHint": {"visibility": "private"}},
        {"name": "#key", "value": "7", "type": "number", "evaluateName": 'cart["#key"]', "presentationHint": "odd"},
        {
            "name": "total",
            "value": "ƒ total() { return 14; }",
            "type": "function",
            "evaluateName": "cart.total",
            "variablesReference": 3,
            "presentationHint": {"lazy": True},
        },
    ]
    below: dict[int, list[dict[str, Any]]] = {
        1: [],
        2: inside,
        3: [{"name": "total", "value": "14", "evaluateName": "cart.total"}],
        4: [],
    }

    async def scopes(arguments: object) -> object:
        return {"scopes": [{"name": "Local", "variablesReference": 1}]}

    async def variables(arguments: dict[str, int]) -> object:
        return {"variables": below[arguments["variablesReference"]]}

    async def evaluate(arguments: object) -> object:
        return {"result": "Cart", "type": "Cart", "variablesReference": 2}

    adapter.answer("scopes", scopes)
    adapter.answer("variables", variables)
    adapter.answer("evaluate", evaluate)
    profile = FakeProfile(adapter)
    profile.values, profile.expressions = JavaScriptValues(), JavaScriptExpressions()
    async with connect(options=Options(settings=Settings(directory="/", profiles=(profile,)))) as client:
        await client.call("debug_launch", program=PROGRAM, adapter="fake", stop_at_entry=False, wait=False)
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        shown = {"#lines": "Map(1)", '["#key"]': "7", "total": "<property, not run>"}
        assert (await client.call("variables_get", path="cart"))["variables"] == shown
        tree = (await client.call("object_inspect", expression="cart"))["children"]
        assert tree == {"#lines": "Map(1)", '["#key"]': "7", "total": "<property, not run>"}
        assert 3 not in [each["variablesReference"] for each in adapter.sent("variables")]
        assert (await client.call("collection_summarize", expression="cart"))["count"] == 2


async def test_children_with_the_path_of_what_they_are_inside_of_are_shown_below_it(autojump_clock: MockClock) -> None:
    adapter = gdb()
    named = {"name": "n", "evaluateName": "n", "type": "Node"}
    inside = {50: [{**named, "value": "2", "variablesReference": 0}, {"name": "m", "value": "3"}]}

    async def variables(arguments: dict[str, int]) -> object:
        return {"variables": inside.get(arguments["variablesReference"], [])}

    async def evaluate(arguments: object) -> object:
        return {"result": "{...}", "type": "Node", "variablesReference": 50}

    adapter.answer("variables", variables)
    adapter.answer("evaluate", evaluate)
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        assert (await client.call("object_inspect", expression="n"))["children"] == {"n": "2 (Node)", "m": "3"}


async def test_two_variables_of_one_path_are_kept_apart_in_a_snapshot(autojump_clock: MockClock) -> None:
    """lldb lists a variable of an inner block and the one of an outer block that it hides, both by the path `n`."""
    adapter = gdb()
    named = {"evaluateName": "n", "type": "Node", "value": "{...}"}
    inside: dict[int, list[dict[str, Any]]] = {
        2: [{**named, "name": "n", "variablesReference": 50}, {**named, "name": "n @ a.c:5", "variablesReference": 51}],
        50: [{"name": "v", "value": "1"}],
        51: [{"name": "v", "value": "2"}],
    }

    async def variables(arguments: dict[str, int]) -> object:
        return {"variables": inside.get(arguments["variablesReference"], [])}

    adapter.answer("variables", variables)
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        before = (await client.call("snapshot_create"))["id"]
        inside[50] = [{"name": "v", "value": "3"}]
        after = (await client.call("snapshot_create"))["id"]
        found = await client.call("snapshot_diff", before=before, after=after)
        assert found == {"modified": {"n.v": {"old": "1", "new": "3"}}, "unchanged": 1}


async def test_what_is_behind_pointers_of_go_is_read_as_far_as_it_is_shown(autojump_clock: MockClock) -> None:
    adapter, path = FakeAdapter(), "example.org/depot/shelf"
    adapter.frames = [("add", "/work/orders.go", 33)]
    folded = f'*(*"{path}.Item")(0xc01), Next: *(*"{path}.Node")'
    nodes = [f"{path}.Node {{Value: {folded}(0xc0{n}), Source: *(*os.file)(0xcf)}}" for n in (2, 3)]
    memory = {
        f'*(*"{path}.Item")(0xc01)': f'{path}.Item {{Name: "{path}.x"}}',
        f'*(*"{path}.Node")(0xc02)': nodes[1],
    }
    items = f'[]*{path}.Item len: 65, cap: 65, [*(*"{path}.Item")(0xc01),...+64 more]'
    values = {
        "head": (f"*{nodes[0]}", f"*{path}.Node"),
        "items": (items, f"[]*{path}.Item"),
        "wild": ("*(*main.T)(0x1)", ""),
    }

    async def evaluate(arguments: dict[str, str]) -> object:
        expression = arguments["expression"]
        if expression in memory:
            return {"result": memory[expression], "type": f"{path}.Item"}
        if expression not in values:
            raise Refusal("unreadable")
        return {"result": values[expression][0], "type": values[expression][1]}

    adapter.answer("evaluate", evaluate)
    async with launched("delve", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        head = await client.call("evaluate", expression="head", max_value_length=1000)
        item, source = f'*shelf.Item {{Name: "{path}.x"}}', "Source: *(*os.file)(0xcf)"
        last = f'*(*"{path}.Node")(0xc03)'
        deep = f"*shelf.Node {{Value: {item}, Next: {last}, {source}}}"
        assert head == {"value": f"*shelf.Node {{Value: {item}, Next: {deep}, {source}}}"}
        found = (await client.call("evaluate", expression="items"))["value"]
        assert found == f"[]*shelf.Item len: 65, cap: 65, [{item},...+64 more]"
        assert (await client.call("evaluate", expression="wild"))["value"] == "*(*main.T)(0x1)"


def test_an_address_of_what_is_inside_of_a_value_is_not_that_of_the_value() -> None:
    def identified(value: str, reference: int) -> str:
        return identity(DapVariable("n", value, type="T", variables_reference=reference))

    for value in ("0x7ffe10", "@0x7ffe10", "(Item *) 0x7ffe10", "0x7ffe10 -> Item(a=0x7fff)", "Item @ 0x7ffe10"):
        assert identified(value, 1) == identified(value, 2) == "T 0x7ffe10"
    for value in ("*main.Node {Next: *(*main.Node)(0xc000014360)}", "[0x7ffe10]", "Item(a=0x7ffe10)"):
        assert identified(value, 1) != identified(value, 2)
