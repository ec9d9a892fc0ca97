"""`memory_read`, `memory_write` and `disassemble` through an adapter: what they show, refuse and verify."""

from typing import Any

import pytest
from trio.testing import MockClock

from tests.server.scene import failure, paused
from trio_debugmcp.testing import FakeAdapter, open_server
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES, Refusal
from trio_debugmcp.testing.fake_native import NATIVE_CAPABILITIES


def native(*without: str) -> FakeAdapter:
    """An adapter of native programs, without some of what these can do."""
    able = {name: name not in without for name in NATIVE_CAPABILITIES}
    adapter = FakeAdapter({**ALL_CAPABILITIES, **able})
    adapter.values = {"total": "3", "&(total)": "(int *) 0x1008 <total>", "name": '"ben"', "last": "9"}
    adapter.references = {"name": "0x1020"}
    return adapter


# --- memory_read ------------------------------------------------------------------------------------------------------


async def test_bytes_are_read_at_an_address_and_at_a_variable(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        expected = {"address": "0x1008", "bytes": "08090a0b 0c0d"}
        assert await client.call("memory_read", address="0x1008", count=6) == expected
        assert await client.call("memory_read", address="4104", count=6) == expected
        assert await client.call("memory_read", address="0x1000", offset=8, count=6) == expected
        assert await client.call("memory_read", expression="total", count=6) == expected
        assert adapter.sent("readMemory")[-1] == {"memoryReference": "0x1008", "offset": 0, "count": 6}


async def test_a_pointer_leads_to_what_it_points_to(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        adapter.memory[0x20:0x28] = b"ben&eva\0"
        found = await client.call("memory_read", expression="name", count=8)
        assert found == {"address": "0x1020", "bytes": "62656e26 65766100", "ascii": "ben&eva."}
        found = await client.call("memory_read", expression="name", count=8, format="text")
        assert found == {"address": "0x1020", "text": "ben&eva"}


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("u8", [255, 255, 255, 255, 255, 255, 255, 127]),
        ("i8", [-1, -1, -1, -1, -1, -1, -1, 127]),
        ("u16", [65535, 65535, 65535, 32767]),
        ("i16", [-1, -1, -1, 32767]),
        ("u32", [4294967295, 2147483647]),
        ("i32", [-1, 2147483647]),
        ("u64", [9223372036854775807]),
        ("i64", [9223372036854775807]),
        ("f32", ["nan", "nan"]),
        ("f64", ["nan"]),
    ],
)
async def test_numbers_have_the_size_that_is_asked_for(
    form: str, values: list[object], autojump_clock: MockClock
) -> None:
    adapter = native()
    adapter.memory[:8] = b"\xff" * 7 + b"\x7f"
    async with paused("legacy", adapter) as (client, _):
        assert (await client.call("memory_read", address="0x1000", count=8, format=form))["values"] == values


async def test_what_cannot_be_read_is_counted(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, _):
        found = await client.call("memory_read", address="0x103e")
        assert found == {"address": "0x103e", "bytes": "3e3f", "unreadable": 254}
        found = await client.call("memory_read", address="0x103e", count=8, format="u16")
        assert (found["values"], found["unreadable"]) == ([0x3F3E], 6)


async def test_of_an_adapter_that_reads_all_or_nothing_the_rest_of_the_page_is_read(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):

        async def all_or_nothing(arguments: dict[str, Any]) -> object:
            address = int(arguments["memoryReference"], 0) + arguments["offset"]
            if address + arguments["count"] > 0x2000:
                raise Refusal("Cannot access memory at address 0x2000")
            return {"address": hex(address), "data": "AAECAw=="}

        adapter.answer("readMemory", all_or_nothing)
        found = await client.call("memory_read", address="0x1ff0", offset=12, count=16)
        assert found == {"address": "0x1ffc", "bytes": "00010203", "unreadable": 12}
        assert [each["count"] for each in adapter.sent("readMemory")] == [16, 4]
        failed = await failure(client, "memory_read", address="0x2000", count=16)
        assert (failed.code, len(adapter.sent("readMemory"))) == ("INVALID_PARAMETER", 3)


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        ({}, "INVALID_PARAMETER", "either `address` or `expression`"),
        ({"address": "0x1000", "expression": "total"}, "INVALID_PARAMETER", "either"),
        ({"address": "total"}, "INVALID_PARAMETER", "`total` is not an address. Pass a number"),
        ({"address": "-1"}, "INVALID_PARAMETER", "is not an address"),
        ({"address": "0x1ffffffffffffffff"}, "INVALID_PARAMETER", "is not an address"),
        ({"address": "0x10"}, "INVALID_PARAMETER", "No memory can be read at 0x10: cannot access"),
        ({"address": "0x10", "offset": 4}, "INVALID_PARAMETER", "at 0x10+4:"),
        ({"expression": "nothing"}, "EVAL_FAILED", "NameError"),
        ({"expression": "last"}, "EVAL_FAILED", "`last` is in no memory"),
        ({"address": "0x1000", "count": 0}, "INVALID_PARAMETER", "count"),
        ({"address": "0x1000", "count": 4097}, "INVALID_PARAMETER", "count"),
        ({"address": "0x1000", "count": 6, "format": "u32"}, "INVALID_PARAMETER", "has 4 bytes: pass a multiple"),
        ({"address": "0x1000", "format": "u128"}, "INVALID_PARAMETER", '"u64"'),
        ({"expression": "total", "frame_index": 5}, "INVALID_FRAME", "frames go from 0 to 0"),
    ],
)
async def test_what_cannot_be_read_at_all_says_what_to_pass(
    arguments: dict[str, Any], code: str, why: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy", native()) as (client, _):
        failed = await failure(client, "memory_read", **arguments)
        assert (failed.code, why in failed.message) == (code, True), failed.message


async def test_an_answer_without_bytes_or_that_is_not_base64_is_a_failure(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        for body in ({"address": "0x1000"}, {"address": "0x1000", "data": "ab"}):

            async def odd(arguments: object, body: dict[str, str] = body) -> object:
                return body

            adapter.answer("readMemory", odd)
            assert (await failure(client, "memory_read", address="0x1000")).code == "INVALID_PARAMETER"


async def test_the_largest_answer_stays_below_the_limit(autojump_clock: MockClock) -> None:
    adapter = native()
    adapter.memory[:] = b'"' * 5000
    async with paused("legacy", adapter) as (client, _):
        found = await client.call("memory_read", address="0x1000", count=4096)
        assert len(found["ascii"]) == 4096
        assert len(str(found)) < 32768


# --- memory_write -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "form", "written"),
    [
        ("2a 00", "hex", b"\x2a\x00"),
        ("0x2a00, ff", "hex", b"\x2a\x00\xff"),
        ("ben", "text", b"ben"),
        ("1 -2", "i16", b"\x01\x00\xfe\xff"),
        ("0x10", "u8", b"\x10"),
        ("2.5", "f64", b"\0\0\0\0\0\0\x04\x40"),
    ],
)
async def test_bytes_are_written_and_read_back(data: str, form: str, written: bytes, autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        before = bytes(adapter.memory[8 : 8 + len(written)])
        found = await client.call("memory_write", expression="total", data=data, format=form)
        assert bytes(adapter.memory[8 : 8 + len(written)]) == written
        assert bytes.fromhex(found["bytes"]) == written
        assert bytes.fromhex(found["before"]) == before
        assert found["address"] == "0x1008"


async def test_what_the_adapter_claims_to_have_written_is_not_believed(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):

        async def claim(arguments: object) -> object:
            return {"bytesWritten": 2}

        adapter.answer("writeMemory", claim)
        failed = await failure(client, "memory_write", address="0x1008", data="ffff")
        assert failed.code == "EVAL_FAILED"
        assert "it holds 08 09 now" in failed.message


async def test_without_reading_the_adapters_word_is_what_there_is(autojump_clock: MockClock) -> None:
    async with paused("legacy", native("supportsReadMemoryRequest")) as (client, adapter):
        found = await client.call("memory_write", address="0x1008", data="ff")
        assert found["bytes"] == "ff"
        assert found["notes"] == ["not read back: fake cannot read memory (supportsReadMemoryRequest)"]

        async def less(arguments: object) -> object:
            return {"bytesWritten": 1}

        adapter.answer("writeMemory", less)
        failed = await failure(client, "memory_write", address="0x1008", data="ffff")
        assert (failed.code, "only 1 bytes of 2" in failed.message) == ("EVAL_FAILED", True)


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        ({"address": "0x1000", "data": "2g"}, "INVALID_PARAMETER", "`2g` is not hex"),
        ({"address": "0x1000", "data": "300", "format": "u8"}, "INVALID_PARAMETER", "is not u8"),
        ({"address": "0x1000", "data": "x", "format": "f32"}, "INVALID_PARAMETER", "is not f32"),
        ({"address": "0x1000", "data": " "}, "INVALID_PARAMETER", "Pass 1 to 1024 bytes; these are 0"),
        ({"address": "0x1000", "data": "00" * 1025}, "INVALID_PARAMETER", "these are 1025"),
        ({"address": "0x103f", "data": "0000"}, "INVALID_PARAMETER", "Only 1 bytes from 0x103f on can be read"),
        ({"address": "0x10", "data": "00"}, "INVALID_PARAMETER", "No memory can be read at 0x10"),
        ({"data": "00"}, "INVALID_PARAMETER", "either `address` or `expression`"),
    ],
)
async def test_what_cannot_be_written_changes_nothing(
    arguments: dict[str, Any], code: str, why: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy", native()) as (client, adapter):
        failed = await failure(client, "memory_write", **arguments)
        assert (failed.code, why in failed.message) == (code, True), failed.message
        assert adapter.sent("writeMemory") == []
        assert adapter.memory == bytearray(range(64))


async def test_a_refused_write_says_where_to_look(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):

        async def refuse(arguments: object) -> object:
            raise Refusal("read-only segment.")

        adapter.answer("writeMemory", refuse)
        failed = await failure(client, "memory_write", address="0x1008", offset=1, data="00")
        assert failed.code == "EVAL_FAILED"
        assert failed.message.startswith("The bytes were not written at 0x1008+1: read-only segment. See with memory_")


# --- disassemble ------------------------------------------------------------------------------------------------------


async def test_instructions_are_shown_from_where_the_frame_is(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, _):
        found = await client.call("disassemble", count=2)
        assert found == {"instructions": ["> 0x1004 mov rbp, rsp", "0x1008 mov eax, 0x2a"]}
        found = await client.call("disassemble", address="0x1000", count=9)
        assert found["instructions"][:2] == ["0x1000 push rbp", "> 0x1004 mov rbp, rsp"]
        assert found["notes"] == ["the 5 behind them cannot be disassembled"]


async def test_a_place_is_named_where_it_is_another_one(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        place = {"location": {"name": "shop.c", "path": "/src/shop.c"}, "line": 7}

        async def placed(arguments: object) -> object:
            found: list[dict[str, Any]] = [
                {"address": "0x1004", "instruction": "  mov   eax, 1", **place, "symbol": "add"},
                {"address": "0x1008", "instruction": "inc eax"},
                {"address": "0x100C", "instruction": "inc ebx", **place},
                {"address": "0x1010", "instruction": "ret", "line": 8},
                {"address": "0x1011", "instruction": "??", "presentationHint": "invalid"},
            ]
            return {"instructions": found}

        adapter.answer("disassemble", placed)
        lines = (await client.call("disassemble"))["instructions"]
        assert lines == [
            "> 0x1004 mov eax, 1  /src/shop.c:7 in add",
            "0x1008 inc eax",
            "0x100c inc ebx",
            "0x1010 ret  /src/shop.c:8",
        ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"address": "main"}, "`main` is not an address"),
        ({"address": "0x10"}, "Nothing can be disassembled at 0x10: cannot access memory there"),
        ({"count": 0}, "count"),
        ({"count": 201}, "count"),
    ],
)
async def test_what_cannot_be_disassembled_says_why(
    arguments: dict[str, Any], why: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy", native()) as (client, _):
        failed = await failure(client, "disassemble", **arguments)
        assert (failed.code, why in failed.message) == ("INVALID_PARAMETER", True), failed.message


async def test_a_frame_without_an_instruction_needs_an_address(autojump_clock: MockClock) -> None:
    adapter = native()
    adapter.instruction_pointer = None
    async with paused("legacy", adapter) as (client, _):
        failed = await failure(client, "disassemble")
        assert (failed.code, failed.details["adapter"]) == ("NOT_SUPPORTED", "fake")
        assert (await client.call("disassemble", address="0x1000", count=1))["instructions"] == ["0x1000 push rbp"]


# --- All three --------------------------------------------------------------------------------------------------------

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("memory_read", {"expression": "total"}, "supportsReadMemoryRequest"),
    ("memory_write", {"expression": "total", "data": "00"}, "supportsWriteMemoryRequest"),
    ("disassemble", {}, "supportsDisassembleRequest"),
]
each_of_them = pytest.mark.parametrize(("tool", "arguments", "capability"), CALLS)


@each_of_them
async def test_an_adapter_that_cannot_is_named_and_not_asked(
    tool: str, arguments: dict[str, Any], capability: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy", native(capability)) as (client, adapter):
        adapter.requests.clear()
        failed = await failure(client, tool, **arguments)
        assert (failed.code, failed.details) == ("NOT_SUPPORTED", {"adapter": "fake", "capability": capability})
        assert capability in failed.message
        assert "evaluate" not in adapter.commands()
        assert not {"readMemory", "writeMemory", "disassemble"} & {*adapter.commands()}


@each_of_them
async def test_they_need_a_paused_program(
    tool: str, arguments: dict[str, Any], capability: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy", native()) as (client, adapter):
        await client.call("debug_continue", wait=False)
        assert (await failure(client, tool, **arguments)).code == "NOT_PAUSED"
        await adapter.exit()
        await client.call("debug_wait")
        assert (await failure(client, tool, **arguments)).code == "NO_SESSION"


async def test_an_observer_sees_instructions_but_evaluates_and_writes_nothing(autojump_clock: MockClock) -> None:
    async with open_server(native().options()) as server, server.connect() as client:
        await client.call("debug_launch", program=FakeAdapter.program, stop_at_entry=True)
        async with server.connect(role="observe") as observer:
            assert "> 0x1004 mov rbp, rsp" in (await observer.call("disassemble"))["instructions"]
            refused = await failure(observer, "disassemble", address="0x1000")  # decoded data tells its bytes
            assert (refused.code, "disassemble with `address`" in refused.message) == ("READ_ONLY", True)
            for tool, arguments, _ in CALLS[:2]:
                assert (await failure(observer, tool, **arguments)).code == "READ_ONLY"
