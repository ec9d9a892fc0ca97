"""`FakeNative`: what a fake adapter answers about memory, instructions and places to go to, as native debuggers do."""

from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from itertools import count
from typing import Any

NATIVE_CAPABILITIES: dict[str, Any] = dict.fromkeys(
    (
        *("supportsReadMemoryRequest", "supportsWriteMemoryRequest", "supportsDisassembleRequest"),
        *("supportsDataBreakpoints", "supportsInstructionBreakpoints"),
        *("supportsGotoTargetsRequest", "supportsStepInTargetsRequest", "supportsRestartFrame"),
        *("supportsStepBack", "supportsSteppingGranularity"),
    ),
    True,
)
"""To be added to what an adapter declares."""


class Refusal(Exception):
    """Raised by an answer: the request fails with this text."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)


class FakeNative(ABC):
    """Memory from `memory_address` on, instructions of four bytes each, and targets of a goto or a step in.

    `references` are the memory references of expressions, which `evaluate` answers with their values.
    """

    memory_address = 0x1000

    def __init__(self) -> None:
        self.memory = bytearray(range(64))
        self.instructions = ["push rbp", "mov rbp, rsp", "mov eax, 0x2a", "ret"]
        self.instruction_pointer: str | None = "0x1004"
        self.references: dict[str, str] = {}
        self.goto_targets: list[dict[str, Any]] = [{"id": 7, "label": "app.py:9", "line": 9}]
        self.step_in_targets: list[dict[str, Any]] = [{"id": 1, "label": "scale(n)"}, {"id": 2, "label": "shop.add(n)"}]
        self.data: dict[str, dict[str, Any]] = {}
        self._native_ids = count(1)

    @abstractmethod
    async def event(self, name: str, body: Any = None) -> None:
        """Send an event, by default with an empty body."""

    def _at(self, arguments: dict[str, Any]) -> int:
        offset: int = arguments.get("offset", 0)
        return int(arguments["memoryReference"], 0) + offset - self.memory_address

    async def _on_readMemory(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        start = self._at(arguments)
        if not 0 <= start < len(self.memory):
            raise Refusal(f"cannot access memory at address {hex(start + self.memory_address)}")
        data = bytes(self.memory[start : start + arguments["count"]])
        body = {"address": hex(start + self.memory_address), "data": b64encode(data).decode()}
        return {**body, "unreadableBytes": arguments["count"] - len(data)}

    async def _on_writeMemory(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        start, data = self._at(arguments), b64decode(arguments["data"])
        if not 0 <= start <= len(self.memory) - len(data):
            raise Refusal(f"cannot access memory at address {hex(start + self.memory_address)}")
        self.memory[start : start + len(data)] = data
        return {"bytesWritten": len(data)}

    async def _on_disassemble(self, arguments: dict[str, Any]) -> Any:
        first = self._at(arguments) // 4
        if not 0 <= first < len(self.instructions):
            raise Refusal("cannot access memory there")
        instructions = [
            {"address": hex(self.memory_address + number * 4), "instruction": text}
            for number, text in enumerate(self.instructions)
        ]
        return {"instructions": instructions[first : first + arguments["instructionCount"]]}

    async def _on_gotoTargets(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        return {"targets": self.goto_targets}

    async def _on_stepInTargets(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        return {"targets": self.step_in_targets}

    async def _on_dataBreakpointInfo(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        unknown = {"dataId": None, "description": f"no variable {arguments['name']}"}
        return self.data.get(arguments["name"], unknown)

    async def _on_setDataBreakpoints(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        return {"breakpoints": [{"id": next(self._native_ids), "verified": True} for _ in arguments["breakpoints"]]}

    async def _on_setInstructionBreakpoints(self, arguments: dict[str, Any]) -> Any:  # noqa: N802
        return {"breakpoints": [{"id": next(self._native_ids), "verified": True} for _ in arguments["breakpoints"]]}
