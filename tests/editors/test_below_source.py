"""Memory and instructions for editors: as the adapter has them, cut to what it can and to the role."""

from base64 import b64decode
from typing import Any

import pytest
from trio.testing import MockClock

from tests.editors.bench import OBSERVE, paused
from trio_debugmcp.testing import FakeAdapter, ToolFailed
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES, Refusal
from trio_debugmcp.testing.fake_native import NATIVE_CAPABILITIES

OF_MACHINE_CODE = ("supportsReadMemoryRequest", "supportsDisassembleRequest", "supportsInstructionBreakpoints")


def native() -> FakeAdapter:
    return FakeAdapter({**ALL_CAPABILITIES, **NATIVE_CAPABILITIES})


async def test_what_an_adapter_cannot_do_with_memory_is_not_offered_and_refused(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        [event] = editor.bodies("capabilities")
        assert [event["capabilities"][each] for each in OF_MACHINE_CODE] == [False] * 3
        before = len(adapter.requests)
        assert "cannot read memory" in str(await editor.refused("readMemory", memoryReference="0x1000", count=4))
        refused = await editor.refused("disassemble", memoryReference="0x1000", instructionCount=4)
        assert "cannot disassemble" in str(refused)
        [answer] = (await editor.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": "0x1004"}]))[
            "breakpoints"
        ]
        assert (answer["verified"], "cannot stop at an instruction" in answer["message"]) == (False, True)
        assert len(adapter.requests) == before


async def test_an_observer_reads_no_memory_not_as_instructions_either(autojump_clock: MockClock) -> None:
    async with paused(native()) as (bench, _), bench.editor() as editor, bench.editor() as observer:
        await editor.join()
        await observer.join(OBSERVE)
        found = [
            [each.bodies("capabilities")[0]["capabilities"][name] for name in OF_MACHINE_CODE]
            for each in (editor, observer)
        ]
        assert found == [[True, True, True], [False, False, False]]
        assert "may only observe" in str(await observer.refused("readMemory", memoryReference="0x1000", count=4))
        wanted_code = {"memoryReference": "0x1000", "instructionCount": 1}
        assert "may only observe" in str(await observer.refused("disassemble", **wanted_code))
        assert (await editor.ask("disassemble", **wanted_code))["instructions"]
        wanted = [{"instructionReference": "0x1004"}]
        assert "may only observe" in str(await observer.refused("setInstructionBreakpoints", breakpoints=wanted))
        assert await observer.ask("setInstructionBreakpoints", breakpoints=[]) == {"breakpoints": []}


# --- Memory -----------------------------------------------------------------------------------------------------------


async def read(editor: Any, reference: str, count: int, **more: Any) -> tuple[str, bytes, int]:
    body = await editor.ask("readMemory", memoryReference=reference, count=count, **more)
    return body["address"], b64decode(body.get("data", "")), body["unreadableBytes"]


async def test_memory_is_read_from_an_offset_and_what_cannot_be_read_is_counted(autojump_clock: MockClock) -> None:
    async with paused(native()) as (bench, adapter), bench.editor() as editor:
        await editor.join()
        assert await read(editor, "0x1000", 4, offset=2) == ("0x1002", bytes([2, 3, 4, 5]), 0)
        assert await read(editor, "0x1030", 32) == ("0x1030", bytes(range(48, 64)), 16)
        assert await read(editor, "0x9000", 8) == ("0x9000", b"", 8)
        before = len(adapter.requests)
        assert await read(editor, "0x1000", 0) == ("0x1000", b"", 0)
        assert await read(editor, "0x10", 8, offset=-17) == ("0x0", b"", 8)
        assert "262144" in str(await editor.refused("readMemory", memoryReference="0x1000", count=256 * 1024 + 1))
        assert "do not fit" in str(await editor.refused("readMemory", memoryReference="0x1000", count=-1))
        assert len(adapter.requests) == before
        assert await read(editor, "0x1000", 256 * 1024) == ("0x1000", bytes(range(64)), 256 * 1024 - 64)


async def test_a_reference_that_is_not_an_address_is_the_adapters_to_understand(autojump_clock: MockClock) -> None:
    async with paused(native()) as (bench, adapter), bench.editor() as editor:

        async def answer(arguments: dict[str, Any]) -> Any:
            if arguments["memoryReference"] != "buffer-7":
                raise Refusal("no such buffer")
            return {"address": "0", "data": "AAEC"}

        adapter.answer("readMemory", answer)
        await editor.join()
        assert await read(editor, "buffer-7", 3) == ("0x0", b"\0\1\2", 0)
        refused = await editor.refused("readMemory", memoryReference="buffer-8", count=3)
        assert "no such buffer" in str(refused)


async def test_places_in_memory_pass_through_to_editors_that_know_them(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, **NATIVE_CAPABILITIES, "supportsSetVariable": True})
    adapter.values, adapter.references = {"cart": "0x1010"}, {"cart": "0x1010"}

    async def variables(arguments: dict[str, Any]) -> Any:
        return {
            "variables": [{"name": "cart", "value": "0x1010", "variablesReference": 0, "memoryReference": "0x1010"}]
        }

    async def set_it(arguments: dict[str, Any]) -> Any:
        return {"value": "0x1020", "memoryReference": "0x1020"}

    adapter.answer("variables", variables)
    adapter.answer("setVariable", set_it)
    async with paused(adapter) as (bench, _), bench.editor() as one, bench.editor() as other:
        await one.join(hello={"supportsMemoryReferences": True})
        await other.join()
        for editor, known in ((one, "0x1010"), (other, None)):
            frame = await editor.top_frame()
            assert frame["instructionPointerReference"] == "0x1004"
            [cart] = await editor.locals()
            assert cart.get("memoryReference") == known
            found = await editor.ask("evaluate", expression="cart", frameId=frame["id"], context="watch")
            assert found.get("memoryReference") == known
        [scope] = (await one.ask("scopes", frameId=(await one.top_frame())["id"]))["scopes"]
        reference = scope["variablesReference"]
        answer = await one.ask("setVariable", variablesReference=reference, name="cart", value="0x1020")
        assert answer["memoryReference"] == "0x1020"


# --- Instructions -----------------------------------------------------------------------------------------------------


async def listed(editor: Any, count: int, **more: Any) -> list[str]:
    body = await editor.ask("disassemble", **{"memoryReference": "0x1000", "instructionCount": count, **more})
    return [
        f"{each['address']} {each['instruction']}{' !' if each.get('presentationHint') == 'invalid' else ''}"
        for each in body["instructions"]
    ]


CODE = ["0x1000 push rbp", "0x1004 mov rbp, rsp", "0x1008 mov eax, 0x2a", "0x100c ret"]


async def skipping(arguments: dict[str, Any]) -> Any:
    """Disassemble as adapters do that know `instructionOffset`."""
    assert arguments["memoryReference"] == "0x1000"
    first = arguments.get("offset", 0) // 4 + arguments.get("instructionOffset", 0)
    found = [
        {"address": hex(0x1000 + 4 * index), "instruction": CODE[index][7:] if 0 <= index < 4 else "nop"}
        for index in range(first, first + arguments["instructionCount"])
    ]
    return {"instructions": found}


@pytest.mark.parametrize("knows_offsets", [True, False])
async def test_exactly_as_many_instructions_are_answered_as_are_asked_for_from_where_they_are(
    knows_offsets: bool, autojump_clock: MockClock
) -> None:
    async with paused(native()) as (bench, adapter), bench.editor() as editor:
        if knows_offsets:
            adapter.answer("disassemble", skipping)
        await editor.join()
        assert await listed(editor, 2) == CODE[:2]
        assert await listed(editor, 2, offset=8) == CODE[2:]
        assert await listed(editor, 2, instructionOffset=1) == CODE[1:3]
        before = await listed(editor, 3, instructionOffset=-2)
        assert (len(before), before[2]) == (3, CODE[0])
        assert before[:2] == (["0xff8 nop", "0xffc nop"] if knows_offsets else ["0xffe ?? !", "0xfff ?? !"])
        behind = await listed(editor, 6)
        assert (behind[:4], len(behind)) == (CODE, 6)
        assert behind[4:] == (["0x1010 nop", "0x1014 nop"] if knows_offsets else ["0x100d ?? !", "0x100e ?? !"])
        assert await listed(editor, 0) == []


async def test_an_instruction_has_its_bytes_its_place_and_no_secret(autojump_clock: MockClock) -> None:
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"

    async def answer(arguments: dict[str, Any]) -> Any:
        assert arguments["resolveSymbols"] is True
        location = {"name": "app.py", "path": FakeAdapter.program}
        first = {"address": "0x1000", "instructionBytes": "55", "instruction": "push rbp", "symbol": "main"}
        second = {"address": "0x1001", "instruction": f"lea rdi, {token}", "presentationHint": "strange"}
        return {"instructions": [{**first, "location": location, "line": 3, "column": 5, "endLine": 4}, second]}

    async with paused(native()) as (bench, adapter), bench.editor() as editor:
        adapter.answer("disassemble", answer)
        await editor.join(hello={"linesStartAt1": False, "columnsStartAt1": False})
        asked = {"memoryReference": "0x1000", "instructionCount": 2, "resolveSymbols": True}
        first, second = (await editor.ask("disassemble", **asked))["instructions"]
        assert (first["instructionBytes"], first["symbol"], first["location"]["path"]) == (
            "55",
            "main",
            adapter.program,
        )
        assert (first["line"], first["column"], first["endLine"]) == (2, 4, 3)
        assert second == {"address": "0x1001", "instruction": "lea rdi, <GitHub token, 40 characters>"}


async def counting_from_the_end(arguments: dict[str, Any]) -> Any:
    """Disassemble as gdb does: `instructionOffset` is an index into as many instructions as it and the count are."""
    skip = arguments.get("instructionOffset", 0)
    total = skip + arguments["instructionCount"]
    found = [{"address": each[:6], "instruction": each[7:]} for each in CODE[: max(total, 0)]]
    return {"instructions": found[skip:]}


async def test_what_is_at_the_pointer_is_not_left_out_where_an_adapter_counts_from_the_end(
    autojump_clock: MockClock,
) -> None:
    async with paused(native()) as (bench, adapter), bench.editor() as editor:
        adapter.answer("disassemble", counting_from_the_end)
        await editor.join()
        assert await listed(editor, 4, instructionOffset=-1) == ["0xfff ?? !", *CODE[:3]]
        assert await listed(editor, 5, instructionOffset=-1) == ["0xfff ?? !", *CODE]
        assert await listed(editor, 4, instructionOffset=-2) == ["0xffe ?? !", "0xfff ?? !", *CODE[:2]]
        assert await listed(editor, 2, instructionOffset=-3) == ["0xffd ?? !", "0xffe ?? !"]  # all before it
        assert await listed(editor, 2, instructionOffset=1) == CODE[1:3]


async def test_more_instructions_than_an_editor_shows_are_refused(autojump_clock: MockClock) -> None:
    async with paused(native()) as (bench, adapter), bench.editor() as editor:
        await editor.join()
        before = len(adapter.requests)
        for more in ({"instructionCount": 2001}, {"instructionCount": 1, "instructionOffset": -2001}):
            assert "2000" in str(await editor.refused("disassemble", memoryReference="0x1000", **more))
        assert len(adapter.requests) == before
        assert len(await listed(editor, 2000, instructionOffset=-2000)) == 2000
        assert "cannot access memory" in str(
            await editor.refused("disassemble", memoryReference="0x9000", instructionCount=1)
        )


# --- Breakpoints on instructions --------------------------------------------------------------------------------------


async def test_breakpoints_on_instructions_are_among_all_and_an_editor_replaces_its_own(
    autojump_clock: MockClock,
) -> None:
    async with paused(native()) as (bench, adapter), bench.editor() as editor:
        await bench.agent.call("breakpoint_set", address="0x100c")
        await editor.join()

        async def put(*wanted: dict[str, Any]) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = (await editor.ask("setInstructionBreakpoints", breakpoints=list(wanted)))[
                "breakpoints"
            ]
            return found

        async def known() -> list[tuple[str, str | None, list[str]]]:
            found = (await bench.agent.read("debugger://breakpoints"))["breakpoints"]
            return [(each["address"], each["condition"], each["setBy"]) for each in found]

        first, second = await put(
            {"instructionReference": "0x1000", "offset": 4}, {"instructionReference": "0x1008", "condition": "eax"}
        )
        assert (first["verified"], first["instructionReference"], second["verified"]) == (True, "0x1004", True)
        sent = adapter.sent("setInstructionBreakpoints")[-1]["breakpoints"]
        assert [each["instructionReference"] for each in sent] == ["0x100c", "0x1004", "0x1008"]
        assert await known() == [
            ("0x100c", None, ["mcp"]),
            ("0x1004", None, ["Test Editor"]),
            ("0x1008", "eax", ["Test Editor"]),
        ]
        before = len(adapter.requests)
        [again] = await put({"instructionReference": "0x1004"})
        assert again["id"] == first["id"]
        assert [command for command, _ in adapter.requests[before:]].count("setInstructionBreakpoints") == 1
        assert [each for each, _, _ in await known()] == ["0x100c", "0x1004"]
        [changed] = await put({"instructionReference": "0x1004", "condition": "ebx"})
        assert (changed["id"], (await known())[1][1]) == (first["id"], "ebx")
        assert await put() == []
        assert [each for each, _, _ in await known()] == ["0x100c"]


async def test_a_breakpoint_on_no_instruction_is_refused_in_its_answer(autojump_clock: MockClock) -> None:
    async with paused(native()) as (bench, _), bench.editor() as editor:
        await editor.join()
        wanted = [{"instructionReference": each} for each in ("buffer-7", "0x9000", "0x1008")]
        answers = (await editor.ask("setInstructionBreakpoints", breakpoints=wanted))["breakpoints"]
        assert [each["verified"] for each in answers] == [False, False, True]
        assert "not an address" in answers[0]["message"]
        assert "0x9000" in answers[1]["message"]


async def test_a_breakpoint_on_an_instruction_may_name_its_session_and_no_other_may(autojump_clock: MockClock) -> None:
    async with paused(native()) as (bench, adapter):
        assert (await bench.agent.call("breakpoint_set", address="0x1004", session_id="s-1"))["id"]
        with pytest.raises(ToolFailed) as failed:
            await bench.agent.call("breakpoint_set", file=adapter.program, line=3, session_id="s-1")
        assert (failed.value.code, "`address`" in str(failed.value)) == ("INVALID_PARAMETER", True)
