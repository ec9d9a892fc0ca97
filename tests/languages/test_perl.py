"""Perl::LanguageServer on a real program: how it ends, and what cannot be set."""

from pathlib import Path

import pytest

from tests.languages.conftest import need
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import ToolFailed


async def test_the_exit_code_is_the_programs_at_every_run_and_a_variable_is_refused_to_be_set(
    debugging: Connect, tmp_path: Path
) -> None:
    profile = profile_named("perl-ls")
    assert profile is not None
    need("perl-ls", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    program = tmp_path / "ends.pl"
    program.write_text("my $n = 3;\nexit $n;\n")
    async with debugging() as client:
        for _ in range(3):  # it loses a third of them to its event loop, which is another one here
            await client.call("debug_launch", program=str(program), replace=True)
            with pytest.raises(ToolFailed) as failed:
                await client.call("variable_set", path="$n", value="4")
            assert failed.value.code == "NOT_SUPPORTED"
            assert (await client.call("debug_continue"))["exitCode"] == 3


async def test_a_breakpoint_in_a_module_stops_and_where_the_adapter_does_not_set_it_a_note_says_what_to_change(
    debugging: Connect, tmp_path: Path
) -> None:
    profile = profile_named("perl-ls")
    assert profile is not None
    need("perl-ls", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    module, program = tmp_path / "lib" / "Stock.pm", tmp_path / "stock.pl"
    module.parent.mkdir()
    module.write_text("package Stock;\nsub total {\n    return $_[0] * 2;\n}\n1;\n")
    breakpoints = [{"file": str(module), "line": 3}]
    async with debugging() as client:
        for lib, stops in (('"lib"', False), (f'"{tmp_path}/lib"', True)):
            program.write_text(f"use lib {lib}; use Stock;\nmy $n = Stock::total(2);\nprint $n;\n")
            answer = await client.call(
                "debug_launch", program=str(program), cwd=str(tmp_path), breakpoints=breakpoints, replace=True
            )
            assert (answer["state"] == "Paused") is stops
            assert any("found by a relative directory" in each for each in answer.get("notes", [])) is not stops
