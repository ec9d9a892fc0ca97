"""`type_get` and `symbols_search` with real programs under debugpy, stopped and running."""

import re
from pathlib import Path

from tests.real.conftest import Connect
from tests.real.test_tools import failure, paused_at

SHOP = '''\
import asyncio, http.server, unittest.mock
import queue
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


def line(text: str, source: str = SHOP) -> int:
    return next(number for number, each in enumerate(source.splitlines(), 1) if text in each)


async def test_what_types_consist_of_and_which_there_are(debugging: Connect, tmp_path: Path) -> None:
    shop = tmp_path / "shop.py"
    (tmp_path / "prices.py").write_text(PRICES)

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
        assert found.pop("size") >= 40  # of a list, and since Python 3.13 nothing more of an object's own
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
        assert re.search(r"/queue\.py(:\d+)? \(library\)$", queue), queue  # the line is known since Python 3.13
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


HELD = """\
import threading


class Order:
    def __init__(self, number, basket):
        self.number = number
        self.basket = basket


class Basket:
    def __eq__(self, other):
        print("ran")

    __hash__ = object.__hash__


def worker(kept, started, done):
    started.set()
    done.wait()


def visit(basket):
    started, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=worker, args=(basket, started, done), name="keeper")
    thread.start()
    started.wait()
    count = 5
    callback = lambda: basket
    print("here")  # here
    done.set()


last = Basket()
orders = [Order(1, None), Order(2, last)]
held = {"by name": last}
visit(last)
"""


async def test_what_refers_to_an_object_and_what_it_refers_to(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "held.py"
    async with debugging() as client:
        await paused_at(client, file, HELD, "# here")
        found = await client.call("references_get", expression="basket")
        assert found["value"] == "Basket()"
        assert "`last`, global of __main__" in found["inbound"]
        order = "Order(number=2, basket=Basket())"
        assert f".basket of {order}: `orders[1].basket`, global of __main__" in found["inbound"]
        assert "['by name'] of {'by name': Basket()}: `held['by name']`, global of __main__" in found["inbound"]
        assert any(each.startswith("closure variable `basket` of <function visit") for each in found["inbound"])
        assert f"`basket`, local in visit {file}:{line('# here', HELD)}" in found["inbound"]
        (kept,) = [each for each in found["inbound"] if each.startswith("`kept`")]
        assert kept.startswith(f"`kept`, local in worker {file}:{line('done.wait', HELD)}, thread ")
        assert kept.endswith(" keeper")
        assert not [each for each in found["inbound"] if "pydev" in each or "debugpy" in each]
        again = await client.call("references_get", expression="basket", direction="inbound")
        assert sorted(again["inbound"]) == sorted(found["inbound"]), "the answer before has left nothing behind"
        found = await client.call("references_get", expression="orders[1]", direction="outbound")
        assert found["outbound"] == [".number: 2", ".basket: Basket()"]
        assert "inbound" not in found
        found = await client.call("references_get", expression="basket", count=1)
        assert len(found["inbound"]) == 1 < found["inboundTotal"]
        found = await client.call("references_get", expression="Order", direction="inbound")
        assert found["instances"] == 2
        found = await client.call("references_get", type="Order")
        assert (found["value"], found["instances"]) == ("<class '__main__.Order'>", 2)
        assert found["inbound"][0] == "2 of 2: `orders[…]`, global of __main__"
        assert "INVALID_PARAMETER" in await failure(client, "references_get", type="orders")
        assert "INVALID_PARAMETER" in await failure(client, "references_get", type="Order", expression="orders")
        code, message = await failure(client, "references_get", expression="count")
        assert (code, "is of type int" in message) == ("INVALID_PARAMETER", True)
        assert (await failure(client, "references_get", expression="visit(1)"))[0] == "SAFE_EVAL_REJECTED"
        assert (await failure(client, "references_get", expression="nope"))[0] == "EVAL_FAILED"
        assert (await failure(client, "references_get", expression="basket", frame_index=9))[0] == "INVALID_FRAME"
        end = await client.call("debug_continue")
        assert end["stdout"] == "here\n"
        assert (await failure(client, "references_get", expression="basket"))[0] == "NO_SESSION"
