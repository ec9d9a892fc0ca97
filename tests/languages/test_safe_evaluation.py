"""evaluate_safe in programs of machine code: the debugger calls nothing of the program."""

import shutil
import subprocess

import pytest

from tests.languages.conftest import SOURCES, TEST_SECONDS, need
from tests.real.conftest import Connect
from trio_debugmcp.testing import ToolFailed

SOURCE = str(SOURCES / "prices.cpp")


@pytest.fixture(scope="module")
def prices(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the program of prices.cpp, built with debug information."""
    compiler = need("g++", shutil.which("g++"), "apt-get install g++")
    program = str(tmp_path_factory.mktemp("native") / "prices")
    subprocess.run([compiler, "-g", "-O0", "-o", program, SOURCE], check=True, timeout=TEST_SECONDS)
    return program


async def test_what_would_call_the_program_is_refused_and_all_else_is_evaluated(
    debugging: Connect, native_adapter: str, prices: str
) -> None:
    async with debugging() as client:
        place = {"file": SOURCE, "statement": "return used == calls;  // used"}
        await client.call("debug_launch", program=prices, adapter=native_adapter, breakpoints=[place])
        for expression, value in {
            "basket.counts[1]": "8",
            "basket.next->price.cents": "5",
            "basket.counts[2] == 9": "true",
            "other.cents < 5": "false",
            "calls": "2",
        }.items():
            assert (await client.call("evaluate_safe", expression=expression))["value"] == value
        for expression in ("basket.price == other", "basket[1]"):
            with pytest.raises(ToolFailed, match="would call a function of the program") as failed:
                await client.call("evaluate_safe", expression=expression)
            assert failed.value.code == "SAFE_EVAL_REJECTED"
        with pytest.raises(ToolFailed, match=r"`nosuch` failed: .*nosuch"):
            await client.call("evaluate_safe", expression="nosuch")
        assert (await client.call("evaluate", expression="calls"))["value"] == "2"
        # evaluate does call it, and the stop is the same afterwards.
        assert (await client.call("evaluate", expression="basket.price == other"))["value"] == "true"
        assert (await client.call("evaluate", expression="calls"))["value"] == "3"
        assert (await client.call("debug_state"))["reason"] == "Breakpoint"
