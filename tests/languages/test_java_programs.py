"""Java from its source: built by javac for the session, built again at a restart, and what is wrong in it."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.languages.conftest import need
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import ToolFailed

PROGRAM = Path(__file__).parent.parent / "programs" / "java" / "shop"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A directory with the sources of a package, of which nothing is built."""
    profile = profile_named("java")
    assert profile is not None
    need("java", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    need("javac", shutil.which("javac"), "apt-get install openjdk-17-jdk-headless")
    return Path(shutil.copytree(PROGRAM, tmp_path / "shop"))


def at(file: Path, mark: str) -> dict[str, Any]:
    lines = file.read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return {"file": str(file), "line": number}


async def test_a_class_of_a_package_is_built_with_what_it_uses_and_again_at_a_restart(
    debugging: Connect, package: Path
) -> None:
    program, item = package / "Shop.java", package / "Item.java"
    async with debugging() as client:
        entry = await client.call("debug_launch", program=str(program))
        place = f"{program}:{at(program, 'first')['line']} in shop.Shop.main"
        assert (entry["reason"], entry["at"], "stdout" in entry) == ("Entry", place, False)
        await client.call("breakpoint_set", **at(item, "price"))
        stop = await client.call("debug_continue")
        assert (stop["breakpoints"], stop["locals"]["price"]) == (["bp-1"], "0")
        assert stop["stack"] == [f"shop.Shop.main {program}:10"]  # the user's code, although it was built elsewhere
        await client.call("breakpoint_remove", id="*")
        item.write_text(item.read_text().replace("price * 2", "price * 20"))
        await client.call("debug_restart")
        over = await client.call("debug_continue")
        assert (over["stdout"], over["exitCode"]) == ("total 60\n", 0)
        assert {each.name for each in package.iterdir()} == {"Shop.java", "Item.java"}
        item.write_text("package shop;\nclass Item { int price = ; }\n")
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_launch", program=str(program))
        assert failed.value.code == "LAUNCH_FAILED"
        assert "Item.java:2: illegal start of expression" in failed.value.message
        with pytest.raises(ToolFailed, match=r"it has no method `public static void main"):
            await client.call("debug_launch", program=str(item))
