"""Source files by URI, and the program's standard input and output. Against real debugpy."""

from pathlib import Path
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError

from tests.real.conftest import PROGRAMS, Connect, program, text_of, where


async def test_sources_with_odd_names_are_served_and_nothing_else_is(debugging: Connect, tmp_path: Path) -> None:
    odd = str(PROGRAMS / "odd names" / "pr#ice ä%41 & co.py")
    gone = tmp_path / "gone.py"
    gone.write_text("x = 1\n")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    link = tmp_path / "link.py"
    link.symlink_to(secret)
    async with debugging() as client:
        await client.call("debug_launch", program=odd)
        text = Path(odd).read_text()
        for spelled in (quote(odd), quote(odd, safe="/ä"), quote(odd, safe="")):
            assert await client.read_text(f"debugger://source/{spelled}") == text
        refused = (
            "/etc/passwd",
            f"{PROGRAMS}/odd%20names/../steps.py",
            f"{quote(odd)}/../../steps.py",
            str(link),
            quote(quote(odd)),
            "%2Fetc%2Fpasswd",
            "",
        )
        for path in refused:
            with pytest.raises(MCPError, match="is not referenced in any loaded debug symbols"):
                await client.read_text(f"debugger://source/{path}")
        await client.call("debug_disconnect")
        await client.call("debug_launch", program=str(gone))
        gone.unlink()
        with pytest.raises(MCPError, match="referenced in debug symbols but not found on disk"):
            await client.read_text(f"debugger://source/{gone}")
        gone.symlink_to(secret)
        with pytest.raises(MCPError, match="is not referenced"):
            await client.read_text(f"debugger://source/{gone}")


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


async def test_a_program_that_reads_its_input_gets_it_and_its_output_outlives_it(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("talk.py"), stop_at_entry=False, wait=False)
        written = await client.call("process_write_input", data="Ada\n")
        assert written == {"bytesWritten": 4}
        await client.call("process_write_input", data="again\n", close_after=True)
        end = await client.call("debug_wait")
        assert (end["reason"], end["exitCode"]) == ("Exited", 3)
        output = await client.call("process_read_output")
        text = {stream: text_of(output, stream) for stream in ("stdout", "stderr")}
        assert text == {"stdout": "name? hello Ada\nheard again\n", "stderr": "bye\n"}
        rest = await client.call("process_read_output", since_seq=output["nextSeq"])
        assert rest["entries"] == []
