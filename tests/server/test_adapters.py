"""Which adapter is chosen, and the error for one that is not installed."""

import pytest
from trio.testing import MockClock

from trio_debugmcp.app import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, FakeProfile, ToolFailed, connect


class Missing(FakeProfile):
    name: str = "missing"
    language: str = "Klingon"
    install_hint: str = "pip install klingon-debugger"

    def locate(self) -> str | None:
        return None


async def test_an_adapter_that_is_not_installed_says_how_to_install_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    settings = Settings(directory="/", profiles=(FakeProfile(adapter), Missing(adapter)))
    async with connect(options=Options(settings=settings)) as client:
        for name in ("missing", "Klingon"):
            with pytest.raises(ToolFailed, match="pip install klingon-debugger") as failed:
                await client.call("debug_launch", program=adapter.program, adapter=name)
            assert failed.value.code == "ADAPTER_NOT_FOUND"
        await client.call("debug_launch", program=adapter.program)
        assert (await client.read("debugger://session"))["adapter"] == "fake"
