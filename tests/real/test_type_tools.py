"""`type_get` and `symbols_search` with real programs under debugpy, stopped and running."""

from pathlib import Path

from tests.real.conftest import Connect
from tests.real.test_tools import failure, paused_at

SHOP = '''\
import time

import prices


class Meta(type):
    def __getattr__(cls, name):
        print("ran", name)

    def __instancecheck__(cls, value):
        print("ran")
        return True

    def __eq__(cls, other):
        print("ran")
        return False

    __hash__ = type.__hash__


class Base(metaclass=Meta):
    RATE: float = 0.2

    def __init__(self, owner: str, *, count=3):
        self.owner = owner
        if count:
            self.count = count


class Basket(Base, list):
    """What a customer buys."""

    @property
    def size(self) -> int:
        print("ran")

    @classmethod
    async def load(cls, path, /):
        return cls(path)

    class Line:
        def put(self, product):
            self.product = product

    def __getattribute__(self, name):
        if name.startswith("_") or name in ("owner", "count"):
            return object.__getattribute__(self, name)
        print("ran", name)


Huge = type("Huge", (), {f"name{each}": each for each in range(100_000)})


def visit(basket, product):
    return product  # here


visit(Basket("ben"), prices.Price(3))
print("on", flush=True)
while True:
    time.sleep(0.05)
'''

PRICES = """\
class Price:
    def __init__(self, amount):
        self.amount = amount

    def total(self, count: int = 1):
        return self.amount * count
"""


async def test_what_types_consist_of_and_which_there_are(debugging: Connect, tmp_path: Path) -> None:
    shop = tmp_path / "shop.py"
    (tmp_path / "prices.py").write_text(PRICES)

    def line(text: str) -> int:
        return next(number for number, each in enumerate(SHOP.splitlines(), 1) if text in each)

    basket = {
        "type": "__main__.Basket",
        "at": f"{shop}:{line('class Basket')}",
        "doc": "What a customer buys.",
        "bases": ["__main__.Base", "list"],
        "metaclass": "__main__.Meta",
        "fields": {
            "RATE": "float = 0.2 Base",
            "owner": f"Base :{line('self.owner')}",
            "count": f"Base :{line('self.count')}",
        },
        "properties": {"size": f"int :{line('def size') - 1}"},
        "methods": {
            "__getattribute__": f"(name) :{line('__getattribute__')}",
            "__init__": f"(owner: str, *, count=3) Base :{line('__init__')}",
        },
        "classMethods": {"load": f"async (path, /) :{line('def load') - 1}"},
        "attributes": {"Line": "<class '__main__.Basket.Line'>"},
    }
    async with debugging() as client:
        await paused_at(client, shop, SHOP, "# here")
        found = await client.call("type_get", expression="Basket")
        assert found.pop("size") > 40
        assert found.pop("inherited")["list"] > 20
        assert found == basket
        found = await client.call("type_get", expression="basket")
        assert found["fields"] == {
            "RATE": "float = 0.2 Base",
            "owner": f"str Base :{line('self.owner')}",
            "count": f"int Base :{line('self.count')}",
        }
        found = await client.call("type_get", expression="product")
        assert (found["type"], found["at"]) == ("prices.Price", f"{tmp_path / 'prices.py'}:1")
        assert found["fields"] == {"amount": "int :3"}
        assert (await client.call("type_get", expression="product.total"))["signature"] == "(self, count: int = 1)"
        found = await client.call("type_get", expression="Basket.Line", kind="fields")
        assert found["fields"] == {"product": f":{line('self.product')}"}
        found = await client.call("type_get", expression="Huge", filter="name9999", count=2)
        assert found["attributes"] == {"name9999": "9999", "name99990": "99990"}
        assert found["total"] == 11
        assert "notes" not in found
        assert (await client.call("type_get", expression="prices"))["notes"]
        for expression, code, why in [
            ("basket.size", "SAFE_EVAL_REJECTED", "__getattribute__ of its own"),
            ("Basket.Lime", "SAFE_EVAL_REJECTED", "Meta has a __getattr__"),
            ("visit(basket, 1)", "SAFE_EVAL_REJECTED", "visit"),
            ("basket +", "EVAL_FAILED", "SyntaxError"),
            ("Baskt", "EVAL_FAILED", "NameError"),
            ("prices.Price.Lime", "EVAL_FAILED", "AttributeError"),
        ]:
            failed = await failure(client, "type_get", expression=expression)
            assert (failed[0], why in failed[1]) == (code, True), failed
        assert (await failure(client, "type_get", expression="basket", frame_index=9))[0] == "INVALID_FRAME"
        assert (await failure(client, "type_get", expression="basket", thread_id=777))[0] == "INVALID_THREAD"
        found = await client.call("symbols_search", pattern="*ri*e*", module="PRICE")
        assert found == {"types": [f"prices.Price {tmp_path / 'prices.py'}:1"]}
        found = await client.call("symbols_search", pattern="Basket.*", kind="functions")
        assert found["functions"] == [
            f"async __main__.Basket.load(path, /) {shop}:{line('def load') - 1}",
            f"__main__.Basket.Line.put(product) {shop}:{line('def put')}",
            f"__main__.Basket.__getattribute__(name) {shop}:{line('__getattribute__')}",
        ]
        (queue,) = (await client.call("symbols_search", pattern="queue.LifoQueue", kind="types"))["types"]
        assert queue.startswith("queue.LifoQueue ")
        assert queue.endswith("queue.py (library)")
        found = await client.call("symbols_search", pattern="*", count=2)
        assert sum(len(found[each]) for each in ("types", "functions")) == 2
        assert found["total"] > 1000
        assert "ran" not in (await client.call("debug_continue", wait=False)).get("stdout", "")
        found = await client.call("type_get", expression="prices.Price")
        assert found["methods"]["total"] == "(count: int = 1) :5"
        assert (await client.call("type_get", expression="Line"))["type"] == "__main__.Basket.Line"
        assert (await client.call("symbols_search", pattern="visit"))["functions"][0].startswith("__main__.visit")
        assert (await failure(client, "type_get", expression="visit", frame_index=1))[0] == "NOT_PAUSED"
        output = await client.call("process_read_output")
        assert "ran" not in str(output)
        await client.call("debug_disconnect")
        for tool, given in (("type_get", "expression"), ("symbols_search", "pattern")):
            assert (await failure(client, tool, **{given: "x"}))[0] == "NO_SESSION"
