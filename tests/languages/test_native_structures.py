"""`type_get` in programs of machine code: what gdb and lldb print of a type, as members."""

from tests.languages.conftest import SOURCES, at
from tests.real.conftest import Connect
from tests.real.test_tools import failure


async def test_the_fields_of_a_structure_with_offsets_where_the_debugger_prints_them(
    debugging: Connect, native_adapter: str, native_program: str
) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=native_program, adapter=native_adapter, breakpoints=[at("loop")])
        offsets = native_adapter == "gdb"
        for expression in ("Order", "order"):
            found = await client.call("type_get", expression=expression)
            assert (found["type"], found["size"]) == ("Order", 96)
            assert [*found["fields"]] == ["number", "items", "first", "next"]
            assert found["fields"]["number"] == ("int, offset 0, 4 bytes" if offsets else "int")
            assert found["fields"]["first"] == ("Item, offset 32, 56 bytes" if offsets else "Item")
            assert found["fields"]["next"].startswith("Order *")
        found = await client.call("type_get", expression="Item", filter="w", kind="fields")
        assert found["fields"] == {"weights": "double[2], offset 40, 16 bytes" if offsets else "double[2]"}
        assert (await client.call("type_get", expression="OutOfStock"))["bases"] == ["std::runtime_error"]
        found = await client.call("type_get", expression="Order", count=1, start=1)
        assert ([*found["fields"]], found["total"]) == (["items"], 4)
        assert (await failure(client, "type_get", expression="Nope"))[0] == "EVAL_FAILED"
        for expression in ("Order; shell true", "Order`x`", "Order\nquit"):
            assert (await failure(client, "type_get", expression=expression))[0] == "SAFE_EVAL_REJECTED"
        assert (await failure(client, "symbols_search", pattern="Order"))[0] == "NOT_SUPPORTED"
        assert SOURCES.is_dir()
