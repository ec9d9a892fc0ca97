"""Source files by URI, and the program's standard input and output. Against real debugpy."""

from pathlib import Path
from urllib.parse import quote

from tests.real.conftest import Connect, where


async def test_source_that_only_the_adapter_has_is_served_too(debugging: Connect, tmp_path: Path) -> None:
    maker = tmp_path / "maker.py"
    maker.write_text(
        "import linecache\ntext = 'def made():\\n    answer = 42\\n    return answer\\n'\n"
        "linecache.cache['<made>'] = (len(text), None, text.splitlines(True), '<made>')\n"
        "exec(compile(text, '<made>', 'exec'))\nmade()  # step in\n"
    )
    async with debugging() as client:
        await client.call("debug_launch", program=str(maker), just_my_code=False)
        await client.call("debug_run_to", file=str(maker), line=5)
        stop = await client.call("debug_step", mode="in")
        assert stop["at"] == "<made>:2 in made"
        assert "answer = 42" in (await client.call("source_get", file=where(stop).file))["lines"][1]
        assert "answer = 42" in await client.read_text(f"debugger://source/{quote('<made>')}")
